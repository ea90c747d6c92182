"""Features of an aromatic C–H: how easily its ring takes an electrophile there. `worker/reactivity/src/arene_sites.rs` computes the same.

The base is physical. Hückel's method gives the energy that a ring system loses when one carbon leaves its conjugation for the
new bond (Wheland 1942), and the positive charge at every other atom of the cation that is left. Each substituent adds in
proportion to the charge at its carbon, and for its nearness: by induction and, next to the position, by its size.
"""

from collections import deque

import numpy as np
from rdkit import Chem

# Streitwieser, "Molecular Orbital Theory for Organic Chemists", 1961, table 5.1; sulfur after Zahradnik.
# Energy (in beta, from carbon's), resonance with a neighbour (the smaller of two counts) and electrons of a ring atom.
ATOMS = {
    "C": (0.0, 1.0, 1),
    "N": (0.5, 1.0, 1),
    "NR": (1.5, 0.8, 2),
    "N+": (2.0, 1.0, 1),
    "O": (2.0, 0.8, 2),
    "S": (1.0, 0.7, 2),
    "CO": (0.9, 1.0, 0),
}


def is_aromatic_bond(bond: Chem.Bond) -> bool:
    """Tells whether a bond is part of an aromatic ring."""
    return bond.GetBondType() == Chem.BondType.AROMATIC


def atom_type(atom: Chem.Atom) -> str:
    """Names a ring atom by what it brings to the conjugation (`ATOMS`)."""
    symbol = atom.GetSymbol()
    if symbol == "C":
        return "CO" if exocyclic_oxo(atom) else "C"
    if symbol == "N":
        if atom.GetFormalCharge() > 0:
            return "N+"
        return "NR" if atom.GetTotalNumHs() or atom.GetDegree() == 3 else "N"
    return {"O": "O", "S": "S", "Se": "S"}.get(symbol, "C")


def exocyclic_oxo(atom: Chem.Atom) -> bool:
    """Tells whether a ring atom has a doubly bonded oxygen or sulfur."""
    return any(
        bond.GetBondType() == Chem.BondType.DOUBLE and bond.GetOtherAtom(atom).GetSymbol() in ("O", "S") for bond in atom.GetBonds()
    )


def oxo(atom: Chem.Atom) -> int:
    """Counts an atom's doubly bonded oxygens."""
    return sum(
        bond.GetBondType() == Chem.BondType.DOUBLE and bond.GetOtherAtom(atom).GetSymbol() == "O" for bond in atom.GetBonds()
    )


def saturated(atom: Chem.Atom) -> bool:
    """Tells whether all bonds of an atom are single."""
    return all(bond.GetBondType() == Chem.BondType.SINGLE for bond in atom.GetBonds())


def draws(atom: Chem.Atom) -> bool:
    """Tells whether an atom takes the electrons of a nitrogen or oxygen beside it."""
    symbol = atom.GetSymbol()
    if symbol == "C":
        others = [bond.GetOtherAtom(atom) for bond in atom.GetBonds() if bond.GetBondType() != Chem.BondType.SINGLE]
        return not atom.GetIsAromatic() and any(other.GetSymbol() in ("O", "N", "S") for other in others)
    return symbol in ("S", "P") and oxo(atom) > 0


def nitrogen_class(atom: Chem.Atom, ring: int) -> str:
    """Names the group that begins with a nitrogen."""
    others = [other for other in atom.GetNeighbors() if other.GetIdx() != ring]
    if atom.GetFormalCharge() > 0 and oxo(atom):
        return "Nitro"
    if atom.GetIsAromatic():
        return "Azolyl"
    if atom.GetFormalCharge() > 0:
        return "Ammonium"
    if not saturated(atom):
        return "Imino"
    drawn = sum(draws(other) for other in others)
    if drawn > 1:
        return "Imido"
    if drawn:
        sulfur = any(other.GetSymbol() == "S" for other in others)
        return "Sulfonamido" if sulfur else "Acylamino"
    if any(other.GetSymbol() in ("N", "O") for other in others):
        return "Hydrazino"
    return {2: "Amino", 1: "Alkylamino"}.get(atom.GetTotalNumHs(), "Dialkylamino")


def carbon_class(atom: Chem.Atom, ring: int) -> str:
    """Names the group that begins with a carbon."""
    others = [other for other in atom.GetNeighbors() if other.GetIdx() != ring]
    if atom.GetIsAromatic():
        azine = any(n.GetSymbol() == "N" and atom_type(n) == "N" for n in others if n.GetIsAromatic())
        return "Azinyl" if azine else "Aryl"
    if sum(other.GetSymbol() == "F" for other in others) > 1:
        return "Fluoroalkyl"
    if saturated(atom):
        drawn = sum(other.GetSymbol() in ("O", "N", "S", "F", "Cl", "Br", "I") for other in others)
        return "DrawnAlkyl" if drawn else "Alkyl"
    if any(bond.GetBondType() == Chem.BondType.TRIPLE and bond.GetOtherAtom(atom).GetSymbol() == "N" for bond in atom.GetBonds()):
        return "Cyano"
    if draws(atom):
        single = [o for o in others if mol_bond(atom, o) == Chem.BondType.SINGLE]
        if any(other.GetSymbol() == "O" for other in single):
            return "Carboxyl"
        return "Carboxamide" if any(other.GetSymbol() == "N" for other in single) else "Acyl"
    return "Vinyl"


def mol_bond(a: Chem.Atom, b: Chem.Atom) -> Chem.BondType:
    """Gives the type of the bond between two atoms."""
    return a.GetOwningMol().GetBondBetweenAtoms(a.GetIdx(), b.GetIdx()).GetBondType()


def substituent_class(atom: Chem.Atom, ring: int) -> str:
    """Names the group that begins at `atom` on the ring atom `ring`."""
    symbol = atom.GetSymbol()
    if symbol == "O":
        if atom.GetFormalCharge() < 0:
            return "Oxide"
        if not saturated(atom):
            return "Oxo"
        if atom.GetTotalNumHs():
            return "Hydroxyl"
        return "Acyloxy" if any(draws(other) for other in atom.GetNeighbors()) else "Alkoxy"
    if symbol == "N":
        return nitrogen_class(atom, ring)
    if symbol == "S":
        if not saturated(atom) and not oxo(atom):
            return "Oxo"
        return "Sulfonyl" if oxo(atom) else "Thio"
    if symbol in ("F", "Cl", "Br", "I"):
        return {"F": "Fluoro", "Cl": "Chloro", "Br": "Bromo", "I": "Iodo"}[symbol]
    return carbon_class(atom, ring) if symbol == "C" else "Silyl"


# Levels closer than this (in beta) are filled alike.
SAME_LEVEL = 1e-4
RING_ATOMS = {"N": "RingNitrogen", "NR": "RingAmine", "N+": "RingCation", "O": "RingOxygen", "S": "RingSulfur", "CO": "RingCarbonyl"}
# Effects that depend on the electrophile as well.
OF_ELECTROPHILE = ("Localisation", "AnyOrtho", "Crowded", "Fusion", "FiveRing")
DRAWING = frozenset({"Silyl", "Acyl", "Carboxyl", "Carboxamide", "Sulfonyl", "Nitro", "Cyano"})


def effect_of(group: str, kind: str) -> str:
    """Names a group's effect; on nitrogen of the ring only alkyl, aryl and what draws electrons (or is silyl) are told apart."""
    if kind != "NR":
        return group
    if group in DRAWING:
        return "DrawingOnNitrogen"
    return "ArylOnNitrogen" if group in ("Aryl", "Azinyl") else "AlkylOnNitrogen"


class Core:
    """The fused aromatic ring system of a position: atoms, types, Hückel energies."""

    def __init__(self, mol: Chem.Mol, start: int) -> None:
        self.mol = mol
        atoms = [start]
        for index in atoms:
            for bond in mol.GetAtomWithIdx(index).GetBonds():
                other = bond.GetOtherAtomIdx(index)
                if is_aromatic_bond(bond) and other not in atoms:
                    atoms.append(other)
        self.atoms = sorted(atoms)
        self.place = {index: place for place, index in enumerate(self.atoms)}
        self.types = [atom_type(mol.GetAtomWithIdx(index)) for index in self.atoms]
        size = len(atoms)
        self.hueckel = np.zeros((size, size))
        self.near: list[list[int]] = [[] for _ in atoms]
        for index in self.atoms:
            here = self.place[index]
            self.hueckel[here, here] = ATOMS[self.types[here]][0]
            for bond in mol.GetAtomWithIdx(index).GetBonds():
                if is_aromatic_bond(bond):
                    there = self.place[bond.GetOtherAtomIdx(index)]
                    self.near[here].append(there)
                    self.hueckel[here, there] = min(ATOMS[self.types[here]][1], ATOMS[self.types[there]][1])
        self.electrons = sum(ATOMS[kind][2] for kind in self.types)
        self.whole = self.energy(self.hueckel, self.electrons)[0]

    @staticmethod
    def energy(matrix: np.ndarray, electrons: int) -> tuple[float, np.ndarray]:
        """Gives the energy in units of beta and the number of electrons on each atom; equal levels share their electrons."""
        values, vectors = np.linalg.eigh(-matrix)
        filled = np.zeros(len(values))
        left = float(max(electrons, 0))
        first = 0
        while first < len(values) and left > 0:
            after = first + 1
            while after < len(values) and values[after] - values[first] < SAME_LEVEL:
                after += 1
            share = min(2.0, left / (after - first))
            filled[first:after] = share
            left -= share * (after - first)
            first = after
        return float(-(filled * values).sum()), (vectors**2) @ filled

    def distances(self, place: int) -> list[int]:
        """Gives the number of aromatic bonds between a place and every other."""
        far = [-1] * len(self.near)
        far[place] = 0
        queue = deque([place])
        while queue:
            here = queue.popleft()
            for there in self.near[here]:
                if far[there] < 0:
                    far[there] = far[here] + 1
                    queue.append(there)
        return far

    def cation(self, place: int) -> tuple[float, np.ndarray]:
        """Gives the localisation energy of a position and the positive charge of every atom of its cation."""
        rest = [other for other in range(len(self.near)) if other != place]
        energy, electrons = self.energy(self.hueckel[np.ix_(rest, rest)], self.electrons - 2)
        charge = np.zeros(len(self.near))
        charge[rest] = [ATOMS[self.types[other]][2] for other in rest] - electrons
        return self.whole - energy, charge

    def is_peri(self, place: int, fused: int, far: list[int]) -> bool:
        """Tells whether the neighbour in the next ring, across a fusion, bears a substituent."""
        return any(
            far[peri] == 2
            and len(self.near[peri]) == 2
            and self.types[peri] == "C"
            and self.mol.GetAtomWithIdx(self.atoms[peri]).GetDegree() == 3
            for peri in self.near[fused]
            if peri != place
        )


Effects = dict[tuple[str, str], float]


def features(core: Core, atom: int) -> Effects:
    """Gives the effects on an aromatic C–H, by name and relation."""
    place = core.place[atom]
    localisation, charge = core.cation(place)
    far = core.distances(place)
    found: Effects = {("Localisation", "All"): localisation}
    if core.mol.GetRingInfo().IsAtomInRingOfSize(atom, 5):
        found["FiveRing", "All"] = 1.0

    def add(effect: str, other: int) -> None:
        relation = {1: "Ortho", 2: "Meta"}.get(far[other], "Far")
        for column, value in ((relation, 1.0), ("Charge", float(charge[other]))):
            found[effect, column] = found.get((effect, column), 0.0) + value

    beside = 0
    for other, index in enumerate(core.atoms):
        if other == place:
            continue
        kind = core.types[other]
        if kind != "C":
            add(RING_ATOMS[kind], other)
        ring_atom = core.mol.GetAtomWithIdx(index)
        for bond in ring_atom.GetBonds():
            group = "Oxo" if is_aromatic_bond(bond) else substituent_class(bond.GetOtherAtom(ring_atom), index)
            if group != "Oxo":
                add(effect_of(group, kind), other)
                beside += far[other] == 1
        if far[other] == 1 and len(core.near[other]) == 3:
            found["Fusion", "All"] = found.get(("Fusion", "All"), 0.0) + 1.0
            if core.is_peri(place, other, far):
                found["Peri", "All"] = found.get(("Peri", "All"), 0.0) + 1.0
    if beside:
        found["AnyOrtho", "All"] = float(beside)
    if beside > 1:
        found["Crowded", "All"] = 1.0
    return found


def of_electrophile(found: Effects, kind: str) -> Effects:
    """Adds the effects that depend on the electrophile."""
    own = {(effect, kind): found[effect, "All"] for effect in OF_ELECTROPHILE if (effect, "All") in found}
    return found | own
