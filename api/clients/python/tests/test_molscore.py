"""Inside MolScore, where it is installed: a task that names the scoring function."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import Installation
from shop import ACID, AMIDE, UNKNOWN, Shop, open_shop

from retort_client import RetortError

molscore: Any = pytest.importorskip("molscore", exc_type=ImportError)
plugin: Any = pytest.importorskip("retort_client.molscore", exc_type=ImportError)

LATE = "CCCCCCC"
UNREACHABLE = "http://127.0.0.1:9"


@pytest.fixture
def shop(monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    monkeypatch.setenv("RETORT_TOKEN", "t")
    with open_shop() as shop:
        yield shop


def test_each_molecule_has_its_metrics_and_nan_where_nobody_could_tell(shop: Shop) -> None:
    amide, acid, unknown, late = plugin.Retort(url=shop.url)(smiles=[AMIDE, ACID, UNKNOWN, LATE], directory=".", file_names=[])

    assert amide == {
        "smiles": AMIDE,
        "Retort_solved": 1.0,
        "Retort_steps": 1,
        "Retort_usd_per_mol": 12.5,
        "Retort_plausibility": 0.9,
    }
    assert (acid["Retort_solved"], acid["Retort_steps"]) == (1.0, 0)
    assert unknown["Retort_solved"] == 0.0
    assert math.isnan(unknown["Retort_steps"])
    assert all(math.isnan(value) for name, value in late.items() if name != "smiles")


@pytest.mark.usefixtures("shop")
def test_a_service_that_is_not_there_is_no_zero_and_may_end_the_run() -> None:
    (told,) = plugin.Retort(prefix="can be made", url=UNREACHABLE)([AMIDE])

    assert all(math.isnan(value) for name, value in told.items() if name != "smiles")
    assert set(told) == {"smiles", *(f"can_be_made_{metric}" for metric in plugin.Retort.return_metrics)}
    with pytest.raises(RetortError):
        plugin.Retort(url=UNREACHABLE, on_failure="raise")([AMIDE])


def test_a_molecule_that_was_not_reached_ends_a_run_that_must_not_go_on_without(shop: Shop) -> None:
    with pytest.raises(RetortError, match="not reached"):
        plugin.Retort(url=shop.url, on_failure="raise")([AMIDE, LATE])


def test_a_task_of_molscore_is_scored_by_it(shop: Shop, tmp_path: Path) -> None:
    metric: dict[str, Any] = {"name": "Retort_solved", "weight": 1.0, "modifier": "raw", "parameters": {}}
    task: dict[str, Any] = {
        "task": "can_be_made",
        "output_dir": str(tmp_path),
        "load_from_previous": False,
        "logging": False,
        "monitor_app": False,
        "termination_exit": False,
        "scoring_functions": [{"name": "Retort", "run": True, "parameters": {"prefix": "Retort", "url": shop.url}}],
        "scoring": {"metrics": [metric], "method": "single"},
        "diversity_filter": {"run": False, "name": "Unique", "parameters": {}},
    }
    (tmp_path / "task.json").write_text(json.dumps(task), encoding="utf-8")

    score = molscore.MolScore(model_name="test", task_config=str(tmp_path / "task.json"))
    scores = score([AMIDE, UNKNOWN], step=1)

    assert scores[0] == pytest.approx(1.0)
    assert scores[1] == pytest.approx(0.0, abs=1e-5)


def test_a_service_that_runs_scores(bulk_querying: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RETORT_TOKEN", bulk_querying.token)

    target, unknown = plugin.Retort(url=bulk_querying.url, max_seconds=0.5)([bulk_querying.target, UNKNOWN])

    assert (target["Retort_solved"], unknown["Retort_solved"]) == (1.0, 0.0)
    assert target["Retort_usd_per_mol"] > 0
