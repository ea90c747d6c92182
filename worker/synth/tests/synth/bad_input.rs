//! Targets and limits at the edge of what is accepted: every search ends in time, and none panics.

use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use crate::toy::*;
use catalogue::Masks;
use chem::{Limits, Molecule};
use synth::{Budget, Planner, PlannerSettings, RetroModel, Stop, TargetPurchase, Task};

/// Planner with the shipped model.
static PLANNER: LazyLock<Planner> = LazyLock::new(|| {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/uspto_retro");
    Planner::new(
        Arc::new(RetroModel::load(&dir).unwrap()),
        PlannerSettings { cores: 2, ..PlannerSettings::default() },
    )
});

const STOCK_SMILES: [&str; 12] = [
    "CC(=O)O",
    "CC(=O)Cl",
    "Nc1ccccc1",
    "Nc1ccc(O)cc1",
    "OB(O)c1ccccc1",
    "Brc1ccncc1",
    "CCO",
    "CO",
    "C",
    "NCC(=O)O",
    "O=Cc1ccccc1",
    "CCN",
];

/// Time allowance for a loaded machine, on which a test's thread may not run for a while. The search itself takes 100
/// ms at most.
const GRACE: Duration = Duration::from_secs(2);

fn planned(task: &Task, seconds: f64) -> synth::SearchResult {
    LazyLock::force(&PLANNER);
    let start = Instant::now();
    let time = Duration::from_secs_f64(seconds);
    let plan =
        PLANNER.plan(&stock(&STOCK_SMILES), task, &Budget::until(Instant::now() + time, Arc::default()));
    assert!(start.elapsed() < time + GRACE, "{:?}", start.elapsed());
    for route in plan.routes() {
        assert!(route.molecules().all(|node| node.depth <= task.max_depth));
    }
    plan
}

fn peptide(residues: usize) -> String {
    format!("{}O", "NCC(=O)".repeat(residues))
}

#[test]
fn odd_targets_end_in_time() {
    let c60 = "c12c3c4c5c1c1c6c7c2c2c8c3c3c9c4c4c%10c5c5c1c1c6c6c%11c7c2c2c7c8c3c3c8c9c4c4c9c%10c5c5c1c1c6c6\
               c%11c2c2c7c3c3c8c4c4c9c5c1c1c6c2c3c41";
    let targets = [
        ("methane", "C"),
        ("hydrogen", "[H][H]"),
        ("isotopes", "[13CH3]C(=O)N[2H]"),
        ("a radical", "C[CH]C(=O)Nc1ccccc1"),
        ("a dummy atom", "*C(=O)Nc1ccccc1"),
        ("a metal", "C[Mg]Br"),
        ("a complex", "[Fe+2]"),
        ("undefined stereo", "CC(N)C(=O)NC(C)C=CC"),
        ("charges", "C[N+](C)(C)CC(=O)[O-]"),
        ("fullerene", c60),
        ("a macrocycle", "C1CCCCCCCCCCCCCCCCCCC(=O)NCCCCCCCCCCCCCCC1"),
        ("a tautomer of a building block", "O=c1cc[nH]cc1"),
    ];
    for (name, smiles) in targets {
        let Ok(target) = Molecule::parse(smiles, Limits::TARGET) else {
            panic!("{name} is refused");
        };
        for stop in [Stop::FirstRoute, Stop::Budget] {
            planned(&Task { target: target.clone(), stop, ..task("C") }, 0.1);
        }
    }
}

#[test]
fn large_targets_end_in_time() {
    // 38 and 50 residues of glycine: 153 and 201 atoms, the largest that the request limits allow.
    for smiles in [peptide(38), peptide(49), "C".repeat(200), format!("C{}", "(C)C".repeat(66))] {
        let target = Molecule::parse(&smiles, Limits::TARGET);
        let Ok(target) = target else { continue };
        for stop in [Stop::FirstRoute, Stop::Budget] {
            planned(&Task { target: target.clone(), stop, max_depth: 50, ..task("C") }, 0.3);
        }
    }
}

#[test]
fn a_building_block_is_bought_or_made_as_the_mask_says() {
    let allowed =
        Task { target_purchase: TargetPurchase::Allow, stop: Stop::FirstRoute, ..task("Nc1ccc(O)cc1") };
    let masked = Task { target_purchase: TargetPurchase::Mask, ..allowed.clone() };

    let bought = planned(&allowed, 0.2);
    let made = planned(&masked, 0.2);

    assert_eq!(bought.routes().next().unwrap().steps().count(), 0);
    assert!(made.routes().all(|route| route.steps().next().is_some()));
}

#[test]
fn every_depth_within_the_limits_is_searched() {
    for max_depth in [1, 50] {
        let task = Task { max_depth, stop: Stop::FirstRoute, ..task("CC(=O)Nc1ccc(O)cc1") };

        assert!(planned(&task, 2.0).solved(), "{max_depth}");
    }
}

#[test]
fn a_millisecond_is_not_exceeded_by_much() {
    for stop in [Stop::FirstRoute, Stop::Budget] {
        planned(&Task { stop, ..task("CC(=O)Nc1ccc(O)cc1") }, 0.001);
    }
}

#[test]
fn masks_that_leave_nothing_find_nothing() {
    let masks = Masks { mw_gte: Some(1.0), ..Masks::default() };

    let budget = Budget::until(Instant::now() + Duration::from_secs_f64(0.3), Arc::default());
    let plan = PLANNER.plan(&stock(&STOCK_SMILES).under(masks), &task("CC(=O)Nc1ccc(O)cc1"), &budget);

    assert!(!plan.solved());
}

#[test]
fn a_search_stops_growing_at_its_memory_limit() {
    let model = Arc::new(
        RetroModel::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/uspto_retro")).unwrap(),
    );
    let settings = PlannerSettings { memory_bytes: 1 << 20, cache_bytes: 0, ..PlannerSettings::default() };
    let task = Task { max_depth: 10, ..task("CC(C)Cc1ccc(cc1)C(C)C(=O)NCCc1c[nH]c2ccccc12") };

    let plan = Planner::new(model, settings).plan(&stock(&["CC"]), &task, &expansions(100_000));

    assert!(!plan.exhausted);
    assert!(plan.counts.graph_bytes < 2 << 20, "{}", plan.counts.graph_bytes);
}
