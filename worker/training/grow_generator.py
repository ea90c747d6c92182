"""Widens a checkpoint of train_generator.py without changing what it computes.

The decision that matters: the old units keep their weights and hear nothing of the new ones, and the output gives the
new ones no weight, so the wide network writes exactly what the narrow one did; the new units hear everybody, with
random weights, so they are already features worth reading when training begins to use them.
"""

import argparse
from pathlib import Path

import torch

import train_generator
from generator_model import SmilesGru


def grown(narrow: SmilesGru, hidden_size: int, seed: int) -> SmilesGru:
    """Copies a network of one layer into one of more hidden units that computes the same."""
    shape = narrow.shape()
    old = shape["hidden_size"]
    if shape["num_layers"] != 1 or hidden_size < old:
        raise ValueError("only networks of one layer grow, and they never shrink")
    torch.manual_seed(seed)
    wide = SmilesGru(**{**shape, "hidden_size": hidden_size})
    with torch.no_grad():
        wide.embedding.weight.copy_(narrow.embedding.weight)
        for gate in range(3):
            to, source = gate * hidden_size, gate * old
            for name in ("weight_ih_l0", "bias_ih_l0", "bias_hh_l0"):
                getattr(wide.rnn, name)[to : to + old] = getattr(narrow.rnn, name)[source : source + old]
            wide.rnn.weight_hh_l0[to : to + old, :old] = narrow.rnn.weight_hh_l0[source : source + old]
            wide.rnn.weight_hh_l0[to : to + old, old:] = 0.0
        wide.out.weight[:, :old] = narrow.out.weight
        wide.out.weight[:, old:] = 0.0
        wide.out.bias.copy_(narrow.out.bias)
    return wide


def main() -> None:
    """Writes a checkpoint without optimizer state, to begin a training from."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--hidden-size", type=int, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()

    narrow, vocabulary = train_generator.load(args.checkpoint)
    wide = grown(narrow, args.hidden_size, args.seed)
    torch.save({"shape": wide.shape(), "model": wide.state_dict(), "vocabulary": vocabulary}, args.out)


if __name__ == "__main__":
    main()
