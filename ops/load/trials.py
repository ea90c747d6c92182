"""Drives a service of its own into what goes wrong on a busy day, and says what callers notice: `./ops/bench trials`.

Each trial brings up an installation (API, sampler, searcher, a PostgreSQL that waits for the disk), does one thing to it, and
ends in figures with goals; --before does the same to older binaries first (or alone). Every request is a JSON line of --out:
account, operation, start, deadline, status, Retry-After, seconds, what the answer held. So are the figures. Only the standard
library.

Trials:
{trials}
"""

import argparse
import os
import signal
import sys
import time
import traceback
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path

from cases import TRIALS
from installation import log_line
from recording import Deadlines, Log, kill_all_callers
from trial import Figure, Stage, Trial, template

BEFORE, AFTER = "before", "after"


def run(trial: Trial, stage: Stage, deadlines: Deadlines, label: str) -> list[Figure]:
    """One trial with one set of binaries."""
    log_line(f"==> {trial.name}, {label} (load {os.getloadavg()[0]:.1f})")
    stage.deadlines = deadlines
    stage.log.context = {"trial": trial.name, "binaries": label}
    stage.event("begins", load=os.getloadavg()[0], parameters=asdict(trial))
    begun = time.monotonic()
    try:
        figures = trial.run(stage)
    except Exception as error:  # What a trial cannot do must not cost the figures of the others.
        traceback.print_exc()
        figures = [Figure(f"cannot be tried: {error!r:.80}", None, at_most=0)]
    finally:
        kill_all_callers()
    for figure in figures:
        stage.log.write(figure=figure.name, value=figure.value, unit=figure.unit, goal=figure.goal)
    log_line(f"    {time.monotonic() - begun:.0f} s")
    return figures


def number(value: float | None) -> str:
    """For a table."""
    if value is None:
        return "none"
    return f"{value:.0f}" if value == round(value) or abs(value) >= 100 else f"{value:.2f}"


def verdict(figure: Figure, is_short: bool) -> str:
    """Whether its goal was met; a short trial does not judge what a busy machine changes."""
    if figure.is_met is None:
        return ""
    if is_short and figure.is_timing:
        return "not judged"
    return "met" if figure.is_met else "MISSED"


def table(rows: list[tuple[str, dict[str, Figure]]], labels: list[str], is_short: bool) -> list[str]:
    """Trial, figure, goal, what was measured with each set of binaries, and whether the last one's goal was met."""
    lines = [["trial", "figure", "goal", *labels, ""]]
    for trial, by_label in rows:
        last = by_label[labels[-1]]
        values = [f"{number(figure.value)} {figure.unit}".strip() if (figure := by_label.get(label)) else "" for label in labels]
        lines.append([trial, last.name, f"{last.goal} {last.unit}".strip() if last.goal else "", *values, verdict(last, is_short)])
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]


def described() -> str:
    """The trials' names and ideas."""
    return "\n".join(f"  {trial.name:16}{(trial.__doc__ or '').splitlines()[0]}" for trial in TRIALS)


def main() -> None:
    """Runs what the arguments ask for and prints a table."""
    by_name = {trial.name: trial for trial in TRIALS}
    parser = argparse.ArgumentParser(
        prog="./ops/bench trials",
        description=(__doc__ or "").format(trials=described()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="trials; by default all")
    parser.add_argument("--binaries", type=Path, help="folder of retort-api, retort-worker and retort")
    parser.add_argument("--before", type=Path, help="folder of older ones, which are tried first")
    parser.add_argument("--short", action="store_true", help="minutes for all of them; latencies are told and not judged")
    parser.add_argument("--check", action="store_true", help="fail where a goal is missed")
    parser.add_argument("--out", type=Path, default=Path("trials.jsonl"), help="file that the records are appended to")
    parser.add_argument("--read-deadline", type=float, metavar="S", help="seconds that lists and retrieves may take (10)")
    args = parser.parse_args()
    if unknown := [name for name in args.names if name not in by_name]:
        parser.error(f"no such trial: {', '.join(unknown)}; there are {', '.join(by_name)}")
    binaries = {label: folder.resolve() for label, folder in {BEFORE: args.before, AFTER: args.binaries}.items() if folder}
    labels = list(binaries)
    if not labels:
        parser.error("name --binaries, --before, or both")
    chosen = [by_name[name] for name in args.names] or TRIALS

    # An end like any other, so that nothing is left running.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    log = Log(args.out.resolve())
    rows: list[tuple[str, dict[str, Figure]]] = []
    with ExitStack() as stack:
        log_line("==> the demo catalogue")
        stages = {label: Stage(folder, stack.enter_context(template(folder)), log) for label, folder in binaries.items()}
        for kind in chosen:
            trial = kind(**kind.short) if args.short else kind()
            deadlines = kind.short_deadlines if args.short else Deadlines()
            if args.read_deadline:
                deadlines = replace(deadlines, read=args.read_deadline)
            measured = {label: {f.name: f for f in run(trial, stage, deadlines, label)} for label, stage in stages.items()}
            for name in measured[labels[-1]]:
                rows.append((trial.name, {label: figures[name] for label, figures in measured.items() if name in figures}))
    print("\n".join(table(rows, labels, args.short)))
    missed = [verdict(by_label[labels[-1]], args.short) for _, by_label in rows].count("MISSED")
    if args.check and missed:
        sys.exit(f"{missed} goals are missed")


if __name__ == "__main__":
    main()
