"""Samples and sample batches.

A batch is made in chunks, which are samples. All of them are stored before the batch is answered, so their ids are read once.
Later, a poll asks how many have ended. Chunks are read only when more have, the first ones first, since these are made first.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from .calls import Session, act, at, call, delete, retrieve
from .exchange import Emit, Request, Script, Steps, read
from .pages import listed, page_of
from .polling import Pauses, for_waiting, wait_until_ended
from .progress import shown
from .stored import ChunkPage, SampleBatchBody, SampleBatchPage, SamplePage
from .wire import Sample, SampleConditions, SampleStatus, SampleSummary

SAMPLES = "/generator/v1/samples"
BATCHES = "/generator/v1/sample-batches"
ENDED = frozenset({"completed", "failed"})


@dataclass(frozen=True)
class SampleBatchProgress:
    """Number of a batch's chunks, of up to 500 molecules each."""

    completed: int
    failed: int
    total: int
    """All chunks."""

    @property
    def ended(self) -> int:
        """Chunks that nobody will work on any more."""
        return self.completed + self.failed


Show: TypeAlias = Callable[[SampleBatchProgress], None]


class SampleBatchRecord:
    """A sample batch as it was last seen."""

    def __init__(self, body: SampleBatchBody) -> None:
        self.body = body
        """As the service last sent it."""

    @property
    def id(self) -> str:
        """Id of the batch, with which another program can go on."""
        return self.body.id

    @property
    def size(self) -> int:
        """Number of molecules that were asked for."""
        return self.body.size

    @property
    def model_id(self) -> str | None:
        """Model that was asked for, if any."""
        return self.body.model_id

    @property
    def created_at(self) -> datetime:
        """Time of its creation."""
        return self.body.created_at

    @property
    def status(self) -> SampleStatus:
        """State of the batch: `failed` once all chunks have ended and some of them failed."""
        return self.body.status

    @property
    def progress(self) -> SampleBatchProgress:
        """Progress when it was last seen."""
        return _progress(self.body)

    def __repr__(self) -> str:
        now = self.progress
        failed = f", {now.failed} failed" if now.failed else ""
        return f"<sample batch {self.id}: {self.size} molecules, {now.completed} of {now.total} chunks completed{failed}>"


def create_sample(session: Session, size: int, model_id: str | None, conditions: SampleConditions) -> Steps[Sample]:
    """Has `size` molecules generated that satisfy the conditions."""
    seconds = session.retry_policy.for_work(session.retry_policy.seconds)
    request = Request("POST", SAMPLES, json=_request(size, model_id, conditions), seconds=seconds)
    return read(Sample, (yield from call(session, request)))


def retrieve_sample(session: Session, sample_id: str) -> Steps[Sample]:
    """A sample with its molecules."""
    return retrieve(session, at(SAMPLES, sample_id), Sample)


def list_samples(session: Session) -> Script[SampleSummary]:
    """All samples, newest first."""
    return listed(session, SAMPLES, SamplePage)


def delete_sample(session: Session, sample_id: str) -> Steps[None]:
    """Deletes a sample."""
    return delete(session, at(SAMPLES, sample_id))


def create_batch(session: Session, size: int, model_id: str | None, conditions: SampleConditions) -> Steps[SampleBatchBody]:
    """Stores a request for `size` molecules that satisfy the conditions."""
    request = Request.creation(BATCHES, _request(size, model_id, conditions), session.retry_policy.seconds)
    return read(SampleBatchBody, (yield from call(session, request)))


def retrieve_batch(session: Session, batch_id: str) -> Steps[SampleBatchBody]:
    """A batch, and how far it has come."""
    return retrieve(session, at(BATCHES, batch_id), SampleBatchBody)


def list_batches(session: Session) -> Script[SampleBatchBody]:
    """All batches, newest first."""
    return listed(session, BATCHES, SampleBatchPage)


def cancel_batch(session: Session, batch_id: str) -> Steps[SampleBatchBody]:
    """Ends a batch."""
    return read(SampleBatchBody, (yield from act(session, f"{at(BATCHES, batch_id)}/cancel")))


def delete_batch(session: Session, batch_id: str) -> Steps[None]:
    """Deletes a batch with its samples."""
    return delete(session, at(BATCHES, batch_id))


def wait_for_batch(session: Session, batch_id: str, progress: bool | Show) -> Steps[SampleBatchBody]:
    """A batch when all of its chunks have ended."""
    waiting = for_waiting(session)
    return wait_until_ended(lambda: retrieve_batch(waiting, batch_id), _progress, progress, "chunks")


def results_of_batch(session: Session, batch_id: str, skip: Collection[str], progress: bool | Show) -> Script[Sample]:
    """Yields each chunk of a batch that is completed or has failed, and ends with the last one."""
    waiting, left_out = for_waiting(session), frozenset(skip)
    with shown(progress, "chunks") as show:
        unended: list[str] | None = None
        pauses = Pauses()
        while True:
            told = _progress((yield from retrieve_batch(waiting, batch_id)))
            show(told)
            if unended is None:
                chunks = yield from _chunks(waiting, batch_id)
                unended = [chunk.id for chunk in chunks if chunk.status not in ENDED]
                for chunk in chunks:
                    if chunk.status in ENDED and chunk.id not in left_out:
                        yield Emit(chunk)
            elif (more := told.ended - (told.total - len(unended))) > 0:
                pauses.shorten()
                yield from _reading(waiting, unended, more, left_out)
            if told.ended == told.total:
                return
            yield from pauses.pause()


def _chunks(session: Session, batch_id: str) -> Steps[list[Sample]]:
    """All chunks of a batch, the first ones first."""
    chunks: list[Sample] = []
    while True:
        page = yield from page_of(session, f"{at(BATCHES, batch_id)}/samples", ChunkPage, chunks[-1].id if chunks else None)
        chunks += page.data
        if not page.has_more or not page.data:
            return chunks[::-1]


def _reading(session: Session, unended: list[str], more: int, left_out: frozenset[str]) -> Script[Sample]:
    """Yields `more` chunks that have ended, and takes them out of `unended`."""
    for chunk_id in tuple(unended):
        if more <= 0:
            return
        chunk = yield from retrieve_sample(session, chunk_id)
        if chunk.status in ENDED:
            unended.remove(chunk_id)
            more -= 1
            if chunk_id not in left_out:
                yield Emit(chunk)


def _request(size: int, model_id: str | None, conditions: SampleConditions) -> dict[str, Any]:
    """Body of a request for molecules; `None` leaves the model to the service."""
    model = {} if model_id is None else {"model_id": model_id}
    return {"size": size, **model, **conditions}


def _progress(batch: SampleBatchBody) -> SampleBatchProgress:
    return SampleBatchProgress(batch.completed_chunks, batch.failed_chunks, batch.chunk_count)
