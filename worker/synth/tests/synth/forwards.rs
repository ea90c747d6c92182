//! Known steps run forwards with other molecules.

use std::sync::Arc;

use chem::Molecule;
use synth::{Budget, Check, ForwardFailure, ForwardProduct, Planner, PlannerSettings, RetroModel, StepFault};

use crate::toy::{AMIDE, expansions, model, shipped};

fn planner(model: Arc<RetroModel>) -> Planner {
    Planner::new(model, PlannerSettings::default())
}

fn molecules(smiles: &[&str]) -> Vec<Molecule> {
    smiles.iter().map(|smiles| smiles.parse().unwrap()).collect()
}

/// Runs the step to N-ethylacetamide with another amine.
fn with_amine(amine: &str) -> Result<ForwardProduct, ForwardFailure> {
    let planner = planner(model(&[(AMIDE, 1.0)]));
    let [product, other]: [Molecule; 2] = molecules(&["CCNC(C)=O", amine]).try_into().unwrap();
    let step = planner.known_step("hash0", &product, &molecules(&["CC(=O)O", "CCN"])).unwrap();
    planner.run_forwards(&step, &step.precursors_with(&[None, Some(&other)]), &expansions(1)).unwrap()
}

#[test]
fn a_step_takes_another_molecule_and_says_what_it_rests_on() {
    let made = with_amine("OCCN").unwrap();

    assert_eq!(made.product.canonical_smiles(), "CC(=O)NCCO");
    assert_eq!((made.step.template_hash.as_str(), made.step.rank), ("hash0", Some(1)));
    assert_eq!((made.step.class.name, made.step.probability), ("amide coupling", 1.0));
    assert_eq!(made.step.records.reactions, 3);
}

#[test]
fn what_a_step_does_not_take_or_would_do_elsewhere_as_well_is_refused() {
    assert_eq!(with_amine("CCC").unwrap_err(), ForwardFailure::NoReaction);
    let two_amines = with_amine("NCCCC(C)CN").unwrap_err();
    assert!(matches!(two_amines, ForwardFailure::Refused(StepFault::Unsound(_))), "{two_amines:?}");
    assert!(!two_amines.to_string().is_empty());
}

#[test]
fn a_step_that_the_template_does_not_make_is_not_known() {
    let planner = planner(model(&[(AMIDE, 1.0)]));
    let known = |hash: &str, product: &str, precursors: &[&str]| {
        planner.known_step(hash, &product.parse().unwrap(), &molecules(precursors)).is_some()
    };

    assert!(known("hash0", "CCNC(C)=O", &["CCN", "CC(=O)O"]));
    assert!(!known("hash1", "CCNC(C)=O", &["CCN", "CC(=O)O"]));
    assert!(!known("hash0", "CCNC(C)=O", &["CCN", "CC(=O)Cl"]));
    assert!(!known("hash0", "CCNC(C)=O", &["CCN", "CC(=O)O", "C"]));
    assert!(!known("hash0", "CCO", &["CCN", "CC(=O)O"]));
}

#[test]
fn a_molecule_that_a_step_takes_twice_is_taken_twice_again() {
    let ether = "[C;H2;+0:1]-[O;H0;D2;+0:2]-[C;H2;+0:3]>>([C:1]-[OH;+0:2]).(O-[C:3])";
    let planner = planner(model(&[(ether, 1.0)]));
    let [product, other]: [Molecule; 2] = molecules(&["CCOCC", "CCCO"]).try_into().unwrap();

    let step = planner.known_step("hash0", &product, &molecules(&["CCO"])).unwrap();

    let taken = step.precursors_with(&[Some(&other)]);
    assert_eq!(taken.iter().map(Molecule::canonical_smiles).collect::<Vec<_>>(), ["CCCO", "CCCO"]);
}

#[test]
fn a_spent_budget_leaves_it_unknown() {
    let planner = planner(model(&[(AMIDE, 1.0)]));
    let precursors = molecules(&["CC(=O)O", "CCN"]);
    let step = planner.known_step("hash0", &"CCNC(C)=O".parse().unwrap(), &precursors).unwrap();
    let spent = Budget { cancelled: Arc::new(true.into()), ..expansions(1) };

    assert!(planner.run_forwards(&step, &precursors, &spent).is_none());
}

#[test]
fn whatever_the_shipped_model_proposes_gives_its_product_again() {
    let planner = planner(shipped());
    let mut steps = 0;
    for smiles in
        ["CC(=O)Nc1ccc(O)cc1", "CN1CCC[C@H]1c1cccnc1", "COc1cc2nc(N3CCN(C(=O)c4ccco4)CC3)nc(N)c2cc1OC"]
    {
        let product: Molecule = smiles.parse().unwrap();
        let sets = planner.precursor_sets(&product, (10, Check::Forwards), &expansions(1)).unwrap();
        // Run forwards, a step that needs a source of configuration gives the molecule without it.
        for set in sets.iter().filter(|set| set.stereo_source.is_none()) {
            let step = planner.known_step(&set.template_hash, &product, &set.precursors).unwrap();
            let made =
                planner.run_forwards(&step, &step.precursors_with(&[]), &expansions(1)).unwrap().unwrap();
            assert_eq!(made.product.key(), product.key(), "{smiles} {}", set.template_hash);
            assert_eq!((&made.step.class, &made.step.template_hash), (&set.class, &set.template_hash));
            assert!(made.step.plausibility <= set.plausibility, "{smiles} {}", set.template_hash);
            steps += 1;
        }
    }
    assert!(steps >= 15, "{steps}");
}

#[test]
fn another_template_of_the_same_reaction_stands_for_one_that_saw_too_much() {
    let planner = planner(shipped());
    let (product, furoyl) = ("COc1cc2nc(N3CCN(C(=O)c4ccco4)CC3)nc(N)c2cc1OC", "O=C(Cl)c1ccco1");
    let precursors = molecules(&["COc1cc2nc(N3CCNCC3)nc(N)c2cc1OC", furoyl]);
    let product: Molecule = product.parse().unwrap();
    let sets = planner.precursor_sets(&product, (50, Check::Forwards), &expansions(1)).unwrap();
    let is_furoyl = |set: &&synth::PrecursorSet| {
        set.precursors.iter().any(|precursor| precursor.canonical_smiles() == furoyl)
    };
    let hash = &sets.iter().find(is_furoyl).unwrap().template_hash;
    let step = planner.known_step(hash, &product, &precursors).unwrap();
    let with = |acid: &str| {
        let acid: Molecule = acid.parse().unwrap();
        planner.run_forwards(&step, &step.precursors_with(&[None, Some(&acid)]), &expansions(1)).unwrap()
    };

    // The template requires an oxygen in the ring.
    let thenoyl = with("O=C(Cl)c1cccs1").unwrap();
    let acetyl = with("CC(=O)Cl").unwrap();
    let amine = with("CCN").unwrap_err();
    let acid = with("O=C(O)c1ccco1").unwrap_err();

    assert_eq!(thenoyl.product.canonical_smiles(), "COc1cc2nc(N3CCN(C(=O)c4cccs4)CC3)nc(N)c2cc1OC");
    assert_eq!(acetyl.product.canonical_smiles(), "COc1cc2nc(N3CCN(C(C)=O)CC3)nc(N)c2cc1OC");
    assert_eq!(
        (thenoyl.step.class, acetyl.step.class.name),
        (acetyl.step.class, "amide formation from acid halide")
    );
    assert_ne!(thenoyl.step.template_hash, *hash);
    // An acid also gives an amide, but by another reaction.
    assert_eq!((amine, acid), (ForwardFailure::NoReaction, ForwardFailure::NoReaction));
}
