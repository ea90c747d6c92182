"""The trials, in the order in which they run."""

from cases.database import Frozen, Stopped, Unreachable
from cases.dead import DeadApi
from cases.faults import Faults
from cases.floods import FloodOfSamples, FloodOfSearches
from cases.memory import Memory
from cases.overload import Overload
from cases.ready import Ready, Twice
from cases.recovery import Recovery
from trial import Trial

TRIALS: list[type[Trial]] = [
    FloodOfSearches,
    FloodOfSamples,
    Ready,
    Twice,
    Overload,
    DeadApi,
    Frozen,
    Stopped,
    Unreachable,
    Memory,
    Recovery,
    Faults,
]
