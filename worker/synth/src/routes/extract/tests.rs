//! Tests of route extraction on made-up graphs, against exhaustive search.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use chem::{Molecule, MoleculeKey, Precursor};
use proptest::prelude::*;

use super::*;
use crate::graph::expander::TemplateOutcome;
use crate::graph::nodes::{ValidationState, step_cost};
use crate::graph::update::{SearchBounds, propagate};
use crate::model::RetroModel;
use crate::model::policy::Ranked;
use crate::task::Budget;
use catalogue::Block;

/// Reactions of each molecule: a probability in hundredths and the numbers of the precursors. Molecules without
/// reactions are building blocks.
type Chemistry = Vec<Vec<(u32, Vec<usize>)>>;

const MOLECULES: usize = 7;

fn chemistry() -> impl Strategy<Value = Chemistry> {
    let reactions = |product: usize| {
        // Mostly downwards, so that routes end.
        let precursor = prop_oneof![4 => product + 1..MOLECULES, 1 => 1..MOLECULES];
        let precursors = prop::collection::btree_set(precursor, 1..=2);
        let precursors = precursors.prop_map(move |mut set| {
            set.remove(&product);
            set.into_iter().collect::<Vec<_>>()
        });
        let reaction = (1_u32..=100, precursors).prop_filter("needs a precursor", |(_, set)| !set.is_empty());
        prop::collection::vec(reaction, 0..=2)
    };
    let mut all: Vec<_> = (0..MOLECULES - 1).map(|product| reactions(product).boxed()).collect();
    all.push(Just(Vec::new()).boxed());
    all
}

/// Molecule `number`, an alkane of `number + 1` carbons.
fn molecule(number: usize) -> Molecule {
    "C".repeat(number + 1).parse().unwrap()
}

fn graph_of(chemistry: &Chemistry, molecule: impl Fn(usize) -> Molecule, max_depth: u32) -> Graph {
    let mut graph = Graph::new(&molecule(0));
    let numbers: FxHashMap<MoleculeKey, usize> =
        (0..chemistry.len()).map(|number| (molecule(number).key(), number)).collect();
    // Every molecule without reactions is for sale, except the target.
    let block = |molecule: &Molecule| chemistry[numbers[&molecule.key()]].is_empty().then_some(Block::new(0));
    let mut next = 0;
    while let Some(id) = graph.all_molecules().nth(next) {
        next += 1;
        let product = numbers[&graph.molecule(id).key];
        for (at, (percent, precursors)) in chemistry[product].iter().enumerate() {
            let precursor =
                |&number: &usize| Precursor { molecule: molecule(number), sources: Arc::default() };
            let mut precursors: Vec<_> = precursors.iter().map(precursor).collect();
            precursors.sort_by_key(|precursor| precursor.molecule.key());
            let found = Arc::new(TemplateOutcome::new(precursors));
            let ranked = Ranked { template: at as u32, probability: *percent as f32 / 100.0 };
            graph.link(id, ranked, &[found], block);
        }
        for reaction in graph.molecule(id).reactions.clone() {
            graph.reaction_mut(reaction).validation = ValidationState::Valid;
        }
    }
    propagate(&mut graph, SearchBounds { max_depth, per_atom: 0.0, solved_penalty: 0.0, required: 0 });
    graph
}

/// Costs of all consistent routes, found by exhaustive search.
fn routes(chemistry: &Chemistry, max_depth: u32) -> Vec<f64> {
    let ways = all_ways(chemistry, 0, max_depth);
    let mut seen: Vec<_> = ways
        .into_iter()
        .filter(|(_, choices)| {
            choices.iter().all(|(product, at)| choices.iter().all(|(p, a)| p != product || a == at))
        })
        .map(|(cost, mut choices)| {
            choices.sort_unstable();
            choices.dedup();
            (choices, cost)
        })
        .collect();
    seen.sort_by(|a, b| a.0.cmp(&b.0));
    seen.dedup_by(|a, b| a.0 == b.0);
    let mut costs: Vec<f64> = seen.into_iter().map(|(_, cost)| cost).collect();
    costs.sort_by(f64::total_cmp);
    costs
}

fn all_ways(chemistry: &Chemistry, molecule: usize, left: u32) -> Vec<(f64, Vec<(usize, usize)>)> {
    if chemistry[molecule].is_empty() && molecule > 0 {
        return vec![(0.0, Vec::new())];
    }
    if left == 0 {
        return Vec::new();
    }
    // The graph keeps one reaction per set of precursors, with the summed probability of all templates that propose
    // it.
    let mut distinct: Vec<(f32, Vec<usize>)> = Vec::new();
    for (percent, precursors) in &chemistry[molecule] {
        let probability = *percent as f32 / 100.0;
        match distinct.iter_mut().find(|(_, known)| known == precursors) {
            Some((sum, _)) => *sum += probability,
            None => distinct.push((probability, precursors.clone())),
        }
    }
    let mut all = Vec::new();
    for (at, (probability, precursors)) in distinct.iter().enumerate() {
        let mut ways = vec![(step_cost(probability.min(1.0)), vec![(molecule, at)])];
        for &precursor in precursors {
            let below = all_ways(chemistry, precursor, left - 1);
            ways = ways
                .iter()
                .flat_map(|(cost, choices)| {
                    below.iter().map(move |(more, added)| (cost + more, [&choices[..], added].concat()))
                })
                .collect();
        }
        all.extend(ways);
    }
    all
}

fn extracted(chemistry: &Chemistry, molecule: impl Fn(usize) -> Molecule, max_depth: u32) -> Vec<f64> {
    let model = RetroModel::of_one_template("[C:1]-[O:2]>>[C:1].[O:2]");
    let deadline = Instant::now() + Duration::from_secs(600);
    let budget = Budget::until(deadline, Arc::new(AtomicBool::new(false)));
    let mut graph = graph_of(chemistry, molecule, max_depth);
    let mut validator = Validator::new(&model, &budget);
    let mut extractor = Extractor::new(&graph, max_depth, 0, usize::MAX);
    let mut source = ExtractionContext {
        graph: &mut graph,
        validator: &mut validator,
        constraint_filter: None,
        dropped: 0,
    };
    (0..)
        .map_while(|rank| extractor.route(&mut source, rank))
        .filter_map(Result::ok)
        .map(|choices| choices.cost)
        .collect()
}

proptest! {
    #[test]
    fn routes_are_those_of_a_full_enumeration_in_order(chemistry in chemistry(), max_depth in 1_u32..5) {
        let found = extracted(&chemistry, molecule, max_depth);

        let expected = routes(&chemistry, max_depth);
        prop_assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(&expected) {
            prop_assert!((found - expected).abs() < 1e-9, "{} is not {}", found, expected);
        }
    }
}

#[test]
fn a_route_by_way_of_a_tautomer_is_dropped() {
    let chemistry = vec![vec![(90, vec![1])], vec![(90, vec![2])], vec![(90, vec![3])], vec![]];
    let found = |second: &str| {
        let names = ["CCc1cn[nH]c1C", "CCc1cn(C(C)=O)nc1C", second, "CCO"];
        extracted(&chemistry, |number| names[number].parse().unwrap(), 4)
    };

    assert!(found("CCc1c[nH]nc1C").is_empty());
    assert_eq!(found("CCc1c[nH]nc1Cl").len(), 1);
}
