"""Plans and batches: stored tree searches, which run in the background.

This module keeps no state that the service lacks: with an id, another program can go on. A poll of a batch asks how many of
its plans have ended. Its pages are read only when more have, those of the first targets first, since these run first; so a
hundred thousand waiting targets cost one request every few seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, TypeAlias

from .calls import Session, act, at, call, delete, retrieve
from .errors import BadAnswer
from .exchange import Emit, Request, Script, Steps, read
from .pages import listed, page_of
from .plan import Plan
from .polling import Pauses, for_waiting, wait_until_ended
from .progress import shown
from .stored import BatchBody, BatchPage, BatchProgress, PlanBody, PlanPage, Status
from .wire import Country, ExportBody, ExportedRoutes, ExportFormat, PlanSettings

PLANS = "/synth-batches/v1/plans"
BATCHES = "/synth-batches/v1/batches"
UNENDED = frozenset({"pending", "processing"})
Show: TypeAlias = Callable[[BatchProgress], None]


@dataclass(frozen=True)
class StoredPlan:
    """A tree search that the service has kept: how it stands, and what it found."""

    body: PlanBody
    """As the service sent it."""

    @property
    def id(self) -> str:
        """Id of the plan."""
        return self.body.id

    @property
    def status(self) -> Status:
        """State of the plan."""
        return self.body.status

    @property
    def has_ended(self) -> bool:
        """True if it is in a terminal state."""
        return self.status not in UNENDED

    @property
    def smiles(self) -> str:
        """The target, as it was given."""
        return str(self.body.parameters.get("search_smiles", ""))

    @property
    def error(self) -> str | None:
        """Reason of a failure."""
        return self.body.error

    @cached_property
    def result(self) -> Plan | None:
        """Routes of a completed plan; `None` in lists, which leave results out."""
        ships_to: Country | None = self.body.parameters.get("ships_to", "US")
        return None if self.body.result is None else Plan(self.body.result, ships_to)


class BatchRecord:
    """A batch as it was last seen."""

    def __init__(self, body: BatchBody) -> None:
        self.body = body
        """As the service last sent it."""

    @property
    def id(self) -> str:
        """Id of the batch, with which another program can go on."""
        return self.body.id

    @property
    def plan_count(self) -> int:
        """Number of targets."""
        return self.body.plan_count

    @property
    def name(self) -> str | None:
        """Its name, if it was given one."""
        return self.body.name

    @property
    def created_at(self) -> datetime:
        """Time of its creation."""
        return self.body.created_at

    @property
    def progress(self) -> BatchProgress | None:
        """Progress when it was last seen; `None` if it comes from a list."""
        return self.body.progress

    def __repr__(self) -> str:
        now = self.progress
        counts = "" if now is None else f", {now.completed} completed, {now.failed} failed, {now.cancelled} cancelled"
        return f"<batch {self.id}: {self.plan_count} targets{counts}>"


@dataclass(frozen=True)
class Terms:
    """Settings and texts of a plan or a batch."""

    settings: PlanSettings
    engine: str | None
    name: str | None
    description: str | None

    def body(self, **target: str) -> dict[str, Any]:
        """Body of the request; `None` leaves a choice to the service."""
        engine = {} if self.engine is None else {"engine": self.engine}
        words = {"name": self.name, "description": self.description}
        said = {key: each for key, each in words.items() if each is not None}
        return {"parameters": {**target, **self.settings, **engine}, **said}


def create_plan(session: Session, smiles: str, terms: Terms) -> Steps[StoredPlan]:
    """Stores a search."""
    body = terms.body(search_smiles=smiles)
    answer = yield from call(session, Request.creation(PLANS, body, session.retry_policy.seconds))
    return StoredPlan(read(PlanBody, answer))


def retrieve_plan(session: Session, plan_id: str) -> Steps[StoredPlan]:
    """A plan as it stands, with its result once it has one."""
    return StoredPlan((yield from retrieve(session, at(PLANS, plan_id), PlanBody)))


def export_plan(session: Session, plan_id: str, format: ExportFormat) -> Steps[ExportedRoutes]:
    """The routes of a plan in the format of another program."""
    request = Request("GET", at(PLANS, plan_id), {"format": format}, seconds=session.retry_policy.seconds)
    return read(ExportBody, (yield from call(session, request))).root


def list_plans(session: Session) -> Script[PlanBody]:
    """All plans of no batch without their results, newest first."""
    return listed(session, PLANS, PlanPage)


def cancel_plan(session: Session, plan_id: str) -> Steps[StoredPlan]:
    """Cancels a plan that has not ended."""
    answer = yield from act(session, f"{at(PLANS, plan_id)}/cancel")
    return StoredPlan(read(PlanBody, answer))


def delete_plan(session: Session, plan_id: str) -> Steps[None]:
    """Deletes a plan."""
    return delete(session, at(PLANS, plan_id))


def wait_for_plan(session: Session, plan_id: str) -> Steps[StoredPlan]:
    """A plan when it has ended."""
    waiting, pauses = for_waiting(session), Pauses()
    while True:
        plan = yield from retrieve_plan(waiting, plan_id)
        if plan.has_ended:
            return plan
        yield from pauses.pause()


def create_batch(session: Session, targets: tuple[Iterable[str], Iterable[str | None] | None], terms: Terms) -> Steps[BatchBody]:
    """Stores a search for each target: their SMILES, and their names where they have some."""
    smiles, names = targets
    body = {"smiles": list(_texts(smiles))} | ({} if names is None else {"names": list(names)}) | terms.body()
    # A hundred thousand molecules are read before it is answered.
    seconds = session.retry_policy.for_work(session.retry_policy.seconds)
    answer = yield from call(session, Request.creation(BATCHES, body, seconds))
    return read(BatchBody, answer)


def retrieve_batch(session: Session, batch_id: str) -> Steps[BatchBody]:
    """A batch, and how far it has come."""
    return retrieve(session, at(BATCHES, batch_id), BatchBody)


def list_batches(session: Session) -> Script[BatchBody]:
    """All batches, newest first."""
    return listed(session, BATCHES, BatchPage)


def cancel_batch(session: Session, batch_id: str) -> Steps[BatchBody]:
    """Cancels what of a batch has not ended."""
    answer = yield from act(session, f"{at(BATCHES, batch_id)}/cancel")
    return read(BatchBody, answer)


def resume_batch(session: Session, batch_id: str) -> Steps[BatchBody]:
    """Goes on with what of a batch was cancelled."""
    answer = yield from act(session, f"{at(BATCHES, batch_id)}/resume")
    return read(BatchBody, answer)


def delete_batch(session: Session, batch_id: str) -> Steps[None]:
    """Deletes a batch with its plans."""
    return delete(session, at(BATCHES, batch_id))


def wait_for_batch(session: Session, batch_id: str, progress: bool | Show) -> Steps[BatchBody]:
    """A batch when all of its plans have ended."""
    waiting = for_waiting(session)
    return wait_until_ended(lambda: retrieve_batch(waiting, batch_id), _progress, progress, "targets")


def plans_of_batch(session: Session, batch_id: str) -> Script[StoredPlan]:
    """The plans of a batch without their results, those of the last targets first."""
    after: str | None = None
    while True:
        page = yield from _page_of_plans(session, batch_id, after)
        for plan in page.items:
            yield Emit(StoredPlan(plan))
        if not page.has_next or not page.items:
            return
        after = page.items[-1].id


@dataclass
class _Seen:
    """A page of a batch's plans, and which of them are known to be done."""

    after: str | None
    """The plan that it begins after."""
    size: int
    done: set[str] = field(default_factory=set[str])


def results_of_batch(session: Session, batch_id: str, skip: Collection[str], progress: bool | Show) -> Script[StoredPlan]:
    """Yields each plan of a batch that is completed or has failed, with its result, and ends when no plan is left to run.

    Cancelled ones are left out, since they may be resumed.
    """
    waiting, left_out = for_waiting(session), frozenset(skip)
    with shown(progress, "targets") as show:
        pages: list[_Seen] = []
        pauses = Pauses()
        while True:
            told = _progress((yield from retrieve_batch(waiting, batch_id)))
            show(told)
            seen = sum(len(page.done) for page in pages)
            if not pages:
                yield from _first_reading(waiting, batch_id, pages, left_out)
            elif told.done > seen:
                pauses.shorten()
                yield from _reading(waiting, batch_id, pages, told.done - seen, left_out)
            if told.ended == told.total:
                return
            yield from pauses.pause()


def _first_reading(session: Session, batch_id: str, pages: list[_Seen], left_out: frozenset[str]) -> Script[StoredPlan]:
    """Every page of a batch, each kept in `pages`."""
    after: str | None = None
    while True:
        page = yield from _page_of_plans(session, batch_id, after)
        kept = _Seen(after, len(page.items))
        pages.append(kept)
        yield from _done(session, page, kept, left_out)
        if not page.has_next or not page.items:
            return
        after = page.items[-1].id


def _reading(session: Session, batch_id: str, pages: list[_Seen], more: int, left_out: frozenset[str]) -> Script[StoredPlan]:
    """The pages that have plans left to end, those of the first targets first, until `more` of them have."""
    for kept in reversed(pages):
        if more <= 0:
            return
        if len(kept.done) < kept.size:
            page = yield from _page_of_plans(session, batch_id, kept.after)
            before = len(kept.done)
            yield from _done(session, page, kept, left_out)
            more -= len(kept.done) - before


def _done(session: Session, page: PlanPage, kept: _Seen, left_out: frozenset[str]) -> Script[StoredPlan]:
    """Yields the plans of a page that are done and new, in the order of the targets."""
    for plan in reversed(page.items):
        if plan.status not in {"completed", "failed"} or plan.id in kept.done:
            continue
        kept.done.add(plan.id)
        if plan.id not in left_out:
            yield Emit((yield from retrieve_plan(session, plan.id)))


def _page_of_plans(session: Session, batch_id: str, after: str | None) -> Steps[PlanPage]:
    return page_of(session, f"{at(BATCHES, batch_id)}/plans", PlanPage, after)


def _progress(batch: BatchBody) -> BatchProgress:
    if batch.progress is None:
        raise BadAnswer(f"a batch {batch.id} that does not say how far it has come")
    return batch.progress


def _texts(smiles: Iterable[str]) -> Iterator[str]:
    """The targets; raises `TypeError` for what is no list of texts: a single SMILES, a missing value of a table."""
    if isinstance(smiles, str):
        raise TypeError("a batch takes a list of SMILES, and this is one: [smiles]")
    for index, each in enumerate(smiles):
        if not isinstance(each, str):  # pyright: ignore[reportUnnecessaryIsInstance] (tables say less than their types)
            raise TypeError(f"target {index} is no text: {each!r}")
        yield each
