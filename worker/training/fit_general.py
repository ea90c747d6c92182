"""Fits the outputs of the hand-written templates to the reactions they explain; the rest of the network stays.

The decision that matters: general templates are few and come last, so their rows alone are trained, against the fixed
total of all the other outputs. That costs seconds where an epoch of everything costs minutes. A template that explains
nothing keeps a small prior.
"""

import argparse
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch.nn import functional

import train_policy

PRIOR_COUNT = 0.5
SET_ASIDE = 0.1


def total(scores: torch.Tensor, places: torch.Tensor, rows: torch.Tensor, size: int) -> torch.Tensor:
    """Gives log(sum exp) of each example's picked scores, `-inf` (as -1e4) where it has none."""
    picked = scores[places, rows]
    highest = torch.full((size,), -1e4).scatter_reduce(0, places, picked.detach(), "amax")
    summed = torch.zeros(size).index_add(0, places, torch.exp(picked - highest[places]))
    return highest + torch.log(summed.clamp_min(1e-30))


def main() -> None:
    """Writes the weights with new rows for the templates from `--first` on."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=Path, required=True, help="examples.npz of policy_examples.py")
    parser.add_argument("--weights", type=Path, required=True, help="f32 weights of train_policy.py")
    parser.add_argument("--first", type=int, required=True, help="row of the first hand-written template")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--others", type=int, default=20_000, help="examples without a hand-written label to use")
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    data = train_policy.load_examples(args.examples)
    labels = train_policy.Labels(data["starts"], data["labels"])
    owners = np.repeat(np.arange(len(data["bits"])), np.diff(data["starts"]))
    with_general = np.unique(owners[data["labels"] >= args.first])
    without = np.setdiff1d(np.arange(len(data["bits"])), with_general)
    sample = rng.choice(without, min(args.others, len(without)), replace=False)
    chosen = np.concatenate([with_general, sample])
    weight = torch.ones(len(chosen))
    weight[len(with_general) :] = len(without) / len(sample)
    weight /= weight.mean()

    weights = {name: value.float() for name, value in load_file(args.weights).items()}
    fixed, fixed_bias = weights["layer2.weight"][: args.first].bfloat16(), weights["layer2.bias"][: args.first]
    hidden, everything, known = [], [], []
    with torch.no_grad():
        for start in range(0, len(chosen), 1024):
            batch = chosen[start : start + 1024]
            state = functional.elu(
                functional.linear(train_policy.unpacked(data["bits"][batch]), weights["layer1.weight"], weights["layer1.bias"])
            )
            scores = (state.bfloat16() @ fixed.T).float() + fixed_bias
            places, rows = labels.of(batch)
            plain = rows < args.first
            hidden.append(state)
            everything.append(torch.logsumexp(scores, 1))
            known.append(total(scores, places[plain], rows[plain], len(batch)))
    states, fixed_total, fixed_known = torch.cat(hidden), torch.cat(everything), torch.cat(known)

    n_general = len(weights["layer2.bias"]) - args.first
    counts = np.bincount(data["labels"][data["labels"] >= args.first] - args.first, minlength=n_general) + PRIOR_COUNT
    bias = torch.log(torch.from_numpy(counts).float() / len(data["bits"])) + fixed_total.mean()
    bias.requires_grad_()
    rows_weight = torch.zeros(n_general, states.shape[1], requires_grad=True)
    optimizer = torch.optim.AdamW([rows_weight, bias], 2e-3, weight_decay=0.05)
    aside = rng.random(len(chosen)) < SET_ASIDE
    train, test = np.flatnonzero(~aside), np.flatnonzero(aside)

    def losses(batch: np.ndarray, dropout: float) -> torch.Tensor:
        scores = functional.linear(functional.dropout(states[batch], dropout), rows_weight, bias)
        places, rows = labels.of(chosen[batch])
        general = rows >= args.first
        mine = total(scores, places[general], rows[general] - args.first, len(batch))
        best = torch.logaddexp(fixed_known[batch], mine)
        return (torch.logaddexp(fixed_total[batch], torch.logsumexp(scores, 1)) - best) * weight[batch]

    for epoch in range(args.epochs):
        rng.shuffle(train)
        for group in optimizer.param_groups:
            group["lr"] = 2e-3 * (1 - epoch / args.epochs)
        for start in range(0, len(train), 512):
            optimizer.zero_grad()
            losses(train[start : start + 512], 0.3).mean().backward()
            optimizer.step()
        with torch.no_grad():
            print(f"epoch {epoch + 1}: loss of examples set aside {losses(test, 0.0).mean():.4f}", flush=True)
    weights["layer2.weight"][args.first :] = rows_weight.detach()
    weights["layer2.bias"][args.first :] = bias.detach()
    save_file(weights, args.out)
    print(f"{len(with_general)} examples with a hand-written label, {int((counts > PRIOR_COUNT).sum())} of {n_general} rows seen")


if __name__ == "__main__":
    main()
