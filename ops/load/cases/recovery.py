"""A whole installation, as ./ops/up makes it, gets over a time without PostgreSQL by itself."""

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cases.targets import DRUGS
from installation import ROOT, Cluster, Service, free_port, parent, private_folder, processes
from recording import Request
from trial import Figure, Stage, Trial

# How long it may take to be whole again, and how long is waited.
BACK, TIMEOUT = 20.0, 120.0


@dataclass(frozen=True)
class Recovery(Trial):
    """PostgreSQL is away for minutes, the API dies meanwhile, and nobody helps."""

    name = "recovery"
    short = {"away_seconds": 30.0}
    away_seconds: float = 300.0

    def run(self, stage: Stage) -> list[Figure]:
        with private_folder() as folder, up(stage.binaries, folder / "data") as service:
            cluster = Cluster(folder / "data/postgres", database_port(folder / "data"))
            with database_unreachable(cluster, stage):
                time.sleep(5)
                for pid in api_processes(folder / "data"):
                    os.kill(pid, signal.SIGKILL)
                stage.event("the API is killed")
                time.sleep(self.away_seconds - 5)
            stage.event("PostgreSQL may come back")
            back = time.monotonic()
            figures = []
            for request in (stage.deadlines.a_sample(10), stage.deadlines.a_search(DRUGS["prazosin"])):
                is_served = succeeds(service, request, back + TIMEOUT)
                whole = time.monotonic() - back if is_served else None
                figures.append(Figure(f"until a {request.operation} succeeds again", whole, "s", at_most=BACK))
        return figures


def succeeds(service: Service, request: Request, until: float) -> bool:
    """Asks again and again for as long as one may."""
    while time.monotonic() < until:
        if service.call(request.method, request.path, request.body).status == 200:
            return True
        time.sleep(0.5)
    return False


@contextmanager
def up(binaries: Path, data: Path) -> Iterator[Service]:
    """An installation made by ./ops/up of the working tree out of binaries that are there, called by its demo account."""
    with tempfile.TemporaryDirectory() as made:
        # What would be built is built; a cargo that does nothing spares the wait.
        (Path(made) / "release").symlink_to(binaries.resolve())
        (Path(made) / "cargo").write_text("#!/bin/sh\n")
        (Path(made) / "cargo").chmod(0o755)
        port = free_port()
        environment = os.environ | {
            "CARGO_TARGET_DIR": made,
            "PATH": f"{made}:{os.environ['PATH']}",
            "ACCESS_TOKEN_SECONDS": "3600",
            "RESERVOIR_SIZE": "20000",
        }
        for name in ("DATABASE_URL", "RETORT_DATA", "RETORT_API"):
            environment.pop(name, None)
        log = data.parent / "up.log"
        with log.open("w") as words:
            command = [str(ROOT / "ops/up"), "--detach", "--data", str(data), "--port", str(port)]
            done = subprocess.run(command, env=environment, stdout=words, stderr=words, stdin=subprocess.DEVNULL)
        if done.returncode:
            raise RuntimeError(f"./ops/up failed:\n{log.read_text()[-2000:]}")
        try:
            token = subprocess.run([data / "bin/retort", "token"], env=environment, check=True, text=True, stdout=subprocess.PIPE)
            yield Service(port, token.stdout.strip())
        finally:
            subprocess.run([ROOT / "ops/down", "--data", data], env=environment, check=False, stderr=subprocess.DEVNULL)


def database_port(data: Path) -> int:
    """Of the private PostgreSQL of an installation."""
    return int((data / "database-url").read_text().rpartition("/")[0].rpartition(":")[2])


def api_processes(data: Path) -> list[int]:
    """The API of an installation: every process of that program whose data folder is this one."""
    marked = f"RETORT_DATA={data.resolve()}".encode()
    found = []
    for pid in processes():
        try:
            program = Path(f"/proc/{pid}/comm").read_text().strip()
            if program == "retort-api" and marked in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
                found.append(pid)
        except OSError:
            pass
    return found


@contextmanager
def database_unreachable(cluster: Cluster, stage: Stage) -> Iterator[None]:
    """PostgreSQL dies and cannot start meanwhile, whoever tries: it refuses a folder that others may read.

    Afterwards whoever kept it running may start it; where nobody did, it is started.
    """
    postmaster = cluster.postmaster()
    is_kept = parent(postmaster) != 1
    cluster.folder.chmod(0o755)
    os.kill(postmaster, signal.SIGKILL)
    stage.event("PostgreSQL is killed", is_kept=is_kept)
    try:
        yield
    finally:
        cluster.folder.chmod(0o700)
        if not is_kept:
            cluster.start()
