"""Fits the site model of arenes to recorded substitutions, and writes `worker/reactivity/tables/arene_sites.tsv`.

The decision that matters: positions compete within a molecule. So the model is a conditional logit (McFadden 1974): the recorded
position won against every other aromatic C–H of its molecule. A position's value is the natural logarithm of its relative
rate, and the difference of two positions' values is a statement about a ratio of products. Molecules are split by a hash: a fifth is
never fitted, and the figures are of that fifth. Patents seldom substitute a ring with one group, so the isomer ratios of textbooks
(`isomer_ratios.tsv`) are fitted with them: ortho is the position beside the first group or heteroatom, meta the next.
"""

import argparse
import hashlib
from pathlib import Path
from typing import NamedTuple

import numpy as np
from arene_features import Core, Effects, features, of_electrophile
from rdkit import Chem, RDLogger
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

KINDS = {
    "Br": "Bromine",
    "Cl": "Chlorine",
    "I": "Iodine",
    "nitro": "Nitration",
    "acyl": "Acylation",
    "formyl": "Formylation",
    "sulfonyl": "Sulfonation",
}
RIDGE = 0.3
# Recorded reactions that a row of isomer ratios weighs as much as.
RATIO_WEIGHT = 20.0
TESTED = 0.2
MARGINS = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0)


class Substitution(NamedTuple):
    """A molecule whose positions competed: the effects on each, the share of each, and which part it belongs to."""

    kind: str
    effects: list[Effects]
    won: np.ndarray
    tested: bool
    weight: float = 1.0


def competition(kind: str, mol: Chem.Mol, sites: list[int], won: np.ndarray, tested: bool, weight: float = 1.0) -> Substitution:
    """Works out the effects on each position of a molecule."""
    cores: list[Core] = []
    effects = []
    for site in sites:
        core = next((core for core in cores if site in core.place), None)
        if core is None:
            core = Core(mol, site)
            cores.append(core)
        effects.append(of_electrophile(features(core, site), KINDS[kind]))
    return Substitution(KINDS[kind], effects, won, tested, weight)


def free_positions(mol: Chem.Mol) -> dict[int, int]:
    """Gives one aromatic C–H of each symmetry class."""
    ranks = list(Chem.CanonicalRankAtoms(mol, breakTies=False))
    free = [a.GetIdx() for a in mol.GetAtoms() if a.GetIsAromatic() and a.GetSymbol() == "C" and a.GetTotalNumHs() == 1]
    return {ranks[index]: index for index in reversed(free)}


def read(paths: list[Path]) -> list[Substitution]:
    """Reads what `arene_substitutions.py` writes, each substrate, reagent and position once."""
    found: dict[tuple[str, str, int], Substitution] = {}
    for path in paths:
        for line in path.read_text(encoding="utf-8").splitlines()[1:]:
            kind, smiles, atom = line.split("\t")[:3]
            mol = Chem.MolFromSmiles(smiles)
            rank = Chem.CanonicalRankAtoms(mol, breakTies=False)[int(atom)]
            name, sites = (kind, Chem.MolToSmiles(mol), rank), free_positions(mol)
            if name in found or rank not in sites or len(sites) < 2:
                continue
            tested = hashlib.blake2b(name[1].encode(), digest_size=4).digest()[0] < 256 * TESTED
            won = np.array([float(site == rank) for site in sites])
            found[name] = competition(kind, mol, list(sites.values()), won, tested)
    return list(found.values())


def read_ratios(path: Path) -> list[Substitution]:
    """Reads the isomer ratios of textbooks."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        kind, smiles, *percents, _ = line.split("\t")
        mol = Chem.MolFromSmiles(smiles)
        sites = list(free_positions(mol).values())
        # Of equal positions those written first, which are on the ring of the first group.
        first = next(a for a in mol.GetAtoms() if a.GetIsAromatic() and (a.GetSymbol() != "C" or a.GetTotalNumHs() == 0))
        far = [len(Chem.GetShortestPath(mol, first.GetIdx(), site)) - 2 for site in sites]
        won = np.array([float(percents[distance]) if distance < 3 else 0.0 for distance in far])
        found.append(competition(kind, mol, sites, won / won.sum(), tested=False, weight=RATIO_WEIGHT))
    return found


class Problem:
    """Rows of all positions of some substitutions, in the order of `names`."""

    def __init__(self, substitutions: list[Substitution], names: list[tuple[str, str]]) -> None:
        index = {name: place for place, name in enumerate(names)}
        entries = [
            (row, index[name], value)
            for row, effects in enumerate(effects for one in substitutions for effects in one.effects)
            for name, value in effects.items()
            if name in index
        ]
        rows, columns, values = zip(*entries, strict=True)
        self.flask = np.repeat(np.arange(len(substitutions)), [len(one.effects) for one in substitutions])
        self.share = np.concatenate([one.won for one in substitutions])
        self.weight = np.repeat([one.weight for one in substitutions], [len(one.effects) for one in substitutions])
        self.won = self.share > 0.5
        self.matrix = csr_matrix((values, (rows, columns)), shape=(len(self.flask), len(names)))

    def probabilities(self, values: np.ndarray) -> np.ndarray:
        """Gives each position's share of its flask."""
        best = np.full(self.flask[-1] + 1, -np.inf)
        np.maximum.at(best, self.flask, values)
        shares = np.exp(values - best[self.flask])
        return shares / np.bincount(self.flask, shares)[self.flask]

    def loss(self, weights: np.ndarray) -> tuple[float, np.ndarray]:
        """Gives the negative log likelihood with the ridge, and its gradient."""
        shares = self.probabilities(self.matrix @ weights)
        loss = -(self.weight * self.share * np.log(shares + 1e-300)).sum() + RIDGE * weights @ weights / 2
        return loss, self.matrix.T @ (self.weight * (shares - self.share)) + RIDGE * weights

    def errors(self, weights: np.ndarray) -> np.ndarray:
        """Gives the standard errors, from the curvature at the optimum."""
        shares = self.probabilities(self.matrix @ weights)
        weighted = self.matrix.multiply((self.weight * shares)[:, None]).tocsr()
        means = csr_matrix((np.sqrt(self.weight) * shares, (self.flask, np.arange(len(shares))))) @ self.matrix
        curvature = (self.matrix.T @ weighted - means.T @ means).toarray() + RIDGE * np.eye(len(weights))
        return np.sqrt(np.diag(np.linalg.inv(curvature)))


def figures(problem: Problem, values: np.ndarray, margins: tuple[float, ...]) -> list[str]:
    """Says how often the recorded position is the first, and what is kept within each margin."""
    best = np.full(problem.flask[-1] + 1, -np.inf)
    np.maximum.at(best, problem.flask, values)
    behind = best[problem.flask] - values
    ties = np.bincount(problem.flask, behind < 1e-9)
    right = (behind[problem.won] < 1e-9) / ties
    drawn = np.random.default_rng(1).choice(right, (1000, len(right))).mean(axis=1)
    low, high = np.quantile(drawn, (0.025, 0.975))
    lines = [f"{len(right)} flasks: recorded position first {right.mean():.3f} ({low:.3f}-{high:.3f})"]
    for margin in margins:
        kept, others = (behind[problem.won] <= margin).mean(), (behind[~problem.won] <= margin).mean()
        lines.append(f"within {margin} of the best: {kept:.3f} of the recorded, {others:.3f} of the others")
    return lines


def reliability(problem: Problem, weights: np.ndarray) -> list[str]:
    """Compares the shares that the model gives with how often such positions won."""
    shares = problem.probabilities(problem.matrix @ weights)
    lines = []
    for low in np.arange(0, 1, 0.2):
        inside = (shares >= low) & (shares < low + 0.2)
        mean, won = shares[inside].mean(), problem.won[inside].mean()
        lines.append(f"share {low:.1f}-{low + 0.2:.1f}: mean {mean:.3f}, won {won:.3f}, {inside.sum()} positions")
    return lines


def fit(problem: Problem) -> np.ndarray:
    """Gives the weights of the smallest loss."""
    start = np.zeros(problem.matrix.shape[1])
    return minimize(problem.loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 1000}).x


def main() -> None:
    """Fits, prints the figures of the part that was kept back, fits all and writes the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("substitutions", type=Path, nargs="+")
    parser.add_argument("--ratios", type=Path, default=Path(__file__).with_name("isomer_ratios.tsv"))
    parser.add_argument("--table", type=Path, required=True)
    options = parser.parse_args()
    RDLogger.DisableLog("rdApp.*")
    substitutions = read(options.substitutions)
    names = sorted({name for one in substitutions for effects in one.effects for name in effects})
    kept_back = [one for one in substitutions if one.tested]
    ratios = read_ratios(options.ratios)
    training = Problem([one for one in substitutions if not one.tested] + ratios, names)
    test = Problem(kept_back, names)
    weights = fit(training)
    print(*figures(test, test.matrix @ weights, MARGINS), *reliability(test, weights), sep="\n")
    for kind in KINDS.values():
        part = Problem([one for one in kept_back if one.kind == kind], names)
        print(kind, *figures(part, part.matrix @ weights, ()))
    alone = np.array([float(name == ("Localisation", "All")) for name in names])
    print("localisation energy alone:", *figures(test, -(test.matrix @ alone), ()))
    everything = Problem(substitutions + ratios, names)
    weights = fit(everything)
    errors = everything.errors(weights)
    counts = np.asarray((everything.matrix != 0).sum(axis=0)).ravel()
    with options.table.open("w", encoding="utf-8") as table:
        print("effect", "relation", "value", "error", "positions", "source", sep="\t", file=table)
        for (effect, relation), value, error, count in zip(names, weights, errors, counts, strict=True):
            print(effect, relation, f"{value:.3f}", f"{error:.3f}", count, "fit_arene_sites.py", sep="\t", file=table)


if __name__ == "__main__":
    main()
