"""Finds library templates that give a reaction's precursors although they were not extracted from it.

The decision that matters: candidates are those whose reactions lose and gain the same atoms (formula of the precursors
less that of the product). That is exact, and leaves hundreds of templates to try instead of twenty thousand. Reactions
without a library template of their own come first: they become examples of the policy network, and so do the templates
written by hand, which were extracted from nothing.
"""

import argparse
import collections
import gzip
import random
import time
from pathlib import Path

from rdkit import Chem, RDLogger
from rdkit.Chem import AllChem

import prepare_templates

MAX_CANDIDATES = 2500
MAX_EXPLANATIONS = 6
MAX_OUTCOMES = 40


def formula(mol: Chem.Mol) -> collections.Counter[str]:
    """Counts the atoms of a molecule by element, hydrogens and charge included."""
    counts: collections.Counter[str] = collections.Counter()
    for atom in mol.GetAtoms():
        counts[atom.GetSymbol()] += 1
        counts["H"] += atom.GetTotalNumHs()
        counts["charge"] += atom.GetFormalCharge()
    return counts


def balance(product: Chem.Mol, precursors: Chem.Mol) -> tuple[tuple[str, int], ...]:
    """Gives what the precursors have more (or, negative, less) than the product, by element, sorted."""
    difference = formula(precursors)
    difference.subtract(formula(product))
    return tuple(sorted((element, count) for element, count in difference.items() if count))


def fragment_sizes(mols: list[Chem.Mol]) -> list[int]:
    """Gives the sorted atom counts of all fragments."""
    return sorted(len(fragment) for mol in mols for fragment in Chem.GetMolFrags(mol))


class Explainer:
    """The library, by what its reactions lose and gain."""

    def __init__(self, library: list[str]) -> None:
        self.library = library
        self.by_balance: dict[tuple, list[int]] = collections.defaultdict(list)
        self.patterns: dict[int, tuple[AllChem.ChemicalReaction, Chem.Mol]] = {}

    def learn(self, row: int, product: str, precursors: str) -> None:
        """Notes the balance of a template's reaction."""
        mols = Chem.MolFromSmiles(product), Chem.MolFromSmiles(precursors)
        if None in mols:
            return
        rows = self.by_balance[balance(*mols)]
        if row not in rows[-1:]:
            rows.append(row)

    def finish(self) -> None:
        """Orders candidates: the commonest extracted templates first, those written by hand last."""
        for key, rows in self.by_balance.items():
            self.by_balance[key] = sorted(set(rows))

    def _compiled(self, row: int) -> tuple[AllChem.ChemicalReaction, Chem.Mol]:
        if row not in self.patterns:
            reaction = prepare_templates.compiled(self.library[row])
            if reaction is None:
                raise ValueError(f"template {row} does not compile")
            self.patterns[row] = (reaction, reaction.GetReactantTemplate(0))
        return self.patterns[row]

    def explain(self, product: str, precursors: str, known: list[int]) -> list[int]:
        """Lists templates that give the precursors, `known` first, up to `MAX_EXPLANATIONS`."""
        mol, recorded = Chem.MolFromSmiles(product), Chem.MolFromSmiles(precursors)
        if mol is None or recorded is None:
            return known
        candidates = self.by_balance.get(balance(mol, recorded), [])
        if len(candidates) > MAX_CANDIDATES:
            # The general templates at the end are few and must not be lost.
            candidates = candidates[: MAX_CANDIDATES - 300] + candidates[-300:]
        wanted, sizes = Chem.MolToSmiles(recorded), fragment_sizes([recorded])
        found = list(known)
        for row in candidates:
            if len(found) >= MAX_EXPLANATIONS:
                break
            if row in found:
                continue
            reaction, pattern = self._compiled(row)
            if mol.HasSubstructMatch(pattern) and self._gives(reaction, mol, wanted, sizes):
                found.append(row)
        return found

    @staticmethod
    def _gives(reaction: AllChem.ChemicalReaction, mol: Chem.Mol, wanted: str, sizes: list[int]) -> bool:
        tried = set()
        for outcome in reaction.RunReactants((mol,), MAX_OUTCOMES):
            if fragment_sizes(list(outcome)) != sizes:
                continue
            smiles = ".".join(Chem.MolToSmiles(part) for part in outcome)
            if smiles not in tried:
                tried.add(smiles)
                if prepare_templates.canonical(smiles) == wanted:
                    return True
        return False


def main() -> None:
    """Copies reactions.tsv.gz with more rows in its last column, the reaction's own template first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", type=Path, required=True, help="folder of prepare_templates.py")
    parser.add_argument("--by-hand", type=Path, help="the hand-written templates")
    parser.add_argument("--out", type=Path, required=True, help="explained.tsv.gz to write")
    parser.add_argument("--covered-share", type=float, default=0.0, help="share of covered reactions to look at as well")
    parser.add_argument("--minutes", type=float, default=60.0, help="stop looking after this long")
    args = parser.parse_args()
    RDLogger.DisableLog("rdApp.*")
    library = prepare_templates.read_library(args.library / "templates.csv.gz")
    with gzip.open(args.library / "reactions.tsv.gz", "rt", encoding="utf-8") as lines:
        reactions = [line.rstrip("\n").split("\t") for line in lines]

    explainer = Explainer(library)
    learnt: collections.Counter[str] = collections.Counter()
    for part, product, precursors, row in reactions:
        if part == "train" and row and learnt[row] < 2:
            learnt[row] += 1
            explainer.learn(int(row), product, precursors)
    if args.by_hand:
        rows = {text: row for row, text in enumerate(library)}
        for line in args.by_hand.read_text(encoding="utf-8").splitlines():
            if line and not line.startswith("#"):
                _, _, plain, product, precursors = line.split("\t")
                row = rows.get(prepare_templates.grouped(plain) or "")
                if row is not None:
                    explainer.learn(row, product, precursors)
    explainer.finish()

    rng = random.Random(0)
    wanted = [number for number, row in enumerate(reactions) if not row[3]]
    others = [number for number, row in enumerate(reactions) if row[3]]
    rng.shuffle(wanted)
    wanted.sort(key=lambda number: reactions[number][0])  # the held-out source first: its figures need all of it
    chosen = rng.sample(others, int(args.covered_share * len(others)))
    began, done, explained = time.monotonic(), 0, 0
    for number in wanted + chosen:
        if time.monotonic() - began > 60 * args.minutes:
            break
        _, product, precursors, row = reactions[number]
        found = explainer.explain(product, precursors, [int(row)] if row else [])
        reactions[number][3] = ",".join(map(str, found))
        done += 1
        explained += bool(found) and not row
        if done % 5000 == 0:
            print(f"{done} of {len(wanted) + len(chosen)}, {explained} explained, {time.monotonic() - began:.0f} s", flush=True)
    with gzip.open(args.out, "wt", compresslevel=4, encoding="utf-8") as out:
        out.writelines("\t".join(row) + "\n" for row in reactions)
    print(f"{done} looked at, {explained} of {len(wanted)} without a template explained, {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
