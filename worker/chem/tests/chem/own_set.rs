//! The project's own conformance set: see `data/SOURCES.md`.

use std::collections::{BTreeMap, BTreeSet};

use chem::{Fingerprint, Molecule, PreparedMolecule, SmilesError, Template};

fn parse(smiles: &str) -> Molecule {
    smiles.parse().unwrap_or_else(|error| panic!("`{smiles}`: {error}"))
}

fn rows(text: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    text.lines().skip(1).map(|line| line.split('\t').collect())
}

#[test]
fn molecules_are_rdkits() {
    for row in rows(include_str!("../data/molecules.tsv")) {
        let [smiles, canonical, weight, bits] = row[..] else { panic!("{row:?}") };
        let bits = bits.split(',').filter(|bit| !bit.is_empty()).map(|bit| bit.parse().unwrap());

        let molecule = parse(smiles);

        assert_eq!(molecule.canonical_smiles(), canonical, "{smiles}");
        assert!((molecule.molecular_weight() - weight.parse::<f64>().unwrap()).abs() < 0.00011, "{smiles}");
        assert_eq!(molecule.fingerprint(), Fingerprint::from_on_bits(bits), "{smiles}");
        assert_eq!(parse(canonical).canonical_smiles(), canonical, "{smiles}");
    }
}

#[test]
fn a_key_tells_a_molecule_from_all_others_however_it_is_written() {
    let mut known: BTreeMap<_, &str> = BTreeMap::new();
    for row in rows(include_str!("../data/molecules.tsv")) {
        let [smiles, canonical, ..] = row[..] else { panic!("{row:?}") };

        let key = parse(smiles).key();

        assert_eq!(parse(canonical).key(), key, "{smiles}");
        assert_eq!(Molecule::trusted(canonical).unwrap().key(), key, "{smiles}");
        assert_eq!(*known.entry(key).or_insert(canonical), canonical);
    }
    // Pairs that refinement by neighbourhoods alone, without rings or chirality, could not distinguish.
    let alike = [
        ["C1CCC2CCCCC2C1", "C1CCC(C2CCCC2)C1"],
        ["C12C3C4C1C5C2C3C45", "C12C3C1C4C2C5C3C45"],
        ["C[C@H]1CC[C@@H](C)CC1", "C[C@H]1CC[C@H](C)CC1"],
        ["C[C@H](O)[C@@H](C)O", "C[C@H](O)[C@H](C)O"],
        ["C/C=C/C", "C/C=C\\C"],
        ["C/C=C/C=C\\C", "C/C=C/C=C/C"],
        ["C[C@@H](/C=C/C)/C=C\\C", "C[C@H](/C=C/C)/C=C\\C"],
        ["C12C3C4C1C1C2C3C41", "C12C3C4C1C1C3C2C41"],
        ["C12C3C4C1C1C2C2C3C4C12", "C12C3C4C1C1C4C4C2C3C14"],
        ["C12C3C4C1C1C4C4C5C3C2C5C14", "C12C3C4C1C1C4C4C5C2C3C5C14"],
        ["C[C@H](N)O", "C[C@@H](N)O"],
        ["C[13CH2]C", "[13CH3]CC"],
        ["[NH3+]CC(=O)[O-]", "NCC(=O)O"],
    ];
    for [one, other] in alike {
        assert_ne!(parse(one).key(), parse(other).key(), "{one} {other}");
    }
}

/// Strings that RDKit accepts and we refuse on purpose.
const REFUSED_BY_CHOICE: &[(&str, &str)] = &[
    ("C=1CC-1", "the two ends of a ring bond contradict each other (OpenSMILES: an error)"),
    ("C~C", "`~` is a query, not a bond"),
    ("[#6]", "an element given by number, which chematic does not read"),
    ("[#118]", "an element given by number, which chematic does not read"),
    ("C(C.C)C", "a dot inside a branch, which chematic does not read"),
    ("C%(12)CC%(12)", "chematic reads ring numbers in parentheses from 100 on only"),
];

#[test]
fn strings_are_accepted_and_refused_as_rdkit_does() {
    for row in rows(include_str!("../data/strings.tsv")) {
        let [string, truth] = row[..] else { panic!("{row:?}") };

        let verdict = string.parse::<Molecule>();

        match verdict {
            Err(_) if REFUSED_BY_CHOICE.iter().any(|(known, _)| *known == string) => {}
            Ok(molecule) => assert_eq!(molecule.canonical_smiles(), truth, "{string}"),
            Err(error) => assert_eq!(truth, "ERR", "{string}: {error}"),
        }
    }
}

#[test]
fn what_rdkit_cannot_read_once_it_has_written_it_is_refused_where_it_is_written() {
    for (string, at) in [("Cb1=CNNNN1C", 1), ("Cb1=CC=CC=C1", 1), ("CNCCp1C=Bp1=CCp1=BCp1=CNNNN=CNNC", 9)] {
        assert_eq!(string.parse::<Molecule>().unwrap_err(), SmilesError::Kekule { at }, "{string}");
    }
    for (string, canonical) in [("b1=CC=CC=C1", "b1ccccc1"), ("C[b-]1=CC=CC=C1", "C[b-]1ccccc1")] {
        assert_eq!(parse(string).canonical_smiles(), canonical);
    }
}

#[test]
fn templates_give_rdkits_outcomes_that_keep_stereo() {
    for row in rows(include_str!("../data/templates.tsv")) {
        let [name, template, product, outcomes] = row[..] else { panic!("{row:?}") };
        let template = Template::parse(template).unwrap();
        let rdkits: BTreeSet<_> = outcomes.split(' ').map(str::to_owned).collect();

        let ours: BTreeSet<_> = template
            .apply(&PreparedMolecule::new(&parse(product)))
            .iter()
            .map(|outcome| {
                let mut parts: Vec<_> =
                    outcome.precursors.iter().map(|part| part.molecule.canonical_smiles()).collect();
                parts.sort_unstable();
                parts.join(".")
            })
            .collect();

        let unknown: Vec<_> = ours.difference(&rdkits).collect();
        assert!(unknown.is_empty(), "{name} of {product}: {unknown:?} is not among {rdkits:?}");
        for missing in rdkits.difference(&ours) {
            let precursors: Vec<_> = missing.split('.').map(parse).collect();
            let again = template.forward(&precursors);
            assert!(!again.contains(&product.to_owned()), "{name} of {product} lacks {missing}");
        }
    }
}

#[test]
fn errors_say_what_is_wrong_and_where() {
    let cases = [
        ("", "the string is empty", None),
        ("CCCCCCC1CC", "ring bond 1 opened at byte 7 is never closed", Some(7)),
        ("CC(C(C)CC", "branch opened at byte 2 is never closed", Some(2)),
        ("CC[C@H", "bracket opened at byte 2 is never closed", Some(2)),
        ("CCC)C", "`)` at byte 3 closes no branch", Some(3)),
        ("CC()C", "branch opened at byte 2 has no atom", Some(2)),
        ("CC=", "the string ends after `=` at byte 2, where an atom must follow", Some(2)),
        ("CC11", "ring bond 1 at byte 3 joins an atom to itself", Some(3)),
        ("C12CC12", "ring bond 2 at byte 6 joins two atoms that are already bonded", Some(6)),
        ("C=1CC#1", "ring bond 1 is written with two different bond types, at bytes 2 and 6", Some(6)),
        ("CC[Zz]", "`Zz` at byte 3 is not an element", Some(3)),
        // In a ring that cannot be kekulised RDKit tries every set of them, which practically never ends from some
        // thirty on.
        (
            "cnc1Ccc(=O)*******************c1S",
            "more than 8 wildcard atoms, the first one too many at byte 19",
            Some(19),
        ),
        ("CC?C", "unexpected `?` at byte 2", Some(2)),
        ("CCé", "unexpected `é` at byte 2", Some(2)),
        ("CC(C)(C)(C)C", "C with 5 bonds at byte 1", Some(1)),
        ("[Na+].CO(C)C", "O with 3 bonds at byte 7", Some(7)),
        ("Cc1cccc1", "the aromatic system around byte 1 has no arrangement of double bonds", Some(1)),
        ("CCcC", "the aromatic atom at byte 2 is in no ring", Some(2)),
    ];
    for (smiles, message, position) in cases {
        let error: SmilesError = smiles.parse::<Molecule>().unwrap_err();

        assert_eq!((error.to_string().as_str(), error.position()), (message, position), "{smiles}");
    }
}
