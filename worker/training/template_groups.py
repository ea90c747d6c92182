"""Groups that leave a heteroatom for hydrogen, and the conditions that take them off.

The decision that matters: what counts is the flask, not the reagent: everything that acid takes off goes together. The table
follows Greene and Wuts, *Protective Groups in Organic Synthesis*, reactivity charts 1 to 10.
"""

import enum

from template_graph import Atom, Change, Side, Template
from template_sanity import draws_electrons, unsaturated


class Conditions(enum.Flag):
    """Conditions that a change needs, as a chemist would choose a flask."""

    ACID = enum.auto()  # hydrogen chloride, trifluoroacetic or hot aqueous acid
    BASE = enum.auto()  # hydroxide, alkoxide
    AMINE = enum.auto()  # ammonia, hydrazine or an amine in excess
    FLUORIDE = enum.auto()
    LEWIS_ACID = enum.auto()  # boron tribromide, iodotrimethylsilane
    HYDROGEN = enum.auto()
    METAL = enum.auto()  # iron, zinc or tin(II) with acid
    HYDRIDE = enum.auto()  # lithium aluminium hydride, borane
    BOROHYDRIDE = enum.auto()
    ALKYLATION = enum.auto()
    ACYLATION = enum.auto()  # acid chlorides, anhydrides, sulfonyl chlorides
    COUPLING = enum.auto()  # an acid with a coupling agent
    MITSUNOBU = enum.auto()
    ARYLATION = enum.auto()  # nucleophilic aromatic substitution
    PALLADIUM = enum.auto()
    ORGANOMETALLIC = enum.auto()
    OXIDANT = enum.auto()
    CHLORINATION = enum.auto()  # phosphoryl or thionyl chloride
    HALOGENATION = enum.auto()
    NITRATION = enum.auto()


C = Conditions
ANY = ~C(0)
NONE = C(0)
HYDROLYSIS = C.ACID | C.BASE
REDUCTION = C.HYDROGEN | C.METAL

# ---- groups that leave a heteroatom for hydrogen ----

# By the group: what removes it from an acid's oxygen, another oxygen, an amine or amide, an azole's nitrogen, sulfur.
_REMOVAL: dict[str, tuple[Conditions, Conditions, Conditions, Conditions, Conditions]] = {
    "trimethylsilyl": (ANY,) * 5,  # no work-up leaves it
    "silyl": (ANY, C.FLUORIDE | C.ACID | C.BASE | C.LEWIS_ACID | C.ARYLATION | C.ORGANOMETALLIC, ANY, ANY, ANY),
    # Suzuki's hot base takes it off azoles, as its pinacol esters of pyrazoles show.
    "tert-butoxycarbonyl": (
        ANY, HYDROLYSIS | C.LEWIS_ACID, C.ACID | C.LEWIS_ACID, HYDROLYSIS | C.LEWIS_ACID | C.AMINE | C.PALLADIUM, ANY,
    ),
    "benzyloxycarbonyl": (ANY, REDUCTION | HYDROLYSIS, C.HYDROGEN | C.ACID | C.LEWIS_ACID, C.HYDROGEN | HYDROLYSIS | C.AMINE, ANY),
    "fluorenylmethoxycarbonyl": (ANY, C.AMINE | C.BASE, C.AMINE | C.BASE, C.AMINE | C.BASE, C.AMINE | C.BASE),
    "alkoxycarbonyl": (
        ANY, HYDROLYSIS | C.AMINE, HYDROLYSIS | C.LEWIS_ACID | C.AMINE | C.METAL, HYDROLYSIS | C.AMINE, HYDROLYSIS | C.AMINE,
    ),
    "trifluoroacetyl": (ANY, HYDROLYSIS | C.AMINE, HYDROLYSIS | C.AMINE | C.BOROHYDRIDE, ANY, ANY),
    "acyl": (
        ANY, HYDROLYSIS | C.AMINE | C.HYDRIDE | C.ORGANOMETALLIC, HYDROLYSIS | C.AMINE,
        HYDROLYSIS | C.AMINE | C.BOROHYDRIDE | C.HYDRIDE | C.ORGANOMETALLIC,
        HYDROLYSIS | C.AMINE | C.HYDRIDE | C.ALKYLATION | C.ARYLATION | C.PALLADIUM,  # a thioacetate stands for the thiolate
    ),
    "trityl": (C.ACID | C.HYDROGEN | C.LEWIS_ACID,) * 5,
    "methoxybenzyl": (
        C.ACID | C.HYDROGEN | C.LEWIS_ACID | C.BASE, C.ACID | C.HYDROGEN | C.LEWIS_ACID | C.OXIDANT,
        C.ACID | C.HYDROGEN | C.LEWIS_ACID | C.OXIDANT | C.ACYLATION, C.ACID | C.HYDROGEN | C.LEWIS_ACID, C.ACID | C.LEWIS_ACID,
    ),
    "benzyl": (
        HYDROLYSIS | C.HYDROGEN | C.LEWIS_ACID, C.ACID | C.HYDROGEN | C.LEWIS_ACID, C.HYDROGEN | C.ACYLATION, C.HYDROGEN | C.ACID | C.LEWIS_ACID,
        C.METAL | C.LEWIS_ACID,
    ),
    "acetal": (HYDROLYSIS | C.LEWIS_ACID, C.ACID | C.LEWIS_ACID, C.ACID, C.ACID | C.FLUORIDE | C.LEWIS_ACID, C.ACID),
    "aminal": (HYDROLYSIS, C.ACID, C.ACID | C.AMINE, HYDROLYSIS | C.AMINE, C.ACID),
    "tert-butyl": (C.ACID | C.LEWIS_ACID,) * 5,
    "allyl": (C.PALLADIUM | C.BASE, C.PALLADIUM | C.ACID | C.LEWIS_ACID, C.PALLADIUM | C.ACYLATION, C.PALLADIUM, C.PALLADIUM),
    "aryl": (HYDROLYSIS | C.AMINE, C.LEWIS_ACID, NONE, NONE, NONE),
    "alkyl": (
        HYDROLYSIS | C.LEWIS_ACID, C.LEWIS_ACID | C.ACID, C.LEWIS_ACID | C.ACYLATION, NONE, C.LEWIS_ACID | C.METAL,
    ),
    "beta-acceptor": (C.BASE | HYDROLYSIS, C.BASE, C.BASE, C.BASE, C.BASE),
    "imine": (ANY, ANY, C.ACID | C.AMINE | C.BASE, ANY, ANY),
    "sulfonyl": (
        ANY, C.BASE | C.HYDRIDE | C.AMINE | C.METAL, C.ACID | C.METAL | C.AMINE | C.BASE, C.BASE | C.FLUORIDE | C.HYDRIDE | C.AMINE, ANY,
    ),
    "sulfinyl": (ANY, ANY, C.ACID, ANY, REDUCTION | C.HYDRIDE),
    "heteroatom": (ANY, REDUCTION | C.HYDRIDE, REDUCTION | C.HYDRIDE | C.ACID, REDUCTION | C.HYDRIDE, ANY),
    "carbamoyl": (ANY,) * 5,  # cyano groups, too: thiocyanates are thiolates in waiting
}  # fmt: skip


def protecting_group(side: Side, atom: Atom, lost: Atom) -> str:
    """Names the group that an atom loses, by the atom that it is bound through."""
    if lost.number in (14, 5):
        methyls = sum(other.number == 6 and len(other.bonds) == 1 for other, _ in side.neighbours(lost))
        return "trimethylsilyl" if methyls == 3 else "silyl"
    if lost.number == 16:
        oxygens = sum(other.number == 8 and order == 2 for other, order in side.neighbours(lost))
        return "sulfonyl" if oxygens == 2 else "sulfinyl"
    if lost.number != 6:
        return "heteroatom"
    others = [(other, order) for other, order in side.neighbours(lost) if other is not atom]
    if any(order == 3 for _, order in others):
        return "carbamoyl"
    if side.bond(atom.index, lost.index) == 2 and any(other.number == 8 and order == 2 for other, order in others):
        return "carbamoyl"
    if side.bond(atom.index, lost.index) == 2:
        return "imine"
    if any(other.number in (8, 16) and order == 2 for other, order in others):
        return _acyl(side, lost, [other for other, order in others if order == 1])
    return _alkyl(side, lost, [other for other, _ in others])


def _acyl(side: Side, carbonyl: Atom, others: list[Atom]) -> str:
    oxygen = next((other for other in others if other.number == 8), None)
    if any(other.number == 7 for other in others):
        return "carbamoyl"
    if oxygen is None:
        fluorinated = any(sum(far.number == 9 for far, _ in side.neighbours(other)) == 3 for other in others)
        return "trifluoroacetyl" if fluorinated else "acyl"
    for alkyl, _ in side.neighbours(oxygen):
        carbons = [other for other, _ in side.neighbours(alkyl) if other.number == 6]
        if alkyl is carbonyl or alkyl.aromatic:
            continue
        if len(carbons) == 3:
            return "tert-butoxycarbonyl"
        if any(other.aromatic for other in carbons):
            return "benzyloxycarbonyl"
        if any(sum(far.aromatic for far, _ in side.neighbours(other)) == 2 for other in carbons):
            return "fluorenylmethoxycarbonyl"
    return "alkoxycarbonyl"


def _alkyl(side: Side, carbon: Atom, others: list[Atom]) -> str:
    arenes = [other for other in others if other.aromatic]
    if carbon.aromatic:
        return "aryl"
    if any(other.number == 8 for other in others):
        return "acetal"
    if any(other.number == 7 for other in others):
        return "aminal"
    if len(arenes) > 1:
        return "trityl" if len(arenes) == 3 else "methoxybenzyl"
    if arenes:
        ring = [atom for atom in side.atoms if side.component[atom.index] == side.component[carbon.index] and atom.aromatic]
        own = _ring_of(side, arenes[0])
        electron_rich = any(other.number == 8 for atom in ring if atom.index in own for other, _ in side.neighbours(atom))
        return "methoxybenzyl" if electron_rich else "benzyl"
    if sum(other.number == 6 for other in others) == 3:
        return "tert-butyl"
    if any(unsaturated(side, other) and other.number == 6 and not draws_electrons(side, other) for other in others):
        return "allyl"
    far = [partner for other in others if other.number == 6 for partner, _ in side.neighbours(other) if partner is not carbon]
    return "beta-acceptor" if any(draws_electrons(side, atom) or atom.number == 14 for atom in far) else "alkyl"


def _ring_of(side: Side, atom: Atom) -> set[int]:
    ring, near = {atom.index}, {atom.index}
    while near:
        near = {other for index in near for other, order in side.atoms[index].bonds.items() if order == 1.5} - ring
        ring |= near
    return ring


def removal(template: Template, change: Change) -> Conditions:
    """Gives the conditions under which a heteroatom loses its groups for hydrogen."""
    side, atom, found = template.precursors, change.before, ANY
    if atom.aromatic and not change.after.aromatic or any(other.number == 5 for other, _ in side.neighbours(atom)):
        return ANY  # a pyrrole that stood for an amine, a boronic ester
    if all(lost.number == 14 for lost in change.lost) and any(other.number == 7 for other, _ in side.neighbours(atom)):
        return ANY  # a silylated hydroxylamine, freed by any work-up
    for lost in change.lost:
        row = _REMOVAL[protecting_group(side, atom, lost)]
        if atom.number == 8:
            acid = any(draws_electrons(side, other) for other, order in side.neighbours(atom) if order == 1 and other is not lost)
            phenol = any(other.aromatic for other, _ in side.neighbours(atom) if other is not lost)
            conditions = row[0] if acid else row[1]
            # An aryl ester gives way to every base, so to the carbonate of an alkylation or a substitution.
            if phenol and conditions & C.AMINE and lost.number == 6:
                conditions |= C.ALKYLATION | C.ARYLATION
        else:
            conditions = row[4] if atom.number in (16, 34) else row[3] if atom.aromatic else row[2]
        found &= conditions
    return found
