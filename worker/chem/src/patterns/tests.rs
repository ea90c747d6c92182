//! The matcher beside chematic's, which is the authority.

use chem_fast::Limits;
use chematic::smarts::{MatchConfig, has_match_perceived, parse_smarts};

use super::library::PatternLibrary;
use super::matcher::PatternMatcher;
use super::target::PatternTarget;
use crate::molecules::molecule::Molecule;
use crate::molecules::ring_set::RingSet;

const PATTERNS: [&str; 40] = [
    "C",
    "c1ccccc1",
    "[#7;R]",
    "[R1]",
    "[R2]",
    "[r5]",
    "[!r6;R]",
    "[x3]",
    "[D3;X4]",
    "[v4;X3]",
    "[nX3]",
    "[n;v3]",
    "[s,o;v2]",
    "[+]",
    "[N+](=O)[O-]",
    "[!#6;!#1]",
    "[OH]",
    "[CH3]C",
    "C(=O)[N;H1,H2]",
    "[$(C=O)]",
    "[N;!$(N-C=O)]",
    "[$([CH2]),$(C[CH3])]=C",
    "[C;!$(C=[O,$(N-C)])]",
    "C@C",
    "C!@C",
    "C-,=O",
    "a:a-!@a",
    "[R0;D2][R0;D2][R0;D2]",
    "c1ccc2ccccc2c1",
    "C1CC1",
    "*1[O,S,N]*1",
    "O.O",
    "C(=O)O.C(=O)O",
    "F.F.F",
    "[13C]",
    "[0C]",
    "C=C-C=O",
    "N~C~N",
    "[#6]:[#7]",
    "[C;r3,r4]",
];

const MOLECULES: [&str; 25] = [
    "CC(=O)Oc1ccccc1C(=O)O",
    "Cn1cnc2n(C)c(=O)n(C)c(=O)c12",
    "c1ccc2c(c1)[nH]c1ccccc12",
    "O=[N+]([O-])c1ccc(C#N)cc1",
    "C1CC2CCC1C2",
    "C1CCC2(CC1)OCCO2",
    "CC(C)(C)OC(=O)N1CCC(F)(F)C1",
    "C[n+]1ccccc1",
    "[O-][n+]1ccccc1",
    "c1ccsc1-c1ccoc1",
    "FC(F)(F)c1ccc(Br)c(Cl)c1I",
    "CS(=O)(=O)Nc1ccc2c(c1)OCO2",
    "C=CC=O",
    "NC(=N)NCCCC",
    "C1CO1",
    "[13CH3]C",
    "C1CCCCCCCCCCC1",
    "O=C1C=CC(=O)C=C1",
    "CC=C(C)CCC#CC",
    "c1ccc2ccc3cccc4ccc1c2c34",
    "CCCCCCCC(=O)O",
    "O=C(O)C(=O)O",
    "Cc1nnc(-c2ccncc2)o1",
    "CN1C=NC2=C1C(=O)N(C)C2",
    "OP(=O)(O)OCC[N+](C)(C)C",
];

#[test]
fn patterns_occur_where_chematic_finds_them() {
    let mut library = PatternLibrary::default();
    let queries = PATTERNS.map(|smarts| parse_smarts(smarts).unwrap());
    let ids = queries.each_ref().map(|query| library.add(query).unwrap());
    let mut found = 0;
    for smiles in MOLECULES {
        let molecule = Molecule::parse(smiles, Limits::DEFAULT).unwrap();
        let molecule = Molecule::trusted(molecule.as_canonical()).unwrap();
        let target = PatternTarget::new(molecule.graph(), &RingSet::of(molecule.graph())).unwrap();
        let mut matcher = PatternMatcher::new(&library, &target);
        for ((smarts, query), id) in PATTERNS.into_iter().zip(&queries).zip(ids) {
            let occurs = matcher.occurs(id);

            let expected = has_match_perceived(query, molecule.graph(), &MatchConfig::default());
            assert_eq!(occurs, expected, "{smarts} in {smiles}");
            assert_eq!(occurs, !matcher.roots(id).is_empty(), "{smarts} in {smiles}");
            found += usize::from(occurs);
        }
    }
    assert!(found > 200, "{found}");
}

/// RDKit has all six faces of cubane among its rings; chematic's matcher leaves one out.
#[test]
fn atoms_of_cubane_are_in_three_rings() {
    let molecule: Molecule = "C12C3C4C1C5C2C3C45".parse().unwrap();
    let mut library = PatternLibrary::default();
    let ids = ["[R2]", "[R3]"].map(|smarts| library.add(&parse_smarts(smarts).unwrap()).unwrap());
    let target = PatternTarget::new(molecule.graph(), &RingSet::of(molecule.graph())).unwrap();
    let mut matcher = PatternMatcher::new(&library, &target);

    assert_eq!(ids.map(|id| matcher.occurs(id)), [false, true]);
}

#[test]
fn unusual_molecules_are_left_to_chematic() {
    for smiles in ["*C", "[2H]C", "[H][H]", &"C".repeat(129)] {
        let molecule: Molecule = smiles.parse().unwrap();

        assert!(PatternTarget::new(molecule.graph(), &RingSet::of(molecule.graph())).is_none(), "{smiles}");
    }
}
