"""What a map says happens in a reaction, in words that do not depend on how atoms are numbered.

The decision that matters: two maps that differ by exchanging equivalent atoms say the same, so atoms are named by their
symmetry class and molecule. Classes are taken from the skeleton alone (elements and bonds, no bond orders, hydrogens or
charges): the oxygens of a carboxylic acid and the nitrogens of an amidine are then equivalent too, as they are in the flask.
"""

import collections
import functools
from typing import NamedTuple

from rdkit import Chem

UNMAPPED = -1

Atom = tuple[str, int]


class Centre(NamedTuple):
    """Bonds made and broken between classes of atoms, and the molecules that give atoms, sorted; equal for equal chemistry."""

    made: tuple[tuple[Atom, ...], ...]
    broken: tuple[tuple[Atom, ...], ...]
    contributing: tuple[str, ...]


@functools.lru_cache(maxsize=20_000)
def skeleton_classes(smiles: str) -> tuple[int, ...]:
    """Gives the symmetry class of each atom, in the order written, of a molecule without bond orders, hydrogens and charges."""
    mol = Chem.RWMol(Chem.MolFromSmiles(smiles, sanitize=False))
    for atom in map(mol.GetAtomWithIdx, range(mol.GetNumAtoms())):
        atom.SetIsAromatic(False)
        atom.SetFormalCharge(0)
        atom.SetNoImplicit(True)
        atom.SetNumExplicitHs(0)
        atom.SetChiralTag(Chem.ChiralType.CHI_UNSPECIFIED)
    for bond in map(mol.GetBondWithIdx, range(mol.GetNumBonds())):
        bond.SetBondType(Chem.BondType.SINGLE)
        bond.SetBondDir(Chem.BondDir.NONE)
        bond.SetIsAromatic(False)
        bond.SetStereo(Chem.BondStereo.STEREONONE)
    mol.UpdatePropertyCache(strict=False)
    return tuple(Chem.CanonicalRankAtoms(mol, breakTies=False, includeChirality=False))


@functools.lru_cache(maxsize=20_000)
def bonds_of(smiles: str) -> tuple[tuple[int, int], ...]:
    """Gives the bonded pairs of atoms, in the order written."""
    mol = Chem.MolFromSmiles(smiles, sanitize=False)
    bonds = map(mol.GetBondWithIdx, range(mol.GetNumBonds()))
    return tuple((bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in bonds)


class LeftSide(NamedTuple):
    """The components of a left side: each atom's component and class, and the bonds, by index over the whole side."""

    components: tuple[str, ...]
    component_of: tuple[int, ...]
    names: tuple[Atom, ...]
    bonds: frozenset[frozenset[int]]


def left_side(smiles: str) -> LeftSide:
    """Reads the left side of a canonical unmapped reaction."""
    components = tuple(smiles.split("."))
    component_of: list[int] = []
    names: list[Atom] = []
    bonds = set()
    for number, component in enumerate(components):
        bonds |= {frozenset((begin + len(names), end + len(names))) for begin, end in bonds_of(component)}
        classes = skeleton_classes(component)
        component_of += [number] * len(classes)
        names += [(component, symmetry) for symmetry in classes]
    return LeftSide(components, tuple(component_of), tuple(names), frozenset(bonds))


def centre(unmapped: str, indices: tuple[int, ...]) -> Centre | None:
    """Describes what a map of a canonical unmapped reaction does, or None where a product atom comes from nowhere."""
    if UNMAPPED in indices or len(set(indices)) != len(indices):
        return None
    left_smiles, product = unmapped.split(">>")
    left = left_side(left_smiles)
    product_bonds = {frozenset((indices[begin], indices[end])) for begin, end in bonds_of(product)}
    used = set(indices)
    product_class = dict(zip(indices, skeleton_classes(product), strict=True))
    made = [
        tuple(sorted((*left.names[atom], product_class[atom]) for atom in bond)) for bond in product_bonds - left.bonds
    ]
    broken = [tuple(sorted(left.names[atom] for atom in bond)) for bond in left.bonds - product_bonds if bond & used]
    contributing = collections.Counter(left.component_of[atom] for atom in used)
    molecules = sorted(left.components[component] for component in contributing)
    return Centre(tuple(sorted(made)), tuple(sorted(broken)), tuple(molecules))


@functools.lru_cache(maxsize=20_000)
def _described(smiles: str) -> tuple[tuple[tuple, ...], dict[tuple[int, int], int]]:
    """Gives each atom's element, charge, hydrogens, bonds and aromaticity, and the orders of bonds."""
    mol = Chem.MolFromSmiles(smiles)
    if mol is None:
        raise ValueError(f"not a molecule: {smiles}")
    described = tuple(
        (atom.GetAtomicNum(), atom.GetFormalCharge(), atom.GetTotalNumHs(), atom.GetDegree(), atom.GetIsAromatic())
        for atom in map(mol.GetAtomWithIdx, range(mol.GetNumAtoms()))
    )
    orders = {}
    for bond in map(mol.GetBondWithIdx, range(mol.GetNumBonds())):
        begin, end = bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()
        orders[begin, end] = orders[end, begin] = int(bond.GetBondTypeAsDouble() * 2)
    return described, orders


def reaction_class(unmapped: str, indices: tuple[int, ...]) -> str:
    """Names the kind of change that a map claims: the changed atoms as they are before and after, and their neighbours.

    It is about as fine as a retro template of radius one, and costs a tenth of one.

    Raises:
        ValueError: where a component is no molecule.
    """
    left_smiles, product = unmapped.split(">>")
    atoms_before: list[tuple] = []
    before: dict[tuple[int, int], int] = {}
    for component in left_smiles.split("."):
        atoms, orders = _described(component)
        before |= {(a + len(atoms_before), b + len(atoms_before)): order for (a, b), order in orders.items()}
        atoms_before += atoms
    atoms_after, orders = _described(product)
    after = {(indices[a], indices[b]): order for (a, b), order in orders.items()}
    place_of = {index: place for place, index in enumerate(indices)}
    changed = {pair for pair in before.keys() | after.keys() if before.get(pair) != after.get(pair) and not place_of.keys().isdisjoint(pair)}
    atoms = {atom for pair in changed for atom in pair}
    atoms |= {index for index, place in place_of.items() if atoms_before[index][:3] != atoms_after[place][:3]}
    bonds: dict[int, list[tuple]] = {atom: [] for atom in atoms}
    for (near, far), order in before.items():
        if near in bonds:
            bonds[near].append(("had", atoms_before[far][:2], order, after.get((near, far), 0)))
    for near, far in changed - before.keys():
        bonds[near].append(("got", atoms_before[far][:2], 0, after[near, far]))
    words = sorted((atoms_before[atom], atoms_after[place_of[atom]] if atom in place_of else (), sorted(bonds[atom])) for atom in atoms)
    return repr(words)
