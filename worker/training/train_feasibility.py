"""Trains the feasibility filter: product and reaction difference fingerprints -> probability that the reaction works.

The decision that matters: everything is held out by template. A template's reactions and its negatives are all in the
training part, all in the calibration part or all in the test part, so that the figures say what the filter makes of
chemistry it has not seen. Two towers meet in a scalar product, which keeps a prediction at microseconds.
The shape is that of the in-scope filter of Segler, Preuss and Waller, Nature 2018.
"""

import argparse
import json
import math
import time
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file
from torch import nn
from torch.nn import functional

from feasibility_examples import KINDS

KIND_WEIGHTS = (1.0, 1.0, 0.5, 0.4)
BINS = 15
FOLDS, CALIBRATION_FOLD, TEST_FOLD = 10, 1, 0
LOSSES = (0.01, 0.02, 0.03, 0.05)


class Feasibility(nn.Module):
    """Scores reactions; the logit is not calibrated."""

    def __init__(self, hidden_size: int, dropout: float) -> None:
        super().__init__()
        self.product = nn.Linear(2048, hidden_size)
        self.reaction = nn.Linear(2048, hidden_size)
        self.dropout = nn.Dropout(dropout)
        for tower in (self.product, self.reaction):
            nn.init.normal_(tower.weight, std=0.08)
            nn.init.zeros_(tower.bias)

    def forward(self, product: torch.Tensor, difference: torch.Tensor) -> torch.Tensor:
        """Maps two `[batch, 2048]` inputs to `[batch]` logits."""
        left = self.dropout(functional.elu(self.product(product)))
        right = functional.elu(self.reaction(difference))
        return (left * right).sum(1).float() / math.sqrt(left.shape[1])


def inputs(products: np.ndarray, precursors: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
    """Unpacks bits; the difference is +1 for bits of the product alone, -1 for bits of the precursors alone."""
    product = np.unpackbits(products, axis=1).astype(np.float32)
    return torch.from_numpy(product), torch.from_numpy(product - np.unpackbits(precursors, axis=1))


def auc(positive: np.ndarray, negative: np.ndarray) -> float:
    """Gives the share of (positive, negative) pairs in the right order; ties count half."""
    ordered = np.sort(negative)
    below = np.searchsorted(ordered, positive, "left") + np.searchsorted(ordered, positive, "right")
    return float(below.mean() / 2 / len(negative))


def average_precision(scores: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> float:
    """Gives the area under the precision-recall curve, weighted."""
    order = np.argsort(-scores, kind="stable")
    hits = np.cumsum((weights * labels)[order])
    precision = hits / np.cumsum(weights[order])
    return float((precision * (weights * labels)[order]).sum() / hits[-1])


def calibration_curve(probability: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> list[tuple[float, float, float]]:
    """Lists (mean probability, share feasible, share of the weight) of equal-width bins that are not empty."""
    which = np.minimum((probability * BINS).astype(int), BINS - 1)
    curve = []
    for index in range(BINS):
        inside = which == index
        total = weights[inside].sum()
        if total > 0:
            mean, share = ((weights[inside] * values[inside]).sum() / total for values in (probability, labels))
            curve.append((float(mean), float(share), float(total / weights.sum())))
    return curve


def expected_calibration_error(probability: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> float:
    """Gives the mean distance of the calibration curve from the diagonal."""
    return sum(abs(mean - share) * part for mean, share, part in calibration_curve(probability, labels, weights))


def sigmoid(values: np.ndarray) -> np.ndarray:
    """Gives 1 / (1 + exp(-x)) without overflow."""
    return 0.5 * (1 + np.tanh(0.5 * values))


def platt(logits: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """Fits a and b of sigmoid(a z + b) by Newton's method on the weighted log likelihood."""
    parameters = np.array([1.0, 0.0])
    design = np.stack([logits, np.ones_like(logits)], 1)
    for _ in range(50):
        probability = sigmoid(design @ parameters)
        gradient = design.T @ (weights * (probability - labels))
        curvature = (design * (weights * probability * (1 - probability))[:, None]).T @ design
        step = np.linalg.solve(curvature + 1e-9 * np.eye(2), gradient)
        parameters -= step
        if np.abs(step).max() < 1e-9:
            break
    return float(parameters[0]), float(parameters[1])


def balanced(kinds: np.ndarray) -> np.ndarray:
    """Gives every example its kind's weight, negatives scaled so that they weigh as much as positives."""
    weights = np.array(KIND_WEIGHTS)[kinds]
    positive = kinds == 0
    weights[~positive] *= weights[positive].sum() / max(weights[~positive].sum(), 1e-9)
    return weights


@torch.no_grad()
def predict(model: Feasibility, data: dict[str, np.ndarray], rows: np.ndarray) -> np.ndarray:
    """Gives the logits of some rows."""
    model.eval()
    parts = [rows[start : start + 2048] for start in range(0, len(rows), 2048)]
    logits = [model(*inputs(data["products"][part], data["precursors"][part])) for part in parts]
    model.train()
    return torch.cat(logits).double().numpy()


def rejections(logits: np.ndarray, kinds: np.ndarray, probability: np.ndarray) -> list[dict]:
    """Says, for some losses of true reactions, the threshold and the share of each kind of negative refused."""
    found = []
    for loss in LOSSES:
        threshold = float(np.quantile(probability[kinds == 0], loss))
        refused = {
            name: round(float((probability[kinds == kind] < threshold).mean()), 4)
            for kind, name in enumerate(KINDS)
            if kind and (kinds == kind).any()
        }
        found.append({"recorded_lost": loss, "threshold": round(threshold, 4), "refused": refused})
    return found


def report(logits: np.ndarray, kinds: np.ndarray, scale: tuple[float, float]) -> dict:
    """Gives every figure of one part of the data."""
    labels = (kinds == 0).astype(float)
    weights = balanced(kinds)
    before, after = sigmoid(logits), sigmoid(scale[0] * logits + scale[1])
    by_kind = {
        name: round(auc(logits[kinds == 0], logits[kinds == kind]), 4)
        for kind, name in enumerate(KINDS)
        if kind and (kinds == kind).any()
    }
    return {
        "examples": {name: int((kinds == kind).sum()) for kind, name in enumerate(KINDS)},
        "auc": round(auc(logits[kinds == 0], logits[kinds != 0]), 4),
        "auc_by_kind": by_kind,
        "average_precision": round(average_precision(logits, labels, weights), 4),
        "calibration_error_before": round(expected_calibration_error(before, labels, weights), 4),
        "calibration_error": round(expected_calibration_error(after, labels, weights), 4),
        "calibration_curve": [[round(value, 3) for value in point] for point in calibration_curve(after, labels, weights)],
        "rejection": rejections(logits, kinds, after),
    }


def main() -> None:
    """Trains, calibrates, tests, and writes f16 weights and the figures beside them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=Path, nargs="+", required=True, help="files of feasibility_examples.py")
    parser.add_argument("--out", type=Path, required=True, help="feasibility.safetensors to write; figures go to .json")
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--hidden-size", type=int, default=512)
    parser.add_argument("--batch-size", type=int, default=1024)
    parser.add_argument("--learning-rate", type=float, default=1e-3)
    parser.add_argument("--weight-decay", type=float, default=0.01)
    parser.add_argument("--dropout", type=float, default=0.3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    rng = np.random.default_rng(args.seed)

    files = [np.load(path) for path in args.examples]
    data = {name: np.concatenate([arrays[name] for arrays in files]) for name in files[0].files}
    kinds = data["kinds"]
    fold = data["groups"] % FOLDS
    parts = {"calibration": np.flatnonzero(fold == CALIBRATION_FOLD), "test": np.flatnonzero(fold == TEST_FOLD)}
    train = np.flatnonzero((fold != CALIBRATION_FOLD) & (fold != TEST_FOLD))
    weights = np.zeros(len(kinds))
    weights[train] = balanced(kinds[train])
    weights /= weights[train].mean()

    model = Feasibility(args.hidden_size, args.dropout)
    optimizer = torch.optim.AdamW(
        model.parameters(), args.learning_rate, weight_decay=args.weight_decay, fused=True
    )
    total = args.epochs * math.ceil(len(train) / args.batch_size)
    step, began = 0, time.monotonic()
    for epoch in range(args.epochs):
        rng.shuffle(train)
        losses = 0.0
        for start in range(0, len(train), args.batch_size):
            rows = train[start : start + args.batch_size]
            step += 1
            for group in optimizer.param_groups:
                group["lr"] = args.learning_rate * (0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * step / total)))
            with torch.autocast("cpu", torch.bfloat16):
                logits = model(*inputs(data["products"][rows], data["precursors"][rows]))
            wanted = torch.from_numpy((kinds[rows] == 0).astype(np.float32))
            weight = torch.from_numpy(weights[rows].astype(np.float32))
            loss = functional.binary_cross_entropy_with_logits(logits.float(), wanted, weight)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            losses += loss.item() * len(rows)
        logits_now = predict(model, data, parts["calibration"])
        here = kinds[parts["calibration"]]
        print(
            f"epoch {epoch + 1}: loss {losses / len(train):.4f}, calibration part: AUC "
            f"{auc(logits_now[here == 0], logits_now[here != 0]):.4f}, {time.monotonic() - began:.0f} s",
            flush=True,
        )
    tensors = {name: value.detach().half().contiguous() for name, value in model.state_dict().items()}
    model.load_state_dict({name: value.float() for name, value in tensors.items()})
    aside = parts["calibration"]
    scale = platt(
        predict(model, data, aside), (kinds[aside] == 0).astype(float), balanced(kinds[aside])
    )
    figures = {
        "train_examples": {name: int((kinds[train] == kind).sum()) for kind, name in enumerate(KINDS)},
        "test": report(predict(model, data, parts["test"]), kinds[parts["test"]], scale),
    }
    tensors["calibration"] = torch.tensor(scale, dtype=torch.float32)
    args.out.parent.mkdir(parents=True, exist_ok=True)
    save_file(tensors, args.out)
    args.out.chmod(0o644)
    args.out.with_suffix(".json").write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    print(json.dumps({"calibration": scale, **figures}))


if __name__ == "__main__":
    main()
