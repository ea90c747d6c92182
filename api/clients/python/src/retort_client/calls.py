"""Calls with a token and safe retries.

A service that answers 429 or 503 has done nothing, so any request is sent again, after the time that it names. After a lost
answer, and after a proxy's 502 or 504, only requests whose repetition changes nothing are sent again. `RetryPolicy` limits attempts
and waits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Protocol
from urllib.parse import quote

from .errors import Unreachable
from .exchange import Answer, M, Request, Steps, ask, pause, read, refusal

REFUSED_UNDONE = frozenset({429, 503})
LOST_ON_THE_WAY = frozenset({502, 504})


@dataclass(frozen=True)
class RetryPolicy:
    """Attempts and timeouts of a request."""

    attempts: int = 4
    """Number of attempts; 1 sends nothing again."""
    first_wait: float = 0.5
    """Seconds before the second attempt, where the service names no time; doubled each time."""
    longest_wait: float = 60.0
    """Seconds between two attempts at most; a service that wants more than that is not asked again."""
    seconds: float = 30.0
    """Timeout of an answer that no worker computes."""
    margin_seconds: float = 60.0
    """Seconds that waiting for a worker may add to its work."""

    def for_work(self, seconds: float) -> float:
        """Timeout of the answer to work of so many seconds."""
        return seconds + self.margin_seconds

    def for_waiting(self) -> RetryPolicy:
        """Returns the policy for polls over hours: three minutes without the service do not end the waiting."""
        return replace(self, attempts=self.attempts + 6) if self.attempts > 1 else self

    def waits(self) -> Iterator[float | None]:
        """The seconds after each attempt that fails; none after the last one."""
        for attempt in range(self.attempts - 1):
            yield min(self.first_wait * 2**attempt, self.longest_wait)
        yield None


class Bearer(Protocol):
    """A source of access tokens."""

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
        """Returns the given token."""
        yield from ()
        return self.given

    def renewed(self, refused: str) -> Steps[str | None]:
        """There is no other."""
        yield from ()
        return None


@dataclass(frozen=True)
class Session:
    """Token source and timeouts of the calls."""

    bearer: Bearer
    retry_policy: RetryPolicy = field(default_factory=RetryPolicy)


def call(session: Session, request: Request) -> Steps[Answer]:
    """The answer to a request that the service did.

    Raises the `Refused` of any other answer, and `Unreachable` where none came.
    """
    token = yield from session.bearer.token()
    answer = yield from call_with_retries(session.retry_policy, replace(request, token=token))
    if answer.status == 401 and token is not None:
        other = yield from session.bearer.renewed(token)
        if other is not None:
            answer = yield from call_with_retries(session.retry_policy, replace(request, token=other))
    if not answer.is_success:
        raise refusal(answer)
    return answer


def at(collection: str, name: str) -> str:
    """The path of what has this name in a collection."""
    return f"{collection}/{quote(name, safe='')}"


def retrieve(session: Session, path: str, shape: type[M]) -> Steps[M]:
    """What stands at `path`; raises `NotFound` where there is nothing."""
    return read(shape, (yield from call(session, Request("GET", path, seconds=session.retry_policy.seconds))))


def delete(session: Session, path: str) -> Steps[None]:
    """Deletes what stands at `path`; raises `NotFound` where there is nothing."""
    yield from call(session, Request("DELETE", path, seconds=session.retry_policy.seconds))


def act(session: Session, path: str) -> Steps[Answer]:
    """Changes a state; repeating it changes nothing more."""
    return call(session, Request("POST", path, seconds=session.retry_policy.seconds, idempotent=True))


def call_with_retries(retry_policy: RetryPolicy, request: Request) -> Steps[Answer]:
    """Returns the final answer, whatever its status, after safe retries."""
    repeatable = request.is_repeatable
    lost = False
    for wait in retry_policy.waits():
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
            seconds = _wait(answer, wait, repeatable, retry_policy.longest_wait)
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
