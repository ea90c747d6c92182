"""Measures the tree search against its peers: the same templates, network, stock, targets and clock for every engine.

    ./ops/bench search --kit KIT [--set NAME=TARGETS.csv …] [--targets N] [--limit SECONDS] [--engines retort,aizynth-mcts,…]

Targets are the kit's, or those of the files named by --set, each a set of its own (column `smiles`; N of a set are picked at
random, always the same). KIT is the folder of the benchmark kit; its run_*.py drive the peers, each in a virtual environment
of its own, which is made at the first run in the user's cache folder. All engines count CPU seconds of one thread and stop at
the first route. One JSON object an engine goes to standard output, the table to standard error.
"""

import argparse
import csv
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from environments import AIZYNTHFINDER, environment

PACKAGES = {
    "aizynth": AIZYNTHFINDER,
    "syntheseus": ["syntheseus==0.9.0", "onnxruntime", "rdchiral", "rdkit==2023.9.6", "numpy<2"],
}
ENGINES = [
    "retort",
    "retort-shipped",
    "aizynth-mcts",
    "aizynth-retrostar",
    "syntheseus-retrostar",
    "syntheseus-mcts",
]
HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]

# Time to the first route (None: unsolved), whole time, expansions, template applications, by target.
Row = tuple[float | None, float, int, int]


def run_peer(engine: str, kit: Path, targets: Path, limit: float) -> tuple[list[Row], float]:
    peer, algorithm = engine.split("-")
    with tempfile.NamedTemporaryFile(suffix=".csv") as out:
        script = kit / f"run_{peer}.py"
        command = [environment(peer, PACKAGES[peer]), script, algorithm, targets, out.name, "--limit", str(limit), "--clock", "cpu"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(out.name, newline="") as file:
            read = [row for row in csv.DictReader(file) if row["solved"] in ("0", "1")]
    rows = []
    for row in read:
        first = float(row["time_to_first"] or row["time_total"]) if row["solved"] == "1" else None
        applied = int(row["n_template_applications"])
        rows.append((first, float(row["time_total"]), int(row["n_expansions"]), applied))
    return rows, max((float(row["max_rss_mb"]) for row in read), default=0.0)


def run_ours(model: Path, kit: Path, targets: Path, limit: float) -> tuple[list[Row], float]:
    binary = ROOT / "target" / "release" / "examples" / "plan"
    command = [binary, model, kit / "stock.csv.gz", targets, "--seconds", str(limit), "--cores", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{binary} failed")
    rows = []
    for line in output.splitlines():
        fields = line.split("\t")
        if len(fields) == 12 and fields[0].isdigit():
            first = None if fields[1] == "-" else float(fields[1])
            rows.append((first, float(fields[3]), int(fields[6]), int(fields[8])))
    return rows, usage.ru_maxrss / 1024


def figures(name: str, engine: str, rows: list[Row], rss: float) -> dict[str, object]:
    firsts = sorted(first for first, *_ in rows if first is not None)
    cpu = sum(total for _, total, *_ in rows) or 1.0
    within = {f"solved_{seconds}_s": sum(first <= seconds for first in firsts) for seconds in (1, 4, 10)}
    return {
        "engine": engine,
        "set": name,
        "targets": len(rows),
        **within,
        "first_route_median_s": round(statistics.median(firsts), 4) if firsts else None,
        "first_route_p90_s": round(firsts[math.ceil(0.9 * len(firsts)) - 1], 4) if firsts else None,
        "expansions_per_cpu_s": round(sum(row[2] for row in rows) / cpu, 1),
        "template_applications_per_cpu_s": round(sum(row[3] for row in rows) / cpu, 1),
        "rss_mb": round(rss),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kit", type=Path, required=True)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=FILE", help="a further set of targets")
    parser.add_argument("--targets", type=int, default=50, metavar="N", help="how many targets of each set")
    parser.add_argument("--limit", type=float, default=10.0, metavar="SECONDS")
    parser.add_argument("--engines", type=lambda text: text.split(","), default=ENGINES)
    arguments = parser.parse_args()
    if unknown := set(arguments.engines) - set(ENGINES):
        parser.error(f"no such engine: {', '.join(sorted(unknown))}; there are {', '.join(ENGINES)}")

    if faulty := [text for text in arguments.set if "=" not in text]:
        parser.error(f"--set {faulty[0]}: expected NAME=FILE")
    sets = [text.split("=", 1) for text in arguments.set] or [["kit", arguments.kit / "targets_public.csv"]]
    results = []
    with tempfile.TemporaryDirectory() as folder:
        targets = Path(folder) / "targets.csv"
        for name, path in sets:
            pick(Path(path), arguments.targets, targets)
            for engine in arguments.engines:
                if engine.startswith("retort"):
                    shipped = engine == "retort-shipped"
                    model = ROOT / "worker" / "models" / "uspto_retro" if shipped else arguments.kit
                    rows, rss = run_ours(model, arguments.kit, targets, arguments.limit)
                else:
                    rows, rss = run_peer(engine, arguments.kit, targets, arguments.limit)
                results.append(figures(name, engine, rows, rss))
                print(json.dumps(results[-1]), flush=True)
    table(results)


def pick(path: Path, count: int, out: Path) -> None:
    """Writes the first `count` targets of the kit's file, which is mixed, or as many at random of any other."""
    with path.open(newline="") as file:
        # A target is one molecule: salts, which drugs are often listed as, are left out.
        smiles = [row["smiles"] for row in csv.DictReader(file) if "." not in row["smiles"]]
    if path.name != "targets_public.csv" and count < len(smiles):
        smiles = random.Random(0).sample(smiles, count)
    with out.open("w", newline="") as file:
        csv.writer(file).writerows([["target_id", "smiles"], *enumerate(smiles[:count])])


def table(results: list[dict[str, object]]) -> None:
    columns = list(dict.fromkeys(name for result in results for name in result if name != "engine"))
    print(f"{'engine':<22}" + "".join(f"{name.replace('_per_cpu_s', '/s')[:22]:>24}" for name in columns), file=sys.stderr)
    for result in results:
        print(f"{result['engine']:<22}" + "".join(f"{result.get(name, '')!s:>24}" for name in columns), file=sys.stderr)


if __name__ == "__main__":
    main()
