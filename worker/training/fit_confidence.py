"""Fits the confidence in a step to the verdicts of strict readers, and prints the weights for `worker/synth/src/steps/confidence.rs`.

    python fit_confidence.py [read_steps.tsv]

`read_steps.tsv` has the steps of eight readings of routes by strict readers who did not know the code (`./ops/bench reading` prints
them): sound, doubtful or wrong, with what the engine knew of each. A fifth is of steps whose templates were written by hand and have no
recorded product (`nearest` is empty). The model is a logistic regression of sound against the others, with a small ridge, on the first
two readings and the fifth. All steps of a target are left out together when a step of them is predicted; the other readings,
of other targets, are predicted by the whole fit. Plausibilities of later readings are worked back from the confidences that were printed.
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
# The others are of routes that a confidence ranked: they tell how good it is.
FITTED = {1, 2, 5}


def features(row: dict[str, str]) -> list[float]:
    """Works out the features of a step: the intercept's 1 comes last."""
    plausibility = min(max(float(row["plausibility"]), LEAST_PLAUSIBILITY), 1 - LEAST_PLAUSIBILITY)
    probability = max(float(row["probability"]), LEAST_PROBABILITY)
    # Of reactions like those that it learned from the plausibility model knows; of others it knows nothing (see README).
    evidence = [float(np.log(plausibility / (1 - plausibility))), float(row["nearest"]), 0.0] if row["nearest"] else [0.0, 0.0, 1.0]
    return [float(np.log(probability)), float(np.log1p(int(row["recorded"]))), *evidence, 1.0]


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


def plausibilities(rows: list[dict[str, str]]) -> np.ndarray:
    """Gives what the plausibility model alone says."""
    return np.array([float(row["plausibility"]) for row in rows])


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
    fitted = [row for row in rows if int(row["reading"]) in FITTED]
    x, sound = np.array([features(row) for row in fitted]), np.array([row["verdict"] == "sound" for row in fitted])
    part = np.array([int(row["target"]) % PARTS for row in fitted])
    predicted = np.zeros(len(fitted))
    for left_out in range(PARTS):
        weights = fit(x[part != left_out], sound[part != left_out])
        predicted[part == left_out] = confidence(x[part == left_out], weights)
    report("readings 1, 2 and 5, targets left out", fitted, plausibilities(fitted), predicted)
    weights = fit(x, sound)
    for reading in sorted({int(row["reading"]) for row in rows} - FITTED):
        later = [row for row in rows if int(row["reading"]) == reading]
        x = np.array([features(row) for row in later])
        report(f"reading {reading}", later, plausibilities(later), confidence(x, weights))
    print("weights:", ", ".join(f"{weight:.3f}" for weight in weights))


if __name__ == "__main__":
    main()
