"""The notebook runs from its first cell to its last, and what is rendered of it is what stands in it.

`NOTEBOOK_RENDERED=1` has the first test render it anew.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from conftest import Installation

NOTEBOOK = Path(__file__).parents[1] / "notebooks" / "first_route.ipynb"
RENDERED = NOTEBOOK.with_suffix(".md")


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

    page, pictures = rendered(notebook.cells)
    assert pictures
    assert page.count("```python") == sum(cell["cell_type"] == "code" for cell in notebook.cells)
    if os.environ.get("NOTEBOOK_RENDERED"):
        RENDERED.write_text(page, encoding="utf-8")
        for name, picture in pictures.items():
            RENDERED.with_name(name).write_text(picture, encoding="utf-8")


def test_what_is_rendered_of_the_notebook_is_what_stands_in_it() -> None:
    page = RENDERED.read_text(encoding="utf-8")

    for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]:
        assert "".join(cell["source"]) in page
    pictures = re.findall(r"!\[.*\]\((.*)\)", page)
    assert pictures
    assert all(RENDERED.with_name(picture).exists() for picture in pictures)


def rendered(cells: list[dict[str, Any]]) -> tuple[str, dict[str, str]]:
    """The cells and what they showed as Markdown, and its pictures by the names of their files."""
    parts: list[str] = []
    pictures: dict[str, str] = {}
    for cell in cells:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        for output in cell["outputs"]:
            shown = output.get("data", {})
            if drawn := re.search(r"<svg.*?</svg>", shown.get("text/html", ""), re.DOTALL):
                name = f"{RENDERED.stem}_{len(pictures) + 1}.svg"
                pictures[name] = drawn[0] + "\n"
                parts.append(f"![What the cell draws]({name})")
            elif output["output_type"] != "stream" or output["name"] == "stdout":
                parts.append(f"```text\n{(shown.get('text/plain') or output.get('text', '')).rstrip()}\n```")
    return "\n\n".join(parts) + "\n", pictures
