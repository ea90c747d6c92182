"""The bodies of what a service keeps and does when its turn comes: plans and batches.

A plan's result is in the shape that other clients of this API family read, where reactions are nodes; `engine_answer` makes the one
of them that this package reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from .pages import Identified, Page
from .wire import Body, Metadata, NodeData, ReagentResults, RouteStanding, StepEvidence

Status = Literal["pending", "processing", "completed", "failed", "cancelled", "archived"]


class ReactionData(Body):
    """What is known of a reaction."""

    template_id: int
    rank: int
    cosine_sim: float
    path_cosine_dist: float
    plausibility: float | None = None
    evidence: StepEvidence | None = None


class EngineNode(Body):
    """A molecule or a reaction of a route."""

    id: str
    data: NodeData | ReactionData


class EngineEdge(Body):
    """From a precursor to a reaction, or from a reaction to its product."""

    source: str
    target: str


class EngineRoute(Body):
    """A route of molecules and reactions."""

    graph: RouteStanding | None = None
    nodes: tuple[EngineNode, ...]
    edges: tuple[EngineEdge, ...]


class CommonOffer(Body):
    """What every laboratory has."""

    major_component_id: int
    full_canonical: str
    major_component: str
    minor_components: str
    mw: float
    vendor_name: str


class PricedOffer(CommonOffer):
    """An offer with its price; 9999 days are a lead time that nobody knows."""

    cs_id: str
    cs_prefix: str
    cs_url: str
    pack: float
    uom: str
    price_usd: float
    normalised_usd: float
    api_timestamp: datetime


class EngineAnswer(Body):
    """The validated routes by backbone and by the steps of their longest branch, each with its price."""

    search_smiles: str
    metadata: Metadata
    route_hierarchy: Mapping[str, Mapping[str, tuple[tuple[EngineRoute, float], ...]]]
    pricing_annotations: tuple[PricedOffer | CommonOffer, ...] | None = None
    reagent_results: ReagentResults | None = None


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
    result: EngineAnswer | None = None


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
