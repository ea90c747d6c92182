"""The client on an event loop."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable
from contextlib import aclosing, closing
from types import TracebackType
from typing import TypeVar

import httpx
from typing_extensions import Self, Unpack

from . import authorization, bulk_queries, events, operations, over_httpx
from .asynchronous_batches import AsyncBatches, AsyncPlans
from .asynchronous_kept_routes import AsyncRoutes
from .asynchronous_samples import AsyncSampleBatches, AsyncSamples
from .bulk_queries import (
    Analogue,
    BlockSearch,
    ExpandedMolecule,
    FoundBlocks,
    MoleculeLikelihood,
    SoldMolecule,
    Synthesizability,
)
from .calls import GivenToken, RetryPolicy, Session
from .errors import Unreachable
from .events import PlanEvent, Progress
from .exchange import Answer, Effect, Emit, Pause, Received, Request, Script, Steps, emitted
from .plan import Plan
from .route import Route
from .wire import Country, ExportedRoutes, ExportFormat, Model, PlanSettings

T = TypeVar("T")


class AsyncRetort:
    """A Retort service, called in the name of one account, on an event loop.

    It keeps connections open and may be used by several tasks; `close` it, or use it in an `async with` statement.
    """

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        retry_policy: RetryPolicy | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """Calls the service at `url` (that of `RETORT_URL`, or this machine's own) with `token`.

        Without a token it uses the login that `AsyncRetort.login` has kept for the service.
        """
        self.url = over_httpx.address(url)
        self._session = authorization.session(self.url, token, retry_policy)
        self._http = httpx.AsyncClient(**over_httpx.settings(self.url), transport=transport)
        self.samples = AsyncSamples(self)
        self.sample_batches = AsyncSampleBatches(self)
        self.models = AsyncModels(self)
        self.plans = AsyncPlans(self)
        self.batches = AsyncBatches(self)
        self.routes = AsyncRoutes(self)

    @classmethod
    def from_env(cls, url: str | None = None) -> Self:
        """The service of `RETORT_URL` (this machine's own), called with `RETORT_TOKEN` or the login that is kept for it."""
        return cls(url, os.environ.get("RETORT_TOKEN") or None)

    @classmethod
    async def login(cls, url: str | None = None, *, show: Callable[[str, str], None] | None = None) -> Self:
        """Logs in by a browser, here or elsewhere, and keeps the login for later programs of this user.

        `show` is called with the address to open and the code that the page should show; by default both are printed. Returns when
        somebody has accepted the login.

        Raises `LoginFailed` if nobody does.
        """
        service = cls(url)
        nobody = Session(GivenToken(None))
        try:
            code = await service.run(authorization.ask_for_code(nobody))
            (show or authorization.print_code)(code.address, code.user_code)
            login = await service.run(authorization.wait_for_login(code))
        except BaseException:
            await service.close()
            raise
        authorization.kept_logins().keep(service.url, login)
        return service

    async def logout(self) -> None:
        """Ends the login that is kept for the service, here and there."""
        await self.run(authorization.log_out(authorization.kept_logins(), self.url))

    async def plan(
        self, smiles: str, *, on_progress: Callable[[Progress], None] | None = None, **settings: Unpack[PlanSettings]
    ) -> Plan:
        """Searches for routes to a target.

        A plan without a route is no error: `plan.metadata.search` says what stopped the search. `on_progress` is called meanwhile
        with what the search has done, at most four times a second.

        Raises `InvalidRequest`, whose `faults` name the settings that are at fault, and `DeadlinePassed` or `Unavailable` where no
        worker could do it in time.
        """
        if on_progress is not None:
            return await self.run(events.searched(self._session, smiles, settings, on_progress))
        return await self.run(operations.plan(self._session, smiles, settings))

    async def export(self, smiles: str, format: ExportFormat, **settings: Unpack[PlanSettings]) -> ExportedRoutes:
        """Searches for routes to a target, in the format of another program, as the service writes them.

        `aizynth`: a list of trees, best first, which AiZynthFinder's `ReactionTree.from_dict` reads. `retrocast`: ranked routes of
        RetroCast's schema 2 by target.

        Raises what `plan` raises, and `Conflict` where a molecule has no InChIKey, which RetroCast needs.
        """
        return await self.run(operations.export(self._session, smiles, format, settings))

    def plan_events(self, smiles: str, **settings: Unpack[PlanSettings]) -> AsyncGenerator[PlanEvent, None]:
        """Searches for routes to a target, and yields progress and each route as events.

        The last event is the plan; a service without streams gives that alone. Closing the generator earlier ends the search.

        Raises what `plan` raises.
        """
        return self.iterate(events.watch_search(self._session, smiles, settings))

    async def expansions(
        self, smiles: Iterable[str], *, limit: int = 50, engine: str | None = None
    ) -> tuple[ExpandedMolecule, ...]:
        """Proposes precursors of molecules, one step back.

        Each has at most `limit` (1 to 200) sets of precursors, those first that chemists have probably used. The answers stand in
        the order of `smiles`; one with an `error` has no other field.
        """
        return await self.run(bulk_queries.expansions(self._session, smiles, limit, engine))

    async def building_blocks(
        self, smiles: Iterable[str], *, ships_to: Country | None = "US", max_offers: int | None = None, inchikey: bool = False
    ) -> tuple[SoldMolecule, ...]:
        """Looks up offers of molecules that are delivered to a country, or anywhere for `None`.

        Each has at most `max_offers` (0 to 100) offers, and its InChIKey if that is asked for.

        The answers stand in the order of `smiles`; one with an `error` has no other field.
        """
        return await self.run(bulk_queries.building_blocks(self._session, smiles, ships_to, max_offers, inchikey))

    async def search_building_blocks(self, **asked: Unpack[BlockSearch]) -> FoundBlocks:
        """Searches building blocks by exactly one of structure, similarity, substructure (SMARTS) and vendor's number.

        The most similar ones first, or the lightest.
        """
        return await self.run(bulk_queries.search(self._session, asked))

    async def synthesizability(
        self, smiles: Iterable[str], *, max_seconds: float = 0.05, engine: str | None = None
    ) -> tuple[Synthesizability, ...]:
        """Searches briefly, for `max_seconds` (0.01 to 1) each, for a way to make or buy molecules.

        The answers stand in the order of `smiles`; one with an `error` has no other field, so it is not known to be unsolved.
        """
        return await self.run(bulk_queries.synthesizability(self._session, smiles, max_seconds, engine))

    async def likelihoods(self, smiles: Iterable[str], *, model: str | None = None) -> tuple[MoleculeLikelihood, ...]:
        """Computes the negative log-likelihoods of molecules under a generative model.

        The answers stand in the order of `smiles`; one with an `error` has no likelihood.
        """
        return await self.run(bulk_queries.likelihoods(self._session, smiles, model))

    async def analogues(
        self, route: Route, building_block: str, smiles: Iterable[str], *, engine: str | None = None
    ) -> tuple[Analogue, ...]:
        """Runs a route with each of `smiles` in the place of one of its building blocks.

        The steps that this changes are run forwards and checked as steps of routes are. The answers stand in the order of
        `smiles`; one with an `error` has no other field.
        """
        return await self.run(bulk_queries.analogues(self._session, route, building_block, smiles, engine))

    async def close(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()

    async def run(self, steps: Steps[T]) -> T:
        """Carries out an operation that gives one result."""
        (result,) = [each async for each in self.iterate(emitted(steps))]
        return result

    async def iterate(self, script: Script[T]) -> AsyncGenerator[T, None]:
        """Carries out an operation that gives results one by one, as they are asked for."""
        # Closed in any case: an interrupted operation releases its locks and its response.
        async with aclosing(_Line(self.url, self._http)) as line:
            with closing(script):
                received: Received | Unreachable = None
                while True:
                    try:
                        effect = script.throw(received) if isinstance(received, Unreachable) else script.send(received)
                    except StopIteration:
                        return
                    if isinstance(effect, Emit):
                        yield effect.item
                        received = None
                    else:
                        received = await line.carry_out(effect)

    @property
    def session(self) -> Session:
        """Token and timeouts of the calls."""
        return self._session


class _Line:
    """The network of one operation; it receives one answer at a time."""

    def __init__(self, url: str, http: httpx.AsyncClient) -> None:
        self._url = url
        self._http = http
        self._response: httpx.Response | None = None
        self._pieces: AsyncIterator[bytes] | None = None

    async def carry_out(self, effect: Effect) -> Received | Unreachable:
        """Sends a request, receives a piece or waits."""
        try:
            if isinstance(effect, Pause):
                await asyncio.sleep(effect.seconds)
                return None
            return await self._send(effect) if isinstance(effect, Request) else await self._piece()
        except httpx.HTTPError as error:
            return over_httpx.no_answer(self._url, error)

    async def _send(self, request: Request) -> Answer:
        await self.aclose()
        response = await self._http.send(self._http.build_request(**over_httpx.arguments(self._url, request)), stream=True)
        self._response = response
        if over_httpx.comes_in_pieces(request, response):
            self._pieces = response.aiter_bytes()
            return over_httpx.answer(response, b"")
        return over_httpx.answer(response, await response.aread())

    async def _piece(self) -> bytes:
        return b"" if self._pieces is None else await anext(self._pieces, b"")

    async def aclose(self) -> None:
        """Drops the answer that is being received."""
        if self._response is not None:
            await self._response.aclose()


class AsyncModels:
    """The generative models of the service."""

    def __init__(self, client: AsyncRetort) -> None:
        self._client = client

    async def list(self) -> tuple[Model, ...]:
        """Returns all models that can be sampled, by id."""
        return await self._client.run(operations.list_models(self._client.session))

    async def retrieve(self, model_id: str) -> Model:
        """Returns one of them."""
        return await self._client.run(operations.retrieve_model(self._client.session, model_id))
