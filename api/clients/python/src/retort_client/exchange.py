"""Requests, answers, and operations made of them, without a network.

Each operation is written once, as a generator. It yields effects and returns its result. The effects are `Request` (send it and
give back the `Answer`), `Receive` (give the next piece of an answer that comes in pieces) and `Pause` (wait). An operation with
many results yields each as `Emit`. Two small loops carry out the effects: `Retort` with threads and `AsyncRetort` on an event
loop. So neither can have a rule that the other lacks. A transport that gets no answer throws `Unreachable` into the generator,
which decides whether to try again.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any, Generic, TypeAlias, TypeVar
from uuid import uuid4

from pydantic import BaseModel, ValidationError

from . import errors
from .errors import BadAnswer, Fault, Refused

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True)
class Request:
    """A request to be sent to the service."""

    method: str
    path: str
    """Below the service's address, from the `/` on, with what stands in it already quoted."""
    query: Mapping[str, str | int] = field(default_factory=dict[str, "str | int"])
    json: Mapping[str, Any] | None = None
    form: Mapping[str, str] | None = None
    seconds: float = 30.0
    """Timeout of its answer."""
    token: str | None = None
    """The bearer token, where one goes along."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    """Further headers, which replace those of every request."""
    streamed: bool = False
    """True if an event stream that answers it is received in pieces (`Receive`)."""
    idempotent: bool = False
    """True if a second execution changes nothing, as for reads and deletions."""

    @classmethod
    def creation(cls, path: str, json: Mapping[str, Any], seconds: float) -> Request:
        """A request that creates something, once, however often it is sent: the service knows it again by its key."""
        return cls("POST", path, json=json, seconds=seconds, headers={"Idempotency-Key": str(uuid4())}, idempotent=True)

    @property
    def is_repeatable(self) -> bool:
        """True if it may be sent again after its answer was lost."""
        return self.idempotent or self.method in {"GET", "DELETE"}


@dataclass(frozen=True)
class Receive:
    """The next piece of the answer that is being received; there is none after an empty one."""


@dataclass(frozen=True)
class Pause:
    """A time to let pass."""

    seconds: float


@dataclass(frozen=True)
class Answer:
    """An answer; names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def is_success(self) -> bool:
        """True for a status of success."""
        return 200 <= self.status < 300

    @property
    def is_event_stream(self) -> bool:
        """True if its body is server-sent events, which are received in pieces on request."""
        return is_event_stream(self.status, self.headers.get("content-type", ""))

    @property
    def retry_after(self) -> float | None:
        """Seconds until the service would have the request again: a number, or a date (RFC 9110, section 10.2.3)."""
        text = self.headers.get("retry-after", "").strip()
        if text.isascii() and text.isdigit():
            return float(text)
        try:
            date = parsedate_to_datetime(text)
        except (TypeError, ValueError):
            return None
        # A date without a zone is in GMT, as all dates of HTTP are.
        date = date if date.tzinfo else date.replace(tzinfo=timezone.utc)
        return max(0.0, (date - datetime.now(timezone.utc)).total_seconds())


def is_event_stream(status: int, content_type: str) -> bool:
    """Returns true if an answer is a stream of events."""
    return status == 200 and content_type.partition(";")[0].strip().lower() == "text/event-stream"


@dataclass(frozen=True)
class Emit(Generic[T]):
    """Something for the caller, who wants more."""

    item: T


Effect: TypeAlias = Request | Receive | Pause
Received: TypeAlias = Answer | bytes | None
Steps: TypeAlias = Generator[Effect, Received, T]
"""An operation with one result."""
Script: TypeAlias = Generator[Request | Receive | Pause | Emit[T], Received, None]
"""An operation that gives results one by one."""


def emitted(steps: Steps[T]) -> Script[T]:
    """Turns an operation with one result into one that gives that result."""
    yield Emit((yield from steps))


def ask(request: Request) -> Steps[Answer]:
    """Sends a request and gives its answer, whatever that says."""
    answer = yield request
    assert isinstance(answer, Answer), "a request is answered, or an error is thrown"
    return answer


def receive() -> Steps[bytes]:
    """The next piece of the answer that is being received; empty after the last one."""
    piece = yield Receive()
    assert isinstance(piece, bytes), "a piece is given, or an error is thrown"
    return piece


def pause(seconds: float) -> Steps[None]:
    """Lets a time pass."""
    yield Pause(seconds)


def read(shape: type[M], answer: Answer) -> M:
    """The body of an answer as what it should be.

    Raises the class of `Refused` that belongs to its status, or `BadAnswer` where the body has another shape.
    """
    if not answer.is_success:
        raise refusal(answer)
    try:
        return shape.model_validate_json(answer.body)
    except ValidationError as error:
        raise BadAnswer(f"an answer {answer.status} that is no {shape.__name__}: {error}") from error


SUMMARIES: Mapping[int, tuple[type[Refused], str]] = {
    # The only answer 400 without reasons.
    400: (errors.InvalidRequest, "the request names something that is not there"),
    401: (errors.Unauthorized, "the service does not know the caller"),
    403: (errors.Forbidden, "the account may not do this"),
    404: (errors.NotFound, "there is no such thing"),
    409: (errors.Conflict, "this cannot be done to it now"),
    429: (errors.RateLimited, "the account has reached a rate limit"),
    503: (errors.Unavailable, "the service cannot take the request now"),
    504: (errors.DeadlinePassed, "the work was not done in time"),
}


def refusal(answer: Answer) -> Refused:
    """The exception for an answer that is no success."""
    invalid, fault = (errors.InvalidRequest, "the request is refused"), (errors.ServiceFault, "a fault of the service")
    kind, summary = SUMMARIES.get(answer.status, invalid if answer.status < 500 else fault)
    request_id = answer.headers.get("x-request-id")
    return kind(f"{summary} ({answer.status})", answer.status, faults(answer.body), answer.retry_after, request_id)


class _Fault(BaseModel):
    loc: tuple[str | int, ...]
    msg: str
    type: str


class _Detail(BaseModel):
    detail: tuple[_Fault, ...]


def faults(body: bytes) -> tuple[Fault, ...]:
    """The reasons in the body of a refusal; none where a proxy wrote it, or nobody."""
    try:
        detail = _Detail.model_validate_json(body).detail
    except ValidationError:
        return ()
    return tuple(Fault(item.loc, item.msg, item.type) for item in detail)


def compact(body: Mapping[str, Any]) -> bytes:
    """A body as JSON."""
    return json.dumps(body, separators=(",", ":"), allow_nan=False).encode()
