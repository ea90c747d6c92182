"""Draws targets and prints their routes as a chemist reads them.

    ./ops/bench reading STOCK.csv[.gz] TARGETS.csv[.gz] [TARGETS.csv …] [--seed 1] [--count 30] [--seconds 4] [--newest]

From the files in turn, without repeats, by the seed; `--newest` draws from those with a `first_approval` since 2008 first. For each
target: the route of the default request, then up to three routes of different backbones of a whole search, each as steps in the
order of synthesis with class, plausibility, agents and warnings. A reader writes a verdict beside each: SIGN, CHANGE or REJECT.
"""

import argparse
import csv
import gzip
import random
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NEW = 2008


def rows(path: Path, newest: bool) -> list[tuple[str, str]]:
    """Name and SMILES of the molecules of a file; with `newest`, of those approved lately, if the file has years."""
    opened = gzip.open(path, "rt", newline="") if path.suffix == ".gz" else path.open(newline="")
    with opened as file:
        lines = [line for line in csv.DictReader(file) if line.get("smiles")]
    if newest and any("first_approval" in line for line in lines):
        lines = [line for line in lines if float(line["first_approval"] or 0) >= NEW]
    return [(line.get("name") or line.get("idx") or "", line["smiles"]) for line in lines]


def drawn(files: list[list[tuple[str, str]]], count: int, seed: int) -> list[tuple[str, str]]:
    """Draws from the files in turn until there are `count` targets or none is left; components other than one are left out."""
    source = random.Random(seed)
    decks = [source.sample(sorted(set(file)), len(set(file))) for file in files]
    chosen: dict[str, str] = {}
    while len(chosen) < count and any(decks):
        for deck in filter(None, decks):
            name, smiles = deck.pop()
            if "." not in smiles and len(chosen) < count:
                chosen.setdefault(smiles, name)
    return [(name, smiles) for smiles, name in chosen.items()]


def routes(stock: Path, targets: Path, options: list[str]) -> list[list[str]]:
    """The printed routes of each target."""
    command = [ROOT / "target/release/examples/plan", ROOT / "worker/models/uspto_retro", stock, targets, "--common", "--routes", *options]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    printed: list[list[str]] = []
    for line in output.splitlines():
        fields = line.split("\t")
        if len(fields) > 9 and fields[0].isdigit():
            printed.append([])
        elif line.startswith("  ") and printed:
            printed[-1].append(line)
    return printed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stock", type=Path)
    parser.add_argument("targets", type=Path, nargs="+")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=30, metavar="N", help="how many targets")
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--newest", action="store_true", help=f"drugs approved since {NEW} only, where a file has years")
    arguments = parser.parse_args()
    chosen = drawn([rows(path, arguments.newest) for path in arguments.targets], arguments.count, arguments.seed)
    seconds = ["--seconds", str(arguments.seconds)]
    with tempfile.NamedTemporaryFile("w", suffix=".csv", newline="") as file:
        csv.writer(file).writerows([["smiles"], *([smiles] for _, smiles in chosen)])
        file.flush()
        first = routes(arguments.stock, Path(file.name), ["--sound", *seconds])
        whole = routes(
            arguments.stock, Path(file.name), ["--all", "--depth", "8", "--groups", "3", "--group-size", "1", *seconds]
        )
    for number, (name, smiles) in enumerate(chosen):
        print(f"== {number + 1}. {name} {smiles}")
        print("default request:", *(first[number] or ["  no route"]), sep="\n")
        print("whole search:", *(whole[number] or ["  no route"]), sep="\n")


if __name__ == "__main__":
    main()
