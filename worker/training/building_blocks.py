"""Enumerates common building blocks: rings and chains with one reactive group, amines, amino acids, reagents.

The decision that matters: a molecule is a functional group written as a SMILES prefix, joined to a residue whose SMILES
begins at its attachment atom. So the lists below read like a price list, and there is no reaction to run.
"""

import itertools
from collections.abc import Iterator

from rdkit import Chem

CORES = """
c1ccccc1 c1ccncc1 c1cncnc1 c1cnccn1 c1ccnnc1 c1ccsc1 c1ccoc1 c1cncs1 c1cnco1 c1cnoc1 c1cnsc1 Cn1ccnc1 Cn1cccn1 Cn1cccc1
c1ccc2ccccc2c1 c1ccc2ncccc2c1 c1ccc2cnccc2c1 c1ccc2nccnc2c1 c1ccc2ncncc2c1 c1ccc2[nH]ccc2c1 Cn1ccc2ccccc21
c1ccc2[nH]ncc2c1 Cn1cc2ccccc2n1 c1ccc2[nH]cnc2c1 c1ccc2sccc2c1 c1ccc2occc2c1 c1ccc2ncsc2c1 c1ccc2ocnc2c1
c1cnc2[nH]ccc2c1 c1ccn2ccnc2c1 c1ccn2nccc2c1 c1ccc2c(c1)OCO2 c1ccc2c(c1)OCCO2 c1ccc2c(c1)CCC2 c1ccc2c(c1)CCO2
Cc1cncnc1 Cc1ccnn1C Cc1cscn1 Cc1noc(C)c1 CCn1cccn1 CC(C)n1cccn1 c1ccc(-c2ccccc2)cc1 c1ccc(Oc2ccccc2)cc1
O=c1cccc[nH]1 Cn1ccccc1=O c1ccc(N2CCOCC2)cc1 c1ccc(N2CCCCC2)cc1 c1ccc(-n2cccn2)cc1
""".split()
BENZENE_SUBSTITUENTS = """
F Cl Br I C CC C(C)C C(C)(C)C C(F)(F)F OC OCC OC(F)(F)F OC(F)F OCc1ccccc1 C#N [N+](=O)[O-] C(=O)OC C(=O)OCC C(C)=O C=O
N(C)C NC(C)=O NC(=O)OC(C)(C)C S(C)(=O)=O SC C(N)=O C(=O)N(C)C O N C(=O)O C1CC1 CO CN1CCOCC1 C#C
""".split()
PAIR_SUBSTITUENTS = "F Cl Br C OC C(F)(F)F".split()
HETEROARYL_SUBSTITUENTS = "F Cl Br C OC C(F)(F)F C#N N".split()
ARYL_GROUPS = {
    "bromide": "Br", "iodide": "I", "chloride": "Cl", "fluoride": "F", "boronic acid": "OB(O)",
    "pinacol boronate": "B1(OC(C)(C)C(C)(C)O1)", "amine": "N", "hydroxide": "O", "acid": "OC(=O)",
    "acid chloride": "ClC(=O)", "methyl ester": "COC(=O)", "aldehyde": "O=C", "ketone": "CC(=O)", "nitrile": "N#C",
    "nitro": "[O-][N+](=O)", "sulfonyl chloride": "ClS(=O)(=O)", "benzyl bromide": "BrC", "benzyl chloride": "ClC",
    "benzylamine": "NC", "benzyl alcohol": "OC", "isocyanate": "O=C=N", "thiol": "S", "hydrazine": "NN",
    "amide": "NC(=O)", "sulfonamide": "NS(=O)(=O)", "alkyne": "C#C", "acetic acid": "OC(=O)C",
}
# Of the groups above, those that every substituted ring comes with; the others only with the plainer rings.
COMMON_ARYL_GROUPS = ("bromide", "boronic acid", "pinacol boronate", "amine", "hydroxide", "acid", "aldehyde")
# Core, the substituents beside the group, a list for each, and the groups: what suppliers have besides, with how many substituents.
SUBSTITUTED_ARYLS = (
    ("c1ccccc1", ("F Cl Br C OC", "F Cl Br I C OC C(F)(F)F O N [N+](=O)[O-] C#N C=O C(=O)O C(=O)OC"),
     ("bromide", "iodide", "chloride", "fluoride", "boronic acid", "pinacol boronate", "amine", "hydroxide", "acid", "methyl ester",
      "aldehyde", "nitrile", "nitro", "benzyl alcohol")),
    ("c1ccncc1", ("F Cl Br I C OC C(F)(F)F C#N N C(=O)OC C(=O)O O C=O CC C(C)C CO",),
     ("bromide", "iodide", "chloride", "fluoride", "boronic acid", "pinacol boronate", "amine", "hydroxide", "acid", "methyl ester",
      "aldehyde", "nitrile", "benzyl alcohol", "alkyne", "benzylamine", "ketone")),
    ("c1ccncc1", ("C Cl Br F OC", "C Cl Br F OC N"),
     ("bromide", "chloride", "amine", "hydroxide", "acid", "aldehyde", "nitrile", "benzyl alcohol")),
    *((core, ("C Cl Br N OC CC C(C)C",),
       ("bromide", "iodide", "chloride", "amine", "hydroxide", "acid", "aldehyde", "nitrile", "benzyl alcohol", "alkyne", "benzylamine"))
      for core in ("c1cncnc1", "c1cnccn1")),
    *((core, ("C Cl", "C Cl Br N OC"), ("bromide", "chloride", "amine")) for core in ("c1cncnc1", "c1cnccn1")),
    ("c1ccnnc1", ("C Cl N",), ("bromide", "chloride", "amine", "acid", "nitrile")),
    ("Cn1cccn1", ("C Cl Br I N CC",),
     ("bromide", "iodide", "chloride", "amine", "acid", "aldehyde", "nitrile", "benzyl alcohol", "benzylamine", "ketone")),
)
ALKYLS = """
C CC CCC CCCC CCCCC CCCCCC CCCCCCC CCCCCCCC CCCCCCCCCC CCCCCCCCCCCC C(C)C CC(C)C C(C)CC CCC(C)C CC(C)(C)C C(CC)CC
CC1CC1 CC1CCC1 CC1CCCC1 CC1CCCCC1 C1CC1 C1CCC1 C1CCCC1 C1CCCCC1 C1CCCCCC1 CC=C CC=CC CC(C)=C CCC=C CCCC=C CC#C CCC#C
CCOC CCOCC CCCOC CCOCCOC CC(OC)OC CC(OCC)OCC CCO CCCO CCCCO CCOCc1ccccc1 CC(F)F CC(F)(F)F CCF CCC(F)(F)F CC#N CCC#N
CCN(C)C CCCN(C)C CCN(CC)CC CCN1CCOCC1 CCCN1CCOCC1 CCN1CCCC1 CCN1CCCCC1 CCN1CCN(C)CC1 CC1CCOCC1 C1CCOCC1 C1CCOC1 C1COC1
C1CN(C(=O)OC(C)(C)C)C1 C1CCN(C(=O)OC(C)(C)C)C1 C1CCN(C(=O)OC(C)(C)C)CC1 CC1CCN(C(=O)OC(C)(C)C)CC1 C1CCCN(C(=O)OC(C)(C)C)C1
CC1CN(C(=O)OC(C)(C)C)C1 CC1CCCN1C(=O)OC(C)(C)C C1CCN(C)CC1 CC1CCN(C)CC1 C1CCN(Cc2ccccc2)CC1 C1CCC(F)(F)CC1 C1CC(F)(F)C1
CCNC(=O)OC(C)(C)C CCCNC(=O)OC(C)(C)C CCCCNC(=O)OC(C)(C)C CC(=O)OC CC(=O)OCC CC(=O)OC(C)(C)C CCC(=O)OC CCC(=O)OCC
CCCC(=O)OCC CCCCC(=O)OCC CC(=O)c1ccccc1 CC(=O)C(C)(C)C CC(C)=O CCc1ccccc1 CCCc1ccccc1 CCCCc1ccccc1 CCOc1ccccc1
C(C)c1ccccc1 C(c1ccccc1)c1ccccc1 CC=Cc1ccccc1 CCc1ccc(OC)cc1 CCc1ccc(F)cc1 CCc1ccc(Cl)cc1 CCc1ccncc1 CCc1c[nH]c2ccccc12
C1Cc2ccccc2C1 C1CCCc2ccccc21 C12CC3CC(CC(C3)C1)C2 C1CCC(C)CC1 C1CCC(C(C)(C)C)CC1 C1CCC(=O)CC1 CCS(C)(=O)=O CCSC CC1CO1
CC1COC(C)(C)O1 CC1CCCO1 CCN1C(=O)c2ccccc2C1=O CCCN1C(=O)c2ccccc2C1=O CCO[Si](C)(C)C(C)(C)C CCCO[Si](C)(C)C(C)(C)C
CC[Si](C)(C)C C1CCS(=O)(=O)CC1 C1CCN(C(C)=O)CC1 C(C)(C)C C(C)(C)CC
""".split()
ALKYL_GROUPS = """
Br I Cl O N OC(=O) ClC(=O) O=C COC(=O) CCOC(=O) N#C ClS(=O)(=O) O=C=N S NC(=O) CS(=O)(=O)O Cc1ccc(cc1)S(=O)(=O)O CN CCN
OC(=O)C OC(=O)CC C=C C#C ClC(=O)O Br[Mg] CC(=O) COC(=O)C NN S=C=N OB(O) B1(OC(C)(C)C(C)(C)O1)
""".split()
CYCLIC_AMINES = """
N1CCC1 N1CCCC1 N1CCCCC1 N1CCCCCC1 N1CCOCC1 N1CCSCC1 N1CCNCC1 N1CCCNCC1 N1Cc2ccccc2C1 N1CCc2ccccc2C1 N1CCc2ccccc21
N1CC2CCC1C2 N1CC2(C1)COC2 N1CCC2(CC1)CCCC2 N1CCC2(CC1)OCCO2 N1CC2CC1CO2 N1CC2CC2C1
""".split()
AMINE_SUBSTITUENTS = """
C CC C(C)C O OC F C(F)(F)F C(=O)O C(=O)OC C(=O)OCC CO CCO C#N N NC(=O)OC(C)(C)C CN CNC(=O)OC(C)(C)C C(N)=O N(C)C
c1ccccc1 Cc1ccccc1 c1ccc(F)cc1 c1ccc(Cl)cc1 c1ccncc1 N1CCCC1 N1CCOCC1 =O Oc1ccccc1 C(=O)c1ccccc1
""".split()
PIPERAZINE_TAILS = """
C CC C(C)C CCO CCOC C(C)=O C(=O)OC(C)(C)C C(=O)OCc1ccccc1 C(=O)OCC S(C)(=O)=O Cc1ccccc1 CCc1ccccc1 C1CC1 C1CCCCC1 CC1CC1
c1ccccc1 c1ccccc1OC c1ccccc1F c1ccccc1Cl c1ccc(F)cc1 c1ccc(Cl)cc1 c1ccc(OC)cc1 c1ccc([N+](=O)[O-])cc1 c1ccc(C#N)cc1
c1cccc(C(F)(F)F)c1 c1cccc(Cl)c1 c1cccc(Cl)c1Cl c1ccccn1 c1ccncc1 c1ncccn1 c1cnccn1 Cc1ccc(F)cc1 Cc1ccc(OC)cc1
""".split()
AMINO_ACID_SIDE_CHAINS = """
C C(C)C CC(C)C [C@@H](C)CC Cc1ccccc1 Cc1ccc(O)cc1 Cc1c[nH]c2ccccc12 CO [C@@H](C)O CS CCSC CC(N)=O CCC(N)=O CC(=O)O
CCC(=O)O CCCCN CCCNC(=N)N Cc1c[nH]cn1 c1ccccc1 CC CCC CCCC C(C)(C)C C1CCCCC1 CC1CCCCC1 Cc1ccc(F)cc1 Cc1ccc(Cl)cc1
Cc1ccc(OC(C)(C)C)cc1 COC(C)(C)C CC(=O)OC(C)(C)C CCC(=O)OC(C)(C)C CCCCNC(=O)OC(C)(C)C COCc1ccccc1 CC(=O)OCc1ccccc1
""".split()
AMINO_ACID_AMINES = ("N", "CC(C)(C)OC(=O)N", "O=C(OCc1ccccc1)N", "O=C(OCC1c2ccccc2-c2ccccc21)N", "CC(=O)N", "CN")
AMINO_ACID_ACIDS = ("C(=O)O", "C(=O)OC", "C(=O)OCC", "C(=O)OC(C)(C)C", "C(N)=O", "CO")
REAGENTS = """
N CN CNC NN CNN NO CON CNOC CONC O=C=O CO CCO O OO C=O CC=O CC(C)=O CCC(C)=O O=C1CCCC1 O=C1CCCCC1 O=C1CCCCCC1 O=C1CCOCC1
O=C1CCN(C(=O)OC(C)(C)C)CC1 O=C1CCCN(C(=O)OC(C)(C)C)C1 O=C1CCN(Cc2ccccc2)CC1 CN1CCC(=O)CC1 O=C1CCSCC1 O=C1CCC1 O=C1COC1
CC(=O)OC(C)=O CC(=O)Cl O=C(Cl)C(=O)Cl O=C(OC(=O)C(F)(F)F)C(F)(F)F CC(C)(C)OC(=O)OC(=O)OC(C)(C)C O=C(Cl)OCc1ccccc1
O=C(Cl)OCC1c2ccccc2-c2ccccc21 O=C(Cl)OC(Cl)(Cl)Cl O=C(n1ccnc1)n1ccnc1 S=C(n1ccnc1)n1ccnc1 O=S(Cl)Cl O=P(Cl)(Cl)Cl ClP(Cl)(Cl)Cl
CS(=O)(=O)Cl Cc1ccc(S(=O)(=O)Cl)cc1 O=S(=O)(Cl)C(F)(F)F O=S(=O)(OS(=O)(=O)C(F)(F)F)C(F)(F)F CS(=O)(=O)OS(C)(=O)=O
COS(=O)(=O)OC CI CCI CCBr C=CCBr C#CCBr BrCc1ccccc1 ClCc1ccccc1 COCCl COCCOCCl CC(C)(C)[Si](C)(C)Cl CC(C)[Si](Cl)(C(C)C)C(C)C
C[Si](C)(C)Cl CC(C)(C)[Si](Cl)(c1ccccc1)c1ccccc1 C[Si](C)(C)CCOCCl C[Si](C)(C)C#N C[Si](C)(C)C#C C[Si](C)(C)C(F)(F)F
C[Si](C)(C)N=[N+]=[N-] C[Si](C)(C)I C[Si](C)(C)Br O=C1CCC(=O)N1Br O=C1CCC(=O)N1Cl O=C1CCC(=O)N1I O=C1OC(=O)C=C1
O=C1OC(=O)CC1 O=C1OC(=O)CCC1 O=C1OC(=O)c2ccccc21 O=C1NC(=O)c2ccccc21 CCOC(OCC)OCC COC(OC)OC COC(OC)N(C)C CN(C)C=O
CCOC(=O)C(=O)OCC COC(=O)C(=O)OC CCOC(=O)CC(=O)OCC COC(=O)CC(=O)OC CCOC(=O)CC(C)=O COC(=O)CC(C)=O CC(=O)CC(C)=O
CCOC(=O)CC#N COC(=O)CC#N N#CCC#N CC1(C)OC(=O)CC(=O)O1 CCOC(=O)C(Cl)C(C)=O CCOC(=O)CCl CCOC(=O)CBr COC(=O)CBr CC(C)(C)OC(=O)CBr
CCOC(=O)C=C COC(=O)C=C CC(C)(C)OC(=O)C=C C=CC#N C=CC(C)=O C=CC=O C=CS(C)(=O)=O CCOC(=O)C(=O)Cl COC(=O)Cl CCOC(=O)Cl CC(C)COC(=O)Cl
CCOC(=O)CP(=O)(OCC)OCC COC(=O)CP(=O)(OC)OC CC(=O)CP(=O)(OC)OC N#CCP(=O)(OCC)OCC CCOC(=O)C=P(c1ccccc1)(c1ccccc1)c1ccccc1
CC(=O)C=P(c1ccccc1)(c1ccccc1)c1ccccc1 c1ccc(P(c2ccccc2)c2ccccc2)cc1 NC(N)=O NC(N)=S NC(=O)c1ccccc1 NC(C)=O NC=O NC(=N)N
CSC(=N)N COC(=N)N CC(=N)N N=CN NC(=N)c1ccccc1 CC(N)=S NC(=S)c1ccccc1 NC(=O)C(F)(F)F NS(C)(=O)=O CC(C)(C)S(N)=O CC(C)(C)OC(=O)NN
NNC(=O)OCc1ccccc1 NNc1ccccc1 NNC(N)=O NNC(N)=S NOCc1ccccc1 NOC(C)(C)C NOC1CCCCO1 CC(C)(C)OC(=O)NO O=CO CC(=O)O O=C(O)C(F)(F)F
CC(C)(C)C(=O)Cl CC(C)(C)C(=O)O ClCCl ClC(Cl)Cl BrC(Br)(Br)Br ClCCBr BrCCBr BrCCCBr BrCCCCBr BrCCCCCBr ClCCCBr ClCCCCBr ClCCI BrCCO
BrCCCO ClCCO ClCCCO NCCO NCCCO NCCN NCCCN CNCCN CNCCO CN(C)CCN CN(C)CCCN CN(C)CCO OCCO OCCCO OCC(O)CO SCCS SCCCS SCCO C1CO1
CC1CO1 ClCC1CO1 C1COCCN1 C=CC1CO1 c1ccc(C2CO2)cc1 CC1(C)CO1 C1CCC2OC2C1 C1=COCCC1 C=COCC C=CC=C C1=CCC=C1 C=C(C)C C=Cc1ccccc1
c1ccsc1 c1ccoc1 c1cc[nH]c1 c1c[nH]cn1 c1cn[nH]c1 c1nc[nH]n1 c1nnn[nH]1 c1ccc2[nH]ccc2c1 c1ccc2[nH]cnc2c1 c1ccc2[nH]ncc2c1 c1ccc2[nH]nnc2c1
On1nnc2ccccc21 ON1C(=O)CCC1=O ON1C(=O)c2ccccc2C1=O CCN=C=NCCCN(C)C C(=NC1CCCCC1)=NC1CCCCC1 CCN(CC)CC CCN(C(C)C)C(C)C CN1CCOCC1
c1ccncc1 CN(C)c1ccncc1 C1CCC2=NCCCN2CC1 C1CN2CCN1CC2 CC(C)NC(C)C C[Si](C)(C)N[Si](C)(C)C CCCC[Sn](Cl)(CCCC)CCCC
C=C[Sn](CCCC)(CCCC)CCCC C=CC[Sn](CCCC)(CCCC)CCCC CCCC[SnH](CCCC)CCCC CC[SiH](CC)CC CC1(C)OBOC1(C)C
CC1(C)OB(B2OC(C)(C)C(C)(C)O2)OC1(C)C COB(OC)OC CC(C)OB(OC(C)C)OC(C)C CC(C)OB1OC(C)(C)C(C)(C)O1 C=CB1OC(C)(C)C(C)(C)O1
COC(=O)c1ccccc1C(=O)OC Cl Br I F S C C=C C#C N#CBr N#C CC#N O=S=O N=[N+]=[N-] NS(N)(=O)=O NS(=O)(=O)Cl O=S(=O)(O)Cl
O=C(OO)c1cccc(Cl)c1 CC(C)(C)OO CC(C)(C)ON=O CCCCCON=O Cn1ccnc1 Cc1ncc[nH]1 Sc1ncccn1 Sc1nc2ccccc2s1 Nc1nccs1 Nc1ncccn1 Nc1ccccn1 Nc1cc(C)on1
""".split()


def _parsed(smiles: str) -> Chem.Mol:
    mol = Chem.MolFromSmiles(smiles)
    if mol is None:
        raise ValueError(f"{smiles} in the lists is no molecule")
    return mol


def _rooted(mol: Chem.Mol, atom: int) -> str:
    """Writes a residue from its attachment atom on."""
    return Chem.MolToSmiles(mol, rootedAtAtom=atom)


def _substituted(mol: Chem.Mol, atom: int, substituent: str) -> Chem.Mol:
    """Puts a substituent, a SMILES that begins at its own attachment atom, on an atom that bears a hydrogen."""
    double = substituent.startswith("=")
    side = _parsed(substituent.removeprefix("="))
    editable = Chem.RWMol(Chem.CombineMols(mol, side))
    bond = Chem.BondType.DOUBLE if double else Chem.BondType.SINGLE
    editable.AddBond(atom, mol.GetNumAtoms(), bond)
    made = editable.GetMol()
    Chem.SanitizeMol(made)
    return made


def _carbons(mol: Chem.Mol, n_hydrogens: int, aromatic: bool) -> list[int]:
    """Lists one ring carbon with enough hydrogens of each symmetry class."""
    ranks = list(Chem.CanonicalRankAtoms(mol, breakTies=False))
    found = {}
    for atom in mol.GetAtoms():
        if atom.GetSymbol() == "C" and atom.IsInRing() and atom.GetIsAromatic() == aromatic:
            if atom.GetTotalNumHs() >= n_hydrogens:
                found.setdefault(ranks[atom.GetIdx()], atom.GetIdx())
    return sorted(found.values())


def _all_carbons(mol: Chem.Mol) -> list[int]:
    return [
        a.GetIdx() for a in mol.GetAtoms() if a.GetSymbol() == "C" and a.GetIsAromatic() and a.GetTotalNumHs() >= 1
    ]


def aryls() -> Iterator[tuple[str, bool]]:
    """Yields aryl residues, and whether each is plain enough to come with every group."""
    for core in CORES:
        ring = _parsed(core)
        benzene = core == "c1ccccc1"
        singles = BENZENE_SUBSTITUENTS if benzene else HETEROARYL_SUBSTITUENTS
        for root in _carbons(ring, 1, aromatic=True):
            yield _rooted(ring, root), True
            others = [atom for atom in _all_carbons(ring) if atom != root]
            for substituent, atom in itertools.product(singles, others):
                yield _rooted(_substituted(ring, atom, substituent), root), benzene
            if benzene:
                for (a, b), (first, second) in itertools.product(
                    itertools.combinations(others, 2), itertools.product(PAIR_SUBSTITUENTS, repeat=2)
                ):
                    yield _rooted(_substituted(_substituted(ring, a, first), b, second), root), False


def cyclic_amines() -> Iterator[str]:
    """Yields secondary cyclic amines, plain and with one substituent."""
    for smiles in CYCLIC_AMINES:
        ring = _parsed(smiles)
        yield smiles
        for substituent in AMINE_SUBSTITUENTS:
            for atom in _carbons(ring, 2 if substituent == "=O" else 1, aromatic=False):
                neighbours = ring.GetAtomWithIdx(atom).GetNeighbors()
                at_hetero = any(n.GetSymbol() != "C" for n in neighbours)
                if not at_hetero or substituent[0] in "Cc=":
                    yield Chem.MolToSmiles(_substituted(ring, atom, substituent))
    for tail in PIPERAZINE_TAILS:
        yield f"N1CCN({tail})CC1"
        yield f"N1CCCN({tail})CC1"


def substituted_aryls() -> Iterator[str]:
    """Yields aryls with a group and the substituents of their row, at every place."""
    for core, substituents, groups in SUBSTITUTED_ARYLS:
        ring = _parsed(core)
        choices = list(itertools.product(*(each.split() for each in substituents)))
        for root in _carbons(ring, 1, aromatic=True):
            others = [atom for atom in _all_carbons(ring) if atom != root]
            for atoms, chosen in itertools.product(itertools.permutations(others, len(substituents)), choices):
                made = ring
                for atom, substituent in zip(atoms, chosen, strict=True):
                    made = _substituted(made, atom, substituent)
                residue = _rooted(made, root)
                yield from (ARYL_GROUPS[group] + residue for group in groups)


def amino_acids() -> Iterator[str]:
    """Yields natural and common amino acids of both hands, free and protected."""
    for side, amine, acid in itertools.product(AMINO_ACID_SIDE_CHAINS, AMINO_ACID_AMINES, AMINO_ACID_ACIDS):
        for turn in ("@@", "@"):
            yield f"{amine}[C{turn}H]({side}){acid}"
    for amine, acid in itertools.product(AMINO_ACID_AMINES, AMINO_ACID_ACIDS):
        yield f"{amine}C{acid}"
        yield f"{amine}CC{acid}"
        yield f"O=C1CCCN1{acid}" if amine == "N" and acid == "C(=O)OC(C)(C)C" else f"{amine}CCC{acid}"


def enumerate_blocks() -> Iterator[str]:
    """Yields the SMILES of all blocks; neither canonical nor distinct."""
    for residue, plain in aryls():
        for name, group in ARYL_GROUPS.items():
            if plain or name in COMMON_ARYL_GROUPS:
                yield group + residue
    for residue, group in itertools.product(ALKYLS, ALKYL_GROUPS):
        yield group + residue
    yield from substituted_aryls()
    yield from cyclic_amines()
    yield from amino_acids()
    yield from REAGENTS


def hydrochlorides(limit: int) -> Iterator[str]:
    """Yields hydrochlorides of simple amines as `amine.Cl`."""
    amines = itertools.chain(
        cyclic_amines(), ("N" + residue for residue in ALKYLS), ("NC" + residue for residue, plain in aryls() if plain)
    )
    for smiles in itertools.islice(amines, limit):
        yield Chem.MolToSmiles(_parsed(smiles)) + ".Cl"
