"""A machine of PostgreSQL's own, as far as this one can be made to look so: a disk that can be full, a network that can be cut, clocks that jump.

Each part needs rights or a program. Where they are missing it is `None`, and a line that begins with `skipped:` says why.
"""

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import DEVNULL

from wire import wire

# A network that is for trials of networks (RFC 2544, appendix C.2.2).
NETWORK = "198.18"
# Of a disk, in bytes.
PIECE = 1 << 16
LIBFAKETIME = "*/faketime/libfaketimeMT.so.1"


class Clock:
    """The wall clock of what is started with its `setting`; what counts seconds alone goes on as it did."""

    def __init__(self, folder: Path, name: str, library: Path) -> None:
        self.file = folder / f"clock-{name}"
        self.setting = [
            "env",
            f"LD_PRELOAD={library}",
            f"FAKETIME_TIMESTAMP_FILE={self.file}",
            "FAKETIME_DONT_FAKE_MONOTONIC=1",
            # All processes of a server see a jump at once.
            "FAKETIME_NO_CACHE=1",
        ]
        self.set(0)

    def set(self, seconds: int) -> None:
        """Shows the time that it will be in so many seconds."""
        new = self.file.with_suffix(".new")
        new.write_text(f"{seconds:+d}")
        new.replace(self.file)


class Disk:
    """A small file system in memory."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextmanager
    def full(self) -> Iterator[None]:
        """Leaves no room meanwhile."""
        ballast = self.path / "ballast"
        with ballast.open("wb") as file, suppress(OSError):
            while True:
                os.posix_fallocate(file.fileno(), file.seek(0, os.SEEK_END), PIECE)
        try:
            yield
        finally:
            ballast.unlink()


class Network:
    """A namespace with lines to it, each with addresses of its own; what runs `inside` is reached over them alone."""

    def __init__(self, name: str, lines: int) -> None:
        self.name = name
        self.inside = ["ip", "netns", "exec", name]
        part = os.getpid() % 256
        self.ends = [(f"{NETWORK}.{part}.{4 * line + 1}", f"{NETWORK}.{part}.{4 * line + 2}") for line in range(lines)]

    def lay(self) -> None:
        """Makes it."""
        ip("netns", "add", self.name)
        ip("-n", self.name, "link", "set", "lo", "up")
        for line, (here, there) in enumerate(self.ends):
            ours, theirs = f"{self.name}-{line}", f"line-{line}"
            card = f"02:00:00:00:00:{line:02x}"
            ip("link", "add", ours, "type", "veth", "peer", "name", theirs, "address", card, "netns", self.name)
            ip("address", "add", f"{here}/30", "dev", ours)
            ip("-n", self.name, "address", "add", f"{there}/30", "dev", theirs)
            ip("link", "set", ours, "up")
            ip("-n", self.name, "link", "set", theirs, "up")
            # What is known of a silent neighbour would be forgotten, and callers told that there is no way to it.
            ip("neighbour", "replace", there, "lladdr", card, "dev", ours, "nud", "permanent")

    def end(self) -> None:
        """Takes it away; the lines go with it."""
        with suppress(subprocess.CalledProcessError):
            ip("netns", "delete", self.name)

    @contextmanager
    def cut(self, line: int) -> Iterator[None]:
        """Drops whatever is sent over a line meanwhile; nobody is told."""
        ip("-n", self.name, "link", "set", f"line-{line}", "down")
        try:
            yield
        finally:
            ip("-n", self.name, "link", "set", f"line-{line}", "up")


@dataclass
class Machine:
    """Where a PostgreSQL runs, and what can go wrong with it."""

    folder: Path | None = None
    """Where its files belong; none: wherever others have theirs."""
    disk: Disk | None = None
    network: Network | None = None
    clocks: dict[str, Clock] = field(default_factory=dict[str, Clock])
    """By whose they are; none where clocks cannot be set."""

    @property
    def inside(self) -> list[str]:
        """What runs a command in its network."""
        return self.network.inside if self.network else []


@dataclass
class Line:
    """A way to the database: what to call it by, and what cuts it for a while."""

    host: str
    port: int
    cut: Callable[[], AbstractContextManager[None]]


@contextmanager
def machine(folder: Path, megabytes: int, lines: int, clocks: list[str]) -> Iterator[Machine]:
    """A machine meanwhile, in a folder that the user postgres may enter, with as much of what is asked for as there can be."""
    made = Machine()
    with ExitStack() as stack:
        place = folder / "disk"
        place.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=711", "tmpfs", str(place)]
        if subprocess.run(mount, stderr=DEVNULL, check=False).returncode == 0:
            # Lazily: the last process of a server may be on its way out.
            stack.callback(subprocess.run, ["umount", "--lazy", str(place)], check=False)
            made.folder, made.disk = place, Disk(place)
        else:
            print("skipped: a full disk: no file system can be mounted")

        network = Network(f"rt{os.getpid()}", lines)
        try:
            stack.callback(network.end)
            network.lay()
            made.network = network
        except (OSError, subprocess.CalledProcessError):
            print("skipped: packets that are lost (wires of our own stand in): no network can be made")

        if library := next(iter(sorted(Path("/usr/lib").glob(LIBFAKETIME))), None):
            made.clocks = {name: Clock(folder, name, library) for name in clocks}
        else:
            print("skipped: clocks that jump: faketime is not installed")
        yield made


@contextmanager
def ways(network: Network | None, port: int, count: int) -> Iterator[list[Line]]:
    """So many ways to the database at a port: the network's lines, or wires where there is no network."""
    if network:
        yield [Line(there, port, lambda line=line: network.cut(line)) for line, (_, there) in enumerate(network.ends[:count])]
        return
    with ExitStack() as stack:
        wires = [stack.enter_context(wire(port)) for _ in range(count)]
        yield [Line("127.0.0.1", listens, cut) for listens, cut in wires]


def ip(*words: str) -> None:
    """Says something to the kernel about networks."""
    subprocess.run(["ip", *words], check=True, stdout=DEVNULL, stderr=DEVNULL)
