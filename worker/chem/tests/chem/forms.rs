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

/// Forms of one compound, the neutral one first (the table in the README explains each kind).
const FORMS: &[&[&str]] = &[
    // Boronates and other chelates of boron.
    &["CB1OC(=O)CN(C)CC(=O)O1", "C[B-]12OC(=O)C[N+]1(C)CC(=O)O2"],
    &["CN1CC(=O)OB(c2ccccc2)OC(=O)C1", "C[N+]12CC(=O)O[B-]1(c1ccccc1)OC(=O)C2"],
    &["C=CB1OC(=O)CN(C)CC(=O)O1", "C=C[B-]12OC(=O)C[N+]1(C)CC(=O)O2"],
    &["CC(C)N1CC(=O)OB(C2CC2)OC(=O)C1", "CC(C)[N+]12CC(=O)O[B-]1(C1CC1)OC(=O)C2"],
    &["NCCOB(c1ccccc1)c1ccccc1", "c1ccc([B-]2(c3ccccc3)[NH2+]CCO2)cc1"],
    &["CB1OCCNCCO1", "C[B-]12OCC[NH+]1CCO2"],
    &["OB1OC(=O)CN(C)CC(=O)O1", "O[B-]12OC(=O)C[N+]1(C)CC(=O)O2"],
    &["CN1CC(=O)OB(c2ccncc2)OC(=O)C1", "C[N+]12CC(=O)O[B-]1(c1ccncc1)OC(=O)C2"],
    &["CN(C)CCOB(C)C", "C[N+]1(C)CCO[B-]1(C)C"],
    // Ions with the charge at either end.
    &["N#CS", "[S-]C#N", "[N-]=C=S"],
    &["N#CO", "[O-]C#N", "[N-]=C=O"],
    &["N#C[SeH]", "[Se-]C#N", "[N-]=C=[Se]"],
    &["N=[N+]=[N-]", "[NH-][N+]#N", "N=N#N"],
    // Oxides of amines, imines, nitriles, azo compounds.
    &["C[N+](C)(C)[O-]", "CN(C)(C)=O"],
    &["CC=[N+](C)[O-]", "CC=N(C)=O"],
    &["CC#[N+][O-]", "CC#N=O"],
    &["CN=[N+](C)[O-]", "CN=N(C)=O"],
    &["Cc1cc[n+]([O-])cc1", "Cc1ccn(=O)cc1"],
    // Ylides.
    &["COC(=O)C=S(C)C", "COC(=O)[CH-][S+](C)C"],
    &["COC(=O)C=P(C)(C)C", "COC(=O)[CH-][P+](C)(C)C"],
    &["CN=P(C)(C)C", "C[N-][P+](C)(C)C"],
    &["CN=S(C)C", "C[N-][S+](C)C"],
    &["CS(C)(=N)=O", "C[S+](C)(=N)[O-]", "C[S+](C)([NH-])=O"],
    &["C=[N+]=[N-]", "[CH2-][N+]#N", "C=N#N"],
    &["CC(=O)C(=[N+]=[N-])C(C)=O", "CC(=O)[C-]([N+]#N)C(C)=O"],
    // Acids of phosphorus, sulfur, chlorine and arsenic.
    &["COP(=O)(OC)OC", "CO[P+]([O-])(OC)OC"],
    &["CP(C)(C)=S", "C[P+](C)(C)[S-]"],
    &["CS(=O)O", "C[S+]([O-])O", "CS(=O)[O-]"],
    &["CS(=O)(=O)N", "C[S+2]([O-])([O-])N", "CS(=O)(=O)[NH-]"],
    &["C[Se](C)=O", "C[Se+](C)[O-]"],
    &["C[As](C)(C)=O", "C[As+](C)(C)[O-]"],
    &["[O-][Cl+3]([O-])([O-])O", "O=Cl(=O)(=O)O"],
];

#[test]
fn forms_of_one_compound_are_one_molecule() {
    let pairs: usize = FORMS.iter().map(|forms| forms.len() - 1).sum();
    assert!(pairs >= 40, "{pairs}");
    let mut wrong = Vec::new();
    for forms in FORMS {
        let first = parse(forms[0]);
        for form in *forms {
            let form = parse(form);
            if form.neutral().key() != first.key() || form.tautomer_key() != first.tautomer_key() {
                wrong.push(format!("{form:?} is {:?}, not {first:?}", form.neutral()));
            }
        }
    }
    expect_none("pairs", pairs, &wrong);
}
