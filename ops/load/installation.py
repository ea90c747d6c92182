"""An installation to measure: a PostgreSQL of its own, the processes of the service, accounts, and calls over HTTP.

PostgreSQL is made and started by ops/lib.sh, as for every other program here; it waits for the disk (fsync), as that of an
installation does. Everything ends, and what it left on the disk goes, with the context that it was made in.
"""

import http.client
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from machine import NETWORK, Machine

ROOT = Path(__file__).resolve().parents[2]
# Settings with which no ration stands in the way of what is measured; a service that does not know one passes over it.
UNLIMITED_RATES = {
    f"RATE_{ration}_PER_MINUTE": "0" for ration in ("SAMPLES_CREATE", "MOLECULES", "SAMPLES_READ", "TREESEARCH", "SEARCH_SECONDS")
}
# What never takes so long unless it never ends.
TIMEOUT = 180.0


def log_line(text: str) -> None:
    """A line for people."""
    print(text, file=sys.stderr, flush=True)


# The clock of a server is around the server alone: the user that it runs as could not share one with root.
BY_A_CLOCK = """
around=("${@:3}")
as_postgres() { if is_root; then (cd / && runuser -u postgres -- "${around[@]}" "$@"); else "${around[@]}" "$@"; fi; }
"""


def shell(script: str, *arguments: object, inside: Sequence[str] = ()) -> str:
    """What a few words of Bash print that know the functions of ops/lib.sh; `$1` and so on are the arguments."""
    command = [*inside, "bash", "-euo", "pipefail", "-c", f'. "$0"; {script}', str(ROOT / "ops/lib.sh"), *map(str, arguments)]
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout.strip()


@cache
def postgres_bin() -> str:
    """The folder of PostgreSQL's programs."""
    return shell("postgres_bin")


def free_port() -> int:
    """A loopback port that nothing listens on."""
    return int(shell("free_port"))


def wait_until(happened: Callable[[], bool], what: str, timeout: float = TIMEOUT, pause: float = 0.1) -> float:
    """Asks again and again; the seconds it took."""
    begun = time.monotonic()
    while not happened():
        if time.monotonic() - begun > timeout:
            raise TimeoutError(f"waited {timeout:g} s in vain: {what}")
        time.sleep(pause)
    return time.monotonic() - begun


@dataclass(frozen=True)
class Answer:
    """What came back; status 0 where nothing did."""

    status: int
    body: bytes
    seconds: float
    retry_after: float | None = None

    def json(self) -> dict[str, Any]:
        """The body of an answer that has one."""
        answer: dict[str, Any] = json.loads(self.body)
        return answer


class Service:
    """A running service, called with one account's token over one connection a thread, as browsers and libraries keep them."""

    def __init__(self, port: int, token: str = "", timeout: float = 300.0) -> None:
        self.port = port
        self.token = token
        self.timeout = timeout
        self.local = threading.local()

    def call(
        self, method: str, path: str, body: dict[str, Any] | None = None, more: dict[str, str] | None = None
    ) -> Answer:
        """Sends a request, with `more` headers, and waits for its answer. One that a kept connection was too old for is sent again."""
        headers = {"Content-Type": "application/json", "Accept-Encoding": "identity", "Accept": "application/json", **(more or {})}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        begun = time.perf_counter()
        while True:
            connection: http.client.HTTPConnection | None = getattr(self.local, "connection", None)
            kept = connection is not None
            if connection is None:
                connection = self.local.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=self.timeout)
            try:
                connection.request(method, path, json.dumps(body) if body else None, headers)
                response = connection.getresponse()
                answer = response.read()
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                self.local.connection = None
                # The service closes a connection that has been silent for a while, maybe just now.
                if kept and isinstance(error, (http.client.RemoteDisconnected, ConnectionError)):
                    continue
                return Answer(0, str(error).encode(), time.perf_counter() - begun)
            wait = response.getheader("Retry-After")
            return Answer(response.status, answer, time.perf_counter() - begun, float(wait) if wait else None)

    def molecules_ready(self, model: str) -> int:
        """Molecules of a model that wait."""
        answer = self.call("GET", f"/generator/v1/models/{model}")
        return answer.json()["molecules_ready"] if answer.status == 200 else 0

    def wait_for_molecules(self, model: str, molecules: int) -> None:
        """Returns when so many molecules wait."""
        wait_until(lambda: self.molecules_ready(model) >= molecules, f"{molecules:,} molecules of {model}", 900, 0.5)


class Cluster:
    """A PostgreSQL that is no one else's, which may be frozen, ended and started again."""

    def __init__(self, folder: Path, port: int, machine: Machine | None = None) -> None:
        self.folder, self.port, self.machine = folder, port, machine or Machine()

    @property
    def url(self) -> str:
        """What the service is told as DATABASE_URL."""
        return self.url_through(self.port)

    def url_through(self, port: int, host: str = "127.0.0.1") -> str:
        """The same where something else listens for the cluster."""
        return f"postgres://retort@{host}:{port}/postgres"

    def make(self) -> None:
        """An empty one, running."""
        shell('postgres_folder "$1"; postgres_make "$1" retort "" on', self.folder)
        self.start()

    def copy(self, template: Path) -> None:
        """One like a cluster that was stopped, running."""
        subprocess.run(["cp", "-a", template, self.folder], check=True)
        with (self.folder / "postgresql.conf").open("a") as settings:
            settings.write(f"unix_socket_directories = '{self.folder}'\n")
            if self.machine.disk:
                settings.write("min_wal_size = 32MB\nmax_wal_size = 128MB\n")
            if self.machine.network:
                settings.write("listen_addresses = '*'\n")
        if self.machine.network:
            with (self.folder / "pg_hba.conf").open("a") as rules:
                rules.write(f"host all all {NETWORK}.0.0/16 trust\n")
        self.start()

    def start(self) -> None:
        """Starts it and waits until it answers."""
        clock = self.machine.clocks.get("PostgreSQL")
        around = (BY_A_CLOCK, clock.setting) if clock else ("", [])
        shell(f'{around[0]} postgres_start "$1" "$2"', self.folder, self.port, *around[1], inside=self.machine.inside)

    def restart(self) -> None:
        """Starts it again, should it have given up."""

        def answers() -> bool:
            if not self.is_alive():
                self.start()
            return subprocess.run(self.psql("select 1"), capture_output=True, check=False).returncode == 0

        wait_until(answers, "PostgreSQL answers again")

    def is_alive(self) -> bool:
        """Whether its first process runs; one that nobody has collected yet does not."""
        with suppress(OSError):
            return Path(f"/proc/{self.postmaster()}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        return False

    def stop(self) -> None:
        """Ends it in order."""
        shell('postgres_stop "$1"', self.folder)

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Ends it at once meanwhile, whatever it was doing."""
        os.kill(self.postmaster(), signal.SIGQUIT)
        wait_until(lambda: not (self.folder / "postmaster.pid").exists(), "PostgreSQL ends")
        yield
        self.start()

    def postmaster(self) -> int:
        """The process that all others of it come from."""
        return int((self.folder / "postmaster.pid").read_text().split()[0])

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Stops every process of it meanwhile; connections stay and nothing moves."""
        first = self.postmaster()
        os.kill(first, signal.SIGSTOP)
        # The first one makes no more of them.
        stopped = [first, *(pid for pid in processes() if parent(pid) == first)]
        try:
            for pid in stopped:
                os.kill(pid, signal.SIGSTOP)
            yield
        finally:
            for pid in reversed(stopped):
                os.kill(pid, signal.SIGCONT)

    def query(self, statement: str) -> str:
        """What one statement gives, a line a row."""
        return subprocess.run(self.psql(statement), check=True, text=True, stdout=subprocess.PIPE).stdout.strip()

    def psql(self, statement: str) -> list[str]:
        """The command that asks it, on its own machine."""
        return [*self.machine.inside, f"{postgres_bin()}/psql", "-d", self.url, "-tAc", statement]


def processes() -> list[int]:
    """Every process of the machine."""
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def parent(pid: int) -> int | None:
    """The process that a process belongs to; none where it has ended."""
    try:
        # The name stands in parentheses and may hold anything.
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return None


@contextmanager
def running(command: list[str], environment: dict[str, str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Runs a process of the service meanwhile; its words go to the end of `log`."""
    with log.open("ab") as words:
        process = subprocess.Popen(command, env=environment, stdout=words, stderr=words)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class Installation:
    """A database and the processes that were started for it."""

    def __init__(self, binaries: Path, cluster: Cluster, folder: Path, settings: dict[str, str], stack: ExitStack) -> None:
        self.binaries, self.cluster, self.folder, self.stack = binaries, cluster, folder, stack
        self.port = 0
        self.log = folder / "retort.log"
        # What the surroundings say must not reach the service.
        surroundings = {name: value for name, value in os.environ.items() if not name.startswith(("RETORT_", "OTEL_", "RATE_"))}
        self.environment = surroundings | {
            "DATABASE_URL": cluster.url,
            "MODELS_DIR": str(ROOT / "worker/models"),
            "ACCESS_TOKEN_SECONDS": "3600",
            "RUST_LOG": "warn",
            "NO_COLOR": "1",
        } | settings

    def api(self, port: int | None = None, **settings: str) -> subprocess.Popen[bytes]:
        """Starts an API process; tokens are those of the first one, whose port it is where none is named."""
        port = port or free_port()
        self.port = self.port or port
        self.environment["PUBLIC_URL"] = f"http://127.0.0.1:{self.port}"
        process = self.start("retort-api", "serve", HTTP_ADDR=f"127.0.0.1:{port}", **settings)
        self.wait_for(process, lambda: Service(port).call("GET", "/healthz").status == 200, "the API answers")
        return process

    def sampler(self, **settings: str) -> subprocess.Popen[bytes]:
        """Starts a sampler and waits until it takes jobs."""
        return self.worker("sample", settings)

    def searcher(self, **settings: str) -> subprocess.Popen[bytes]:
        """Starts a searcher and waits until it takes jobs."""
        return self.worker("search", settings)

    def worker(self, role: str, settings: dict[str, str]) -> subprocess.Popen[bytes]:
        """Starts a worker of a role."""
        counted = f"select count(*) from live_workers where queue = '{role}'"
        before = self.cluster.query(counted)
        process = self.start("retort-worker", role, **settings)
        self.wait_for(process, lambda: self.cluster.query(counted) != before, f"a worker takes jobs of the queue {role}")
        return process

    def start(self, program: str, role: str, **settings: str) -> subprocess.Popen[bytes]:
        """Starts a process of the service, which ends with the installation."""
        return self.start_command([str(self.binaries / program), role], **settings)

    def start_command(self, command: list[str], **settings: str) -> subprocess.Popen[bytes]:
        """Starts any process, which ends with the installation."""
        return self.stack.enter_context(running(command, self.environment | settings, self.log))

    def wait_for(self, process: subprocess.Popen[bytes], happened: Callable[[], bool], what: str) -> None:
        """Waits for what a process is to do; one that has ended does nothing."""

        def looked_at() -> bool:
            if process.poll() is not None:
                raise RuntimeError(f"{process.args!r} ended with {process.returncode}:\n{self.log.read_text()[-2000:]}")
            return happened()

        wait_until(looked_at, what, pause=0.2)

    def retort(self, *arguments: str, data: str = "operator") -> str:
        """What the `retort` command prints."""
        options = ["--data", str(self.folder / data), "--api", f"http://127.0.0.1:{self.port}"]
        command = [str(self.binaries / "retort"), *options, *arguments]
        return subprocess.check_output(command, env=self.environment, text=True, stderr=subprocess.DEVNULL).strip()

    def service(self, token: str) -> Service:
        """The first API process, called with a token."""
        return Service(self.port, token)

    def account(self, name: str, lifted: tuple[str, ...] = ()) -> str:
        """Makes an account, lifts the rations that are named, and gives a token of it."""
        email = f"{name}@example.org"
        self.retort("account", "add", email, "--generate")
        for ration in lifted:
            self.retort("account", "ration", email, ration, "0")
        self.retort("account", "login", email, data=name)
        return self.retort("token", data=name)


@contextmanager
def private_folder() -> Iterator[Path]:
    """A folder that the user postgres may enter, where that is another one."""
    folder = Path(tempfile.mkdtemp(prefix="retort-"))
    folder.chmod(0o711)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def cluster(template: Path | None = None, machine: Machine | None = None) -> Iterator[Cluster]:
    """A PostgreSQL meanwhile: an empty one, or one like a template."""
    with private_folder() as folder:
        place = machine.folder if machine and machine.folder else folder
        made = Cluster(place / "postgres", free_port(), machine)
        try:
            made.copy(template) if template else made.make()
            yield made
        finally:
            if (made.folder / "postmaster.pid").exists():
                made.stop()


@contextmanager
def installation(
    binaries: Path, settings: dict[str, str], template: Path | None = None, machine: Machine | None = None
) -> Iterator[Installation]:
    """An installation without processes meanwhile; `settings` are those of all that are started."""
    with cluster(template, machine) as database, ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="retort-")))
        made = Installation(binaries, database, folder, settings, stack)
        if not template:
            subprocess.run([binaries / "retort-api", "migrate"], env=made.environment, check=True)
        yield made


def percentile(values: list[float], share: float) -> float:
    """The least of the values that `share` of all do not exceed."""
    ranked = sorted(values)
    return ranked[min(len(ranked) - 1, int(share * len(ranked)))]
