"""Measures raw strings of a pack, or of a file: validity, uniqueness, novelty, diversity, likeness to the training set.

The decision that matters: nothing is repaired or filtered before it is counted. Validity is the share of raw strings
that RDKit parses and sanitises to a molecule; uniqueness the share of distinct canonical SMILES among the valid;
novelty the share of those that the training file lacks; internal diversity one less the mean Tanimoto similarity
(Morgan radius 2, 2048 bits) over random pairs; the KL score the mean over nine descriptors of exp(-KL) of their
histograms, after GuacaMol (Brown et al., J. Chem. Inf. Model. 2019).
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
import pack

DIVERSITY_MOLECULES = 1000
KL_MOLECULES = 1000
DESCRIPTORS = (
    GraphDescriptors.BertzCT,
    Crippen.MolLogP,
    Descriptors.MolWt,
    rdMolDescriptors.CalcTPSA,
    rdMolDescriptors.CalcNumHBA,
    rdMolDescriptors.CalcNumHBD,
    rdMolDescriptors.CalcNumRotatableBonds,
    rdMolDescriptors.CalcNumAliphaticRings,
    rdMolDescriptors.CalcNumAromaticRings,
)


def internal_diversity(smiles: list[str]) -> float:
    """Gives one less the mean similarity over all pairs of the given molecules."""
    generator = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=2048)
    prints = [generator.GetFingerprint(Chem.MolFromSmiles(text)) for text in smiles]
    total = sum(sum(BulkTanimotoSimilarity(prints[i], prints[:i])) for i in range(1, len(prints)))
    n_pairs = len(prints) * (len(prints) - 1) / 2
    return 1.0 - total / n_pairs if n_pairs else 0.0


def kl_score(sampled: list[str], reference: list[str]) -> float:
    """Gives the mean over the descriptors of exp(-KL(reference || sampled))."""
    tables = [
        np.array([[f(mol) for f in DESCRIPTORS] for mol in map(Chem.MolFromSmiles, smiles)])
        for smiles in (reference, sampled)
    ]
    scores = []
    for ours, theirs in zip(*(table.T for table in tables), strict=True):
        whole = np.all(ours == np.round(ours))
        edges = np.arange(ours.min() - 0.5, ours.max() + 1.0) if whole else np.quantile(ours, np.linspace(0, 1, 51))
        edges = np.concatenate([[-np.inf], np.unique(edges)[1:-1], [np.inf]])
        p, q = (np.histogram(values, edges)[0] + 1e-1 for values in (ours, theirs))
        p, q = p / p.sum(), q / q.sum()
        scores.append(math.exp(-float(np.sum(p * np.log(p / q)))))
    return float(np.mean(scores))


def measure(strings: list[str], training: list[str]) -> dict[str, float]:
    """Measures raw strings against the training molecules, which are canonical."""
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
        metrics["kl_score"] = kl_score(unique[:KL_MOLECULES], training[:KL_MOLECULES])
    return {name: round(value, 4) for name, value in metrics.items()}


def main() -> None:
    """Prints one JSON object per temperature, and stores them in the pack's metadata when asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--pack", type=Path, help="folder of a language model pack")
    source.add_argument("--strings", type=Path, help="file of strings, one a line")
    parser.add_argument("--training", type=Path, help="molecules for novelty and the KL score, a shuffled file")
    parser.add_argument("--size", type=int, default=10_000, help="raw strings to draw, or to read")
    parser.add_argument("--temperature", type=float, nargs="*", help="default: 1 and the pack's own")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--update", action="store_true", help="store the figures in the pack's metadata.json")
    args = parser.parse_args()
    RDLogger.DisableLog("rdApp.*")
    training = list(corpus.read_smiles(args.training)) if args.training else []

    if args.strings:
        with args.strings.open(encoding="utf-8") as lines:
            strings = [line.strip() for line in itertools.islice(lines, args.size)]
        print(json.dumps(measure(strings, training)))
        return

    model, tokens = pack.read(args.pack)
    settings = json.loads((args.pack / "generation_config.json").read_text(encoding="utf-8"))
    results = {}
    for temperature in dict.fromkeys(args.temperature or [1.0, settings["temperature"]]):
        strings = pack.sample(model, tokens, args.size, temperature, settings["max_length"], args.seed)
        results[f"temperature_{temperature:g}"] = metrics = measure(strings, training)
        print(json.dumps({"temperature": temperature, **metrics}), flush=True)
        if args.update:
            path = args.pack / "metadata.json"
            pack.write_json(path, {**json.loads(path.read_text(encoding="utf-8")), "metrics": results})


if __name__ == "__main__":
    main()
