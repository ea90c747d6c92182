"""What a trial is: one idea about the service, tried on an installation of its own, that ends in figures with goals."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from installation import ROOT, UNLIMITED_RATES, Installation, installation, log_line, percentile
from machine import Machine
from recording import Account, Deadlines, Log, Record

DEFAULT_MODEL, LARGE_MODEL = "druglike_gru", "druglike_gru_large"


@dataclass(frozen=True)
class Figure:
    """A number, and what it should be at most or at least; without either it is only told."""

    name: str
    value: float | None
    """None: there was nothing to measure it by."""
    unit: str = ""
    at_most: float | None = None
    at_least: float | None = None
    is_timing: bool = False
    """Whether a busy machine changes it: such a figure is not judged in short trials."""

    @property
    def goal(self) -> str:
        """The goal in words."""
        if self.at_most is not None:
            return f"<= {self.at_most:g}"
        return f">= {self.at_least:g}" if self.at_least is not None else ""

    @property
    def is_met(self) -> bool | None:
        """None where there is no goal."""
        if not self.goal:
            return None
        if self.value is None:
            return False
        return (self.at_most is None or self.value <= self.at_most) and (self.at_least is None or self.value >= self.at_least)


class Stage:
    """What a trial is given: binaries, a place for its records, and installations."""

    def __init__(self, binaries: Path, template: Path, log: Log) -> None:
        self.binaries, self.template, self.log = binaries, template, log
        self.deadlines = Deadlines()

    @contextmanager
    def installation(
        self, settings: Mapping[str, str], rations: Mapping[str, str] = UNLIMITED_RATES, machine: Machine | None = None
    ) -> Iterator[Installation]:
        """An installation with the demo catalogue and no process yet; nobody is rationed unless it is said."""
        told = {**self.deadlines.settings(), **rations, **settings}
        with installation(self.binaries, told, self.template, machine) as made:
            yield made

    def account(self, on: Installation, name: str, lifted: tuple[str, ...] = (), port: int | None = None) -> Account:
        """An account that is logged in; the rations that are named are lifted for it."""
        return Account(name, port or on.port, on.account(name, lifted))

    def event(self, what: str, **fields: object) -> None:
        """A line about what was done to the service."""
        log_line(f"    {what}")
        self.log.write(event=what, **fields)


@dataclass(frozen=True)
class Trial(ABC):
    """One idea; the fields of a trial are its sizes."""

    name: ClassVar[str]
    short: ClassVar[dict[str, Any]] = {}
    """Sizes of the short form, which fits into continuous integration."""
    short_deadlines: ClassVar[Deadlines] = Deadlines()

    @abstractmethod
    def run(self, stage: Stage) -> list[Figure]:
        """Does it and says what came of it."""


def statuses(records: Iterable[Record], *wanted: int) -> int:
    """How many were answered so."""
    return sum(record.status in wanted for record in records)


def failed(records: Iterable[Record]) -> int:
    """How many got no good answer: refused, too late, or something worse."""
    return sum(record.status != 200 for record in records)


def seconds(records: Iterable[Record], status: int = 200) -> list[float]:
    """How long those took that were answered so."""
    return [record.seconds for record in records if record.status == status]


def milliseconds(values: list[float], share: float) -> float | None:
    """A percentile."""
    return 1000 * percentile(values, share) if values else None


def ratio(part: float | None, whole: float | None) -> float | None:
    """None where either is missing."""
    return part / whole if part is not None and whole else None



@contextmanager
def template(binaries: Path) -> Iterator[Path]:
    """A PostgreSQL that was stopped, with the schema and the demo catalogue: installations begin with a copy of it."""
    with installation(binaries, {}) as made:
        made.retort("catalogue", "import", str(ROOT / "ops/catalogue/demo.csv.gz"))
        made.cluster.stop()
        yield made.cluster.folder
