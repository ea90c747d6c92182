"""Reagents that reactions are run with, and the few atoms that each may really give to a product.

The decision that matters: a mapper that lacks the true source of an atom takes it from whatever else stands in the flask, so the
table says for each solvent, base, coupling agent and one-carbon reagent what can come of it. It speaks of the outcome and not of the
atom: Rieche's formylation stays right although its map takes the aldehyde's carbon from the methoxy group.
"""

from collections.abc import Callable, Iterable

from rdkit import Chem

from template_graph import AROMATIC, HALOGENS, Atom, Side, Template

Fate = Callable[[Template, Atom], bool]
_BOND_TYPES = {1.0: Chem.BondType.SINGLE, 2.0: Chem.BondType.DOUBLE, 3.0: Chem.BondType.TRIPLE, AROMATIC: Chem.BondType.AROMATIC}


def skeleton(atoms: Iterable[tuple[int, int, bool]], bonds: Iterable[tuple[int, int, Chem.BondType]]) -> str:
    """Writes heavy atoms and bonds alone, so that an acid and its salt, or an amine and its cation, are one.

    Atoms are (index, atomic number, aromatic), bonds refer to their indices.
    """
    mol, place = Chem.RWMol(), {}
    for index, number, aromatic in atoms:
        plain = Chem.Atom(number)
        plain.SetNoImplicit(True)
        plain.SetIsAromatic(aromatic)
        place[index] = mol.AddAtom(plain)
    for first, second, order in bonds:
        mol.AddBond(place[first], place[second], order)
    return Chem.MolToSmiles(mol)


def skeleton_of_smiles(smiles: str) -> str:
    """Gives the skeleton of a molecule."""
    mol = Chem.MolFromSmiles(smiles)
    atoms = [(atom.GetIdx(), atom.GetAtomicNum(), atom.GetIsAromatic()) for atom in mol.GetAtoms()]
    bonds = [(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx(), bond.GetBondType()) for bond in mol.GetBonds()]
    return skeleton(atoms, bonds)


def skeleton_of_component(side: Side, number: int) -> str | None:
    """Gives the skeleton of a component, or None where the template leaves neighbours or elements open."""
    members = [atom for atom in side.atoms if side.component[atom.index] == number]
    if not all(atom.complete and atom.number for atom in members):
        return None
    atoms = [(atom.index, atom.number, atom.aromatic) for atom in members]
    bonds = [(a.index, b, _BOND_TYPES[order]) for a in members for b, order in a.bonds.items() if a.index < b]
    return skeleton(atoms, bonds)


# ---- what can come of an atom: each looks at the product ----


def _bonds(template: Template, atom: Atom, order: float, numbers: Iterable[int]) -> int:
    return sum(bond == order and other.number in numbers for other, bond in template.product.neighbours(atom))


def _lost(template: Template, atom: Atom) -> list[Atom]:
    change = template.changes.get(atom.label)
    return change.lost if change else []


def formyl(template: Template, atom: Atom) -> bool:
    """CH=O, CH=N, CH=C or an aromatic CH: a carbon of the oxidation state of formic acid's derivatives."""
    unsaturated = atom.aromatic or _bonds(template, atom, 2.0, (6, 7, 8))
    return atom.number == 6 and atom.hydrogens == 1 and bool(unsaturated)


def carbonyl(template: Template, atom: Atom) -> bool:
    """C=O without hydrogen that is bound to nitrogen, oxygen, sulfur or a halogen; isocyanates."""
    double = _bonds(template, atom, 2.0, (8,))
    if atom.number != 6 or atom.hydrogens or not double:
        return False
    return any(other.number not in (6, 8) or order != 2.0 and other.number != 6 for other, order in template.product.neighbours(atom))


def carbonyl_oxygen(template: Template, atom: Atom) -> bool:
    """The oxygen of C=O."""
    return atom.number == 8 and bool(_bonds(template, atom, 2.0, (6,)))


def carbonyl_on_nitrogen(template: Template, atom: Atom) -> bool:
    """C=O of an isocyanate or urea, and the acid chloride that oxalyl chloride makes of an arene."""
    other = any(neighbour.number in (7, 17) for neighbour, _ in template.product.neighbours(atom))
    return carbonyl(template, atom) and other


def thiocarbonyl(template: Template, atom: Atom) -> bool:
    """C=S without hydrogen."""
    return atom.number == 6 and not atom.hydrogens and bool(_bonds(template, atom, 2.0, (16,)))


def acyl(template: Template, atom: Atom) -> bool:
    """C=O, C=N, C=C or an aromatic carbon that keeps its carbon neighbours: what an acid's carbon can become."""
    if atom.number != 6 or atom.hydrogens or any(other.number == 6 for other in _lost(template, atom)):
        return False
    return bool(_bonds(template, atom, 2.0, (6, 7, 8, 16)) or _bonds(template, atom, AROMATIC, (6, 7, 8, 16)))


def methyl_on_heteroatom(template: Template, atom: Atom) -> bool:
    """CH3 on oxygen, nitrogen or sulfur."""
    return atom.number == 6 and atom.hydrogens == 3 and any(o.number in (7, 8, 16) for o, _ in template.product.neighbours(atom))


def nitrile(template: Template, atom: Atom) -> bool:
    """C#N."""
    return atom.number == 6 and bool(_bonds(template, atom, 3.0, (7,)))


def alkyne(template: Template, atom: Atom) -> bool:
    """C#C."""
    return atom.number == 6 and bool(_bonds(template, atom, 3.0, (6,)))


def trifluoromethyl(template: Template, atom: Atom) -> bool:
    """CF3."""
    return atom.number == 6 and _bonds(template, atom, 1.0, (9,)) == 3


def halogen(_: Template, atom: Atom) -> bool:
    """A halogen atom."""
    return atom.number in HALOGENS


def oxygen(_: Template, atom: Atom) -> bool:
    """An oxygen atom, of an oxidant."""
    return atom.number == 8


def nitrogen(_: Template, atom: Atom) -> bool:
    """A nitrogen atom, of what stands for ammonia."""
    return atom.number == 7


def kornblum_oxygen(template: Template, atom: Atom) -> bool:
    """The oxygen of an aldehyde or ketone made from a halide."""
    if not carbonyl_oxygen(template, atom):
        return False
    changes = (template.changes.get(carbon.label) for carbon, _ in template.product.neighbours(atom))
    return any(change is not None and any(other.number in HALOGENS for other in change.lost) for change in changes)


def dialkylamino(template: Template, atom: Atom) -> bool:
    """A nitrogen that leaves its acyl or acetal carbon and keeps two others."""
    return atom.number == 7 and len(_lost(template, atom)) == 1 and len(template.precursors.of[atom.label].bonds) == 3


def alkoxy(template: Template, atom: Atom) -> bool:
    """An oxygen that leaves one carbon and keeps the other."""
    return atom.number == 8 and len(_lost(template, atom)) == 1 and len(template.precursors.of[atom.label].bonds) == 2


def any_carbon(_: Template, atom: Atom) -> bool:
    """A carbon: the reagent is a true precursor too, and the rules for all precursors judge it."""
    return atom.number == 6


def sulfur(_: Template, atom: Atom) -> bool:
    """A sulfur atom: methylthiolations, sulfinates."""
    return atom.number == 16


# Fates that a general rule still has to judge; the others settle the matter.
OPEN_FATES = {any_carbon, halogen, oxygen, nitrogen, sulfur, dialkylamino, alkoxy}

# What each reagent may give, besides a group that is moved with all its neighbours (an enolate, an alkoxide, an amine).
_TABLE: tuple[tuple[tuple[Fate, ...], str], ...] = (
    # bases, salts and buffers
    (
        (),
        "OC(=O)O CCN(CC)CC CCN(C(C)C)C(C)C CC(C)NC(C)C CNC CCNCC C1CCC2=NCCCN2CC1 C1CN=C2CCCN2C1 C1CN2CCN1CC2 c1ccncc1 CN(C)c1ccncc1"
        " CN1CCOCC1 CN(C)c1cccc2cccc(N(C)C)c12 CN(C)CCN(C)C OP(=O)(O)O O=C(O)C(O)C(O)C(=O)O NS(=O)(=O)O CC(C)(C)N",
    ),
    ((sulfur,), "OS(=O)O OS(O)(=O)=S"),
    ((nitrogen,), "C[Si](C)(C)N[Si](C)(C)C"),
    # solvents
    ((), "C1CCOC1 CC1CCCO1 C1COCCO1 CCOCC COCCOC COC(C)(C)C CC(C)OC(C)C CCCCC CCCCCC CCCCCCC CN1CCCC1=O c1ccccc1 Cc1ccccc1"),
    ((any_carbon,), "CC(C)=O CC#N ClCCl ClC(Cl)Cl ClCCCl CO CCO CC(C)O CCCO CCCCO CC(C)(C)O OCCO"),
    ((kornblum_oxygen, sulfur), "CS(C)=O"),
    ((formyl, dialkylamino), "CN(C)C=O"),
    ((acyl, dialkylamino), "CN(C)C(C)=O"),
    # acids and their derivatives
    ((formyl,), "OC=O COC=O CCOC=O O=COc1ccccc1 CC(=O)OC=O O=CN1CCCCC1 O=CN1CCOCC1 CN(C=O)c1ccccc1"),
    ((formyl, carbonyl_oxygen), "COC(Cl)Cl"),
    ((alkyne,), "COP(=O)(OC)C(=[N+]=[N-])C(C)=O"),
    ((nitrile, nitrogen, any_carbon), "Cc1ccc(S(=O)(=O)C[N+]#[C-])cc1"),
    ((formyl, nitrogen), "NC=O"),
    ((acyl,), "CC(=O)O CCOC(C)=O COC(C)=O CC(C)OC(C)=O"),
    ((acyl, trifluoromethyl), "OC(=O)C(F)(F)F"),
    ((acyl, oxygen), "CC(=O)OC(C)=O"),
    ((acyl, halogen), "CC(=O)Cl"),
    ((acyl, any_carbon), "C=COC(C)=O CC(=C)OC(C)=O"),
    ((), "Cc1ccc(S(=O)(=O)O)cc1 CS(=O)(=O)O"),
    ((formyl, methyl_on_heteroatom, alkoxy, dialkylamino), "COC(OC)OC CCOC(OCC)OCC COC(OC)N(C)C CCOC(OCC)N(C)C CN(C)C(OC(C)(C)C)N(C)C"),
    ((acyl, alkoxy, dialkylamino), "COC(C)(OC)OC CCOC(C)(OCC)OCC COC(C)(OC)N(C)C"),
    # carbonyl and methyl from what is sold for it
    ((carbonyl, carbonyl_oxygen, halogen), "ClC(Cl)=O ClC(=O)OC(Cl)(Cl)Cl ClC(Cl)(Cl)OC(=O)OC(Cl)(Cl)Cl"),
    ((carbonyl,), "O=C(n1ccnc1)n1ccnc1"),
    ((thiocarbonyl,), "S=C(Cl)Cl S=C(n1ccnc1)n1ccnc1"),
    ((carbonyl, methyl_on_heteroatom, alkoxy), "COC(=O)OC"),
    ((carbonyl, alkoxy), "CCOC(=O)OCC"),
    ((carbonyl, alkoxy, any_carbon), "CC(C)(C)OC(=O)OC(=O)OC(C)(C)C"),
    ((acyl, carbonyl_on_nitrogen, halogen), "ClC(=O)C(=O)Cl"),
    ((methyl_on_heteroatom, any_carbon, nitrogen), "C[Si](C)(C)C=[N+]=[N-]"),
    # reductants, oxidants, halogenating and coupling agents
    ((), "[BH3-]C#N CC(=O)O[BH-](OC(C)=O)OC(C)=O"),
    ((oxygen,), "C[N+]1([O-])CCOCC1 OOC(=O)c1cccc(Cl)c1 CC(=O)OO CC(C)(C)OO"),
    ((halogen,), "O=C1CCC(=O)N1Cl O=C1CCC(=O)N1Br O=C1CCC(=O)N1I CC1(C)N(Br)C(=O)N(Br)C1=O NC(=O)CCC(=O)NBr"),
    (
        (),
        "CCN=C=NCCCN(C)C C(=NC1CCCCC1)=NC1CCCCC1 CC(C)N=C=NC(C)C CN(C)C(On1nnc2cccnc21)=[N+](C)C CN(C)C(On1nnc2ccccc21)=[N+](C)C"
        " CN(C)C(On1nnc2ccc(Cl)cc21)=[N+](C)C CN(C)C(ON1C(=O)CCC1=O)=[N+](C)C CN(C)C(=[N+](C)C)[n+]1nn([O-])c2ncccc21"
        " CN(C)C(n1n[n+]([O-])c2ccccc21)=[N+](C)C CN(C)C(=[N+](C)C)n1n[n+]([O-])c2ncccc21 CN(C)[P+](On1nnc2ccccc21)(N(C)C)N(C)C"
        " C1CCN(C1)[P+](On1nnc2ccccc21)(N1CCCC1)N1CCCC1 On1nnc2ccccc21 On1nnc2cccnc21 O=C1CCC(=O)N1O"
        " CCOC(=O)N=NC(=O)OCC CC(C)OC(=O)N=NC(=O)OC(C)C c1ccc(P(c2ccccc2)c2ccccc2)cc1",
    ),
)

ALLOWED: dict[str, tuple[Fate, ...]] = {skeleton_of_smiles(text): fates for fates, line in _TABLE for text in line.split()}
