"""The client on an event loop; what it does is that of `Retort`, letter by letter."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable
from contextlib import aclosing, closing
from types import TracebackType
from typing import TypeVar

import httpx
from typing_extensions import Self, Unpack

from . import authorization, events, looks, operations, over_httpx
from .asynchronous_batches import AsyncBatches, AsyncPlans
from .asynchronous_kept_routes import AsyncRoutes
from .calls import GivenToken, Patience, Session
from .errors import Unreachable
from .events import PlanEvent, Progress
from .exchange import Answer, Effect, Emit, Pause, Received, Request, Script, Steps, emitted
from .looks import Analogue, BlockSearch, ExpandedMolecule, FoundBlocks, SoldMolecule, Synthesizability
from .plan import Plan
from .route import Route
from .wire import Country, Model, PlanSettings, Sample, SampleSummary

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
        patience: Patience | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """Calls the service at `url` (that of `RETORT_URL`, or this machine's own) with `token`.

        Without a token it uses the login that `AsyncRetort.login` has kept for the service.
        """
        self.url = over_httpx.address(url)
        self._session = authorization.session(self.url, token, patience)
        self._http = httpx.AsyncClient(**over_httpx.settings(self.url), transport=transport)
        self.samples = AsyncSamples(self)
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

        `show` is called with the address to open and the code that should stand there; by default both are printed. It returns when
        somebody has let the login in.

        Raises `LoginFailed` where nobody did.
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

    def plan_events(self, smiles: str, **settings: Unpack[PlanSettings]) -> AsyncGenerator[PlanEvent, None]:
        """Searches for routes to a target, and tells meanwhile what the search has done and each route when it is found.

        The last event is the plan; a service without streams gives that alone. Who stops reading before ends the search.

        Raises what `plan` raises.
        """
        return self.iterate(events.watch_search(self._session, smiles, settings))

    async def expansions(
        self, smiles: Iterable[str], *, limit: int = 50, engine: str | None = None
    ) -> tuple[ExpandedMolecule, ...]:
        """What molecules may be made of in one step.

        Each has at most `limit` (1 to 200) sets of precursors, the most probable first. The answers stand in the order of `smiles`;
        one that has an `error` says nothing else.
        """
        return await self.run(looks.expansions(self._session, smiles, limit, engine))

    async def building_blocks(
        self, smiles: Iterable[str], *, ships_to: Country | None = "US", max_offers: int | None = None, inchikey: bool = False
    ) -> tuple[SoldMolecule, ...]:
        """Whether and where molecules are sold to a country (anywhere for none), each with at most `max_offers` (0 to 100) offers, and with
        its InChIKey where that is asked for.

        The answers stand in the order of `smiles`; one that has an `error` says nothing else.
        """
        return await self.run(looks.building_blocks(self._session, smiles, ships_to, max_offers, inchikey))

    async def search_building_blocks(self, **asked: Unpack[BlockSearch]) -> FoundBlocks:
        """Building blocks by exactly one of a structure, what they are like, a part of them (SMARTS), and a vendor's number.

        The most similar ones first, or the lightest.
        """
        return await self.run(looks.search(self._session, asked))

    async def synthesizability(
        self, smiles: Iterable[str], *, max_seconds: float = 0.05, engine: str | None = None
    ) -> tuple[Synthesizability, ...]:
        """Whether a search of `max_seconds` (0.01 to 1) each finds a way to make or buy molecules.

        The answers stand in the order of `smiles`; one that has an `error` says nothing else, least of all that it is not solved.
        """
        return await self.run(looks.synthesizability(self._session, smiles, max_seconds, engine))

    async def analogues(
        self, route: Route, building_block: str, smiles: Iterable[str], *, engine: str | None = None
    ) -> tuple[Analogue, ...]:
        """What a route gives with each of `smiles` in the place of one of its building blocks, and how.

        The steps that this changes are run forwards and held against all that steps of routes are. The answers stand in the order of
        `smiles`; one that has an `error` says nothing else.
        """
        return await self.run(looks.analogues(self._session, route, building_block, smiles, engine))

    async def close(self) -> None:
        """Ends its connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()

    async def run(self, steps: Steps[T]) -> T:
        """Carries out what `retort_client.operations` describes."""
        (result,) = [each async for each in self.iterate(emitted(steps))]
        return result

    async def iterate(self, script: Script[T]) -> AsyncGenerator[T, None]:
        """Carries out what tells one thing after the other, as far as these are asked for."""
        # Closed however it ends: what is interrupted lets go of its locks, and of what it was receiving.
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
        """Who calls, and how patiently."""
        return self._session


class _Line:
    """What one thing that is done has to do with the network; it receives one answer at a time."""

    def __init__(self, url: str, http: httpx.AsyncClient) -> None:
        self._url = url
        self._http = http
        self._response: httpx.Response | None = None
        self._pieces: AsyncIterator[bytes] | None = None

    async def carry_out(self, effect: Effect) -> Received | Unreachable:
        """Has it happen."""
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
        """Lets go of the answer that is being received."""
        if self._response is not None:
            await self._response.aclose()


class AsyncSamples:
    """The samples of the account, and of those that it shares samples with."""

    def __init__(self, client: AsyncRetort) -> None:
        self._client = client

    async def create(self, size: int, model_id: str | None = None) -> Sample:
        """Has `size` molecules (1 to 10,000) generated, by the service's own choice of model where none is named."""
        return await self._client.run(operations.create_sample(self._client.session, size, model_id))

    async def retrieve(self, sample_id: str) -> Sample:
        """A sample with its molecules."""
        return await self._client.run(operations.retrieve_sample(self._client.session, sample_id))

    async def list(self) -> AsyncIterator[SampleSummary]:
        """All samples, newest first, fetched as they are read; those that were read may be deleted meanwhile."""
        page = await self._client.run(operations.page_of_samples(self._client.session, None))
        while True:
            # Before anything of this page is handed out: whoever deletes what they read deletes the next page's cursor.
            after = operations.next_cursor(page)
            following = await self._client.run(operations.page_of_samples(self._client.session, after)) if after else None
            for sample in page.data:
                yield sample
            if following is None:
                return
            page = following

    async def delete(self, sample_id: str) -> None:
        """Deletes a sample."""
        await self._client.run(operations.delete_sample(self._client.session, sample_id))


class AsyncModels:
    """The generative models of the service."""

    def __init__(self, client: AsyncRetort) -> None:
        self._client = client

    async def list(self) -> tuple[Model, ...]:
        """All models that can be sampled, by id."""
        return await self._client.run(operations.list_models(self._client.session))

    async def retrieve(self, model_id: str) -> Model:
        """One of them."""
        return await self._client.run(operations.retrieve_model(self._client.session, model_id))
