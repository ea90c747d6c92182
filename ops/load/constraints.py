"""Measures what constraints on bonds leave of solved targets, beside AiZynthFinder's break_bonds and freeze_bonds.

    ./ops/bench constraints --kit KIT [--targets N] [--limit SECONDS] [--engines retort,aizynth]

Both get the kit's templates, network, stock and targets, one thread and so many CPU seconds a target, and the same bonds: of those
that BRICS would cut, one at random, always the same, to break, and another one to keep; a target with fewer than two such bonds is
left out. AiZynthFinder runs its tree search (MCTS) with "broken bonds" as a second reward, as its documentation has it, for the whole time,
because its reward is no condition: afterwards it counts as solved where one of its solved nodes breaks the bond. What is to be kept
is kept by its filter. Ours stops at its first route. One JSON object an engine and case goes to standard output.
"""

import argparse
import csv
import json
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from environments import AIZYNTHFINDER, environment
from search import ROOT, pick, run_ours

CASES = {"none": (False, False), "break": (True, False), "keep": (False, True), "both": (True, True)}
ENGINES = ["retort", "aizynth"]


def choose(targets: Path, folder: Path) -> None:
    """Writes `CASE.csv` for each case: targets with numbered atoms and their bonds. Runs where RDKit is."""
    import random

    from rdkit import Chem
    from rdkit.Chem import BRICS

    chosen = []
    with targets.open(newline="") as file:
        for row in csv.DictReader(file):
            molecule = Chem.MolFromSmiles(row["smiles"])
            cut = sorted(tuple(sorted(atoms)) for atoms, _ in BRICS.FindBRICSBonds(molecule))
            if len(cut) < 2:
                continue
            to_break, to_keep = random.Random(row["smiles"]).sample(cut, 2)
            for atom in molecule.GetAtoms():
                atom.SetAtomMapNum(atom.GetIdx() + 1)
            pairs = [f"{a + 1}-{b + 1}" for a, b in (to_break, to_keep)]
            chosen.append([row["target_id"], Chem.MolToSmiles(molecule), *pairs])
    for case, (breaks, keeps) in CASES.items():
        with (folder / f"{case}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["target_id", "smiles", "bonds_to_break", "bonds_to_keep"])
            for number, smiles, to_break, to_keep in chosen:
                writer.writerow([number, smiles, to_break if breaks else "", to_keep if keeps else ""])


def run_aizynth(kit: Path, targets: Path, limit: float) -> None:
    """Prints a JSON array for each target: solved without regard to the bond to break, and with it. Runs with AiZynthFinder's interpreter."""
    import logging
    import os

    os.environ["OMP_NUM_THREADS"] = "1"
    logging.disable(logging.INFO)
    import aizynthfinder.aizynthfinder as finders
    from aizynthfinder.utils import models
    from aizynthfinder.utils.bonds import BrokenBonds

    models._get_thread_count_per_core = lambda: 1

    class Clock:
        """Seconds of this process, for its time limit, which other processes do not shorten."""

        time = staticmethod(time.process_time)

    finders.time = Clock
    policy = {
        "type": "template-based",
        "model": str(kit / "policy.onnx"),
        "template": str(kit / "templates.csv.gz"),
        "cutoff_number": 50,
        "cutoff_cumulative": 0.995,
    }
    search: dict[str, Any] = {
        "max_transforms": 5,
        "iteration_limit": 10**9,
        "time_limit": limit,
        "return_first": False,
        "exclude_target_from_stock": True,
    }
    finder = finders.AiZynthFinder(configdict={"expansion": {"kit": policy}, "search": search})
    finder.stock.load_from_config(kit=str(kit / "stock.hdf5"))
    finder.expansion_policy.select("kit")
    finder.stock.select("kit")
    usual = list(finder.config.search.algorithm_config["search_rewards"])
    with targets.open(newline="") as file:
        for row in csv.DictReader(file):
            to_break = [bond_of(row["bonds_to_break"])] if row["bonds_to_break"] else []
            settings = finder.config.search
            settings.break_bonds = to_break
            settings.freeze_bonds = [bond_of(row["bonds_to_keep"])] if row["bonds_to_keep"] else []
            settings.algorithm_config["search_rewards"] = [*usual, *(["broken bonds"] if to_break else [])]
            # It stops at once where nothing is asked of whole routes: the first one will do.
            settings.return_first = not to_break
            finder.target_smiles = row["smiles"]
            finder.prepare_tree()
            finder.tree_search()
            solved = [node for node in finder.tree.nodes() if node.state.is_solved]

            def broken(node: Any) -> bool:
                return any(BrokenBonds(to_break)(reaction) for reaction in node.actions_to())

            print(json.dumps([bool(solved), any(not to_break or broken(node) for node in solved)]), flush=True)


def bond_of(text: str) -> list[int]:
    return sorted(int(number) for number in text.split("-"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kit", type=Path, required=True)
    parser.add_argument("--targets", type=int, default=50, metavar="N")
    parser.add_argument("--limit", type=float, default=10.0, metavar="SECONDS")
    parser.add_argument("--engines", type=lambda text: text.split(","), default=ENGINES)
    # How this file calls itself with the interpreter that has the packages.
    parser.add_argument("--inside", choices=["choose", "aizynth"], help=argparse.SUPPRESS)
    parser.add_argument("--files", type=Path, nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if unknown := set(arguments.engines) - set(ENGINES):
        parser.error(f"no such engine: {', '.join(sorted(unknown))}; there are {', '.join(ENGINES)}")
    if arguments.inside == "choose":
        return choose(*arguments.files)
    if arguments.inside == "aizynth":
        return run_aizynth(arguments.kit, arguments.files[0], arguments.limit)

    def inside(what: str, *files: Path) -> str:
        command = [environment("aizynth", AIZYNTHFINDER), __file__, "--kit", arguments.kit, "--limit", str(arguments.limit)]
        command += ["--inside", what, "--files", *files]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pick(arguments.kit / "targets_public.csv", arguments.targets, folder / "targets.csv")
        inside("choose", folder / "targets.csv", folder)
        for case in CASES:
            targets = folder / f"{case}.csv"
            if "retort" in arguments.engines:
                rows, _ = run_ours(ROOT / "worker" / "models" / "uspto_retro", arguments.kit, targets, arguments.limit)
                report("retort-shipped", case, len(rows), sum(first is not None for first, *_ in rows))
                rows, _ = run_ours(arguments.kit, arguments.kit, targets, arguments.limit)
                cpu = sum(total for _, total, *_ in rows)
                expansions = sum(row[2] for row in rows)
                solved = sum(first is not None for first, *_ in rows)
                report("retort", case, len(rows), solved, expansions_per_cpu_s=round(expansions / cpu))
            if "aizynth" in arguments.engines:
                answers = [json.loads(line) for line in inside("aizynth", targets, targets).splitlines()]
                in_any_way = sum(solved for solved, _ in answers)
                report("aizynth-mcts", case, len(answers), sum(held for _, held in answers), solved_in_any_way=in_any_way)


def report(engine: str, case: str, targets: int, solved: int, **more: object) -> None:
    print(json.dumps({"engine": engine, "case": case, "targets": targets, "solved": solved, **more}), flush=True)


if __name__ == "__main__":
    main()
