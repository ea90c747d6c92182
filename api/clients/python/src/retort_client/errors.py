"""Exceptions, which carry facts.

Everything that this package raises for a service's sake is a `RetortError`, so one `except` is enough for who only wants to go on;
who wants to know why catches a class below and reads its attributes, never its text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """One reason for which the service refused a request."""

    place: tuple[str | int, ...]
    """Place in the request: `body`, `query`, `path` or `header`, then names and indices inward."""
    reason: str
    """Reason, for people."""
    kind: str
    """Kind of fault, for programs: `missing`, `greater_than_equal`, `smiles_invalid` …"""

    @property
    def path(self) -> str:
        """The place with dots: `body.max_depth`."""
        return ".".join(map(str, self.place))

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}" if self.place else self.reason


class RetortError(Exception):
    """Something that a service, or the way to it, did not do."""


class Refused(RetortError):
    """The service answered, and not with what was asked for."""

    def __init__(
        self,
        summary: str,
        status: int,
        faults: Sequence[Fault] = (),
        retry_after: float | None = None,
        request_id: str | None = None,
    ) -> None:
        self.status = status
        """The HTTP status."""
        self.faults = tuple(faults)
        """The reasons, all of them; empty where the service gave none."""
        self.retry_after = retry_after
        """Seconds after which the service would have the request again; none where it does not say."""
        self.request_id = request_id
        """Id by which operators find the request in their logs."""
        super().__init__("; ".join(map(str, faults)) or summary)


class InvalidRequest(Refused):
    """The request cannot be done as it stands; `faults` name every field that is at fault."""


class Unauthorized(Refused):
    """There is no token, or one that does not do (any more)."""


class Forbidden(Refused):
    """The account may not do this."""


class NotFound(Refused):
    """There is no such thing, or none that the account may see."""


class Conflict(Refused):
    """The state of the resource does not allow this."""


class RateLimited(Refused):
    """A ration of the account is spent, or it has too much in flight; `retry_after` says for how long."""


class Unavailable(Refused):
    """The service cannot take the request now; `retry_after` says when it may."""


class DeadlinePassed(Refused):
    """The work was not done in time."""


class ServiceFault(Refused):
    """A fault of the service; `request_id` is what its operators ask for."""


class BadAnswer(RetortError):
    """The answer is none of a Retort service: another program listens there, or a proxy answers for it."""


class Unreachable(RetortError):
    """No answer came: the service is not there, or the connection broke."""


class TimedOut(Unreachable):
    """No answer came in time."""


class SampleFailed(RetortError):
    """Some chunks of a sample batch failed, so it has fewer molecules than were asked for."""


class LoginFailed(RetortError):
    """Nobody let this login in, or the service ended it."""
