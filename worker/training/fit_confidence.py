"""Fits the confidence in a step to the verdicts of strict readers.

    python fit_confidence.py --explain ../../target/release/examples/explain --pack ../models/uspto_retro [read_steps.tsv]

`read_steps.tsv` has the steps of readings of routes by strict readers who did not know the code (`./ops/bench reading` prints them):
sound, doubtful or wrong, with what the engine knew of each. The fifth reading is of steps whose templates were written by hand and have
no recorded product (`nearest` is empty). Two logistic regressions of sound against the others: one on the step's class and the kinds of
its atoms, as `explain` prints them, and one on the first's logit and the evidence of the template. The logits that the second is fitted
to are of regressions without the step's target. Writes the first's weights, times that of its logit, into
`worker/synth/tables/surroundings.tsv`, and prints the others for `worker/synth/src/steps/confidence.rs`. Each later reading is
predicted by the fit of those before it. Plausibilities of later readings are worked back from the confidences that were printed.
"""

import argparse
import csv
import subprocess
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

LEAST_PLAUSIBILITY = 1e-3
LEAST_PROBABILITY = 1e-4
# Of the sum of squares of the weights of kinds, and of those of the evidence.
RIDGE_OF_KINDS = 5.0
RIDGE = 1.0
PARTS = 6
# Readings from this one on are predicted by those before.
FIRST_PREDICTED = 6
# Weights of kinds below it change nothing.
LEAST_WEIGHT = 0.05
ANY = "-"
TABLE = Path(__file__).parents[1] / "synth/tables/surroundings.tsv"

Row = dict[str, str]
Kind = tuple[str, str]


@dataclass
class Steps:
    """Steps with a row of each matrix for each."""

    rows: list[Row]
    kinds: csr_matrix
    evidence: np.ndarray

    def of(self, chosen: np.ndarray) -> "Steps":
        """Gives the chosen steps."""
        return Steps([row for row, wanted in zip(self.rows, chosen, strict=True) if wanted], self.kinds[chosen], self.evidence[chosen])

    @property
    def sound(self) -> np.ndarray:
        """Tells which steps were called sound."""
        return np.array([row["verdict"] == "sound" for row in self.rows])

    @property
    def part(self) -> np.ndarray:
        """Numbers the parts; all steps of a target are in one."""
        return np.array([zlib.crc32(f"{row['reading']} {row['target']}".encode()) % PARTS for row in self.rows])


def explained(explain: Path, pack: Path, rows: list[Row]) -> dict[str, list[Kind]]:
    """Gives what counts of each reaction: its class and the kinds of its atoms, each for any class and for its own.

    Of the templates that propose a reaction the first whose step stands counts, else the first; a reaction that none proposes is left out.
    """
    reactions = "".join(f"{row['reaction']}\n" for row in rows)
    printed = subprocess.run([explain, pack], input=reactions, check=True, stdout=subprocess.PIPE, text=True).stdout
    found: dict[str, list[list[str]]] = {}
    proposals: list[list[str]] = []
    for line in printed.splitlines():
        if line.startswith("  "):
            proposals.append(line.strip().split("\t"))
        else:
            proposals = found.setdefault(line, [])
    kinds: dict[str, list[Kind]] = {}
    for reaction, proposals in found.items():
        if proposals:
            proposal = next((proposal for proposal in proposals if proposal[1] == "stands"), proposals[0])
            of_class, atoms = proposal[4], proposal[7].split(", ")
            kinds[reaction] = [(of_class, ANY), *((ANY, kind) for kind in atoms), *((of_class, kind) for kind in atoms)]
    return kinds


def evidence(row: Row) -> list[float]:
    """Works out the evidence for a step by its template."""
    plausibility = min(max(float(row["plausibility"]), LEAST_PLAUSIBILITY), 1 - LEAST_PLAUSIBILITY)
    probability = max(float(row["probability"]), LEAST_PROBABILITY)
    # Of reactions like those that it learned from the plausibility model knows; of others it knows nothing (see README).
    recorded = [float(np.log(plausibility / (1 - plausibility))), float(row["nearest"]), 0.0] if row["nearest"] else [0.0, 0.0, 1.0]
    return [float(np.log(probability)), float(np.log1p(int(row["recorded"]))), *recorded]


def fit(x: np.ndarray | csr_matrix, sound: np.ndarray, ridge: float) -> np.ndarray:
    """Finds the weights of a regression; the last is the intercept, which has no ridge."""
    sign = np.where(sound, 1.0, -1.0)

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        signed = sign * (x @ weights[:-1] + weights[-1])
        pull = -sign / (1 + np.exp(signed))
        gradient = np.append(x.T @ pull + ridge * weights[:-1], pull.sum())
        return float(np.logaddexp(0.0, -signed).sum() + ridge / 2 * (weights[:-1] ** 2).sum()), gradient

    return np.asarray(minimize(loss, np.zeros(x.shape[1] + 1), jac=True, method="L-BFGS-B", options={"maxiter": 1000}).x)


def logit(x: np.ndarray | csr_matrix, weights: np.ndarray) -> np.ndarray:
    """Gives the logits of a regression."""
    return np.asarray(x @ weights[:-1] + weights[-1])


@dataclass
class Confidence:
    """Weights of both regressions; of the second, the first is that of the logit of the first."""

    of_kinds: np.ndarray
    of_evidence: np.ndarray

    @staticmethod
    def fitted(steps: Steps) -> "Confidence":
        """Fits both regressions."""
        sound, part = steps.sound, steps.part
        left_out = np.zeros(len(sound))
        for one in range(PARTS):
            others = fit(steps.kinds[part != one], sound[part != one], RIDGE_OF_KINDS)
            left_out[part == one] = logit(steps.kinds[part == one], others)
        of_kinds = fit(steps.kinds, sound, RIDGE_OF_KINDS)
        return Confidence(of_kinds, fit(np.column_stack([left_out, steps.evidence]), sound, RIDGE))

    def __call__(self, steps: Steps) -> np.ndarray:
        """Gives the estimated probabilities of sound steps."""
        both = np.column_stack([logit(steps.kinds, self.of_kinds), steps.evidence])
        return np.asarray(1 / (1 + np.exp(-logit(both, self.of_evidence))))


def auc(right: np.ndarray, wrong: np.ndarray) -> float:
    """Gives the probability that a right value is above a wrong one."""
    return float(((right[:, None] > wrong) + 0.5 * (right[:, None] == wrong)).mean())


def report(name: str, steps: Steps, predicted: np.ndarray) -> None:
    """Prints how well the plausibility and the confidence tell sound steps from the others, and the calibration."""
    verdicts = np.array([row["verdict"] for row in steps.rows])
    sound, wrong = verdicts == "sound", verdicts == "wrong"
    print(f"{name}: {len(verdicts)} steps, {sound.sum()} sound, {wrong.sum()} wrong")
    plausibility = np.array([float(row["plausibility"]) for row in steps.rows])
    for kind, values in (("plausibility", plausibility), ("confidence", predicted)):
        figures = auc(values[sound], values[wrong]), auc(values[sound], values[~sound])
        print(f"  {kind}: AUC {figures[0]:.3f} against wrong, {figures[1]:.3f} against wrong and doubtful")
    for least in np.arange(0.0, 1.0, 0.1):
        inside = (predicted >= least) & (predicted < least + 0.1)
        if inside.any():
            print(f"  confidence {least:.1f}-{least + 0.1:.1f}: {inside.sum()} steps, {sound[inside].mean():.2f} sound, {wrong[inside].mean():.2f} wrong")


def write(table: Path, names: list[Kind], weights: np.ndarray) -> None:
    """Writes the weights of kinds."""
    rows = sorted((*name, f"{weight:.2f}") for name, weight in zip(names, weights, strict=True) if abs(weight) >= LEAST_WEIGHT)
    table.write_text("".join("\t".join(row) + "\n" for row in [("class", "kind", "weight"), *rows]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("steps", type=Path, nargs="?", default=Path(__file__).with_name("read_steps.tsv"))
    parser.add_argument("--explain", type=Path, required=True, help="the built example of `worker/synth`")
    parser.add_argument("--pack", type=Path, required=True, help="the model whose templates propose the steps")
    arguments = parser.parse_args()
    with arguments.steps.open(newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    kinds = explained(arguments.explain, arguments.pack, rows)
    rows = [row for row in rows if row["reaction"] in kinds]
    names = sorted({name for row in rows for name in kinds[row["reaction"]]})
    number = {name: at for at, name in enumerate(names)}
    at = [(row, number[name]) for row, it in enumerate(rows) for name in kinds[it["reaction"]]]
    matrix = csr_matrix((np.ones(len(at)), tuple(zip(*at, strict=True))), shape=(len(rows), len(names)))
    steps = Steps(rows, matrix, np.array([evidence(row) for row in rows]))
    reading = np.array([int(row["reading"]) for row in rows])
    for later in range(FIRST_PREDICTED, reading.max() + 1):
        test = steps.of(reading == later)
        report(f"reading {later}", test, Confidence.fitted(steps.of(reading < later))(test))
    confidence = Confidence.fitted(steps)
    share, of_template = confidence.of_evidence[0], confidence.of_evidence[1:]
    of_template[-1] += share * confidence.of_kinds[-1]
    write(TABLE, names, share * confidence.of_kinds[:-1])
    print("weights of the evidence:", ", ".join(f"{weight:.3f}" for weight in of_template))


if __name__ == "__main__":
    main()
