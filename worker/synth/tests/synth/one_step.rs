//! Single-step retrosynthesis: which sets of precursors are returned, and in which order; also batches of molecules.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use crate::toy::{
    AMIDE, AMIDE_FROM_CHLORIDE, METHYL_ESTER, SAPONIFICATION, expansions, model, shipped, stock, task, write,
};
use chem::{Molecule, MoleculeKey};
use synth::{
    BatchLimits, Budget, Check, Planner, PlannerSettings, PrecursorSet, ReactantCounts, RetroModel,
    SearchUrgency, StepFault, Task, explain, plan, proposals,
};

fn planner(model: &Arc<RetroModel>, cores: usize) -> Planner {
    Planner::new(Arc::clone(model), PlannerSettings { cores, ..PlannerSettings::default() })
}

fn sets(model: &Arc<RetroModel>, smiles: &str, most: usize) -> Vec<PrecursorSet> {
    planner(model, 1)
        .precursor_sets(&smiles.parse().unwrap(), (most, Check::Forwards), &expansions(1))
        .unwrap()
}

fn names(set: &PrecursorSet) -> Vec<String> {
    set.precursors.iter().map(Molecule::canonical_smiles).collect()
}

#[test]
fn sets_come_by_probability_and_say_what_they_rest_on() {
    let model = model(&[(AMIDE, 1.0), (AMIDE_FROM_CHLORIDE, 3.0)]);

    let sets = sets(&model, "O=C(C)NCC", 50);

    let sets_summary: Vec<_> = sets
        .iter()
        .map(|set| (names(set).join("."), set.probability, set.template_hash.as_str(), set.precedents))
        .collect();
    assert_eq!(sets_summary.len(), 2);
    assert_eq!(
        (sets_summary[0].0.as_str(), sets_summary[0].2, sets_summary[0].3),
        ("CC(=O)Cl.CCN", "hash1", 3)
    );
    assert_eq!(
        (sets_summary[1].0.as_str(), sets_summary[1].2, sets_summary[1].3),
        ("CC(=O)O.CCN", "hash0", 3)
    );
    assert!(
        (sets_summary[0].1 - 0.75).abs() < 1e-6 && (sets_summary[1].1 - 0.25).abs() < 1e-6,
        "{sets_summary:?}"
    );
    assert!(sets.iter().all(|set| set.plausibility == 1.0), "a model without a judge doubts nothing");
}

#[test]
fn ties_go_to_the_first_smiles_and_the_number_is_limited() {
    let model = model(&[(AMIDE, 1.0), (AMIDE_FROM_CHLORIDE, 1.0)]);

    let first = sets(&model, "CCNC(C)=O", 1);

    assert_eq!(first.iter().map(names).collect::<Vec<_>>(), [["CC(=O)Cl", "CCN"]]);
}

/// Returns this model with a count of these reactants, each of one reaction.
fn with_reactants(templates: &[(&str, f32)], reactants: &[&str]) -> Arc<RetroModel> {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), templates);
    let mut counts = ReactantCounts::default();
    reactants.iter().for_each(|smiles| counts.add(smiles.parse().unwrap()));
    counts.write(&dir.path().join("reactants.safetensors")).unwrap();
    Arc::new(RetroModel::load(dir.path()).unwrap())
}

#[test]
fn recorded_precursors_come_before_more_probable_ones() {
    let templates = [(AMIDE, 1.0), (AMIDE_FROM_CHLORIDE, 3.0)];
    let first = |reactants: &[&str]| {
        let model = with_reactants(&templates, reactants);
        let (by_rules, all) =
            (sets(&model, "CCNC(C)=O", 1), proposals(&model, &"CCNC(C)=O".parse().unwrap(), 2));
        assert!(all[0].precursors.iter().map(Molecule::key).eq(key_order(&by_rules[0])));
        names(&by_rules[0]).join(".")
    };

    assert_eq!(first(&["CC(=O)O", "CCN"]), "CC(=O)O.CCN");
    assert_eq!(first(&["CC(=O)O", "CC(=O)Cl", "CCN"]), "CC(=O)Cl.CCN");
    assert_eq!(first(&["CCCCCCC"]), "CC(=O)Cl.CCN");
}

fn key_order(set: &PrecursorSet) -> Vec<MoleculeKey> {
    let mut keys: Vec<MoleculeKey> = set.precursors.iter().map(Molecule::key).collect();
    keys.sort_unstable();
    keys
}

#[test]
fn what_a_template_undoes_and_another_does_again_is_still_a_step_and_the_molecule_itself_is_none() {
    let model = model(&[(SAPONIFICATION, 1.0), (METHYL_ESTER, 1.0)]);

    assert_eq!(sets(&model, "CCC(=O)O", 50).iter().map(names).collect::<Vec<_>>(), [["CCC(=O)OC"]]);
    assert!(sets(&model, "CCO", 50).is_empty());
}

/// Returns the precursor sets of all proposals for which some template's proposal is valid according to `explain`.
fn brute_force(model: &Arc<RetroModel>, smiles: &str) -> BTreeSet<Vec<String>> {
    let product: Molecule = smiles.parse().unwrap();
    let all = proposals(model, &product, usize::MAX);
    let valid = all.iter().filter(|proposal| {
        let templates = explain(model, &product, &proposal.precursors);
        templates.iter().any(|template| template.fault.is_none())
    });
    let names = |molecules: &[Molecule]| {
        let mut names: Vec<String> = molecules.iter().map(Molecule::canonical_smiles).collect();
        names.sort();
        names
    };
    let own = product.canonical_smiles();
    valid.map(|proposal| names(&proposal.precursors)).filter(|set| !set.contains(&own)).collect()
}

#[test]
fn the_shipped_model_returns_every_valid_set_and_the_first_few_for_any_limit() {
    let model = shipped();
    for smiles in ["CCNC(C)=O", "CC(=O)Nc1ccc(O)cc1"] {
        let all = sets(&model, smiles, usize::MAX);
        let (best, first) = (sets(&model, smiles, 50), sets(&model, smiles, 5));

        let sets_summary: BTreeSet<Vec<String>> = all.iter().map(names).collect();
        assert_eq!(
            (sets_summary.len(), &sets_summary),
            (all.len(), &brute_force(&model, smiles)),
            "{smiles}"
        );
        let (ordered, others) = all.split_at(all.len().min(50));
        assert!(others.is_sorted_by(|a, b| a.probability >= b.probability));
        assert!(ordered.iter().all(|set| others.iter().all(|other| set.probability >= other.probability)));
        assert!(all.iter().all(|set| (0.0..=1.0).contains(&set.plausibility)));
        assert_eq!(
            first.iter().map(names).collect::<Vec<_>>(),
            best[..5].iter().map(names).collect::<Vec<_>>()
        );
    }
}

#[test]
fn what_is_refused_forwards_stands_the_rules_unless_these_refuse_it() {
    let model = shipped();
    let product: Molecule = "CC(=O)Nc1ccc(O)cc1".parse().unwrap();
    let all = (usize::MAX, Check::Rules);

    let by_rules = planner(&model, 1).precursor_sets(&product, all, &expansions(1)).unwrap();
    let forwards = sets(&model, "CC(=O)Nc1ccc(O)cc1", usize::MAX);

    let of = |sets: &[PrecursorSet]| -> BTreeSet<Vec<String>> { sets.iter().map(names).collect() };
    assert!(of(&by_rules).is_superset(&of(&forwards)) && by_rules.len() > forwards.len());
    let is_unsound = |set: &PrecursorSet| {
        let templates = explain(&model, &product, &set.precursors);
        templates.iter().all(|template| matches!(template.fault, Some(StepFault::Unsound(_))))
    };
    assert_eq!(by_rules.iter().filter(|set| is_unsound(set)).count(), 0);
}

#[test]
fn a_step_that_hardly_any_chemist_would_run_is_proposed_and_is_in_no_route() {
    let model = shipped();
    let precursor = "CC(C)c1ccc2c(c1)OC(O)(c1ccccc1)C2(N)C(=O)O";
    let target = "CC(C)c1ccc2c(c1)OC1(O)c3ccccc3C(=O)C21N";

    let plan = plan(&model, &stock(&[precursor]), &Task { max_depth: 1, ..task(target) }, &expansions(60));

    assert!(sets(&model, target, 100).iter().any(|set| names(set) == [precursor]));
    assert!(!plan.solved() && plan.counts.refusals.unsound > 0, "{:?}", plan.counts);
}

#[test]
fn sets_that_a_spent_budget_leaves_unknown_are_left_out() {
    let model = model(&[(AMIDE, 1.0)]);
    let spent = Budget { cancelled: Arc::new(AtomicBool::new(true)), ..expansions(1) };

    let sets = planner(&model, 1).precursor_sets(&"CCNC(C)=O".parse().unwrap(), (50, Check::Rules), &spent);

    assert!(sets.is_none());
}

fn allowance(urgency: SearchUrgency, time: Duration) -> BatchLimits {
    BatchLimits { urgency, latest: Instant::now() + time, cancelled: Arc::default() }
}

const LONG: Duration = Duration::from_secs(600);
const MOMENT: Duration = Duration::from_millis(100);

#[test]
fn many_items_use_all_cores_and_keep_their_order() {
    let planner = planner(&model(&[(AMIDE, 1.0)]), 3);
    let items: Vec<usize> = (0..100).collect();

    let done = planner.each(&items, &allowance(SearchUrgency::Bulk, LONG), |&item, budget| {
        assert!(!budget.has_ended());
        (item % 10 != 3).then_some(item * 2)
    });

    let expected: Vec<_> = items.iter().map(|item| (item % 10 != 3).then_some(item * 2)).collect();
    assert_eq!(done.each, expected);
}

#[test]
fn items_not_reached_before_the_end_are_left_however_long_the_call_was_paused() {
    let planner = planner(&model(&[(AMIDE, 1.0)]), 2);
    let interactive = planner.priority(SearchUrgency::Interactive);

    let done = planner.each(&[1, 2, 3], &allowance(SearchUrgency::Bulk, MOMENT), |&item, _| Some(item));

    assert_eq!(done.each, [None; 3]);
    drop(interactive);
    let done = planner.each(&[1, 2, 3], &allowance(SearchUrgency::Bulk, LONG), |&item, _| Some(item));
    assert_eq!(done.each, [Some(1), Some(2), Some(3)]);
}

#[test]
fn a_bulk_query_pauses_for_an_interactive_search_and_loses_nothing() {
    let planner = planner(&model(&[(AMIDE, 1.0)]), 2);
    let interactive = planner.priority(SearchUrgency::Interactive);

    let (early, done) = std::thread::scope(|scope| {
        let call = scope.spawn(|| {
            planner.each(&["CCNC(C)=O"; 20], &allowance(SearchUrgency::Bulk, LONG), |smiles, budget| {
                planner
                    .precursor_sets(&smiles.parse().unwrap(), (50, Check::Rules), budget)
                    .map(|sets| sets.len())
            })
        });
        std::thread::sleep(MOMENT);
        let early = call.is_finished();
        drop(interactive);
        (early, call.join().unwrap())
    });

    assert!(!early);
    assert_eq!(done.each, [Some(1); 20]);
    assert!(done.worked < LONG);
}

#[test]
fn a_short_search_of_a_call_ends_by_its_own_clock() {
    let planner = planner(&model(&[(AMIDE, 1.0)]), 1);

    let done = planner.each(&[()], &allowance(SearchUrgency::Bulk, LONG), |(), call| {
        let short = call.within(Duration::ZERO);
        Some((short.has_ended(), call.has_ended()))
    });

    assert_eq!(done.each, [Some((true, false))]);
}
