"""Measures raw strings of a pack, or of a file: validity, uniqueness, novelty, diversity, likeness to known molecules.

The decision that matters: nothing is repaired or filtered before it is counted. Validity is the share of raw strings
that RDKit parses and sanitises to a molecule; uniqueness the share of distinct canonical SMILES among the valid;
novelty the share of those that the training file lacks; internal diversity one less the mean Tanimoto similarity
(Morgan radius 2, 2048 bits) over random pairs; the KL score the mean over nine descriptors of exp(-KL) of their
histograms, after GuacaMol (Brown et al., J. Chem. Inf. Model. 2019). It takes 10,000 molecules on either side: with
1,000 the noise of the histograms alone costs 0.03. What is stored of a descriptor is its mean, standard deviation and
percentiles, so that people see what a model draws without drawing; names and meaning are those of `retort model evaluate`.

PyTorch lets a model write what it likes. What our engine writes comes from its example `strings`, as a file.
"""

import argparse
import itertools
import json
import math
from pathlib import Path

import numpy as np
from rdkit import Chem, RDLogger
from rdkit.Chem import Crippen, Descriptors, GraphDescriptors, rdFingerprintGenerator, rdMolDescriptors
from rdkit.DataStructs import BulkTanimotoSimilarity

import corpus
import metadata
import pack

DIVERSITY_MOLECULES = 1000
KL_MOLECULES = 10_000
PERCENTILES = {"p05": 5, "p25": 25, "p50": 50, "p75": 75, "p95": 95}
# Those that the KL score compares.
DESCRIPTORS = {
    "bertz_complexity": GraphDescriptors.BertzCT,
    "crippen_logp": Crippen.MolLogP,
    "molecular_weight": Descriptors.MolWt,
    "polar_surface": rdMolDescriptors.CalcTPSA,
    "hydrogen_bond_acceptors": rdMolDescriptors.CalcNumHBA,
    "hydrogen_bond_donors": rdMolDescriptors.CalcNumHBD,
    "rotatable_bonds": rdMolDescriptors.CalcNumRotatableBonds,
    "aliphatic_rings": rdMolDescriptors.CalcNumAliphaticRings,
    "aromatic_rings": rdMolDescriptors.CalcNumAromaticRings,
}
PROPERTIES = {**DESCRIPTORS, "heavy_atoms": lambda mol: mol.GetNumHeavyAtoms()}


def internal_diversity(smiles: list[str]) -> float:
    """Gives one less the mean similarity over all pairs of the given molecules."""
    generator = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=2048)
    prints = [generator.GetFingerprint(Chem.MolFromSmiles(text)) for text in smiles]
    total = sum(sum(BulkTanimotoSimilarity(prints[i], prints[:i])) for i in range(1, len(prints)))
    n_pairs = len(prints) * (len(prints) - 1) / 2
    return 1.0 - total / n_pairs if n_pairs else 0.0


def properties(smiles: list[str]) -> dict[str, np.ndarray]:
    """Gives each property of every molecule."""
    mols = [Chem.MolFromSmiles(text) for text in smiles]
    return {name: np.array([f(mol) for mol in mols], dtype=float) for name, f in PROPERTIES.items()}


def likeness(theirs: np.ndarray, ours: np.ndarray) -> float:
    """Gives exp(-KL(ours || theirs)) of the histograms of a property, ours being the reference."""
    whole = np.all(ours == np.round(ours))
    edges = np.arange(ours.min() - 0.5, ours.max() + 1.0) if whole else np.quantile(ours, np.linspace(0, 1, 51))
    edges = np.concatenate([[-np.inf], np.unique(edges)[1:-1], [np.inf]])
    p, q = (np.histogram(values, edges)[0] + 1e-1 for values in (ours, theirs))
    p, q = p / p.sum(), q / q.sum()
    return math.exp(-float(np.sum(p * np.log(p / q))))


def distribution(values: np.ndarray) -> dict[str, float]:
    """Gives what is stored of a property."""
    percentiles = {name: float(np.percentile(values, share)) for name, share in PERCENTILES.items()}
    return {"mean": float(values.mean()), "standard_deviation": float(values.std()), **percentiles}


def kl_score(sampled: list[str], reference: list[str]) -> float:
    """Gives the mean over the descriptors of exp(-KL(reference || sampled))."""
    theirs, ours = properties(sampled), properties(reference)
    return float(np.mean([likeness(theirs[name], ours[name]) for name in DESCRIPTORS]))


def measure(strings: list[str], training: list[str], reference: list[str]) -> dict[str, object]:
    """Measures raw strings: their novelty against training molecules, their KL score against reference molecules.

    Both are canonical, and either may be empty. Properties are those of the molecules that the score compares.
    """
    mols = [mol for text in strings if text and (mol := Chem.MolFromSmiles(text)) is not None]
    valid = [Chem.MolToSmiles(mol) for mol in mols]
    unique = list(dict.fromkeys(valid))
    metrics = {
        "n_strings": len(strings),
        "validity": len(valid) / len(strings),
        "uniqueness": len(unique) / max(1, len(valid)),
    }
    if unique:
        metrics["internal_diversity"] = internal_diversity(unique[:DIVERSITY_MOLECULES])
        metrics["mean_heavy_atoms"] = float(np.mean([mol.GetNumHeavyAtoms() for mol in mols]))
    if training and unique:
        metrics["novelty"] = len(set(unique).difference(training)) / len(unique)
    if not unique:
        return rounded(metrics)
    drawn = properties(unique[:KL_MOLECULES])
    distributions = {name: distribution(values) for name, values in drawn.items()}
    if reference:
        known = properties(reference[:KL_MOLECULES])
        for name, of in distributions.items():
            of["likeness"] = likeness(drawn[name], known[name])
        metrics["kl_score"] = float(np.mean([distributions[name]["likeness"] for name in DESCRIPTORS]))
    return rounded({**metrics, "properties": distributions})


def rounded(metrics: dict[str, object]) -> dict[str, object]:
    """Rounds every figure to what means something."""
    return {
        name: rounded(value) if isinstance(value, dict) else round(value, 4) for name, value in metrics.items()
    }


def main() -> None:
    """Prints one JSON object for a file of strings, or one per temperature, and stores them when asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pack", type=Path, help="folder of a language model pack")
    parser.add_argument("--strings", type=Path, help="file of strings, one a line; default: PyTorch draws them from the pack")
    parser.add_argument("--training", type=Path, help="molecules that are not new")
    parser.add_argument("--reference", type=Path, help="molecules for the KL score, a shuffled file; default: the training file")
    parser.add_argument("--size", type=int, default=10_000, help="raw strings to draw, or to read")
    parser.add_argument("--temperature", type=float, nargs="*", help="default: 1 and the pack's own")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--update", metavar="NAME", help="store a file's figures in the pack's metadata.json under this name")
    args = parser.parse_args()
    RDLogger.DisableLog("rdApp.*")
    if not (args.strings or args.pack) or (args.update and not (args.strings and args.pack)):
        parser.error("give --pack, or --strings, or both to --update")
    training = list(corpus.read_smiles(args.training)) if args.training else []
    reference = list(itertools.islice(corpus.read_smiles(args.reference), KL_MOLECULES)) if args.reference else training

    if args.strings:
        with args.strings.open(encoding="utf-8") as lines:
            strings = [line.strip() for line in itertools.islice(lines, args.size)]
        metrics = measure(strings, training, reference)
        print(json.dumps(metrics))
        if args.update:
            metadata.store(args.pack, args.update, metrics)
        return

    model, tokens = pack.read(args.pack)
    settings = json.loads((args.pack / "generation_config.json").read_text(encoding="utf-8"))
    for temperature in dict.fromkeys(args.temperature or [1.0, settings["temperature"]]):
        strings = pack.sample(model, tokens, args.size, temperature, settings["max_length"], args.seed)
        print(json.dumps({"temperature": temperature, **measure(strings, training, reference)}), flush=True)


if __name__ == "__main__":
    main()
