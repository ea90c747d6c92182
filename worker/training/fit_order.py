"""Fits the order of precursor sets to recorded reactions, and prints the weights for `worker/synth/src/steps/order.rs`.

    python fit_order.py SETS

`SETS` is what `single_step` writes of reactions that the pack never saw: for each of the fifty most probable sets of a product, whether
the reaction is recorded with it, and the features. The model is a conditional logit (McFadden 1974): the log-odds that the
recorded set is chosen among those of its product. Each fifth of the reactions is predicted by a fit of the others.
"""

import argparse
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

FEATURES = ("probability", "records", "sound", "reactions", "unrecorded", "environment")
RIDGE = 1e-3
PARTS = 5
TOP = (1, 3, 5, 10, 20, 50)


class Choices:
    """Sets of precursors by product, one of each product recorded."""

    def __init__(self, product: np.ndarray, recorded: np.ndarray, features: np.ndarray) -> None:
        self.product, self.recorded, self.features = product, recorded, features

    @classmethod
    def read(cls, path: Path) -> "Choices":
        """Reads the rows of single_step, products in order; leaves out products without a recorded set."""
        rows = np.loadtxt(path, delimiter="\t", ndmin=2)
        product, recorded = rows[:, 0].astype(int), rows[:, 1] == 1
        kept = np.isin(product, product[recorded])
        return cls(product[kept], recorded[kept], rows[kept, 2:])

    def of(self, products: np.ndarray) -> "Choices":
        """Gives the choices of these products."""
        kept = np.isin(self.product, products)
        return Choices(self.product[kept], self.recorded[kept], self.features[kept])

    def fit(self) -> np.ndarray:
        """Finds the weights under which the recorded sets are the most probable."""
        mean, deviation = self.features.mean(axis=0), self.features.std(axis=0)
        x = (self.features - mean) / deviation
        _, starts, counts = np.unique(self.product, return_index=True, return_counts=True)

        def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
            odds = x @ weights
            largest = np.maximum.reduceat(odds, starts)
            powers = np.exp(odds - np.repeat(largest, counts))
            sums = np.add.reduceat(powers, starts)
            value = (np.log(sums) + largest - odds[self.recorded]).mean()
            slope = (x.T @ (powers / np.repeat(sums, counts)) - x[self.recorded].sum(axis=0)) / len(starts)
            return value + RIDGE * weights @ weights, slope + 2 * RIDGE * weights

        found = minimize(loss, np.zeros(x.shape[1]), jac=True, method="L-BFGS-B").x
        return np.asarray(found / deviation)

    def ranks(self, odds: np.ndarray) -> np.ndarray:
        """Gives the place of each product's recorded set, from 0; sets of equal odds are before it."""
        own = odds[self.recorded][np.searchsorted(self.product[self.recorded], self.product)]
        _, starts = np.unique(self.product, return_index=True)
        return np.add.reduceat((odds >= own).astype(int), starts) - 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", type=Path)
    parser.add_argument("--reactions", type=int, required=True, help="number of reactions, those included whose set is not proposed")
    args = parser.parse_args()
    choices = Choices.read(args.sets)
    products = np.unique(choices.product)
    part = np.random.default_rng(0).permutation(len(products)) % PARTS
    ranks = {"probability": choices.ranks(choices.features[:, 0]), "order": np.zeros(len(products), int)}
    for left_out in range(PARTS):
        weights = choices.of(products[part != left_out]).fit()
        predicted = choices.of(products[part == left_out])
        ranks["order"][part == left_out] = predicted.ranks(predicted.features @ weights)
    for name, places in ranks.items():
        print(name, ", ".join(f"top-{top}: {(places < top).sum() / args.reactions:.4f}" for top in TOP))
    print("weights:", ", ".join(f"{name} {weight:.3f}" for name, weight in zip(FEATURES, choices.fit(), strict=True)))


if __name__ == "__main__":
    main()
