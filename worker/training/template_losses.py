"""Judges what a retro template takes away: which groups leave carbon for hydrogen, and which alkyl groups leave a heteroatom.

The decision that matters: such a template fits every C-H, N-H and O-H, so that a search may hang any group on any atom to find it for
sale. It stays where the group is one that chemists do take away there: sources are Larock, *Comprehensive Organic Transformations*
(reductive removal of functional groups) and Greene and Wuts, *Protective Groups in Organic Synthesis*.
"""

from template_graph import Atom, Change, Side, Template
from template_groups import protecting_group
from template_sanity import Reason, Refusal, beside_acceptor, beside_heteroatom, beside_unsaturation, draws_electrons, is_azine, leaving

# What oxygen leaves a saturated carbon by, without help: halide and sulfonate, sulfur and selenium, xanthates.
_OXYGEN = {"hydroxyl", "alkoxy", "acyloxy", "aryloxy", "silyloxy"}


def check_losses(template: Template) -> Refusal | None:
    """Gives a group that does not leave for hydrogen, or None."""
    for change in template.changes.values():
        if change.gained or change.hydrogens <= 0 or not change.lost:
            continue
        if change.before.number == 6 and not _leaves_carbon(template, change):
            return Refusal(Reason.POOR_LEAVING_GROUP, "for hydrogen")
        if change.before.number in (7, 8) and not _leaves_heteroatom(template, change):
            return Refusal(Reason.POOR_LEAVING_GROUP, "an alkyl group that nothing takes off")
    return None


def _leaves_carbon(template: Template, change: Change) -> bool:
    side, carbon = template.precursors, change.before
    for lost in change.lost:
        kind = leaving(side, carbon, lost)
        if carbon.aromatic and change.after.aromatic:
            if kind in _OXYGEN | {"nitro"} or kind == "carbon" and not _carboxyl(side, carbon, lost):
                return False
        elif not carbon.aromatic and max(carbon.bonds.values(), default=0) == 1 and not _leaves_saturated(template, change, lost, kind):
            return False
    return True


def _carboxyl(side: Side, carbon: Atom, lost: Atom) -> bool:
    """Says whether an acid or its tert-butyl ester leaves an arene, or a tert-butyl group or an aldehyde does.

    Esters and nitriles of heteroarenes are hydrolysed and decarboxylated in one flask.
    """
    others = [(other, order) for other, order in side.neighbours(lost) if other is not carbon]
    if any(order == 3 for _, order in others):
        return is_azine(side, carbon)
    if not any(order == 2 and other.number == 8 for other, order in others):
        return len(others) == 3  # tert-butyl, and a carbinol that falls apart
    rest = [other for other, order in others if order == 1]
    oxygens = [other for other in rest if other.number == 8]
    tertiary = any(len(far.bonds) == 4 for other in oxygens for far, _ in side.neighbours(other) if far is not lost)
    return not rest or bool(oxygens) and (len(oxygens[0].bonds) == 1 or tertiary or is_azine(side, carbon))


def _leaves_saturated(template: Template, change: Change, lost: Atom, kind: str) -> bool:
    side, carbon = template.precursors, change.before
    activated = beside_unsaturation(side, carbon, lost) or beside_heteroatom(side, carbon, lost)
    if kind == "carbon" and side.ring_size(carbon, lost) == 3:
        return True
    if kind == "carbon":
        if lost.label and template.product.of[lost.label].hydrogens is not None:
            return activated or draws_electrons(side, lost) or bool(template.changes[lost.label].gained) or max(lost.bonds.values()) > 1
        return beside_acceptor(side, carbon) or beside_heteroatom(side, carbon) or not draws_electrons(side, lost)
    if kind in _OXYGEN:
        thiocarbonyl = any(order == 2 and far.number == 16 for far, order in side.neighbours(_next(side, carbon, lost)))
        strained = side.ring_size(carbon, lost) == 3
        tertiary = sum(other.number == 6 for other, _ in side.neighbours(carbon)) == 3
        return activated or thiocarbonyl or strained or tertiary
    return kind not in ("amine", "azole") or activated or side.ring_size(carbon, lost) == 3


def _next(side: Side, carbon: Atom, oxygen: Atom) -> Atom:
    return next((other for other, _ in side.neighbours(oxygen) if other is not carbon), oxygen)


def _leaves_heteroatom(template: Template, change: Change) -> bool:
    """Says whether an alkyl group leaves: methyl leaves amines and ethers, small ones esters and aryl ethers, large ones esters alone."""
    side, atom = template.precursors, change.before
    if atom.aromatic or change.after.aromatic:
        return True
    kept = [other for other, order in side.neighbours(atom) if other not in change.lost and order == 1]
    if any(other.number not in (6, 7) or other.label in template.changes for other in kept):
        return True  # boronic and phosphonic esters, a carbamate that becomes methyl
    for lost in change.lost:
        plain = all(other.number == 6 for other, _ in side.neighbours(lost) if other is not atom)
        if lost.number != 6 or lost.label or not plain or protecting_group(side, atom, lost) != "alkyl":
            continue
        methyl = len(lost.bonds) == 1
        acyl = any(draws_electrons(side, other) for other in kept)
        phenol = any(other.aromatic for other in kept)
        if atom.number == 8 and not (methyl or acyl or phenol):
            return False
        if atom.number == 7 and (acyl or not methyl):
            return False
    return True
