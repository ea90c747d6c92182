"""Writes the conformance set of this folder, with RDKit as the judge.

    python make.py                     # molecules.tsv, strings.tsv, templates.tsv
    python make.py --strings FILE N    # N random and damaged strings for the ignored differential test

What goes in is written down here: well-known drugs, functional groups put on scaffolds, strings that are wrong in
one known way, and textbook disconnections. What comes out is RDKit's verdict on them. See SOURCES.md.
"""

import itertools
import random
import sys

from rdkit import Chem, RDLogger, rdBase
from rdkit.Chem import AllChem, Descriptors, rdFingerprintGenerator

RDLogger.DisableLog("rdApp.*")
MORGAN = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=2048)

DRUGS = """
CC(=O)Oc1ccccc1C(=O)O
CC(=O)Nc1ccc(O)cc1
CC(C)Cc1ccc(cc1)C(C)C(=O)O
CC(C)Cc1ccc(cc1)[C@H](C)C(=O)O
COc1ccc2cc(ccc2c1)[C@H](C)C(O)=O
Cn1cnc2n(C)c(=O)n(C)c(=O)c12
CN1CCC[C@H]1c1cccnc1
NC(=O)c1cccnc1
CCN(CC)CC(=O)Nc1c(C)cccc1C
CCN(CC)CCOC(=O)c1ccc(N)cc1
CCOC(=O)c1ccc(N)cc1
CN1C(=O)CN=C(c2ccccc2)c2cc(Cl)ccc12
CN1[C@H]2CC[C@@H]1[C@@H](C(=O)OC)[C@@H](OC(=O)c1ccccc1)C2
CN1CC[C@]23c4c5ccc(O)c4O[C@H]2[C@@H](O)C=C[C@H]3[C@H]1C5
COc1ccc2C[C@@H]3[C@@H]4C=C[C@H](O)[C@@H]5Oc1c2[C@]45CCN3C
CC1(C)S[C@@H]2[C@H](NC(=O)Cc3ccccc3)C(=O)N2[C@H]1C(=O)O
CC1(C)S[C@@H]2[C@H](NC(=O)[C@H](N)c3ccc(O)cc3)C(=O)N2[C@H]1C(O)=O
OC(=O)CCCCC1SCC2NC(=O)NC12
CNCC[C@H](Oc1ccc(cc1)C(F)(F)F)c1ccccc1
CNCCC(Oc1ccc(cc1)C(F)(F)F)c1ccccc1
CN[C@H]1CC[C@@H](c2ccc(Cl)c(Cl)c2)c2ccccc12
CN(C)CCC[C@]1(OCc2cc(C#N)ccc12)c1ccc(F)cc1
CN(C)CCC=C1c2ccccc2CCc2ccccc12
CN1CCN(CC1)C1=Nc2cc(Cl)ccc2Nc2ccccc12
OC(=O)c1cn(C2CC2)c2cc(N3CCNCC3)c(F)cc2c1=O
CC[C@H]1OC(=O)[C@H](C)[C@@H](O)[C@H](C)[C@@H](O)[C@](C)(O)C[C@@H](C)C(=O)[C@H](C)[C@@H](O)[C@]1(C)O
Cc1ccc(NC(=O)c2ccc(CN3CCN(C)CC3)cc2)cc1Nc1nccc(n1)-c1cccnc1
COCCOc1cc2ncnc(Nc3cccc(c3)C#C)c2cc1OCCOC
COc1cc2ncnc(Nc3ccc(F)c(Cl)c3)c2cc1OCCCN1CCOCC1
CNC(=O)c1cc(Oc2ccc(NC(=O)Nc3ccc(Cl)c(c3)C(F)(F)F)cc2)ccn1
CCCc1nn(C)c2c1nc([nH]c2=O)-c1cc(ccc1OCC)S(=O)(=O)N1CCN(C)CC1
CC(C)c1c(C(=O)Nc2ccccc2)c(-c2ccccc2)c(-c2ccc(F)cc2)n1CC[C@@H](O)C[C@@H](O)CC(O)=O
CC[C@H](C)C(=O)O[C@H]1C[C@@H](C)C=C2C=C[C@H](C)[C@H](CC[C@@H]3C[C@@H](O)CC(=O)O3)[C@@H]12
CCOC(=O)[C@H](CCc1ccccc1)N[C@@H](C)C(=O)N1CCC[C@H]1C(=O)O
C[C@H](CS)C(=O)N1CCC[C@H]1C(O)=O
CCCCc1nc(Cl)c(CO)n1Cc1ccc(cc1)-c1ccccc1-c1nn[nH]n1
CCOC(=O)C1=C(COCCN)NC(C)=C(C1c1ccccc1Cl)C(=O)OC
COC(=O)C1=C(C)NC(C)=C(C1c1ccccc1[N+](=O)[O-])C(=O)OC
CC(C)NCC(O)COc1ccc(CC(N)=O)cc1
CC(C)NCC(O)COc1cccc2ccccc12
COCCc1ccc(OCC(O)CNC(C)C)cc1
CC(C)(C)NCC(O)c1ccc(O)c(CO)c1
NS(=O)(=O)c1cc(C(O)=O)c(NCc2ccco2)cc1Cl
NS(=O)(=O)c1cc2c(cc1Cl)NCNS2(=O)=O
CN(C)C(=N)NC(N)=N
CN(C)C(=N)N=C(N)N
COc1ccc2nc([nH]c2c1)S(=O)Cc1ncc(C)c(OC)c1C
CNC(NCCSCc1ccc(CN(C)C)o1)=C[N+]([O-])=O
Cc1nccn1CC1CCc2c(C1=O)c1ccccc1n2C
Cc1ccc(cc1)-c1cc(nn1-c1ccc(cc1)S(N)(=O)=O)C(F)(F)F
OC(=O)Cc1ccccc1Nc1c(Cl)cccc1Cl
COc1ccc2n(C(=O)c3ccc(Cl)cc3)c(C)c(CC(O)=O)c2c1
CN1C(C(=O)Nc2ccccn2)=C(O)c2ccccc2S1(=O)=O
CC(=O)CC(c1ccccc1)c1c(O)c2ccccc2oc1=O
CCC(=O)N(c1ccccc1)C1CCN(CCc2ccccc2)CC1
CN(C)C[C@H]1CCCC[C@@]1(O)c1cccc(OC)c1
O=C1CCC(N2C(=O)c3ccccc3C2=O)C(=O)N1
Nc1ccc(cc1)S(=O)(=O)Nc1ncccn1
Cc1cc(NS(=O)(=O)c2ccc(N)cc2)no1
COc1cc(Cc2cnc(N)nc2N)cc(OC)c1OC
NNC(=O)c1ccncc1
NC(=O)c1cnccn1
CC[C@@H](CO)NCCN[C@@H](CC)CO
Cc1ncc([N+]([O-])=O)n1CCO
OC(Cn1cncn1)(Cn1cncn1)c1ccc(F)cc1F
Nc1nc2n(COCCO)cnc2c(=O)[nH]1
Cc1cn([C@H]2C[C@H](N=[N+]=[N-])[C@@H](CO)O2)c(=O)[nH]c1=O
Nc1ccn([C@@H]2CS[C@H](CO)O2)c(=O)n1
CCOC(=O)[C@@H]1C=C(O[C@@H](C(CC)CC)[C@H](NC(C)=O)[C@H]1N)C
NC12CC3CC(CC(C3)C1)C2
CC12CC3CC(C)(C1)CC(N)(C3)C2
C[C@]12CC[C@H]3[C@@H](CCC4=CC(=O)CC[C@]34C)[C@@H]1CC[C@@H]2O
C[C@]12CC[C@H]3[C@@H](CCc4cc(O)ccc34)[C@@H]1CC[C@@H]2O
CC(=O)[C@H]1CC[C@H]2[C@@H]3CCC4=CC(=O)CC[C@]4(C)[C@H]3CC[C@]12C
CC(C)CCC[C@@H](C)[C@H]1CC[C@H]2[C@@H]3CC=C4C[C@@H](O)CC[C@]4(C)[C@H]3CC[C@]12C
C[C@]12C[C@H](O)[C@H]3[C@@H](CCC4=CC(=O)CC[C@]34C)[C@@H]1CC[C@]2(O)C(=O)CO
CC(C)=CCC/C(C)=C/CO
CC1=C(C(C)(C)CCC1)/C=C/C(C)=C/C=C/C(C)=C/C(=O)O
CC1=C(C(C)(C)CCC1)/C=C/C(C)=C/C=C/C(C)=C\\C(=O)O
COc1cc(/C=C/C(=O)CC(=O)/C=C/c2ccc(O)c(OC)c2)ccc1O
Oc1ccc(/C=C/c2cc(O)cc(O)c2)cc1
CC/C(c1ccccc1)=C(\\c1ccccc1)c1ccc(OCCN(C)C)cc1
O=C(O)/C=C/C(=O)O
O=C(O)/C=C\\C(=O)O
OC[C@H]1O[C@@H](O)[C@H](O)[C@@H](O)[C@@H]1O
OC[C@H]1O[C@@](CO)(O[C@H]2O[C@H](CO)[C@@H](O)[C@H](O)[C@H]2O)[C@@H](O)[C@@H]1O
OC[C@H](O)[C@H]1OC(=O)C(O)=C1O
N[C@@H](Cc1c[nH]c2ccccc12)C(=O)O
N[C@@H](CC(=O)O)C(=O)N[C@@H](Cc1ccccc1)C(=O)OC
N[C@@H](Cc1cnc[nH]1)C(O)=O
N[C@@H](CS)C(=O)O
N[C@@H](CSSC[C@H](N)C(O)=O)C(O)=O
NCCc1ccc(O)c(O)c1
NCCc1c[nH]c2ccc(O)cc12
CNC[C@H](O)c1ccc(O)c(O)c1
C[N+](C)(C)CCOC(C)=O
C[N+](C)(C)CC([O-])=O
Cc1ncc(C[n+]2csc(CCO)c2C)c(N)n1
Cc1cc2nc3c(=O)[nH]c(=O)nc-3n(C[C@H](O)[C@H](O)[C@H](O)CO)c2cc1C
Nc1nc2ncc(CNc3ccc(cc3)C(=O)N[C@@H](CCC(O)=O)C(O)=O)nc2c(=O)[nH]1
Nc1ncnc2c1ncn2[C@@H]1O[C@H](COP(O)(=O)OP(O)(=O)OP(O)(O)=O)[C@@H](O)[C@H]1O
O=P(O)(O)CN(CP(O)(O)=O)CC(O)=O
CC(O)(P(O)(O)=O)P(O)(O)=O
CP(=O)(OC(C)C)F
ClCCN(CCCl)P1(=O)NCCCO1
OB(O)c1ccccc1
CC1(C)OB(OC1(C)C)c1ccncc1
CC(C)C[C@H](NC(=O)[C@H](Cc1ccccc1)NC(=O)c1cnccn1)B(O)O
CCCC[Sn](CCCC)(CCCC)c1ccccn1
C[Si](C)(C)C#Cc1ccccc1
CC(C)(C)[Si](C)(C)OCCBr
[Na+].[O-]C(=O)c1ccccc1
Cl.CNCCC(Oc1ccc(cc1)C(F)(F)F)c1ccccc1
[K+].[K+].[O-]C([O-])=O
O=S(=O)(O)O
[O-][Cl+3]([O-])([O-])[O-].[Na+]
OCl(=O)(=O)=O
CN(=O)=O
C[N+](=O)[O-]
[C-]#[N+]c1ccccc1
N=[N+]=[N-]
CN=[N+]=[N-]
c1ccc2c(c1)[nH]c1ccccc12
c1ccc2c(c1)ccc1ccccc12
C1CC2CCC1C2
C1CN2CCC1CC2
c1cc[nH+]cc1
[O-][n+]1ccccc1
O=c1cc[nH]cc1
Oc1ccncc1
c1ccsc1
c1cc[se]c1
c1ccoc1
c1cnoc1
c1nnn[nH]1
c1ccc2[nH]cnc2c1
c1ccc2scnc2c1
C1=CC=CC=C1
C1=CNC=C1
O=C1C=CC(=O)C=C1
C1=CC=CC=CC=C1
C1=Cc2cccc3cccc1c23
[cH-]1cccc1
C1=CC=C[CH+]C=C1
O=c1cccccc1
C[S@](=O)c1ccc(C)cc1
C[S@@+]([O-])CCCC
CC[P@](C)c1ccccc1
F[C@@](Cl)(Br)I
C[C@H](O)[C@@H](O)C
C[C@H](O)[C@H](O)C
C[C@H]1CC[C@@H](C)CC1
C[C@H]1CC[C@H](C)CC1
F/C=C/F
F/C=C\\F
F/C(Cl)=C(/F)Cl
C/C=C/C=C\\C
C/C=N/O
C/C=N\\OC
[2H]C([2H])([2H])O
[13CH3]C(=O)O
[H]O[H]
[H][C@](C)(O)CC
[H]C([H])([H])C
C(C)(C)(C)C
N#CC#N
O=C=O
C=C=C
C#C
[He]
[Fe+2]
[NH4+].[Cl-]
OO
S
FS(F)(F)(F)(F)F
CS(C)=O
CS(=O)(=O)Cl
O=S1CCCC1
P(Cl)(Cl)Cl
ClP(Cl)(Cl)(Cl)Cl
IC(F)(F)F
C1CC1C2CC2
C%10CCCCC%10
C1CCC2CC1CC2
CC1=CC(=O)c2ccccc2C1=O
""".split()

SCAFFOLDS = ["C{}", "CC{}", "c1ccccc1{}", "c1ccncc1{}", "C1CCCCC1{}", "C[C@H](F){}"]
GROUPS = [
    "O", "OC", "N", "NC", "N(C)C", "S", "SC", "F", "Cl", "Br", "I", "C#N", "C=O", "C(=O)O", "C(=O)OC", "C(=O)N",
    "C(=O)NC", "C(=O)Cl", "NC(=O)C", "N=C=O", "N=C=S", "[N+](=O)[O-]", "N(=O)=O", "S(=O)C", "S(=O)(=O)N", "OB(O)O",
    "B(O)O", "P(=O)(OC)OC", "N=[N+]=[N-]", "[NH3+]", "[O-]", "C=C", "C#C", "C(F)(F)F", "OC(F)F", "NN", "NO",
    "ON", "C(=N)N", "NC(=N)N", "NC(=O)OC(C)(C)C", "NC(=O)N", "OS(=O)(=O)C", "[Si](C)(C)C", "C1CO1", "C1OCCO1",
    "n1cccc1", "c1nccs1", "N1CCOCC1", "N1CCNCC1",
]

STRINGS = """
C() O@C C(=) .C C11 C. C..C C((C)) (C)C C(C.C)C C1CC C[ C] [C [] [12] [+] [Xx] [D] D R Q [cl] CL [nH2] [HC] [HH2]
C= =C C(C=)C C(-C)C C-(C)C C=.C C.=C C(.C)C C1.C1 C12CC12 C1C1 C=1CC=1 C=1CC1 C1CC=1 C%12CC%12 C%(12)CC%(12)
C%1CC C00 C0CC0 C(C)1CC1 C(1CC1)C C~C C$C C//C C#-C C!C C&C C|C C;C C,C C{C} é [é] [C@@@H](F)(Cl)Br
[C@?H](F)(Cl)Br [C@TH1](F)(Cl)(Br)I [C@TH3](F)(Cl)(Br)I [CH2@] [C+H] [CH3+++] [C++] [C+2] [C+-] [C:1] [C:1:2] [C:]
c1cccc1 c1ccccc1 cc c1ccc1 c1cccccc1 n1cccc1 [nH]1cccc1 o1cccc1 c1ccccc1c C(C)(C)(C)(C)C N(C)(C)(C)C O(C)(C)C FCF
F(C)C Cl(C)C [CH5] [NH4+] [NH5+] [OH3+] [OH4+2] C#C#C C=C=C O=O N#N C=N=C CN(=O)=O C[N+](=O)[O-] CN(=O)(=O)=O
S(=O)(=O)(=O)=O CS(C)(C)C P(C)(C)(C)(C)C P(C)(C)(C)(C)(C)C B(C)(C)C B(C)(C)(C)C [B-](C)(C)(C)C [Si](C)(C)(C)(C)C
[Al] [Pt] [Og] [#6] [#118] [#119] [0CH4] [13CH4] [C@](F)(Cl)(Br)I [C@](F)(Cl)Br [C@H](F)Cl C[C@H](C)C F/C=C/F F/C=C
c1ccccc1-c1ccccc1 c1ccccc1c1ccccc1 C:C c:c C1:C:C:C:C:C1 [te]1cccc1 [se]1cccc1 [si]1ccccc1 b1ccccc1 p1ccccc1
*C [*] [*H] [2*] C1CC%01 [C-]#[O+] [O-][O+]=O [N-]=[N+]=C c1c[nH]cn1 c1cncn1 Cn1cncc1 c1cc2ccccc2cc1 c1cc2cccccc2c1
CC1=CC=CC=C1C2 C1=CC=CC=C1 O=C1C=CC=CC1=O [H] [H+] [H-] [H][H] [HH] [2H]O[2H] [H]C [H][N+]([H])([H])[H]
""".split()

RETRO = {
    "amide": "[C:1](=[O;H0;D1:2])-[N;H1;D2;+0:3]>>([C:1](=[O:2])-[OH;+0].[NH2;+0:3])",
    "tertiary amide": "[C:1](=[O;H0;D1:2])-[N;H0;D3;+0:3]>>([C:1](=[O:2])-[OH;+0].[NH;+0:3])",
    "amide from chloride": "[C:1](=[O;H0;D1:2])-[N;H1;D2;+0:3]>>([C:1](=[O:2])-[Cl;H0;+0].[NH2;+0:3])",
    "ester": "[C:1](=[O;H0;D1:2])-[O;H0;D2;+0:3]-[C:4]>>([C:1](=[O:2])-[OH;+0].[OH;+0:3]-[C:4])",
    "methyl ester": "[C:1](=[O;D1:2])-[OH;D1;+0:3]>>[CH3;+0]-[O;H0;+0:3]-[C:1]=[O:2]",
    "Boc removal": "[C:1]-[NH;D2;+0:2]-[C:3]>>[C:1]-[N;H0;D3;+0:2](-C(=O)-O-C(-[CH3])(-[CH3])-[CH3])-[C:3]",
    "Boc removal, primary": "[C:1]-[NH2;D1;+0:2]>>[C:1]-[NH;D2;+0:2]-C(=O)OC(C)(C)C",
    "Boc protection": "[N:1]-C(=O)-O-C(-[CH3])(-[CH3])-[CH3]>>([N:1].O=C(OC(C)(C)C)OC(=O)OC(C)(C)C)",
    "sulfonamide": "[S;D4:1](=[O:2])(=[O:3])-[NH;D2;+0:4]>>([S:1](=[O:2])(=[O:3])-[Cl].[NH2;+0:4])",
    "Suzuki": "[c:1]-[c:2]>>([c:1]-[Br;+0].[c:2]-[B;+0](-[OH])-[OH])",
    "Suzuki, pinacol": "[c:1]-[c;H0;D3;+0:2]>>([c:1]-[I;+0].CC1(C)OB(-[c:2])OC1(C)C)",
    "Sonogashira": "[c:1]-[C;H0;D2:2]#[C:3]>>([c:1]-[I;+0].[CH:2]#[C:3])",
    "Buchwald": "[c:1]-[NH;D2;+0:2]-[c:3]>>([c:1]-[Br;+0].[NH2;+0:2]-[c:3])",
    "aryl ether": "[c:1]-[O;H0;D2;+0:2]-[CH2:3]>>([c:1]-[OH;+0:2].[Br;+0]-[CH2:3])",
    "SNAr": "[c:1]-[N;H0;D3;+0:2]>>([c:1]-[F;+0].[NH;+0:2])",
    "N-alkylation": "[N;H0;D3;+0:1]-[CH2:2]>>([NH;+0:1].[Br;+0]-[CH2:2])",
    "reductive amination": "[C:1]-[CH2;D2;+0:2]-[NH;D2;+0:3]>>([C:1]-[CH;+0:2]=[O;+0].[NH2;+0:3])",
    "reductive amination, ketone": "[C:1]-[CH;D3;+0:2](-[C:3])-[N:4]>>([C:1]-[C;H0;+0:2](=[O;+0])-[C:3].[N:4])",
    "nitro reduction": "[c:1]-[NH2;D1;+0:2]>>[c:1]-[N+;H0;D3:2](=[O;+0])-[O-]",
    "ketone reduction": "[C:1]-[CH;D3;+0:2](-[OH;D1;+0:3])-[#6:4]>>[C:1]-[C;H0;D3;+0:2](=[O;H0;D1;+0:3])-[#6:4]",
    "asymmetric reduction": "[C:1]-[C@@H;D3;+0:2](-[OH;D1;+0:3])-[c:4]>>[C:1]-[C;H0;D3;+0:2](=[O;H0;D1;+0:3])-[c:4]",
    "alcohol oxidation": "[#6:1]-[C;H0;D3;+0:2](=[O;H0;D1;+0:3])-[#6:4]>>[#6:1]-[CH;D3;+0:2](-[OH;D1;+0:3])-[#6:4]",
    "SN2 with inversion": "[C:1]-[C@H;D3;+0:2](-[C:3])-[N:4]>>([C:1]-[C@@H;D3;+0:2](-[C:3])-[OH;+0].[N:4])",
    "retention": "[C:1]-[C@H;D3;+0:2](-[C:3])-[NH2;D1;+0:4]>>[C:1]-[C@H;D3;+0:2](-[C:3])-[NH;+0:4]-C(=O)OC(C)(C)C",
    "Grignard": "[C:1]-[CH;D3;+0:2](-[OH;D1;+0:3])-[c:4]>>([C:1]-[CH;+0:2]=[O;+0:3].[Mg](-[Br])-[c:4])",
    "Wittig": "[C:1]=[CH;D2;+0:2]-[c:3]>>([C:1]=[O;+0].O=[CH;+0:2]-[c:3])",
    "hydrogenation": "[C:1]-[CH2;D2;+0:2]-[CH2;D2;+0:3]-[c:4]>>[C:1]/[CH;D2;+0:2]=[CH;D2;+0:3]/[c:4]",
    "Wittig, E": "[C:1]/[CH;D2;+0:2]=[CH;D2;+0:3]/[c:4]>>([C:1]-[CH;+0:2]=[O;+0].[P;+0]=[CH;+0:3]-[c:4])",
    "Diels-Alder": "[C:1]1-[C:2]=[C:3]-[C:4]-[C:5]-[C:6]-1>>([C:1]=[C:2]-[C:3]=[C:4].[C:5]=[C:6])",
    "ring opening": "[C:1]1-[N;H0;D3;+0:2]-[C:3]-[C:4]-[O:5]-[C:6]-1>>([Br]-[C:1]-[C:6]-[O:5]-[C:4]-[C:3]-[Br].[NH2;+0:2])",
    "lactam": "[C;D3:1](=[O:2])1-[NH;D2;+0:3]-[C:4]-[C:5]-[C:6]-1>>[C:1](=[O:2])(-[OH])-[C:6]-[C:5]-[C:4]-[NH2;+0:3]",
    "lactone or ester": "[C:1](=[O:2])-[O;H0;D2;+0:3]-[CH2:4]>>([C:1](=[O:2])-[OH].[OH:3]-[CH2:4])",
    "thiazole": "[c:1]1:[n:2]:[c:3]:[c:4]:[s:5]:1>>([C:1](=[S:5])-[NH2:2].[Br]-[C:4]-[C:3]=[O])",
    "benzimidazole": "[c:1]1:[nH:2]:[c:3]:[c:4]:[n:5]:1>>([C:1](=[O])-[OH].[NH2:2]-[c:3]:[c:4]-[NH2:5])",
    "urea": "[N:1]-[C;H0;D3;+0:2](=[O;D1:3])-[NH;D2;+0:4]>>([N:1].[O:3]=[C;+0:2]=[N;H0;+0:4])",
    "click": "[n:1]1:[n:2]:[n:3](-[C:4]):[c:5]:[c:6]:1>>([N-:1]=[N+:2]=[N:3]-[C:4].[C:5]#[C:6])",
    "silyl ether": "[C:1]-[OH;D1;+0:2]>>[C:1]-[O;H0;+0:2]-[Si](C)(C)C(C)(C)C",
    "acid from nitrile": "[C:1]-[C;H0;D3;+0:2](=[O;D1:3])-[OH;D1]>>[C:1]-[C;H0;+0:2]#N",
    "aryl chlorination": "[c:1]-[Cl;D1;+0:2]>>([cH;+0:1].[Cl;+0:2]-N1C(=O)CCC1=O)",
    "acetal": "[C:1]1-[O:2]-[C:3]-[C:4]-[O:5]-1>>([C:1]=[O].[OH:2]-[C:3]-[C:4]-[OH:5])",
    "five-bonded by mistake": "[C:1](-[C:2])(-[C:3])-[C:4]>>[C:1](-[C:2])(-[C:3])(-[C:4])(-[Cl])-[Br]",
}

TARGETS = """
CC(=O)Nc1ccc(O)cc1
CCN(CC)CC(=O)Nc1c(C)cccc1C
O=C(Nc1ccccc1)c1ccc(-c2cccnc2)cc1
COC(=O)c1ccc(NC(=O)C2CCN(C(=O)OC(C)(C)C)CC2)cc1
OC(=O)c1cn(C2CC2)c2cc(N3CCNCC3)c(F)cc2c1=O
CNCCC(Oc1ccc(cc1)C(F)(F)F)c1ccccc1
CC(C)NCC(O)COc1cccc2ccccc12
Cc1ccc(cc1)-c1cc(nn1-c1ccc(cc1)S(N)(=O)=O)C(F)(F)F
COCCOc1cc2ncnc(Nc3cccc(c3)C#C)c2cc1OCCOC
O=S(=O)(Nc1ncccn1)c1ccc(N)cc1
C[C@H](O)c1ccc(Cl)cc1
C[C@@H](O)c1ccc(Cl)cc1
CC(O)c1ccc(Cl)cc1
CC[C@H](C)N1CCCC1
C[C@H](N)C(=O)OC
C[C@@H](CC)N
C/C=C/c1ccccc1
C/C=C\\c1ccccc1
CC=Cc1ccccc1
CCCc1ccccc1
C1CN(Cc2ccccc2)CCO1
C[C@H]1CN(C)CCO1
O=C1CCCN1
O=C1CCCO1
CC(=O)O[C@H]1CC[C@@H](C(=O)NCc2ccccc2)CC1
c1ccc(-c2nccs2)cc1
c1ccc(-c2nc3ccccc3[nH]2)cc1
O=C(NCC1CCCCC1)Nc1ccc(F)cc1
Cn1nnc(-c2ccccc2)c1
C(c1ccccc1)n1cc(CO)nn1
CC1=CCC(C(=O)OC)CC1
O=C(O)Cc1ccccc1Nc1c(Cl)cccc1Cl
C1COC(c2ccccc2)O1
OC[C@@H]1CCCN1
CCN(Cc1ccco1)S(=O)(=O)c1ccc(C)cc1
N#Cc1ccc(C#Cc2ccccc2)cc1
CC(C)(C)OC(=O)N1CCC(Nc2ncccn2)CC1
O=C(c1ccccc1)N1CCOC[C@H]1C
CC(C)Cc1ccc(cc1)[C@H](C)C(=O)O
CC(C)c1c(C(=O)Nc2ccccc2)c(-c2ccccc2)c(-c2ccc(F)cc2)n1CC[C@@H](O)C[C@@H](O)CC(O)=O
""".split()


def canonical(smiles):
    molecule = Chem.MolFromSmiles(smiles)
    return None if molecule is None else Chem.MolToSmiles(molecule)


def molecules():
    named = [smiles.replace("\\\\", "\\") for smiles in DRUGS]
    built = [scaffold.format(group) for scaffold, group in itertools.product(SCAFFOLDS, GROUPS)]
    with open("molecules.tsv", "w") as out:
        print("smiles\tcanonical\tmolecular_weight\tmorgan_on_bits", file=out)
        for smiles in named + built:
            molecule = Chem.MolFromSmiles(smiles)
            assert molecule is not None, smiles
            bits = ",".join(map(str, MORGAN.GetFingerprint(molecule).GetOnBits()))
            print(smiles, Chem.MolToSmiles(molecule), f"{Descriptors.MolWt(molecule):.4f}", bits, sep="\t", file=out)
    print("molecules", len(named) + len(built))


def strings():
    with open("strings.tsv", "w") as out:
        print("string\tcanonical_or_ERR", file=out)
        for smiles in STRINGS:
            print(smiles, canonical(smiles) or "ERR", sep="\t", file=out)
    print("strings", len(STRINGS))


def templates():
    rows = hits = 0
    with open("templates.tsv", "w") as out:
        print("name\ttemplate\tproduct\toutcomes, separated by blanks; parts of one sorted and joined by dots", file=out)
        for name, template in RETRO.items():
            product_side, precursor_side = template.split(">>")
            reaction = AllChem.ReactionFromSmarts(f"({product_side})>>{precursor_side}")
            for smiles in TARGETS:
                molecule = Chem.MolFromSmiles(smiles.replace("\\\\", "\\"))
                outcomes = set()
                for products in reaction.RunReactants((molecule,)):
                    parts = [canonical_product(product) for product in products]
                    if None not in parts:
                        outcomes.add(".".join(sorted(".".join(parts).split("."))))
                rows += 1
                hits += bool(outcomes)
                if outcomes:
                    print(name, template, Chem.MolToSmiles(molecule), " ".join(sorted(outcomes)), sep="\t", file=out)
    print("templates", len(RETRO), "pairs", rows, "with outcomes", hits)


def canonical_product(product):
    """The product as RDKit reads it back: sanitised once as a graph, once as a string."""
    try:
        Chem.SanitizeMol(product)
    except ValueError:
        return None
    return canonical(Chem.MolToSmiles(product))


def random_strings(path, count):
    """Random and damaged strings, half of them one or two edits away from a real SMILES."""
    rng = random.Random(7)
    tokens = list("CNOcnosFHBPI()[]=#-:/\\.12%3+@*~$") + [
        "Cl", "Br", "[nH]", "[C@H]", "[C@@H]", "[N+]", "[O-]", "[NH3+]", "[n+]", "[Si]", "[se]", "%11", "%(12)", "[2H]",
        "[H]", "[C@]", "(C)", "(=O)", "c1ccccc1", "C1CC1", "[CH2]", "[P+]", "[B-]", "[Na+]", "/C=C/", "[Fe]", "[SH]",
    ]
    seeds = [smiles.replace("\\\\", "\\") for smiles in DRUGS]
    with open(path, "w") as out:
        for index in range(count):
            if index % 2:
                text = "".join(rng.choice(tokens) for _ in range(rng.randint(1, 7)))
            else:
                text = rng.choice(seeds)
                for _ in range(rng.randint(1, 2)):
                    place = rng.randint(0, len(text))
                    kind = rng.random()
                    if kind < 0.4:
                        text = text[:place] + rng.choice(tokens) + text[place:]
                    elif kind < 0.8:
                        text = text[:place] + text[place + 1 :]
                    else:
                        text = text[:place] + rng.choice(tokens) + text[place + 1 :]
            if text:
                print(text, canonical(text) or "ERR", sep="\t", file=out)


if __name__ == "__main__":
    print("RDKit", rdBase.rdkitVersion)
    if sys.argv[1:2] == ["--strings"]:
        random_strings(sys.argv[2], int(sys.argv[3]))
    else:
        molecules()
        strings()
        templates()
