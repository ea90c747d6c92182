"""Writes clean reactions for the `flasks` example of `synth`: `precursors>>product`, a tab, and where each product atom was before.

The third column numbers the precursors' atoms in a row as they are written, from 0, and has a dash for an atom that no
precursor brings. Reactions are shuffled, so that any part of the file is a fair sample.
"""

import argparse
import gzip
import random
from pathlib import Path

from rdkit import Chem, RDLogger

import clean_reactions


def without_maps(smiles: str) -> tuple[str, list[int]] | None:
    """Gives the canonical SMILES without map numbers, and the number of each of its atoms in the order written."""
    mol = Chem.MolFromSmiles(smiles)
    if mol is None:
        return None
    numbers = []
    for atom in mol.GetAtoms():
        numbers.append(atom.GetAtomMapNum())
        atom.SetAtomMapNum(0)
    written = Chem.MolToSmiles(mol)
    order = mol.GetPropsAsDict(includePrivate=True, includeComputed=True)["_smilesAtomOutputOrder"]
    return written, [numbers[index] for index in order]


def line_of(mapped: str) -> str | None:
    """Gives the line of a mapped reaction, or None where a side cannot be read."""
    left, right = (without_maps(side) for side in mapped.split(">>"))
    if left is None or right is None:
        return None
    place = {number: index for index, number in enumerate(left[1]) if number}
    sources = ",".join(str(place.get(number, "-")) for number in right[1])
    return f"{left[0]}>>{right[0]}\t{sources}"


def main() -> None:
    """Writes each reaction once, shuffled, at most `--reactions` of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clean", type=Path, required=True, help="reactions_clean.tsv.gz of clean_reactions.py")
    parser.add_argument("--out", type=Path, required=True, help="text file (.gz) to write")
    parser.add_argument("--reactions", type=int, default=80_000)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    RDLogger.DisableLog("rdApp.*")
    reactions = [row["mapped"] for row in clean_reactions.read(args.clean)]
    random.Random(args.seed).shuffle(reactions)
    seen: set[str] = set()
    with gzip.open(args.out, "wt", compresslevel=3, encoding="utf-8") as out:
        for reaction in reactions:
            line = line_of(reaction)
            if line is None or line.split("\t")[0] in seen:
                continue
            seen.add(line.split("\t")[0])
            out.write(line + "\n")
            if len(seen) == args.reactions:
                break
    print(f"{len(seen)} reactions")


if __name__ == "__main__":
    main()
