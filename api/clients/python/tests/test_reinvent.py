"""What a generator is told of its molecules, and REINVENT's own finding of the component where it is installed."""

from __future__ import annotations

import math
from typing import Any

import pytest
from conftest import Installation

from retort_client.reinvent import PROPERTIES, scores

UNREACHABLE = "http://127.0.0.1:9"


def test_what_is_made_bought_nowhere_and_no_molecule_are_three_things(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RETORT_TOKEN", installation.token)

    solved, steps, usd, plausibility = scores(
        [installation.target, "FC(F)(F)F", "C("],
        ["solved", "steps", "usd_per_mol", "plausibility"],
        {"max_seconds": 1},
        installation.url,
    )

    assert solved[:2] == [1.0, 0.0]
    assert steps[0] >= 1
    assert usd[0] > 0
    assert 0 < plausibility[0] <= 1
    assert all(math.isnan(of_one) for of_one in (solved[2], steps[1], steps[2], usd[1], plausibility[1]))


def test_a_service_that_is_not_there_is_no_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RETORT_TOKEN", "t")

    told = scores(["CCO", "CCN"], list(PROPERTIES), {}, UNREACHABLE)

    assert len(told) == len(PROPERTIES)
    assert all(math.isnan(score) for of_one in told for score in of_one)


def test_reinvent_finds_the_component_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    importer: Any = pytest.importorskip("reinvent.scoring.importer")
    monkeypatch.setenv("RETORT_URL", UNREACHABLE)
    monkeypatch.setenv("RETORT_TOKEN", "t")
    component, parameters = importer.get_registry()["retort"]

    result = component(parameters(property=["solved", "steps"]))(["CCO"])

    assert [[math.isnan(score) for score in of_one] for of_one in result.scores] == [[True], [True]]
    with pytest.raises(ValueError, match="no such property: price"):
        component(parameters(property=["price"]))
