"""Trains the policy network: Morgan fingerprint of the product -> probability of each template.

The decision that matters: a reaction's labels are all the templates that explain it, and the loss is minus the logarithm
of their total probability, so that the network is asked for the recorded precursors and not for the one of several
equivalent templates that the extraction happened to write. The split is by product, so that no molecule of the
held-out reactions was seen, and the products of the `--held-out` sources of prepare_templates.py were never examples
at all. The shape is that of Segler and Waller, Chem. Eur. J. 2017: 2048 bits -> ELU -> templates.
"""

import argparse
import math
import time
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import nn
from torch.nn import functional

import prepare_templates

TOP = (1, 10, 50)


class Policy(nn.Module):
    """Scores every template for a product, from its fingerprint."""

    def __init__(self, counts: torch.Tensor, hidden_size: int, dropout: float) -> None:
        super().__init__()
        self.layer1 = nn.Linear(2048, hidden_size)
        self.layer2 = nn.Linear(hidden_size, len(counts))
        self.dropout = nn.Dropout(dropout)
        with torch.no_grad():
            self.layer1.weight.normal_(std=0.09)
            self.layer1.bias.zero_()
            self.layer2.bias.copy_(torch.log(counts / counts.sum()))

    def forward(self, bits: torch.Tensor) -> torch.Tensor:
        """Maps `[batch, 2048]` fingerprints to `[batch, templates]` logits."""
        return self.layer2(self.dropout(functional.elu(self.layer1(bits))))


class Labels:
    """The templates of every example: those of example i are `rows[starts[i] : starts[i + 1]]`, the extracted one first."""

    def __init__(self, starts: np.ndarray, rows: np.ndarray) -> None:
        self.starts, self.rows = starts.astype(np.int64), rows.astype(np.int64)

    def of(self, examples: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
        """Gives (position in the batch, template) of every label of some examples."""
        counts = self.starts[examples + 1] - self.starts[examples]
        places = np.repeat(np.arange(len(examples)), counts)
        offsets = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        return torch.from_numpy(places), torch.from_numpy(self.rows[np.repeat(self.starts[examples], counts) + offsets])


def unpacked(bits: np.ndarray) -> torch.Tensor:
    """Unpacks `[batch, 256]` bytes into `[batch, 2048]` f32."""
    return torch.from_numpy(np.unpackbits(bits, axis=1)).float()


def negative_log_likelihood(scores: torch.Tensor, places: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    """Gives the mean of minus the logarithm of the labels' total probability."""
    picked = scores[places, rows]
    highest = torch.full((len(scores),), -torch.inf).scatter_reduce(0, places, picked.detach(), "amax")
    total = torch.zeros(len(scores)).index_add(0, places, torch.exp(picked - highest[places]))
    return (torch.logsumexp(scores, 1) - highest - torch.log(total)).mean()


def accuracies(policy: Policy, bits: np.ndarray, labels: Labels, examples: np.ndarray) -> list[float]:
    """Gives the shares of examples one of whose templates is among the first 1, 10 and 50; ties count against it."""
    policy.eval()
    ranks = []
    with torch.no_grad():
        for start in range(0, len(examples), 512):
            batch = examples[start : start + 512]
            with torch.autocast("cpu", torch.bfloat16):
                scores = policy(unpacked(bits[batch])).float()
            places, rows = labels.of(batch)
            best = torch.full((len(batch),), -torch.inf).scatter_reduce(0, places, scores[places, rows], "amax")
            ranks.append((scores >= best[:, None]).sum(1))
    policy.train()
    rank = torch.cat(ranks)
    return [round(float((rank <= k).float().mean()), 4) for k in TOP]


def load_examples(path: Path) -> dict[str, np.ndarray]:
    """Loads the arrays of prepare_templates.py."""
    with np.load(path) as arrays:
        return {name: arrays[name] for name in arrays.files}


def start_from(policy: Policy, path: Path, earlier: list[str] | None = None, library: list[str] | None = None) -> None:
    """Copies what an earlier, perhaps smaller, network knows.

    Its templates are this one's first rows, or are found by their text where both libraries are given; a template it
    did not have starts as unlikely as its unlikeliest.
    """
    found = {name: value.float() for name, value in load_file(path).items()}
    if earlier is not None and library is not None:
        place = {text: row for row, text in enumerate(earlier)}
        rows = torch.tensor([place.get(text, -1) for text in library])
        known = rows >= 0
        found["layer2.weight"] = torch.where(known[:, None], found["layer2.weight"][rows], 0.0)
        found["layer2.bias"] = torch.where(known, found["layer2.bias"][rows], found["layer2.bias"].min())
    with torch.no_grad():
        for name, value in found.items():
            target = policy.state_dict()[name]
            if name == "layer2.weight" and value.shape[1] < target.shape[1]:
                target[: len(value), value.shape[1] :] = 0
            target[tuple(slice(size) for size in value.shape)] = value


def save(policy: Policy, path: Path) -> None:
    """Writes the weights in f32; pack_policy.py makes the shipped file of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    save_file({name: value.contiguous() for name, value in policy.state_dict().items()}, path)


def main() -> None:
    """Trains for `--epochs` and writes the weights after every one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=Path, required=True, help="examples.npz of prepare_templates.py")
    parser.add_argument("--out", type=Path, required=True, help="f32 weights (.safetensors) to write")
    parser.add_argument("--init", type=Path, help="f16 or f32 weights to start from")
    parser.add_argument("--init-library", type=Path, help="templates.csv.gz of those weights, if it is another library")
    parser.add_argument("--library", type=Path, help="templates.csv.gz of this network, with --init-library")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--hidden-size", type=int, default=768)
    parser.add_argument("--batch-size", type=int, default=1024)
    parser.add_argument("--learning-rate", type=float, default=1e-3)
    parser.add_argument("--last-learning-rate", type=float, default=1e-5)
    parser.add_argument("--dropout", type=float, default=0.4)
    parser.add_argument("--split", type=float, default=0.02, help="share of the products held out")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    rng = np.random.default_rng(args.seed)

    data = load_examples(args.examples)
    bits, held_out_bits = data["bits"], data["held_out_bits"]
    labels = Labels(data["starts"], data["labels"])
    held_out = Labels(data["held_out_starts"], data["held_out_labels"])
    # The split hangs on the product alone, so that another run, with more templates, keeps the same products aside.
    aside = data["product_hashes"] % 1000 < args.split * 1000
    train = np.flatnonzero(~aside)
    policy = Policy(torch.from_numpy(data["counts"]).float(), args.hidden_size, args.dropout)
    if args.init:
        libraries = [path and prepare_templates.read_library(path) for path in (args.init_library, args.library)]
        start_from(policy, args.init, *libraries)
    optimizer = torch.optim.Adam(policy.parameters(), args.learning_rate, fused=True)
    total = args.epochs * math.ceil(len(train) / args.batch_size)
    lowest = args.last_learning_rate / args.learning_rate
    step = 0
    began = time.monotonic()
    for epoch in range(args.epochs):
        rng.shuffle(train)
        loss_total = 0.0
        for start in range(0, len(train), args.batch_size):
            rows = train[start : start + args.batch_size]
            step += 1
            for group in optimizer.param_groups:
                group["lr"] = args.learning_rate * (lowest + (1 - lowest) * 0.5 * (1 + math.cos(math.pi * step / total)))
            with torch.autocast("cpu", torch.bfloat16):
                scores = policy(unpacked(bits[rows]))
            loss = negative_log_likelihood(scores.float(), *labels.of(rows))
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            loss_total += loss.item() * len(rows)
        split_top = accuracies(policy, bits, labels, np.flatnonzero(aside))
        held_out_top = accuracies(policy, held_out_bits, held_out, np.arange(len(held_out_bits)))
        print(
            f"epoch {epoch + 1}: loss {loss_total / len(train):.3f}, top-1/10/50 of {int(aside.sum())} split "
            f"reactions {split_top}, of {len(held_out_bits)} held-out source reactions {held_out_top}, "
            f"{time.monotonic() - began:.0f} s",
            flush=True,
        )
        save(policy, args.out)


if __name__ == "__main__":
    main()
