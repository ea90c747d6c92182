"""Writes the precedents of every template: fingerprints of products that recorded reactions of it made.

The decision that matters: eight products say enough about where a template has been used, if they differ. They are
chosen greedily, each time the one least similar to those chosen, from at most sixty-four of the template's reactions. A template that no reaction has as its
own, written by hand mostly, takes those it explains.
Fingerprints are folded from 2048 to 512 bits, so that all of them together stay under six megabytes.
"""

import argparse
import collections
import gzip
import json
from pathlib import Path

import numpy as np
from rdkit import Chem, RDLogger
from rdkit.Chem import rdFingerprintGenerator
from safetensors.numpy import save_file

import prepare_templates

FOLDED_BITS = 512
PER_TEMPLATE = 8
CANDIDATES = 64


def folded(bits: np.ndarray) -> np.ndarray:
    """Folds `[n, 2048]` bits to `[n, 512]`: bit i goes to i mod 512."""
    return bits.reshape(len(bits), -1, FOLDED_BITS).any(axis=1)


def diverse(bits: np.ndarray, size: int) -> list[int]:
    """Picks up to `size` rows, the first one and then always the one least similar (Tanimoto) to those picked."""
    picked = [0]
    counts = bits.sum(axis=1).astype(float)
    nearest = np.zeros(len(bits))
    while len(picked) < min(size, len(bits)):
        last = bits[picked[-1]]
        common = (bits & last).sum(axis=1)
        nearest = np.maximum(nearest, common / np.maximum(counts + last.sum() - common, 1))
        nearest[picked[-1]] = 2
        if nearest.min() >= 1:
            break
        picked.append(int(nearest.argmin()))
    return picked


def main() -> None:
    """Writes `starts` [templates + 1] and `bits` [precedents, 64]: byte k, bit j is folded bit 8k + j."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reactions", type=Path, required=True, help="explained.tsv.gz of explain_reactions.py")
    parser.add_argument("--templates", type=int, required=True, help="how many templates the library has")
    parser.add_argument("--out", type=Path, required=True, help="precedents.safetensors to write")
    args = parser.parse_args()
    RDLogger.DisableLog("rdApp.*")
    products: dict[int, list[str]] = collections.defaultdict(list)
    explained: dict[int, list[str]] = collections.defaultdict(list)
    with gzip.open(args.reactions, "rt", encoding="utf-8") as lines:
        for line in lines:
            part, product, _, rows = line.rstrip("\n").split("\t")
            if part == "train" and rows:
                own, *others = map(int, rows.split(","))
                for row, known in ((own, products), *((other, explained) for other in others)):
                    if len(known[row]) < CANDIDATES:
                        known[row].append(product)
    generator = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=prepare_templates.FINGERPRINT_BITS)
    starts, chosen = [0], []
    for row in range(args.templates):
        mols = [Chem.MolFromSmiles(smiles) for smiles in dict.fromkeys(products[row] or explained[row])]
        if mols:
            bits = folded(np.array([generator.GetFingerprintAsNumPy(mol) for mol in mols], bool))
            chosen.extend(bits[diverse(bits, PER_TEMPLATE)])
        starts.append(len(chosen))
    tensors = {
        "starts": np.array(starts, np.uint32),
        "bits": np.packbits(np.array(chosen, bool), axis=1, bitorder="little"),
    }
    save_file(tensors, args.out)
    args.out.chmod(0o644)
    print(json.dumps({"templates": args.templates, "precedents": len(chosen), "without": int((np.diff(starts) == 0).sum())}))


if __name__ == "__main__":
    main()
