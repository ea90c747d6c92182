"""The database does not answer for a while: callers lose their deadline and no more."""

import time
from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from cases.targets import easy_target
from installation import Installation
from recording import SAMPLES, CallerGroup, Deadlines, Plan, Record
from trial import DEFAULT_MODEL, Figure, Stage, Trial, statuses
from wire import wire

# How much later than its deadline an answer may come.
LATE = 1.0
# Within which everything works again.
BACK = 20.0
OPERATIONS = ("list", "retrieve", "sample", "search")


Away = Callable[[], AbstractContextManager[None]]
"""What keeps the database away for a while."""


@dataclass(frozen=True)
class DatabaseAway(Trial):
    """Steady callers of every operation, while the database is away and after."""

    short = {"before_seconds": 2.0, "away_seconds": 7.0, "after_seconds": 3.0, "accounts": 2}
    short_deadlines = Deadlines(sample=5.0, search_slack=3.0, read=5.0)
    before_seconds: float = 10.0
    away_seconds: float = 30.0
    after_seconds: float = 30.0
    accounts: int = 5
    """Each has two callers of every operation, each of whom asks once in a second or as often as there is an answer."""

    @abstractmethod
    def fault(self, on: Installation) -> AbstractContextManager[Away]:
        """Prepares an installation for what will happen to its database."""

    def run(self, stage: Stage) -> list[Figure]:
        with stage.installation({"RESERVOIR_SIZE": "20000", "SAMPLER_MODELS": DEFAULT_MODEL}) as on, self.fault(on) as away:
            on.api()
            on.sampler()
            on.searcher()
            accounts = [stage.account(on, f"steady{number}") for number in range(self.accounts)]
            services = [on.service(account.token) for account in accounts]
            services[0].wait_for_molecules(DEFAULT_MODEL, 10_000)
            # A sample of its own for each to retrieve.
            made = [service.call("POST", SAMPLES, {"size": 100}).json()["id"] for service in services]
            # The first one's readers never pause: some are at it when the database goes.
            readers = [
                CallerGroup(stage.log, account, reads(stage.deadlines, sample), 4, every=1.0 if number else 0.0)
                for number, (account, sample) in enumerate(zip(accounts, made, strict=True))
            ]
            job_groups = [CallerGroup(stage.log, account, jobs(stage.deadlines), 4, every=1.0) for account in accounts]
            groups = readers + job_groups
            time.sleep(self.before_seconds)
            stage.event("the database goes away")
            gone = time.time()
            with away():
                time.sleep(max(0.0, gone + self.away_seconds - time.time()))
            back = time.time()
            stage.event("the database is back")
            time.sleep(self.after_seconds)
            for group in groups:
                group.stopping.set()
            records = [record for group in groups for record in group.stop()]
        hit = [record for record in records if record.ended > gone and record.started < back]
        figures = [Figure("requests while it was away", len(hit)), Figure("answered 500 or not at all", statuses(records, 0, 500))]
        for operation in OPERATIONS:
            its_own = [record for record in records if record.operation == operation]
            late = [record.late for record in its_own]
            name = f"{operation} (deadline {its_own[0].deadline:g} s)"
            figures += [
                Figure(f"{name}: slowest answer", max(record.seconds for record in its_own), "s"),
                Figure(f"{name}: latest answer after it", max(late), "s", at_most=LATE),
                Figure(f"{name}: answers more than {LATE:g} s late", sum(seconds > LATE for seconds in late), at_most=0),
                Figure(f"{operation}: first good answer after", first_good(its_own, back), "s", at_most=BACK, is_timing=True),
            ]
        return figures


@dataclass(frozen=True)
class Frozen(DatabaseAway):
    """Every process of PostgreSQL is stopped where it stands: connections stay and nothing is answered."""

    name = "frozen"

    @contextmanager
    def fault(self, on: Installation) -> Iterator[Away]:
        yield on.cluster.frozen


@dataclass(frozen=True)
class Stopped(DatabaseAway):
    """PostgreSQL ends at once and is started again: connections break and new ones are refused."""

    name = "stopped"

    @contextmanager
    def fault(self, on: Installation) -> Iterator[Away]:
        yield on.cluster.stopped


@dataclass(frozen=True)
class Unreachable(DatabaseAway):
    """The wire to PostgreSQL is cut: connections stay, new ones hang, and nobody is told."""

    name = "unreachable"

    @contextmanager
    def fault(self, on: Installation) -> Iterator[Away]:
        with wire(on.cluster.port) as (port, cut):
            on.environment["DATABASE_URL"] = on.cluster.url_through(port)
            yield cut


def reads(deadlines: Deadlines, sample_id: str) -> Plan:
    """Half of the callers list samples, half retrieve one."""
    either = deadlines.a_list(), deadlines.a_sample_again(sample_id)
    return lambda caller, _: either[caller % 2]


def jobs(deadlines: Deadlines) -> Plan:
    """Half of the callers ask for samples, half for routes."""
    sample = deadlines.a_sample(10, DEFAULT_MODEL)
    return lambda caller, turn: deadlines.a_search(easy_target(caller + turn), 1.0) if caller % 2 else sample


def first_good(records: list[Record], back: float) -> float | None:
    """Seconds from the database's return."""
    good = [record.ended - back for record in records if record.status == 200 and record.ended > back]
    return min(good) if good else None
