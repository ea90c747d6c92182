"""Says which recorded reactions the selectivity rules refuse, by reaction class and reason, with examples.

Recorded reactions worked once, so a class of which many are refused points to a rule that is wrong. Whatever is left are
mixtures that somebody separated, several operations in one record, and errors of atom maps.
"""

import argparse
import collections
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from rdkit import RDLogger

import reactions

EXAMPLES = 5


def drawn_from(table: Path, count: int, seed: int) -> list[str]:
    """Draws reactions of a table and writes them without maps, with the precursors that give their product atoms."""
    recorded = list(reactions.recorded_reactions(table))
    random.Random(seed).shuffle(recorded)
    components = reactions.Components()
    drawn: list[str] = []
    for line, sides in recorded:
        made = reactions.make_row(table.name, line, sides, components) if len(sides) == 3 else ""
        if not isinstance(made, str):
            drawn.append(f"{made[0].precursors}>>{made[0].product}")
        if len(drawn) == count:
            break
    return drawn


def explained(explain: Path, pack: Path, drawn: list[str]) -> Iterator[tuple[str, list[list[str]]]]:
    """Gives each reaction with the fields of its proposals: template, verdict, two plausibilities, class, and others."""
    said = subprocess.run([explain, pack], input="\n".join(drawn), capture_output=True, text=True, check=True).stdout
    reaction, proposals = "", []
    for line in said.splitlines():
        if line.startswith("  "):
            proposals.append(line[2:].split("\t"))
            continue
        if reaction:
            yield reaction, proposals
        reaction, proposals = line, []
    if reaction:
        yield reaction, proposals


def main() -> None:
    """Prints the share of refused reactions with its 95 % interval, then the commonest classes and reasons."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reactions", type=Path, help="table with a column rxn_smiles, mapped; .csv.gz or .tsv.gz")
    parser.add_argument("--explain", type=Path, required=True, help="the example `explain`, built")
    parser.add_argument("--pack", type=Path, required=True, help="retrosynthesis pack")
    parser.add_argument("--count", type=int, default=8000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", type=int, default=30, help="kinds of refusals to print")
    args = parser.parse_args()
    RDLogger.DisableLog("rdApp.*")

    unexplained, accepted = 0, []
    of_class: collections.Counter[str] = collections.Counter()
    refused: dict[tuple[str, str], list[str]] = collections.defaultdict(list)
    for reaction, proposals in explained(args.explain, args.pack, drawn_from(args.reactions, args.count, args.seed)):
        if not proposals:
            unexplained += 1
            continue
        best = next((it for it in proposals if it[1] == "stands"), proposals[0])
        accepted.append(best[1] == "stands")
        of_class[best[4]] += 1
        if best[1] != "stands":
            refused[best[4], best[1]].append(reaction)
    share = 1 - np.mean(accepted)
    error = 1.96 * np.sqrt(share * (1 - share) / len(accepted))
    print(f"{len(accepted)} reactions of a template, {unexplained} of none; refused {share:.4f} ± {error:.4f}")
    for (name, reason), found in sorted(refused.items(), key=lambda it: -len(it[1]))[: args.kinds]:
        print(f"{len(found)}\t{len(found) / of_class[name]:.0%} of {name}\t{reason}")
        print(*(f"\t{reaction}" for reaction in found[:EXAMPLES]), sep="\n")


if __name__ == "__main__":
    main()
