"""Measures the generators beside PyTorch and RDKit, one after the other in one run: `./ops/bench sampling`.

The same weights, the same number of raw strings, one core each; PyTorch and RDKit are installed at the first run, in the
user's cache folder, in the versions that worker/training names. What the drawings come to is one JSON line a measurement on
standard output and a table on standard error; the last lines of a model are ratios, which mean more than rates on a machine
that does other things as well. Bytes are compared with what the processor multiplies when it does nothing else.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from environments import environment

ROOT = Path(__file__).resolve().parents[2]
TRAINING = ROOT / "worker" / "training"
EXAMPLES = ROOT / "target" / "release" / "examples"
PACKAGES = ("numpy", "rdkit", "safetensors", "tokenizers", "torch")


def python_with_torch() -> str:
    """Gives a Python that has PyTorch and RDKit, installing them once."""
    if given := os.environ.get("RETORT_BENCH_PYTHON"):
        return given
    lines = (TRAINING / "requirements.txt").read_text(encoding="utf-8").splitlines()
    return str(environment("sampling", [line for line in lines if line.split("==")[0] in PACKAGES]))


def lines_of(command: list[str], stdin: str | None = None) -> list[dict]:
    """Runs a program that prints JSON lines."""
    done = subprocess.run(command, cwd=ROOT, input=stdin, check=True, capture_output=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def fastest(lines: list[dict]) -> list[dict]:
    """Keeps the fastest of the measurements that were repeated: what else a machine does only makes them slower."""
    best: dict[tuple[str, int], dict] = {}
    for line in lines:
        key = (line["precision"], line["threads"])
        if key not in best or line["strings_per_second"] > best[key]["strings_per_second"]:
            best[key] = line
    return list(best.values())


def ratios(lines: list[dict]) -> dict[str, float]:
    """Gives what the measurements of one model come to beside one another, as far as they were made.

    PyTorch's strings are free, so those of ours that are stand beside it for the same work; ours that are molecules, too.
    """
    by_key = {(line["precision"], line["threads"]): line for line in lines}
    torch = by_key.get(("pytorch-f32", 1))
    found = {}
    if torch:
        for precision in ("single-free", "bytes-free", "single", "bytes"):
            if ours := by_key.get((precision, 1)):
                name = precision.replace("-", "_")
                found[f"{name}_over_pytorch_f32"] = ours["strings_per_second"] / torch["strings_per_second"]
    if ours := by_key.get(("bytes", 1)):
        for instructions, rates in ours["operations_per_second"].items():
            found[f"{instructions}_share_of_machine"] = rates["product"] / rates["machine"]
        if torch:
            found["checks_over_rdkit"] = ours["checks_per_second"] / torch["checks_per_second"]
    return {name: round(value, 3) for name, value in found.items()}


def table(lines: list[dict]) -> str:
    """Lays measurements of one model out for people."""
    rows = [f"{'':14}{'threads':>8}{'strings/s':>12}{'valid':>8}{'checks/s':>11}{'molecules/s':>13}"]
    for line in lines:
        molecules = f"{line['molecules_per_second']:13.0f}" if "molecules_per_second" in line else f"{'':13}"
        rows.append(
            f"{line['precision']:14}{line['threads']:8}{line['strings_per_second']:12.0f}{line['validity']:8.4f}"
            f"{line['checks_per_second']:11.0f}{molecules}"
        )
    return "\n".join(rows)


def main() -> None:
    """Measures every generator that ships, or those named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int, nargs="?", default=10_000, help="raw strings a measurement")
    parser.add_argument("--models", type=Path, nargs="*", help="folders of packs; default: those that ship")
    parser.add_argument("--rounds", type=int, default=2, help="measurements of everything, by turns; the fastest count")
    parser.add_argument("--without-pytorch", action="store_true")
    parser.add_argument("--gpu", type=Path, metavar="SAMPLE", help="the program sample, built with CUDA")
    args = parser.parse_args()
    packs = args.models or [
        config.parent
        for config in sorted((ROOT / "worker" / "models").glob("*/config.json"))
        if "smiles_" in config.read_text(encoding="utf-8")
    ]
    python = None if args.without_pytorch else python_with_torch()
    for pack in packs:
        lines = []
        for _ in range(args.rounds):
            lines += lines_of([str(EXAMPLES / "sample"), str(pack), str(args.count)])
            if args.gpu:
                # What is enough for two cores would not fill its batches.
                lines += lines_of([str(args.gpu), str(pack), str(max(args.count, 200_000)), "--device", "cuda:0"])
            for precision in ([], ["--bfloat16"]) if python else ():
                command = [python, str(TRAINING / "bench_sampling.py"), str(pack), "--size", str(args.count), *precision]
                lines += lines_of(command)
        lines = fastest(lines)
        found = {"model": pack.name, **ratios(lines)}
        for line in [*lines, found]:
            print(json.dumps(line), flush=True)
        print(f"\n{pack.name}\n{table(lines)}\n{json.dumps(found)}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
