"""Turns explained reactions into the arrays that train_policy.py reads.

The decision that matters: a product's hash decides whether it is set aside for the split, so that the split stays the
same when templates or labels change.
"""

import argparse
import gzip
import zlib
from pathlib import Path

import numpy as np
from rdkit import Chem, RDLogger
from rdkit.Chem import rdFingerprintGenerator

import prepare_templates


def arrays(rows: list[tuple[str, list[int]]], prefix: str = "") -> dict[str, np.ndarray]:
    """Packs (product, templates) pairs: bits `[n, 256]`, starts, labels, product hashes."""
    generator = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=prepare_templates.FINGERPRINT_BITS)
    known: dict[str, np.ndarray] = {}
    for product, _ in rows:
        if product not in known:
            bits = generator.GetFingerprintAsNumPy(Chem.MolFromSmiles(product))
            known[product] = np.packbits(bits.astype(np.uint8))
    return {
        f"{prefix}bits": np.array([known[product] for product, _ in rows], np.uint8).reshape(len(rows), -1),
        f"{prefix}starts": np.cumsum([0, *(len(templates) for _, templates in rows)]),
        f"{prefix}labels": np.array([template for _, templates in rows for template in templates], np.int64),
        f"{prefix}product_hashes": np.array([zlib.crc32(product.encode()) for product, _ in rows], np.uint32),
    }


def main() -> None:
    """Writes examples.npz: the training reactions that some template explains, and the held-out source's."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reactions", type=Path, required=True, help="explained.tsv.gz (or reactions.tsv.gz)")
    parser.add_argument("--templates", type=int, required=True, help="how many templates the library has")
    parser.add_argument("--out", type=Path, required=True, help="examples.npz to write")
    args = parser.parse_args()
    RDLogger.DisableLog("rdApp.*")
    parts: dict[str, list[tuple[str, list[int]]]] = {"train": [], "held-out": []}
    n_held_out = 0
    with gzip.open(args.reactions, "rt", encoding="utf-8") as lines:
        for line in lines:
            part, product, _, templates = line.rstrip("\n").split("\t")
            n_held_out += part == "held-out"
            if templates:
                parts[part].append((product, [int(row) for row in templates.split(",")]))
    data = arrays(parts["train"]) | arrays(parts["held-out"], "held_out_")
    # An explanation counts as much as the share of the reaction it explains; nothing counts less than half a reaction.
    counts = np.full(args.templates, 0.5)
    for _, templates in parts["train"]:
        counts[templates] += 1 / len(templates)
    np.savez(args.out, **data, counts=counts, n_held_out=np.array(n_held_out))
    print(f"{len(parts['train'])} training examples, {len(parts['held-out'])} of {n_held_out} held-out reactions explained")


if __name__ == "__main__":
    main()
