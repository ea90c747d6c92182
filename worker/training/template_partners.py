"""Judges which atoms of a retro template meet: are they of opposite polarity, does the atom that reacts lose something, is there
such a reagent at all?

The decision that matters: a map that takes the wrong atom still counts right, so what it shows is chemistry that does not exist:
a boronic acid that couples at another carbon than boron's, an aldehyde's C-H that organolithium replaces, two alkyl halides
that couple. Polarity follows Seebach, Angew. Chem. Int. Ed. 1979, 18, 239; sources of the exceptions stand beside them.
"""

from template_graph import HALOGENS, Atom, Change, Side, Template
from template_pots import Bond, new_bonds
from template_sanity import Reason, Refusal, leaving, unsaturated

_ELECTROPHILE = {"halide", "sulfonate"}
_REACTIVE_METALS = {3, 11, 12, 30}


def check_partners(template: Template) -> Refusal | None:
    """Gives what is wrong with the atoms that meet, or None."""
    bonds = new_bonds(template, set(template.changes))
    found = _no_such_molecule(template.precursors) or _no_such_molecule(template.product) or _no_such_source(template)
    found = found or _walks(template) or _dehydrogenated(template)
    for bond in bonds:
        found = found or _acyl_hydrogen(template, bond) or _oxidised(template, bond)
        found = found or _deoxygenated(template, bond) or _same_polarity(template, bond)
    return found


def _kinds(template: Template, change: Change) -> set[str]:
    return {leaving(template.precursors, change.before, lost) for lost in change.lost}


# ---- the atom that reacts ----


def _walks(template: Template) -> Refusal | None:
    """Refuses a group that leaves one carbon for hydrogen while another carbon, which loses hydrogen, gets the bond.

    Aryne and cine substitutions do so, but with a nucleophile that no template tells from the plain one. Tautomers of an azole name
    one carbon twice, and chloroalkenes add before they eliminate: both stay.
    """
    side = template.precursors
    changes = [change for change in template.changes.values() if change.before.number == 6]
    rings = [change for change in template.changes.values() if change.before.number == 7 and change.before.aromatic]
    tautomer = any(change.hydrogens for change in rings)
    for change in changes:
        kinds = _kinds(template, change)
        if change.gained or change.hydrogens <= 0 or not kinds:
            continue
        if _is_flat(side, change):
            leaves = kinds <= {"boron", "metal", "silicon"} or change.before.aromatic and kinds <= _ELECTROPHILE | {"carbon"}
        else:
            leaves = kinds <= _ELECTROPHILE
        for other in changes if leaves else ():
            if _takes_place(template, change, other) and not (tautomer and other.before.aromatic):
                return Refusal(Reason.OTHER_ATOM, f"{kinds.pop()} leaves one carbon and the bond is made at another")
    return None


def _is_flat(side: Side, change: Change) -> bool:
    return change.before.aromatic or unsaturated(side, change.before)


def _takes_place(template: Template, change: Change, other: Change) -> bool:
    """Says whether a bond is made at the other carbon in place of hydrogen; ethers of chloromethyl methyl ether read both ways."""
    side = template.precursors
    if other.lost or other.hydrogens >= 0 or _is_flat(side, other) != _is_flat(side, change):
        return False
    if _is_flat(side, change):
        near = side.component[other.before.index] == side.component[change.before.index]
        return near and bool({atom.number for atom in other.gained} & {6, 7, 8, 16})
    mirrored = other.before.bonds.keys() & change.before.bonds.keys() and other.before.hydrogens == 3
    return bool({atom.number for atom in other.gained} & {7, 8, 16}) and not mirrored


# ---- oxidations without an oxidant ----


def _dehydrogenated(template: Template) -> Refusal | None:
    """Refuses a benzene ring from carbons that were all saturated; a dihydro or tetrahydro arene may lose its hydrogen."""
    made = [change for change in template.changes.values() if change.after.aromatic and not change.before.aromatic]
    plain = [change for change in made if change.before.number == 6 and not change.lost]
    if len(made) >= 6 and len(plain) == len(made) and -sum(change.hydrogens for change in plain) >= 6:
        return Refusal(Reason.NO_OXIDANT, "a benzene ring of saturated carbons")
    return None


def _acyl_hydrogen(template: Template, bond: Bond) -> Refusal | None:
    """Refuses a carbon that takes the hydrogen's place at an aldehyde, which gives an alcohol and no ketone.

    Double bonds add the acyl group (Stetter, benzoin, hydroacylation), and so does an imine that a sulfone stands for (Murry et al.,
    J. Am. Chem. Soc. 2001, 123, 9696); diazo compounds give ketones (Roskamp: J. Org. Chem. 1989, 54, 3258); acyl radicals
    meet azines beside nitrogen (Minisci); formaldehyde formylates phenols (Duff, Casnati and Skattebol).
    """
    for change, partner in ((bond.first, bond.second), (bond.second, bond.first)):
        if change.before.number != 6 or partner.before.number != 6 or change.lost or change.before.hydrogens != 1:
            continue
        if partner.loosened or _kinds(template, partner) & {"azo", "sulfonyl"} or change.after.aromatic:
            continue
        azine = partner.before.aromatic and not partner.lost and _azines(template.precursors, partner.before)
        ketone = change.hydrogens == -1 and _has_oxo(template.product, change.after)
        if ketone and not azine and _is_aldehyde(template.precursors, change.before):
            return Refusal(Reason.NO_OXIDANT, "a carbon in place of an aldehyde's hydrogen")
    return None


def _is_aldehyde(side: Side, atom: Atom) -> bool:
    return _has_oxo(side, atom) and all(other.number == 6 or order == 2 for other, order in side.neighbours(atom))


def _oxidised(template: Template, bond: Bond) -> Refusal | None:
    """Refuses an alcohol, halide or epoxide that becomes an imine, an alkene or an enol ether.

    It had to be oxidised, or made an ylide, first. Ketones that become enols and vicinal dihalides that lose both do need no such step.
    """
    side = template.precursors
    for change, partner in ((bond.first, bond.second), (bond.second, bond.first)):
        kinds = _kinds(template, change)
        single = not change.after.aromatic and not unsaturated(template.product, change.after)
        ylide = partner.before.number == 6 and not partner.after.aromatic and any(lost.number == 15 for lost in partner.lost)
        if kinds == {"double"} and single and ylide:
            return Refusal(Reason.LEFT_OUT, "an ylide gives an alkene")
        epoxide = kinds == {"alkoxy"} and any(side.ring_size(change.before, lost) == 3 for lost in change.lost)
        leaves = len(change.lost) == 1 and (kinds <= {"halide", "sulfonate", "hydroxyl"} or epoxide)
        if change.before.number != 6 or not leaves or change.hydrogens >= 0 or change.after.aromatic or _is_flat(side, change):
            continue
        double = template.product.bond(change.after.index, template.product.of[partner.before.label].index) == 2
        wittig = partner.before.number in (6, 7) and double
        vinyl = partner.before.number in (7, 8, 16) and not double and unsaturated(template.product, change.after)
        if (wittig or vinyl and not _enol_or_alkene(template, change)) and not any(lost.number == 16 for lost in partner.lost):
            return Refusal(Reason.LEFT_OUT, f"{kinds.pop()} leaves for a double bond")
    return None


def _enol_or_alkene(template: Template, change: Change) -> bool:
    """Says whether the new double bond's other carbon was a ketone's or lost something itself."""
    doubly = [other for other, order in template.product.neighbours(change.after) if order == 2 and other.label]
    return any(_has_oxo(template.precursors, template.precursors.of[o.label]) or template.changes[o.label].lost for o in doubly)


def _deoxygenated(template: Template, bond: Bond) -> Refusal | None:
    """Refuses a ketone that becomes an alkene while its other alpha carbon gets a heteroatom: acetone is no allyl group."""
    for change, partner in ((bond.first, bond.second), (bond.second, bond.first)):
        plain = change.before.number == 6 and partner.before.number in (7, 8, 16) and not change.lost and change.hydrogens < 0
        if not plain or _is_flat(template.precursors, change) or change.after.aromatic or _has_oxo(template.product, change.after):
            continue
        for other, _ in template.precursors.neighbours(change.before):
            beside = template.changes.get(other.label)
            ketone = beside is not None and other.number == 6 and _has_oxo(template.precursors, other)
            if ketone and not _has_oxo(template.product, beside.after) and not beside.gained:
                return Refusal(Reason.LEFT_OUT, "a ketone's alpha carbon gets a heteroatom and its oxygen goes")
    return None


def _has_oxo(side: Side, atom: Atom) -> bool:
    return any(order == 2 and other.number == 8 for other, order in side.neighbours(atom))


# ---- polarity ----


def _same_polarity(template: Template, bond: Bond) -> Refusal | None:
    """Refuses two saturated carbons that both lose a halide, and a metal's carbon that meets another's or what only has hydrogen.

    Arenes couple with arenes and with alkyl halides by a reductant (Ullmann; Weix, Acc. Chem. Res. 2015, 48, 1767) or after one
    of them was metallated in the same flask. 1,3-dihalides close cyclopropanes with zinc (Freund).
    """
    side, first, second = template.precursors, bond.first, bond.second
    kinds, others = _kinds(template, first), _kinds(template, second)
    both_carbon = first.before.number == second.before.number == 6
    saturated = all(not change.before.aromatic and not unsaturated(side, change.before) for change in (first, second))
    leave = _ELECTROPHILE | {"hydroxyl"}
    acyl = {"halide", "hydroxyl", "alkoxy", "acyloxy", "aryloxy"}
    if both_carbon and kinds and others and kinds <= acyl and others <= acyl:
        if _has_oxo(side, first.before) and _has_oxo(side, second.before):
            return Refusal(Reason.SAME_POLARITY, "two acyl groups")
    if both_carbon and saturated and kinds and others and kinds <= leave and others <= leave and (kinds | others) & _ELECTROPHILE:
        if template.product.ring_size(first.after, second.after) not in (3, 4):
            return Refusal(Reason.SAME_POLARITY, "two alkyl halides")
    for change, arene in ((first, second), (second, first)):
        halide = arene.before.aromatic and _kinds(template, arene) and _kinds(template, arene) <= _ELECTROPHILE
        if both_carbon and halide and _kinds(template, change) == {"hydroxyl"} and not _is_flat(side, change):
            return Refusal(Reason.SAME_POLARITY, "an aryl halide and an alcohol")
    if kinds == {"metal"} and others and others <= {"metal", "boron"} or others == {"metal"} and kinds == {"boron"}:
        return Refusal(Reason.SAME_POLARITY, "two organometallics")
    for change, partner in ((first, second), (second, first)):
        if change.before.number == 6 and any(lost.number in _REACTIVE_METALS for lost in change.lost):
            if _has_hydrogen_alone(side, partner):
                return Refusal(Reason.SAME_POLARITY, "an organometallic and a hydrogen that it would take as a base")
    return None


def _has_hydrogen_alone(side: Side, change: Change) -> bool:
    """Says whether an atom has nothing to lose but hydrogen: N-H, O-H, a saturated or acetylenic C-H."""
    if change.lost or change.hydrogens >= 0 or change.loosened or change.before.charge > 0:
        return False
    if change.before.number in (7, 8, 16):
        return not unsaturated(side, change.before) and bool(change.before.bonds)
    return change.before.number == 6 and not change.before.aromatic and 2 not in change.before.bonds.values()


# ---- reagents that do not exist ----


def _no_such_molecule(side: Side) -> Refusal | None:
    """Refuses haloformic and carbamic acids, halomethanols and azidomethanols, which fall apart, as precursors and as products."""
    for carbon in side.atoms:
        single = [other for other, order in side.neighbours(carbon) if order == 1]
        if carbon.number != 6 or carbon.aromatic or not any(_is_hydroxyl(other) for other in single):
            continue
        halide = any(other.number in HALOGENS for other in single)
        nitrogen = [other for other in single if other.number == 7 and not other.charge and not other.aromatic]
        if _has_oxo(side, carbon) and halide:
            return Refusal(Reason.NO_SUCH_REAGENT, "a haloformic acid")
        if _has_oxo(side, carbon) and nitrogen:
            return Refusal(Reason.NO_SUCH_REAGENT, "a free carbamic acid")
        if halide and not unsaturated(side, carbon) and not any(other.number == 9 for other in single):
            return Refusal(Reason.NO_SUCH_REAGENT, "an alcohol with a halogen on the same carbon")
        if any(far.charge > 0 and far.number == 7 for other in nitrogen for far, _ in side.neighbours(other)):
            return Refusal(Reason.NO_SUCH_REAGENT, "an alcohol with an azide on the same carbon")
    return None


def _no_such_source(template: Template) -> Refusal | None:
    """Refuses an amine whose nitrogen is nitrous or nitric acid's, and a halogen that an arene or a plain alkyl halide gives.

    Methyl iodide (with triphenyl phosphite), vicinal dihalides, polyhalomethanes and cyanuric halides do give theirs.
    """
    side = template.precursors
    for change in template.changes.values():
        if change.before.number == 7 and _of_nitrous_acid(side, change.before) and _is_amine(template.product, change.after):
            return Refusal(Reason.NO_SUCH_REAGENT, "an amine from nitrous or nitric acid")
        wanted = change.before.number in HALOGENS and any(other.number == 6 for other in change.gained)
        if wanted and any(_keeps_halogen(side, lost) for lost in change.lost):
            return Refusal(Reason.NO_SUCH_REAGENT, "a halogen from carbon")
    return None


def _keeps_halogen(side: Side, carbon: Atom) -> bool:
    """Says whether a carbon gives its halogen to nothing: arenes but cyanuric halides, and alkyl halides with no second halogen."""
    if carbon.number != 6 or carbon.label:
        return False
    if carbon.aromatic:
        return _azines(side, carbon) < 2
    halogens = sum(atom.number in HALOGENS for atom in side.atoms if side.component[atom.index] == side.component[carbon.index])
    return not unsaturated(side, carbon) and halogens < 2 and len(carbon.bonds) > 1


def _azines(side: Side, carbon: Atom) -> int:
    """Counts the ring nitrogens beside an aromatic carbon: cyanuric halides, with two, do give their halogen."""
    return sum(other.number == 7 and other.aromatic for other, _ in side.neighbours(carbon))


def _is_hydroxyl(atom: Atom) -> bool:
    return atom.number == 8 and len(atom.bonds) == 1 and (not atom.label or atom.hydrogens == 1 or atom.degree == 1)


def _of_nitrous_acid(side: Side, nitrogen: Atom) -> bool:
    neighbours = [other for other, _ in side.neighbours(nitrogen)]
    return len(neighbours) > 1 and all(other.number == 8 for other in neighbours)


def _is_amine(side: Side, nitrogen: Atom) -> bool:
    if nitrogen.aromatic or unsaturated(side, nitrogen) or nitrogen.charge:
        return False
    return all(other.number in (6, 16) for other, _ in side.neighbours(nitrogen))
