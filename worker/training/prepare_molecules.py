"""Tokenises the training and validation molecules of the language models.

The decision that matters: a molecule with a token that fewer than `--min-molecules` molecules have is left
out, so that the vocabulary holds only what the network sees often enough to learn.
"""

import argparse
from pathlib import Path

import corpus


def main() -> None:
    """Writes `train.npz` and `valid.npz` under `--out`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with train.smi.gz and valid.smi.gz")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--min-molecules", type=int, default=100)
    parser.add_argument("--max-tokens", type=int, default=100)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)

    train = list(corpus.read_smiles(args.data / "train.smi.gz"))
    vocabulary = corpus.build_vocabulary(train, args.min_molecules)
    for name, smiles in (("train", train), ("valid", list(corpus.read_smiles(args.data / "valid.smi.gz")))):
        encoded = corpus.encode(smiles, vocabulary, args.max_tokens)
        encoded.save(args.out / f"{name}.npz")
        print(f"{name}: {len(encoded)} of {len(smiles)} molecules, {len(encoded.ids)} tokens, {len(vocabulary)} in the vocabulary")


if __name__ == "__main__":
    main()
