"""Searches whose API process died: nobody waits for them any more."""

import time
from dataclasses import dataclass

from cases.targets import easy_target, hard_target
from installation import free_port
from recording import CallerGroup, times
from trial import Figure, Stage, Trial, failed, milliseconds, seconds

# Within which the searches of a dead process are to end.
SOON = 5.0
OPEN = "queue = 'search' and finished_at is null and cancelled_at is null and deadline > now()"


@dataclass(frozen=True)
class DeadApi(Trial):
    """An API process with many long searches is killed; another process serves other people."""

    name = "dead-api"
    short = {"searches": 6, "watched_seconds": 10.0}
    searches: int = 20
    watched_seconds: float = 145.0

    def run(self, stage: Stage) -> list[Figure]:
        with stage.installation({}) as on:
            ports = free_port(), free_port()
            doomed, _ = [on.api(port) for port in ports]
            on.searcher()
            # An account a search: how many one may have in flight is not what this is about.
            accounts = [stage.account(on, f"doomed{number}") for number in range(self.searches)]
            other = stage.account(on, "other", port=ports[1])
            search = stage.deadlines.a_search
            for number, account in enumerate(accounts):
                CallerGroup(stage.log, account, times(1, search(hard_target(number), 120.0)))
            time.sleep(5)
            orphans = on.cluster.query(f"select id from jobs where {OPEN}").split()
            doomed.kill()
            died = time.time()
            stage.event("the API process is killed", orphans=len(orphans))
            theirs = "id in ({})".format(", ".join(f"'{orphan}'" for orphan in orphans))
            others: CallerGroup | None = None
            over = None
            while time.time() < died + self.watched_seconds:
                if over is None and on.cluster.query(f"select count(*) from jobs where {OPEN} and {theirs}") == "0":
                    over = time.time() - died
                if others is None and time.time() > died + SOON:
                    others = CallerGroup(stage.log, other, lambda _, turn: search(easy_target(turn)))
                time.sleep(0.25)
            assert others
            records = others.stop()
        good = [record.ended for record in records if record.status == 200]
        return [
            Figure("open searches of the dead", len(orphans)),
            Figure("until none is open", self.watched_seconds if over is None else over, "s", at_most=SOON),
            Figure("another's searches from then on", len(records)),
            Figure("of these without an answer (429, 503, 504)", failed(records), at_most=0),
            Figure("until another's first good answer", min(good) - died if good else None, "s", is_timing=True),
            Figure("another's search, p50", milliseconds(seconds(records), 0.5), "ms", is_timing=True),
        ]
