//! Tests of samples, and of sampling that ends without one.

use std::{
    collections::HashSet,
    num::NonZeroUsize,
    path::Path,
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use chem::Molecule;
use generator::{Device, ModelPack, PartialSample, Precision, SampleBudget, SampleError, Sampler};
use serde_json::json;

use crate::toy;

fn sampler(pack: &Path) -> Sampler {
    Sampler::new(&ModelPack::load(pack).unwrap(), Device::Cpu).unwrap()
}

fn threads(count: usize) -> NonZeroUsize {
    NonZeroUsize::new(count).unwrap()
}

/// Asserts that the strings are distinct valid molecules in canonical form.
pub fn assert_distinct_valid_canonical(sample: &[String]) {
    for smiles in sample {
        let molecule: Molecule = smiles.parse().unwrap_or_else(|error| panic!("`{smiles}`: {error}"));
        assert_eq!(molecule.canonical_smiles(), *smiles);
        assert_eq!(molecule.components().len(), 1);
    }
    assert_eq!(sample.iter().collect::<HashSet<_>>().len(), sample.len());
}

#[test]
fn a_sample_has_exactly_as_many_valid_distinct_canonical_molecules_as_wanted() {
    let sampler = sampler(toy::random().path());

    for size in [0, 1, 17, 300] {
        let sample = sampler.sample(size, 7, &SampleBudget::unlimited()).unwrap();

        assert_eq!(sample.len(), size);
        assert_distinct_valid_canonical(&sample);
    }
}

#[test]
fn the_same_seed_gives_the_same_sample_with_any_number_of_threads() {
    let pack = toy::random();
    let sample = |count: usize, seed| {
        sampler(pack.path())
            .with_threads(threads(count))
            .sample(400, seed, &SampleBudget::unlimited())
            .unwrap()
    };

    let one = sample(1, 7);

    assert_eq!(one, sample(1, 7));
    assert_eq!(one, sample(2, 7));
    assert_eq!(one, sample(5, 7));
    assert_ne!(one, sample(1, 8));
}

#[test]
fn a_string_does_not_depend_on_the_strings_around_it() {
    let sampler = sampler(toy::random().path());

    // 2,000 strings refill every slot of a batch many times; 20 do not refill any.
    let many = sampler.raw(2_000, 5).unwrap();
    let few = sampler.raw(20, 5).unwrap();

    assert_eq!(many.len(), 2_000);
    assert_eq!(many[..20], few);
}

#[test]
fn a_model_that_knows_one_molecule_cannot_give_two() {
    let sampler = sampler(toy::always(&["C", "O"]).path());

    assert_eq!(sampler.sample(1, 1, &SampleBudget::unlimited()).unwrap(), ["CO"]);
    let error = sampler.sample(2, 1, &SampleBudget::unlimited()).unwrap_err();
    assert!(matches!(error, SampleError::SizeUnreachable { wanted: 2, reached: 1, .. }), "{error}");
}

#[test]
fn a_model_that_knows_no_molecule_gives_none() {
    let sampler = sampler(toy::always(&["C", "=", "F"]).path());

    let error = sampler.sample(10, 1, &SampleBudget::unlimited()).unwrap_err();

    assert!(matches!(error, SampleError::SizeUnreachable { wanted: 10, reached: 0, .. }), "{error}");
}

#[test]
fn a_string_that_never_ends_is_cut_and_is_no_molecule() {
    // `max_length` 10 includes the token that begins a string and the one that would end it.
    for (constrained, string) in [(false, "CCCCCCCCC"), (true, "")] {
        let pack = toy::endless("C");
        toy::edit(pack.path(), "generation_config.json", |config| config["constrained"] = json!(constrained));
        let sampler = sampler(pack.path());

        assert_eq!(sampler.raw(3, 1).unwrap(), [string; 3]);
        let error = sampler.sample(1, 1, &SampleBudget::unlimited()).unwrap_err();
        assert!(matches!(error, SampleError::SizeUnreachable { wanted: 1, reached: 0, .. }), "{error}");
    }
}

#[test]
fn a_spent_budget_interrupts() {
    let sampler = sampler(toy::random().path());
    let late = SampleBudget { deadline: Some(Instant::now()), ..SampleBudget::default() };
    let cancelled = SampleBudget::unlimited();
    cancelled.cancelled.store(true, Ordering::Relaxed);

    for budget in [late, cancelled] {
        let error = sampler.sample(10, 1, &budget).unwrap_err();

        assert!(matches!(error, SampleError::Interrupted { .. }), "{error}");
    }
}

#[test]
fn a_sample_is_the_same_however_often_it_is_interrupted() {
    let pack = toy::random();
    let sampler = sampler(pack.path()).with_threads(threads(3));
    let whole = sampler.sample(400, 7, &SampleBudget::unlimited()).unwrap();
    let mut draft = PartialSample::new(400, 7);

    let (mut time_limit, mut interruptions) = (Duration::ZERO, 0);
    while draft.molecules().len() < 400 {
        let before = draft.molecules().to_vec();
        let budget = SampleBudget { deadline: Some(Instant::now() + time_limit), ..SampleBudget::default() };
        match sampler.resume(&mut draft, before.len() + 7, &budget) {
            Ok(()) => assert_eq!(draft.molecules().len(), (before.len() + 7).min(400)),
            Err(SampleError::Interrupted { .. }) => interruptions += 1,
            Err(error) => panic!("{error}"),
        }
        // The time grows, since an attempt without any time gets nowhere.
        time_limit += Duration::from_micros(20);
        assert!(draft.molecules().starts_with(&before));
    }

    assert!(interruptions > 0);
    assert_eq!(draft.molecules(), whole);
    let strings = sampler.take_counts().strings;
    sampler.sample(400, 7, &SampleBudget::unlimited()).unwrap();
    assert_eq!(strings, 2 * sampler.take_counts().strings, "each counts once");
}

#[test]
fn a_sample_that_grows_keeps_its_first_molecules() {
    let sampler = sampler(toy::random().path());
    let mut draft = PartialSample::new(30, 7);
    sampler.resume(&mut draft, 30, &SampleBudget::unlimited()).unwrap();
    let first = draft.molecules().to_vec();

    draft.grow(100);
    sampler.resume(&mut draft, 100, &SampleBudget::unlimited()).unwrap();

    assert_eq!(draft.molecules(), sampler.sample(100, 7, &SampleBudget::unlimited()).unwrap());
    assert!(draft.molecules().starts_with(&first));
}

#[test]
fn a_narrow_distribution_draws_what_is_most_probable() {
    for (field, value) in [("top_p", json!(1e-6)), ("temperature", json!(0.001))] {
        let pack = toy::random();
        toy::edit(pack.path(), "generation_config.json", |config| {
            (config[field], config["constrained"]) = (value, json!(false));
        });

        let strings: HashSet<String> = sampler(pack.path()).raw(100, 1).unwrap().into_iter().collect();

        assert_eq!(strings.len(), 1, "{field}: {strings:?}");
    }
}

#[test]
fn a_constrained_string_is_a_molecule_or_nothing() {
    // Untrained weights: branches, rings and bonds come in any order.
    let pack = toy::random_of(&["C", "N", "O", "F", "=", "#", "(", ")", "1", "2", "c", "n", "[nH]", "-"]);

    let strings = sampler(pack.path()).raw(3_000, 3).unwrap();

    let whole: Vec<_> = strings.iter().filter(|text| !text.is_empty()).collect();
    assert!(whole.len() > 200, "{} strings", whole.len());
    for symbol in ["(", "1", "c", "="] {
        let count = whole.iter().filter(|text| text.contains(symbol)).count();
        assert!(count > 5, "{count} strings have `{symbol}`");
    }
    for text in whole {
        assert!(text.parse::<Molecule>().is_ok(), "{text}");
    }
}

#[test]
fn bytes_and_single_precision_take_a_string_back_alike() {
    let pack = toy::random_of(&["C", "N", "=", "#", "(", ")", "1", "2", "c", "n"]);
    let pack = ModelPack::load(pack.path()).unwrap();
    let strings = |precision| {
        let sampler = Sampler::new(&pack, Device::Cpu).unwrap().with_precision(precision).unwrap();
        sampler.raw(300, 3).unwrap()
    };

    let (bytes, single) = (strings(Precision::Bytes), strings(Precision::Single));

    // Rounded weights sometimes draw another token, and then the strings diverge for good.
    let alike = bytes.iter().zip(&single).filter(|(one, other)| one == other).count();
    assert!(alike > 200, "{alike} of 300 strings are the same");
}
