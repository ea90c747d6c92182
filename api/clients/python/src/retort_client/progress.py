"""Progress of a batch, as a bar or by a callback."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, TypeAlias

from .extras import need
from .stored import BatchProgress

Show: TypeAlias = Callable[[BatchProgress], None]


@contextmanager
def shown(progress: bool | Show) -> Generator[Show, None, None]:
    """Callback for progress: a bar in the terminal for true, nothing for false, or the one given."""
    if callable(progress):
        yield progress
    elif not progress:
        yield _nothing
    else:
        bar: Any = need("tqdm", "progress").tqdm(unit=" targets")
        with bar:
            yield lambda told: _advance(bar, told)


def _nothing(_: BatchProgress) -> None:
    pass


def _advance(bar: Any, told: BatchProgress) -> None:  # noqa: ANN401 (of a library that need not be there)
    bar.total, bar.n = told.total, told.ended
    bar.set_postfix({name: count for name in ("failed", "cancelled") if (count := getattr(told, name))}, refresh=False)
    bar.refresh()
