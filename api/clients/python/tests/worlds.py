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
from urllib.parse import parse_qsl

import httpx
import pytest

from retort_client import AsyncRetort, Retort, RetryPolicy

LOST = httpx.ReadError("connection reset")

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


class BatchWorld:
    """A service's batch, whose parts end one look after the other as `ends` says; it keeps the paths that it was asked.

    `lost` counts for each path the answers that are lost on the way. Polls follow each other without a pause.
    """

    def __init__(self, count: int, ends: list[dict[int, str]], monkeypatch: pytest.MonkeyPatch) -> None:
        self.status = dict.fromkeys(range(count), "pending")
        self.ends = ends
        self.asked: list[str] = []
        self.lost: dict[str, int] = {}
        for name in ("FIRST_POLL", "NEXT_POLL"):
            monkeypatch.setattr(f"retort_client.polling.{name}", 0.0)

    @property
    def options(self) -> dict[str, Any]:
        """Options of a client that asks this service."""
        return {"transport": httpx.MockTransport(self._answer), "retry_policy": RetryPolicy(first_wait=0)}

    root: str
    """Path of the API."""
    parts: str
    """Collection of the parts."""
    after: str
    """Parameter with the id of the part before a page."""
    cancelled: str
    """Status of a pending part once its batch is cancelled."""

    def batch(self) -> dict[str, Any]:
        """Body of the batch."""
        raise NotImplementedError

    def part(self, place: int) -> dict[str, Any]:
        """Body of a part."""
        raise NotImplementedError

    def page(self, parts: list[dict[str, Any]], *, has_more: bool) -> dict[str, Any]:
        """Body of a page of these parts."""
        raise NotImplementedError

    def _answer(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path.removeprefix(self.root)
        query = dict(parse_qsl(request.url.query.decode()))
        self.asked.append(path if not query else f"{path}?{query.get(self.after, '')}")
        if self.lost.get(path):
            self.lost[path] -= 1
            raise LOST
        if path.startswith(f"{self.parts}/"):
            return httpx.Response(200, json=self.part(_place(path)))
        if path.endswith(f"/{self.parts}"):
            return httpx.Response(200, json=self._page(query))
        if request.method == "GET" and self.ends:
            self.status |= self.ends.pop(0)
        if path.endswith("/cancel"):
            self.status = {each: self.cancelled if status == "pending" else status for each, status in self.status.items()}
        return httpx.Response(200, json=self.batch())

    def _page(self, query: dict[str, str]) -> dict[str, Any]:
        after = _place(query[self.after]) if self.after in query else len(self.status)
        older = [place for place in reversed(self.status) if place < after]
        shown = older[: int(query["limit"])]
        return self.page([self.part(place) for place in shown], has_more=len(older) > len(shown))


def _place(part_id: str) -> int:
    return int(part_id.rpartition("_")[2])


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
