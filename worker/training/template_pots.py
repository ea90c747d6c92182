"""Judges retro templates that change a molecule in two places: does one flask do both?

The decision that matters: a recorded product often lacks a group that a later step or the work-up took, and a template that
remembers both claims a coupling that saponifies an ester by the way. So each change is given the conditions that make it
(`template_groups.Conditions`), and a template stays only if all its changes share one of them: two esters with hydroxide, a nitro
group and a benzyl ether with hydrogen, a Boc group and an acetal with acid. A change that no rule here knows agrees with all
conditions. Reductions follow Clayden, *Organic Chemistry*, chapter 23.
"""

import dataclasses
import functools
import operator

from template_graph import HALOGENS, Atom, Change, Side, Template
from template_groups import ANY, HYDROLYSIS, NONE, REDUCTION, C, Conditions, removal
from template_sanity import (
    Reason,
    Refusal,
    beside_unsaturation,
    draws_electrons,
    is_azine,
    leaving,
    unsaturated,
)

# ---- reductions, oxidations and exchanges without a new bond ----


def _is_nitro(side: Side, atom: Atom) -> bool:
    return atom.number == 7 and atom.charge > 0 and sum(other.number == 8 for other, _ in side.neighbours(atom)) == 2


def without_bond(template: Template, changes: list[Change]) -> Conditions:
    """Gives the conditions of a change that makes no bond between atoms of the product."""
    carbons = [_of_carbon(template, change) for change in changes if change.before.number == 6]
    heteroatoms = [_of_heteroatom(template, change) for change in changes if change.before.number in (7, 8, 16, 34)]
    if any(not conditions for conditions in carbons):
        return NONE
    # An ester's oxygen loses its alkyl group because the carbon beside it is reduced, and neighbours that change together
    # (an allylic alcohol to a ketone, an enoate to an alcohol) do so by conditions of their own.
    changed = [conditions for conditions in carbons if conditions != ANY] or heteroatoms
    return _all(changed) or (ANY if len(changed) > 1 else NONE)


def _all(conditions: list[Conditions]) -> Conditions:
    return functools.reduce(operator.and_, conditions, ANY)


def _of_heteroatom(template: Template, change: Change) -> Conditions:
    side, atom = template.precursors, change.before
    if _is_nitro(side, atom) and change.lost:
        return REDUCTION | C.ACID
    if any(other.number == 7 for other in change.lost) and any(side.bond(atom.index, other.index) == 2 for other in change.lost):
        return REDUCTION | C.HYDRIDE
    if not change.lost or change.hydrogens <= 0 and not change.tightened:
        return ANY
    return removal(template, change)


def _of_carbon(template: Template, change: Change) -> Conditions:
    side, carbon = template.precursors, change.before
    kinds = {leaving(side, carbon, lost) for lost in change.lost}
    loosened = {other.number for other in change.loosened}
    if kinds & {"halide", "sulfonate"} and change.hydrogens > 0:
        return REDUCTION | C.HYDRIDE
    if "boron" in kinds and change.hydrogens > 0:
        return NONE
    if "silicon" in kinds and change.hydrogens > 0:
        alkynyl = any(order == 3 for order in carbon.bonds.values())
        return HYDROLYSIS | C.FLUORIDE | (C.AMINE | C.PALLADIUM if alkynyl else NONE)
    if "carbon" in kinds and change.hydrogens > 0:
        return HYDROLYSIS | C.LEWIS_ACID
    if kinds == {"hydroxyl"} and change.hydrogens == 1 and not unsaturated(side, carbon):
        return C.HYDROGEN | C.ACID
    if change.hydrogens > 0:
        return _reduced(template, change, kinds, loosened)
    if change.hydrogens < 0 and any(other.number == 8 for other in change.tightened) and not change.lost:
        return C.OXIDANT
    if kinds and kinds <= {"alkoxy"} and any(other.number == 8 for other in change.tightened):
        return C.ACID | C.LEWIS_ACID
    return ANY


def _reduced(template: Template, change: Change, kinds: set[str], loosened: set[int]) -> Conditions:
    side, carbon = template.precursors, change.before
    beside = {other.number for other, order in side.neighbours(carbon) if order == 1}
    if 8 in loosened:
        return C.HYDRIDE if kinds else C.HYDRIDE | C.BOROHYDRIDE | C.HYDROGEN
    if "double" in kinds:
        amide = bool(beside & {7, 8})
        return C.HYDRIDE if amide else C.HYDRIDE | C.HYDROGEN | C.ACID
    if 7 in loosened:
        return C.HYDRIDE | C.HYDROGEN | (NONE if 3 in carbon.bonds.values() else C.BOROHYDRIDE)
    return C.HYDROGEN if 6 in loosened and not kinds else ANY


# ---- new bonds ----


@dataclasses.dataclass(frozen=True)
class Bond:
    """A bond that a template makes, with the changes of its two atoms; a carbon that something leaves comes first."""

    first: Change
    second: Change


def new_bonds(template: Template, labels: set[int]) -> list[Bond]:
    """Lists the bonds between mapped atoms that a template makes."""
    found = []
    for label in sorted(labels):
        change = template.changes[label]
        for other in change.gained:
            if other.label > label and other.label in template.changes:
                pair = sorted((change, template.changes[other.label]), key=lambda one: (one.before.number != 6, not one.lost))
                found.append(Bond(pair[0], pair[1]))
    return found


def of_bond(template: Template, bond: Bond) -> Conditions:
    """Gives the conditions under which a bond is made."""
    side, carbon, partner = template.precursors, bond.first, bond.second
    if partner.before.number in HALOGENS:
        return _halogenation(side, carbon)
    if carbon.before.number != 6:
        return C.ACYLATION if carbon.before.number == 16 or partner.before.number == 16 else ANY
    kinds = {leaving(side, carbon.before, lost) for lost in carbon.lost}
    if partner.before.number == 6:
        return _carbon_carbon(template, bond, kinds)
    if _is_nitro(template.product, partner.after):
        return C.NITRATION if not kinds else ANY
    if carbon.before.aromatic:
        if not kinds & {"halide", "sulfonate", "sulfonyl", "nitro", "thio"}:
            return ANY
        azine = is_azine(side, carbon.before)
        substitution = C.ARYLATION | C.PALLADIUM
        nitrogen = C.AMINE | (C.ACID if azine else NONE)
        return substitution | (nitrogen if partner.before.number == 7 else C.BASE)
    near = side.component[carbon.before.index] == side.component[partner.before.index] or _is_nitro(side, partner.before)
    if near and partner.before.number == 7 and kinds <= {"alkoxy", "aryloxy", "double"}:
        return ANY  # a lactam or a cyclic imine closes as soon as its amine is free
    if any(order == 2 and other.number in (8, 16) for other, order in template.product.neighbours(carbon.after)):
        carbamate = any(order == 1 and other.number == 8 for other, order in template.product.neighbours(carbon.after))
        acid = any(_is_acid_oxygen(other) for other, order in side.neighbours(carbon.before) if order == 1)
        return _acylation(kinds, partner, carbamate, acid)
    return _at_carbon(template, bond, kinds)


def _is_acid_oxygen(atom: Atom) -> bool:
    return atom.number == 8 and len(atom.bonds) == 1 and (not atom.label or atom.hydrogens == 1)


def _halogenation(side: Side, carbon: Change) -> Conditions:
    if carbon.before.number != 6:
        return ANY
    if not carbon.lost:
        return C.HALOGENATION if carbon.hydrogens < 0 else ANY
    kinds = {leaving(side, carbon.before, lost) for lost in carbon.lost}
    return C.CHLORINATION | C.LEWIS_ACID | C.MITSUNOBU | C.ACID if kinds <= {"hydroxyl", "double"} else ANY


def _acylation(kinds: set[str], partner: Change, carbamate: bool, acid: bool) -> Conditions:
    nitrogen = partner.before.number == 7
    if kinds & {"halide", "acyloxy"}:
        # Anhydrides catch the amine as it is made: di-tert-butyl dicarbonate under hydrogen, acetic anhydride with iron.
        return C.ACYLATION | (REDUCTION if "acyloxy" in kinds or carbamate else NONE)
    if kinds <= {"hydroxyl", "double"} and acid:
        return C.COUPLING if nitrogen else C.COUPLING | C.ACID
    if kinds & {"alkoxy", "aryloxy"}:
        return C.AMINE | C.BASE if nitrogen else HYDROLYSIS
    return ANY


def _at_carbon(template: Template, bond: Bond, kinds: set[str]) -> Conditions:
    side, carbon, partner = template.precursors, bond.first, bond.second
    nitrogen = partner.before.number == 7
    if "double" in kinds:
        if nitrogen and carbon.hydrogens > 0:
            return C.BOROHYDRIDE | C.HYDROGEN
        return C.ACID | C.AMINE | C.BASE if nitrogen else C.ACID
    if unsaturated(side, carbon.before):
        return ANY
    water = partner.before.number == 8 and not partner.before.bonds
    if kinds & {"halide", "sulfonate"}:
        return HYDROLYSIS if water else C.ALKYLATION | (C.AMINE if nitrogen and not partner.before.aromatic else NONE)
    if kinds == {"hydroxyl"}:
        ester = partner.before.number == 8 and any(draws_electrons(side, other) for other, _ in side.neighbours(partner.before))
        ionised = beside_unsaturation(side, carbon.before)
        return C.MITSUNOBU | (C.ACID | C.COUPLING if ester else NONE) | (C.ACID if ionised else NONE)
    return ANY


def _carbon_carbon(template: Template, bond: Bond, kinds: set[str]) -> Conditions:
    side = template.precursors
    other = {leaving(side, bond.second.before, lost) for lost in bond.second.lost}
    both = kinds | other
    if "metal" in both or "boron" in both:
        addition = any(change.loosened and change.loosened[0].number == 8 for change in (bond.first, bond.second))
        return C.ORGANOMETALLIC if addition else C.PALLADIUM | (NONE if "boron" in both else C.ORGANOMETALLIC)
    if bond.first.before.aromatic and kinds & {"halide", "sulfonate"}:
        acidic = not unsaturated(side, bond.second.before) and not bond.second.before.aromatic
        return C.PALLADIUM | (C.ARYLATION | C.BASE if acidic else NONE)
    if "double" in both:
        return C.BASE | C.AMINE | C.ACID
    saturated = not unsaturated(side, bond.first.before) and not bond.first.before.aromatic
    if saturated and kinds & {"halide", "sulfonate"} and not other:
        return C.ALKYLATION | C.LEWIS_ACID if bond.second.before.aromatic else C.ALKYLATION
    return ANY


# ---- places ----


def places(template: Template) -> list[set[int]]:
    """Groups the changed atoms: neighbours, what one leaving group joins and what closes one ring belong together."""
    groups = [{label} for label in template.changes]
    for side in (template.product, template.precursors):
        for label in template.changes:
            atom = side.of[label]
            near = {other.label for other, _ in side.neighbours(atom) if other.label in template.changes}
            groups = _merged(groups, near | {label})
    for fragment in _unmapped_fragments(template.precursors):
        groups = _merged(groups, fragment & template.changes.keys())
    between: dict[tuple[int, int], set[int]] = {}
    for bond in new_bonds(template, set(template.changes)):
        ends = sorted((bond.first.before, bond.second.before), key=lambda atom: template.precursors.component[atom.index])
        pair = (template.precursors.component[ends[0].index], template.precursors.component[ends[1].index])
        between.setdefault(pair, set()).update(atom.label for atom in ends)
    for labels in between.values():
        groups = _merged(groups, labels)
    return groups


def _merged(groups: list[set[int]], together: set[int]) -> list[set[int]]:
    touched = [group for group in groups if group & together]
    return [group for group in groups if not group & together] + ([set().union(*touched)] if touched else [])


def _unmapped_fragments(side: Side) -> list[set[int]]:
    """Lists, for every fragment that the product does not have, the map numbers of the atoms that it hangs on."""
    found, seen = [], set()
    for start in side.atoms:
        if start.label or start.index in seen:
            continue
        near, touched = {start.index}, set()
        while near:
            seen |= near
            neighbours = {other for index in near for other in side.atoms[index].bonds}
            touched |= {side.atoms[other].label for other in neighbours if side.atoms[other].label}
            near = {other for other in neighbours if not side.atoms[other].label} - seen
        found.append(touched)
    return found


def of_place(template: Template, labels: set[int]) -> Conditions:
    """Gives the conditions of all that changes in one place."""
    changes = [template.changes[label] for label in labels]
    bonds = new_bonds(template, labels)
    if len(bonds) > 1 or any(change.after.aromatic and not change.before.aromatic for change in changes):
        return ANY  # a ring is made, by conditions of its own
    if not bonds:
        return without_bond(template, changes)
    found = of_bond(template, bonds[0])
    ends = {id(bonds[0].first), id(bonds[0].second)}
    for change in changes:
        if id(change) not in ends:
            found &= _beside(template, change, bonds[0])
        elif change.before.number in (7, 8, 16) and change.lost:
            found &= _freed(template, change)
    return found


def _beside(template: Template, change: Change, bond: Bond) -> Conditions:
    """Gives the conditions of what happens beside a new bond: a group that is freed, an ester or halide that is reduced."""
    side, atom = template.precursors, change.before
    if atom.number == 6:
        kinds = {leaving(side, atom, lost) for lost in change.lost}
        plain = not unsaturated(side, atom) and not atom.aromatic and kinds & {"halide", "sulfonate"}
        ester = any(other.number == 8 for other in change.loosened) and bool(kinds)
        return _of_carbon(template, change) if change.hydrogens > 0 and (plain or ester) else ANY
    if atom.number not in (7, 8, 16) or not change.lost or any(lost.label for lost in change.lost):
        return ANY
    ends = {bond.first.before.label, bond.second.before.label}
    if any(atom.label in touched and touched & ends for touched in _unmapped_fragments(side)):
        return ANY  # the acetal of a hydroxy acid opens at its ester
    saponified = atom.number == 8 and any(_is_carboxyl(template, other) for other, _ in side.neighbours(atom))
    freed = change.hydrogens > 0 and all(lost.number in (6, 14, 16) for lost in change.lost)
    return removal(template, change) if freed or saponified else ANY


def _is_carboxyl(template: Template, carbon: Atom) -> bool:
    """Says whether a carbon is one of an ester before and of an acid after."""
    if carbon.number != 6 or not carbon.label or carbon.label in template.changes and template.changes[carbon.label].gained:
        return False
    after = template.product.of[carbon.label]
    oxygens = [other for other, _ in template.product.neighbours(after) if other.number == 8]
    return len(oxygens) == 2 and any(other.hydrogens == 1 for other in oxygens)


def _freed(template: Template, change: Change) -> Conditions:
    """Gives the conditions that free a heteroatom for the bond it makes."""
    side, atom = template.precursors, change.before
    if _is_nitro(side, atom) and not _is_nitro(template.product, change.after):
        return REDUCTION
    if any(lost.number == 7 and side.bond(atom.index, lost.index) == 2 for lost in change.lost) and not atom.aromatic:
        return ANY if unsaturated(template.product, change.after) else REDUCTION | C.HYDRIDE
    acid = any(other.number in (15, 16) for other, _ in side.neighbours(atom) if other not in change.lost)
    of_reagent = atom.number == 8 and (acid or len(atom.bonds) == len(change.lost))  # of sulfuric acid, of triflic anhydride
    protected = not of_reagent and all(lost.number in (6, 14, 16) and not lost.label for lost in change.lost)
    return removal(template, change) if protected else ANY


def shared(template: Template) -> Conditions:
    """Gives the conditions that all changes of a template share."""
    found = ANY
    for labels in places(template):
        found &= of_place(template, labels)
    return found


def check_pots(template: Template) -> Refusal | None:
    """Gives a refusal where the changes of a template share no conditions."""
    return None if shared(template) else Refusal(Reason.TWO_FLASKS, f"in {len(places(template))} places")
