"""Wall times of samples out of the reservoir, through HTTP, on a service of its own: `./ops/bench reservoir`.

A sample is timed beside the plain transfer of the same bytes through the same server: the sample that was just stored,
retrieved by its id. The two alternate, so that both meet the machine in the same state. Then several callers ask for
samples of 1,000 at once, until the reservoir is dry and for some seconds more. PostgreSQL is that of DATABASE_URL.

One JSON line a measurement on standard output, a table on standard error. Only the standard library.
"""

import argparse
import http.client
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

EMAIL = "bench@example.org"
LARGE, SMALL = 10_000, 1_000
# No ration stands in the way of what is measured.
SETTINGS = {
    "RATE_SAMPLES_CREATE_PER_MINUTE": "0",
    "RATE_MOLECULES_PER_MINUTE": "0",
    "RATE_SAMPLES_READ_PER_MINUTE": "0",
    "ACCESS_TOKEN_SECONDS": "3600",
    "RUST_LOG": "warn",
}


class Service:
    """A running service, called over one connection a thread, as browsers and libraries keep them."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.token = ""
        self.local = threading.local()

    def call(self, method: str, path: str, body: dict | None = None) -> tuple[int, bytes, float]:
        """Status, body and seconds."""
        headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        if not hasattr(self.local, "connection"):
            self.local.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        begun = time.perf_counter()
        self.local.connection.request(method, path, json.dumps(body) if body else None, headers)
        response = self.local.connection.getresponse()
        answer = response.read()
        return response.status, answer, time.perf_counter() - begun

    def ready(self, model: str) -> int:
        """Molecules that wait."""
        status, body, _ = self.call("GET", f"/generator/v1/models/{model}")
        return json.loads(body)["molecules_ready"] if status == 200 else 0

    def wait_for(self, model: str, molecules: int) -> None:
        """Returns when so many molecules wait."""
        while (ready := self.ready(model)) < molecules:
            say(f"the reservoir holds {ready:,} of {molecules:,}", end="\r")
            time.sleep(0.5)


@contextmanager
def process(command: list[str], environment: dict[str, str]) -> Iterator[None]:
    """Runs a process of the service meanwhile."""
    running = subprocess.Popen(command, env=environment, stdout=sys.stderr)
    try:
        yield
    finally:
        running.terminate()
        running.wait(30)


@contextmanager
def service(bin_folder: Path, args: argparse.Namespace) -> Iterator[Service]:
    """Starts API and samplers, makes an account, logs in."""
    with ExitStack() as stack:
        data = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        environment = {
            **os.environ,
            **SETTINGS,
            "HTTP_ADDR": f"127.0.0.1:{args.port}",
            "SAMPLER_MODELS": args.model,
            "RESERVOIR_SIZE": str(args.molecules),
        }
        subprocess.run([str(bin_folder / "retort-api"), "migrate"], env=environment, check=True, stdout=sys.stderr)
        stack.enter_context(process([str(bin_folder / "retort-api"), "serve"], environment))
        running = Service(args.port)
        for attempt in range(200):
            try:
                if running.call("GET", "/openapi.json")[0] == 200:
                    break
            except OSError:
                running.local = threading.local()
                if attempt == 199:
                    raise
            time.sleep(0.1)
        for _ in range(args.samplers):
            stack.enter_context(process([str(bin_folder / "retort-worker"), "sample"], environment))
        retort = [str(bin_folder / "retort"), "--data", str(data), "--api", f"http://127.0.0.1:{args.port}"]
        for command in (["account", "add", EMAIL, "--generate"], ["account", "login", EMAIL], ["token"]):
            done = subprocess.run(retort + command, env=environment, check=True, text=True, stdout=subprocess.PIPE)
        running.token = done.stdout.strip()
        yield running


def percentile(values: list[float], share: float) -> float:
    """The least value that `share` of all do not exceed, in milliseconds."""
    ranked = sorted(values)
    return round(1000 * ranked[min(len(ranked) - 1, int(share * len(ranked)))], 1)


def latency(running: Service, args: argparse.Namespace) -> dict:
    """Times large samples beside their plain transfer."""
    made, sent, sizes, errors = [], [], [], 0
    while len(made) < args.requests and errors < 10:
        if running.ready(args.model) < 3 * LARGE:
            running.wait_for(args.model, args.molecules * 9 // 10)
        status, body, wall = running.call("POST", "/generator/v1/samples", {"size": LARGE, "model_id": args.model})
        sample = json.loads(body)
        if status != 200 or len(set(sample["smiles"])) != LARGE:
            errors += 1
            continue
        status, again, transfer = running.call("GET", f"/generator/v1/samples/{sample['id']}")
        errors += status != 200 or again != body
        made.append(wall)
        sent.append(transfer)
        sizes.append(len(body))
        # A caller does something with a sample; the refilling goes on meanwhile.
        time.sleep(args.pause)
    return {
        "measurement": "reservoir_latency",
        "size": LARGE,
        "requests": len(made),
        "errors": errors,
        "bytes": sum(sizes) // len(sizes),
        "p50_ms": percentile(made, 0.5),
        "p99_ms": percentile(made, 0.99),
        "transfer_p50_ms": percentile(sent, 0.5),
        "transfer_p99_ms": percentile(sent, 0.99),
        "p50_over_transfer": round(percentile(made, 0.5) / percentile(sent, 0.5), 2),
    }


def sustained(running: Service, args: argparse.Namespace) -> dict:
    """Asks for small samples from several threads until the reservoir is dry, and then `args.live_seconds` more."""
    running.wait_for(args.model, args.molecules * 9 // 10)
    full = running.ready(args.model) // SMALL
    ends: list[float] = []
    errors: list[int] = []
    stop = threading.Event()

    def caller() -> None:
        while not stop.is_set():
            try:
                body = {"size": SMALL, "model_id": args.model}
                status, answer, _ = running.call("POST", "/generator/v1/samples", body)
                whole = status == 200 and len(set(json.loads(answer)["smiles"])) == SMALL
            except (OSError, http.client.HTTPException):
                status, whole = 0, False
            ends.append(time.perf_counter()) if whole else errors.append(status)

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


def say(text: str, end: str = "\n") -> None:
    """A line for people."""
    print(text, file=sys.stderr, flush=True, end=end)


def main() -> None:
    """Measures, prints lines of data and a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binaries", type=Path, required=True, help="folder of retort-api, retort-worker and retort")
    parser.add_argument("--port", type=int, required=True, help="a free one")
    parser.add_argument("--model", default="druglike_gru")
    parser.add_argument("--molecules", type=int, default=200_000, help="what the reservoir holds")
    parser.add_argument("--requests", type=int, default=60, help="samples of 10,000")
    parser.add_argument("--pause", type=float, default=0.3, help="seconds between them")
    parser.add_argument("--callers", type=int, default=8, help="who ask for samples of 1,000 at once")
    parser.add_argument("--live-seconds", type=float, default=5.0, help="how long they go on without the reservoir")
    parser.add_argument("--samplers", type=int, default=1, help="processes")
    args = parser.parse_args()

    with service(args.binaries, args) as running:
        running.wait_for(args.model, args.molecules * 9 // 10)
        large = latency(running, args)
        print(json.dumps(large), flush=True)
        small = sustained(running, args)
        print(json.dumps(small), flush=True)
    say(
        f"\n{'out of the reservoir':30}{'p50 ms':>10}{'p99 ms':>10}{'errors':>10}\n"
        f"{'sample of 10,000':30}{large['p50_ms']:10.1f}{large['p99_ms']:10.1f}{large['errors']:10}\n"
        f"{'plain transfer of its bytes':30}{large['transfer_p50_ms']:10.1f}{large['transfer_p99_ms']:10.1f}\n"
        f"{'times as long, at the median':30}{large['p50_over_transfer']:10.2f}\n"
        f"{'samples of 1,000 a second':30}{small['ready_samples_per_second']:10.1f}{'':10}{small['errors']:10}\n"
        f"{'the same when it is dry':30}{small['live_samples_per_second'] or 0:10.1f}"
    )


if __name__ == "__main__":
    main()
