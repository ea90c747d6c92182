"""One account asks for all that it may: what does another one notice?"""

import time
from dataclasses import dataclass

from cases.targets import easy_target, hard_target
from recording import Account, CallerGroup, Deadlines, Plan, Record
from trial import DEFAULT_MODEL, LARGE_MODEL, Figure, Stage, Trial, failed, milliseconds, ratio, seconds

# What both floods promise others of what is ready, beside an idle service.
TIMES_OF_IDLE = 2.0
# Rations that would end the series of whom it is measured by; the flood has those that everybody has.
LIFTED = ("samples-create", "molecules", "treesearch")


@dataclass(frozen=True)
class FloodOfSearches(Trial):
    """Many callers of an account search for long: another's default searches and small samples."""

    name = "flood-searches"
    short = {"callers": 30, "flood_seconds": 8.0, "idle_seconds": 3.0}
    callers: int = 60
    flood_seconds: float = 130.0
    idle_seconds: float = 30.0

    def run(self, stage: Stage) -> list[Figure]:
        with stage.installation({"RESERVOIR_SIZE": "20000", "SAMPLER_MODELS": DEFAULT_MODEL}, rations={}) as on:
            on.api()
            on.sampler()
            on.searcher()
            greedy, other = stage.account(on, "greedy"), stage.account(on, "other", LIFTED)
            on.service(other.token).wait_for_molecules(DEFAULT_MODEL, 18_000)
            idle = self.other_callers(stage, other, self.idle_seconds)
            stage.event("the flood of searches begins")
            flood = CallerGroup(stage.log, greedy, self.long_searches(stage.deadlines), self.callers)
            time.sleep(2)
            busy = self.other_callers(stage, other, self.flood_seconds)
            flood.hang_up()
        searches = [record for record in busy if record.operation == "search"]
        samples = [[record for record in records if record.operation == "sample"] for records in (idle, busy)]
        return [
            Figure("another's searches", len(searches)),
            Figure("of these without an answer (429, 503, 504)", failed(searches), at_most=0),
            Figure("another's search, p50", milliseconds(seconds(searches), 0.5), "ms", is_timing=True),
            Figure("another's samples of 10", len(samples[1])),
            Figure("of these samples without an answer", failed(samples[1]), at_most=0),
            *beside_idle("another's sample of 10", *samples),
        ]

    def long_searches(self, deadlines: Deadlines) -> Plan:
        """Such as take all their time, whether they may end early or not."""
        return lambda caller, turn: deadlines.a_search(hard_target(caller + turn), 120.0, early_exit_first_solution=caller % 2 == 0)

    def other_callers(self, stage: Stage, other: Account, how_long: float) -> list[Record]:
        """Default searches one after the other, and small samples beside them."""
        searches = CallerGroup(stage.log, other, lambda _, turn: stage.deadlines.a_search(easy_target(turn)))
        samples = CallerGroup(stage.log, other, lambda _, turn: stage.deadlines.a_sample(10), every=0.2)
        time.sleep(how_long)
        searches.stopping.set()
        return samples.stop() + searches.stop()


@dataclass(frozen=True)
class FloodOfSamples(Trial):
    """Many callers of an account have large samples drawn by the large model: another's samples that are ready."""

    name = "flood-samples"
    short = {"callers": 10, "flood_seconds": 6.0, "idle_seconds": 3.0, "ready": 20_000}
    callers: int = 20
    flood_seconds: float = 90.0
    idle_seconds: float = 30.0
    ready: int = 200_000

    def run(self, stage: Stage) -> list[Figure]:
        models = f"{DEFAULT_MODEL},{LARGE_MODEL}"
        with stage.installation({"RESERVOIR_SIZE": str(self.ready), "SAMPLER_MODELS": models}, rations={}) as on:
            on.api()
            on.sampler()
            greedy, other = stage.account(on, "greedy"), stage.account(on, "other", LIFTED)
            on.service(other.token).wait_for_molecules(DEFAULT_MODEL, self.ready * 9 // 10)
            idle = self.other_callers(stage, other, self.idle_seconds)
            stage.event("the flood of samples begins")
            large = stage.deadlines.a_sample(10_000, LARGE_MODEL)
            flood = CallerGroup(stage.log, greedy, lambda _caller, _turn: large, self.callers)
            time.sleep(2)
            busy = self.other_callers(stage, other, self.flood_seconds)
            flood.hang_up()
        figures = [
            Figure("another's samples", len(busy)),
            Figure("of these without an answer (429, 503, 504)", failed(busy), at_most=0),
            Figure("another's slowest answer", max(record.seconds for record in busy), "s", is_timing=True),
        ]
        for size in (10, 1000):
            of_size = [[record for record in records if record.held.get("molecules") == size] for records in (idle, busy)]
            figures += beside_idle(f"another's sample of {size:,}", *of_size)
        return figures

    def other_callers(self, stage: Stage, other: Account, how_long: float) -> list[Record]:
        """Nine samples of 10 and one of 1,000, and again, one after the other."""
        small, larger = (stage.deadlines.a_sample(size, DEFAULT_MODEL) for size in (10, 1000))
        group = CallerGroup(stage.log, other, lambda _, turn: larger if turn % 10 == 9 else small, every=0.1)
        time.sleep(how_long)
        return group.stop()


def beside_idle(what: str, idle: list[Record], busy: list[Record]) -> list[Figure]:
    """Percentiles of both, and how many times as long the slowest of a hundred take."""
    p99 = [milliseconds(seconds(records), 0.99) for records in (idle, busy)]
    return [
        Figure(f"{what}, idle: p50", milliseconds(seconds(idle), 0.5), "ms", is_timing=True),
        Figure(f"{what}, idle: p99", p99[0], "ms", is_timing=True),
        Figure(f"{what}: p50", milliseconds(seconds(busy), 0.5), "ms", is_timing=True),
        Figure(f"{what}: p99", p99[1], "ms", is_timing=True),
        Figure(f"{what}: p99 beside idle", ratio(p99[1], p99[0]), "x", at_most=TIMES_OF_IDLE, is_timing=True),
    ]
