"""Trains the policy network: Morgan fingerprint of the product -> probability of each template.

The decision that matters: the split is by product, so that no molecule of the held-out reactions was seen, and the
products of the `--held-out` sources of prepare_templates.py were never examples at all. The shape is that of
Segler and Waller, Chem. Eur. J. 2017: 2048 bits -> 512 ELU -> templates.
"""

import argparse
import math
import time
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file
from torch import nn
from torch.nn import functional

HIDDEN_SIZE = 512
TOP = (1, 10, 50)


class Policy(nn.Module):
    """Scores every template for a product, from its fingerprint."""

    def __init__(self, counts: torch.Tensor, dropout: float) -> None:
        super().__init__()
        self.layer1 = nn.Linear(2048, HIDDEN_SIZE)
        self.layer2 = nn.Linear(HIDDEN_SIZE, len(counts))
        self.dropout = nn.Dropout(dropout)
        with torch.no_grad():
            self.layer1.weight.normal_(std=0.09)
            self.layer1.bias.zero_()
            self.layer2.bias.copy_(torch.log(counts / counts.sum()))

    def forward(self, bits: torch.Tensor) -> torch.Tensor:
        """Maps `[batch, 2048]` fingerprints to `[batch, templates]` logits."""
        return self.layer2(self.dropout(functional.elu(self.layer1(bits))))


def unpacked(bits: np.ndarray) -> torch.Tensor:
    """Unpacks `[batch, 256]` bytes into `[batch, 2048]` f32."""
    return torch.from_numpy(np.unpackbits(bits, axis=1)).float()


def accuracies(policy: Policy, bits: np.ndarray, labels: np.ndarray) -> list[float]:
    """Gives the shares of examples whose template is among the first 1, 10 and 50; ties count against it."""
    policy.eval()
    ranks = []
    with torch.no_grad():
        for start in range(0, len(labels), 512):
            with torch.autocast("cpu", torch.bfloat16):
                scores = policy(unpacked(bits[start : start + 512])).float()
            wanted = torch.from_numpy(labels[start : start + 512])[:, None]
            ranks.append((scores >= scores.gather(1, wanted)).sum(1))
    policy.train()
    rank = torch.cat(ranks)
    return [round(float((rank <= k).float().mean()), 4) for k in TOP]


def main() -> None:
    """Trains for `--epochs` and writes the weights as f16 safetensors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=Path, required=True, help="examples.npz of prepare_templates.py")
    parser.add_argument("--out", type=Path, required=True, help="policy.safetensors to write")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--batch-size", type=int, default=512)
    parser.add_argument("--learning-rate", type=float, default=1e-3)
    parser.add_argument("--dropout", type=float, default=0.3)
    parser.add_argument("--split", type=float, default=0.03, help="share of the products held out")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    rng = np.random.default_rng(args.seed)

    with np.load(args.examples) as arrays:
        data = {name: arrays[name] for name in arrays.files}
    bits, labels = data["bits"], data["labels"]
    aside = rng.random(data["products"].max() + 1)[data["products"]] < args.split
    train = np.flatnonzero(~aside)
    policy = Policy(torch.from_numpy(data["counts"]).float(), args.dropout)
    optimizer = torch.optim.Adam(policy.parameters(), args.learning_rate, fused=True)
    total = args.epochs * math.ceil(len(train) / args.batch_size)
    step = 0
    began = time.monotonic()
    for epoch in range(args.epochs):
        rng.shuffle(train)
        loss_total = 0.0
        for start in range(0, len(train), args.batch_size):
            rows = train[start : start + args.batch_size]
            step += 1
            for group in optimizer.param_groups:
                group["lr"] = args.learning_rate * (0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * step / total)))
            with torch.autocast("cpu", torch.bfloat16):
                scores = policy(unpacked(bits[rows]))
            loss = functional.cross_entropy(scores.float(), torch.from_numpy(labels[rows]))
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            loss_total += loss.item() * len(rows)
        split_top = accuracies(policy, bits[aside], labels[aside])
        held_out_top = accuracies(policy, data["held_out_bits"], data["held_out_labels"])
        print(
            f"epoch {epoch + 1}: loss {loss_total / len(train):.3f}, top-1/10/50 of {int(aside.sum())} split "
            f"reactions {split_top}, of {len(data['held_out_labels'])} held-out source reactions {held_out_top}, "
            f"{time.monotonic() - began:.0f} s",
            flush=True,
        )
        args.out.parent.mkdir(parents=True, exist_ok=True)
        save_file({name: value.half().contiguous() for name, value in policy.state_dict().items()}, args.out)


if __name__ == "__main__":
    main()
