"""Mixed traffic at rising rates until the service gives way, on a service of its own: `./ops/bench load`.

Four accounts list and retrieve samples (80 of 100 requests), ask for samples of 10 (15) and for routes (5). First readers alone, as fast
as 32 callers can; then all of it at a rate that grows by half, by the clock, until one request in a hundred is not answered well: the
knee. Then twice that rate, to see how the service says no. With --soak-minutes also half of it for so long, to see whether memory grows;
with --soak-rate nothing but that, at this rate. A soak says every minute how it stands and what each process has gained so far, so that it can run
in the background and be ended at any time: `setsid nohup ./ops/bench load --soak-minutes 480 --soak-rate 20 > soak.jsonl 2> soak.log &`.

One JSON line a measurement on standard output, a table on standard error. Only the standard library.
"""

import argparse
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import linear_regression
from typing import Any

from cases.targets import DRUGS
from installation import ROOT, UNLIMITED_RATES, Installation, installation, log_line, parent, processes
from recording import SAMPLES

MODEL = "druglike_gru"
READS = {"list": 50, "retrieve": 50}
MIX = {"list": 40, "retrieve": 40, "sample": 15, "search": 5}
ACCOUNTS, CALLERS = 4, 32
GROWTH = 1.5
# What must be answered well for a rate to be one that the service bears.
GOOD = 0.99


@dataclass
class Load:
    """A running service and who asks it."""

    on: Installation
    processes: dict[str, int]
    accounts: list[dict[str, str]]
    program: Path

    def measure(self, seconds: float, mix: dict[str, int], rate: float | None = None) -> dict[str, Any]:
        """Asks for so long."""
        plan = {
            "base": f"http://127.0.0.1:{self.on.port}",
            "rate": rate,
            "callers": CALLERS,
            "seconds": seconds,
            "accounts": self.accounts,
            "mix": mix,
            "targets": list(DRUGS.values()),
            "max_seconds": 1.0,
        }
        done = subprocess.run([self.program], input=json.dumps(plan), text=True, check=True, stdout=subprocess.PIPE)
        figures: dict[str, Any] = json.loads(done.stdout)
        return figures | {"rate": rate, "memory_mib": self.memory()}

    def memory(self) -> dict[str, float]:
        """MiB that each process has to itself."""
        return {name: memory(pid) for name, pid in self.processes.items()}

    def soak(self, minutes: int, rate: float) -> None:
        """Asks for so long at one rate, and says every minute what that does to the memory."""
        held = [self.memory()]
        for minute in range(1, minutes + 1):
            print_report(f"minute {minute} of {minutes} at {rate:.0f} requests/s", figures := self.measure(60, MIX, rate))
            held.append(figures["memory_mib"])
            growth = {name: course([each[name] for each in held]) for name in self.processes}
            print(json.dumps({"what": "soak", "minutes": minute, "memory_mib": growth}), flush=True)
            for name, of in growth.items():
                log_line(f"    {name:11}{of['start']:.1f} MiB at first, {of['middle']:.1f} half-way, {of['end']:.1f} now: {of['per_hour']:+.1f} an hour")


@contextmanager
def service(args: argparse.Namespace, ports: dict[str, int] | None = None) -> Iterator[Load]:
    """An API, a sampler and a searcher, the demo catalogue, and accounts that have a sample each; Prometheus is answered on the ports."""
    metrics = {name: {"OTEL_EXPORTER_PROMETHEUS_PORT": str(port)} for name, port in (ports or {}).items()}
    # A token lasts for a day of soaking.
    settings = UNLIMITED_RATES | {"ACCESS_TOKEN_SECONDS": "86400", "SAMPLER_MODELS": MODEL, "RESERVOIR_SIZE": "50000", "JOBS_IN_FLIGHT": "0"}
    # All callers are of one address here.
    settings |= {"CONNECTIONS": "20000", "CONNECTIONS_PER_ADDRESS": "20000"}
    with installation(args.binaries, settings) as on:
        on.retort("catalogue", "import", str(ROOT / "ops/catalogue/demo.csv.gz"))
        processes = {
            "api": on.api(**metrics.get("api", {})).pid,
            "sampler": on.sampler(**metrics.get("sampler", {})).pid,
            "searcher": on.searcher(**metrics.get("searcher", {})).pid,
        }
        processes["postgresql"] = on.cluster.postmaster()
        accounts = []
        for number in range(ACCOUNTS):
            token = on.account(f"caller{number}")
            caller = on.service(token)
            if not number:
                caller.wait_for_molecules(MODEL, 40_000)
            sample = caller.call("POST", SAMPLES, {"size": 100}).json()["id"]
            accounts.append({"name": f"caller{number}", "token": token, "sample": sample})
        yield Load(on, processes, accounts, args.binaries / "examples/load")


def memory(pid: int) -> float:
    """MiB that a process and those that it began have in memory and share with none."""
    family = [pid, *(other for other in processes() if parent(other) == pid)]
    held = 0
    for member in family:
        # A child may have ended.
        with suppress(OSError):
            lines = Path(f"/proc/{member}/status").read_text().splitlines()
            held += sum(int(line.split()[1]) for line in lines if line.startswith("RssAnon"))
    return round(held / 1024, 1)


def course(held: list[float]) -> dict[str, float]:
    """How memory went that was looked at every minute. The slope is that of the later half: at first everything fills its caches."""
    later = held[len(held) // 2 :] if len(held) > 3 else held
    slope, _ = linear_regression(range(len(later)), later)
    return {"start": held[0], "middle": held[len(held) // 2], "end": held[-1], "per_hour": round(60 * slope, 2)}


def good_share(figures: dict[str, Any]) -> float:
    """The part of the requests that was answered well."""
    return figures["all"]["good"]["count"] / max(figures["requests"], 1)


def fairness(figures: dict[str, Any]) -> float:
    """Good answers of the account that got fewest, beside the one that got most."""
    counts = [account["good"]["count"] for account in figures["accounts"].values()]
    return min(counts) / max(*counts, 1)


def milliseconds(figures: dict[str, Any], which: str = "good") -> str:
    """The middle, the slowest of a hundred, of a thousand."""
    return " / ".join("-" if (value := figures[which][name]) is None else f"{value:.1f}" for name in ("p50", "p99", "p999"))


def print_report(what: str, figures: dict[str, Any]) -> None:
    """A measurement, for programs and for people."""
    print(json.dumps({"what": what, **figures}), flush=True)
    log_line(f"{what}: {figures['requests'] / figures['seconds']:.0f} requests/s, {100 * good_share(figures):.1f} % answered well, {figures['all']['statuses']}")
    for name, operation in figures["operations"].items():
        refused = f", refused {milliseconds(operation, 'refused')} ms" if operation["refused"]["count"] else ""
        log_line(f"    {name:9}p50 / p99 / p999 {milliseconds(operation)} ms{refused}")
    log_line(f"    least account {fairness(figures):.2f} of the most, memory {figures['memory_mib']} MiB")


def main() -> None:
    """Measures what the arguments ask for."""
    parser = argparse.ArgumentParser(prog="./ops/bench load", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binaries", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=float, default=20, help="of each rate (20)")
    parser.add_argument("--from-rate", type=float, default=20, help="requests a second at first (20)")
    parser.add_argument("--soak-minutes", type=int, default=0, help="minutes at half of what it bears (none)")
    parser.add_argument("--soak-rate", type=float, help="requests a second of the soak; nothing else is measured")
    args = parser.parse_args()
    # An end like any other, so that nothing is left running.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with service(args) as load:
        if args.soak_rate:
            load.soak(args.soak_minutes, args.soak_rate)
            return
        print_report("reads alone", load.measure(args.seconds, READS))
        rate, borne = args.from_rate, 0.0
        while True:
            figures = load.measure(args.seconds, MIX, rate)
            print_report(f"{rate:.0f} requests/s", figures)
            if good_share(figures) < GOOD:
                break
            rate, borne = rate * GROWTH, rate
        log_line(f"it bears {borne:.0f} requests/s and not {rate:.0f}")
        print_report("twice the rate that was too much", load.measure(args.seconds, MIX, 2 * rate))
        load.soak(args.soak_minutes, max(borne, args.from_rate) / 2)


if __name__ == "__main__":
    main()
