"""Both clients, called in the same way, so that each test is one of both.

What a test does is written for `Retort`; `AsyncRetort` has the same names (`generate_sync.py`), and what it gives is awaited here.
Where one thing follows from another, it is a generator that yields what is to be awaited, gets that, and returns what the test
looks at.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, Protocol, TypeAlias, cast

import httpx

from retort_client import AsyncRetort, Retort, RetryPolicy

Act: TypeAlias = Callable[[Retort], Any]


class Call(Protocol):
    """Does something with a client that is made of the other arguments, and gives what that gave; lists for iterators."""

    def __call__(self, act: Act, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401
        """Does it."""
        ...


def with_threads(act: Act, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401
    """Does it with `Retort`."""

    def settled(done: Any) -> Any:  # noqa: ANN401
        return list(cast("Iterator[Any]", done)) if isinstance(done, Iterator) else done

    with Retort(*arguments, **options) as retort:
        if not inspect.isgeneratorfunction(act):
            return settled(act(retort))
        steps, received = act(retort), None
        while True:
            try:
                received = settled(steps.send(received))
            except StopIteration as end:
                return end.value


def on_a_loop(act: Act, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401
    """Does it with `AsyncRetort`."""

    async def settled(done: Any) -> Any:  # noqa: ANN401
        return [each async for each in cast("AsyncIterator[Any]", done)] if isinstance(done, AsyncIterator) else await done

    async def main() -> Any:  # noqa: ANN401
        async with AsyncRetort(*arguments, **options) as loop:
            retort = cast("Retort", loop)
            if not inspect.isgeneratorfunction(act):
                return await settled(act(retort))
            steps, received = act(retort), None
            while True:
                try:
                    step = steps.send(received)
                except StopIteration as end:
                    return end.value
                received = await settled(step)

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

    return sent, {"transport": httpx.MockTransport(handle), "retry_policy": RetryPolicy(first_wait=0)}
