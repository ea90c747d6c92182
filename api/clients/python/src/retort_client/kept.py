"""Routes that the service keeps: with a name, a note and a star, for the account and its organisation.

A route is kept as it is here, so that one of a search and one that somebody changed since are kept alike. The service refuses what
is no route, and drops nothing of what it is sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from typing_extensions import TypedDict

from .calls import Session, at, call, delete, retrieve
from .exchange import Request, Script, Steps, read
from .pages import Page, listed
from .route import Route
from .wire import Body, Country, ExportBody, ExportedRoutes, ExportFormat, Identified, Offer, PlanSettings, RouteGraph

ROUTES = "/synth/v1/routes"


class RouteFigures(Body):
    """Figures of a route; unknown ones are `None`."""

    steps: int
    price_usd: float | None = None
    """US dollars for what it orders."""
    lead_time_days: float | None = None
    plausibility: float | None = None


class KeptBody(Identified):
    """A route that is kept, as it comes over the wire."""

    created_at: datetime
    updated_at: datetime
    name: str | None = None
    note: str | None = None
    starred: bool
    is_own: bool
    parameters: Mapping[str, Any]
    figures: RouteFigures
    route: RouteGraph | None = None
    pricing_annotations: tuple[Offer, ...] | None = None


class KeptPage(Page[KeptBody]):
    """Some kept routes, the newest first."""


class RouteChange(TypedDict, total=False):
    """Changes of a kept route; fields that are left out stay."""

    name: str | None
    note: str | None
    starred: bool


@dataclass(frozen=True)
class KeptRoute:
    """A route that the service keeps, and what is said of it."""

    body: KeptBody
    """As the service sent it."""

    @property
    def id(self) -> str:
        """Id of the kept route."""
        return self.body.id

    @property
    def name(self) -> str | None:
        """Name."""
        return self.body.name

    @property
    def note(self) -> str | None:
        """Note."""
        return self.body.note

    @property
    def starred(self) -> bool:
        """True if it has a star."""
        return self.body.starred

    @property
    def is_own(self) -> bool:
        """True if this account keeps it and may change it; otherwise another account of its organisation does."""
        return self.body.is_own

    @property
    def smiles(self) -> str:
        """The target, as it was given."""
        return str(self.body.parameters.get("search_smiles", ""))

    @property
    def figures(self) -> RouteFigures:
        """Its figures."""
        return self.body.figures

    @cached_property
    def route(self) -> Route | None:
        """The route with its offers; none in lists, which leave it out."""
        if self.body.route is None:
            return None
        offers: dict[int, list[Offer]] = {}
        for offer in self.body.pricing_annotations or ():
            offers.setdefault(offer.major_component_id, []).append(offer)
        ships_to: Country | None = self.body.parameters.get("ships_to", "US")
        return Route(self.body.route, "", {block: tuple(some) for block, some in offers.items()}, ships_to)


def keep_route(session: Session, route: Route, said: RouteChange, settings: PlanSettings) -> Steps[KeptRoute]:
    """Keeps a route that was found with these settings."""
    where: PlanSettings = {"ships_to": route.ships_to}
    body = {
        "parameters": {"search_smiles": route.target.smiles, **where, **settings},
        "route": route.graph.model_dump(mode="json", exclude_unset=True),
        "pricing_annotations": [
            offer.model_dump(mode="json", exclude_none=True) for block in route.building_blocks for offer in block.offers
        ],
        **said,
    }
    answer = yield from call(session, Request.creation(ROUTES, body, session.retry_policy.seconds))
    return KeptRoute(read(KeptBody, answer))


def retrieve_route(session: Session, route_id: str) -> Steps[KeptRoute]:
    """A kept route."""
    return KeptRoute((yield from retrieve(session, at(ROUTES, route_id), KeptBody)))


def export_route(session: Session, route_id: str, format: ExportFormat) -> Steps[ExportedRoutes]:
    """A kept route in the format of another program."""
    request = Request("GET", at(ROUTES, route_id), {"format": format}, seconds=session.retry_policy.seconds)
    return read(ExportBody, (yield from call(session, request))).root


def list_routes(session: Session) -> Script[KeptBody]:
    """All kept routes without what they are made of, newest first."""
    return listed(session, ROUTES, KeptPage)


def update_route(session: Session, route_id: str, change: RouteChange) -> Steps[KeptRoute]:
    """Says something else of a kept route."""
    request = Request("PATCH", at(ROUTES, route_id), json={**change}, seconds=session.retry_policy.seconds, idempotent=True)
    answer = yield from call(session, request)
    return KeptRoute(read(KeptBody, answer))


def delete_route(session: Session, route_id: str) -> Steps[None]:
    """Keeps a route no longer."""
    return delete(session, at(ROUTES, route_id))
