"""Kept routes on an event loop."""

from __future__ import annotations

from collections.abc import AsyncIterator

from typing_extensions import Unpack

from . import kept
from .asynchronous_batches import AsyncRunner
from .kept import KeptRoute, RouteChange
from .route import Route
from .wire import ExportedRoutes, ExportFormat, PlanSettings


class AsyncRoutes:
    """The routes that the account keeps, and those of its organisation."""

    def __init__(self, client: AsyncRunner) -> None:
        self._client = client

    async def keep(
        self,
        route: Route,
        *,
        name: str | None = None,
        note: str | None = None,
        starred: bool = False,
        **settings: Unpack[PlanSettings],
    ) -> KeptRoute:
        """Keeps a route, with the settings of the search that found it.

        Raises `InvalidRequest`, whose `faults` say where it is no route, and `Conflict` if the account keeps 10,000 already.
        """
        said: RouteChange = {"name": name, "note": note, "starred": starred}
        return await self._client.run(kept.keep_route(self._client.session, route, said, settings))

    async def retrieve(self, route_id: str) -> KeptRoute:
        """Returns a kept route with its graph."""
        return await self._client.run(kept.retrieve_route(self._client.session, route_id))

    async def list(self) -> AsyncIterator[KeptRoute]:
        """Yields all kept routes without their graphs, newest first. Pages are fetched as they are read."""
        async for body in self._client.iterate(kept.list_routes(self._client.session)):
            yield KeptRoute(body)

    async def export(self, route_id: str, format: ExportFormat) -> ExportedRoutes:
        """A kept route in the format of another program: what `Retort.export` gives."""
        return await self._client.run(kept.export_route(self._client.session, route_id, format))

    async def update(self, route_id: str, **change: Unpack[RouteChange]) -> KeptRoute:
        """Changes name, note or star of a kept route of this account. Fields that are left out stay; `None` clears one."""
        return await self._client.run(kept.update_route(self._client.session, route_id, change))

    async def delete(self, route_id: str) -> None:
        """Deletes a kept route of this account."""
        await self._client.run(kept.delete_route(self._client.session, route_id))
