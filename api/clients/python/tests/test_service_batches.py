"""Plans, batches and searches that are watched, against a service that runs."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest
from conftest import Installation
from worlds import BOTH, Call, with_threads

from retort_client import Batch, BatchProgress, InvalidRequest, NotFound, Plan, Progress, Retort, Route, StoredPlan

UNREACHED = "FC(F)(F)F"

pytestmark = pytest.mark.filterwarnings("error")


@pytest.mark.parametrize("call", BOTH)
def test_a_plan_is_kept_and_finds_what_a_search_finds(call: Call, installation: Installation) -> None:
    def act(retort: Retort) -> Generator[Any, Any, Any]:
        stored: StoredPlan = yield retort.plans.create(installation.target, name="the target", ships_to="DE")
        ended: StoredPlan = yield retort.plans.wait(stored.id)
        searched: Plan = yield retort.plan(installation.target, ships_to="DE")
        predictions: Any = yield retort.plans.export(stored.id, "retrocast")
        listed: list[StoredPlan] = yield retort.plans.list()
        yield retort.plans.delete(stored.id)
        return stored, ended, searched, predictions, listed

    stored, ended, searched, predictions, listed = call(act, installation.url, installation.token)

    assert (stored.status, stored.result, stored.body.name) == ("pending", None, "the target")
    assert [(each.id, each.result) for each in listed if each.id == stored.id] == [(stored.id, None)]
    assert (ended.id, ended.status, ended.error, ended.smiles) == (stored.id, "completed", None, installation.target)
    assert ended.result.ships_to == "DE"
    assert ended.result.best.target.smiles == searched.target
    assert [step.smiles for step in ended.result.best.steps] == [step.smiles for step in searched.best.steps]
    assert prices(ended.result) == prices(searched)
    assert ended.result.best.shopping_list == searched.best.shopping_list
    assert [each["rank"] for each in predictions[searched.target]] == [route.rank for route in ended.result]
    assert all(each["route"]["target"]["inchikey"] for each in predictions[searched.target])
    with pytest.raises(NotFound):
        call(lambda retort: retort.plans.retrieve(stored.id), installation.url, installation.token)


def prices(plan: Plan) -> list[float | None]:
    assert plan.best is not None
    return [offer.normalised_usd for block in plan.best.building_blocks for offer in block.offers]


@pytest.mark.parametrize("call", BOTH)
def test_a_batch_is_gone_on_with_by_its_id(call: Call, installation: Installation) -> None:
    targets = [installation.target, UNREACHED, installation.target]
    made: Batch = call(
        lambda retort: retort.batches.create(iter(targets), name="three", max_seconds=1), installation.url, installation.token
    )

    def act(retort: Retort) -> Generator[Any, Any, Any]:
        batch: Batch = yield retort.batches.retrieve(made.id)
        found: list[StoredPlan] = yield batch.results()
        rest: list[StoredPlan] = yield batch.results(skip=[found[0].id, found[1].id])
        listed: list[StoredPlan] = yield batch.plans()
        batches: list[Batch] = yield retort.batches.list()
        yield batch.delete()
        return found, rest, listed, batches

    found, rest, listed, batches = call(act, installation.url, installation.token)

    by_target = {plan.smiles: plan.result for plan in found}
    assert sorted(plan.smiles for plan in found) == sorted(targets)
    assert by_target[installation.target]
    assert by_target[UNREACHED].metadata.search.stopped_by == (UNREACHED,)
    assert [plan.id for plan in rest] == [found[2].id]
    assert [plan.smiles for plan in listed] == targets[::-1]
    assert batches[0].id == made.id
    with pytest.raises(NotFound):
        call(lambda retort: retort.batches.retrieve(made.id), installation.url, installation.token)


@pytest.mark.parametrize("call", BOTH)
def test_a_batch_is_cancelled_resumed_and_waited_for(call: Call, installation: Installation) -> None:
    told: list[BatchProgress] = []

    def act(retort: Retort) -> Generator[Any, Any, Any]:
        batch: Batch = yield retort.batches.create(["C" * length + "C(F)(F)F" for length in range(1, 31)], max_seconds=1)
        cancelled: BatchProgress | None = (yield batch.cancel()).progress
        yield batch.wait(progress=told.append)
        yield batch.resume()
        yield batch.wait(progress=told.append)
        yield batch.delete()
        return batch.plan_count, cancelled, batch.progress

    count, cancelled, progress = call(act, installation.url, installation.token)

    assert count == 30
    assert cancelled is not None
    assert cancelled.pending == 0
    assert (progress.completed, progress.cancelled, progress.ended) == (30, 0, 30)
    assert told[-1] == progress


@pytest.mark.parametrize("call", BOTH)
def test_each_bad_target_of_a_batch_is_named(call: Call, installation: Installation) -> None:
    with pytest.raises(InvalidRequest) as caught:
        call(lambda retort: retort.batches.create(["C", "C(", "CC", "?"]), installation.url, installation.token)

    assert [fault.path for fault in caught.value.faults] == ["body.smiles.1", "body.smiles.3"]


@pytest.mark.parametrize("call", BOTH)
def test_a_search_may_be_watched(call: Call, installation: Installation) -> None:
    *before, plan = call(
        lambda retort: retort.plan_events(installation.target, early_exit_first_solution=False, max_seconds=1),
        installation.url,
        installation.token,
    )

    assert isinstance(plan, Plan)
    assert plan.best is not None
    assert all(isinstance(event, Progress | Route) for event in before)
    with pytest.raises(InvalidRequest):
        call(lambda retort: retort.plan_events("C("), installation.url, installation.token)


def test_a_plan_may_be_shown_while_it_is_made(installation: Installation) -> None:
    shown: list[Progress] = []

    plan = with_threads(
        lambda retort: retort.plan(installation.target, on_progress=shown.append), installation.url, installation.token
    )

    assert plan.best.target.smiles == plan.target
    assert [each.seconds for each in shown] == sorted(each.seconds for each in shown)
