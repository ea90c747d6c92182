"""Everything that can go wrong goes wrong, one thing after the other, while people work: nothing may be lost, doubled or late."""

import os
import random
import signal
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import combinations

from cases.database import BACK, LATE, Away, jobs, reads
from installation import ROOT, Installation, Service, free_port, parent, processes, wait_until
from recording import SAMPLES, Account, Crowd, Deadlines, Record
from trial import DEFAULT_MODEL, Figure, Stage, Trial, statuses
from wire import wire

# Callers who hang up at once.
CROWD = 1000
# Two samples that share so many molecules, and such a part of the smaller, were given the same block of the reservoir: samples that were
# drawn share one molecule in a hundred at most.
SHARED, SHARED_PART = 3, 0.1
# What deadlines have passed is over in the database after this.
SETTLED = 15.0


@dataclass(frozen=True)
class Faults(Trial):
    """Processes are killed and frozen, PostgreSQL is killed, stopped, frozen and cut off, callers hang up and fall silent, at random."""

    name = "faults"
    short = {"seconds": 40.0, "accounts": 2, "still": (1.0, 3.0), "between": (0.5, 1.5)}
    short_deadlines = Deadlines(sample=5.0, search_slack=3.0, read=5.0)
    seconds: float = 600.0
    accounts: int = 4
    """Each has four callers for reading and four for samples and searches."""
    still: tuple[float, float] = (2.0, 8.0)
    """Seconds for which what is stopped or cut stays so."""
    between: tuple[float, float] = (3.0, 10.0)
    """Seconds in which all is let be."""
    seed: int = 17

    def run(self, stage: Stage) -> list[Figure]:
        chance = random.Random(self.seed)
        settings = {"RESERVOIR_SIZE": "20000", "SAMPLER_MODELS": DEFAULT_MODEL}
        with stage.installation(settings) as on, wire(on.cluster.port) as (port, cut):
            on.environment["DATABASE_URL"] = on.cluster.url_through(port)
            house = House(on)
            # Accounts call one of the two.
            accounts = [
                stage.account(on, f"steady{number}", port=house.ports[number % len(house.ports)]) for number in range(self.accounts)
            ]
            service = on.service(accounts[0].token)
            service.wait_for_molecules(DEFAULT_MODEL, 5_000)
            made = [on.service(account.token).call("POST", SAMPLES, {"size": 100}).json()["id"] for account in accounts]
            crowds = [
                Crowd(stage.log, account, reads(stage.deadlines, sample), 4, every=0.5)
                for account, sample in zip(accounts, made, strict=True)
            ]
            crowds += [Crowd(stage.log, account, jobs(stage.deadlines), 4, every=0.5) for account in accounts]
            faults = self.faults(on, house, accounts[0], cut, chance)
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
            for crowd in crowds:
                crowd.stopping.set()
            met = [record for crowd in crowds for record in crowd.stop()]
            time.sleep(max(stage.deadlines.sample, 1.0 + stage.deadlines.search_slack) + SETTLED)
            return self.figures(on, accounts, met, back, done)

    def faults(
        self, on: Installation, house: "House", caller: Account, cut: Away, chance: random.Random
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
            house.signal(chance, signal.SIGKILL)

        def freeze_a_process() -> None:
            frozen = house.signal(chance, signal.SIGSTOP)
            a_while()
            with suppress(ProcessLookupError):
                os.kill(frozen, signal.SIGCONT)

        def restart_postgresql() -> None:
            on.cluster.stop()
            a_while()
            on.cluster.start()

        def cut_connections() -> None:
            on.cluster.query("select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname is not null")

        return {
            "a process is killed": kill_a_process,
            "a process is frozen": freeze_a_process,
            "PostgreSQL is restarted": restart_postgresql,
            "PostgreSQL is killed": meanwhile(on.cluster.stopped),
            "PostgreSQL is frozen": meanwhile(on.cluster.frozen),
            "PostgreSQL is unreachable": meanwhile(cut),
            "every connection to PostgreSQL is cut": cut_connections,
            f"{CROWD} callers hang up": lambda: hang_up(caller, CROWD),
            "callers send half a request": lambda: stall(caller, 50, self.still[1]),
        }

    def figures(
        self, on: Installation, accounts: list[Account], met: list[Record], back: list[float], done: Counter[str]
    ) -> list[Figure]:
        """What was promised, and what came of it."""
        good = [record for record in met if record.status == 200]
        kept, shared = retrieved(on, accounts, [record for record in good if record.operation == "sample"])
        of_jobs = "select count(*) from jobs where finished_at is null and cancelled_at is null"
        return [
            Figure("faults", sum(done.values())),
            Figure("requests", len(met)),
            Figure("of these answered well", len(good)),
            Figure("answered 500", statuses(met, 500), at_most=0),
            Figure("latest answer after its deadline", max(record.late for record in met), "s", at_most=LATE),
            Figure("samples answered with 200 that are not there as they were", kept, at_most=0),
            Figure("pairs of samples with one block of the reservoir", shared, at_most=0),
            Figure("jobs without an end", float(on.cluster.query(of_jobs)), at_most=0),
            Figure("most attempts of a job", float(on.cluster.query("select coalesce(max(attempts), 0) from jobs")), at_most=3),
            Figure("slowest recovery", max(back), "s", at_most=BACK, is_timing=True),
        ]


class House:
    """Two API processes, two samplers and a searcher, each kept running as `./ops/up` keeps them."""

    def __init__(self, on: Installation) -> None:
        self.ports = free_port(), free_port()
        on.port = self.ports[0]
        on.environment["PUBLIC_URL"] = f"http://127.0.0.1:{on.port}"
        keep = [str(ROOT / "ops/keep")]
        api, worker = str(on.binaries / "retort-api"), str(on.binaries / "retort-worker")
        self.keepers = [on.start_command([*keep, api, "serve"], HTTP_ADDR=f"127.0.0.1:{port}") for port in self.ports]
        self.keepers += [on.start_command([*keep, worker, role]) for role in ("sample", "sample", "search")]
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
