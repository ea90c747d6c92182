"""Measures raw strings of a pack, or of a file: validity, uniqueness, novelty, diversity, likeness to known molecules.

The decision that matters: nothing is repaired or filtered before it is counted. Validity is the share of raw strings
that RDKit parses and sanitises to a molecule; uniqueness the share of distinct canonical SMILES among the valid;
novelty the share of those that the training file lacks; internal diversity one less the mean Tanimoto similarity
(Morgan radius 2, 2048 bits) over random pairs; the KL score the mean over nine descriptors of exp(-KL) of their
histograms, after GuacaMol (Brown et al., J. Chem. Inf. Model. 2019). It takes 10,000 molecules on either side: with
1,000 the noise of the histograms alone costs 0.03.

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
import pack

DIVERSITY_MOLECULES = 1000
KL_MOLECULES = 10_000
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


def measure(strings: list[str], training: list[str], reference: list[str]) -> dict[str, float]:
    """Measures raw strings: their novelty against training molecules, their KL score against reference molecules.

    Both are canonical, and either may be empty.
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
    if reference and unique:
        metrics["kl_score"] = kl_score(unique[:KL_MOLECULES], reference[:KL_MOLECULES])
    return {name: round(value, 4) for name, value in metrics.items()}


def store(folder: Path, name: str, metrics: dict[str, float]) -> None:
    """Puts figures into a pack's metadata, beside those of other names."""
    path = folder / "metadata.json"
    metadata = json.loads(path.read_text(encoding="utf-8"))
    metadata["metrics"][name] = metrics
    pack.write_json(path, metadata)


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
            store(args.pack, args.update, metrics)
        return

    model, tokens = pack.read(args.pack)
    settings = json.loads((args.pack / "generation_config.json").read_text(encoding="utf-8"))
    for temperature in dict.fromkeys(args.temperature or [1.0, settings["temperature"]]):
        strings = pack.sample(model, tokens, args.size, temperature, settings["max_length"], args.seed)
        print(json.dumps({"temperature": temperature, **measure(strings, training, reference)}), flush=True)


if __name__ == "__main__":
    main()
