"""Everything that can go wrong goes wrong, one thing after the other, while people work: nothing may be lost, doubled or late."""

import os
import random
import signal
import socket
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from itertools import combinations

from cases.database import BACK, LATE, Away, jobs, reads
from cases.stored import Stored
from installation import ROOT, Installation, Service, free_port, parent, private_folder, processes, wait_until
from machine import Clock, Disk, Line, machine, ways
from recording import SAMPLES, Account, CallerGroup, Deadlines, Record
from trial import DEFAULT_MODEL, Figure, Stage, Trial, statuses

# Callers who hang up at once.
CALLER_COUNT = 1000
# Two samples that share so many molecules, and such a part of the smaller, were given the same block of the reservoir: samples that were
# drawn share one molecule in a hundred at most.
SHARED, SHARED_PART = 3, 0.1
# What deadlines have passed is over in the database after this.
SETTLED = 15.0
# By how many seconds clocks jump.
JUMP = 3600
# Megabytes of PostgreSQL's disk.
DISK = 512
# What uses up the log that PostgreSQL has made beforehand, without which it gives up.
GREED = "begin; create table more as select generate_series(1, 100000); rollback; select pg_switch_wal()"
PROCESSES = {
    "an API": ("retort-api", "serve"),
    "another API": ("retort-api", "serve"),
    "a sampler": ("retort-worker", "sample"),
    "another sampler": ("retort-worker", "sample"),
    "a searcher": ("retort-worker", "search"),
}
APIS, WORKERS = list(PROCESSES)[:2], list(PROCESSES)[2:]


@dataclass(frozen=True)
class Faults(Trial):
    """Processes are killed, frozen and cut off, PostgreSQL too, its disk is full, clocks jump, callers hang up, all at random."""

    name = "faults"
    short = {"seconds": 35.0, "accounts": 2, "plans": 6, "still": (1.0, 3.0), "between": (0.5, 1.5)}
    short_deadlines = Deadlines(sample=5.0, search_slack=3.0, read=5.0)
    seconds: float = 600.0
    accounts: int = 4
    """Each has four callers for reading and four for samples and searches, one who keeps routes and one who watches searches."""
    plans: int = 60
    """Of a batch that goes on behind them."""
    still: tuple[float, float] = (2.0, 8.0)
    """Seconds for which what is stopped or cut stays so."""
    between: tuple[float, float] = (3.0, 10.0)
    """Seconds in which all is let be."""
    seed: int = 17

    def run(self, stage: Stage) -> list[Figure]:
        chance = random.Random(self.seed)
        # Tokens outlive a clock that jumps ahead.
        settings = {"RESERVOIR_SIZE": "20000", "SAMPLER_MODELS": DEFAULT_MODEL, "ACCESS_TOKEN_SECONDS": "86400"}
        clocks = ["PostgreSQL", *PROCESSES]
        with (
            private_folder() as folder,
            machine(folder, DISK, len(PROCESSES) + 1, clocks) as place,
            stage.installation(settings, machine=place) as on,
            ways(place.network, on.cluster.port, len(PROCESSES) + 1) as (operators, *lines),
        ):
            on.environment["DATABASE_URL"] = on.cluster.url_through(operators.port, operators.host)
            process_group = ProcessGroup(on, dict(zip(PROCESSES, lines, strict=True)), place.clocks)
            # Accounts call one of the two.
            accounts = [
                stage.account(on, f"steady{number}", port=process_group.ports[number % len(process_group.ports)]) for number in range(self.accounts)
            ]
            service = on.service(accounts[0].token)
            service.wait_for_molecules(DEFAULT_MODEL, 5_000)
            made = [on.service(account.token).call("POST", SAMPLES, {"size": 100}).json()["id"] for account in accounts]
            groups = [
                CallerGroup(stage.log, account, reads(stage.deadlines, sample), 4, every=0.5)
                for account, sample in zip(accounts, made, strict=True)
            ]
            groups += [CallerGroup(stage.log, account, jobs(stage.deadlines), 4, every=0.5) for account in accounts]
            stored = Stored(accounts, process_group.ports, self.plans)
            faults = self.faults(on, process_group, accounts[0], chance)
            ends = time.monotonic() + self.seconds
            back: list[float] = []
            done: Counter[str] = Counter()
            while time.monotonic() < ends:
                # Every one once before any comes again.
                name = chance.choice([fault for fault in faults if done[fault] == min(done[each] for each in faults)])
                done[name] += 1
                stage.event(name)
                faults[name]()
                back.append(recovered(service, stage.deadlines))
                time.sleep(chance.uniform(*self.between))
            stored.stopping.set()
            for group in groups:
                group.stopping.set()
            records = [record for group in groups for record in group.stop()]
            time.sleep(max(stage.deadlines.sample, 1.0 + stage.deadlines.search_slack) + SETTLED)
            of_stored = stored.figures(on)
            return self.figures(on, accounts, records, back, done) + of_stored

    def faults(
        self, on: Installation, process_group: "ProcessGroup", caller: Account, chance: random.Random
    ) -> dict[str, Callable[[], None]]:
        """What may happen, by name."""

        def a_while() -> None:
            time.sleep(chance.uniform(*self.still))

        def meanwhile(away: Away) -> Callable[[], None]:
            def happen() -> None:
                with away():
                    a_while()

            return happen

        def kill_a_process() -> None:
            process_group.signal(chance, signal.SIGKILL)

        def freeze_a_process() -> None:
            frozen = process_group.signal(chance, signal.SIGSTOP)
            a_while()
            with suppress(ProcessLookupError):
                os.kill(frozen, signal.SIGCONT)

        def restart_postgresql() -> None:
            on.cluster.stop()
            a_while()
            on.cluster.start()

        def cut_connections() -> None:
            on.cluster.query("select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname is not null")

        def cut_off_a_process() -> None:
            with chance.choice(list(process_group.lines.values())).cut():
                a_while()

        @contextmanager
        def cut_off_all() -> Iterator[None]:
            with ExitStack() as stack:
                for line in process_group.lines.values():
                    stack.enter_context(line.cut())
                yield

        def fill(disk: Disk) -> None:
            ends = time.monotonic() + chance.uniform(*self.still)
            with disk.full():
                while time.monotonic() < ends:
                    subprocess.run(on.cluster.psql(GREED), capture_output=True, check=False)
            on.cluster.restart()

        def jump(of: list[str]) -> None:
            clock = process_group.clocks[chance.choice(of)]
            clock.set(chance.choice([JUMP, -JUMP]))
            a_while()
            clock.set(0)

        faults = {
            "a process is killed": kill_a_process,
            "a process is frozen": freeze_a_process,
            "PostgreSQL is restarted": restart_postgresql,
            "PostgreSQL is killed": meanwhile(on.cluster.stopped),
            "PostgreSQL is frozen": meanwhile(on.cluster.frozen),
            "PostgreSQL is unreachable": meanwhile(cut_off_all),
            "PostgreSQL is unreachable for one process": cut_off_a_process,
            "every connection to PostgreSQL is cut": cut_connections,
            f"{CALLER_COUNT} callers hang up": lambda: hang_up(caller, CALLER_COUNT),
            "callers send half a request": lambda: stall(caller, 50, self.still[1]),
        }
        if disk := on.cluster.machine.disk:
            faults["PostgreSQL's disk is full"] = lambda: fill(disk)
        if process_group.clocks:
            faults["the clock of an API jumps"] = lambda: jump(APIS)
            faults["the clock of a worker jumps"] = lambda: jump(WORKERS)
            faults["the clock of PostgreSQL jumps"] = lambda: jump(["PostgreSQL"])
        return faults

    def figures(
        self, on: Installation, accounts: list[Account], records: list[Record], back: list[float], done: Counter[str]
    ) -> list[Figure]:
        """What was promised, and what came of it."""
        good = [record for record in records if record.status == 200]
        kept, shared = retrieved(on, accounts, [record for record in good if record.operation == "sample"])
        of_jobs = "select count(*) from jobs where finished_at is null and cancelled_at is null"
        return [
            Figure("faults", sum(done.values())),
            Figure("requests", len(records)),
            Figure("of these answered well", len(good)),
            Figure("answered 500", statuses(records, 500), at_most=0),
            Figure("latest answer after its deadline", max(record.late for record in records), "s", at_most=LATE),
            Figure("samples answered with 200 that are not there as they were", kept, at_most=0),
            Figure("pairs of samples with one block of the reservoir", shared, at_most=0),
            Figure("jobs without an end", float(on.cluster.query(of_jobs)), at_most=0),
            Figure("most attempts of a job", float(on.cluster.query("select coalesce(max(attempts), 0) from jobs")), at_most=3),
            Figure("slowest recovery", max(back), "s", at_most=BACK, is_timing=True),
        ]


class ProcessGroup:
    """Two API processes, two samplers and a searcher, each kept running as `./ops/up` keeps them, with a line and a clock of its own."""

    def __init__(self, on: Installation, lines: dict[str, Line], clocks: dict[str, Clock]) -> None:
        self.lines, self.clocks = lines, clocks
        self.ports = free_port(), free_port()
        on.port = self.ports[0]
        on.environment["PUBLIC_URL"] = f"http://127.0.0.1:{on.port}"
        listen = dict(zip(APIS, self.ports, strict=True))
        self.keepers = []
        for name, (program, role) in PROCESSES.items():
            clock = clocks[name].setting if name in clocks else []
            settings = {"DATABASE_URL": on.cluster.url_through(lines[name].port, lines[name].host)}
            if name in listen:
                settings["HTTP_ADDR"] = f"127.0.0.1:{listen[name]}"
            command = [str(ROOT / "ops/keep"), *clock, str(on.binaries / program), role]
            self.keepers.append(on.start_command(command, **settings))
        for port in self.ports:
            wait_until(lambda port=port: Service(port).call("GET", "/readyz").status == 200, "the service is ready")

    def signal(self, chance: random.Random, what: signal.Signals) -> int:
        """Sends one of the processes a signal; which one."""
        running = [pid for keeper in self.keepers for pid in processes() if parent(pid) == keeper.pid and is_ours(pid)]
        chosen = chance.choice(running)
        os.kill(chosen, what)
        return chosen


def is_ours(pid: int) -> bool:
    """Whether it is a process of the service, and not what its keeper waits with."""
    with suppress(OSError), open(f"/proc/{pid}/comm") as name:
        return name.read().startswith("retort-")
    return False


def recovered(service: Service, deadlines: Deadlines) -> float:
    """Seconds until a sample and a search are answered well."""
    begun = time.monotonic()
    for request in (deadlines.a_sample(10), deadlines.a_search("CCN(CC)CC(=O)Nc1c(C)cccc1C", 1.0)):
        wait_until(lambda request=request: service.call(request.method, request.path, request.body).status == 200, "it works again")
    return time.monotonic() - begun


def request_of(caller: Account, body: bytes, length: int) -> bytes:
    """A request for a sample, written by hand."""
    head = f"POST {SAMPLES} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {caller.token}\r\nContent-Type: application/json\r\n"
    return head.encode() + f"Content-Length: {length}\r\n\r\n".encode() + body


def hang_up(caller: Account, callers: int) -> None:
    """So many callers ask for a sample, and are gone before the answer."""
    body = b'{"size": 1000}'
    with sockets(caller, callers) as lines:
        for line in lines:
            with suppress(OSError):
                line.sendall(request_of(caller, body, len(body)))


def stall(caller: Account, callers: int, seconds: float) -> None:
    """So many callers send half a request and nothing more for a while."""
    with sockets(caller, callers) as lines:
        for line in lines:
            with suppress(OSError):
                line.sendall(request_of(caller, b'{"size"', 14))
        time.sleep(seconds)


@contextmanager
def sockets(caller: Account, count: int) -> Iterator[list[socket.socket]]:
    """Connections to the service, which end together."""
    lines: list[socket.socket] = []
    try:
        for _ in range(count):
            with suppress(OSError):
                lines.append(socket.create_connection(("127.0.0.1", caller.port), timeout=5))
        yield lines
    finally:
        for line in lines:
            line.close()


def retrieved(on: Installation, accounts: list[Account], samples: list[Record]) -> tuple[int, int]:
    """How many of the samples are not there as they were given out, and how many pairs share what is given out once."""
    tokens = {account.name: account.token for account in accounts}
    where: dict[str, list[int]] = {}
    sizes: list[int] = []
    lost = 0
    for record in samples:
        answer = on.service(tokens[record.account]).call("GET", f"{SAMPLES}/{record.held['id']}")
        smiles = answer.json()["smiles"] if answer.status == 200 else []
        lost += len(set(smiles)) != record.held["molecules"]
        for molecule in smiles:
            where.setdefault(molecule, []).append(len(sizes))
        sizes.append(len(smiles))
    pairs = Counter(pair for holders in where.values() if len(holders) > 1 for pair in combinations(holders, 2))
    return lost, sum(
        count >= SHARED and count >= SHARED_PART * min(sizes[one], sizes[other]) for (one, other), count in pairs.items()
    )
