"""Makes the examples of the feasibility filter: recorded reactions and three kinds of reactions nobody recorded.

The decision that matters: a negative is never a recorded reaction, and it says of which kind it is, because the kinds
deserve different trust. `replay` runs a reaction's own template forwards on its own precursors and takes what was not
the recorded product: the chemist had these flasks and got something else. `unrecorded` applies other templates that the
policy network ranks high to a recorded product. `shuffled` swaps one precursor for another molecule that the template's
pattern matches. The last two may well be feasible, so training weighs them less.

The idea is the in-scope filter of Segler, Preuss and Waller, Nature 2018, "Prediction of feasibility".
"""

import argparse
import collections
import csv
import gzip
import itertools
import random
import time
import zlib
from pathlib import Path

import numpy as np
from rdkit import Chem, RDLogger
from rdkit.Chem import AllChem, rdFingerprintGenerator
from safetensors.numpy import load_file

import prepare_templates

KINDS = ("recorded", "replay", "unrecorded", "shuffled")
MAX_NEGATIVES = 2
UNRECORDED_TOP = 50
SHUFFLE_TRIES = 300
MAX_OUTCOMES = 30

Pair = tuple[str, str]


class Examples:
    """Collects fingerprints, kinds and template groups, without repeats."""

    def __init__(self, recorded: set[Pair]) -> None:
        self.recorded = recorded
        self.seen: set[Pair] = set()
        self.rows: list[tuple[str, str, int, int]] = []

    def add(self, product: str, precursors: str, kind: str, group: str) -> bool:
        """Adds a reaction unless it is there already, or is a recorded one and claimed as a negative."""
        pair = (product, precursors)
        if pair in self.seen or (kind != "recorded" and pair in self.recorded) or product in precursors.split("."):
            return False
        self.seen.add(pair)
        self.rows.append((product, precursors, KINDS.index(kind), zlib.crc32(group.encode())))
        return True

    def write(self, path: Path) -> None:
        """Writes `[n, 256]` packed bits of products and of precursors together, kinds and groups."""
        generator = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=prepare_templates.FINGERPRINT_BITS)
        known: dict[str, np.ndarray] = {}

        def bits(smiles: str) -> np.ndarray:
            if smiles not in known:
                fingerprint = generator.GetFingerprintAsNumPy(Chem.MolFromSmiles(smiles))
                known[smiles] = np.packbits(fingerprint.astype(np.uint8))
            return known[smiles]

        np.savez(
            path,
            products=np.array([bits(row[0]) for row in self.rows]),
            precursors=np.array([bits(row[1]) for row in self.rows]),
            kinds=np.array([row[2] for row in self.rows], np.uint8),
            groups=np.array([row[3] for row in self.rows], np.uint32),
        )


def canonical(smiles: str) -> str | None:
    """Gives the canonical SMILES, or None for what is no molecule."""
    mol = Chem.MolFromSmiles(smiles)
    return None if mol is None else Chem.MolToSmiles(mol)


class Forward:
    """A template turned round: precursors to product."""

    def __init__(self, grouped: str) -> None:
        product, precursors = grouped.split(">>")
        self.precursors = precursors[1:-1] if precursors.startswith("(") and "." in precursors else precursors
        self.reaction = AllChem.ReactionFromSmarts(f"{self.precursors}>>{product[1:-1]}")
        self.reaction.Initialize()
        self.n_precursors = self.reaction.GetNumReactantTemplates()

    def arrange(self, mols: list[Chem.Mol]) -> list[Chem.Mol] | None:
        """Puts the molecules in the order of the template's patterns, or gives None when they do not fit."""
        if len(mols) != self.n_precursors:
            return None
        patterns = [self.reaction.GetReactantTemplate(i) for i in range(self.n_precursors)]
        for order in itertools.permutations(mols):
            if all(mol.HasSubstructMatch(pattern) for mol, pattern in zip(order, patterns, strict=True)):
                return list(order)
        return None

    def products(self, mols: list[Chem.Mol]) -> list[str]:
        """Lists what the template can make of molecules in its own order, canonical and sorted."""
        found = set()
        for outcome in self.reaction.RunReactants(tuple(mols), MAX_OUTCOMES):
            smiles = canonical(Chem.MolToSmiles(outcome[0])) if len(outcome) == 1 else None
            if smiles is not None and "." not in smiles:
                found.add(smiles)
        return sorted(found)


def outcomes(reaction: AllChem.ChemicalReaction, product: Chem.Mol) -> list[str]:
    """Lists the precursor sets a retro template gives, canonical and sorted."""
    found = set()
    for outcome in reaction.RunReactants((product,), MAX_OUTCOMES):
        smiles = canonical(".".join(Chem.MolToSmiles(part) for part in outcome))
        if smiles is not None:
            found.add(smiles)
    return sorted(found)


class Ranker:
    """The policy network as NumPy arrays."""

    def __init__(self, path: Path) -> None:
        weights = {name: value.astype(np.float32) for name, value in load_file(path).items()}
        if "layer2.scale" in weights:
            weights["layer2.weight"] *= weights["layer2.scale"][:, None]
        self.weights = weights
        self.generator = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=prepare_templates.FINGERPRINT_BITS)

    def top(self, product: Chem.Mol, k: int) -> list[int]:
        """Lists the k likeliest rows, likeliest first."""
        bits = self.generator.GetFingerprintAsNumPy(product).astype(np.float32)
        hidden = self.weights["layer1.weight"] @ bits + self.weights["layer1.bias"]
        hidden = np.where(hidden > 0, hidden, np.expm1(np.minimum(hidden, 0)))
        scores = self.weights["layer2.weight"] @ hidden + self.weights["layer2.bias"]
        best = np.argpartition(-scores, k)[:k]
        return best[np.argsort(-scores[best], kind="stable")].tolist()


def read_library(path: Path) -> list[str]:
    """Reads the grouped templates of templates.csv.gz, row by row."""
    csv.field_size_limit(1 << 20)
    with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
        return [row["retro_template"] for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)]


def main() -> None:
    """Writes the examples to `--out`, the commonest kinds of work first, so that a short run has them all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="extracted.tsv.gz of extract_templates.py")
    parser.add_argument("--pack", type=Path, required=True, help="folder with templates.csv.gz and policy.safetensors")
    parser.add_argument("--out", type=Path, required=True, help="examples file (.npz) to write")
    parser.add_argument("--exclude", type=Path, nargs="*", default=[], help="CSV files of products to leave out")
    parser.add_argument("--held-out", nargs="*", default=["uspto50k_val"], help="sources to leave out")
    parser.add_argument("--reactions", type=int, default=60_000)
    parser.add_argument("--unrecorded-share", type=float, default=0.3, help="share of products given other templates")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    RDLogger.DisableLog("rdApp.*")
    rng = random.Random(args.seed)

    library = read_library(args.pack / "templates.csv.gz")
    known = set(library)
    ranker = Ranker(args.pack / "policy.safetensors")
    everything = prepare_templates.read_reactions(args.data)
    recorded = {(product, canonical(precursors) or "") for _, product, precursors, _ in everything}
    unwanted = prepare_templates.read_products(args.exclude) | {row[1] for row in everything if row[0] in args.held_out}
    reactions = [row for row in everything if row[1] not in unwanted]
    rng.shuffle(reactions)
    pool = sorted({part for row in reactions for part in row[2].split(".")})
    rng.shuffle(pool)
    pool_mols: dict[int, Chem.Mol | None] = {}

    def pool_mol(index: int) -> Chem.Mol | None:
        if index not in pool_mols:
            pool_mols[index] = Chem.MolFromSmiles(pool[index])
        return pool_mols[index]

    forwards: dict[str, Forward | None] = {}

    def forward(text: str) -> Forward | None:
        if text not in forwards:
            try:
                forwards[text] = Forward(text)
            except (ValueError, RuntimeError):
                forwards[text] = None
        return forwards[text]

    retro: dict[int, AllChem.ChemicalReaction | None] = {}
    examples = Examples(recorded)
    counts: collections.Counter[str] = collections.Counter()
    began = time.monotonic()

    def add(product: str, precursors: str, kind: str, group: str) -> int:
        done = examples.add(product, precursors, kind, group)
        counts[kind] += done
        return done

    for number, (_, product, precursors, plain) in enumerate(reactions[: args.reactions]):
        text = prepare_templates.grouped(plain)
        product_mol = Chem.MolFromSmiles(product)
        written = canonical(precursors)
        if text is None or product_mol is None or written is None:
            continue
        add(product, written, "recorded", text)
        if number % 5000 == 4999:
            print(f"{number + 1} reactions, {dict(counts)}, {time.monotonic() - began:.0f} s", flush=True)
        if number % 20000 == 19999:
            examples.write(args.out)
        turned = forward(text)
        mols = turned.arrange([Chem.MolFromSmiles(part) for part in precursors.split(".")]) if turned else None
        if turned and mols:
            made = [other for other in turned.products(mols) if other != product]
            for other in rng.sample(made, min(MAX_NEGATIVES, len(made))):
                add(other, written, "replay", text)
            place = rng.randrange(len(mols))
            pattern = turned.reaction.GetReactantTemplate(place)
            for index in (rng.randrange(len(pool)) for _ in range(SHUFFLE_TRIES)):
                candidate = pool_mol(index)
                if candidate is None or not candidate.HasSubstructMatch(pattern):
                    continue
                swapped = [*mols[:place], candidate, *mols[place + 1 :]]
                made = turned.products(swapped)
                together = canonical(".".join(Chem.MolToSmiles(mol) for mol in swapped))
                if made and together:
                    add(rng.choice(made), together, "shuffled", text)
                break
        if rng.random() >= args.unrecorded_share:
            continue
        left = MAX_NEGATIVES
        for row in ranker.top(product_mol, UNRECORDED_TOP):
            if library[row] == text:
                continue
            if row not in retro:
                retro[row] = prepare_templates.compiled(library[row])
            found = outcomes(retro[row], product_mol) if retro[row] else []
            if found and rng.random() < 0.35:
                left -= add(product, rng.choice(found), "unrecorded", library[row])
            if left == 0:
                break
    examples.write(args.out)
    in_library = sum(prepare_templates.grouped(row[3]) in known for row in reactions[: args.reactions])
    print(f"{dict(counts)}; {in_library} of the reactions have a library template", flush=True)


if __name__ == "__main__":
    main()
