"""What people store and watch while a trial goes on: kept routes, a batch of plans, streams of searches."""

import http.client
import json
import threading
import time
import uuid
from collections import Counter
from contextlib import suppress
from typing import Any

from installation import Answer, Installation, Service, wait_until
from recording import Account
from trial import Figure

PLANS = "/synth-batches/v1"
ROUTES = "/synth/v1/routes"
SEARCH = "/synth/v1/treesearch"
# Lidocaine, which is found within its seconds.
TARGET = "CCN(CC)CC(=O)Nc1c(C)cccc1C"
# Between two of what one thread asks for.
PAUSE = 0.5
# How long what is asked for is asked for again.
TIMEOUT = 120.0
BOUGHT = {
    "smiles": "CN", "mw": 31.058, "is_building_block": True, "building_block_idx": 1, "closest_building_block": 1.0, "depth": 0,
    "expanded": False, "in_solution_path": True,
}  # fmt: skip
ROUTE = {"directed": True, "multigraph": False, "nodes": [{"id": "n", "data": BOUGHT, "essential": True, "only_for": None}], "edges": []}


class Stored:
    """Threads that keep routes and watch searches for each account, and a batch that goes on behind them."""

    def __init__(self, accounts: list[Account], ports: tuple[int, int], plans: int) -> None:
        self.accounts, self.ports, self.plans = accounts, ports, plans
        self.kept: dict[str, str] = {}
        self.counts: Counter[str] = Counter()
        self.stopping = threading.Event()
        smiles = ["C" * (number % 30 + 1) + TARGET[1:] if number % 10 else TARGET for number in range(plans)]
        parameters = {"early_exit_first_solution": False, "max_seconds": 2, "engine": "uspto_retro"}
        self.batch = created(accounts[0], f"{PLANS}/batches", {"smiles": smiles, "parameters": parameters})["id"]
        self.threads = [
            threading.Thread(target=work, args=(account,), daemon=True) for account in accounts for work in (self.keep, self.watch)
        ]
        for thread in self.threads:
            thread.start()

    def keep(self, account: Account) -> None:
        """Keeps one route after the other, each until it is told to be kept."""
        while not self.stopping.is_set():
            name = str(uuid.uuid4())
            body = {"parameters": {"search_smiles": "CN"}, "route": ROUTE, "pricing_annotations": [], "name": name}
            self.kept[name] = created(account, ROUTES, body)["id"]
            time.sleep(PAUSE)

    def watch(self, account: Account) -> None:
        """Watches one search after the other; where a stream breaks off it is gone on with, at the other process in turns."""
        while not self.stopping.is_set():
            self.counts[self.watched(account)] += 1
            time.sleep(PAUSE)

    def watched(self, account: Account) -> str:
        """How the stream of a search ended."""
        place, last, ends = "", 0, time.monotonic() + TIMEOUT
        for turn in range(1_000):
            port = self.ports[turn % len(self.ports)] if place else account.port
            status, place, events = stream(account, port, place, last)
            if status in {404, 422, 429} or (not place and status != 200):
                return "gone" if place else "refused"
            for number, event in events:
                self.counts["events twice or out of order"] += number <= last
                last = max(last, number)
                if event in {"answer", "problem"}:
                    return event
            if time.monotonic() > ends:
                break
            time.sleep(PAUSE)
        return "without an end"

    def figures(self, on: Installation) -> list[Figure]:
        """What was promised of all that, once everything works again."""
        self.stopping.set()
        for thread in self.threads:
            thread.join(TIMEOUT)
        service = on.service(self.accounts[0].token)
        path = f"{PLANS}/batches/{self.batch}"

        def progress() -> dict[str, Any]:
            answer = service.call("GET", path)
            return answer.json()["progress"] if answer.status == 200 else {"pending": 1, "processing": 1}

        with suppress(TimeoutError):
            wait_until(lambda: progress()["pending"] + progress()["processing"] == 0, "the batch is made", 60 + 2 * self.plans, 0.5)
        stands = progress()
        there = on.cluster.query("select json_object_agg(id, name) from kept_routes")
        stored: dict[str, str] = json.loads(there) if there else {}
        lost = sum(stored.get(route) != name for name, route in self.kept.items())
        twice = len(stored) - len(set(stored.values()))
        return [
            Figure("routes kept", len(self.kept)),
            Figure("routes answered as kept that are not there", lost, at_most=0),
            Figure("routes that are there twice", twice, at_most=0),
            Figure("plans of the batch", self.plans),
            Figure("of these without a result", self.plans - stands.get("completed", 0), at_most=0),
            Figure("streams with their answer", self.counts["answer"]),
            Figure("streams with a problem, refused or given up", sum(self.counts[how] for how in ("problem", "refused", "gone"))),
            Figure("streams without an end", self.counts["without an end"], at_most=0),
            Figure("events twice or out of order", self.counts["events twice or out of order"], at_most=0),
        ]


def created(account: Account, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """What a request creates that is sent again with its key until it is answered."""
    service = Service(account.port, account.token, timeout=30.0)
    key = {"Idempotency-Key": str(uuid.uuid4())}
    ends = time.monotonic() + TIMEOUT
    while True:
        answer: Answer = service.call("POST", path, body, key)
        if answer.status in {200, 201}:
            return answer.json()
        if time.monotonic() > ends:
            raise TimeoutError(f"{path} was answered {answer.status}: {answer.body[:200]!r}")
        time.sleep(PAUSE)


def stream(account: Account, port: int, place: str, last: int) -> tuple[int, str, list[tuple[int, str]]]:
    """Asks for a search, or goes on with the one at `place`: status, where it is gone on with, its events by number and name."""
    headers = {"Authorization": f"Bearer {account.token}", "Accept": "text/event-stream", "Content-Type": "application/json"}
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30.0)
    status, events = 0, []
    try:
        if place:
            connection.request("GET", place, headers=headers | {"Last-Event-ID": str(last)})
        else:
            body = {"search_smiles": TARGET, "early_exit_first_solution": False, "max_seconds": 2}
            connection.request("POST", SEARCH, json.dumps(body), headers)
        response = connection.getresponse()
        status, place = response.status, place or response.getheader("Content-Location", "")
        event: dict[str, str] = {}
        for line in response if status == 200 else ():
            name, _, value = line.decode().rstrip("\r\n").partition(":")
            if name:
                event[name] = value.strip()
            elif not value and "id" in event:
                events.append((int(event["id"]), event.get("event", "")))
                event = {}
    except (OSError, http.client.HTTPException):
        pass
    finally:
        connection.close()
    return status, place, events
