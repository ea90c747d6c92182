"""Single-step accuracy of a pack: is the recorded precursor set among the first k that the templates give?

The decision that matters: every reaction of the held-out source counts, those included that no template explains, and
what is compared is the set of precursors and not the template. Outcomes are ranked by their template's probability
(the sum over the templates that give it, with `--sum`); those of one template in the order of their SMILES. Precursor
sets are compared as canonical SMILES, stereo included.
"""

import argparse
import collections
import gzip
import json
import random
import time
from pathlib import Path

import numpy as np
from rdkit import Chem, RDLogger
from rdkit.Chem import AllChem, rdFingerprintGenerator
from safetensors.numpy import load_file

import pack_policy
import prepare_templates

TOP = (1, 3, 5, 10, 20, 50)
MAX_TEMPLATES = 300
MAX_OUTCOMES = 40
HANDLES = [
    (Chem.MolFromSmarts(pattern), Chem.MolFromSmiles(substitute))
    for pattern, substitute in (
        ("[Br,I;D1]", "Cl"),
        ("[Cl;D1;$(ClC=O)]", "O"),
        ("[B;$(B1OC(C)(C)C(C)(C)O1)]1OC(C)(C)C(C)(C)O1", "B(O)O"),
    )
]


class Ranker:
    """The policy network as NumPy arrays."""

    def __init__(self, path: Path) -> None:
        self.weights = pack_policy.unpacked(load_file(path))
        self.generator = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=prepare_templates.FINGERPRINT_BITS)

    def top(self, product: Chem.Mol, k: int) -> tuple[list[int], list[float]]:
        """Lists the k likeliest templates, likeliest first, and their probabilities."""
        bits = np.flatnonzero(self.generator.GetFingerprintAsNumPy(product))
        hidden = self.weights["layer1.weight"][:, bits].sum(axis=1) + self.weights["layer1.bias"]
        hidden = np.where(hidden > 0, hidden, np.expm1(np.minimum(hidden, 0)))
        scores = self.weights["layer2.weight"] @ hidden + self.weights["layer2.bias"]
        exponentials = np.exp(scores - scores.max())
        best = np.argsort(-scores, kind="stable")[:k]
        return best.tolist(), (exponentials[best] / exponentials.sum()).tolist()


class Templates:
    """The library, compiled as far as it was asked for."""

    def __init__(self, library: list[str]) -> None:
        self.library = library
        self.known: dict[int, tuple[AllChem.ChemicalReaction, Chem.Mol] | None] = {}

    def outcomes(self, row: int, product: Chem.Mol) -> list[str]:
        """Lists what a template makes of a product."""
        if row not in self.known:
            reaction = prepare_templates.compiled(self.library[row])
            self.known[row] = (reaction, reaction.GetReactantTemplate(0)) if reaction else None
        found = self.known[row]
        if found is None or not product.HasSubstructMatch(found[1]):
            return []
        return prepare_templates.outcomes(found[0], product, MAX_OUTCOMES)


def without_handles(smiles: str) -> str:
    """Writes precursors as if every halide were a chloride, every acid chloride an acid, every boronate a boronic acid.

    Two sets that are then equal differ only in which reagent of one kind was taken, which no product can tell.
    """
    mol = Chem.MolFromSmiles(smiles)
    for pattern, substitute in HANDLES:
        while mol is not None and mol.HasSubstructMatch(pattern):
            mol = Chem.MolFromSmiles(Chem.MolToSmiles(AllChem.ReplaceSubstructs(mol, pattern, substitute)[0]))
    return smiles if mol is None else Chem.MolToSmiles(mol)


def ranked(templates: Templates, ranker: Ranker, product: Chem.Mol, add_up: bool) -> tuple[list[str], int]:
    """Lists different precursor sets, best first, and how many templates gave an outcome among the first 50."""
    rows, probabilities = ranker.top(product, MAX_TEMPLATES)
    score: dict[str, float] = collections.defaultdict(float)
    own = Chem.MolToSmiles(product)
    fruitful = 0
    for place, (row, probability) in enumerate(zip(rows, probabilities, strict=True)):
        if len(score) >= TOP[-1] and place >= TOP[-1]:
            break
        found = templates.outcomes(row, product)
        fruitful += bool(found) and place < TOP[-1]
        for precursors in found:
            if precursors != own and (add_up or precursors not in score):
                score[precursors] += probability
    return (sorted(score, key=lambda smiles: -score[smiles]) if add_up else list(score)), fruitful


def main() -> None:
    """Prints the figures as JSON: accuracy over all reactions, and why the others are missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pack", type=Path, required=True)
    parser.add_argument("--weights", type=Path, help="other weights than the pack's")
    parser.add_argument("--reactions", type=Path, required=True, help="explained.tsv.gz of explain_reactions.py")
    parser.add_argument("--sample", type=int, help="only so many reactions, drawn at random")
    parser.add_argument("--sum", action="store_true", help="add the probabilities of templates with the same outcome")
    args = parser.parse_args()
    RDLogger.DisableLog("rdApp.*")
    templates = Templates(prepare_templates.read_library(args.pack / "templates.csv.gz"))
    ranker = Ranker(args.weights or args.pack / "policy.safetensors")
    with gzip.open(args.reactions, "rt", encoding="utf-8") as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines]
    rows = [row for row in rows if row[0] == "held-out"]
    if args.sample:
        rows = random.Random(0).sample(rows, args.sample)
    ranks, template_ranks, fruitful, explained = [], [], 0, []
    connectivity, handle_ranks = 0, []
    began = time.process_time()
    for _, product, precursors, labels in rows:
        mol = Chem.MolFromSmiles(product)
        wanted = prepare_templates.canonical(precursors)
        found, n_fruitful = ranked(templates, ranker, mol, args.sum)
        ranks.append(found.index(wanted) + 1 if wanted in found else None)
        fruitful += n_fruitful
        explained.append(bool(labels))
        place = len(found) if ranks[-1] is None else ranks[-1]
        alike = [without_handles(smiles) for smiles in found[: min(place, 10)]]
        plain = without_handles(wanted or precursors)
        handle_ranks.append(list(dict.fromkeys(alike)).index(plain) + 1 if plain in alike else None)
        if ranks[-1] is None:
            flat = {Chem.MolToSmiles(Chem.MolFromSmiles(smiles), isomericSmiles=False) for smiles in found}
            connectivity += Chem.MolToSmiles(Chem.MolFromSmiles(precursors), isomericSmiles=False) in flat
        if labels:
            order, _ = ranker.top(mol, MAX_TEMPLATES)
            places = [order.index(int(row)) + 1 for row in labels.split(",") if int(row) in order]
            template_ranks.append(min(places, default=None))
    known = np.array(explained)
    reached = np.array([rank is not None and rank <= TOP[-1] for rank in ranks])

    def shares(values: list[int | None], total: int) -> dict[str, float]:
        return {f"top_{k}": round(sum(value is not None and value <= k for value in values) / total, 4) for k in TOP}

    figures = {
        "reactions": len(rows),
        "explained_by_a_template": round(float(known.mean()), 4),
        "exact_precursors_all_reactions": shares(ranks, len(rows)),
        "exact_precursors_explained_reactions": shares(
            [rank for rank, has in zip(ranks, explained, strict=True) if has], int(known.sum())
        ),
        "handles_not_told_apart": {
            f"top_{k}": round(sum(rank is not None and rank <= k for rank in handle_ranks) / len(rows), 4) for k in TOP[:4]
        },
        "template_of_explained_reactions": shares(template_ranks, len(template_ranks)),
        "missed_in_top_50": {
            "no_template_explains_it": round(float((~reached & ~known).mean()), 4),
            "explained_but_ranked_lower": round(float((~reached & known).mean()), 4),
            "there_but_for_stereo": round(connectivity / len(rows), 4),
        },
        "templates_with_outcome_among_first_50": round(fruitful / len(rows), 2),
        "ms_a_reaction": round(1000 * (time.process_time() - began) / len(rows), 1),
    }
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
