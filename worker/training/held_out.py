"""What no training may see: the InChIKeys of every product that planners here are judged by.

The decision that matters: molecules are compared by InChIKey, of the largest organic component as it is written and of its
neutralised parent, because comparing strings once let three targets through. A molecule is held out when either key is on a
list. Which lists: every product of the reference routes (`routes/never_train.txt.gz`, keys alone), the products of
`uspto50k_val`, the public targets of `targets/` with all products of the published routes there, and the benchmark kit's.
"""

import collections
import csv
import gzip
import json
from collections.abc import Iterator
from pathlib import Path

from rdkit import Chem
from rdkit.Chem.MolStandardize import rdMolStandardize

SKELETON_LENGTH = 14
_UNCHARGER = rdMolStandardize.Uncharger()


def atoms_of(mol: Chem.Mol) -> list[Chem.Atom]:
    """Lists a molecule's atoms; several times faster than going through `GetAtoms`."""
    return [mol.GetAtomWithIdx(index) for index in range(mol.GetNumAtoms())]


def largest_organic(mol: Chem.Mol) -> Chem.Mol:
    """Gives the component with most heavy atoms among those with carbon, or among all where none has."""
    if len(Chem.GetMolFrags(mol)) < 2:
        return mol
    parts = Chem.GetMolFrags(mol, asMols=True)
    organic = [part for part in parts if any(atom.GetAtomicNum() == 6 for atom in atoms_of(part))]
    return max(organic or parts, key=lambda part: part.GetNumHeavyAtoms())


def neutralised(mol: Chem.Mol) -> Chem.Mol:
    """Takes or gives protons until no charge is left that protons can settle; atoms keep their order."""
    if not any(atom.GetFormalCharge() for atom in atoms_of(mol)):
        return mol
    return _UNCHARGER.uncharge(mol)


def keys_of(mol: Chem.Mol) -> tuple[str, ...]:
    """Gives the InChIKeys of the largest organic component: as written and, where it differs, of its neutral parent."""
    part = largest_organic(mol)
    parent = neutralised(part)
    as_written = Chem.MolToInchiKey(part)
    return (as_written,) if parent is part else (as_written, Chem.MolToInchiKey(parent))


def _keys_of_smiles(smiles: str) -> tuple[str, ...]:
    mol = Chem.MolFromSmiles(smiles)
    return keys_of(mol) if mol is not None and mol.GetNumAtoms() else ()


def _products_of_tree(node: dict) -> Iterator[str]:
    children = node.get("children") or []
    if children and node.get("type") == "mol":
        yield node["smiles"]
    for child in children:
        yield from _products_of_tree(child)


def _product_keys(rows: Iterator[str]) -> set[str]:
    return {key for smiles in rows for key in _keys_of_smiles(smiles)}


class HeldOut:
    """The lists of held-out keys by name, and what is known of molecules asked for before."""

    def __init__(self, lists: dict[str, set[str]]) -> None:
        self.lists = lists
        self.names: dict[str, list[str]] = collections.defaultdict(list)
        self.skeletons: set[str] = set()
        for name, keys in lists.items():
            for key in keys:
                self.names[key].append(name)
                self.skeletons.add(key[:SKELETON_LENGTH])

    def lists_with(self, keys: tuple[str, ...]) -> set[str]:
        """Names the lists that hold one of the keys; empty for a molecule that may be trained on."""
        return {name for key in keys for name in self.names.get(key, ())}

    def shares_skeleton(self, keys: tuple[str, ...]) -> bool:
        """Tells whether a held-out molecule has the same connectivity (stereo, isotopes and charge aside)."""
        return any(key[:SKELETON_LENGTH] in self.skeletons for key in keys)


def _csv_column(path: Path, column: str) -> Iterator[str]:
    opened = gzip.open(path, "rt", encoding="utf-8", newline="") if path.suffix == ".gz" else path.open(encoding="utf-8", newline="")
    with opened as lines:
        for row in csv.DictReader(lines):
            yield row[column]


def load(data: Path, kit: Path) -> HeldOut:
    """Reads every list: `data` is the folder with `routes`, `reactions` and `targets`, `kit` the benchmark kit's."""
    with gzip.open(data / "routes" / "never_train.txt.gz", "rt", encoding="utf-8") as lines:
        lists = {"never_train": {line.strip() for line in lines if line.strip()}}
    mapped = _csv_column(data / "reactions" / "uspto50k_val.csv.gz", "rxn_smiles")
    lists["uspto50k_val"] = _product_keys(reaction.split(">")[-1] for reaction in mapped)
    for path in sorted((data / "targets").glob("*.csv")):
        column = "product" if path.name == "egmcts_literature_routes30.csv" else "smiles"
        lists[path.stem] = _product_keys(_csv_column(path, column))
    for path in sorted((data / "targets").glob("*.json.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as text:
            lists[f"{path.name} products"] = _product_keys(smiles for tree in json.load(text) for smiles in _products_of_tree(tree))
    lists["kit targets_public"] = _product_keys(_csv_column(kit / "targets_public.csv", "smiles"))
    return HeldOut(lists)
