"""What a batch of targets takes, and what those who wait for a search notice of it: `./ops/bench batch`.

A service of its own plans a batch of molecules that its own generator drew, with one searcher and then with four on the same cores. Each time
somebody first asks for searches alone, one after the other with a pause between them, then while the batch is worked on; in the end
the batch has the machine to itself. Searches end at their first route, or after so many seconds of their own.

One JSON line a measurement on standard output, a table on standard error. Only the standard library.
"""

import argparse
import json
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from statistics import median

from cases.targets import DRUGS
from installation import ROOT, UNLIMITED_RATES, Installation, Service, installation, log_line, percentile
from recording import SAMPLES

MODEL = "druglike_gru"
BATCHES = "/synth-batches/v1/batches"
SEARCH = "/synth/v1/treesearch"
# Between an answer and the next question of the one who waits.
PAUSE = 0.5


@contextmanager
def service(binaries: Path, searchers: int) -> Iterator[tuple[Installation, Service]]:
    """An API, so many searchers, and the demo catalogue; molecules come from a sampler that ends before anything is measured."""
    settings = UNLIMITED_RATES | {"ACCESS_TOKEN_SECONDS": "86400", "SAMPLER_MODELS": MODEL, "RESERVOIR_SIZE": "10000", "JOBS_IN_FLIGHT": "0"}
    with installation(binaries, settings) as on:
        on.retort("catalogue", "import", str(ROOT / "ops/catalogue/demo.csv.gz"))
        on.api()
        for _ in range(searchers):
            on.searcher()
        yield on, on.service(on.account("chemist"))


def drawn(on: Installation, caller: Service, count: int) -> list[str]:
    """So many molecules of the service's own generator."""
    sampler = on.sampler()
    caller.wait_for_molecules(MODEL, count)
    answer = caller.call("POST", SAMPLES, {"size": count})
    sampler.terminate()
    sampler.wait()
    smiles: list[str] = answer.json()["smiles"]
    return smiles


def wait_for_searches(caller: Service, seconds: float) -> list[float]:
    """Asks for searches for so long, one after the other; how long each answer took."""
    took = []
    end = time.monotonic() + seconds
    for target in cycle(DRUGS.values()):
        if time.monotonic() > end:
            return took
        answer = caller.call("POST", SEARCH, {"search_smiles": target, "max_seconds": 1.0, "early_exit_first_solution": True})
        if answer.status != 200:
            raise RuntimeError(f"a search was answered with {answer.status}: {answer.body[:200]!r}")
        took.append(answer.seconds)
        time.sleep(PAUSE)
    return took


def progress(caller: Service, batch: str) -> dict[str, int]:
    """How many plans of a batch are where."""
    counts: dict[str, int] = caller.call("GET", f"{BATCHES}/{batch}").json()["progress"]
    return counts


def over(counts: dict[str, int]) -> int:
    """Plans that have come to an end."""
    return counts["completed"] + counts["failed"]


def measure(binaries: Path, searchers: int, targets: int, seconds: float, max_seconds: float) -> None:
    """Measures one number of searchers."""
    with service(binaries, searchers) as (on, caller):
        molecules = drawn(on, caller, targets)
        # What is expanded the first time is not what somebody waits for all day.
        wait_for_searches(caller, seconds)
        print_report(searchers, "searches alone", wait_for_searches(caller, seconds))
        parameters = {"max_seconds": max_seconds, "early_exit_first_solution": True}
        made = caller.call("POST", BATCHES, {"smiles": molecules, "parameters": parameters})
        if made.status != 200:
            raise RuntimeError(f"the batch was answered with {made.status}: {made.body[:200]!r}")
        batch = made.json()["id"]
        before, begun = over(progress(caller, batch)), time.monotonic()
        took = wait_for_searches(caller, seconds)
        beside = (over(progress(caller, batch)) - before) / (time.monotonic() - begun)
        print_report(searchers, "searches beside the batch", took, targets_per_hour=round(3600 * beside))
        before, begun = over(progress(caller, batch)), time.monotonic()
        while (left := targets - over(progress(caller, batch))) and time.monotonic() - begun < seconds:
            time.sleep(0.2)
        alone = (over(progress(caller, batch)) - before) / (time.monotonic() - begun)
        print_report(searchers, "the batch alone", [], targets_per_hour=round(3600 * alone), left=left, failed=progress(caller, batch)["failed"])


def print_report(searchers: int, what: str, took: list[float], **more: int) -> None:
    """A measurement, for programs and for people."""
    waits = {"searches": len(took), "p50_s": round(median(took), 3), "p99_s": round(percentile(took, 0.99), 3)} if took else {}
    print(json.dumps({"searchers": searchers, "what": what, **waits, **more}), flush=True)
    log_line(f"{searchers} searchers, {what}: " + ", ".join(f"{name} {value}" for name, value in (waits | more).items()))


def main() -> None:
    """Measures what the arguments ask for."""
    parser = argparse.ArgumentParser(prog="./ops/bench batch", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binaries", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--targets", type=int, default=2000, help="molecules of the batch, up to 10,000 (2,000)")
    parser.add_argument("--seconds", type=float, default=60, help="of each measurement (60)")
    parser.add_argument("--max-seconds", type=float, default=2.0, help="that a plan may take (2)")
    parser.add_argument("--searchers", type=lambda text: [int(part) for part in text.split(",")], default=[1, 4], help="one after the other (1,4)")
    args = parser.parse_args()
    # An end like any other, so that nothing is left running.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    for searchers in args.searchers:
        measure(args.binaries, searchers, args.targets, args.seconds, args.max_seconds)


if __name__ == "__main__":
    main()
