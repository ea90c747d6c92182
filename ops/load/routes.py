"""Measures planned routes against published ones: solved targets, and where the published route stands among ours.

    ./ops/bench routes --data DATA/routes [--set ref-lin-600 …] [--targets N] [--seconds S] [--cores N] [--out FOLDER]

DATA/routes is a folder with `targets_public.jsonl.gz` (a target a line with its `id`, `set`, `smiles` and published `route`),
`stock.csv.gz` (column `smiles`) and `score.py`, which reads what is written here and prints the table beside other planners'.
Every target is planned with that stock alone, for S seconds (4) on N cores (2), all routes, at most ten steps deep; N targets of a
set are picked at random, always the same. The routes, best first, are written in three forms: as `score.py` reads them, as
AiZynthFinder writes its trees, and as RetroCast keeps routes (`python -m retrocast` or `Route.model_validate` read those).
"""

import argparse
import collections
import csv
import gzip
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from environments import environment

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PACKAGES = ["rdkit==2026.9.1"]
MAX_DEPTH = 10
MAX_BACKBONES = 100

Tree = list[Any]
"""`[smiles, [Tree, …]]`, without precursors for what is bought."""


def targets(data: Path, sets: list[str], most: int | None) -> list[dict[str, Any]]:
    """Lists the targets of the sets, or as many of each, each once."""
    by_set: dict[str, list[dict[str, Any]]] = collections.defaultdict(list)
    for line in gzip.open(data / "targets_public.jsonl.gz", "rt", encoding="utf-8"):
        target = json.loads(line)
        by_set[target["set"]].append(target)
    if unknown := set(sets) - set(by_set):
        raise SystemExit(f"no set {', '.join(sorted(unknown))}; there are {', '.join(sorted(by_set))}")
    picked = {}
    for name in sets or sorted(by_set):
        rows = by_set[name]
        for target in random.Random(0).sample(rows, min(most or len(rows), len(rows))):
            picked[target["id"]] = target
    return list(picked.values())


def aizynthfinder(tree: Tree) -> dict[str, Any]:
    """Gives a tree as AiZynthFinder writes it: molecules and reactions take turns."""
    smiles, precursors = tree
    node: dict[str, Any] = {"type": "mol", "is_chemical": True, "smiles": smiles, "in_stock": not precursors}
    if precursors:
        reaction = smiles + ">>" + ".".join(precursor[0] for precursor in precursors)
        children = [aizynthfinder(precursor) for precursor in precursors]
        node["children"] = [{"type": "reaction", "is_reaction": True, "smiles": reaction, "children": children}]
    return node


def retrocast(tree: Tree, inchikeys: dict[str, str]) -> dict[str, Any]:
    """Gives a tree as RetroCast keeps a molecule: with its InChIKey and the step that makes it."""
    smiles, precursors = tree
    node: dict[str, Any] = {"smiles": smiles, "inchikey": inchikeys[smiles], "synthesis_step": None}
    if precursors:
        node["synthesis_step"] = {"reactants": [retrocast(precursor, inchikeys) for precursor in precursors]}
    return node


def molecules(tree: Tree) -> set[str]:
    return {tree[0]}.union(*(molecules(precursor) for precursor in tree[1]))


def inchikeys(python: Path, smiles: set[str]) -> dict[str, str]:
    """Asks RDKit, which is in an environment of its own, for the InChIKeys."""
    script = "import sys; from rdkit import Chem, RDLogger; RDLogger.DisableLog('rdApp.*')\nfor line in sys.stdin: print(Chem.MolToInchiKey(Chem.MolFromSmiles(line.strip())))"
    ordered = sorted(smiles)
    found = subprocess.run([python, "-c", script], input="\n".join(ordered), capture_output=True, text=True, check=True)
    return dict(zip(ordered, found.stdout.split("\n"), strict=False))


def write_json(path: Path, content: object) -> None:
    with gzip.open(path, "wt", encoding="utf-8") as out:
        json.dump(content, out)
    print(path, file=sys.stderr)


def plan(data: Path, wanted: list[dict[str, Any]], out: Path, options: list[str]) -> list[dict[str, Any]]:
    """Plans all targets and gives, for each, its id and its routes, best first."""
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder) / "targets.csv"
        with listed.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, ["id", "smiles"], extrasaction="ignore")
            writer.writeheader()
            writer.writerows(wanted)
        program = ROOT / "target/release/examples/plan"
        command = [program, ROOT / "worker/models/uspto_retro", data / "stock.csv.gz", listed, "--all", *options]
        command += ["--depth", str(MAX_DEPTH), "--groups", str(MAX_BACKBONES), "--trees", out]
        log = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    print("\n".join(line for line in log.splitlines() if line.startswith(("targets ", "a CPU second"))), file=sys.stderr)
    return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--set", dest="sets", action="append", default=[])
    parser.add_argument("--targets", type=int)
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--expansions", type=int, help="end by expansions, which is reproducible, and not by time")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--out", type=Path, default=ROOT / "target/bench/routes")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    wanted = targets(args.data, args.sets, args.targets)
    options = ["--seconds", str(args.seconds), "--cores", str(args.cores)]
    options += ["--expansions", str(args.expansions)] if args.expansions else []
    answers = plan(args.data, wanted, args.out / "routes.jsonl", options)

    python = environment("rdkit", PACKAGES)
    keys = inchikeys(python, set().union(*(molecules(tree) for answer in answers for tree in answer["routes"])))
    write_json(args.out / "aizynthfinder.json.gz", {it["id"]: [aizynthfinder(tree) for tree in it["routes"]] for it in answers})
    routes = {
        it["id"]: [{"target": retrocast(tree, keys), "rank": at} for at, tree in enumerate(it["routes"], 1)]
        for it in answers
    }
    write_json(args.out / "retrocast.json.gz", routes)
    subprocess.run([python, args.data / "score.py", args.out / "routes.jsonl"], check=True)


if __name__ == "__main__":
    main()
