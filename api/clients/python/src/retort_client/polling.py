"""Waiting for what the service does in the background.

Waiting is polling, at growing intervals; it survives three minutes without the service.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from .calls import Session
from .exchange import Steps, pause
from .progress import Counts, shown

FIRST_POLL, NEXT_POLL, LONGEST_POLL = 0.25, 1.0, 5.0
"""Seconds between two polls: the first, the one after something has ended, and the longest."""

B = TypeVar("B")
C = TypeVar("C", bound=Counts)


class Pauses:
    """Pauses between polls, which grow until something has ended."""

    def __init__(self) -> None:
        self._seconds = FIRST_POLL

    def shorten(self) -> None:
        """Makes the next pause short, since something has ended."""
        self._seconds = NEXT_POLL

    def pause(self) -> Steps[None]:
        """Lets the next pause pass."""
        seconds, self._seconds = self._seconds, min(2 * self._seconds, LONGEST_POLL)
        return pause(seconds)


def for_waiting(session: Session) -> Session:
    """The session with the retries of polls."""
    return replace(session, retry_policy=session.retry_policy.for_waiting())


def wait_until_ended(
    retrieve: Callable[[], Steps[B]], counts: Callable[[B], C], progress: bool | Callable[[C], None], unit: str
) -> Steps[B]:
    """A batch when all of its parts have ended; `unit` is what these are."""
    with shown(progress, unit) as show:
        pauses, before = Pauses(), 0
        while True:
            batch = yield from retrieve()
            told = counts(batch)
            show(told)
            if told.ended == told.total:
                return batch
            if told.ended > before:
                pauses.shorten()
                before = told.ended
            yield from pauses.pause()
