"""Routes that are kept, against a service that runs."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest
from conftest import Installation
from worlds import BOTH, Call

from retort_client import InvalidRequest, KeptRoute, NotFound, Plan, Retort, StoredPlan

pytestmark = pytest.mark.filterwarnings("error")


@pytest.mark.parametrize("call", BOTH)
def test_a_route_is_kept_found_again_renamed_and_let_go(call: Call, installation: Installation) -> None:
    def act(retort: Retort) -> Generator[Any, Any, Any]:
        plan: Plan = yield retort.plan(installation.target, ships_to="DE")
        assert plan.best is not None
        made: KeptRoute = yield retort.routes.keep(plan.best, name="first", starred=True, max_depth=4)
        again: KeptRoute = yield retort.routes.retrieve(made.id)
        renamed: KeptRoute = yield retort.routes.update(made.id, name=None, note="Ask Ada")
        listed: list[KeptRoute] = yield retort.routes.list()
        (tree,) = yield retort.routes.export(made.id, "aizynth")
        yield retort.routes.delete(made.id)
        return plan, made, again, renamed, listed, tree

    plan, made, again, renamed, listed, tree = call(act, installation.url, installation.token)

    assert (made.name, made.note, made.starred, made.is_own) == ("first", None, True, True)
    assert made.body.parameters["max_depth"] == 4
    assert again == made
    assert again.route.graph == plan.best.graph
    assert again.route.ships_to == "DE"
    offers = [block.offers for block in again.route.building_blocks]
    assert offers == [block.offers for block in plan.best.building_blocks]
    assert (tree["smiles"], tree["metadata"]) == (plan.target, {"is_solved": True})
    assert again.figures.steps == len(plan.best.steps)
    assert (renamed.name, renamed.note, renamed.starred) == (None, "Ask Ada", True)
    assert [(each.id, each.route) for each in listed] == [(made.id, None)]
    with pytest.raises(NotFound):
        call(lambda retort: retort.routes.retrieve(made.id), installation.url, installation.token)


@pytest.mark.parametrize("call", BOTH)
def test_a_route_of_a_stored_plan_is_kept_as_well(call: Call, installation: Installation) -> None:
    def act(retort: Retort) -> Generator[Any, Any, Any]:
        stored: StoredPlan = yield retort.plans.create(installation.target, max_seconds=2)
        ended: StoredPlan = yield retort.plans.wait(stored.id)
        assert ended.result is not None
        assert ended.result.best is not None
        made: KeptRoute = yield retort.routes.keep(ended.result.best)
        yield retort.routes.delete(made.id)
        yield retort.plans.delete(stored.id)
        return ended, made

    ended, made = call(act, installation.url, installation.token)

    assert [step.smiles for step in made.route.steps] == [step.smiles for step in ended.result.best.steps]


def test_what_is_no_route_is_refused_with_its_place(installation: Installation) -> None:
    def act(retort: Retort) -> Generator[Any, Any, Any]:
        plan: Plan = yield retort.plan(installation.target)
        assert plan.best is not None
        yield retort.routes.keep(plan.best, note="n" * 5000, max_depth=0)

    with pytest.raises(InvalidRequest) as refused:
        BOTH[0](act, installation.url, installation.token)

    assert [fault.path for fault in refused.value.faults] == ["body.parameters.max_depth", "body.note"]
