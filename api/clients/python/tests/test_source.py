"""Rules of the package's own source."""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MODULES = {path.stem: path for path in sorted((ROOT / "src/retort_client").glob("*.py"))}


def imported(path: Path) -> set[str]:
    """The modules of the package that a module imports, for its types too."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            names |= {node.module} if node.module else {each.name for each in node.names}
    return names & set(MODULES)


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = {name: imported(path) for name, path in MODULES.items()}
    assert graph["route"] >= {"drawing", "text", "tree"}
    while free := {name for name, names in graph.items() if not names & set(graph)}:
        graph = {name: names for name, names in graph.items() if name not in free}
    assert graph == {}


def test_the_client_for_threads_is_that_for_event_loops_without_async() -> None:
    spec = importlib.util.spec_from_file_location("generate_sync", ROOT / "generate_sync.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    for path, text in script.generated().items():
        if path.read_text(encoding="utf-8") != text:
            pytest.fail(f"{path.name} is not what its source says: run generate_sync.py")
        assert "async" not in text.partition("\n")[2]
        assert "await" not in text
