//! Test suite that every search algorithm must pass, run for each of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::toy::*;
use catalogue::StockView;
use proptest::prelude::*;
use synth::{Algorithm, Planner, PlannerSettings, RetroModel, SearchResult, Stop, Task, UnknownAlgorithm};

fn planner(model: &Arc<RetroModel>, algorithm: Algorithm) -> Planner {
    Planner::new(
        Arc::clone(model),
        PlannerSettings { algorithm, cache_bytes: 0, ..PlannerSettings::default() },
    )
}

#[test]
fn algorithms_go_by_their_names() {
    for algorithm in Algorithm::ALL {
        assert_eq!(algorithm.to_string().parse(), Ok(algorithm));
    }
    let unknown: Result<Algorithm, UnknownAlgorithm> = "dowsing".parse();
    assert!(unknown.unwrap_err().to_string().contains("`dowsing`"));
}

#[test]
fn all_find_the_same_routes_where_nothing_is_left_to_try() {
    let model = model(&[
        (AMIDE, 5.0),
        (AMIDE_FROM_CHLORIDE, 3.0),
        (SAPONIFICATION, 2.0),
        (METHYL_ESTER, 2.0),
        (REDUCTIVE_AMINATION, 1.0),
    ]);
    let stock = stock(&["CCN", "CCCN", "CC=O", "O=C(O)CCC(=O)O", "O=C(Cl)CCC(=O)OC", "COC(=O)CCC(=O)OC"]);
    let task = Task { max_depth: 3, max_groups: 1000, max_group_size: 1000, ..task("CCCNC(=O)CCC(=O)NCC") };
    let found = |algorithm| {
        let plan = planner(&model, algorithm).plan(&stock, &task, &expansions(5000));
        assert!(plan.exhausted, "{algorithm}");
        let mut routes = texts(&plan);
        routes.sort();
        routes
    };

    let expected = found(Algorithm::BreadthFirst);

    assert!(expected.len() >= 4, "{expected:?}");
    assert_eq!(found(Algorithm::RetroStar), expected);
}

#[test]
fn all_stop_at_the_first_route_if_asked() {
    let model = model(&[(AMIDE, 1.0), (SAPONIFICATION, 1.0)]);
    for algorithm in Algorithm::ALL {
        let task = Task { stop: Stop::FirstRoute, ..task("CC(=O)NCC") };

        let plan = planner(&model, algorithm).plan(&stock(&["COC(C)=O", "CCN"]), &task, &expansions(50));

        assert_eq!(texts(&plan), [["CC(=O)O.CCN>>CCNC(C)=O", "COC(C)=O>>CC(=O)O"]], "{algorithm}");
        assert_eq!(plan.counts.validated_routes, 1, "{algorithm}");
    }
}

#[test]
fn all_end_at_once_when_cancelled_or_too_late() {
    let model = model(&[(AMIDE, 1.0)]);
    for algorithm in Algorithm::ALL {
        let cancelled = expansions(50);
        cancelled.cancelled.store(true, std::sync::atomic::Ordering::Relaxed);
        let late = synth::Budget { deadline: std::time::Instant::now(), ..expansions(50) };
        for budget in [cancelled, late] {
            let plan =
                planner(&model, algorithm).plan(&stock(&["CC(=O)O", "CN"]), &task("CC(=O)NC"), &budget);

            assert_eq!((plan.counts.template_applications, plan.exhausted), (0, false), "{algorithm}");
        }
    }
}

#[test]
fn a_route_that_turns_a_into_b_is_found_beside_one_that_turns_b_into_a() {
    // Both the acid and its methyl ester lead to the target, and each can be made from the other.
    let chemistry = Chemistry {
        reactions: vec![
            (5, 0, vec![1, 5]),
            (5, 0, vec![2]),
            (5, 1, vec![2]),
            (5, 2, vec![1]),
            (5, 1, vec![3]),
        ],
        for_sale: vec![3, 4],
    };
    for algorithm in Algorithm::ALL {
        let plan = chemistry.plan(algorithm, 4);

        assert!(plan.solved() && plan.exhausted, "{algorithm}");
        assert_eq!(plan.routes().next().unwrap().steps().count(), 3, "{algorithm}");
    }
}

#[test]
fn a_search_that_finds_nothing_among_the_first_templates_widens_to_all() {
    // Of 300 matching templates, the one that solves the target is the least probable.
    let mut templates: Vec<(String, f32)> = (0..299)
        .map(|number| (format!("[C:1]-[C:2]>>[C:1]-[C:2]-{}", "O-".repeat(number % 7) + "[SH]"), 100.0))
        .collect();
    templates.push((SAPONIFICATION.to_owned(), 0.001));
    let templates: Vec<(&str, f32)> =
        templates.iter().map(|(smarts, weight)| (smarts.as_str(), *weight)).collect();
    let model = model(&templates);
    for algorithm in Algorithm::ALL {
        let task = Task { max_depth: 1, stop: Stop::FirstRoute, ..task("CCC(=O)O") };

        let plan = planner(&model, algorithm).plan(&stock(&["CCC(=O)OC"]), &task, &expansions(5000));

        assert!(plan.solved(), "{algorithm}");
        assert!(plan.counts.template_applications > 299, "{algorithm}");
    }
}

/// Made-up chemistry: molecules are numbers, written as elements without bonds.
#[derive(Debug, Clone)]
struct Chemistry {
    /// Reactions as weight, product and precursors.
    reactions: Vec<(u32, usize, Vec<usize>)>,
    for_sale: Vec<usize>,
}

const NAMES: [&str; 6] = ["[He]", "[Ne]", "[Ar]", "[Kr]", "[Xe]", "[Rn]"];

impl Chemistry {
    fn plan(&self, algorithm: Algorithm, max_depth: u32) -> SearchResult {
        self.plan_as(PlannerSettings { algorithm, cache_bytes: 0, ..PlannerSettings::default() }, max_depth)
    }

    fn plan_as(&self, settings: PlannerSettings, max_depth: u32) -> SearchResult {
        Planner::new(self.model(), settings).plan(&self.stock(), &self.task(max_depth), &expansions(100_000))
    }

    fn task(&self, max_depth: u32) -> Task {
        Task { max_depth, max_groups: 100, max_group_size: 1000, ..task(NAMES[0]) }
    }

    fn stock(&self) -> StockView {
        stock(&self.for_sale.iter().map(|&number| NAMES[number]).collect::<Vec<_>>())
    }

    fn model(&self) -> Arc<RetroModel> {
        let name = |number: usize| NAMES[number].trim_matches(['[', ']']);
        let template = |(_, product, precursors): &(u32, usize, Vec<usize>)| {
            let mut sides: Vec<String> =
                precursors.iter().map(|&number| format!("[{}]", name(number))).collect();
            sides[0] = format!("[{}:1]", name(precursors[0]));
            format!("[{}:1]>>{}", name(*product), sides.join("."))
        };
        let templates: Vec<(String, f32)> =
            self.reactions.iter().map(|reaction| (template(reaction), reaction.0 as f32)).collect();
        let templates: Vec<(&str, f32)> =
            templates.iter().map(|(smarts, weight)| (smarts.as_str(), *weight)).collect();
        model(&templates)
    }

    /// Returns the cost of the cheapest route, by trying every combination of choices.
    fn cheapest(&self, max_depth: u32) -> Option<f64> {
        let ways = self.ways(0, max_depth, &BTreeMap::new());
        ways.into_iter().map(|(cost, _)| cost).min_by(f64::total_cmp)
    }

    /// Returns every way to make `molecule` in which no molecule is made in two ways, given the choices made already.
    fn ways(
        &self,
        molecule: usize,
        left: u32,
        made: &BTreeMap<usize, usize>,
    ) -> Vec<(f64, BTreeMap<usize, usize>)> {
        if molecule != 0 && self.for_sale.contains(&molecule) {
            return vec![(0.0, made.clone())];
        }
        // Noble gases share a bit of the masks, so all templates may match.
        let total: f32 = self.reactions.iter().map(|(weight, ..)| *weight as f32).sum();
        let mut all = Vec::new();
        for (at, (weight, product, precursors)) in self.reactions.iter().enumerate() {
            let other_choice = made.get(&molecule).is_some_and(|&chosen| chosen != at);
            if *product != molecule || left == 0 || other_choice || precursors.contains(product) {
                continue;
            }
            let mut choices = made.clone();
            choices.insert(molecule, at);
            let mut ways = vec![(0.2 - f64::from(*weight as f32 / total).ln(), choices)];
            for &precursor in precursors {
                ways = ways
                    .into_iter()
                    .flat_map(|(cost, choices)| {
                        let below = self.ways(precursor, left - 1, &choices).into_iter();
                        below.map(move |(more, choices)| (cost + more, choices))
                    })
                    .collect();
            }
            all.extend(ways);
        }
        all
    }
}

fn chemistry() -> impl Strategy<Value = Chemistry> {
    let molecule = || 0..NAMES.len();
    let reaction = (1_u32..100, molecule(), prop::collection::btree_set(molecule(), 1..=2)).prop_map(
        |(weight, product, precursors)| (weight, product, precursors.into_iter().collect::<Vec<_>>()),
    );
    let reactions = prop::collection::vec(reaction, 1..12).prop_map(|mut all| {
        // One template per reaction: of two with the same molecules the search may keep either.
        all.sort_by(|a, b| (a.1, &a.2).cmp(&(b.1, &b.2)));
        all.dedup_by(|a, b| (a.1, &a.2) == (b.1, &b.2));
        all
    });
    let for_sale = prop::collection::btree_set(1..NAMES.len(), 0..3);
    (reactions, for_sale)
        .prop_map(|(reactions, for_sale)| Chemistry { reactions, for_sale: for_sale.into_iter().collect() })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn what_can_be_made_is_made_and_the_cheapest_route_comes_first(chemistry in chemistry(), max_depth in 1_u32..5) {
        let expected = chemistry.cheapest(max_depth);
        for algorithm in Algorithm::ALL {
            let plan = chemistry.plan(algorithm, max_depth);

            prop_assert!(plan.exhausted);
            let found = plan.routes().map(|route| route.cost).min_by(f64::total_cmp);
            prop_assert_eq!(found.is_some(), expected.is_some(), "{}: {:?}", algorithm, expected);
            if let (Some(found), Some(expected)) = (found, expected) {
                prop_assert!((found - expected).abs() < 1e-4, "{}: {} is not {}", algorithm, found, expected);
            }
        }
    }

    #[test]
    fn neither_cache_nor_cores_change_what_is_found(chemistry in chemistry(), max_depth in 1_u32..5) {
        for algorithm in Algorithm::ALL {
            let alone = chemistry.plan(algorithm, max_depth);
            let settings = PlannerSettings { algorithm, ..PlannerSettings::default() };
            let planner = Planner::new(chemistry.model(), settings);
            let plan = || planner.plan(&chemistry.stock(), &chemistry.task(max_depth), &expansions(100_000));

            let (cold, warm) = (plan(), plan());
            let helped = chemistry.plan_as(PlannerSettings { cores: 3, ..settings }, max_depth);

            prop_assert_eq!((&cold.groups, cold.counts), (&alone.groups, alone.counts));
            prop_assert_eq!((&warm.groups, warm.counts), (&alone.groups, alone.counts));
            prop_assert_eq!(helped.solved(), alone.solved());
            prop_assert_eq!(helped.routes().count(), alone.routes().count());
        }
    }
}
