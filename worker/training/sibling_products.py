"""Makes products that a hand-written template explains and no patent has: its siblings.

The decision that matters: a template learns where it belongs from molecules that it makes, not from its one example. It is run forwards
on building blocks that have its pattern once, so that one product comes of them; where no block has a pattern (a hydrazonoyl
chloride), the example's own precursor is decorated with small groups away from what reacts. A flask that gives two products of
the template is left out, and so is a product that planners are judged by.
"""

import csv
import gzip
import random
from pathlib import Path

from rdkit import Chem

import held_out
import prepare_templates

Step = tuple[str, str]

LARGEST_BLOCK = 18
LARGEST_PRODUCT = 45
BLOCKS_LOOKED_AT = 6_000
GROUPS = ("F", "Cl", "C", "OC", "C#N", "C(F)(F)F", "CC", "c1ccccc1", "C1CC1", "C(=O)OC")
"""Groups that decorate a precursor, by the atom that is bound first."""


def read_blocks(path: Path, rng: random.Random) -> list[Chem.Mol]:
    """Draws molecules of the size of building blocks from the column `smiles` of a catalogue."""
    with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
        texts = sorted({row["smiles"] for row in csv.DictReader(lines)})
    rng.shuffle(texts)
    blocks: list[Chem.Mol] = []
    for text in texts:
        mol = Chem.MolFromSmiles(text) if "." not in text else None
        if mol is not None and mol.GetNumHeavyAtoms() <= LARGEST_BLOCK:
            blocks.append(mol)
        if len(blocks) == BLOCKS_LOOKED_AT:
            break
    return blocks


def decorated(mol: Chem.Mol, pattern: Chem.Mol) -> list[Chem.Mol]:
    """Lists a molecule with one more group on an atom that the pattern's match leaves free and that has a hydrogen."""
    match = set(mol.GetSubstructMatch(pattern))
    found: dict[str, Chem.Mol] = {}
    for atom in mol.GetAtoms():
        if atom.GetIdx() in match or atom.GetAtomicNum() != 6 or not atom.GetTotalNumHs():
            continue
        for group in GROUPS:
            both = Chem.RWMol(Chem.CombineMols(mol, Chem.MolFromSmiles(group)))
            both.AddBond(atom.GetIdx(), mol.GetNumAtoms(), Chem.BondType.SINGLE)
            made = Chem.MolFromSmiles(Chem.MolToSmiles(both))
            if made is not None and len(made.GetSubstructMatches(pattern)) == 1:
                found[Chem.MolToSmiles(made)] = made
    return list(found.values())


class Partners:
    """What may stand for each pattern of a template; what was found for a pattern is kept."""

    def __init__(self, blocks: list[Chem.Mol], wanted: int) -> None:
        self.blocks = blocks
        self.wanted = wanted
        self.known: dict[str, list[Chem.Mol]] = {}

    def of(self, pattern: Chem.Mol, example: Chem.Mol) -> list[Chem.Mol]:
        """Lists molecules with the pattern: the example's, then blocks; where these are few, the example's decorated."""
        key = Chem.MolToSmarts(pattern)
        if key not in self.known:
            fitting: list[Chem.Mol] = []
            for block in self.blocks:
                if len(block.GetSubstructMatches(pattern, maxMatches=3)) == 1:
                    fitting.append(block)
                if len(fitting) == self.wanted:
                    break
            self.known[key] = fitting
        found = [example, *self.known[key]]
        return found if len(found) > self.wanted // 4 else found + decorated(example, pattern)


def siblings(template: str, example: Step, partners: Partners, wanted: int, rng: random.Random) -> list[Step]:
    """Makes up to so many products of a grouped template with their precursors; its example comes first."""
    forward = prepare_templates.Forward(template)
    mols = [Chem.MolFromSmiles(part) for part in example[1].split(".")]
    arranged = forward.arrange(mols) if len(mols) == forward.n_precursors else None
    made = {example[0]: example}
    if arranged is None:
        return list(made.values())
    patterns = [forward.reaction.GetReactantTemplate(at) for at in range(forward.n_precursors)]
    choices = [partners.of(pattern, mol) for pattern, mol in zip(patterns, arranged, strict=True)]
    for _ in range(4 * wanted):
        if len(made) == wanted:
            break
        flask = [rng.choice(choice) for choice in choices]
        products = forward.products(flask)
        if len(products) == 1 and Chem.MolFromSmiles(products[0]).GetNumHeavyAtoms() <= LARGEST_PRODUCT:
            made.setdefault(products[0], (products[0], ".".join(sorted(Chem.MolToSmiles(mol) for mol in flask))))
    return list(made.values())


def may_be_seen(product: str, held: held_out.HeldOut) -> bool:
    """Says whether a product may be trained on."""
    mol = Chem.MolFromSmiles(product)
    return mol is not None and not held.lists_with(held_out.keys_of(mol))
