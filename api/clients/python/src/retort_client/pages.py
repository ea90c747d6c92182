"""Lists that the service gives a page at a time, the newest first."""

from __future__ import annotations

from typing import Generic, TypeVar

from .calls import Session, call
from .exchange import Emit, Request, Script, Steps, read
from .wire import Body

LARGEST_PAGE = 100


class Identified(Body):
    """Something that is found again by its id."""

    id: str


I = TypeVar("I", bound=Identified)  # noqa: E741


class Page(Body, Generic[I]):
    """Some of a list."""

    items: tuple[I, ...]
    has_next: bool
    """True if there are older ones."""


P = TypeVar("P", bound=Body)


def page_of(session: Session, path: str, kind: type[P], after: str | None) -> Steps[P]:
    """The page of what is older than the item `after`; the newest where that is none."""
    query: dict[str, str | int] = {"limit": LARGEST_PAGE} | ({} if after is None else {"starting_after": after})
    answer = yield from call(session, Request("GET", path, query, seconds=session.retry_policy.seconds))
    return read(kind, answer)


def listed(session: Session, path: str, kind: type[Page[I]]) -> Script[I]:
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
