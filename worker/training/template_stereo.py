"""Makes templates state what a substitution does to a stereocentre, and refuses those that make one enantiomer of nothing.

The decision that matters: RDKit, and our engine after it, ignores configurations when it matches and compares the marks of both sides. A
centre marked on neither side keeps what it has, the group that leaves standing where the one that came stood: retention, which no SN2
gives. So a substituted carbon is marked on both sides, turned over. One such template serves both enantiomers and the racemate.
"""

import dataclasses
import enum
import re

from rdkit.Chem import AllChem

from template_graph import HALOGENS, Atom, Change, Template
from template_sanity import ELECTROFUGES, beside_heteroatom, draws_electrons, leaving, unsaturated

_MARKED = re.compile(r"\[[^\[\]]*@[^\[\]]*\]")
# What RDKit finds by comparing the marks of a mapped atom.
TURNED_OVER, KEPT = 1, 2


class Verdict(enum.StrEnum):
    """What becomes of a template."""

    UNCHANGED = "unchanged"
    MARKED = "a substitution marked as turning the centre over"
    TURNED = "a substitution with retention turned over"
    OTHER_OXYGEN = "an aryl ether whose map took the arene's oxygen for the leaving one, now of primary carbon"
    DOUBTFUL = "a substitution with retention, by a way that the template does not tell"
    FROM_NOTHING = "a single enantiomer from nothing chiral"
    LOST = "a stated centre that is lost for nothing"

    @property
    def is_refusal(self) -> bool:
        """Says whether the template goes."""
        return self in (Verdict.DOUBTFUL, Verdict.FROM_NOTHING, Verdict.LOST)


@dataclasses.dataclass(frozen=True)
class Mended:
    """A template as it should be, and what was done to it."""

    text: str
    verdict: Verdict


def _marks(side: str) -> dict[int, str]:
    found = {}
    for token in _MARKED.findall(side):
        label = re.search(r":(\d+)\]$", token)
        found[int(label.group(1)) if label else -1 - len(found)] = token
    return found


def relations(text: str) -> dict[int, int]:
    """Maps the centres that both sides mark to `TURNED_OVER` or `KEPT`, what leaves standing for what came."""
    reaction = AllChem.ReactionFromSmarts(text)
    reaction.Initialize()
    product, precursors = text.split(">>")
    both = _marks(product).keys() & _marks(precursors).keys()
    atoms = [atom for part in reaction.GetProducts() for atom in part.GetAtoms() if atom.GetAtomMapNum() in both]
    return {atom.GetAtomMapNum(): atom.GetIntProp("molInversionFlag") for atom in atoms if atom.HasProp("molInversionFlag")}


def mirrored(text: str) -> str:
    """Writes the mirror image of a template that means the same: one whose every centre both sides mark; others are given as they are."""
    product, precursors = (_marks(side).keys() for side in text.split(">>"))
    if product != precursors or min(product, default=0) < 0:
        return text
    return text.replace("@@", "\0").replace("@", "@@").replace("\0", "@")


# ---- substitution at a saturated carbon ----


def is_displacement(template: Template, change: Change) -> bool:
    """Says whether one group displaces another at a carbon, from behind as far as anybody knows.

    Glycosides and other acetals ionise, organometallics couple by a metal, arenes meet a cation: none of them counts. An ester made of
    an alcohol and an acid is no substitution at the alcohol's carbon, whichever oxygen the map takes.
    """
    side, carbon = template.precursors, change.before
    if carbon.number != 6 or carbon.aromatic or change.after.aromatic or len(change.lost) != 1 or len(change.gained) != 1:
        return False
    if change.hydrogens or unsaturated(side, carbon) or unsaturated(template.product, change.after):
        return False
    leaver, entering = change.lost[0], change.gained[0]
    kind = leaving(side, carbon, leaver)
    strained = side.ring_size(carbon, leaver) == 3
    if kind not in ("halide", "sulfonate", "hydroxyl") and not (strained and kind in ("alkoxy", "amine")):
        return False
    return not beside_heteroatom(side, carbon, leaver) and _displaces(template, kind, entering)


def _displaces(template: Template, kind: str, entering: Atom) -> bool:
    if entering.number not in {6, 7, 8, 16, 34} | HALOGENS:
        return False
    if entering.number == 8 and kind == "hydroxyl":
        return not _is_acyl_transfer(template, kind, entering)
    if entering.number != 6:
        return True
    source = template.changes.get(entering.label)
    if source is None or source.lost or source.before.aromatic:
        return False
    return source.before.charge < 0 or 2.0 not in source.before.bonds.values()


def _is_acyl_transfer(template: Template, kind: str, entering: Atom) -> bool:
    """Says whether the carbon keeps its own oxygen in truth: an ester is made or cleaved, a carbonyl group becomes an acetal."""
    if entering.number != 8 or kind not in ("hydroxyl", "acyloxy"):
        return False
    if kind == "acyloxy":
        return len(entering.bonds) == 1
    source = template.precursors.of.get(entering.label)
    carbonyl = source is not None and any(order == 2 and not other.aromatic for other, order in template.precursors.neighbours(source))
    return carbonyl or any(draws_electrons(template.product, other) for other, _ in template.product.neighbours(entering))


def is_double_inversion(template: Template, change: Change) -> bool:
    """Says whether an amino acid is deaminated: its carboxyl group takes part, and the configuration stays."""
    return any(leaving(template.precursors, change.before, leaver) == "amine" for leaver in change.lost)


def may_be_centre(template: Template, change: Change) -> bool:
    """Says whether the carbon has one hydrogen and no two methyl groups, so that it can be a stereocentre."""
    methyls = sum(other.number == 6 and other.hydrogens == 3 for other, _ in template.product.neighbours(change.after))
    return change.before.hydrogens == 1 and change.after.hydrogens == 1 and change.after.degree == 3 and methyls < 2


def _with_mark(side: str, label: int, mark: str) -> str:
    """Puts `@`, `@@` or nothing behind the element of a mapped carbon."""
    return re.sub(rf"\[(C)@{{0,2}}(H?[^\[\]]*:{label}\])", rf"[\g<1>{mark}\g<2>", side)


def turned_over(text: str, label: int) -> str | None:
    """Marks a carbon on both sides so that it is turned over, or gives None where RDKit does not see it so."""
    product, precursors = text.split(">>")
    if label not in _marks(product):
        product = _with_mark(product, label, "@")
    for mark in ("@", "@@"):
        candidate = f"{product}>>{_with_mark(precursors, label, mark)}"
        if relations(candidate).get(label) == TURNED_OVER:
            return candidate
    return None


# ---- the other oxygen ----


def with_other_oxygen(text: str) -> str | None:
    """Rewrites an aryl ether that is mapped as if the phenol's oxygen left and the alcohol's, or its sulfonate's, stayed.

    Mitsunobu's reaction and Williamson's go the other way round, and so turn the alcohol's carbon over, which a template that leaves
    that carbon alone cannot say: it becomes one of primary carbon. Secondary carbon has templates of its own. None for other templates.
    """
    template = Template(text)
    for label, change in template.changes.items():
        ether = change.gained[0] if len(change.gained) == 1 else None
        if not change.before.aromatic or ether is None or ether.number != 8 or not ether.label or len(change.lost) != 1:
            continue
        own = template.precursors.of[ether.label]
        alkyl = [atom for atom, order in template.precursors.neighbours(own) if atom.number == 6 and order == 1 and not atom.aromatic]
        if leaving(template.precursors, change.before, change.lost[0]) != "hydroxyl" or len(alkyl) != 1 or not alkyl[0].label:
            continue
        if not unsaturated(template.precursors, alkyl[0]):
            return _swapped(text, label, ether.label, alkyl[0])
    return None


def _swapped(text: str, arene: int, ether: int, alkyl: Atom) -> str | None:
    product, precursors = text.split(">>")
    phenol = re.search(rf"(?<![\w\]\)-])O-(\[[^\[\]]*:{arene}\])", precursors)
    own = re.search(rf"\[O[^\[\]]*:{ether}\]", precursors)
    if phenol is None or own is None:
        return None
    precursors = precursors.replace(own.group(0), "O", 1).replace(phenol.group(0), f"[OH;D1;+0:{ether}]-{phenol.group(1)}", 1)
    if alkyl.hydrogens == 3:
        return f"{product}>>{precursors}"
    general, primary = f"[C:{alkyl.label}]", f"[CH2;D2;+0:{alkyl.label}]"
    if alkyl.hydrogens is not None or len(alkyl.bonds) > 2 or general not in product or general not in precursors:
        return None
    return f"{product.replace(general, primary)}>>{precursors.replace(general, primary)}"


# ---- the judge ----


def _keeps_sulfonate_oxygen(template: Template) -> bool:
    """Says whether a sulfonate's oxygen stays on its saturated carbon and meets another carbon: the nucleophile's oxygen came, not that."""
    for change in template.changes.values():
        sulfonyl = any(other.number == 16 and draws_electrons(template.precursors, other) for other in change.lost)
        met = any(other.number == 6 for other in change.gained)
        kept = any(atom.number == 6 and not atom.aromatic for atom, _ in template.precursors.neighbours(change.before))
        if change.before.number == 8 and sulfonyl and met and kept:
            return True
    return False


def _refusal(template: Template, text: str) -> Verdict | None:
    """Refuses centres that one side alone states."""
    product, precursors = (_marks(side) for side in text.split(">>"))
    made = {label for label in product if label not in precursors}
    if made and not precursors:
        return Verdict.FROM_NOTHING
    for label in precursors.keys() - product.keys():
        after, before = template.product.of.get(label), template.precursors.of.get(label)
        if after is not None and before is not None and after.hydrogens == before.hydrogens and after.degree == before.degree:
            return Verdict.LOST
    return None


def _of_centre(text: str, template: Template, label: int, relation: int | None) -> Mended | None:
    """Mends one carbon that something leaves and something comes to, or gives None where nothing is to be done."""
    change = template.changes[label]
    displaced = is_displacement(template, change)
    if relation == KEPT and not displaced:
        kind = leaving(template.precursors, change.before, change.lost[0])
        harmless = _is_acyl_transfer(template, kind, change.gained[0]) or is_double_inversion(template, change)
        return None if harmless or kind in ("carbon", *ELECTROFUGES) else Mended(text, Verdict.DOUBTFUL)
    if not displaced or relation == TURNED_OVER or relation is None and not may_be_centre(template, change):
        return None
    entering = change.gained[0]
    two_alcohols = entering.number == 8 and leaving(template.precursors, change.before, change.lost[0]) == "hydroxyl"
    ether = two_alcohols and not any(other.aromatic for other, _ in template.product.neighbours(entering))
    turned = turned_over(text, label)
    if turned is None or relation == KEPT and ether:
        return Mended(text, Verdict.DOUBTFUL) if relation == KEPT else None
    return Mended(turned, Verdict.TURNED if relation == KEPT else Verdict.MARKED)


def mended(text: str) -> Mended:
    """Gives a grouped retro template as it should be, with what was done to it."""
    template = Template(text)
    refusal = _refusal(template, text)
    if refusal is not None:
        return Mended(text, refusal)
    swapped = with_other_oxygen(text)
    found = Mended(text, Verdict.UNCHANGED)
    if swapped is not None:
        template, found = Template(swapped), Mended(swapped, Verdict.OTHER_OXYGEN)
    if _keeps_sulfonate_oxygen(template):
        return Mended(text, Verdict.DOUBTFUL)
    stated = relations(found.text)
    kept = [label for label, relation in stated.items() if relation == KEPT and label in template.changes]
    if sum(is_displacement(template, template.changes[label]) for label in kept) > 1:
        return Mended(text, Verdict.DOUBTFUL)
    for label, change in template.changes.items():
        if change.before.number == 6 and change.lost and change.gained:
            better = _of_centre(found.text, template, label, stated.get(label))
            found = better or found
            if found.verdict.is_refusal:
                break
    return found
