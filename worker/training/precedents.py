"""Writes the precedents of every template: fingerprints of products that recorded reactions of it made.

The decision that matters: eight products say enough about where a template has been used, if they differ. They are
chosen greedily, each time the one least similar to those chosen, from at most sixty-four of the reactions that the template explains.
Fingerprints are folded from 2048 to 512 bits, so that all of them together stay under six megabytes.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

from policy_model import FINGERPRINT_BITS
from train_policy import Examples, spread

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


def fingerprints(examples: Examples, products: np.ndarray) -> np.ndarray:
    """Gives `[products, 2048]` bits."""
    places, owners, _ = spread(examples.arrays["bit_starts"], products)
    bits = np.zeros((len(products), FINGERPRINT_BITS), bool)
    bits[owners, examples.arrays["bits"][places]] = True
    return bits


def reactions_by_template(examples: Examples, reactions: np.ndarray) -> dict[int, np.ndarray]:
    """Gives, of every template that explains some of the reactions, these, ascending."""
    places, owners, _ = spread(examples.arrays["right_starts"], reactions)
    explained = reactions[owners]
    matches = examples.arrays["match_starts"][examples.products[explained]] + examples.arrays["rights"][places]
    templates = examples.arrays["match_templates"][matches]
    order = np.argsort(templates, kind="stable")
    rows, starts = np.unique(templates[order], return_index=True)
    parts = np.split(explained[order], starts[1:])
    return {int(row): np.unique(part) for row, part in zip(rows, parts, strict=True)}


def by_template(examples: Examples, reactions: np.ndarray) -> dict[int, np.ndarray]:
    """Gives, of every template that explains some of the reactions, the products of up to `CANDIDATES` of them."""
    found = reactions_by_template(examples, reactions)
    return {row: np.unique(examples.products[part])[:CANDIDATES] for row, part in found.items()}


def main() -> None:
    """Writes `starts` [templates + 1] and `bits` [precedents, 64]: byte k, bit j is folded bit 8k + j."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=Path, required=True, help="file of policy_examples")
    parser.add_argument("--use", type=Path, help="numbers of the input lines to use (.npy); all, if not given")
    parser.add_argument("--templates", type=int, required=True, help="how many templates the library has")
    parser.add_argument("--out", type=Path, required=True, help="precedents.safetensors to write")
    args = parser.parse_args()
    examples = Examples(args.examples)
    products = by_template(examples, examples.chosen(args.use))
    starts, chosen = [0], []
    for row in range(args.templates):
        if row in products:
            bits = folded(fingerprints(examples, products[row]))
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
