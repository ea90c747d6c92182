"""The script that a newcomer copies from the README."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import PRAZOSIN, Installation

README = Path(__file__).parents[1] / "README.md"


def test_from_installing_to_a_drawn_and_priced_route_it_is_ten_lines_at_most(
    installation: Installation, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("rdkit")
    _, install, _, script, *_ = README.read_text(encoding="utf-8").split("```")
    lines = [line for block in (install, script) for line in block.splitlines()[1:] if line.strip()]
    monkeypatch.setenv("RETORT_URL", installation.url)
    monkeypatch.setenv("RETORT_TOKEN", installation.token)
    monkeypatch.chdir(tmp_path)

    exec(script.removeprefix("python").replace(PRAZOSIN, installation.target), {})

    assert len(lines) <= 10
    assert "USD/g" in capsys.readouterr().out
    assert (tmp_path / "route.svg").read_text(encoding="utf-8").startswith("<svg")
