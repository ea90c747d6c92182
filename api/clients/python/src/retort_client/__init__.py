"""Samples of molecules and routes to them, from a Retort service.

    from retort_client import Retort

    with Retort.from_env() as retort:
        plan = retort.plan("COc1cc2nc(N3CCN(C(=O)c4ccco4)CC3)nc(N)c2cc1OC")
        print(plan.best)

`AsyncRetort` is the same on an event loop. Every error is a `RetortError`.
"""

from .asynchronous import AsyncRetort
from .asynchronous_batches import AsyncBatch
from .asynchronous_samples import AsyncSampleBatch
from .background import StoredPlan
from .batches import Batch
from .bulk_queries import (
    Analogue,
    BlockSearch,
    ExpandedMolecule,
    FoundBlock,
    FoundBlocks,
    MoleculeLikelihood,
    PrecursorSet,
    SoldMolecule,
    Synthesizability,
)
from .calls import RetryPolicy
from .client import Retort
from .errors import (
    BadAnswer,
    Conflict,
    DeadlinePassed,
    Fault,
    Forbidden,
    InvalidRequest,
    LoginFailed,
    NotFound,
    RateLimited,
    Refused,
    RetortError,
    SampleFailed,
    ServiceFault,
    TimedOut,
    Unauthorized,
    Unavailable,
    Unreachable,
)
from .events import PlanEvent, Progress, StoredPlanEvent
from .kept import KeptRoute, RouteChange, RouteFigures
from .plan import BackboneGroup, Plan
from .route import Route
from .samples import SampleBatch
from .sampling import SampleBatchProgress
from .stored import BatchProgress
from .tree import Molecule, Step
from .version import __version__
from .wire import ExportFormat, Model, Offer, PlanSettings, Sample, SampleConditions, SampleSummary, ShoppingList

__all__ = [
    "Analogue",
    "AsyncBatch",
    "AsyncRetort",
    "AsyncSampleBatch",
    "BackboneGroup",
    "BadAnswer",
    "Batch",
    "BatchProgress",
    "BlockSearch",
    "Conflict",
    "DeadlinePassed",
    "ExpandedMolecule",
    "ExportFormat",
    "Fault",
    "Forbidden",
    "FoundBlock",
    "FoundBlocks",
    "InvalidRequest",
    "KeptRoute",
    "LoginFailed",
    "Model",
    "Molecule",
    "MoleculeLikelihood",
    "NotFound",
    "Offer",
    "Plan",
    "PlanEvent",
    "PlanSettings",
    "PrecursorSet",
    "Progress",
    "RateLimited",
    "Refused",
    "Retort",
    "RetortError",
    "RetryPolicy",
    "Route",
    "RouteChange",
    "RouteFigures",
    "Sample",
    "SampleBatch",
    "SampleBatchProgress",
    "SampleConditions",
    "SampleFailed",
    "SampleSummary",
    "ServiceFault",
    "ShoppingList",
    "SoldMolecule",
    "Step",
    "StoredPlan",
    "StoredPlanEvent",
    "Synthesizability",
    "TimedOut",
    "Unauthorized",
    "Unavailable",
    "Unreachable",
    "__version__",
]
