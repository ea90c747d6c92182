"""Judges retro templates: does anything in them come from nowhere?

The decision that matters: a template is wrong where its map is, and a wrong map shows as an atom from a solvent, as a carbon that is
reduced by six electrons, or as a bond that breaks where none breaks. What is right is written as what may leave which carbon for
what; the rest is refused with a reason that has a name. Where the chemistry is right and only the map is not (`template_reagents`, a
resorcinol's other oxygen) the template stays.
"""

import dataclasses
import enum

from template_graph import HALOGENS, Atom, Change, Side, Template, reduction
from template_reagents import ALLOWED, OPEN_FATES, skeleton_of_component


class Reason(enum.StrEnum):
    """Why a template is refused."""

    FOREIGN_CARBON = "a carbon from a reagent that gives none"
    REAGENT = "a reagent as precursor"
    OXIDATION_STATE = "a carbon's oxidation state changes too much"
    NO_LEAVING_GROUP = "nothing leaves"
    POOR_LEAVING_GROUP = "what leaves does not"
    BROKEN_RING = "an aromatic ring breaks"
    TWO_FLASKS = "two changes that no flask makes together"
    OTHER_ATOM = "a group leaves one atom and the bond is made at another"
    NO_OXIDANT = "an oxidation without an oxidant"
    LEFT_OUT = "a step in between is left out"
    SAME_POLARITY = "two atoms of the same polarity meet"
    NO_SUCH_REAGENT = "a reagent that does not exist"


@dataclasses.dataclass(frozen=True)
class Refusal:
    """A reason, and the atom it was found at."""

    reason: Reason
    note: str


# ---- where a carbon stands ----


def unsaturated(side: Side, atom: Atom) -> bool:
    """Says whether an atom has a double or triple bond."""
    return any(order >= 2 for order in atom.bonds.values())


def draws_electrons(side: Side, atom: Atom) -> bool:
    """Says whether an atom is the carbon of C=O, C=N, C#N or a nitro, sulfonyl, phosphoryl or cationic group."""
    if atom.number in (7, 16, 15):
        return atom.charge > 0 or atom.number != 7 and any(order == 2 and other.number == 8 for other, order in side.neighbours(atom))
    return atom.number == 6 and any(order >= 2 and other.number in (7, 8, 16) for other, order in side.neighbours(atom))


def beside_unsaturation(side: Side, atom: Atom, without: Atom | None = None) -> bool:
    """Says whether a carbon is benzylic, allylic, propargylic or beside a group that draws electrons."""
    return any(
        other is not without and (other.aromatic or other.number == 6 and unsaturated(side, other) or draws_electrons(side, other))
        for other, order in side.neighbours(atom)
        if order == 1
    )


def beside_acceptor(side: Side, atom: Atom) -> bool:
    """Says whether a carbon is alpha to a group that draws electrons."""
    return any(draws_electrons(side, other) for other, order in side.neighbours(atom) if order == 1)


def beside_heteroatom(side: Side, atom: Atom, without: Atom | None = None) -> bool:
    """Says whether a carbon has another single bond to nitrogen, oxygen, sulfur or a halogen: an acetal, an aminal, an amine."""
    return any(other is not without and other.number in {7, 8, 16, *HALOGENS} and order == 1 for other, order in side.neighbours(atom))


# ---- what leaves ----


def leaving(side: Side, carbon: Atom, leaving_group: Atom) -> str:
    """Names what leaves a carbon."""
    order = side.bond(carbon.index, leaving_group.index)
    if order == 1.5:
        return "ring"
    if order >= 2:
        return "double"
    if leaving_group.number in HALOGENS:
        return "halide"
    others = [other for other, _ in side.neighbours(leaving_group) if other is not carbon]
    if leaving_group.number in (7, 8, 15, 16, 53) and leaving_group.charge > 0:
        return "nitro" if leaving_group.number == 7 and any(other.number == 8 for other in others) else "onium"
    if leaving_group.number == 8:
        return _leaving_oxygen(side, others)
    if leaving_group.number == 7:
        if any(other.number == 7 and other.charge > 0 and draws_electrons(side, other) and len(other.bonds) == 3 for other in others):
            return "nitroamine"
        doubly = any(order == 2 for order in leaving_group.bonds.values())
        return "azole" if leaving_group.aromatic else "azo" if doubly and any(other.number == 7 for other in others) else "amine"
    if leaving_group.number == 16:
        return "sulfonyl" if draws_electrons(side, leaving_group) else "thio"
    return {6: "carbon", 15: "phosphorus", 5: "boron", 14: "silicon"}.get(leaving_group.number, "metal")


def _leaving_oxygen(side: Side, others: list[Atom]) -> str:
    if not others:
        return "hydroxyl"
    other = others[0]
    if other.number in (15, 16):
        return "sulfonate"
    if other.number in (5, 14):
        return "boryloxy" if other.number == 5 else "silyloxy"
    if other.number != 6:
        return "aminooxy"
    double = {partner.number for partner, order in side.neighbours(other) if order == 2}
    return "acyloxy" if double & {8, 16} else "imidate" if 7 in double else "aryloxy" if other.aromatic else "alkoxy"


ORGANIC = {6, 7, 8, 15, 16, 34} | HALOGENS
ELECTROFUGES = {"boron", "silicon", "metal"}
# What leaves a saturated carbon for whatever comes.
NUCLEOFUGES = {"halide", "sulfonate", "onium", "hydroxyl", "imidate", "phosphorus"}
# What leaves an allylic, benzylic or acetal carbon besides.
IONISED = {"acyloxy", "alkoxy", "silyloxy", "aryloxy", "sulfonyl", "thio", "aminooxy"}


def carbon_may_leave(template: Template, change: Change, leaving_group: Atom) -> bool:
    """Says whether a carbon-carbon bond breaks: an acyl, carboxyl or cyano group leaves, a neighbour moves, a strained ring opens,
    or the carbon goes over to the nitrogen of an amide.
    """
    side, carbon = template.precursors, change.before
    if leaving_group.label and any(other.index in template.product.of[leaving_group.label].bonds for other in change.gained):
        return True
    moved = [side.of[other.label] for other in change.gained if other.label in side.of]
    if any(leaving_group.index in atom.bonds and atom.number == 7 for atom in moved):
        return True  # Hofmann, Curtius, Lossen: the lost carbonyl group stood between carbon and nitrogen
    doubly = {other.number: order for other, order in side.neighbours(leaving_group) if order >= 2}
    single = {other.number for other, order in side.neighbours(leaving_group) if order == 1 and other is not carbon}
    if doubly.get(8) == 2 and single & {8, 7}:
        return beside_unsaturation(side, carbon, leaving_group) or beside_heteroatom(side, carbon) or unsaturated(side, carbon)
    if doubly.get(7) == 3:
        return beside_heteroatom(side, carbon) or unsaturated(side, carbon)
    if doubly.get(8) == 2:
        return any(draws_electrons(side, other) for other, _ in side.neighbours(carbon) if other is not leaving_group)
    return side.ring_size(carbon, leaving_group) == 3 and (beside_acceptor(side, carbon) or beside_acceptor(side, leaving_group))


def may_leave_saturated(template: Template, change: Change, leaving_group: Atom) -> bool:
    """Says whether an atom leaves a saturated carbon for what comes."""
    side, carbon, kind = template.precursors, change.before, leaving(template.precursors, change.before, leaving_group)
    if kind == "carbon":
        return carbon_may_leave(template, change, leaving_group)
    if kind in ELECTROFUGES:
        return _electrofuge_leaves(side, change, kind)
    if kind in NUCLEOFUGES or side.ring_size(carbon, leaving_group) in (3, 4):
        return True
    ionised = beside_heteroatom(side, carbon, leaving_group) or beside_unsaturation(side, carbon, leaving_group)
    if kind in IONISED:
        tertiary = sum(other.number == 6 for other, _ in side.neighbours(carbon)) == 3
        ionised = ionised or tertiary
        hydroxide = {atom.number for atom in change.gained} == {8} and all(len(atom.bonds) == 1 for atom in change.gained)
        cyclic_ester = kind == "acyloxy" and (side.ring_size(carbon, leaving_group) in (5, 6) or hydroxide)
        return ionised or cyclic_ester or any(atom.number in HALOGENS for atom in change.gained)
    if kind == "amine" and len(leaving_group.bonds) == 1 and {atom.number for atom in change.gained} <= {8} | HALOGENS:
        return beside_acceptor(side, carbon)  # an amino acid with nitrous acid
    return beside_heteroatom(side, carbon, leaving_group) and kind in ("amine", "azole", "azo", "nitro", "nitroamine")


def _electrofuge_leaves(side: Side, change: Change, kind: str) -> bool:
    coming = {atom.number for atom in change.gained}
    if kind == "boron":
        return coming <= {6, 7, 8, 16} | HALOGENS
    if kind == "silicon":
        fluorinated = sum(other.number == 9 for other, _ in side.neighbours(change.before)) >= 2
        return coming <= {6} | HALOGENS and (fluorinated or beside_unsaturation(side, change.before))
    return coming <= {6, 14, 15, 16, 34, 50, 5, 30} | HALOGENS


def may_lose_hydrogen(template: Template, change: Change) -> bool:
    """Says whether a saturated C-H is acidic, or weak enough for what replaces it."""
    side, carbon = template.precursors, change.before
    coming = {atom.number for atom in change.gained}
    if not coming & ORGANIC or beside_acceptor(side, carbon):
        return True
    activated = beside_unsaturation(side, carbon)
    if coming <= {6, 15}:
        metalled = any(partner.number in (3, 12, 30) for other, _ in side.neighbours(carbon) for partner, _ in side.neighbours(other))
        return activated or metalled or any(other.number in (15, 16) for other, _ in side.neighbours(carbon))
    if coming <= {8} | HALOGENS:
        return activated or beside_heteroatom(side, carbon)
    return activated


def wrong_at_saturated(template: Template, change: Change) -> Refusal | None:
    """Judges what happens at a saturated carbon."""
    if sum(other.number == 9 for other, _ in template.product.neighbours(change.after)) == 2 and change.before.hydrogens == 0:
        return None  # difluorocarbene and its kin lose everything else
    if not change.lost:
        if change.hydrogens >= 0 or change.after.aromatic or may_lose_hydrogen(template, change):
            return None
        return Refusal(Reason.NO_LEAVING_GROUP, "an unactivated sp3 C-H")
    for leaving_group in change.lost:
        if change.after.aromatic and leaving_group.number != 6:
            continue
        if not may_leave_saturated(template, change, leaving_group):
            return Refusal(Reason.POOR_LEAVING_GROUP, f"{leaving(template.precursors, change.before, leaving_group)} at sp3 carbon")
    kinds = {leaving(template.precursors, change.before, leaving_group) for leaving_group in change.lost}
    if change.hydrogens > 0 and not kinds <= {"alkoxy", "silyloxy", "hydroxyl"}:
        return Refusal(Reason.OXIDATION_STATE, "substituted and reduced at once")
    return None


def wrong_at_unsaturated(template: Template, change: Change) -> Refusal | None:
    """Judges what happens at a carbon of C=O, C=N, C=C, C#N or C#C."""
    side, carbon = template.precursors, change.before
    kinds = [leaving(side, carbon, leaving_group) for leaving_group in change.lost]
    for leaving_group, kind in zip(change.lost, kinds, strict=True):
        if kind == "carbon" and not (carbon_may_leave(template, change, leaving_group) or _haloform(side, change, leaving_group)):
            return Refusal(Reason.POOR_LEAVING_GROUP, "carbon at an unsaturated carbon")
    if change.lost and change.hydrogens > 0 and (kinds != ["double"] or len(change.gained) > 1):
        return Refusal(Reason.OXIDATION_STATE, "substituted and reduced at once")
    return None


def _haloform(side: Side, change: Change, leaving_group: Atom) -> bool:
    """A trihalomethyl group leaves a carbonyl group, and a methyl group does when hypohalite makes an acid of it."""
    halogens = sum(other.number in HALOGENS for other, _ in side.neighbours(leaving_group))
    return halogens >= 2 or len(leaving_group.bonds) == 1 and {atom.number for atom in change.gained} == {8}


# What leaves an aromatic carbon: for anything, and for nucleophiles if the ring is an azine or azole.
ARYL_LEAVING = {"halide", "sulfonate", "onium", "nitro", "azo", "sulfonyl", "double", "phosphorus", "boron", "silicon", "metal"}


def is_azine(side: Side, carbon: Atom) -> bool:
    """Says whether a heteroatom of the ring, or a carbonyl group of it, is written ortho, meta or para."""
    ring = {carbon.index}
    for _ in range(3):
        ring |= {other for index in ring for other, order in side.atoms[index].bonds.items() if order == 1.5}
    return any(side.atoms[index].number in (7, 8, 16) or 2.0 in side.atoms[index].bonds.values() for index in ring)


def may_leave_aromatic(template: Template, change: Change, leaving_group: Atom) -> bool:
    """Says whether an atom leaves an aromatic carbon for what comes."""
    side, carbon = template.precursors, change.before
    kind, coming = leaving(side, carbon, leaving_group), {atom.number for atom in change.gained}
    if kind in ARYL_LEAVING:
        return True
    if kind in ("hydroxyl", "acyloxy") and coming == {8}:
        return True
    if kind == "amine":
        azide = any(other.number == 7 and any(o.number == 7 for o, _ in template.product.neighbours(other)) for other in change.gained)
        return len(leaving_group.bonds) == 1 and (coming != {7} or azide)
    if kind == "carbon":
        return carbon_leaves_aromatic(template, change, leaving_group)
    return is_azine(side, carbon) or kind in ("hydroxyl", "thio") and coming <= HALOGENS


def carbon_leaves_aromatic(template: Template, change: Change, leaving_group: Atom) -> bool:
    """Says whether a rearrangement, a Hofmann, Curtius or Hunsdiecker degradation or Dakin's oxidation breaks the bond."""
    if leaving_group.label and any(other.index in template.product.of[leaving_group.label].bonds for other in change.gained):
        return True
    coming = {atom.number for atom in change.gained}
    others = {other.number for other, _ in template.precursors.neighbours(leaving_group)} - {6}
    if _haloform(template.precursors, change, leaving_group):
        return is_azine(template.precursors, change.before)
    acyl = any(order == 2 and other.number == 8 for other, order in template.precursors.neighbours(leaving_group))
    return acyl and (coming == {8} or len(leaving_group.bonds) == 3 and bool(others) and coming <= {7, 8} | HALOGENS)


def may_replace_aromatic_hydrogen(template: Template, change: Change) -> bool:
    """Says whether an aromatic C-H gives way: to electrophiles and metals, to a nucleophile only beside an N-oxide."""
    side, product = template.precursors, template.product
    for atom in change.gained:
        source = side.of.get(atom.label)
        if atom.number not in (7, 8, 16) or source is None:
            continue
        if any(other.charge > 0 and other.aromatic for other, _ in side.neighbours(change.before)):
            continue
        if source.charge < 0 and not source.bonds and is_azine(side, change.before):
            continue  # Chichibabin
        if atom.number == 8 and product.bond(change.after.index, atom.index) < 2:
            return False
        thiocyanate = any(other.number == 6 and 3 in other.bonds.values() for other, _ in side.neighbours(source))
        electrophile = source.charge > 0 or draws_electrons(side, source) or unsaturated(side, source) or thiocyanate
        lost = template.changes[atom.label].lost if atom.label in template.changes else []
        if atom.number != 8 and not electrophile and not any(other.number != 6 for other in lost):
            return False
    return True


def wrong_at_aromatic(template: Template, change: Change) -> Refusal | None:
    """Judges what happens at an aromatic carbon."""
    side, carbon = template.precursors, change.before
    for leaving_group in change.lost:
        if side.bond(carbon.index, leaving_group.index) == 1.5:
            if leaving_group.number == 6 or not (change.after.aromatic or unsaturated(template.product, change.after)):
                return Refusal(Reason.BROKEN_RING, "a ring of the precursors is opened")
        elif not may_leave_aromatic(template, change, leaving_group):
            return Refusal(Reason.POOR_LEAVING_GROUP, f"{leaving(side, carbon, leaving_group)} at aromatic carbon")
    if not change.lost and change.hydrogens < 0 and change.after.aromatic and not may_replace_aromatic_hydrogen(template, change):
        return Refusal(Reason.NO_LEAVING_GROUP, "an aromatic C-H")
    return None


# ---- the judge ----

# Carbon is reduced by two (C=O to CH-X, C=C to CH-CH) or four (acid, ester, amide, nitrile, ketone to CH2) in place.
MOST_IN_PLACE = 4
MOST_WITH_NEW_BOND = 2
MOST_OXIDISED = 4


def wrong_oxidation(template: Template, label: int, change: Change) -> Refusal | None:
    """Judges by how much a carbon is reduced or oxidised."""
    if change.before.hydrogens is None or change.after.hydrogens is None:
        return None
    by = reduction(template, label)
    aromatic = change.before.aromatic or change.after.aromatic
    coming = {atom.number for atom in change.gained}
    if by > MOST_IN_PLACE:
        # A carbamate is reduced to the methylamine.
        carbamate = not change.gained and any(other.number == 7 for other, _ in template.product.neighbours(change.after))
        return None if carbamate and by == 6 and not aromatic else Refusal(Reason.OXIDATION_STATE, f"reduced by {by:g}")
    if by > MOST_WITH_NEW_BOND + aromatic and change.gained and not (by == 3 and coming == {6} and change.hydrogens == 1):
        return Refusal(Reason.OXIDATION_STATE, f"a new bond and reduced by {by:g}")
    if by < -MOST_OXIDISED:
        toluene = coming == {8} and any(other.aromatic for other, _ in template.precursors.neighbours(change.before))
        return None if by == -6 and toluene else Refusal(Reason.OXIDATION_STATE, f"oxidised by {-by:g}")
    coupled = coming == {7} and beside_acceptor(template.precursors, change.before)  # Japp and Klingemann, nitrosation
    if by < -2 and not aromatic and coming & {6, 7} and not coupled and not unsaturated(template.precursors, change.before):
        return Refusal(Reason.OXIDATION_STATE, f"a new bond and oxidised by {-by:g}")
    return None


def foreign_atoms(template: Template) -> tuple[Refusal | None, set[int]]:
    """Judges what reagents give, and lists the atoms that need no further judgement because a reagent is known to give them."""
    side, settled = template.precursors, set()
    for number in sorted(set(side.component)):
        fates = ALLOWED.get(skeleton_of_component(side, number) or "")
        if fates is None:
            continue
        for label, atom in side.of.items():
            change = template.changes.get(label)
            if side.component[atom.index] != number or change is None:
                continue
            found = [fate for fate in fates if fate(template, template.product.of[label])]
            if change.lost and not found:
                reason = Reason.FOREIGN_CARBON if atom.number == 6 else Reason.REAGENT
                return Refusal(reason, skeleton_of_component(side, number) or ""), settled
            if any(fate not in OPEN_FATES for fate in found):
                settled.add(label)
    return None, settled


def check_carbon(template: Template, label: int, change: Change) -> Refusal | None:
    """Judges what happens at one carbon."""
    refusal = wrong_oxidation(template, label, change)
    if refusal is not None or not change.gained:
        return refusal or lost_for_hydrogen(template, change)
    if change.before.aromatic:
        return wrong_at_aromatic(template, change)
    if unsaturated(template.precursors, change.before):
        return wrong_at_unsaturated(template, change)
    return wrong_at_saturated(template, change)


def lost_for_hydrogen(template: Template, change: Change) -> Refusal | None:
    """Judges a carbon that only loses: a carbon may leave if it is an acyl or cyano carbon, or by glycol cleavage."""
    side, carbon = template.precursors, change.before
    if carbon.aromatic and any(side.bond(carbon.index, leaving_group.index) == 1.5 for leaving_group in change.lost):
        return Refusal(Reason.BROKEN_RING, "a ring of the precursors is opened")
    for leaving_group in change.lost:
        carbinol = unsaturated(template.product, change.after) and any(other.number == 8 for other, _ in side.neighbours(leaving_group))
        double = side.bond(carbon.index, leaving_group.index) > 1
        if leaving_group.number == 6 and not (leaving_group.label or draws_electrons(side, leaving_group) or carbinol or double):
            return Refusal(Reason.POOR_LEAVING_GROUP, "carbon, for hydrogen or a double bond")
    return None


def check_template(text: str) -> Refusal | None:
    """Gives what is wrong with a retro template, grouped or not, or None."""
    template = Template(text)
    refusal, settled = foreign_atoms(template)
    for label, change in template.changes.items():
        if refusal is not None:
            break
        if change.before.number == 6 and label not in settled:
            refusal = check_carbon(template, label, change)
    return refusal

