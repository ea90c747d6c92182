"""Writes vectors of properties and alerts, with RDKit as the judge.

    python make_properties.py                  # properties.tsv, from the molecules of make.py and those below
    python make_properties.py MOLECULES OUT    # the same columns for a list of SMILES, for the test of a whole file

See SOURCES.md.
"""

import itertools
import sys
from pathlib import Path

from rdkit import Chem, RDConfig, RDLogger, rdBase
from rdkit.Chem import QED, Crippen, Descriptors, FilterCatalog, Lipinski, rdMolDescriptors

from make import DRUGS, GROUPS, SCAFFOLDS

sys.path.append(str(Path(RDConfig.RDContribDir) / "SA_Score"))
import sascorer  # noqa: E402

RDLogger.DisableLog("rdApp.*")

# Charges, isotopes, metals, macrocycles, cages, spiro rings, sulfur, phosphorus, boron, silicon, selenium, stereo.
OTHERS = """
[NH3+]CC(=O)[O-]
C[N+](C)(C)CCO.[Cl-]
[Na+].[O-]C(=O)c1ccccc1
CC(=O)[O-].[Li+]
[O-][n+]1ccccc1
C[n+]1ccccc1
C[N+]#[C-]
[N-]=[N+]=NCc1ccccc1
C=[N+]=[N-]
O=[N+]([O-])c1ccc(cc1)[N+](=O)[O-]
CC(C)[N-]C(C)C.[Li+]
[O-]Cl(=O)(=O)=O.[K+]
[2H]C([2H])([2H])N1CCCC1
[2H]OC
[13CH3]c1ccccc1
C[15NH2]
[18OH]c1ccccc1
[3H]c1ccccc1
[35S]1C=CC=C1
CC[Hg]Cl
C[Mg]Br
[Cu+2].[O-]C(=O)C.[O-]C(=O)C
CC(=O)O[Pd]OC(C)=O
Cl[Pt](Cl)(N)N
C[Zn]C
[Fe+2].c1cc[cH-]c1.c1cc[cH-]c1
C[Al](C)C
CCCC[Sn](CCCC)(CCCC)c1ccccc1
C[Ge](C)(C)C
O=[Ti]=O
[Ag+].[O-][N+](=O)[O-]
C[As](C)C
c1ccc(cc1)[Bi](c1ccccc1)c1ccccc1
OB(O)c1ccccc1
CC1(C)OB(OC1(C)C)c1cccnc1
F[B-](F)(F)F
c1ccc2c(c1)Bc1ccccc1O2
C[Si](C)(C)C#Cc1ccccc1
CC(C)(C)[Si](C)(C)OCC
c1cc[se]c1
C[Se]C
C[Te]C
CP(C)C
CCOP(=O)(OCC)OCC
c1ccc(cc1)P(c1ccccc1)c1ccccc1
C[P+](c1ccccc1)(c1ccccc1)c1ccccc1
CP(=O)(O)O
COP(=S)(OC)SC
C1=CC=PC=C1
c1ccpcc1
FP(F)(F)(F)F
CS(C)=O
CS(=O)(=O)C
CS(=O)(=O)NC(=O)c1ccccc1
C[S@](=O)c1ccccc1
CSSC
CC(=S)N
OS(=O)(=O)c1ccccc1
CS(=N)(=O)C
S1C=CSC1=C1SC=CS1
FS(F)(F)(F)(F)c1ccccc1
CSCCS(C)(=O)=O
c1ccc2sc(S)nc2c1
C1CCCCCCCCCCC1
O=C1CCCCCCCCCCCCCCO1
C1COCCOCCOCCOCCOCCO1
C1CCC2(CC1)OCCO2
C1CC2(C1)CC1(C2)CCC1
C1C2CC3CC1CC(C2)C3
C12C3C4C1C5C2C3C45
C1CC2CCC1C2
C1CN2CCC1CC2
C1CC2CCC1O2
CC1(C)C2CCC1(C)C(=O)C2
c1ccc2ccc3cccc4ccc1c2c34
c1cc2ccc3ccc4ccc5ccc6ccc1c7c2c3c4c5c67
C1c2cccc(c2)Cc2cccc(c2)Cc2cccc(c2)Cc2cccc1c2
N1CCNCCNCCNCC1
C1=Cc2cc3ccc([nH]3)cc3nc(cc4ccc([nH]4)cc1n2)C=C3
O=C1NC(=O)c2ccccc21
O=C1C=CC(=O)c2ccccc12
O=c1cc[nH]c(=O)[nH]1
Nc1ncnc2c1ncn2[C@@H]1O[C@H](CO)[C@@H](O)[C@H]1O
OC[C@H]1O[C@@H](O)[C@H](O)[C@@H](O)[C@@H]1O
C[C@H](N)C(=O)N[C@@H](Cc1ccccc1)C(=O)O
C[C@@H]1CC[C@H](C)CC1
CC1CCC(C)CC1
C/C=C/C=C\\C
F/C=C/F
CC=CC
C[C@H](F)[C@@H](F)C
OC1CC(O)C1
FC(Cl)Br
CC(O)(C(F)(F)F)C#N
C=C=C
C#CC#C
CN=C=O
CN=C=S
O=C=O
C1=CC2=CC=CC2=C1
c1ccc2c(c1)[nH]c1ccccc12
Oc1ccc(N=Nc2ccccc2)cc1
O=Cc1ccc(O)c(O)c1
CC(=O)C=Cc1ccccc1
O=C(CBr)c1ccccc1
ClCCN(CCCl)CCCl
C1CO1
C1CN1
CC(=O)Cl
CC(=O)OC(C)=O
OO
CC(C)(C)OOC(C)(C)C
NN
CNO
ON=C(C)C
CC(=O)NO
S=C=S
IC(I)I
ICI
c1ccc(I)cc1
O=I(=O)c1ccccc1
FC(F)(F)C(F)(F)C(F)(F)C(F)(F)F
CCCCCCCCCCCCCCCC(=O)O
CCCCCCCCN
OCC(O)CO
OC(=O)CC(O)(CC(=O)O)C(=O)O
NC(=N)NCCC[C@H](N)C(=O)O
C
O
N
[OH-]
[NH4+]
[He]
Cl
[Br-]
[H][H]
[H+]
[CH3]
[CH2]
[O][O]
*C
C*c1ccccc1
*
""".split()

CATALOGUES = ["PAINS", "BRENK", "NIH", "CHEMBL"]
PROPERTIES = {
    "mw": Descriptors.MolWt,
    "clogp": Crippen.MolLogP,
    "tpsa": rdMolDescriptors.CalcTPSA,
    "hbd": Lipinski.NumHDonors,
    "hba": Lipinski.NumHAcceptors,
    "rotatable_bonds": rdMolDescriptors.CalcNumRotatableBonds,
    "rings": rdMolDescriptors.CalcNumRings,
    "fsp3": rdMolDescriptors.CalcFractionCSP3,
    "qed": QED.qed,
    "sa_score": sascorer.calculateScore,
    "heavy_atoms": rdMolDescriptors.CalcNumHeavyAtoms,
    "formal_charge": Chem.GetFormalCharge,
}


def catalogue(name):
    return FilterCatalog.FilterCatalog(getattr(FilterCatalog.FilterCatalogParams.FilterCatalogs, name))


def write(strings, path):
    catalogues = [catalogue(name) for name in CATALOGUES]
    with open(path, "w") as out:
        print("smiles", *PROPERTIES, *(name.lower() for name in CATALOGUES), sep="\t", file=out)
        for smiles in strings:
            molecule = Chem.MolFromSmiles(smiles)
            if molecule is None:
                continue
            values = [repr(compute(molecule)) for compute in PROPERTIES.values()]
            matches = [entries.GetFirstMatch(molecule) for entries in catalogues]
            names = [match.GetDescription() if match else "" for match in matches]
            print(smiles, *values, *names, sep="\t", file=out)


if __name__ == "__main__":
    print("RDKit", rdBase.rdkitVersion)
    if sys.argv[1:]:
        write(Path(sys.argv[1]).read_text().split(), sys.argv[2])
    else:
        drugs = [smiles.replace("\\\\", "\\") for smiles in DRUGS]
        built = [scaffold.format(group) for scaffold, group in itertools.product(SCAFFOLDS, GROUPS)]
        write(drugs + built[::4] + OTHERS, "properties.tsv")
