"""What searches take of the machine's memory, beside what they may."""

import time
from dataclasses import dataclass
from pathlib import Path

from cases.targets import hard_target
from recording import Account, CallerGroup, Record, Request
from trial import Figure, Stage, Trial, statuses

MIB = 1 << 20


@dataclass(frozen=True)
class Memory(Trial):
    """Searches that go on for long, one at a time and then as many as a searcher takes, beside its settings."""

    name = "memory"
    short = {"search_seconds": 8.0, "search_mb": 64, "cache_mb": 32}
    search_seconds: float = 120.0
    searches: int = 1
    """One after the other, each time."""
    search_mb: int = 512
    cache_mb: int = 256
    slots: int = 2

    def run(self, stage: Stage) -> list[Figure]:
        figures = []
        for at_once in (1, self.slots):
            settings = {"SEARCH_MEMORY_MB": self.search_mb, "SEARCH_CACHE_MB": self.cache_mb, "WORKER_SLOTS": self.slots}
            with stage.installation({name: str(value) for name, value in settings.items()}) as on:
                on.api()
                searcher = on.searcher().pid
                account = stage.account(on, "patient")
                time.sleep(2)
                # From here on the most that it has had at a time is counted anew.
                Path(f"/proc/{searcher}/clear_refs").write_text("5")
                base = memory(searcher, "VmRSS")
                stage.event(f"{at_once} at once", base_mb=base)
                records = self.search(stage, account, at_once)
                peak = memory(searcher, "VmHWM")
            allowed = base + self.cache_mb + at_once * self.search_mb
            name = f"{at_once} at once"
            figures += [
                Figure(f"{name}: answered", statuses(records, 200), at_least=len(records)),
                Figure(f"{name}: before a search", base, "MiB"),
                Figure(f"{name}: may take, with the cache", allowed, "MiB"),
                Figure(f"{name}: took at most", peak, "MiB"),
                Figure(f"{name}: took beside what it may", peak / allowed, "x", at_most=1.1),
            ]
        return figures

    def search(self, stage: Stage, account: Account, at_once: int) -> list[Record]:
        """So many searches at a time that use all their time."""

        def next_one(caller: int, turn: int) -> Request | None:
            target = hard_target(caller + self.slots * turn)
            options = {"early_exit_first_solution": False, "max_depth": 20}
            return stage.deadlines.a_search(target, self.search_seconds, **options) if turn < self.searches else None

        return CallerGroup(stage.log, account, next_one, at_once).wait()


def memory(pid: int, what: str) -> float:
    """MiB of a process: `VmRSS` now, `VmHWM` at most."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    [kib] = [line.split()[1] for line in lines if line.startswith(f"{what}:")]
    return int(kib) * 1024 / MIB
