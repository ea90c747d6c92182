"""`AsyncRetort` is `Retort` on an event loop: same names, same parameters, same words."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from retort_client import (
    AsyncRetort,
    Retort,
    asynchronous,
    asynchronous_batches,
    asynchronous_kept_routes,
    batches,
    client,
    kept_routes,
)

AWAITED = {"__enter__": "__aenter__", "__exit__": "__aexit__"}
PAIRS = [
    (Retort, AsyncRetort),
    (client.Samples, asynchronous.AsyncSamples),
    (client.Models, asynchronous.AsyncModels),
    (kept_routes.Routes, asynchronous_kept_routes.AsyncRoutes),
    (batches.Plans, asynchronous_batches.AsyncPlans),
    (batches.Batches, asynchronous_batches.AsyncBatches),
    (batches.Batch, asynchronous_batches.AsyncBatch),
]


def methods(kind: type) -> dict[str, Callable[..., Any]]:
    own = {name: getattr(kind, name) for name in vars(kind) if not name.startswith("_") or name in AWAITED}
    return {name: method for name, method in own.items() if callable(method)}


@pytest.mark.parametrize(("threads", "loop"), PAIRS)
def test_each_method_of_one_is_a_method_of_the_other(threads: type, loop: type) -> None:
    for name, method in methods(threads).items():
        twin = getattr(loop, AWAITED.get(name, name))
        parameters = [(each.name, each.kind, each.default) for each in inspect.signature(method).parameters.values()]
        twins = [(each.name, each.kind, each.default) for each in inspect.signature(twin).parameters.values()]
        assert parameters == twins, name
        assert method.__doc__ == twin.__doc__, name
        given = str(twin.__annotations__.get("return"))
        assert inspect.iscoroutinefunction(twin) or given.startswith("Async") or name == "from_env", name
    assert set(methods(loop)) <= set(methods(threads))
