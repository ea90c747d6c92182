"""Recorded electrophilic aromatic substitutions: in which position of which arene each reagent put its group.

The decision that matters: no atom map is needed, and none is believed. A product is cut at each bond between an aromatic
carbon and a group; where what remains, with a hydrogen there, is one of the recorded starting materials, that hydrogen was
replaced. Nothing is taken from reactions with strong bases or metals (those lithiate), nor where two positions fit that symmetry does not
make one, nor where the product is held out (`held_out.py`).
"""

import argparse
import csv
import gzip
import re
from collections.abc import Iterator
from pathlib import Path

from rdkit import Chem, RDLogger

import held_out
from reactions import SOURCES

_MAP = re.compile(r":\d+\]")
_PLAIN = re.compile(r"\[([BCNOPSFI]|Cl|Br)(?:H\d?)?\]")
# Reagents that take protons or put metals into rings, and catalysts of couplings.
_NO_ACID = re.compile(r"\[?Li|Mg|\[Pd|Ir|Rh|\[Ru|\[Zn\]|\[Cu\]|Sn\]|NaH|\[H-\]|CC\(C\)\[N-\]|\(C\)\(C\)\[O-\]|\[N-\]\(C|\[Na\]")
# Reagents that bring each group.
_SOURCES_OF = {
    "Br": re.compile(r"N\(?\[?Br|Br\]?N|N1Br|Br\]?\[?Br|NBr"),
    "Cl": re.compile(r"N\(?\[?Cl|N1Cl|NCl|Cl\]?N|^\[?Cl\]?\[?Cl|S\(\[?Cl|S\(=O\)\(=O\)Cl|Cl\]?S|CC?\(C\)\(C\)OCl|Cl\[O-\]|\[O-\]Cl"),
    "I": re.compile(r"N\(?\[?I\b|N1I\b|NI\b|I\]?N|^\[?I\]?\[?I\]?$|Cl\]?\[?I\]?$|^I\]?\[?Cl|FC\(F\)\(F\)"),
    "nitro": re.compile(r"N\+?\]?\(=O\)|=\[?N\+?\]?|NO|N\(=O\)=O"),
    "formyl": re.compile(r"P\(\[?Cl|O=P\(|S\(=O\)Cl|S\(Cl\)|C\(=O\)C\(=O\)Cl|C\(Cl\)Cl|C1N2CN3CN1CN\(C2\)C3|N12C"),
    "acyl": re.compile(r"C\(=O\)Cl|C\(Cl\)=O|O=C\(\[?Cl|C\(\[?Cl\]?\)|C\(=O\)O|OC\(.*\)=O"),
    "sulfonyl": re.compile(r"S\(=O\)\(=O\)|S\(Cl|S\(O\)"),
}
COLUMNS = ("kind", "substrate", "atom", "product", "reagents", "source")


def plain(smiles: str) -> str:
    """Takes map numbers and needless brackets out of a SMILES."""
    return _PLAIN.sub(r"\1", _MAP.sub("]", smiles))


def kind_of(mol: Chem.Mol, ring_atom: int, first: int) -> str | None:
    """Names the group that begins at `first` on an aromatic carbon, if an electrophile could have put it there."""
    atom = mol.GetAtomWithIdx(first)
    others = [bond for bond in atom.GetBonds() if bond.GetOtherAtomIdx(first) != ring_atom]
    doubles = sum(bond.GetBondTypeAsDouble() == 2 and bond.GetOtherAtom(atom).GetSymbol() == "O" for bond in others)
    if atom.GetSymbol() in ("Br", "Cl", "I"):
        return atom.GetSymbol()
    if atom.GetSymbol() == "N" and doubles == 1 and len(others) == 2 and atom.GetFormalCharge() == 1:
        return "nitro"
    if atom.GetSymbol() == "S" and doubles == 2 and any(bond.GetOtherAtom(atom).GetSymbol() == "Cl" for bond in others):
        return "sulfonyl"
    if atom.GetSymbol() == "C" and doubles == 1:
        if atom.GetTotalNumHs() == 1:
            return "formyl"
        if all(bond.GetOtherAtom(atom).GetSymbol() in ("O", "C") for bond in others) and len(others) == 2 and not any(
            bond.GetBondTypeAsDouble() == 1 and bond.GetOtherAtom(atom).GetSymbol() == "O" for bond in others
        ):
            return "acyl"
    return None


def without_group(mol: Chem.Mol, ring_atom: int, first: int) -> tuple[str, int] | None:
    """Gives the canonical molecule with hydrogen in place of a group, and the place of its carbon in that SMILES."""
    bond = mol.GetBondBetweenAtoms(ring_atom, first)
    if bond.IsInRing():
        return None
    cut = Chem.RWMol(mol)
    cut.GetAtomWithIdx(ring_atom).SetIntProp("site", 1)
    cut.RemoveBond(ring_atom, first)
    for fragment in Chem.GetMolFrags(cut, asMols=True, sanitizeFrags=False):
        site = [atom.GetIdx() for atom in fragment.GetAtoms() if atom.HasProp("site")]
        if site:
            smiles = Chem.MolToSmiles(fragment)
            if Chem.MolFromSmiles(smiles) is None:
                return None
            order = fragment.GetPropsAsDict(includePrivate=True, includeComputed=True)["_smilesAtomOutputOrder"]
            return smiles, list(order).index(site[0])
    return None


def substitutions(left: str, product: str) -> Iterator[tuple[str, str, int]]:
    """Yields kind, substrate and atom of each position at which the reaction replaced a hydrogen."""
    mol = Chem.MolFromSmiles(product)
    if mol is None:
        return
    mol = held_out.largest_organic(mol)
    starting = None
    for atom in held_out.atoms_of(mol):
        if not atom.GetIsAromatic() or atom.GetSymbol() != "C" or atom.GetDegree() != 3:
            continue
        for first in atom.GetNeighbors():
            if first.GetIsAromatic():
                continue
            kind = kind_of(mol, atom.GetIdx(), first.GetIdx())
            if kind is None or not any(_SOURCES_OF[kind].search(part) for part in left.split(".")):
                continue
            cut = without_group(mol, atom.GetIdx(), first.GetIdx())
            if cut is None:
                continue
            if starting is None:
                starting = {Chem.CanonSmiles(part) for part in left.split(".") if len(part) > 4 and Chem.MolFromSmiles(part)}
            if Chem.CanonSmiles(cut[0]) in starting:
                yield kind, cut[0], cut[1]


def recorded(data: Path) -> Iterator[tuple[str, str, str]]:
    """Yields source, left side and product of all recorded reactions, as plain SMILES."""
    for name in SOURCES:
        path = data / "reactions" / name
        if not path.exists():
            continue
        with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
            for row in csv.DictReader(lines, delimiter="\t" if ".tsv" in name else ","):
                if "rxn_smiles" in row:
                    left, agents, product = row["rxn_smiles"].split(" ")[0].split(">")
                else:
                    left, agents, product = row["precursors"], row["reagent_part"], row["product"]
                yield name, plain(".".join(side for side in (left, agents) if side)), plain(product)


def main() -> None:
    """Writes the substitutions of all sources, each once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--kit", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--part", default="0/1", help="which of how many parts, for several processes")
    options = parser.parse_args()
    part, parts = map(int, options.part.split("/"))
    RDLogger.DisableLog("rdApp.*")
    never = held_out.load(options.data, options.kit)
    known: set[tuple[str, str, str]] = set()
    with options.out.open("w", encoding="utf-8") as out:
        print(*COLUMNS, sep="\t", file=out)
        for number, (source, left, product) in enumerate(recorded(options.data)):
            if number % parts != part or "c" not in product or _NO_ACID.search(left):
                continue
            if not any(pattern.search(left) for pattern in _SOURCES_OF.values()):
                continue
            found = list(substitutions(left, product))
            sites = {substrate for _, substrate, _ in found}
            if not found or len(sites) > 1 or (found[0][0], found[0][1], product) in known:
                continue
            known.add((found[0][0], found[0][1], product))
            if never.lists_with(held_out.keys_of(Chem.MolFromSmiles(product))):
                continue
            kind, substrate, atom = found[0]
            print(kind, substrate, atom, product, left, source, sep="\t", file=out, flush=True)


if __name__ == "__main__":
    main()
