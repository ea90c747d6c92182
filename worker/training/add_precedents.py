"""Adds one's own reactions to the precedents of a finished pack: products, and how many reactions each template has.

The decision that matters: own products stand beside the recorded ones and replace none, so a step is as near to a precedent as
before or nearer. Each template gets up to eight more products, chosen as in `precedents.py`. Nothing is trained. Patents and
conditions stay those of the recorded reactions.
"""

import argparse
import gzip
import json
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

from precedents import CANDIDATES, PER_TEMPLATE, diverse, fingerprints, folded, reactions_by_template
from train_policy import Examples

PRECEDENTS, EVIDENCE = "precedents.safetensors", "evidence.tsv.gz"


def with_own(old: dict[str, np.ndarray], own: dict[int, np.ndarray]) -> dict[str, np.ndarray]:
    """Gives the precedents with each template's own products, `[n, 512]` bits, behind the old ones."""
    starts, rows = [0], []
    for template, (start, end) in enumerate(zip(old["starts"][:-1], old["starts"][1:], strict=True)):
        rows.append(old["bits"][start:end])
        if template in own:
            added = np.packbits(own[template], axis=1, bitorder="little")
            known = {row.tobytes() for row in rows[-1]}
            rows.append(added[[row.tobytes() not in known for row in added]])
        starts.append(starts[-1] + sum(map(len, rows[-2:] if template in own else rows[-1:])))
    return {"starts": np.array(starts, np.uint32), "bits": np.concatenate(rows).astype(np.uint8)}


def with_counts(lines: list[str], own: dict[int, int]) -> list[str]:
    """Gives the lines of `evidence.tsv.gz` with the numbers of own reactions added."""
    waiting = dict(own)
    counted = []
    for line in lines:
        template, count, rest = line.rstrip("\n").split("\t", 2)
        counted.append((int(template), f"{template}\t{int(count) + waiting.pop(int(template), 0)}\t{rest}\n"))
    counted.extend((template, f"{template}\t{count}\t\t\n") for template, count in waiting.items())
    return [line for _, line in sorted(counted)]


def main() -> None:
    """Replaces both files of the pack."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=Path, required=True, help="file of policy_examples, of own reactions")
    parser.add_argument("--pack", type=Path, required=True)
    args = parser.parse_args()
    examples = Examples(args.examples)
    explained = reactions_by_template(examples, examples.explained)
    own = {}
    for template, found in explained.items():
        bits = folded(fingerprints(examples, np.unique(examples.products[found])[:CANDIDATES]))
        own[template] = bits[diverse(bits, PER_TEMPLATE)]
    precedents = with_own(load_file(args.pack / PRECEDENTS), own)
    save_file(precedents, args.pack / PRECEDENTS)
    (args.pack / PRECEDENTS).chmod(0o644)
    with gzip.open(args.pack / EVIDENCE, "rt", encoding="utf-8") as lines:
        evidence = with_counts(list(lines), {template: len(found) for template, found in explained.items()})
    with gzip.open(args.pack / EVIDENCE, "wt", encoding="utf-8") as out:
        out.writelines(evidence)
    print(
        json.dumps(
            {
                "reactions": len(examples.products),
                "explained": len(examples.explained),
                "templates": len(own),
                "precedents": len(precedents["bits"]),
            }
        )
    )


if __name__ == "__main__":
    main()
