"""Trains the forward judge: what of all that a flask could give is what it gives.

The decision that matters: everything is held out by template. A change's class (what changes, and the neighbours) says in
which tenth it is: flasks whose recorded change is of the calibration or the test tenth are kept aside, and changes of those classes
are no rivals in training either, so that the figures say what the judge makes of chemistry it has not seen.

The network adds up an embedding of each feature of a change and gives it a score. In a flask the scores of all changes and a zero, which
stands for nothing happening, share a softmax; each score alone is a log-odds as well, so that an outcome without rivals can be
improbable. Both are calibrated: `alone` on the score, `among` on the score and its lead over its rivals.
"""

import argparse
import json
import math
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from safetensors.numpy import load_file
from safetensors.torch import save_file
from torch import nn
from torch.nn import functional

BUCKETS = 1 << 16
ZERO = 128
FOLDS, CALIBRATION_FOLD, TEST_FOLD = 10, 1, 0
BINS = 10
LOSSES = (0.002, 0.005, 0.01, 0.02, 0.05)
RESAMPLES = 1000
# Places, from the end of a change's features, of those that speak of the change as a whole (`tell_whole` of `chem::change`).
KIND, WHOLE = 7, (3, 6, 7)


class Flasks(NamedTuple):
    """Flasks with their changes, the recorded one first; `starts` of features by change, `flasks` of changes by flask."""

    flasks: np.ndarray
    changes: np.ndarray
    features: np.ndarray
    classes: np.ndarray

    def folds(self) -> np.ndarray:
        """Gives the tenth of each change."""
        return ((self.classes.view(np.uint64) >> np.uint64(7)) % np.uint64(FOLDS)).astype(np.int64)


class Batch(NamedTuple):
    """Some flasks: features `[n]`, where those of each change start, which of them speak of the whole change; of each change the
    flask, its place in it, and whether it is the recorded reaction at another site.
    """

    features: torch.Tensor
    starts: torch.Tensor
    whole: torch.Tensor
    flask: torch.Tensor
    place: torch.Tensor
    like: torch.Tensor
    size: int


class Plausibility(nn.Module):
    """Scores changes; the score is a log-odds against nothing happening, not calibrated."""

    def __init__(self, width: int, hidden: int, dropout: float) -> None:
        super().__init__()
        self.embedding = nn.Embedding(BUCKETS, width)
        self.bias = nn.Parameter(torch.zeros(width))
        self.hidden = nn.Linear(width, hidden)
        self.score = nn.Linear(hidden, 1)
        self.dropout = dropout
        nn.init.normal_(self.embedding.weight, std=0.05)

    def forward(self, features: torch.Tensor, starts: torch.Tensor, whole: torch.Tensor | None = None) -> torch.Tensor:
        """Maps features `[n]` of changes that start at `[changes]` to scores `[changes]`."""
        kept = None
        if self.training and self.dropout:
            kept = (torch.rand(len(features)) >= self.dropout).float() / (1 - self.dropout)
            if whole is not None:
                # What is known of a whole change is no help with another.
                kept[whole] *= (torch.rand(whole.shape) < 0.5).float()
        summed = functional.embedding_bag(features, self.embedding.weight, starts, mode="sum", per_sample_weights=kept)
        first = functional.relu(summed + self.bias)
        first = functional.dropout(first, self.dropout, self.training)
        return self.score(functional.relu(self.hidden(first))).squeeze(1)


def read(paths: list[Path]) -> Flasks:
    """Puts the files of the `flasks` example together."""
    parts = [load_file(path) for path in paths]
    joined = {}
    for name, counted in (("flasks", "classes"), ("changes", "features")):
        offset, starts = 0, []
        for part in parts:
            starts.append(part[name][:-1].astype(np.int64) + offset)
            offset += len(part[counted])
        joined[name] = np.concatenate([*starts, [offset]])
    joined |= {name: np.concatenate([part[name] for part in parts]) for name in ("features", "classes")}
    return Flasks(**joined)


def batch(data: Flasks, flasks: np.ndarray, kept: np.ndarray) -> Batch:
    """Gathers flasks with those of their changes that are `kept`."""
    first, last = data.flasks[flasks], data.flasks[flasks + 1]
    rows = np.concatenate([np.arange(a, b) for a, b in zip(first, last, strict=True)])
    flask = np.repeat(np.arange(len(flasks)), last - first)
    here = kept[rows]
    rows, flask = rows[here], flask[here]
    sizes = np.bincount(flask, minlength=len(flasks))
    place = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    begin, end = data.changes[rows], data.changes[rows + 1]
    lengths = end - begin
    starts = np.cumsum(lengths) - lengths
    where = np.arange(lengths.sum()) + np.repeat(begin - starts, lengths)
    ends = starts + lengths
    kind = data.features[end - KIND]
    recorded = np.zeros(len(flasks), kind.dtype)
    recorded[flask[place == 0]] = kind[place == 0]
    like = (kind == recorded[flask]) & (place > 0)
    whole = (ends[:, None] - np.array(WHOLE)).ravel()
    arrays = data.features[where].astype(np.int64), starts, whole, flask, place, like
    return Batch(*(torch.from_numpy(array) for array in arrays), len(flasks))


def losses(scores: torch.Tensor, part: Batch, alone: float) -> torch.Tensor:
    """Gives the softmax loss of the recorded changes, `alone` times the log loss of each change by itself, and the loss of each pair
    of the recorded change and the same at another site.
    """
    table = scores.new_full((part.size, int(part.place.max()) + 1), -math.inf)
    table = table.index_put((part.flask, part.place), scores)
    recorded = table[:, 0]
    together = torch.cat([table, scores.new_zeros(part.size, 1)], 1)
    among = (torch.logsumexp(together, 1) - recorded).mean()
    is_rival = part.place > 0
    rivals = torch.bincount(part.flask[is_rival], minlength=part.size).clamp(min=1)
    by_itself = functional.softplus(-recorded).mean()
    others = (functional.softplus(scores[is_rival]) / rivals[part.flask[is_rival]].sqrt()).sum() / part.size
    elsewhere = functional.softplus(scores[part.like] - recorded[part.flask[part.like]]).sum() / part.size
    return among + alone * (by_itself + others) + elsewhere


class ScoredChanges(NamedTuple):
    """Changes of some flasks: score, lead over the rivals and nothing, whether recorded, the flask, whether the recorded elsewhere."""

    score: np.ndarray
    lead: np.ndarray
    recorded: np.ndarray
    flask: np.ndarray
    like: np.ndarray

    def weights(self) -> np.ndarray:
        """Gives recorded changes and rivals equal weight in all, whatever their number."""
        return np.where(self.recorded, 0.5 / self.recorded.sum(), 0.5 / max((~self.recorded).sum(), 1))


@torch.no_grad()
def score_changes(model: Plausibility, data: Flasks, flasks: np.ndarray) -> ScoredChanges:
    """Scores every change of the flasks."""
    model.eval()
    everything = np.ones(len(data.classes), bool)
    parts = []
    for start in range(0, len(flasks), 256):
        part = batch(data, flasks[start : start + 256], everything)
        scores = model(part.features, part.starts).double()
        table = scores.new_full((part.size, int(part.place.max()) + 2), -math.inf)
        table[part.flask, part.place] = scores
        table[:, -1] = 0.0
        exponents = table.exp()
        rest = (exponents.sum(1)[part.flask] - scores.exp()).clamp(min=1.0)
        lead = (scores - rest.log()).numpy()
        parts.append((scores.numpy(), lead, (part.place == 0).numpy(), part.flask.numpy() + start, part.like.numpy()))
    model.train()
    return ScoredChanges(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def auc(positive: np.ndarray, negative: np.ndarray) -> float:
    """Gives the share of (positive, negative) pairs in the right order; ties count half."""
    ordered = np.sort(negative)
    below = np.searchsorted(ordered, positive, "left") + np.searchsorted(ordered, positive, "right")
    return float(below.mean() / 2 / len(negative))


def within(scored: ScoredChanges, value: np.ndarray) -> np.ndarray:
    """Gives for each flask with rivals the share of them that the recorded change stands before."""
    flasks = scored.flask.max() + 1
    recorded = np.zeros(flasks)
    recorded[scored.flask[scored.recorded]] = value[scored.recorded]
    rivals = ~scored.recorded
    flask = scored.flask[rivals]
    difference = recorded[flask] - value[rivals]
    won = np.bincount(flask, (difference > 0) + 0.5 * (difference == 0), minlength=flasks)
    count = np.bincount(flask, minlength=flasks)
    return won[count > 0] / count[count > 0]


def interval(scored: ScoredChanges, value: np.ndarray, rng: np.random.Generator) -> list[float]:
    """Gives the 95 % interval of the AUC over all flasks, by drawing flasks anew."""
    flasks = scored.flask.max() + 1
    order = np.argsort(value, kind="stable")
    flask, recorded = scored.flask[order], scored.recorded[order]
    drawn = []
    for _ in range(RESAMPLES):
        weight = rng.multinomial(flasks, np.full(flasks, 1 / flasks))[flask].astype(float)
        rivals = np.cumsum(weight * ~recorded)
        drawn.append(float((weight * recorded * rivals).sum() / ((weight * recorded).sum() * rivals[-1])))
    return [round(float(bound), 4) for bound in np.quantile(drawn, [0.025, 0.975])]


def sigmoid(values: np.ndarray) -> np.ndarray:
    """Gives 1 / (1 + exp(-x)) without overflow."""
    return 0.5 * (1 + np.tanh(0.5 * values))


def logistic(inputs: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Fits sigmoid(inputs w + b) by Newton's method on the weighted log likelihood; gives w and b."""
    design = np.concatenate([inputs, np.ones((len(inputs), 1))], 1)
    weights = weights * len(weights)
    parameters = np.zeros(design.shape[1])
    for _ in range(100):
        probability = sigmoid(design @ parameters)
        gradient = design.T @ (weights * (probability - labels))
        curvature = (design * (weights * probability * (1 - probability))[:, None]).T @ design
        step = np.linalg.solve(curvature + 1e-6 * np.eye(len(parameters)), gradient)
        parameters -= step
        if np.abs(step).max() < 1e-9:
            break
    return parameters


def reliability(probability: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> list[tuple[float, float, float]]:
    """Lists (mean probability, share recorded, share of the weight) of equal-width bins that are not empty."""
    which = np.minimum((probability * BINS).astype(int), BINS - 1)
    curve = []
    for index in range(BINS):
        inside = which == index
        total = weights[inside].sum()
        if total > 0:
            mean, share = ((weights[inside] * values[inside]).sum() / total for values in (probability, labels))
            curve.append((float(mean), float(share), float(total / weights.sum())))
    return curve


def report(scored: ScoredChanges, probability: np.ndarray, seed: int) -> dict:
    """Gives every figure of one way to judge."""
    labels, weights = scored.recorded.astype(float), scored.weights()
    curve = reliability(probability, labels, weights)
    recorded, rivals = probability[scored.recorded], probability[~scored.recorded]
    order = within(scored, probability)
    with_like = np.isin(scored.flask, scored.flask[scored.like])
    sites = ScoredChanges(*(column[with_like & (scored.recorded | scored.like)] for column in scored))
    return {
        "flasks": int(scored.recorded.sum()),
        "rivals": int((~scored.recorded).sum()),
        "auc": round(auc(recorded, rivals), 4),
        "auc_interval": interval(scored, probability, np.random.default_rng(seed)),
        "auc_within_flasks": round(float(order.mean()), 4),
        "first_in_flask": round(float((order == 1).mean()), 4),
        "same_at_other_sites": {
            "flasks": int(sites.recorded.sum()),
            "rivals": int(sites.like.sum()),
            "within_flasks": round(float(within(sites, probability[with_like & (scored.recorded | scored.like)]).mean()), 4),
        },
        "calibration_error": round(sum(abs(mean - share) * part for mean, share, part in curve), 4),
        "calibration_curve": [[round(value, 3) for value in point] for point in curve],
        "refused": [
            {"recorded_lost": loss, "threshold": round(float(np.quantile(recorded, loss)), 5), "rivals": round(float((rivals < np.quantile(recorded, loss)).mean()), 4)}
            for loss in LOSSES
        ],
    }


def quantised(weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Rounds rows to bytes around `ZERO`; gives them and the scale of each row."""
    scale = weight.abs().amax(1).clamp(min=1e-8) / 127
    return (weight / scale[:, None]).round().add(ZERO).to(torch.uint8), scale


def main() -> None:
    """Trains, rounds, calibrates, tests, and writes weights and the figures beside them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=Path, nargs="+", required=True, help="files of the `flasks` example of `synth`")
    parser.add_argument("--out", type=Path, required=True, help="plausibility.safetensors to write; figures go to .json")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--hidden", type=int, default=64)
    parser.add_argument("--batch-size", type=int, default=128)
    parser.add_argument("--learning-rate", type=float, default=2e-3)
    parser.add_argument("--weight-decay", type=float, default=0.02)
    parser.add_argument("--dropout", type=float, default=0.3)
    parser.add_argument("--alone", type=float, default=0.5, help="weight of the loss of each change by itself")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    rng = np.random.default_rng(args.seed)

    data = read(args.examples)
    fold = data.folds()
    of_flask = fold[data.flasks[:-1]]
    aside, test = np.flatnonzero(of_flask == CALIBRATION_FOLD), np.flatnonzero(of_flask == TEST_FOLD)
    train = np.flatnonzero((of_flask != CALIBRATION_FOLD) & (of_flask != TEST_FOLD))
    kept = (fold != CALIBRATION_FOLD) & (fold != TEST_FOLD)

    model = Plausibility(args.width, args.hidden, args.dropout)
    decayed = [model.embedding.weight, model.hidden.weight, model.score.weight]
    rest = [model.bias, model.hidden.bias, model.score.bias]
    groups = [{"params": decayed, "weight_decay": args.weight_decay}, {"params": rest, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, args.learning_rate, fused=True)
    total = args.epochs * math.ceil(len(train) / args.batch_size)
    step, began = 0, time.monotonic()
    for epoch in range(args.epochs):
        rng.shuffle(train)
        sum_of_losses = 0.0
        for start in range(0, len(train), args.batch_size):
            rows = train[start : start + args.batch_size]
            step += 1
            for group in optimizer.param_groups:
                group["lr"] = args.learning_rate * (0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * step / total)))
            part = batch(data, rows, kept)
            loss = losses(model(part.features, part.starts, part.whole), part, args.alone)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            sum_of_losses += loss.item() * len(rows)
        scored = score_changes(model, data, aside)
        first = within(scored, scored.score)
        print(
            f"epoch {epoch + 1}: loss {sum_of_losses / len(train):.4f}, calibration part: AUC "
            f"{auc(scored.lead[scored.recorded], scored.lead[~scored.recorded]):.4f} (alone "
            f"{auc(scored.score[scored.recorded], scored.score[~scored.recorded]):.4f}), within flasks {first.mean():.4f}, "
            f"{time.monotonic() - began:.0f} s",
            flush=True,
        )

    rounded, scale = quantised(model.embedding.weight.detach())
    with torch.no_grad():
        model.embedding.weight.copy_((rounded.float() - ZERO) * scale[:, None])
    scored = score_changes(model, data, aside)
    labels, weights = scored.recorded.astype(float), scored.weights()
    alone = logistic(scored.score[:, None], labels, weights)
    among = logistic(np.stack([scored.score, scored.lead], 1), labels, weights)
    scored = score_changes(model, data, test)
    figures = {
        "train_flasks": len(train),
        "calibration_flasks": len(aside),
        "test": {
            "among_rivals": report(scored, sigmoid(np.stack([scored.score, scored.lead], 1) @ among[:2] + among[2]), args.seed),
            "alone": report(scored, sigmoid(scored.score * alone[0] + alone[1]), args.seed),
        },
    }
    tensors = {
        "embedding.weight": rounded,
        "embedding.scale": scale,
        "bias": model.bias.detach(),
        "hidden.weight": model.hidden.weight.detach(),
        "hidden.bias": model.hidden.bias.detach(),
        "score.weight": model.score.weight.detach(),
        "score.bias": model.score.bias.detach(),
        "alone": torch.tensor(alone, dtype=torch.float32),
        "among": torch.tensor(among, dtype=torch.float32),
    }
    args.out.parent.mkdir(parents=True, exist_ok=True)
    save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, args.out)
    args.out.chmod(0o644)
    args.out.with_suffix(".json").write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    print(json.dumps({"alone": alone.tolist(), "among": among.tolist(), **figures}))


if __name__ == "__main__":
    main()
