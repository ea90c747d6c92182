"""Searches as streams of events: progress, each route when it is found, the answer at the end.

A service without streams answers in JSON, which counts as a stream with the answer alone. A broken stream is resumed after the last
event that came, as often as `RetryPolicy` has requests repeated; each event and each sign of life resets that count. Closing the
generator closes the connection, and the service ends the search soon after; a plan goes on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import Generic, TypeAlias, TypeVar

from .background import PLANS, StoredPlan
from .calls import Session, at, call
from .errors import Unreachable
from .exchange import Answer, Emit, Request, Script, Steps, pause, read, receive, refusal
from .operations import as_plan, search_request, ships_to
from .plan import Plan
from .route import Route
from .server_events import EventReader, ServerEvent
from .stored import PlanBody
from .wire import NATIVE_RESULT, Body, Country, PlanSettings, RouteGraph

T = TypeVar("T")

ACCEPT = {"Accept": f"text/event-stream, {NATIVE_RESULT};q=0.9, application/json;q=0.9"}


class Progress(Body):
    """Progress of a search."""

    seconds: float
    expansions: int
    """Molecules that it has expanded."""
    molecules: int
    """In its graph."""
    depth: int
    """Steps of the longest branch."""
    routes: int
    """Validated ones."""
    best_cost: float | None = None
    """Of the best route so far, in the search's own measure; lower is better."""


PlanEvent: TypeAlias = Progress | Route | Plan
"""Events of a search: progress, a route without offers when it is found, and at the end the plan."""
StoredPlanEvent: TypeAlias = Progress | Route | StoredPlan
"""The same of a plan that the service keeps."""


class _RouteFound(Body):
    route: RouteGraph
    backbone: str = ""


class _Problem(Body):
    status: int


def watch_search(session: Session, smiles: str, settings: PlanSettings) -> Script[PlanEvent]:
    """A search for routes, watched."""
    return _all_of(_watched_search(session, smiles, settings))


def searched(session: Session, smiles: str, settings: PlanSettings, show: Callable[[Progress], None]) -> Steps[Plan]:
    """Plan of a search, whose progress is shown meanwhile."""
    watched = _watched_search(session, smiles, settings)
    while True:
        event = yield from watched.next()
        if isinstance(event, Progress):
            show(event)
        elif isinstance(event, Plan):
            return event


def watch_plan(session: Session, plan_id: str, ships_to: Country | None) -> Script[StoredPlanEvent]:
    """A plan that the service keeps, watched."""
    request = Request("GET", f"{at(PLANS, plan_id)}/events", seconds=session.retry_policy.seconds)
    return _all_of(_Watched(session, request, ships_to, lambda answer: StoredPlan(read(PlanBody, answer))))


def _watched_search(session: Session, smiles: str, settings: PlanSettings) -> _Watched[Plan]:
    request = search_request(session, smiles, settings)
    return _Watched(session, request, ships_to(settings), lambda answer: as_plan(answer, settings))


def _all_of(watched: _Watched[T]) -> Script[Progress | Route | T]:
    while not watched.has_ended:
        yield Emit((yield from watched.next()))


class _Watched(Generic[T]):
    """A search from its first event to its answer."""

    def __init__(self, session: Session, request: Request, ships_to: Country | None, read_answer: Callable[[Answer], T]) -> None:
        self.has_ended = False
        """True if the answer was given."""
        self._session = session
        self._next_request: Request | None = replace(request, headers=ACCEPT, streamed=True)
        """Request to be sent before there is more to receive."""
        self._ships_to: Country | None = ships_to
        self._read_answer = read_answer
        self._where = request.path if request.method == "GET" else None
        """Request that resumes a broken stream."""
        self._waits = session.retry_policy.waits()
        self._reader = EventReader()
        self._came: deque[ServerEvent] = deque()

    def next(self) -> Steps[Progress | Route | T]:
        """Returns the next events."""
        while True:
            while self._came:
                known = self._known(self._came.popleft())
                if known is not None:
                    return known
            if self._next_request is not None:
                yield from self._send(self._next_request)
            else:
                yield from self._receive()

    def _send(self, request: Request) -> Steps[None]:
        answer = yield from call(self._session, request)
        self._next_request = None
        if answer.is_event_stream:
            self._reader = EventReader(self._reader.last_id)
            self._where = answer.headers.get("content-location", self._where)
        else:
            self._came.append(ServerEvent(None, "answer", answer.body.decode(errors="replace")))

    def _receive(self) -> Steps[None]:
        lost = Unreachable("the stream of events broke off")
        try:
            piece = yield from receive()
        except Unreachable as error:
            lost, piece = error, b""
        if not piece:
            yield from self._go_on(lost)
            return
        before = self._reader.comments
        self._came.extend(self._reader.read(piece))
        if self._came or self._reader.comments > before:
            self._waits = self._session.retry_policy.waits()

    def _go_on(self, lost: Unreachable) -> Steps[None]:
        wait = next(self._waits, None)
        # Another address than one of this service would be told the token.
        if wait is None or self._where is None or not self._where.startswith("/"):
            raise lost
        yield from pause(wait)
        last = {} if self._reader.last_id is None else {"Last-Event-ID": self._reader.last_id}
        self._next_request = Request(
            "GET", self._where, headers=ACCEPT | last, streamed=True, seconds=self._session.retry_policy.seconds
        )

    def _known(self, event: ServerEvent) -> Progress | Route | T | None:
        """Item of an event; `None` for a kind that this version does not know."""
        said = Answer(200, {}, event.data.encode())
        match event.kind:
            case "progress":
                return read(Progress, said)
            case "route":
                found = read(_RouteFound, said)
                return Route(found.route, found.backbone, {}, self._ships_to)
            case "answer":
                self.has_ended = True
                return self._read_answer(said)
            case "problem":
                raise refusal(replace(said, status=read(_Problem, said).status))
            case _:
                return None
