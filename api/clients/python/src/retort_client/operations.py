"""Operations of the service, each as a request and the reading of its answer."""

from __future__ import annotations

from dataclasses import replace

from .calls import Session, at, call, delete
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
    Sample,
    SampleConditions,
    SamplePage,
    TreeSearchResult,
)

SAMPLES = "/generator/v1/samples"
MODELS = "/generator/v1/models"
TREE_SEARCH = "/synth/v1/treesearch"

DEFAULT_MAX_SECONDS = 4.0
"""Seconds of a search by the service's default."""
LARGEST_PAGE = 100


def create_sample(session: Session, size: int, model_id: str | None, conditions: SampleConditions) -> Steps[Sample]:
    """Has `size` molecules generated that satisfy the conditions."""
    model = {} if model_id is None else {"model_id": model_id}
    body = {"size": size, **model, **conditions}
    seconds = session.retry_policy.for_work(session.retry_policy.seconds)
    answer = yield from call(session, Request("POST", SAMPLES, json=body, seconds=seconds))
    return read(Sample, answer)


def retrieve_sample(session: Session, sample_id: str) -> Steps[Sample]:
    """A sample with its molecules."""
    answer = yield from call(session, Request("GET", at(SAMPLES, sample_id), seconds=session.retry_policy.seconds))
    return read(Sample, answer)


def delete_sample(session: Session, sample_id: str) -> Steps[None]:
    """Deletes a sample."""
    return delete(session, at(SAMPLES, sample_id))


def page_of_samples(session: Session, after: str | None) -> Steps[SamplePage]:
    """The page of samples that were made before the one whose id is `after`; the newest where that is none."""
    query: dict[str, str | int] = {"limit": LARGEST_PAGE}
    if after is not None:
        query["next-page"] = after
    answer = yield from call(session, Request("GET", SAMPLES, query, seconds=session.retry_policy.seconds))
    return read(SamplePage, answer)


def next_cursor(page: SamplePage) -> str | None:
    """Cursor of the next page; `None` after the last one."""
    return page.data[-1].id if page.has_more and page.data else None


def list_models(session: Session) -> Steps[tuple[Model, ...]]:
    """All models that can be sampled."""
    answer = yield from call(session, Request("GET", MODELS, seconds=session.retry_policy.seconds))
    return read(ModelList, answer).data


def retrieve_model(session: Session, model_id: str) -> Steps[Model]:
    """One of them."""
    answer = yield from call(session, Request("GET", at(MODELS, model_id), seconds=session.retry_policy.seconds))
    return read(Model, answer)


def plan(session: Session, smiles: str, settings: PlanSettings) -> Steps[Plan]:
    """Searches for routes to a target."""
    answer = yield from call(session, search_request(session, smiles, settings))
    return as_plan(answer, settings)


def export(session: Session, smiles: str, format: ExportFormat, settings: PlanSettings) -> Steps[ExportedRoutes]:
    """Searches for routes to a target, in the format of another program."""
    request = replace(search_request(session, smiles, settings), query={"format": format})
    return read(ExportBody, (yield from call(session, request))).root


def search_request(session: Session, smiles: str, settings: PlanSettings) -> Request:
    """Request for a search, with its timeout."""
    # A value that the service will refuse, and name, is no reason to fail here.
    max_seconds: object = settings.get("max_seconds", DEFAULT_MAX_SECONDS)
    search = max(float(max_seconds), 0.0) if isinstance(max_seconds, int | float) else DEFAULT_MAX_SECONDS
    return Request("POST", TREE_SEARCH, json={"search_smiles": smiles, **settings}, seconds=session.retry_policy.for_work(search))


def as_plan(answer: Answer, settings: PlanSettings) -> Plan:
    """Plan of an answer to a search with these settings."""
    return Plan(read(TreeSearchResult, answer), ships_to(settings))


def ships_to(settings: PlanSettings) -> Country | None:
    """Country of the offers and lead times."""
    return settings.get("ships_to", "US")
