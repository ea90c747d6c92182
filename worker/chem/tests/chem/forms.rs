//! Neutral and tautomeric forms of a molecule, compared with RDKit's: see `data/SOURCES.md` and `data/make_forms.py`.

use std::collections::BTreeMap;

use chem::Molecule;

use crate::shared::{expect_none, vectors};

fn parse(smiles: &str) -> Molecule {
    smiles.parse().unwrap_or_else(|error| panic!("`{smiles}`: {error}"))
}

fn rows(text: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    text.lines().skip(1).map(|line| line.split('\t').collect())
}

/// Differences from RDKit, with the reason.
const OURS: &[(&str, &str, &str)] = &[];

#[test]
fn neutral_forms_are_rdkits() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for row in rows(include_str!("../data/neutral.tsv")) {
        let [smiles, rdkits] = row[..] else { panic!("{row:?}") };
        let expected = OURS.iter().find(|known| known.0 == smiles).map_or(rdkits, |known| known.1);
        count += 1;

        let neutral = parse(smiles).neutral();

        if neutral.as_canonical() != expected {
            wrong.push(format!("{smiles}: {} and not {expected}", neutral.as_canonical()));
        }
        assert_eq!(neutral.neutral().as_canonical(), neutral.as_canonical(), "{smiles}");
        assert_eq!(parse(smiles).tautomer_key(), neutral.tautomer_key(), "{smiles}");
        assert_eq!(parse(smiles).skeleton(), neutral.skeleton(), "{smiles}");
    }
    expect_none("neutral forms", count, &wrong);
}

#[test]
fn tautomers_share_a_key_and_others_do_not() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for row in rows(include_str!("../data/tautomers.tsv")) {
        let [one, other, word] = row[..] else { panic!("{row:?}") };
        let [one, other] = [one, other].map(parse);
        count += 1;

        let are_tautomers = one.tautomer_key() == other.tautomer_key();

        if are_tautomers != (word == "tautomers") {
            wrong.push(format!("{one:?} {other:?} {word}"));
        }
        assert_ne!(one.key(), other.key(), "{one:?} {other:?}");
        assert!(!are_tautomers || one.skeleton() == other.skeleton(), "{one:?} {other:?}");
    }
    expect_none("pairs", count, &wrong);
}

#[test]
fn a_tautomer_key_does_not_depend_on_how_the_molecule_is_written() {
    for line in vectors("reorderings.tsv.gz").unwrap_or_default() {
        let mut forms = line.split('\t').map(parse);
        let first = forms.next().unwrap();
        for form in forms {
            assert_eq!(form.tautomer_key(), first.tautomer_key(), "{line}");
            assert_eq!(form.skeleton(), first.skeleton(), "{line}");
        }
    }
}

#[test]
fn molecules_that_share_a_tautomer_key_share_an_inchikey() {
    let mut known: BTreeMap<_, (String, String)> = BTreeMap::new();
    for line in vectors("molecules.tsv.gz").unwrap_or_default().iter().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let Some(inchikey) = fields.iter().find(|field| is_inchikey(field)) else { continue };

        let key = parse(fields[0]).tautomer_key();

        let (smiles, first) = known.entry(key).or_insert_with(|| (fields[0].into(), (*inchikey).into()));
        assert_eq!(first, inchikey, "{smiles} {}", fields[0]);
    }
    println!("{} keys", known.len());
}

fn is_inchikey(field: &str) -> bool {
    field.len() == 27 && field.as_bytes()[14] == b'-' && field.as_bytes()[25] == b'-'
}
