"""Callers that write down what they asked and what they got: one JSON line a request.

The callers of an account are a process of their own, so that a flood does not wait for the turn of those whom it is measured by.
"""

import fcntl
import json
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from installation import Service

SAMPLES, SEARCH = "/generator/v1/samples", "/synth/v1/treesearch"
# Who is refused without a word of when to come back, or does not listen, comes back so much later.
IMPATIENT_PAUSE = 1.0
REFUSED = (429, 503)


@dataclass(frozen=True)
class Request:
    """What a caller asks for, and within how many seconds the service owes an answer."""

    operation: str
    method: str
    path: str
    body: dict[str, Any] | None
    deadline: float


@dataclass(frozen=True)
class Deadlines:
    """The seconds within which the service owes answers, as it is set."""

    sample: float = 60.0
    search_slack: float = 15.0
    read: float = 10.0

    def settings(self) -> dict[str, str]:
        """What the API is told of them."""
        return {
            "SAMPLE_DEADLINE_SECONDS": f"{self.sample:g}",
            "SEARCH_SLACK_SECONDS": f"{self.search_slack:g}",
            "REQUEST_SECONDS": f"{self.read:g}",
        }

    def a_sample(self, size: int, model: str | None = None) -> Request:
        """So many molecules."""
        body = {"size": size} | ({"model_id": model} if model else {})
        return Request("sample", "POST", SAMPLES, body, self.sample)

    def a_search(self, target: str, max_seconds: float = 4.0, **options: object) -> Request:
        """Routes to a molecule; all that is not named is the contract's default."""
        body = {"search_smiles": target, "max_seconds": max_seconds, **options}
        return Request("search", "POST", SEARCH, body, max_seconds + self.search_slack)

    def a_list(self) -> Request:
        """A page of samples."""
        return Request("list", "GET", f"{SAMPLES}?limit=10", None, self.read)

    def a_sample_again(self, sample_id: str) -> Request:
        """A sample that was made."""
        return Request("retrieve", "GET", f"{SAMPLES}/{sample_id}", None, self.read)


@dataclass(frozen=True)
class Record:
    """One request and what became of it."""

    account: str
    operation: str
    started: float
    """Seconds since 1970."""
    deadline: float
    status: int
    """0: no answer."""
    seconds: float
    retry_after: float | None
    errand: str
    """The same for a request and its repetitions."""
    attempt: int
    held: dict[str, Any] = field(default_factory=dict[str, Any])
    """What the answer held."""

    @property
    def ended(self) -> float:
        """Seconds since 1970."""
        return self.started + self.seconds

    @property
    def late(self) -> float:
        """Seconds after the deadline; below 0 before it."""
        return self.seconds - self.deadline

    @property
    def refused(self) -> bool:
        """Whether the caller is to come back."""
        return self.status in REFUSED


def held(operation: str, status: int, body: bytes) -> dict[str, Any]:
    """What is worth keeping of an answer."""
    if status != 200:
        return {"words": body[:200].decode(errors="replace")}
    answer = json.loads(body)
    if operation == "sample":
        return {"id": answer["id"], "molecules": len(answer["smiles"])}
    if operation == "list":
        return {"samples": len(answer["data"])}
    if operation == "search":
        metadata = answer["metadata"]
        report = metadata.get("search") or {}
        return {
            "routes": sum(len(group) for backbones in answer["route_hierarchy"].values() for group in backbones.values()),
            "nodes": metadata["total_graph_nodes"],
            "expanded": report.get("expanded_molecules"),
            "exhausted": report.get("exhausted"),
            "search_seconds": metadata["tree_search_elapsed"],
        }
    return {}


class Log:
    """The file of all records; every process appends whole lines to it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.context: dict[str, object] = {}

    def write(self, **fields: object) -> None:
        """One line."""
        line = json.dumps({**self.context, **fields}) + "\n"
        with self.path.open("a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.write(line)

    def end(self) -> int:
        """Where the next line will be."""
        return self.path.stat().st_size if self.path.exists() else 0

    def records(self, since: int) -> list[Record]:
        """The requests that were written down from a place on."""
        with self.path.open() as file:
            file.seek(since)
            lines = [json.loads(line) for line in file]
        names = Record.__dataclass_fields__
        return [Record(**{name: line[name] for name in names}) for line in lines if "operation" in line]


@dataclass(frozen=True)
class Account:
    """Who calls."""

    name: str
    port: int
    token: str


Plan = Callable[[int, int], Request | None]
"""What a caller asks for next: the caller's number and the turn's; none ends the caller."""


def times(turns: int, request: Request) -> Plan:
    """Every caller asks for the same so many times."""
    return lambda _, turn: request if turn < turns else None


class CallerGroup:
    """Callers of one account, each asking for one thing after the other from the start on.

    `every` is the least time from one turn's start to the next one's. Obedient callers repeat a refused errand when they were
    told to; others pass on to the next after a second.
    """

    def __init__(
        self, log: Log, account: Account, plan: Plan, callers: int = 1, every: float = 0.0, honours_retry_after: bool = False
    ) -> None:
        self.log, self.account, self.plan, self.every, self.honours_retry_after = log, account, plan, every, honours_retry_after
        self.begun = log.end()
        context = multiprocessing.get_context("fork")
        self.stopping = context.Event()
        self.process = context.Process(target=self._run, args=(callers,), daemon=True)
        self.process.start()

    def stop(self) -> list[Record]:
        """Lets every caller have the answer that it waits for; what they met."""
        self.stopping.set()
        return self.wait()

    def wait(self) -> list[Record]:
        """Lets every caller come to the end of its plan; what they met."""
        self.process.join()
        return self.records()

    def hang_up(self) -> list[Record]:
        """Ends every caller, with an answer or without; what they met."""
        self.process.kill()
        self.process.join()
        return self.records()

    def records(self) -> list[Record]:
        """The requests that were answered so far."""
        return [record for record in self.log.records(self.begun) if record.errand.startswith(f"{self.process.pid}-")]

    def _run(self, callers: int) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        threads = [threading.Thread(target=self._call, args=(number,)) for number in range(callers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _call(self, caller: int) -> None:
        service = Service(self.account.port, self.account.token)
        turn = 0
        while not self.stopping.is_set() and (request := self.plan(caller, turn)):
            begun = time.monotonic()
            last = self._run_until_answered(service, request, f"{os.getpid()}-{caller}-{turn}")
            pause = 0.0 if last.status == 200 else IMPATIENT_PAUSE
            self.stopping.wait(max(pause, begun + self.every - time.monotonic(), 0.0))
            turn += 1

    def _run_until_answered(self, service: Service, request: Request, errand: str) -> Record:
        attempt = 1
        while True:
            record = self._ask(service, request, errand, attempt)
            if not (self.honours_retry_after and record.refused) or self.stopping.wait(record.retry_after or IMPATIENT_PAUSE):
                return record
            attempt += 1

    def _ask(self, service: Service, request: Request, errand: str, attempt: int) -> Record:
        started = time.time()
        answer = service.call(request.method, request.path, request.body)
        record = Record(
            account=self.account.name,
            operation=request.operation,
            started=started,
            deadline=request.deadline,
            status=answer.status,
            seconds=answer.seconds,
            retry_after=answer.retry_after,
            errand=errand,
            attempt=attempt,
            held=held(request.operation, answer.status, answer.body),
        )
        self.log.write(**asdict(record))
        return record


def kill_all_callers() -> None:
    """Ends the callers that a trial left behind."""
    for process in multiprocessing.active_children():
        process.kill()
        process.join()
