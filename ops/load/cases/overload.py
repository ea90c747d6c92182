"""More callers than the searchers can serve: nobody is told that there is no route by somebody who has not searched."""

import time
from dataclasses import dataclass
from itertools import groupby

from cases.targets import easy_target, hard_target
from installation import percentile
from recording import CallerGroup, Deadlines, Plan, Record, Request
from trial import Figure, Stage, Trial, statuses

# A search that gave up with less of its time than this has not had what it was promised.
WHOLE = 0.9


@dataclass(frozen=True)
class Overload(Trial):
    """Many accounts' default searches at once, half of them hard; who is refused comes back when it was told to."""

    name = "overload"
    short = {"callers": 30, "accounts": 5, "how_long": 9.0, "max_seconds": 2.0}
    short_deadlines = Deadlines(search_slack=4.0)
    callers: int = 60
    accounts: int = 20
    how_long: float = 100.0
    max_seconds: float = 4.0

    def run(self, stage: Stage) -> list[Figure]:
        with stage.installation({}) as on:
            on.api()
            on.searcher()
            accounts = [stage.account(on, f"caller{number}") for number in range(self.accounts)]
            stage.event("all search")
            groups = [
                CallerGroup(stage.log, account, self.searches(stage, number), self.callers // self.accounts, honours_retry_after=True)
                for number, account in enumerate(accounts)
            ]
            time.sleep(self.how_long)
            for group in groups:
                group.stopping.set()
            records = [record for group in groups for record in group.stop()]
        answered = [record for record in records if record.status == 200]
        without = [record for record in answered if record.held["routes"] == 0]
        return [
            Figure("searches", len(records)),
            Figure("answered (200)", len(answered)),
            Figure("of these with a route", len(answered) - len(without)),
            Figure("answered without having searched", sum(not has_searched(record) for record in without), at_most=0),
            Figure("answered without a route before their time was over", sum(map(self.was_cut_short, without)), at_most=0),
            Figure("refused (503)", statuses(records, 503)),
            Figure("too late (504)", statuses(records, 504)),
            Figure("latest answer after its deadline", max(record.late for record in records), "s", at_most=1.0),
            *honesty(records),
        ]

    def searches(self, stage: Stage, account: int) -> Plan:
        """Default searches: for drugs, and for what takes all the time there is."""

        def search(caller: int, turn: int) -> Request:
            number = account + 20 * caller + 7 * turn
            target = easy_target(number // 2) if number % 2 else hard_target(number // 2)
            return stage.deadlines.a_search(target, self.max_seconds)

        return search

    def was_cut_short(self, record: Record) -> bool:
        """Whether there was more to try, and time was left of what was promised."""
        return not record.held["exhausted"] and record.held["search_seconds"] < WHOLE * self.max_seconds


def has_searched(record: Record) -> bool:
    """Whether a template was tried on anything."""
    expanded = record.held["expanded"]
    return bool(expanded if expanded is not None else record.held["nodes"] > 1)


def honesty(records: list[Record]) -> list[Figure]:
    """Whether those are let in who come back when they were told to, and how much longer they wait in the end."""
    came_back = [record for record in records if record.attempt > 1]
    times = []
    by_errand = sorted(records, key=lambda record: (record.errand, record.attempt))
    for _, attempts in groupby(by_errand, key=lambda record: record.errand):
        first, *later = attempts
        if later and not later[-1].refused and first.retry_after:
            times.append((later[-1].started - first.ended) / first.retry_after)
    let_in = sum(not record.refused for record in came_back) / len(came_back) if came_back else None
    p50, p90 = (percentile(times, share) if times else None for share in (0.5, 0.9))
    waited = "until let in, in times of the first Retry-After"
    return [
        Figure("came back after Retry-After", len(came_back)),
        Figure("share of these that was let in", let_in, at_least=0.5, is_timing=True),
        Figure(f"{waited}: p50", p50, "x", is_timing=True),
        Figure(f"{waited}: p90", p90, "x", is_timing=True),
    ]
