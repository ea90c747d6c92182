"""Plans and batches: what is asked of a service, and what comes of answers that no service has on demand."""

from __future__ import annotations

import json
import sys
from collections.abc import Generator
from typing import Any

import httpx
import pytest
from worlds import BOTH, BatchWorld, Call

from retort_client import Batch, BatchProgress, NotFound, Plan, Retort, RetryPolicy, StoredPlan, Unavailable

URL = "http://service.example"
NOW = "2026-01-01T00:00:00Z"
ONCE = RetryPolicy(attempts=1)
TWICE = RetryPolicy(attempts=2, first_wait=0)


class World(BatchWorld):
    """A batch of plans."""

    root, parts, after, cancelled = "/synth-batches/v1/", "plans", "starting_after", "cancelled"

    def batch(self) -> dict[str, Any]:
        said = list(self.status.values())
        progress = {status: said.count(status) for status in ("pending", "processing", "completed", "failed", "cancelled")}
        batch = {"id": "bat_1", "object": "batch", "created_at": NOW, "updated_at": NOW, "plans_created": True}
        return batch | {"plan_count": len(said), "progress": progress}

    def part(self, place: int) -> dict[str, Any]:
        plan = {"id": f"pln_{place}", "object": "plan", "created_at": NOW, "updated_at": NOW, "batch_id": "bat_1"}
        return plan | {"status": self.status[place], "parameters": {"search_smiles": "C" * (place + 1)}}

    def page(self, parts: list[dict[str, Any]], *, has_more: bool) -> dict[str, Any]:
        return {"object": "list", "items": parts, "has_next": has_more, "has_previous": False}


def results(skip: tuple[str, ...] = ()) -> Any:  # noqa: ANN401
    def act(retort: Retort) -> Generator[Any, Any, Any]:
        batch: Batch = yield retort.batches.retrieve("bat_1")
        found: list[StoredPlan] = yield batch.results(skip=skip)
        return [(plan.id, plan.status) for plan in found]

    return act


@pytest.mark.parametrize("call", BOTH)
def test_results_come_as_they_are_there_each_once_and_failures_too(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(4, [{}, {1: "completed"}, {}, {0: "completed", 3: "failed"}, {2: "completed"}], monkeypatch)

    found = call(results(), URL, "t", **world.options)

    assert found == [("pln_1", "completed"), ("pln_0", "completed"), ("pln_3", "failed"), ("pln_2", "completed")]


@pytest.mark.parametrize("call", BOTH)
def test_pages_are_read_only_where_more_has_ended_those_of_the_first_targets_first(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("retort_client.pages.LARGEST_PAGE", 2)
    world = World(6, [{}, {}, {}, *(dict.fromkeys(each, "completed") for each in ([0], [1, 2], [3, 4, 5]))], monkeypatch)

    found = call(results(), URL, "t", **world.options)

    pages = [asked.partition("?")[2] for asked in world.asked if "?" in asked]
    first_reading, one, others, rest = ["", "pln_4", "pln_2"], ["pln_2"], ["pln_2", "pln_4"], ["pln_4", ""]
    assert pages == [*first_reading, *one, *others, *rest]
    assert [plan for plan, _ in found] == [f"pln_{place}" for place in range(6)]


@pytest.mark.parametrize("call", BOTH)
def test_what_an_earlier_program_has_had_is_neither_told_nor_fetched_again(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(3, [{0: "completed", 1: "completed"}, {}, {2: "completed"}], monkeypatch)

    found = call(results(skip=("pln_0",)), URL, "t", **world.options)

    assert [plan for plan, _ in found] == ["pln_1", "pln_2"]
    assert "plans/pln_0" not in world.asked


@pytest.mark.parametrize("call", BOTH)
def test_a_service_that_is_away_for_a_while_ends_no_waiting(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(1, [{}, {}, {0: "completed"}], monkeypatch)
    world.lost = {"batches/bat_1": 3, "batches/bat_1/plans": 9, "plans/pln_0": 9}

    assert call(results(), URL, "t", **world.options) == [("pln_0", "completed")]


@pytest.mark.parametrize("call", BOTH)
def test_waiting_ends_with_the_last_plan_and_tells_how_far_it_has_come(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(3, [{}, {}, {0: "completed"}, {1: "failed", 2: "cancelled"}], monkeypatch)
    told: list[BatchProgress] = []

    def act(retort: Retort) -> Generator[Any, Any, Any]:
        batch: Batch = yield retort.batches.retrieve("bat_1")
        return (yield batch.wait(progress=told.append))

    batch = call(act, URL, "t", **world.options)

    assert [(each.ended, each.total) for each in told] == [(0, 3), (1, 3), (3, 3)]
    assert repr(batch) == "<batch bat_1: 3 targets, 1 completed, 1 failed, 1 cancelled>"


@pytest.mark.parametrize("call", BOTH)
def test_a_cancellation_whose_answer_was_lost_is_sent_again(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(1, [], monkeypatch)
    world.lost = {"batches/bat_1/cancel": 1}

    def act(retort: Retort) -> Generator[Any, Any, Any]:
        batch: Batch = yield retort.batches.retrieve("bat_1")
        yield batch.cancel()
        return batch.progress

    assert call(act, URL, "t", **world.options).cancelled == 1


@pytest.mark.parametrize("call", BOTH)
def test_a_batch_that_may_have_been_made_is_asked_for_again_by_its_key(call: Call) -> None:
    sent: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        return httpx.Response(504)

    with pytest.raises(Exception, match="the work was not done in time"):
        call(
            lambda retort: retort.batches.create(["C"], name="n", max_seconds=1),
            URL,
            "t",
            transport=httpx.MockTransport(answer),
            retry_policy=TWICE,
        )

    assert [request.content for request in sent] == [b'{"smiles":["C"],"parameters":{"max_seconds":1},"name":"n"}'] * 2
    assert len({request.headers["idempotency-key"] for request in sent}) == 1


@pytest.mark.parametrize("call", BOTH)
@pytest.mark.parametrize(("smiles", "words"), [("CCO", "this is one"), (["C", float("nan")], "target 1 is no text: nan")])
def test_what_is_no_list_of_texts_is_told_before_anything_is_sent(call: Call, smiles: Any, words: str) -> None:  # noqa: ANN401
    with pytest.raises(TypeError, match=words):
        call(lambda retort: retort.batches.create(smiles), URL, "t")


@pytest.mark.parametrize("call", BOTH)
def test_targets_have_the_names_that_they_are_given(call: Call) -> None:
    sent: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        return httpx.Response(504)

    with pytest.raises(Exception, match="the work was not done in time"):
        call(
            lambda retort: retort.batches.create(["C", "CC"], names=iter(["a", None])),
            URL,
            "t",
            transport=httpx.MockTransport(answer),
            retry_policy=ONCE,
        )

    assert [request.content for request in sent] == [b'{"smiles":["C","CC"],"names":["a",null],"parameters":{}}']


def test_a_column_of_a_table_is_a_list_of_targets(monkeypatch: pytest.MonkeyPatch) -> None:
    pandas = pytest.importorskip("pandas")
    world = World(2, [], monkeypatch)

    with Retort(URL, "t", **world.options) as retort:
        batch = retort.batches.create(pandas.DataFrame({"smiles": ["C", "CC"]})["smiles"])

    assert batch.plan_count == 2


def test_a_bar_needs_tqdm_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(1, [{0: "completed"}], monkeypatch)
    monkeypatch.setitem(sys.modules, "tqdm", None)

    with Retort(URL, "t", **world.options) as retort:
        batch = retort.batches.retrieve("bat_1")
        with pytest.raises(ImportError, match=r"pip install 'retort-client\[progress\]'"):
            batch.wait(progress=True)


def test_a_bar_counts_the_targets(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tqdm")
    world = World(2, [{}, {0: "completed", 1: "failed"}], monkeypatch)

    with Retort(URL, "t", **world.options) as retort:
        retort.batches.retrieve("bat_1").wait(progress=True)

    assert "2/2" in capsys.readouterr().err


@pytest.mark.parametrize("call", BOTH)
def test_a_plan_is_waited_for_through_refusals_and_losses(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(1, [], monkeypatch)
    world.lost = {"plans/pln_0": 2}
    looked: list[str] = []

    def plan(place: int) -> dict[str, Any]:
        looked.append(world.status[place])
        if len(looked) == 2:
            world.status[place] = "failed"
        return World.part(world, place) | {"error": "no searcher for it"}

    monkeypatch.setattr(world, "part", plan)
    ended: StoredPlan = call(lambda retort: retort.plans.wait("pln_0"), URL, "t", **world.options)

    assert (ended.has_ended, ended.error, ended.result, ended.smiles) == (True, "no searcher for it", None, "C")
    assert looked == ["pending", "pending"]


@pytest.mark.parametrize("call", BOTH)
def test_a_plan_has_its_result_as_the_search_answered_it(call: Call, recorded: str) -> None:
    sent: list[httpx.Request] = []
    plan = {"id": "pln_1", "created_at": NOW, "updated_at": NOW, "status": "completed", "parameters": {"search_smiles": "C"}}

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        return httpx.Response(200, json=plan | {"result": json.loads(recorded)})

    stored: StoredPlan = call(lambda retort: retort.plans.retrieve("pln_1"), URL, "t", transport=httpx.MockTransport(answer))

    assert stored.result is not None
    assert stored.result.answer == Plan.from_json(recorded).answer
    assert sent[0].headers["accept"].startswith("application/vnd.retort.treesearch+json")


@pytest.mark.parametrize("call", BOTH)
def test_routes_for_other_programs_are_asked_for_where_they_are(call: Call) -> None:
    sent: list[tuple[str, str]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append((request.method, str(request.url).removeprefix(URL)))
        return httpx.Response(200, json=[{"type": "mol"}])

    def act(retort: Retort) -> Generator[Any, Any, Any]:
        first = yield retort.export("C", "aizynth", max_seconds=1)
        second = yield retort.plans.export("pln_1", "retrocast")
        third = yield retort.routes.export("rte_1", "aizynth")
        return first, second, third

    assert call(act, URL, "t", transport=httpx.MockTransport(answer)) == ([{"type": "mol"}],) * 3
    assert sent == [
        ("POST", "/synth/v1/treesearch?format=aizynth"),
        ("GET", "/synth-batches/v1/plans/pln_1?format=retrocast"),
        ("GET", "/synth/v1/routes/rte_1?format=aizynth"),
    ]


@pytest.mark.parametrize("call", BOTH)
@pytest.mark.parametrize(("status", "error"), [(404, NotFound), (503, Unavailable)])
def test_what_a_service_refuses_ends_the_waiting(call: Call, status: int, error: type[Exception]) -> None:
    transport = httpx.MockTransport(lambda _: httpx.Response(status))

    with pytest.raises(error):
        call(lambda retort: retort.plans.wait("pln_0"), URL, "t", transport=transport, retry_policy=ONCE)
