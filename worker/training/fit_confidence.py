"""Fits the confidence in a step to the verdicts of strict readers, and prints the weights for `worker/synth/src/steps/confidence.rs`.

    python fit_confidence.py [read_steps.tsv]

`read_steps.tsv` has the steps of four readings of routes by strict readers who did not know the code (`./ops/bench reading` prints
them): sound, doubtful or wrong, with what the engine knew of each. The model is a logistic regression of sound against the others, with
a small ridge, on the first two readings. All steps of a target are left out together when a step of them is predicted; the later readings,
of other targets, are predicted by the whole fit. Their plausibilities are worked back from the confidences that were printed.
"""

import argparse
import csv
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

LEAST_PLAUSIBILITY = 1e-3
LEAST_PROBABILITY = 1e-4
RIDGE = 1.0
PARTS = 12
# Later readings are of routes that this confidence ranked.
LAST_FITTED = 2


def features(row: dict[str, str]) -> list[float]:
    """Works out the features of a step: the intercept's 1 comes last."""
    plausibility = min(max(float(row["plausibility"]), LEAST_PLAUSIBILITY), 1 - LEAST_PLAUSIBILITY)
    probability = max(float(row["probability"]), LEAST_PROBABILITY)
    evidence = [float(np.log1p(int(row["recorded"]))), float(row["nearest"])]
    return [float(np.log(plausibility / (1 - plausibility))), float(np.log(probability)), *evidence, 1.0]


def fit(x: np.ndarray, sound: np.ndarray) -> np.ndarray:
    """Finds the weights of the regression; the intercept has no ridge."""

    def loss(weights: np.ndarray) -> float:
        signed = np.where(sound, 1.0, -1.0) * (x @ weights)
        return float(np.logaddexp(0.0, -signed).sum() + RIDGE / 2 * (weights[:-1] ** 2).sum())

    return np.asarray(minimize(loss, np.zeros(x.shape[1]), method="BFGS").x)


def auc(right: np.ndarray, wrong: np.ndarray) -> float:
    """Gives the probability that a right value is above a wrong one."""
    return float(((right[:, None] > wrong) + 0.5 * (right[:, None] == wrong)).mean())


def confidence(x: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Gives the estimated probabilities of sound steps."""
    return np.asarray(1 / (1 + np.exp(-(x @ weights))))


def report(name: str, rows: list[dict[str, str]], plausibility: np.ndarray, predicted: np.ndarray) -> None:
    """Prints how well both values tell sound steps from the others, and the calibration."""
    verdicts = np.array([row["verdict"] for row in rows])
    sound, wrong = verdicts == "sound", verdicts == "wrong"
    print(f"{name}: {len(rows)} steps, {sound.sum()} sound, {wrong.sum()} wrong")
    for kind, values in (("plausibility", plausibility), ("confidence", predicted)):
        figures = auc(values[sound], values[wrong]), auc(values[sound], values[~sound])
        print(f"  {kind}: AUC {figures[0]:.3f} against wrong, {figures[1]:.3f} against wrong and doubtful")
    for least in np.arange(0.0, 1.0, 0.1):
        inside = (predicted >= least) & (predicted < least + 0.1)
        if inside.any():
            print(f"  confidence {least:.1f}-{least + 0.1:.1f}: {inside.sum()} steps, {sound[inside].mean():.2f} sound, {wrong[inside].mean():.2f} wrong")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("steps", type=Path, nargs="?", default=Path(__file__).with_name("read_steps.tsv"))
    with parser.parse_args().steps.open(newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    fitted = [row for row in rows if int(row["reading"]) <= LAST_FITTED]
    x, sound = np.array([features(row) for row in fitted]), np.array([row["verdict"] == "sound" for row in fitted])
    part = np.array([int(row["target"]) % PARTS for row in fitted])
    predicted = np.zeros(len(fitted))
    for left_out in range(PARTS):
        weights = fit(x[part != left_out], sound[part != left_out])
        predicted[part == left_out] = confidence(x[part == left_out], weights)
    report(f"readings 1 to {LAST_FITTED}, targets left out", fitted, x[:, 0], predicted)
    weights = fit(x, sound)
    for reading in sorted({int(row["reading"]) for row in rows} - set(range(LAST_FITTED + 1))):
        later = [row for row in rows if int(row["reading"]) == reading]
        x = np.array([features(row) for row in later])
        report(f"reading {reading}", later, x[:, 0], confidence(x, weights))
    print("weights:", ", ".join(f"{weight:.3f}" for weight in weights))


if __name__ == "__main__":
    main()
