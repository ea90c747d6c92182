"""What several tests need: a recorded answer, and a running installation where there is one."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from retort_client import Plan

PRAZOSIN = "COc1cc2nc(N3CCN(C(=O)c4ccco4)CC3)nc(N)c2cc1OC"
RECORDED = Path(__file__).parent / "data" / "prazosin.json"


@dataclass(frozen=True)
class Installation:
    """A service that runs, as `RETORT_TEST_INSTALLATION` describes it in JSON."""

    url: str
    token: str
    """Of an account without rations."""
    reader_token: str
    """Of one that may read samples and no more."""
    rationed_token: str
    """Of one that may list samples once a minute."""
    email: str
    """Who logs in by the pages, with `password`."""
    password: str
    target: str
    """SMILES of what the catalogue has the building blocks for."""
    command: list[str]
    """The `retort` command, logged in as the account of `token`."""


@pytest.fixture(scope="session")
def installation() -> Installation:
    described = os.environ.get("RETORT_TEST_INSTALLATION")
    if described is None:
        pytest.skip("RETORT_TEST_INSTALLATION describes no running service")
    return Installation(**json.loads(described))


@pytest.fixture(scope="session")
def bulk_querying(installation: Installation) -> Installation:
    """An installation that answers bulk queries."""
    document = httpx.get(f"{installation.url}/openapi.json", trust_env=False).json()
    if "/synth/v1/expansions" not in document["paths"]:
        pytest.skip("this service has no bulk queries")
    return installation


@pytest.fixture(scope="session")
def recorded() -> str:
    """The answer to a search for routes to prazosin in the demo catalogue."""
    return RECORDED.read_text(encoding="utf-8")


@pytest.fixture
def plan(recorded: str) -> Plan:
    return Plan.from_json(recorded)


@pytest.fixture
def configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that logins are kept in, which is not the user's own."""
    for name in ("XDG_CONFIG_HOME", "APPDATA", "HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    for name in ("RETORT_URL", "RETORT_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "retort"
