//! Tests of samples whose molecules contain given parts, and of likelihoods.

use std::{num::NonZeroUsize, path::Path};

use chem::{Limits, Molecule, Part, Pattern};
use generator::{
    Device, DrawOptions, FixedParts, Fragments, FragmentsError, ModelPack, MoleculeFilter, Precision,
    SampleBudget, SampleError, Sampler, TopP,
};
use serde_json::json;

use crate::{sampling::assert_distinct_valid_canonical, toy};

fn pack() -> ModelPack {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/druglike_gru");
    ModelPack::load(&dir).unwrap()
}

fn sampler() -> Sampler {
    Sampler::new(&pack(), Device::Cpu).unwrap()
}

fn part(smiles: &str) -> Part {
    Part::parse(smiles, Limits::TARGET).unwrap()
}

fn scaffold(smiles: &str) -> DrawOptions {
    DrawOptions { fixed: Some(FixedParts::Scaffold(part(smiles))), ..DrawOptions::default() }
}

fn fragments(smiles: &[&str]) -> DrawOptions {
    let parts = smiles.iter().map(|smiles| part(smiles)).collect();
    DrawOptions {
        fixed: Some(FixedParts::Fragments(Fragments::new(parts).unwrap())),
        ..DrawOptions::default()
    }
}

fn draw(sampler: &Sampler, size: usize, seed: u64, options: &DrawOptions) -> Vec<String> {
    sampler.sample_filtered(size, seed, options, None, &SampleBudget::unlimited()).unwrap()
}

/// Asserts that all molecules match a pattern, which is written by hand.
fn assert_all_match(sample: &[String], smarts: &str) {
    let pattern = Pattern::parse(smarts).unwrap();
    for smiles in sample {
        assert!(pattern.matches(&smiles.parse::<Molecule>().unwrap()), "{smiles} lacks {smarts}");
    }
}

#[test]
fn every_molecule_has_substituents_at_the_points_of_its_scaffold_alone() {
    let sampler = sampler();
    for (smiles, smarts) in [
        // A ring atom, two of them, and an aromatic N-H that stays.
        ("*c1ccccc1", "[*;!#1]c1[cH][cH][cH][cH][cH]1"),
        ("C1=CC=CC=C1*", "[*;!#1]c1[cH][cH][cH][cH][cH]1"),
        ("[*:1]c1ccc2[nH]nc([*:2])c2c1", "[*;!#1]c1[cH][cH]c2[nH]nc([*;!#1])c2[cH]1"),
        // Three points; a point at an aromatic nitrogen; one on a saturated ring.
        ("[*:2]c1cc([*:1])nc([*:3])n1", "[*;!#1]c1[cH]c([*;!#1])nc([*;!#1])n1"),
        ("*n1cccc1", "[*;!#1]n1[cH][cH][cH][cH]1"),
        ("*C1CCC(*)CC1", "[*;!#1][CH]1[CH2][CH2][CH]([*;!#1])[CH2][CH2]1"),
        ("*N1CCN(*)CC1", "[*;!#1]N1[CH2][CH2]N([*;!#1])[CH2][CH2]1"),
        // Chain atoms, two points at one atom, charges.
        ("*CCO", "[*;!#1][CH2][CH2][OH]"),
        ("*N(*)C(=O)c1ccccc1", "[*;!#1]N([*;!#1])C(=O)c1[cH][cH][cH][cH][cH]1"),
        ("*C(=O)[O-]", "[*;!#1]C(=O)[O-]"),
        ("*[N+](C)(C)C", "[*;!#1][N+]([CH3])([CH3])[CH3]"),
        ("*C", "[*;!#1][CH3]"),
        // A spiro ring, in which most spellings leave a ring open across a branch.
        ("*C1CC2(C1)CN(*)C2", "[*;!#1][CH]1[CH2]C2([CH2]1)[CH2]N([*;!#1])[CH2]2"),
    ] {
        let sample = draw(&sampler, 30, 3, &scaffold(smiles));

        assert_eq!(sample.len(), 30);
        assert_distinct_valid_canonical(&sample);
        assert_all_match(&sample, smarts);
    }
}

#[test]
fn configurations_of_a_scaffold_stay() {
    let sampler = sampler();
    // The scaffold with another substituent, and its mirror image: only one of both is found in a molecule.
    let serine = part("*[C@H](N)C(=O)O");
    assert!(serine.has_stereo());
    let sample = draw(&sampler, 40, 3, &scaffold("*[C@H](N)C(=O)O"));
    for smiles in &sample {
        let molecule: Molecule = smiles.parse().unwrap();
        assert!(serine.is_in(&molecule) && smiles.contains('@'), "{smiles}");
    }

    let sample = draw(&sampler, 40, 3, &scaffold("*/C=C/c1ccccc1"));
    assert_all_match(&sample, "[*;!#1][CH]=[CH]c1[cH][cH][cH][cH][cH]1");
    assert!(sample.iter().all(|smiles| smiles.contains(['/', '\\'])), "{sample:?}");
}

#[test]
fn the_same_seed_gives_the_same_molecules_with_any_number_of_threads() {
    let sampler = sampler();
    for options in [scaffold("*c1ccnc(*)c1"), fragments(&["*c1ccc(C(=O)O)cc1", "*C1CCNCC1"])] {
        let one = draw(&sampler, 100, 5, &options);

        let sampler = Sampler::new(&pack(), Device::Cpu).unwrap().with_threads(NonZeroUsize::new(3).unwrap());
        assert_eq!(one, draw(&sampler, 100, 5, &options));
        assert_ne!(one, draw(&sampler, 100, 6, &options));
    }
}

#[test]
fn every_molecule_contains_all_fragments() {
    let sampler = sampler();
    let acid = "[*;!#1]c1[cH][cH]c(C(=O)[OH])[cH][cH]1";
    let piperidine = "[*;!#1][CH]1[CH2][CH2][NH][CH2][CH2]1";
    let sulfonamide = "[*;!#1]S(=O)(=O)[NH2]";

    let two = draw(&sampler, 40, 3, &fragments(&["*c1ccc(C(=O)O)cc1", "*C1CCNCC1"]));
    let three = draw(&sampler, 20, 3, &fragments(&["*C1CCNCC1", "*c1ccc(C(=O)O)cc1", "*S(N)(=O)=O"]));

    for smarts in [acid, piperidine] {
        assert_all_match(&two, smarts);
        assert_all_match(&three, smarts);
    }
    assert_all_match(&three, sulfonamide);
    assert_distinct_valid_canonical(&two);
    assert_distinct_valid_canonical(&three);
}

#[test]
fn parts_are_kept_in_any_precision_without_masks_and_in_a_small_nucleus() {
    let free = {
        let mut pack = pack();
        pack.generation.constrained = false;
        Sampler::new(&pack, Device::Cpu).unwrap()
    };
    let single = sampler().with_precision(Precision::Single).unwrap();
    let nucleus = DrawOptions { top_p: Some(TopP::try_from(0.6).unwrap()), ..scaffold("*c1ccc(*)nc1") };
    for (sampler, options) in
        [(free, scaffold("*c1ccc(*)nc1")), (single, scaffold("*c1ccc(*)nc1")), (sampler(), nucleus)]
    {
        let sample = draw(&sampler, 20, 3, &options);

        assert_all_match(&sample, "[*;!#1]c1[cH][cH]c([*;!#1])n[cH]1");
    }
}

#[test]
fn a_filter_applies_to_decorated_molecules() {
    struct NoChlorine;
    impl MoleculeFilter for NoChlorine {
        fn refusal(&self, molecule: &Molecule) -> Option<usize> {
            molecule.as_canonical().contains("Cl").then_some(0)
        }
    }

    let sample = sampler()
        .sample_filtered(100, 3, &scaffold("*c1ccccc1"), Some(&NoChlorine), &SampleBudget::unlimited())
        .unwrap();

    assert!(!sample.iter().any(|smiles| smiles.contains("Cl")));
    assert_all_match(&sample, "[*;!#1]c1[cH][cH][cH][cH][cH]1");
}

#[test]
fn a_part_that_a_model_cannot_write_is_named() {
    let sampler = sampler();
    // No token for selenium, and a chain of rings that takes more tokens than any string has.
    let long = format!("*{}", "C(=O)N1CCC1".repeat(30));
    for (options, named) in [
        (scaffold("*c1ccc[se]1"), "*c1ccc[se]1"),
        (fragments(&["*c1ccccc1", "*c1ccc[se]1"]), "*c1ccc[se]1"),
        (scaffold(&long), &*part(&long).as_canonical().to_owned()),
    ] {
        let error = sampler.sample_filtered(1, 1, &options, None, &SampleBudget::unlimited()).unwrap_err();

        assert!(matches!(&error, SampleError::Unwritable { part } if part == named), "{error}");
    }
}

#[test]
fn fragments_are_two_or_more_with_one_point_each() {
    let error =
        |smiles: &[&str]| Fragments::new(smiles.iter().map(|smiles| part(smiles)).collect()).unwrap_err();

    assert_eq!(error(&["*C"]), FragmentsError::Count { found: 1, limit: 6 });
    assert_eq!(error(&["*C"; 7]), FragmentsError::Count { found: 7, limit: 6 });
    assert_eq!(error(&["*C", "*C*"]), FragmentsError::Points { index: 1, found: 2 });
}

#[test]
fn likelihoods_are_those_of_the_logits_in_the_order_of_the_molecules() {
    let sampler = sampler();
    let smiles = ["c1ccccc1", "CC(=O)Nc1ccc(O)cc1", "c1cc[se]c1", "C", "", "no molecule"];

    let found = sampler.likelihoods(&smiles).unwrap();

    for (smiles, found) in smiles.iter().zip(&found) {
        let expected = sampler.pack().encode(smiles).map(|tokens| {
            let rows = sampler.logits(std::slice::from_ref(&tokens)).unwrap().remove(0);
            let losses = tokens[1..].iter().zip(rows).map(|(next, row)| {
                let sum: f64 = row.iter().map(|logit| f64::from(*logit).exp()).sum();
                sum.ln() - f64::from(row[*next as usize])
            });
            losses.sum::<f64>()
        });
        match (found, expected) {
            (Some(found), Some(expected)) => {
                assert!((found - expected).abs() < 1e-3, "{smiles}: {found} {expected}")
            }
            (found, expected) => assert_eq!((found, expected), (&None, None), "{smiles}"),
        }
    }
    assert!(found[1].unwrap() < 40.0 && found[2].is_none() && found[5].is_none());
    assert!(sampler.likelihoods(&[] as &[&str]).unwrap().is_empty());
    // More than a batch, in an order that is not that of the lengths.
    let many: Vec<&str> = (0..300).map(|n| ["CC(=O)Nc1ccc(O)cc1", "C"][n % 2]).collect();
    let losses = sampler.likelihoods(&many).unwrap();
    assert!(losses.iter().enumerate().all(|(n, loss)| (loss.unwrap() - losses[n % 2].unwrap()).abs() < 1e-9));
}

#[test]
fn a_model_of_chains_decorates_chains() {
    // Every token is one letter, and weights are random: nothing of the shipped models is needed.
    let pack = toy::random();
    toy::edit(pack.path(), "generation_config.json", |config| config["constrained"] = json!(true));
    let sampler = Sampler::new(&ModelPack::load(pack.path()).unwrap(), Device::Cpu).unwrap();

    let sample = draw(&sampler, 50, 3, &scaffold("*CO*"));

    assert_all_match(&sample, "[*;!#1][CH2]O[*;!#1]");
}
