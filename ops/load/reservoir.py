"""Wall times of samples out of the reservoir, through HTTP, on a service of its own: `./ops/bench reservoir`.

A sample is timed beside the plain transfer of the same bytes through the same server: the sample that was just stored,
retrieved by its id. The two alternate, so that both meet the machine in the same state. Then several callers ask for
samples of 1,000 at once, until the reservoir is dry and for some seconds more.

One JSON line a measurement on standard output, a table on standard error. Only the standard library.
"""

import argparse
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from installation import UNLIMITED_RATES, Service, installation, log_line, percentile

LARGE, SMALL = 10_000, 1_000


@contextmanager
def service(args: argparse.Namespace) -> Iterator[Service]:
    """Starts API and samplers, makes an account, logs in."""
    settings = UNLIMITED_RATES | {"SAMPLER_MODELS": args.model, "RESERVOIR_SIZE": str(args.molecules)}
    with installation(args.binaries, settings) as on:
        on.api()
        for _ in range(args.samplers):
            on.sampler()
        yield on.service(on.account("bench"))


def milliseconds(values: list[float], share: float) -> float:
    """The least value that `share` of all do not exceed."""
    return round(1000 * percentile(values, share), 1)


def latency(running: Service, args: argparse.Namespace) -> dict[str, Any]:
    """Times large samples beside their plain transfer."""
    made: list[float] = []
    sent: list[float] = []
    sizes: list[int] = []
    errors = 0
    while len(made) < args.requests and errors < 10:
        if running.molecules_ready(args.model) < 3 * LARGE:
            running.wait_for_molecules(args.model, args.molecules * 9 // 10)
        new = running.call("POST", "/generator/v1/samples", {"size": LARGE, "model_id": args.model})
        if new.status != 200 or len(set(new.json()["smiles"])) != LARGE:
            errors += 1
            continue
        again = running.call("GET", f"/generator/v1/samples/{new.json()['id']}")
        errors += again.status != 200 or again.body != new.body
        made.append(new.seconds)
        sent.append(again.seconds)
        sizes.append(len(new.body))
        # A caller does something with a sample; the refilling goes on meanwhile.
        time.sleep(args.pause)
    return {
        "measurement": "reservoir_latency",
        "size": LARGE,
        "requests": len(made),
        "errors": errors,
        "bytes": sum(sizes) // len(sizes),
        "p50_ms": milliseconds(made, 0.5),
        "p99_ms": milliseconds(made, 0.99),
        "transfer_p50_ms": milliseconds(sent, 0.5),
        "transfer_p99_ms": milliseconds(sent, 0.99),
        "p50_over_transfer": round(milliseconds(made, 0.5) / milliseconds(sent, 0.5), 2),
    }


def sustained(running: Service, args: argparse.Namespace) -> dict[str, Any]:
    """Asks for small samples from several threads until the reservoir is dry, and then `args.live_seconds` more."""
    running.wait_for_molecules(args.model, args.molecules * 9 // 10)
    full = running.molecules_ready(args.model) // SMALL
    ends: list[float] = []
    errors: list[int] = []
    stop = threading.Event()

    def caller() -> None:
        while not stop.is_set():
            answer = running.call("POST", "/generator/v1/samples", {"size": SMALL, "model_id": args.model})
            whole = answer.status == 200 and len(set(answer.json()["smiles"])) == SMALL
            ends.append(time.perf_counter()) if whole else errors.append(answer.status)

    threads = [threading.Thread(target=caller, daemon=True) for _ in range(args.callers)]
    begun = time.perf_counter()
    for thread in threads:
        thread.start()
    while len(ends) < full and len(errors) < 100:
        time.sleep(0.01)
    time.sleep(args.live_seconds)
    stop.set()
    for thread in threads:
        thread.join()
    ends.sort()
    # What is drawn already counts as live from the last sample that was ready.
    dry = ends[min(full, len(ends)) - 1]
    return {
        "measurement": "reservoir_sustained",
        "size": SMALL,
        "callers": args.callers,
        "samples": len(ends),
        "errors": len(errors),
        "ready_samples_per_second": round(min(full, len(ends)) / (dry - begun), 1),
        "live_samples_per_second": round((len(ends) - full) / (ends[-1] - dry), 1) if len(ends) > full else None,
    }


def main() -> None:
    """Measures, prints lines of data and a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binaries", type=Path, required=True, help="folder of retort-api, retort-worker and retort")
    parser.add_argument("--model", default="druglike_gru")
    parser.add_argument("--molecules", type=int, default=200_000, help="what the reservoir holds")
    parser.add_argument("--requests", type=int, default=60, help="samples of 10,000")
    parser.add_argument("--pause", type=float, default=0.3, help="seconds between them")
    parser.add_argument("--callers", type=int, default=8, help="who ask for samples of 1,000 at once")
    parser.add_argument("--live-seconds", type=float, default=5.0, help="how long they go on without the reservoir")
    parser.add_argument("--samplers", type=int, default=1, help="processes")
    args = parser.parse_args()

    with service(args) as running:
        running.wait_for_molecules(args.model, args.molecules * 9 // 10)
        large = latency(running, args)
        print(json.dumps(large), flush=True)
        small = sustained(running, args)
        print(json.dumps(small), flush=True)
    log_line(
        f"\n{'out of the reservoir':30}{'p50 ms':>10}{'p99 ms':>10}{'errors':>10}\n"
        f"{'sample of 10,000':30}{large['p50_ms']:10.1f}{large['p99_ms']:10.1f}{large['errors']:10}\n"
        f"{'plain transfer of its bytes':30}{large['transfer_p50_ms']:10.1f}{large['transfer_p99_ms']:10.1f}\n"
        f"{'times as long, at the median':30}{large['p50_over_transfer']:10.2f}\n"
        f"{'samples of 1,000 a second':30}{small['ready_samples_per_second']:10.1f}{'':10}{small['errors']:10}\n"
        f"{'the same when it is dry':30}{small['live_samples_per_second'] or 0:10.1f}"
    )


if __name__ == "__main__":
    main()
