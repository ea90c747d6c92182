"""Measures sampling with PyTorch and checking with RDKit: the figures to hold `sample`, the crate's example, against.

The decision that matters: the same weights and the same number of raw strings at the pack's temperature, in f32, on
`--threads` threads, drawn as a batch that finished strings leave. One JSON line of the example's fields.
"""

import argparse
import json
import time
from pathlib import Path

import torch
from rdkit import Chem, RDLogger

import pack


def main() -> None:
    """Prints one line for a pack."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pack", type=Path)
    parser.add_argument("--size", type=int, default=10_000, help="raw strings to draw")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--bfloat16", action="store_true", help="matrix products in bfloat16")
    args = parser.parse_args()
    RDLogger.DisableLog("rdApp.*")
    torch.set_num_threads(args.threads)
    model, tokens = pack.read(args.pack)
    settings = json.loads((args.pack / "generation_config.json").read_text(encoding="utf-8"))

    began = time.perf_counter()
    strings = pack.sample(
        model, tokens, args.size, settings["temperature"], settings["max_length"], args.seed, bfloat16=args.bfloat16
    )
    drawn = time.perf_counter()
    valid = [Chem.MolToSmiles(mol) for text in strings if text and (mol := Chem.MolFromSmiles(text)) is not None]
    checked = time.perf_counter()
    print(
        json.dumps(
            {
                "model": args.pack.name,
                "precision": "pytorch-bf16" if args.bfloat16 else "pytorch-f32",
                "threads": args.threads,
                "strings": len(strings),
                "strings_per_second": len(strings) / (drawn - began),
                "checks_per_second": len(strings) / (checked - drawn),
                "validity": len(valid) / len(strings),
                "uniqueness": len(set(valid)) / max(1, len(valid)),
            }
        )
    )


if __name__ == "__main__":
    main()
