"""Lists that the service gives a page at a time, the newest first."""

from __future__ import annotations

from typing import Any, ClassVar, Generic, TypeVar

from .calls import Session, call
from .exchange import Emit, Request, Script, Steps, read
from .wire import Body, Identified

LARGEST_PAGE = 100

I = TypeVar("I", bound=Identified)  # noqa: E741


class Page(Body, Generic[I]):
    """Some of a list."""

    cursor: ClassVar[str] = "starting_after"
    """Parameter for the id of the item before the page."""
    items: tuple[I, ...]
    has_next: bool
    """True if there are older ones."""


class SamplingPage(Body, Generic[I]):
    """Some of a list of the sampling API, which has names of its own."""

    cursor: ClassVar[str] = "next-page"
    data: tuple[I, ...]
    has_more: bool

    @property
    def items(self) -> tuple[I, ...]:
        """The `items` of other pages."""
        return self.data

    @property
    def has_next(self) -> bool:
        """True if there are older ones."""
        return self.has_more


P = TypeVar("P", bound=Page[Any] | SamplingPage[Any])


def page_of(session: Session, path: str, kind: type[P], after: str | None) -> Steps[P]:
    """The page of what is older than the item `after`; the newest where that is none."""
    query: dict[str, str | int] = {"limit": LARGEST_PAGE} | ({} if after is None else {kind.cursor: after})
    answer = yield from call(session, Request("GET", path, query, seconds=session.retry_policy.seconds))
    return read(kind, answer)


def listed(session: Session, path: str, kind: type[Page[I]] | type[SamplingPage[I]]) -> Script[I]:
    """All of a list, fetched as it is read."""
    here = yield from page_of(session, path, kind, None)
    while True:
        # Before anything of this page is handed out: whoever deletes what they read deletes the next page's cursor.
        following = (yield from page_of(session, path, kind, here.items[-1].id)) if here.has_next and here.items else None
        for item in here.items:
            yield Emit(item)
        if following is None:
            return
        here = following
