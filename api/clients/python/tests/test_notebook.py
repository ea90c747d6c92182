"""The notebook runs from its first cell to its last."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conftest import Installation

NOTEBOOK = Path(__file__).parents[1] / "notebooks" / "first_route.ipynb"


def test_the_notebook_runs_and_draws_a_route(installation: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    nbformat: Any = pytest.importorskip("nbformat")
    nbclient: Any = pytest.importorskip("nbclient")
    for module in ("ipykernel", "rdkit", "networkx", "pandas"):
        pytest.importorskip(module)
    monkeypatch.setenv("RETORT_URL", installation.url)
    monkeypatch.setenv("RETORT_TOKEN", installation.token)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1] / "src"))
    notebook = nbformat.read(NOTEBOOK, as_version=4)

    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()

    shown = [output.get("data", {}).get("text/html", "") for cell in notebook.cells for output in cell.get("outputs", [])]
    assert any("<svg" in page for page in shown)
