"""Writes the vectors of other forms of molecules in this folder, with RDKit as the judge.

    python make_forms.py        # neutral.tsv, tautomers.tsv

Charged forms are made of the molecules of molecules.tsv and of those written down here, and taken back by RDKit's
Normalizer and Uncharger; tautomers are those of its TautomerEnumerator in which no carbon gains or loses a hydrogen.
What we do otherwise on purpose is asked of RDKit in our way, see `normalizer`. See SOURCES.md.
"""

import csv
import random

from rdkit import Chem, RDLogger, rdBase
from rdkit.Chem import AllChem
from rdkit.Chem.MolStandardize import rdMolStandardize

RDLogger.DisableLog("rdApp.*")

# RDKit's rules (normalizations.in, 2026) but for sulfoxides, which we write as S=O, with ours for ylides and azides.
RULES = r"""
Sulfone to S(=O)(=O)	[S+2:1]([O-:2])([O-:3])>>[S+0:1](=[O-0:2])(=[O-0:3])
Double bonds of hypervalent elements	[C,N,O,S,Se;-1:1]-[P,S,As,Se,Te;+1:2]>>[*+0:1]=[*+0:2]
Azides and diazo compounds	[C,N;-1:1]-[N+:2]#[N+0:3]>>[*+0:1]=[N+:2]=[N-:3]
C+N to C=N+	[C;X3+1:1]([NX3:2])[NX3!H0:3]>>[*+0:1]([N:2])=[N+:3]
Recombine 1,3-separated charges	[N,P,As,Sb,O,S,Se,Te;-1:1]-[A+0:2]=[N,P,As,Sb,O,S,Se,Te;+1:3]>>[*-0:1]=[*:2]-[*+0:3]
Recombine 1,3-separated charges	[n,o,p,s;-1:1]:[a:2]=[N,O,P,S;+1:3]>>[*-0:1]:[*:2]-[*+0:3]
Recombine 1,3-separated charges	[N,O,P,S;-1:1]-[a+0:2]:[n,o,p,s;+1:3]>>[*-0:1]=[*:2]:[*+0:3]
Recombine 1,5-separated charges	[N,P,As,Sb,O,S,Se,Te;-1:1]-[A+0:2]=[A:3]-[A:4]=[N,P,As,Sb,O,S,Se,Te;+1:5]>>[*-0:1]=[*:2]-[*:3]=[*:4]-[*+0:5]
Recombine 1,5-separated charges	[n,o,p,s;-1:1]:[a:2]:[a:3]:[c:4]=[N,O,P,S;+1:5]>>[*-0:1]:[*:2]:[*:3]:[c:4]-[*+0:5]
Recombine 1,5-separated charges	[N,O,P,S;-1:1]-[c:2]:[a:3]:[a:4]:[n,o,p,s;+1:5]>>[*-0:1]=[c:2]:[*:3]:[*:4]:[*+0:5]
Normalize 1,3 conjugated cation	[N,O!$(*N);+0!H0:1]-[A:2]=[N!$(*~[N,O,P,S;-1]),O;+1H0:3]>>[*+1:1]=[*:2]-[*+0:3]
Normalize 1,5 conjugated cation	[N,O!$(*N);+0!H0:1]-[A:2]=[A:3]-[A:4]=[N!$(*~[N,O,P,S;-1]),O;+1H0:5]>>[*+1:1]=[*:2]-[*:3]=[*:4]-[*+0:5]
"""

# One charge more: what gains or loses a proton, as RDKit's reactions.
CHARGING = [
    AllChem.ReactionFromSmarts(smarts)
    for smarts in (
        "[NX3;+0;!$(N-[C,S,P]=[O,S,N]);!$(N-a);!$(N-C#N);!$(N-[N,O]):1]>>[N+:1]",
        "[OX2H;+0;$(O-[C,S,P]=O):1]>>[O-:1]",
        "[OX2H;+0;$(O-c):1]>>[O-:1]",
        "[SX2H;+0:1]>>[S-:1]",
        "[nX2;+0;r6:1]>>[nH+:1]",
        "[nX3H;+0:1]>>[n-:1]",
        "[NX2;+0;$(N=C-[NX3]):1]>>[N+:1]",
        "[NX3H;+0;$(N-S(=O)=O):1]>>[N-:1]",
    )
]

DIPOLAR = r"""
C[S+]([O-])C
C[S@+]([O-])c1ccccc1
C[S+2]([O-])([O-])c1ccccc1
C[P+]([O-])(C)C
CCO[P+]([O-])(OCC)OCC
[CH2-][P+](c1ccccc1)(c1ccccc1)c1ccccc1
CCOC(=O)[CH-][P+](c1ccccc1)(c1ccccc1)c1ccccc1
[CH2-][S+](C)(C)=O
C[S+](C)[N-]S(=O)(=O)c1ccc(C)cc1
C[N-][N+]#N
CC(=O)[CH-][N+]#N
[N-]=[N+]=NCc1ccccc1
CN(=O)=O
O=n1ccccc1
C[N+](=O)[O-]
[O-][n+]1ccccc1C
C[n+]1ccccc1[O-]
C[n+]1ccc([O-])cc1
C[n+]1cccc([O-])c1
[O-]c1cccc[nH+]1
C[N+](C)=C[O-]
C[N+](C)=C(C)[O-]
C[N+](C)=CC=C[O-]
C[N+](C)=C(C)N
C[N+](C)=C(N)N
C[N+](C)=CC=CN
N[C+](N)N
NC(N)=[NH2+]
CN(C)[C+](N)N
C[N+](C)(C)CC(=O)[O-]
C[N+](C)(C)C[C@@H](O)CC(=O)[O-]
C[N+](C)(C)CCOP(=O)([O-])OCC
C[N+](C)(C)CCS(=O)(=O)[O-]
C[N+](C)(C)C(CC(=O)[O-])CC(=O)[O-]
C[n+]1cccc(C(=O)[O-])c1
C[N+](C)(C)CC(N)C(=O)[O-]
C[N+](C)(C)CC([NH3+])C(=O)[O-]
F[B-](F)(F)c1ccccc1
[NH3+]C[B-](F)(F)F
C[n+]1ccn(C)c1
N#[N+]c1ccccc1
[C-]#[N+]C1CCCCC1
[C-]#N
N#C[S-]
CC(=O)[CH-]C(C)=O
CCOC(=O)[CH-]C(=O)OCC
N#C[CH-]C#N
O=C1[CH-]C(=O)CCC1
[O-]C=C
CC([O-])=CC(C)=O
c1c[n-]cn1
[n-]1nnnc1C
[nH+]1ccccc1
c1c[nH]c[nH+]1
[O-]c1ccc([N+](=O)[O-])cc1
[O-][N+](=O)c1ccc([NH3+])cc1
[O-]S(=O)c1ccccc1
[O-]S(=O)(=O)c1ccc([NH3+])cc1
[O-]P(=O)([O-])c1ccccc1
[O-]C(=O)C([O-])=O
[NH3+]CCCC[C@H]([NH3+])C(=O)[O-]
NC(=[NH2+])NCCC[C@H]([NH3+])C(=O)[O-]
[O-]C(=O)[C@@H]1CCC[NH2+]1
[S-]C[C@H]([NH3+])C(=O)[O-]
C[NH+](C)Cc1ccccc1
[O-][N+]1(C)CCOCC1
C[N+]([O-])=Cc1ccccc1
CC(C)[N-]C(C)C
[O-]C(C)(C)C
[S-]c1ccccc1
[O-]N=C(C)C
CC(=O)N[O-]
C[N-]S(C)(=O)=O
[O-]c1cc(=O)[nH]c(=O)[nH]1
CC(=O)C([O-])=C1C(=O)CCC1=O
""".split()

TAUTOMERS = r"""
Oc1ccccn1 Oc1ccncc1 Oc1cccc2ccc(O)nc12 Oc1ncccn1 Oc1ccncn1 Oc1nc(O)nc(O)n1 Oc1ccnc(O)n1 Nc1ccnc(O)n1 Sc1ccccn1 Sc1nccs1
Nc1ccccn1 Nc1nccs1 Nc1ncccn1 Nc1ncc[nH]1 Nc1cc[nH]n1 Cc1cc[nH]n1 Cc1c[nH]cn1 Cc1c[nH]nn1 Cc1nnn[nH]1 Cc1nc[nH]n1
Cc1ccc2[nH]ncc2c1 Cc1ccc2[nH]cnc2c1 Cc1ccc2[nH]nnc2c1 c1ncc2[nH]cnc2n1 Nc1ncnc2[nH]cnc12 O=c1[nH]cnc2[nH]cnc12
O=c1[nH]cnc2nc[nH]c12 Nc1nc2nc[nH]c2c(=O)[nH]1 O=c1[nH]c(=O)c2[nH]cnc2[nH]1 Cn1cnc2c(=O)[nH]c(=O)[nH]c21 Cc1c[nH]c(=O)[nH]c1=O
CC(=N)NC CC(N)=NC CNC(=N)NC NC(=N)Nc1ccccc1 CN=C(N)N CC(=NC)Nc1ccccc1 NC(=O)c1ccccc1 CC(=O)Nc1ccccc1 CNC(=O)NC CC(N)=S
NC(=S)Nc1ccccc1 NC(=S)NN NC(=O)NN=Cc1ccccc1 CC(=NO)N CC(=O)NO CC(=O)NN ONC(=O)c1ccccc1 NC(=N)c1ccccc1 CC(=O)OO
O=C1CCCN1 O=C1CCCCN1 O=C1CCC(=O)N1 O=C1NCCN1 O=C1NC(=O)CN1 O=C1Nc2ccccc2C1=O O=C1NC(=O)c2ccccc21 N=C1NC(=O)c2ccccc21
O=c1cc[nH]c2ccccc12 O=c1ccc2ccccc2[nH]1 O=c1[nH]ncc2ccccc12 O=c1[nH]cnc2ccccc12 O=c1[nH]c2ccccc2[nH]1 S=c1[nH]c2ccccc2[nH]1
Oc1nc2ccccc2o1 Sc1nc2ccccc2s1 Nc1nc2ccccc2[nH]1 Nc1nc2ccccc2s1 Oc1cc(C)n[nH]1 Oc1cc(C)[nH]n1 O=c1cc[nH][nH]1 Oc1ccc[nH]c1=O
O=c1[nH]c(C(F)(F)F)nc2ccccc12 Nc1n[nH]c2ccccc12 Nc1[nH]ncc1C#N Nc1c(C#N)cnn1C Cc1n[nH]c(C)c1Br Brc1cn[nH]c1 Ic1c[nH]cn1
O=Cc1c[nH]cn1 OC(=O)c1cc[nH]n1 OC(=O)c1c[nH]cn1 COC(=O)c1cc(C)[nH]n1 CCOC(=O)c1n[nH]cc1N c1ccc(-c2nn[nH]n2)cc1 c1ccc(-c2cc[nH]n2)cc1
c1ccc(-c2c[nH]cn2)cc1 c1ccc2[nH]c(-c3ccccn3)nc2c1 N=c1cc[nH]cc1 N=C1NCCCN1 C1=NCCN1 CC1=NCCN1 CC1=NC(C)CN1 NC1=NCCS1 CSC1=NCCN1
CNc1ncccn1 Nc1ncnc(N)n1 Nc1nc(N)nc(N)n1 Nc1nc(Cl)nc(Nc2ccccc2)n1 Clc1nc[nH]n1 Fc1ccc2[nH]ncc2c1 COc1ccc2[nH]cnc2c1 O=[N+]([O-])c1cn[nH]c1
O=c1[nH]cc(Br)cc1 O=c1[nH]c(Cl)ncc1 O=c1cc(C)[nH]c(=S)[nH]1 CSc1nc(C)cc(=O)[nH]1 NC(=O)c1ccc[nH]c1=O CC(=O)Nc1ccccn1 CC(=O)Nc1nccs1
O=C(Nc1ccccc1)Nc1ccccn1 CN(C)C=Nc1ccccn1 N#CN=C(N)N CC(=O)N=C(N)N O=C(O)CN=C(N)N N=C(N)SCc1ccccc1 ON=C(N)c1ccccc1 O=C1C=CNC=C1
O=C1NN=C(c2ccccc2)C1 O=C1CC(c2ccccc2)=NN1 O=C1N=C(N)NC1 NC1=NC(=O)CS1 O=C1CSC(=Nc2ccccc2)N1 S=C1NC(=O)CS1 Oc1c2ccccc2nc2ccccc12
Oc1ccc(N=Nc2ccccc2)c2ccccc12 Oc1ccc2ccccc2c1N=Nc1ccccc1 O=Nc1ccc(O)cc1 ON=C1C=CC(=O)C=C1 c1ccc(NN=Nc2ccc(C)cc2)cc1 CC(=O)C=CNC
C[C@H](N)C(=O)Nc1ccccn1 C[C@@H](O)c1cc[nH]n1 O=C1N[C@@H](C)CN1 N=C(N)N1CC[C@H](F)C1 C[C@H]1CC[C@@H](c2cc[nH]n2)CC1 C[C@H]1CC[C@H](c2cc[nH]n2)CC1
O=C(NC1CC[C@@H](O)CC1)c1cn[nH]c1 CC(C)(C)OC(=O)N[C@@H]1CCC[C@H]1c1nn[nH]n1 O=c1[nH]c([C@@H]2CCCO2)nc2ccccc12 Nc1nc([C@H](C)O)n[nH]1
O=P(O)(O)c1ccccn1 OB(O)c1cn[nH]c1 OB(O)c1ccnc(O)c1 CC1(C)OB(c2cn[nH]c2)OC1(C)C CC1(C)OB(c2cc[nH]n2)OC1(C)C O=Cc1cn[nH]c1 NCc1cc[nH]n1
Oc1ncnc2sccc12 Oc1ncnc2[nH]ccc12 Oc1nccc2ccsc12 Nc1ncnc2c1cnn2C Nc1ncnc2[nH]ncc12 O=c1[nH]cnc2[nH]ncc12 Oc1nc(N)nc2nc[nH]c12
""".split()

# Pairs beyond what the enumerator is asked: enols of 1,3-dicarbonyl compounds, charged forms of tautomers.
PAIRS = r"""
CC(=O)CC(C)=O CC(O)=CC(C)=O
CCOC(=O)CC(C)=O CCOC(=O)C=C(C)O
O=C1CCCC(=O)C1 O=C1C=C(O)CCC1
O=C1CC(=O)c2ccccc2O1 O=c1cc(O)c2ccccc2o1
O=C1CC(=O)NC(=O)N1 Oc1cc(O)nc(O)n1
O=C1CC(=O)NC(=O)N1 O=c1cc(O)[nH]c(=O)[nH]1
CC1=NN(c2ccccc2)C(=O)C1C(C)=O CC(=O)c1c(C)nn(-c2ccccc2)c1O
O=C1CC(=O)C=CN1 O=c1cc(O)cc[nH]1
O=C(CC(=O)C(F)(F)F)c1ccccc1 O=C(C=C(O)c1ccccc1)C(F)(F)F
O=C1CCC(=O)C1C(C)=O CC(O)=C1C(=O)CCC1=O
O=C1C(C)C(=O)CC1 O=C1C(C)=C(O)CC1
CC(=O)C(C)C(C)=O CC(=O)C(C)=C(C)O
[O-]c1ccccn1 O=c1cccc[nH]1
C[n+]1cc[nH]c1 Cn1ccnc1
c1c[nH+]c[nH]1 c1c[nH]cn1
CC([O-])=CC(C)=O CC(=O)CC(C)=O
[O-]c1cc[nH+]cc1 O=c1cc[nH]cc1
NC(N)=[NH2+] NC(=N)N
CC(=[NH2+])NC CC(=NC)N
C[n-]1cnc2c1c(=O)[nH]c(=O)[nH]2 C[n-]1cnc2c1c(=O)[nH]c(=O)[nH]2
Cn1cnc2nc(N)[n-]c(=O)c21 Cn1cnc2nc(N)[nH]c(=O)c21
"""

# Molecules that are no tautomers of each other, by twos.
OTHERS = r"""
CC(C)=O CC(C)=C
CC(C)=O C=C(C)O
O=C1CCCCC1 OC1=CCCCC1
CC=O C=CO
CC(=O)c1ccccc1 C=C(O)c1ccccc1
CC(=N)C C=C(C)N
Cn1ccnc1C Cn1cncc1C
Cn1ccc(C)n1 Cn1nccc1C
Cn1cccn1 Cn1ccnc1
COc1ccccn1 Cn1ccccc1=O
Oc1ccccn1 Oc1cccnc1
Oc1cccnc1 Oc1ccncc1
Cc1cc[nH]n1 Cc1cn[nH]c1
Cc1c[nH]cn1 Cc1ncc[nH]1
c1cn[nH]c1 c1c[nH]cn1
c1nn[nH]n1 c1c[nH]nn1
CC(=O)NC CNC(C)=C
CC(=O)OC COC(=O)C
CC(=O)O OCC=O
C[C@H](N)C(=O)O C[C@@H](N)C(=O)O
C[C@H](N)c1cc[nH]n1 C[C@@H](N)c1cc[nH]n1
C[C@H]1CC[C@@H](c2cc[nH]n2)CC1 C[C@H]1CC[C@H](c2cc[nH]n2)CC1
O=C(O)/C=C/c1ccccc1 O=C(O)/C=C\c1ccccc1
O=C(O)/C=C/C(=O)O O=C(O)/C=C\C(=O)O
O=C(O)/C=C/c1ccc(O)cc1 O=C(O)/C=C\c1ccc(O)cc1
O=C(O)/C=C/c1c[nH]c2ccccc12 O=C(O)C=Cc1c[nH]c2ccccc12
C/C(=N\O)c1ccccc1 C/C(=N/O)c1ccccc1
CCC(=O)CC(C)=O CC(=O)CCC(C)=O
C=CC(=O)CC CC=CC(C)=O
O=C1C=CCCC1 O=C1CC=CCC1
Nc1ccc(O)cc1 Nc1cccc(O)c1
NC(=O)c1ccc(O)cc1 NC(=O)c1cccc(O)c1
CNC(=N)N CN(C)C=N
CN1C=CC(=O)C=C1 COc1ccncc1
CS(=O)(=O)NC CS(=O)(=NC)O
O=C1NCCc2ccccc21 O=C1NCc2ccccc2C1
O=c1[nH]ccc2ccccc12 O=c1cc[nH]c2ccccc12
Nc1ncccc1C Nc1nccc(C)c1
Nc1ncc(C)cn1 Nc1nccc(C)n1
CC(C)N CCCN
C[N+](=O)[O-] CON=O
CC#N C[N+]#[C-]
[2H]C([2H])O CO
Oc1ccc(N=Nc2ccccc2)cc1 Oc1cccc(N=Nc2ccccc2)c1
C[C@H](C(C)=O)C(=O)N(C)C C[C@@H](C(C)=O)C(=O)N(C)C
"""


def canonical(smiles):
    molecule = Chem.MolFromSmiles(smiles)
    return None if molecule is None else Chem.MolToSmiles(molecule)


def normalizer():
    return rdMolStandardize.NormalizerFromData(RULES.strip() + "\n", rdMolStandardize.CleanupParameters())


def neutral(molecule):
    """RDKit's neutral form; None where it cannot be read (cyclopentadienide)."""
    molecule = rdMolStandardize.Uncharger().uncharge(normalizer().normalize(molecule))
    return canonical(Chem.MolToSmiles(molecule))


def charged(molecule, rng):
    """The molecule with one to three protons more or less, or None."""
    for _ in range(rng.randint(1, 3)):
        products = [product for reaction in CHARGING for (product,) in reaction.RunReactants((molecule,))]
        rng.shuffle(products)
        for product in products:
            if Chem.SanitizeMol(product, catchErrors=True) == Chem.SANITIZE_NONE:
                read = Chem.MolFromSmiles(Chem.MolToSmiles(product))
                if read is not None:
                    molecule = read
                    break
    return molecule if any(atom.GetFormalCharge() for atom in molecule.GetAtoms()) else None


def known():
    with open("molecules.tsv") as file:
        return [row["canonical"] for row in csv.DictReader(file, delimiter="\t")]


def write_neutral():
    rng = random.Random(5)
    forms = dict.fromkeys(DIPOLAR)
    for smiles in known():
        molecule = charged(Chem.MolFromSmiles(smiles), rng)
        if molecule is not None and "." not in smiles:
            forms[Chem.MolToSmiles(molecule)] = None
    with open("neutral.tsv", "w") as out:
        print("smiles\tneutral", file=out)
        for smiles in forms:
            answer = neutral(Chem.MolFromSmiles(smiles))
            if answer is not None:
                print(smiles, answer, sep="\t", file=out)
    print("charged forms", len(forms))


def carbon_hydrogens(molecule):
    return [atom.GetTotalNumHs() for atom in molecule.GetAtoms() if atom.GetSymbol() == "C"]


def tautomers(molecule, enumerator):
    """Canonical SMILES of the tautomers with the same hydrogens on every carbon, aci-nitro compounds left out."""
    wanted = carbon_hydrogens(molecule)
    return sorted(
        Chem.MolToSmiles(tautomer)
        for tautomer in enumerator.Enumerate(molecule)
        if carbon_hydrogens(tautomer) == wanted and not any(map(tautomer.HasSubstructMatch, UNASKED))
    )


# Allenes and their like, and aci-nitro compounds.
UNASKED = [Chem.MolFromSmarts(smarts) for smarts in ("[*]=[*]=[*]", "[N+]([O-])[OH]")]


def write_tautomers():
    rng = random.Random(6)
    enumerator = rdMolStandardize.TautomerEnumerator()
    enumerator.SetRemoveSp3Stereo(False)
    enumerator.SetMaxTautomers(200)
    rows = set()
    for smiles in TAUTOMERS + known():
        molecule = Chem.MolFromSmiles(smiles)
        if molecule is None or {"/", "\\", "."} & set(smiles) or molecule.GetNumHeavyAtoms() > 25:
            continue
        own = Chem.MolToSmiles(molecule)
        others = [other for other in tautomers(molecule, enumerator) if canonical(other) != own]
        rows.update((own, canonical(other)) for other in rng.sample(others, min(3, len(others))))
    with open("tautomers.tsv", "w") as out:
        print("one\tother\tare", file=out)
        for one, other in sorted(rows):
            print(one, other, "tautomers", sep="\t", file=out)
        for text, word in ((PAIRS, "tautomers"), (OTHERS, "others")):
            for line in text.strip().splitlines():
                pair = [canonical(smiles) for smiles in line.split()]
                if pair[0] != pair[1]:
                    print(*pair, word, sep="\t", file=out)
    print("tautomers", len(rows))


if __name__ == "__main__":
    print("RDKit", rdBase.rdkitVersion)
    write_neutral()
    write_tautomers()
