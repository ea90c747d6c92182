//! Molecules against RDKit: canonical form, weight, fingerprint, and validity.

use crate::shared::{every, expect_none, vectors};
use chem::{Limits, Molecule};

fn parse(smiles: &str) -> Molecule {
    smiles.parse().unwrap_or_else(|error| panic!("`{smiles}`: {error}"))
}

#[test]
fn canonical_form_weight_and_fingerprint_are_rdkits() {
    let Some(lines) = vectors("molecules.tsv.gz") else { return };
    let (mut forms, mut weights, mut fingerprints, mut fixed) = (vec![], vec![], vec![], vec![]);

    for line in &lines[1..] {
        let fields: Vec<_> = line.split('\t').collect();
        let [smiles, canonical, weight, _, bits] = fields[..] else { panic!("{line}") };
        let molecule = parse(smiles);
        let bits = bits.split(',').filter(|bit| !bit.is_empty()).map(|bit| bit.parse().unwrap());
        if molecule.canonical_smiles() != canonical {
            forms.push(format!("{smiles}: {}, RDKit {canonical}", molecule.canonical_smiles()));
        }
        let wanted: f64 = weight.parse().unwrap();
        if (molecule.molecular_weight() - wanted).abs() > 0.00011 {
            weights.push(format!("{smiles}: {}, RDKit {wanted}", molecule.molecular_weight()));
        }
        if molecule.fingerprint() != chem::Fingerprint::from_on_bits(bits) {
            fingerprints.push(smiles.to_owned());
        }
        if canonical.parse::<Molecule>().ok().map(|again| again.canonical_smiles()).as_deref()
            != Some(canonical)
        {
            fixed.push(canonical.to_owned());
        }
    }

    let count = lines.len() - 1;
    expect_none("canonical forms", count, &forms);
    expect_none("weights", count, &weights);
    expect_none("fingerprints", count, &fingerprints);
    expect_none("canonical forms of canonical forms", count, &fixed);
}

/// Expected values from RDKit 2026.03: presence of radical electrons on any atom.
#[test]
fn radicals_are_what_rdkit_calls_so_by_either_way() {
    let radicals = [
        "[CH3]",
        "C[CH]C",
        "C[O]",
        "CC[NH]",
        "C[N]C",
        "[O]c1ccccc1",
        "C[S]",
        "[c]1ccccc1",
        "[CH2]",
        "CN([O])C",
        "[C]1=CC=CC=C1",
        "Br[CH]Br",
        "O=S(=O)(O)[O]",
    ];
    let others = [
        "CCO",
        "C[N+](C)(C)C",
        "CC(=O)[O-]",
        "c1cc[nH]c1",
        "c1ccsc1",
        "CS(C)=O",
        "C[n+]1ccccc1",
        "C[Si](C)(C)C",
        "[SiH3]C",
        "CP(C)C",
        "[C-]#[O+]",
        "[CH2-]C",
        "C[B-](F)(F)F",
        "C[S+](C)C",
        "O=[N+]([O-])c1ccccc1",
        "F[P-](F)(F)(F)(F)F",
        "[2H]C",
        "[13CH3]C",
        "C[Se]C",
        "[Na+]",
        "[I-]",
        "C[As](C)C",
        "CC[C@H](N)C",
    ];
    let cases = radicals.map(|smiles| (smiles, true)).into_iter().chain(others.map(|smiles| (smiles, false)));
    for (smiles, wanted) in cases {
        let molecule = parse(smiles);
        let long_way = Molecule::trusted(&molecule.canonical_smiles()).unwrap();

        assert_eq!((molecule.has_radicals(), long_way.has_radicals()), (wanted, wanted), "{smiles}");
    }
}

#[test]
fn the_order_of_atoms_does_not_change_the_canonical_form() {
    let Some(lines) = vectors("reorderings.tsv.gz") else { return };
    let mut wrong = vec![];
    let lines = every(lines, 2);

    for line in &lines {
        let mut forms: Vec<_> = line
            .split('\t')
            .map(parse)
            .map(|molecule| (molecule.canonical_smiles(), molecule.key(), molecule.fingerprint().to_bytes()))
            .collect();
        forms.dedup();
        if forms.len() > 1 {
            wrong.push(format!("{forms:?}"));
        }
    }

    expect_none("molecules in 11 atom orders", lines.len(), &wrong);
}

/// Strings that RDKit accepts and we refuse, with the reason; we accept nothing that RDKit refuses.
const REFUSED_BY_CHOICE: &[(&str, &str)] = &[
    ("", "RDKit's molecule without atoms is of no use here"),
    ("C C", "what follows a blank is a name to RDKit"),
    ("C\tC", "what follows a tab is a name to RDKit"),
    ("C₂", "RDKit stops at the first byte that is not ASCII"),
    ("C~C", "`~` is a query, not a bond"),
    (
        "C-1CC=1",
        "the two ends of a ring bond contradict each other (OpenSMILES: an error); RDKit takes the first",
    ),
    (
        "C=1CC-1",
        "the two ends of a ring bond contradict each other (OpenSMILES: an error); RDKit takes the first",
    ),
    (
        "CCc1c(C)sc(NC(=O)C.CCn2cnc([N+](=O)[O-])n2)c1C#N",
        "a dot inside a branch, which chematic does not read",
    ),
];

#[test]
fn what_rdkit_refuses_is_refused() {
    let Some(lines) = vectors("broken.tsv.gz") else { return };
    let (mut accepted, mut refused, mut different) = (vec![], vec![], vec![]);

    for line in &lines[1..] {
        let (json, verdict) = line.split_once('\t').unwrap();
        let smiles: String = serde_json::from_str(json).unwrap();
        match (smiles.parse::<Molecule>(), verdict.strip_prefix("OK\t")) {
            (Ok(molecule), None) => accepted.push(format!("{smiles}: {molecule:?}")),
            (Ok(molecule), Some(canonical)) if molecule.canonical_smiles() != canonical => {
                different.push(format!("{smiles}: {molecule:?}, RDKit {canonical}"));
            }
            (Err(error), Some(_)) if !REFUSED_BY_CHOICE.iter().any(|(known, _)| *known == smiles) => {
                refused.push(format!("{smiles}: {error}"));
            }
            _ => {}
        }
    }

    let count = lines.len() - 1;
    expect_none("broken strings (RDKit refuses, we accept)", count, &accepted);
    expect_none("broken strings (RDKit accepts, we refuse)", count, &refused);
    expect_none("broken strings (both accept)", count, &different);
}

#[test]
fn garbage_is_refused_without_panic_or_delay() {
    let Some(lines) = vectors("garbage.jsonl.gz") else { return };
    let mut accepted = 0;

    for line in &lines {
        let text: String = serde_json::from_str(line).unwrap();
        accepted += usize::from(Molecule::parse(&text, Limits::DEFAULT).is_ok());
    }

    println!("garbage: {} strings, {accepted} of them molecules", lines.len());
}

#[test]
fn very_long_and_deep_strings_are_answered_at_once() {
    let files = [
        "cubane_like",
        "fullerene",
        "long_branch",
        "long_branch_100k",
        "long_chain",
        "long_rings",
        "open_brackets",
        "poly_arom",
    ];
    let wide = Limits { max_bytes: usize::MAX, max_heavy_atoms: 2000 };
    for file in files {
        let Some(lines) = vectors(&format!("long/{file}.smi.gz")) else { return };
        for line in &lines {
            let started = std::time::Instant::now();
            let verdicts = [Limits::DEFAULT, Limits::TARGET, wide]
                .map(|limits| Molecule::parse(line, limits).map(|molecule| molecule.heavy_atoms()));
            println!("{file}: {} bytes, {:?}, {verdicts:?}", line.len(), started.elapsed());
            assert!(started.elapsed().as_secs() < 2, "{file}");
        }
    }
}

/// Compares with a file of `string TAB canonical-or-ERR` lines that RDKit wrote (see `data/make.py --strings`).
#[test]
#[ignore = "needs RETORT_DIFFERENTIAL, a file that tests/data/make.py writes"]
fn strings_of_a_file_are_read_as_rdkit_reads_them() {
    let path = std::env::var("RETORT_DIFFERENTIAL").expect("RETORT_DIFFERENTIAL names the file");
    let text = std::fs::read_to_string(path).unwrap();
    let (mut accepted, mut refused, mut different, mut count) = (vec![], vec![], vec![], 0);

    for line in text.lines() {
        let (smiles, truth) = line.split_once('\t').unwrap();
        count += 1;
        match (smiles.parse::<Molecule>(), truth) {
            (Ok(molecule), "ERR") => accepted.push(format!("{smiles}: {molecule:?}")),
            (Ok(molecule), _) if molecule.canonical_smiles() != truth => {
                different.push(format!("{smiles}: {molecule:?}, RDKit {truth}"));
            }
            (Err(error), truth) if truth != "ERR" => {
                refused.push(format!("{smiles}: {error}, RDKit {truth}"))
            }
            _ => {}
        }
    }

    let show = |what: &str, cases: &[String]| {
        println!("{what}: {} of {count}", cases.len());
        cases.iter().take(60).for_each(|case| println!("    {case}"));
    };
    show("accepted against RDKit", &accepted);
    show("refused against RDKit", &refused);
    show("read differently", &different);
    assert!(accepted.is_empty());
}
