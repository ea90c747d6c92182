"""Both clients, called in the same way, so that each test is one of both.

What a test does is written for `Retort`; `AsyncRetort` has the same names (`test_twins.py`), and what it gives is awaited here.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, Protocol, TypeAlias, cast

import httpx

from retort_client import AsyncRetort, Patience, Retort

Act: TypeAlias = Callable[[Retort], Any]


class Call(Protocol):
    """Does something with a client that is made of the other arguments, and gives what that gave; a list for an iterator."""

    def __call__(self, act: Act, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401
        """Does it."""
        ...


def with_threads(act: Act, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401
    """Does it with `Retort`."""
    with Retort(*arguments, **options) as retort:
        done = act(retort)
        return list(cast("Iterator[Any]", done)) if isinstance(done, Iterator) else done


def on_a_loop(act: Act, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401
    """Does it with `AsyncRetort`."""

    async def main() -> Any:  # noqa: ANN401
        async with AsyncRetort(*arguments, **options) as retort:
            done = act(cast("Retort", retort))
            if isinstance(done, AsyncIterator):
                return [each async for each in cast("AsyncIterator[Any]", done)]
            return await done

    return asyncio.run(main())


BOTH: list[Call] = [with_threads, on_a_loop]


def answering(*answers: httpx.Response | Exception) -> tuple[list[httpx.Request], dict[str, Any]]:
    """Options of a client that gets these answers one after the other, and the requests that it will have sent."""
    sent: list[httpx.Request] = []

    def handle(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        answer = answers[len(sent) - 1]
        if isinstance(answer, Exception):
            raise answer
        return answer

    return sent, {"transport": httpx.MockTransport(handle), "patience": Patience(first_wait=0)}
