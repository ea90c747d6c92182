"""What a queue costs that most people would take: jobs that do nothing through Celery and Redis, beside ours: `./ops/bench noop --celery`.

The same closed loops as ours has (`api/queue/examples/noop.rs`): one caller, then fifty, each of whom submits its next job when it has
the last answer. A worker of ten processes, results by Redis, which keeps nothing on the disk (ours is a PostgreSQL that does).
Needs `redis-server`; Celery is installed at the first run. Prints one line per number of callers.
"""

import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from environments import environment
from installation import percentile

try:
    from celery import Celery
except ModuleNotFoundError:
    python = environment("celery", ["celery[redis]", "packaging"])
    os.execv(python, [str(python), *sys.argv])

SLOTS = 10
WARM_UP, ROUNDS = 50, ((1, 500), (50, 100))

app = Celery("celery_noop", broker=os.environ.get("REDIS_URL"), backend=os.environ.get("REDIS_URL"))
app.conf.update(worker_prefetch_multiplier=1, result_expires=600, task_serializer="json", broker_connection_retry_on_startup=True)


@app.task(name="noop")
def noop() -> None:
    """Nothing."""


@contextmanager
def redis(folder: str) -> Iterator[str]:
    """A Redis of its own meanwhile, in memory alone; its address."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", folder]
    server = subprocess.Popen(["redis-server", *options], stdout=subprocess.DEVNULL)
    try:
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        server.terminate()
        server.wait()


@contextmanager
def worker(url: str) -> Iterator[None]:
    """A worker meanwhile."""
    command = [sys.executable, "-m", "celery", "-A", "celery_noop", "worker", "--concurrency", str(SLOTS), "--loglevel", "ERROR"]
    environ = os.environ | {"REDIS_URL": url}
    process = subprocess.Popen(command, cwd=Path(__file__).parent, env=environ, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.terminate()
        process.wait()


def jobs_in_turn(jobs: int, latencies: list[float]) -> None:
    """One caller."""
    for _ in range(jobs):
        begun = time.perf_counter()
        noop.delay().get(timeout=60)
        latencies.append(time.perf_counter() - begun)


def measured(callers: int, jobs: int) -> tuple[list[float], float]:
    """The latencies of all callers, in order of length, and the jobs a second."""
    latencies: list[list[float]] = [[] for _ in range(callers)]
    threads = [threading.Thread(target=jobs_in_turn, args=(jobs, its_own)) for its_own in latencies]
    begun = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    every = sorted(latency for its_own in latencies for latency in its_own)
    return every, len(every) / (time.perf_counter() - begun)


def main() -> None:
    """Measures and prints."""
    with tempfile.TemporaryDirectory() as folder, redis(folder) as url, worker(url):
        app.conf.update(broker_url=url, result_backend=url)
        measured(1, WARM_UP)
        for callers, jobs in ROUNDS:
            latencies, rate = measured(callers, jobs)
            p50, p99 = (1000 * percentile(latencies, share) for share in (0.5, 0.99))
            print(f"{callers:3} clients, {SLOTS} slots: p50 {p50:.2f} ms, p99 {p99:.2f} ms, {rate:.0f} jobs/s (Celery, Redis)")


if __name__ == "__main__":
    main()
