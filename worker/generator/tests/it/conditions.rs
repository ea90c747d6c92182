//! Tests of samples under conditions: temperature, top-p and filters.

use std::{
    num::NonZeroUsize,
    path::Path,
    sync::atomic::{AtomicU64, Ordering},
};

use chem::Molecule;
use generator::{
    Device, DrawOptions, ModelPack, MoleculeFilter, SampleBudget, SampleError, Sampler, Temperature, TopP,
};

use crate::{sampling::assert_distinct_valid_canonical, toy};

/// Accepts molecules of some sizes: constraint 0 is the least number of heavy atoms, constraint 1 the greatest.
struct SizeFilter {
    least: usize,
    greatest: usize,
}

impl MoleculeFilter for SizeFilter {
    fn refusal(&self, molecule: &Molecule) -> Option<usize> {
        let atoms = molecule.heavy_atoms();
        [atoms < self.least, atoms > self.greatest].iter().position(|is_refused| *is_refused)
    }
}

fn shipped(id: &str) -> Sampler {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models").join(id);
    Sampler::new(&ModelPack::load(&dir).unwrap(), Device::Cpu).unwrap()
}

fn one_thread(sampler: Sampler) -> Sampler {
    sampler.with_threads(NonZeroUsize::MIN)
}

#[test]
fn the_default_options_draw_as_the_pack_says() {
    let sampler = shipped("druglike_gru");

    let plain = sampler.sample(300, 5, &SampleBudget::unlimited()).unwrap();
    let filtered =
        sampler.sample_filtered(300, 5, &DrawOptions::default(), None, &SampleBudget::unlimited()).unwrap();

    assert_eq!(plain, filtered);
}

#[test]
fn every_molecule_satisfies_the_filter_with_any_number_of_threads() {
    let filter = SizeFilter { least: 20, greatest: 24 };
    let sampler = shipped("druglike_gru").with_threads(NonZeroUsize::new(3).unwrap());
    let draw = |sampler: &Sampler, seed| {
        let budget = SampleBudget::unlimited();
        sampler.sample_filtered(200, seed, &DrawOptions::default(), Some(&filter), &budget).unwrap()
    };

    let sample = draw(&sampler, 5);

    assert_eq!(sample.len(), 200);
    assert_distinct_valid_canonical(&sample);
    for smiles in &sample {
        assert!((20..=24).contains(&smiles.parse::<Molecule>().unwrap().heavy_atoms()), "{smiles}");
    }
    assert_ne!(sample, draw(&sampler, 6));
    assert_eq!(sample, draw(&one_thread(sampler), 5));
}

/// Refuses everything by constraint 2, and cancels the draw after 5,000 molecules.
struct RefuseAll<'a> {
    budget: &'a SampleBudget,
    seen: AtomicU64,
}

impl MoleculeFilter for RefuseAll<'_> {
    fn refusal(&self, _: &Molecule) -> Option<usize> {
        let is_last = self.seen.fetch_add(1, Ordering::Relaxed) >= 5_000;
        self.budget.cancelled.fetch_or(is_last, Ordering::Relaxed);
        Some(2)
    }
}

#[test]
fn a_filter_that_accepts_nothing_is_drawn_for_until_the_budget_ends_and_says_what_refused() {
    let sampler = Sampler::new(&ModelPack::load(toy::random().path()).unwrap(), Device::Cpu).unwrap();
    let budget = SampleBudget::unlimited();
    let filter = RefuseAll { budget: &budget, seen: AtomicU64::new(0) };

    let error = sampler.sample_filtered(5, 5, &DrawOptions::default(), Some(&filter), &budget).unwrap_err();

    let SampleError::Interrupted { reached: 0, refused } = error else { panic!("{error}") };
    let counts = sampler.take_counts();
    assert_eq!(refused, [0, 0, counts.valid]);
    assert!(refused[2] > 4_000 && counts.distinct == 0, "{counts:?}");
    assert_eq!((counts.refused, counts.duplicates()), (counts.valid, 0));
}

#[test]
fn a_filter_that_leaves_fewer_molecules_than_wanted_is_given_up() {
    let filter = SizeFilter { least: 1, greatest: 1 };
    let sampler = Sampler::new(&ModelPack::load(toy::random().path()).unwrap(), Device::Cpu).unwrap();

    let error = sampler
        .sample_filtered(100, 5, &DrawOptions::default(), Some(&filter), &SampleBudget::unlimited())
        .unwrap_err();

    let SampleError::SizeUnreachable { wanted: 100, reached, refused } = error else { panic!("{error}") };
    assert!((1..=5).contains(&reached), "{reached} molecules of one atom");
    assert_eq!((refused.len(), refused[0]), (2, 0));
    assert!(refused[1] > 1_000);
    let counts = sampler.take_counts();
    assert_eq!((counts.refused, counts.distinct), (refused[1], reached as u64));
    // The draw was given up after 2,000 repeats.
    assert!((2_000..2_100).contains(&counts.duplicates()), "{counts:?}");
}

#[test]
fn a_low_temperature_and_a_small_nucleus_draw_the_probable() {
    let sampler = shipped("druglike_gru");
    let known = |options: &DrawOptions| {
        let sample = sampler.sample_filtered(300, 5, options, None, &SampleBudget::unlimited()).unwrap();
        // Rare symbols are the first to go.
        sample.iter().filter(|smiles| smiles.contains(['@', 'P', '+', 'B', 'I'])).count()
    };

    let plain = known(&DrawOptions::default());
    let cold = known(&DrawOptions {
        temperature: Some(Temperature::try_from(0.5).unwrap()),
        ..DrawOptions::default()
    });
    let narrow = known(&DrawOptions { top_p: Some(TopP::try_from(0.5).unwrap()), ..DrawOptions::default() });

    assert!(4 * cold < 3 * plain, "{cold} of {plain}");
    assert!(4 * narrow < 3 * plain, "{narrow} of {plain}");
}

#[test]
fn a_number_outside_its_range_is_refused_with_the_range() {
    for number in [0.0, -1.0, 1e-4, 101.0, f64::NAN, f64::INFINITY] {
        let error = Temperature::try_from(number).unwrap_err();
        assert!(error.to_string().ends_with("is out of range, wanted 0.001 to 100"), "{error}");
    }
    for number in [0.0, -0.1, 1.000_1, f64::NAN, f64::INFINITY] {
        let error = TopP::try_from(number).unwrap_err();
        assert!(error.to_string().ends_with("is out of range, wanted over 0 and at most 1"), "{error}");
    }
    assert!(Temperature::try_from(1e-3).is_ok() && TopP::try_from(1.0).is_ok());
}
