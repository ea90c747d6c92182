"""Searches that are watched, by a server that breaks off, comes back, refuses or has no streams."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import aclosing, closing
from typing import Any

import pytest
from compacted import compacted
from conftest import PRAZOSIN
from streams import WHERE, Said, Server, event, progress, serving
from worlds import BOTH, Call

from retort_client import (
    AsyncRetort,
    BadAnswer,
    DeadlinePassed,
    InvalidRequest,
    Plan,
    PlanEvent,
    Progress,
    Retort,
    RetryPolicy,
    Route,
    StoredPlan,
    Unreachable,
)
from retort_client.server_events import EventReader, ServerEvent
from retort_client.wire import TreeSearchResult

AT_ONCE = RetryPolicy(first_wait=0)


def watched(retort: Retort) -> Iterator[PlanEvent]:
    return retort.plan_events(PRAZOSIN, max_seconds=1)


def told(events: list[PlanEvent]) -> list[object]:
    """Progress by its expansions, all else by what it is of."""
    return [each.expansions if isinstance(each, Progress) else type(each) for each in events]


def watch(call: Call, server: Server) -> list[PlanEvent]:
    return call(watched, server.url, "secret", retry_policy=AT_ONCE)


@pytest.fixture
def answer(recorded: str) -> dict[str, Any]:
    return json.loads(recorded)


@pytest.fixture
def compact(answer: dict[str, Any]) -> dict[str, Any]:
    return compacted(answer)


def graph_of(answer: dict[str, Any]) -> tuple[str, Any]:
    """The backbone and the graph of the only route."""
    (((backbone, ((graph,),)),),) = [list(each.items()) for each in answer["route_hierarchy"].values()]
    return backbone, graph


@pytest.mark.parametrize("call", BOTH)
def test_a_search_tells_what_it_does_its_routes_and_at_the_end_the_plan(
    call: Call, answer: dict[str, Any], compact: dict[str, Any]
) -> None:
    backbone, graph = graph_of(answer)
    found = event("route", {"route": graph, "backbone": backbone, "steps": "2"}, 2)
    said = Said([progress(10, 1), b": awake\n\n", found, event("a later invention", {}, 3), event("answer", compact, 4)])

    with serving(said) as server:
        one, route, plan = watch(call, server)

    assert isinstance(one, Progress)
    assert (one.expansions, one.best_cost) == (10, None)
    assert isinstance(route, Route)
    assert (route.target.smiles, route.backbone, len(route.steps)) == (PRAZOSIN, backbone, 2)
    assert isinstance(plan, Plan)
    assert plan.answer == TreeSearchResult.model_validate(answer)
    assert plan.best is not None
    assert plan.best.graph == route.graph
    method, path, headers = server.asked[0]
    assert (method, path) == ("POST", "/synth/v1/treesearch?view=compact")
    assert headers["accept"].startswith("text/event-stream")


@pytest.mark.parametrize("call", BOTH)
@pytest.mark.parametrize("breaks_off", [True, False])
def test_a_stream_that_ends_too_early_is_gone_on_with_where_it_was(call: Call, breaks_off: bool, compact: dict[str, Any]) -> None:
    first = Said([progress(10, 7), progress(20, 8), b"id: 9\nevent: progr"], breaks_off=breaks_off)
    nothing_new = Said([], breaks_off=breaks_off)
    rest = Said([progress(30, 9), event("answer", compact, 10)])

    with serving(first, nothing_new, rest) as server:
        events = watch(call, server)

    assert told(events) == [10, 20, 30, Plan]
    assert [(method, path, headers.get("last-event-id")) for method, path, headers in server.asked] == [
        ("POST", "/synth/v1/treesearch?view=compact", None),
        ("GET", WHERE, "8"),
        ("GET", WHERE, "8"),
    ]
    assert {headers["authorization"] for _, _, headers in server.asked} == {"Bearer secret"}


@pytest.mark.parametrize("call", BOTH)
def test_a_stream_that_tells_nothing_any_more_is_given_up(call: Call) -> None:
    with serving(Said([progress(10, 1)]), *[Said([])] * 3) as server, pytest.raises(Unreachable, match="broke off"):
        watch(call, server)

    assert len(server.asked) == 4


@pytest.mark.parametrize("call", BOTH)
def test_a_stream_that_shows_that_it_lives_is_waited_for(call: Call, compact: dict[str, Any]) -> None:
    with serving(*[Said([b": awake\n\n"])] * 9, Said([event("answer", compact, 1)])) as server:
        assert told(watch(call, server)) == [Plan]


@pytest.mark.parametrize("call", BOTH)
@pytest.mark.parametrize("where", [{}, {"Content-Location": "@elsewhere.example/"}])
def test_the_token_is_taken_nowhere_else(call: Call, where: dict[str, str]) -> None:
    with serving(Said([progress(10, 1)], headers=where)) as server, pytest.raises(Unreachable, match="broke off"):
        watch(call, server)


@pytest.mark.parametrize("call", BOTH)
def test_a_search_that_fails_in_its_stream_raises_what_it_raises_without(call: Call) -> None:
    fault = {"loc": ["body"], "msg": "no worker could do it in time", "type": "deadline"}
    said = Said([progress(10, 1), event("problem", {"status": 504, "detail": [fault]}, 2)])

    with serving(said) as server, pytest.raises(DeadlinePassed, match="no worker could do it in time") as caught:
        watch(call, server)

    assert caught.value.status == 504


@pytest.mark.parametrize("call", BOTH)
def test_a_fault_before_the_search_is_an_answer_like_any_other(call: Call) -> None:
    detail = [{"loc": ["body", "search_smiles"], "msg": "no molecule", "type": "smiles_invalid"}]
    said = Said([json.dumps({"detail": detail}).encode()], status=422, content_type="application/json")

    with serving(said) as server, pytest.raises(InvalidRequest, match=r"body.search_smiles: no molecule"):
        watch(call, server)


@pytest.mark.parametrize("call", BOTH)
def test_a_service_without_streams_gives_the_plan_alone(call: Call, compact: dict[str, Any]) -> None:
    with serving(Said([json.dumps(compact).encode()], content_type="application/json")) as server:
        events = watch(call, server)

    assert told(events) == [Plan]


@pytest.mark.parametrize("call", BOTH)
def test_who_wants_the_plan_alone_may_be_shown_what_is_done_meanwhile(call: Call, compact: dict[str, Any]) -> None:
    shown: list[Progress] = []

    with serving(Said([progress(10, 1), progress(20, 2), event("answer", compact, 3)])) as server:
        plan = call(lambda retort: retort.plan(PRAZOSIN, on_progress=shown.append), server.url, "t")

    assert (plan.target, [each.expansions for each in shown]) == (PRAZOSIN, [10, 20])


@pytest.mark.parametrize("call", BOTH)
def test_an_event_of_another_shape_is_told_as_such(call: Call) -> None:
    with serving(Said([event("progress", {"percent": 3}, 1)])) as server, pytest.raises(BadAnswer, match="no Progress"):
        watch(call, server)


def test_who_stops_reading_leaves_the_service() -> None:
    said = Said([progress(10, 1)], waits_for_leaving=True)

    with serving(said) as server, Retort(server.url, "t") as retort, closing(retort.plan_events(PRAZOSIN)) as events:
        assert told([next(events)]) == [10]
        events.close()
        assert server.left.wait(10)


def test_who_stops_reading_on_a_loop_leaves_the_service() -> None:
    async def main(server: Server) -> None:
        async with AsyncRetort(server.url, "t") as retort, aclosing(retort.plan_events(PRAZOSIN)) as events:
            assert told([await anext(events)]) == [10]
            await events.aclose()
            assert await asyncio.to_thread(server.left.wait, 10)

    with serving(Said([progress(10, 1)], waits_for_leaving=True)) as server:
        asyncio.run(main(server))


@pytest.mark.parametrize("call", BOTH)
def test_a_plan_that_is_kept_is_watched_in_the_same_way(call: Call) -> None:
    now = "2026-01-01T00:00:00Z"
    plan = {"id": "pln_1", "created_at": now, "updated_at": now, "status": "failed", "parameters": {"search_smiles": "C"}}

    with serving(Said([progress(10, 5)], headers={}), Said([event("answer", plan, 6)], headers={})) as server:
        one, ended = call(lambda retort: retort.plans.events("pln_1"), server.url, "t", retry_policy=AT_ONCE)

    assert one.expansions == 10
    assert isinstance(ended, StoredPlan)
    assert (ended.id, ended.has_ended) == ("pln_1", True)
    path = "/synth-batches/v1/plans/pln_1/events"
    assert [(asked[1], asked[2].get("last-event-id")) for asked in server.asked] == [(path, None), (path, "5")]


@pytest.mark.parametrize("size", [1, 2, 3, 1000])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_events_are_the_same_wherever_their_pieces_end(end: str, size: int) -> None:
    lines = ["", ": awake", "id: 1", "event: a", "data: é", "data:  two", "retry: 5", "", "data", "", "id: 2", "event: lost", ""]
    stream = end.join(lines).encode()
    reader = EventReader()

    pieces = [stream[start : start + size] for start in range(0, len(stream), size)]

    assert [event for piece in pieces for event in reader.read(piece)] == [
        ServerEvent("1", "a", "é\n two"),
        ServerEvent("1", "message", ""),
    ]
    assert reader.last_id == "1"
