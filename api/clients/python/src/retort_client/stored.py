"""The bodies of what a service keeps and does when its turn comes: plans, samples and batches of either."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from .pages import Page, SamplingPage
from .wire import Body, Identified, Sample, SampleStatus, SampleSummary, TreeSearchResult

Status = Literal["pending", "processing", "completed", "failed", "cancelled", "archived"]


class PlanBody(Identified):
    """A tree search that nobody waits for."""

    created_at: datetime
    updated_at: datetime
    status: Status
    parameters: Mapping[str, Any]
    """The target (`search_smiles`), the settings and the engine."""
    batch_id: str | None = None
    name: str | None = None
    description: str | None = None
    error: str | None = None
    result: TreeSearchResult | None = None


class PlanPage(Page[PlanBody]):
    """Plans without their results, the newest first, or those of a batch, those of the last targets first."""


class BatchProgress(Body):
    """Number of a batch's plans in each state."""

    pending: int
    processing: int
    completed: int
    failed: int
    cancelled: int
    seconds_left: float | None = None
    """Seconds until the last plan has ended, at the pace so far; none before the first has."""

    @property
    def total(self) -> int:
        """All plans."""
        return self.pending + self.processing + self.ended

    @property
    def ended(self) -> int:
        """Plans that nobody will work on any more."""
        return self.done + self.cancelled

    @property
    def done(self) -> int:
        """Plans that were worked on to their end, with a result or without one."""
        return self.completed + self.failed


class BatchBody(Identified):
    """Targets that were asked for together, each with a plan."""

    created_at: datetime
    updated_at: datetime
    plan_count: int
    name: str | None = None
    description: str | None = None
    progress: BatchProgress | None = None
    """Progress; `None` in lists."""


class BatchPage(Page[BatchBody]):
    """One page of batches, newest first."""


class SamplePage(SamplingPage[SampleSummary]):
    """One page of samples, newest first."""


class SampleBatchBody(Identified):
    """Molecules that were asked for together, in chunks that are samples."""

    created_at: datetime
    size: int
    model_id: str | None = None
    status: SampleStatus
    chunk_count: int
    completed_chunks: int
    failed_chunks: int


class SampleBatchPage(SamplingPage[SampleBatchBody]):
    """One page of sample batches, newest first."""


class ChunkPage(SamplingPage[Sample]):
    """Chunks of a sample batch with their molecules, the last ones first."""
