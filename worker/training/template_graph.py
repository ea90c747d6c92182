"""What a retro template says, atom by atom: neighbours and hydrogens before and after, and what each mapped atom gains and loses.

The decision that matters: a template is read forwards (precursors become the product), and only differences count. Neighbours that a
template does not write are the same on both sides, so a change of oxidation state is exact although the state itself is unknown.
"""

import dataclasses
import functools
import re
from collections.abc import Iterator

from rdkit import Chem

_HYDROGENS = re.compile(r"(?<!!)H(\d*)(?![a-z])")
_DEGREE = re.compile(r"D(\d)")
_CHARGE = re.compile(r"([+-]+)(\d*)")
# Pauling: what draws the electrons of a bond away from carbon, and what gives them.
_MORE_ELECTRONEGATIVE = {7, 8, 9, 16, 17, 34, 35, 53}
HALOGENS = {9, 17, 35, 53}
AROMATIC = 1.5


@dataclasses.dataclass
class Atom:
    """One atom of one side. `hydrogens` and `degree` are None where the template leaves them open."""

    index: int
    number: int
    label: int
    charge: int
    aromatic: bool
    hydrogens: int | None
    degree: int | None
    bonds: dict[int, float] = dataclasses.field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Says whether all neighbours are written: atoms that leave are, others where degree and bonds agree."""
        return not self.label or (self.degree is not None and self.degree == len(self.bonds))


@dataclasses.dataclass
class Side:
    """The product or the precursors of a template; `of` finds an atom by its map number."""

    atoms: list[Atom]
    of: dict[int, Atom]
    component: list[int]

    def key(self, index: int) -> tuple[str, int]:
        """Names an atom so that both sides agree: by map number, or as its own where it has none."""
        atom = self.atoms[index]
        return ("map", atom.label) if atom.label else ("own", index)

    def bond(self, first: int, second: int) -> float:
        """Gives the order of the bond between two atoms, 0 where there is none."""
        return self.atoms[first].bonds.get(second, 0)

    def neighbours(self, atom: Atom) -> Iterator[tuple[Atom, float]]:
        """Yields the neighbours of an atom and the orders of the bonds to them."""
        for other, order in atom.bonds.items():
            yield self.atoms[other], order


    def ring_size(self, first: Atom, second: Atom) -> int:
        """Gives the size of the smallest ring that the bond between two atoms is in, 0 for none."""
        near, seen, size = {first.index}, {first.index}, 1
        while near:
            size += 1
            near = {
                other
                for index in near
                for other in self.atoms[index].bonds
                if other not in seen and not (index == first.index and other == second.index)
            }
            if second.index in near:
                return size
            seen |= near
        return 0


@dataclasses.dataclass
class Change:
    """What happens to one mapped atom, forwards: bonds lost on the precursor side, bonds gained on the product side."""

    before: Atom
    after: Atom
    lost: list[Atom]
    gained: list[Atom]
    loosened: list[Atom]
    tightened: list[Atom]

    @property
    def hydrogens(self) -> int:
        """Gives the hydrogens gained, negative where lost; 0 where the template does not say."""
        if self.before.hydrogens is None or self.after.hydrogens is None:
            return 0
        return self.after.hydrogens - self.before.hydrogens


def _order(bond: Chem.Bond) -> float:
    text = bond.GetSmarts()
    if bond.GetIsAromatic() or ":" in text:
        return AROMATIC
    return {"=": 2.0, "#": 3.0}.get(text[:1], 1.0)


def _charge(text: str) -> int:
    found = _CHARGE.search(text.split(":")[0].replace("@", ""))
    if found is None:
        return 0
    size = int(found.group(2)) if found.group(2) else len(found.group(1))
    return size if found.group(1).startswith("+") else -size


def _atom(atom: Chem.Atom) -> Atom:
    text = atom.GetSmarts()
    inside = text[1:-1] if text.startswith("[") else ""
    hydrogens, degree = _HYDROGENS.search(inside), _DEGREE.search(inside)
    symbol = re.sub(r"^\d+", "", inside or text)
    return Atom(
        index=atom.GetIdx(),
        number=atom.GetAtomicNum(),
        label=atom.GetAtomMapNum(),
        charge=_charge(inside),
        aromatic=atom.GetIsAromatic() or symbol[:1].islower() or ";a" in inside,
        hydrogens=int(hydrogens.group(1) or 1) if hydrogens else None,
        degree=int(degree.group(1)) if degree else None,
    )


def read_side(text: str) -> Side:
    """Reads one side of a template, grouped or not.

    Raises `ValueError` where RDKit cannot read it.
    """
    pattern = Chem.MolFromSmarts(text[1:-1] if text.startswith("(") else text)
    if pattern is None:
        raise ValueError(f"no SMARTS: {text}")
    atoms = [_atom(atom) for atom in pattern.GetAtoms()]
    for bond in pattern.GetBonds():
        first, second, order = bond.GetBeginAtomIdx(), bond.GetEndAtomIdx(), _order(bond)
        atoms[first].bonds[second] = atoms[second].bonds[first] = order
    component = [0] * len(atoms)
    for number, members in enumerate(Chem.GetMolFrags(pattern)):
        for member in members:
            component[member] = number
    return Side(atoms, {atom.label: atom for atom in atoms if atom.label}, component)


class Template:
    """A retro template, product>>precursors, with the changes of its mapped atoms read forwards."""

    def __init__(self, text: str) -> None:
        product, precursors = text.split(">>")
        self.product, self.precursors = read_side(product), read_side(precursors)

    @functools.cached_property
    def changes(self) -> dict[int, Change]:
        """Maps the numbers of all atoms whose bonds or hydrogens change to what changes."""
        found = {}
        for label in sorted(self.product.of.keys() & self.precursors.of.keys()):
            change = self._change(self.precursors.of[label], self.product.of[label])
            if change.lost or change.gained or change.loosened or change.tightened or change.hydrogens:
                found[label] = change
        return found

    def _change(self, before: Atom, after: Atom) -> Change:
        old = {self.precursors.key(index): (index, order) for index, order in before.bonds.items()}
        new = {self.product.key(index): (index, order) for index, order in after.bonds.items()}
        # Atoms without a map stand for others on either side: unmapped ones never correspond.
        old = {(side, number) if side == "map" else ("left", number): value for (side, number), value in old.items()}
        kept = old.keys() & new.keys()
        return Change(
            before,
            after,
            lost=[self.precursors.atoms[index] for key, (index, _) in old.items() if key not in kept],
            gained=[self.product.atoms[index] for key, (index, _) in new.items() if key not in kept],
            loosened=[self.product.atoms[new[key][0]] for key in sorted(kept) if new[key][1] < old[key][1]],
            tightened=[self.product.atoms[new[key][0]] for key in sorted(kept) if new[key][1] > old[key][1]],
        )


def oxidation(side: Side, atom: Atom) -> float:
    """Adds up what the written bonds of a carbon give: +1 to a more electronegative atom, -1 to hydrogen or a metal."""
    total = float(atom.charge - (atom.hydrogens or 0))
    for other, order in side.neighbours(atom):
        if other.number in _MORE_ELECTRONEGATIVE:
            total += order
        elif other.number != 6 and other.number:
            total -= order
    return total


def reduction(template: Template, label: int) -> float:
    """Gives by how much a mapped carbon is reduced (positive) or oxidised (negative), forwards."""
    before, after = template.precursors.of[label], template.product.of[label]
    return oxidation(template.precursors, before) - oxidation(template.product, after)
