"""Measures how late searches end on a loaded machine.

    ./ops/bench deadline STOCK.csv[.gz] TARGETS.csv [--seconds 1] [--processes 2 x cores] [--count N]

Runs as many searchers at once as are named, more than there are cores, each over the same targets with the whole budget, and
says how long after its budget each search had its routes written down. One JSON object goes to standard output.
"""

import argparse
import csv
import json
import os
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def overruns(stock: Path, targets: Path, seconds: float) -> list[float]:
    """Seconds that each search took beyond its budget; those that ended early are below 0."""
    command = [
        ROOT / "target/release/examples/plan", ROOT / "worker/models/uspto_retro", stock, targets,
        "--seconds", str(seconds), "--all", "--cache-mb", "256",
    ]  # fmt: skip
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    rows = (line.split("\t") for line in output.splitlines())
    return [float(fields[2]) - seconds for fields in rows if len(fields) == 12 and fields[0].isdigit()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stock", type=Path)
    parser.add_argument("targets", type=Path)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--processes", type=int, default=2 * (os.cpu_count() or 1))
    parser.add_argument("--count", type=int, default=10**9, metavar="N", help="how many of the targets")
    arguments = parser.parse_args()
    with tempfile.NamedTemporaryFile("w", suffix=".csv", newline="") as file:
        with arguments.targets.open(newline="") as whole:
            picked = [row["smiles"] for _, row in zip(range(arguments.count), csv.DictReader(whole))]
        writer = csv.writer(file)
        writer.writerows([["smiles"], *([smiles] for smiles in picked)])
        file.flush()
        with ThreadPoolExecutor(arguments.processes) as pool:
            runs = [
                pool.submit(overruns, arguments.stock, Path(file.name), arguments.seconds)
                for _ in range(arguments.processes)
            ]
            late = sorted(1000 * value for run in runs for value in run.result())
    if not late:
        raise SystemExit(f"{arguments.targets} holds no molecule")

    def quantile(part: float) -> float:
        return round(late[min(int(part * len(late)), len(late) - 1)], 1)

    print(
        json.dumps(
            {
                "searches": len(late),
                "processes": arguments.processes,
                "cores": os.cpu_count(),
                "seconds": arguments.seconds,
                "late_ms_p50": quantile(0.5),
                "late_ms_p90": quantile(0.9),
                "late_ms_p99": quantile(0.99),
                "late_ms_max": round(late[-1], 1),
            }
        )
    )


if __name__ == "__main__":
    main()
