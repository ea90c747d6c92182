"""Makes the examples of the feasibility filter: recorded reactions and three kinds of reactions nobody recorded.

The decision that matters: a negative is never a recorded reaction, and it says of which kind it is, because the kinds
deserve different trust. `replay` runs the reaction's own template, and the general ones written by hand that give its
product, forwards on its own precursors, and takes the other products: the chemist had these flasks and got something
else. `unrecorded` applies other templates that the policy network ranks high to a recorded product. `shuffled` swaps
one precursor for another molecule that the template's pattern matches. The last two may well be feasible, so training
weighs them less.

The idea is the in-scope filter of Segler, Preuss and Waller, Nature 2018, "Prediction of feasibility".
"""

import argparse
import collections
import random
import time
import zlib
from pathlib import Path

import numpy as np
from rdkit import Chem, RDLogger
from rdkit.Chem import AllChem, rdFingerprintGenerator

import explain_reactions
import prepare_templates
from evaluate_policy import Ranker

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


class General:
    """The hand-written templates, run forwards: at which other sites could the same reaction have happened?"""

    def __init__(self, path: Path) -> None:
        self.by_balance: dict[tuple, list[prepare_templates.Forward]] = collections.defaultdict(list)
        for line in path.read_text(encoding="utf-8").splitlines():
            if line and not line.startswith("#"):
                _, _, plain, product, precursors = line.split("\t")
                text = prepare_templates.grouped(plain)
                key = explain_reactions.balance(Chem.MolFromSmiles(product), Chem.MolFromSmiles(precursors))
                if text is not None:
                    self.by_balance[key].append(prepare_templates.Forward(text))

    def elsewhere(self, mols: list[Chem.Mol], product: Chem.Mol) -> list[str]:
        """Lists what templates that make the product make of the same molecules besides."""
        smiles = Chem.MolToSmiles(product)
        found: set[str] = set()
        together = Chem.MolFromSmiles(".".join(Chem.MolToSmiles(mol) for mol in mols))
        for template in self.by_balance.get(explain_reactions.balance(product, together), []):
            arranged = template.arrange(mols)
            made = template.products(arranged, MAX_OUTCOMES) if arranged else []
            if smiles in made:
                found.update(other for other in made if other != smiles)
        return sorted(found)


def main() -> None:
    """Writes the examples to `--out`, the commonest kinds of work first, so that a short run has them all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="extracted.tsv.gz of extract_templates.py")
    parser.add_argument("--pack", type=Path, required=True, help="folder with templates.csv.gz and policy.safetensors")
    parser.add_argument("--out", type=Path, required=True, help="examples file (.npz) to write")
    parser.add_argument("--by-hand", type=Path, required=True, help="the hand-written templates")
    parser.add_argument("--exclude", type=Path, nargs="*", default=[], help="CSV files of products to leave out")
    parser.add_argument("--held-out", nargs="*", default=["uspto50k_val"], help="sources to leave out")
    parser.add_argument("--reactions", type=int, default=60_000)
    parser.add_argument("--unrecorded-share", type=float, default=0.3, help="share of products given other templates")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    RDLogger.DisableLog("rdApp.*")
    rng = random.Random(args.seed)

    library = prepare_templates.read_library(args.pack / "templates.csv.gz")
    known = set(library)
    ranker = Ranker(args.pack / "policy.safetensors")
    general = General(args.by_hand)
    everything = prepare_templates.read_reactions(args.data)
    recorded = {(product, prepare_templates.canonical(precursors) or "") for _, product, precursors, _ in everything}
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

    forwards: dict[str, prepare_templates.Forward | None] = {}

    def forward(text: str) -> prepare_templates.Forward | None:
        if text not in forwards:
            try:
                forwards[text] = prepare_templates.Forward(text)
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
        written = prepare_templates.canonical(precursors)
        if text is None or product_mol is None or written is None:
            continue
        add(product, written, "recorded", text)
        if number % 5000 == 4999:
            print(f"{number + 1} reactions, {dict(counts)}, {time.monotonic() - began:.0f} s", flush=True)
        if number % 20000 == 19999:
            examples.write(args.out)
        parts = [Chem.MolFromSmiles(part) for part in precursors.split(".")]
        elsewhere = general.elsewhere(parts, product_mol)
        for other in rng.sample(elsewhere, min(MAX_NEGATIVES, len(elsewhere))):
            add(other, written, "replay", text)
        turned = forward(text)
        mols = turned.arrange(parts) if turned else None
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
                together = prepare_templates.canonical(".".join(Chem.MolToSmiles(mol) for mol in swapped))
                if made and together:
                    add(rng.choice(made), together, "shuffled", text)
                break
        if rng.random() >= args.unrecorded_share:
            continue
        left = MAX_NEGATIVES
        for row in ranker.top(product_mol, UNRECORDED_TOP)[0]:
            if library[row] == text:
                continue
            if row not in retro:
                retro[row] = prepare_templates.compiled(library[row])
            found = prepare_templates.outcomes(retro[row], product_mol, MAX_OUTCOMES) if retro[row] else []
            if found and rng.random() < 0.35:
                left -= add(product, rng.choice(found), "unrecorded", library[row])
            if left == 0:
                break
    examples.write(args.out)
    in_library = sum(prepare_templates.grouped(row[3]) in known for row in reactions[: args.reactions])
    print(f"{dict(counts)}; {in_library} of the reactions have a library template", flush=True)


if __name__ == "__main__":
    main()
