"""Models and searches, each as a request and the reading of its answer."""

from __future__ import annotations

from dataclasses import replace

from .calls import Session, at, call, retrieve
from .compact import CompactResult
from .exchange import Answer, Request, Steps, read
from .plan import Plan
from .wire import (
    Country,
    ExportBody,
    ExportedRoutes,
    ExportFormat,
    Model,
    ModelList,
    PlanSettings,
)

MODELS = "/generator/v1/models"
TREE_SEARCH = "/synth/v1/treesearch"

DEFAULT_MAX_SECONDS = 4.0
"""Seconds of a search by the service's default."""


def list_models(session: Session) -> Steps[tuple[Model, ...]]:
    """All models that can be sampled."""
    return (yield from retrieve(session, MODELS, ModelList)).data


def retrieve_model(session: Session, model_id: str) -> Steps[Model]:
    """One of them."""
    return retrieve(session, at(MODELS, model_id), Model)


def plan(session: Session, smiles: str, settings: PlanSettings) -> Steps[Plan]:
    """Searches for routes to a target."""
    answer = yield from call(session, search_request(session, smiles, settings))
    return as_plan(answer, settings)


def export(session: Session, smiles: str, format: ExportFormat, settings: PlanSettings) -> Steps[ExportedRoutes]:
    """Searches for routes to a target, in the format of another program."""
    request = replace(search_request(session, smiles, settings), query={"format": format})
    return read(ExportBody, (yield from call(session, request))).root


def search_request(session: Session, smiles: str, settings: PlanSettings) -> Request:
    """Request for a search with a compact result, with its timeout."""
    # A value that the service will refuse, and name, is no reason to fail here.
    max_seconds: object = settings.get("max_seconds", DEFAULT_MAX_SECONDS)
    search = max(float(max_seconds), 0.0) if isinstance(max_seconds, int | float) else DEFAULT_MAX_SECONDS
    body = {"search_smiles": smiles, **settings}
    return Request("POST", TREE_SEARCH, {"view": "compact"}, json=body, seconds=session.retry_policy.for_work(search))


def as_plan(answer: Answer, settings: PlanSettings) -> Plan:
    """Plan of an answer to a search with these settings."""
    return Plan(read(CompactResult, answer).expanded(), ships_to(settings))


def ships_to(settings: PlanSettings) -> Country | None:
    """Country of the offers and lead times."""
    return settings.get("ships_to", "US")
