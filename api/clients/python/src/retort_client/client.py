"""The client for programs that wait for each answer."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from types import TracebackType
from typing import TypeVar

import httpx
from typing_extensions import Self, Unpack

from . import authorization, events, looks, operations, over_httpx
from .batches import Batches, Plans
from .calls import GivenToken, Patience, Session
from .errors import Unreachable
from .events import PlanEvent, Progress
from .exchange import Answer, Effect, Emit, Pause, Received, Request, Script, Steps, emitted
from .kept_routes import Routes
from .looks import Analogue, BlockSearch, ExpandedMolecule, FoundBlocks, SoldMolecule, Synthesizability
from .plan import Plan
from .route import Route
from .wire import Country, Model, PlanSettings, Sample, SampleSummary

T = TypeVar("T")


class Retort:
    """A Retort service, called in the name of one account.

    It keeps connections open and may be used by several threads; `close` it, or use it in a `with` statement.
    """

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        patience: Patience | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        """Calls the service at `url` (that of `RETORT_URL`, or this machine's own) with `token`.

        Without a token it uses the login that `Retort.login` has kept for the service.
        """
        self.url = over_httpx.address(url)
        self._session = authorization.session(self.url, token, patience)
        self._http = httpx.Client(**over_httpx.settings(self.url), transport=transport)
        self.samples = Samples(self)
        self.models = Models(self)
        self.plans = Plans(self)
        self.batches = Batches(self)
        self.routes = Routes(self)

    @classmethod
    def from_env(cls, url: str | None = None) -> Self:
        """The service of `RETORT_URL` (this machine's own), called with `RETORT_TOKEN` or the login that is kept for it."""
        return cls(url, os.environ.get("RETORT_TOKEN") or None)

    @classmethod
    def login(cls, url: str | None = None, *, show: Callable[[str, str], None] | None = None) -> Self:
        """Logs in by a browser, here or elsewhere, and keeps the login for later programs of this user.

        `show` is called with the address to open and the code that should stand there; by default both are printed. It returns when
        somebody has let the login in.

        Raises `LoginFailed` where nobody did.
        """
        service = cls(url)
        nobody = Session(GivenToken(None))
        try:
            code = service.run(authorization.ask_for_code(nobody))
            (show or authorization.print_code)(code.address, code.user_code)
            login = service.run(authorization.wait_for_login(code))
        except BaseException:
            service.close()
            raise
        authorization.kept_logins().keep(service.url, login)
        return service

    def logout(self) -> None:
        """Ends the login that is kept for the service, here and there."""
        self.run(authorization.log_out(authorization.kept_logins(), self.url))

    def plan(self, smiles: str, *, on_progress: Callable[[Progress], None] | None = None, **settings: Unpack[PlanSettings]) -> Plan:
        """Searches for routes to a target.

        A plan without a route is no error: `plan.metadata.search` says what stopped the search. `on_progress` is called meanwhile
        with what the search has done, at most four times a second.

        Raises `InvalidRequest`, whose `faults` name the settings that are at fault, and `DeadlinePassed` or `Unavailable` where no
        worker could do it in time.
        """
        if on_progress is not None:
            return self.run(events.searched(self._session, smiles, settings, on_progress))
        return self.run(operations.plan(self._session, smiles, settings))

    def plan_events(self, smiles: str, **settings: Unpack[PlanSettings]) -> Generator[PlanEvent, None, None]:
        """Searches for routes to a target, and tells meanwhile what the search has done and each route when it is found.

        The last event is the plan; a service without streams gives that alone. Who stops reading before ends the search.

        Raises what `plan` raises.
        """
        return self.iterate(events.watch_search(self._session, smiles, settings))

    def expansions(self, smiles: Iterable[str], *, limit: int = 50, engine: str | None = None) -> tuple[ExpandedMolecule, ...]:
        """What molecules may be made of in one step.

        Each has at most `limit` (1 to 200) sets of precursors, the most probable first. The answers stand in the order of `smiles`;
        one that has an `error` says nothing else.
        """
        return self.run(looks.expansions(self._session, smiles, limit, engine))

    def building_blocks(
        self, smiles: Iterable[str], *, ships_to: Country | None = "US", max_offers: int | None = None, inchikey: bool = False
    ) -> tuple[SoldMolecule, ...]:
        """Whether and where molecules are sold to a country (anywhere for none), each with at most `max_offers` (0 to 100) offers, and with
        its InChIKey where that is asked for.

        The answers stand in the order of `smiles`; one that has an `error` says nothing else.
        """
        return self.run(looks.building_blocks(self._session, smiles, ships_to, max_offers, inchikey))

    def search_building_blocks(self, **asked: Unpack[BlockSearch]) -> FoundBlocks:
        """Building blocks by exactly one of a structure, what they are like, a part of them (SMARTS), and a vendor's number.

        The most similar ones first, or the lightest.
        """
        return self.run(looks.search(self._session, asked))

    def synthesizability(
        self, smiles: Iterable[str], *, max_seconds: float = 0.05, engine: str | None = None
    ) -> tuple[Synthesizability, ...]:
        """Whether a search of `max_seconds` (0.01 to 1) each finds a way to make or buy molecules.

        The answers stand in the order of `smiles`; one that has an `error` says nothing else, least of all that it is not solved.
        """
        return self.run(looks.synthesizability(self._session, smiles, max_seconds, engine))

    def analogues(
        self, route: Route, building_block: str, smiles: Iterable[str], *, engine: str | None = None
    ) -> tuple[Analogue, ...]:
        """What a route gives with each of `smiles` in the place of one of its building blocks, and how.

        The steps that this changes are run forwards and held against all that steps of routes are. The answers stand in the order of
        `smiles`; one that has an `error` says nothing else.
        """
        return self.run(looks.analogues(self._session, route, building_block, smiles, engine))

    def close(self) -> None:
        """Ends its connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def run(self, steps: Steps[T]) -> T:
        """Carries out what `retort_client.operations` describes."""
        (result,) = self.iterate(emitted(steps))
        return result

    def iterate(self, script: Script[T]) -> Generator[T, None, None]:
        """Carries out what tells one thing after the other, as far as these are asked for."""
        # Closed however it ends: what is interrupted lets go of its locks, and of what it was receiving.
        with closing(script), closing(_Line(self.url, self._http)) as line:
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
                    received = line.carry_out(effect)

    @property
    def session(self) -> Session:
        """Who calls, and how patiently."""
        return self._session


class _Line:
    """What one thing that is done has to do with the network; it receives one answer at a time."""

    def __init__(self, url: str, http: httpx.Client) -> None:
        self._url = url
        self._http = http
        self._response: httpx.Response | None = None
        self._pieces: Iterator[bytes] = iter(())

    def carry_out(self, effect: Effect) -> Received | Unreachable:
        """Has it happen."""
        try:
            if isinstance(effect, Pause):
                time.sleep(effect.seconds)
                return None
            return self._send(effect) if isinstance(effect, Request) else next(self._pieces, b"")
        except httpx.HTTPError as error:
            return over_httpx.no_answer(self._url, error)

    def _send(self, request: Request) -> Answer:
        self.close()
        response = self._http.send(self._http.build_request(**over_httpx.arguments(self._url, request)), stream=True)
        self._response = response
        if over_httpx.comes_in_pieces(request, response):
            self._pieces = response.iter_bytes()
            return over_httpx.answer(response, b"")
        return over_httpx.answer(response, response.read())

    def close(self) -> None:
        """Lets go of the answer that is being received."""
        if self._response is not None:
            self._response.close()


class Samples:
    """The samples of the account, and of those that it shares samples with."""

    def __init__(self, client: Retort) -> None:
        self._client = client

    def create(self, size: int, model_id: str | None = None) -> Sample:
        """Has `size` molecules (1 to 10,000) generated, by the service's own choice of model where none is named."""
        return self._client.run(operations.create_sample(self._client.session, size, model_id))

    def retrieve(self, sample_id: str) -> Sample:
        """A sample with its molecules."""
        return self._client.run(operations.retrieve_sample(self._client.session, sample_id))

    def list(self) -> Iterator[SampleSummary]:
        """All samples, newest first, fetched as they are read; those that were read may be deleted meanwhile."""
        page = self._client.run(operations.page_of_samples(self._client.session, None))
        while True:
            # Before anything of this page is handed out: whoever deletes what they read deletes the next page's cursor.
            after = operations.next_cursor(page)
            following = self._client.run(operations.page_of_samples(self._client.session, after)) if after else None
            yield from page.data
            if following is None:
                return
            page = following

    def delete(self, sample_id: str) -> None:
        """Deletes a sample."""
        self._client.run(operations.delete_sample(self._client.session, sample_id))


class Models:
    """The generative models of the service."""

    def __init__(self, client: Retort) -> None:
        self._client = client

    def list(self) -> tuple[Model, ...]:
        """All models that can be sampled, by id."""
        return self._client.run(operations.list_models(self._client.session))

    def retrieve(self, model_id: str) -> Model:
        """One of them."""
        return self._client.run(operations.retrieve_model(self._client.session, model_id))
