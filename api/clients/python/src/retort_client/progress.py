"""Progress of a batch, as a bar or by a callback."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

from .extras import need


class Counts(Protocol):
    """Number of a batch's parts, and how many of them have ended."""

    @property
    def total(self) -> int:
        """All parts."""
        ...

    @property
    def ended(self) -> int:
        """Parts that nobody will work on any more."""
        ...


C = TypeVar("C", bound=Counts)


@contextmanager
def shown(progress: bool | Callable[[C], None], unit: str) -> Generator[Callable[[C], None], None, None]:
    """Callback for progress: a bar in the terminal for true, nothing for false, or the one given."""
    if callable(progress):
        yield progress
    elif not progress:
        yield _nothing
    else:
        bar: Any = need("tqdm", "progress").tqdm(unit=f" {unit}")
        with bar:
            yield lambda told: _advance(bar, told)


def _nothing(_: Counts) -> None:
    pass


def _advance(bar: Any, told: Counts) -> None:  # noqa: ANN401 (of a library that need not be there)
    bar.total, bar.n = told.total, told.ended
    bar.set_postfix({name: count for name in ("failed", "cancelled") if (count := getattr(told, name, 0))}, refresh=False)
    bar.refresh()
