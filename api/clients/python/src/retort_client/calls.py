"""How a request is sent with a token and, where that can do no harm, sent again.

A service that answers 429 or 503 has done nothing, so any request is sent again, after the time that it names. An answer that never
came says nothing about what was done: only requests that do the same when they are done twice are sent again then, and after a
proxy's 502 or 504. How often, and how long is waited at most, is bounded by `Patience`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Protocol
from urllib.parse import quote

from .errors import Unreachable
from .exchange import Answer, Request, Steps, ask, pause, refusal

REFUSED_UNDONE = frozenset({429, 503})
LOST_ON_THE_WAY = frozenset({502, 504})


@dataclass(frozen=True)
class Patience:
    """How often a request is sent, and how long is waited for what."""

    attempts: int = 4
    """How often in all; 1 sends nothing again."""
    first_wait: float = 0.5
    """Seconds before the second attempt, where the service names no time; doubled each time."""
    longest_wait: float = 60.0
    """Seconds between two attempts at most; a service that wants more than that is not asked again."""
    seconds: float = 30.0
    """How long an answer is waited for that no worker has to compute."""
    margin_seconds: float = 60.0
    """What waiting for a worker may add to the seconds of its work."""

    def for_work(self, seconds: float) -> float:
        """How long the answer to work of so many seconds is waited for."""
        return seconds + self.margin_seconds

    def for_waiting(self) -> Patience:
        """For asking how something stands that takes hours: a service that is away for three minutes meanwhile ends no waiting."""
        return replace(self, attempts=self.attempts + 6) if self.attempts > 1 else self

    def waits(self) -> Iterator[float | None]:
        """The seconds after each attempt that fails; none after the last one."""
        for attempt in range(self.attempts - 1):
            yield min(self.first_wait * 2**attempt, self.longest_wait)
        yield None


class Bearer(Protocol):
    """Where access tokens come from."""

    def token(self) -> Steps[str | None]:
        """One that is good, as far as can be known here; none for a caller who has none."""
        ...

    def renewed(self, refused: str) -> Steps[str | None]:
        """Another one, after the service refused `refused`; none where there is no other."""
        ...


@dataclass(frozen=True)
class GivenToken:
    """A token that somebody has given, which nobody here can renew."""

    given: str | None

    def token(self) -> Steps[str | None]:
        """What was given."""
        yield from ()
        return self.given

    def renewed(self, refused: str) -> Steps[str | None]:
        """There is no other."""
        yield from ()
        return None


@dataclass(frozen=True)
class Session:
    """Who calls, and how patiently."""

    bearer: Bearer
    patience: Patience = field(default_factory=Patience)


def call(session: Session, request: Request) -> Steps[Answer]:
    """The answer to a request that the service did.

    Raises the `Refused` of any other answer, and `Unreachable` where none came.
    """
    token = yield from session.bearer.token()
    answer = yield from patiently(session.patience, replace(request, token=token))
    if answer.status == 401 and token is not None:
        other = yield from session.bearer.renewed(token)
        if other is not None:
            answer = yield from patiently(session.patience, replace(request, token=other))
    if not answer.is_success:
        raise refusal(answer)
    return answer


def at(collection: str, name: str) -> str:
    """The path of what has this name in a collection."""
    return f"{collection}/{quote(name, safe='')}"


def delete(session: Session, path: str) -> Steps[None]:
    """Deletes what stands at `path`; raises `NotFound` where there is nothing."""
    yield from call(session, Request("DELETE", path, seconds=session.patience.seconds))


def patiently(patience: Patience, request: Request) -> Steps[Answer]:
    """The answer that stands, whatever it says, after as many attempts as do no harm."""
    repeatable = request.is_repeatable
    lost = False
    for wait in patience.waits():
        try:
            answer = yield from ask(request)
        except Unreachable:
            if wait is None or not repeatable:
                raise
            lost, seconds = True, wait
        else:
            if lost and request.method == "DELETE" and answer.status == 404:
                # The attempt whose answer was lost has deleted it.
                return replace(answer, status=204, body=b"")
            seconds = _wait(answer, wait, repeatable, patience.longest_wait)
            if seconds is None:
                return answer
            lost = lost or answer.status in LOST_ON_THE_WAY
        yield from pause(seconds)
    raise AssertionError("the last attempt returns or raises")


def _wait(answer: Answer, wait: float | None, repeatable: bool, longest_wait: float) -> float | None:
    """Seconds before the request is sent again; none where its answer stands."""
    may_go_again = answer.status in REFUSED_UNDONE or (repeatable and answer.status in LOST_ON_THE_WAY)
    if wait is None or not may_go_again:
        return None
    seconds = wait if answer.retry_after is None else answer.retry_after
    return seconds if seconds <= longest_wait else None
