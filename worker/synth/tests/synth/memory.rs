//! Memory tests: a search counts the memory that it uses, and stays within its limit.
//!
//! A binary of its own, because its allocator counts everything that the program has in use.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

mod toy;

use std::path::Path;
use std::sync::Arc;

use catalogue::StockView;
use parking_lot::Mutex;
use synth::{Budget, Counts, Planner, PlannerSettings, RetroModel, Task};
use test_support::CountingAllocator;

#[global_allocator]
static MEMORY: CountingAllocator = CountingAllocator::new();

/// Lock that lets only one test measure at a time.
static MEASUREMENT_LOCK: Mutex<()> = Mutex::new(());

const MIB: usize = 1 << 20;

/// Peptides and a macrolactam, whose searches run until a limit stops them.
const TARGETS: [&str; 2] = [
    "CC(C)C[C@H](NC(=O)[C@H](Cc1ccccc1)NC(=O)c1cnccn1)B(O)OC(=O)[C@@H](N)Cc1c[nH]c2ccccc12",
    "Cc1ccc(NC(=O)c2ccc(CN3CCN(C)CC3)cc2)cc1Nc1nccc(-c2cccnc2)n1",
];

/// Returns the peak memory that a search of `target` added, as measured, and the search's own counts.
fn search(planner: &Planner, catalogue: &StockView, target: &str, budget: &Budget) -> (usize, Counts) {
    let task = Task { max_depth: 10, max_groups: 1000, max_group_size: 1000, ..toy::task(target) };
    let before = MEMORY.forget();
    let plan = planner.plan(catalogue, &task, budget);
    (MEMORY.most() - before, plan.counts)
}

fn planner(model: &Arc<RetroModel>, memory_mib: usize, cache_mib: usize) -> Planner {
    let settings = PlannerSettings {
        memory_bytes: memory_mib * MIB,
        cache_bytes: cache_mib * MIB,
        ..PlannerSettings::default()
    };
    Planner::new(Arc::clone(model), settings)
}

/// Makes the model fill its shared caches, which do not belong to a single search.
fn warm_up(model: &Arc<RetroModel>, catalogue: &StockView) {
    let planner = planner(model, 512, 0);
    for target in TARGETS {
        search(&planner, catalogue, target, &toy::expansions(600));
    }
}

/// Catalogue of everyday building blocks, so that there are many routes.
fn everyday_catalogue() -> StockView {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ops/catalogue/demo.csv.gz");
    let file = std::fs::File::open(file).expect("the demo catalogue is there");
    let mut lines = csv::Reader::from_reader(flate2::read::MultiGzDecoder::new(file));
    let smiles: Vec<String> =
        lines.records().map(|line| line.expect("a line can be read")[0].to_owned()).collect();
    let few: Vec<&str> = smiles.iter().step_by(7).map(String::as_str).collect();
    toy::stock(&few)
}

#[test]
fn a_search_takes_what_it_counts_and_no_more_than_it_may() {
    let _alone = MEASUREMENT_LOCK.lock();
    let (model, catalogue) = (toy::shipped(), everyday_catalogue());
    warm_up(&model, &catalogue);
    let planner = planner(&model, 48, 0);

    for target in TARGETS {
        let (most, counts) = search(&planner, &catalogue, target, &toy::expansions(u64::MAX));

        let counted = counts.memory_bytes as usize;
        println!("{target}: {most} in use, {counted} counted, {counts:?}");
        assert!(counts.graph_bytes as usize >= 36 * MIB, "it ended before its memory was full: {counts:?}");
        assert!(most as f64 <= 48.0 * MIB as f64 * 1.1, "{most} bytes in use");
        assert!(counted as f64 >= 0.9 * most as f64, "{counted} bytes counted, {most} in use");
    }
}

#[test]
fn the_cache_takes_what_it_counts_and_no_more_than_it_may() {
    let _alone = MEASUREMENT_LOCK.lock();
    let (model, catalogue) = (toy::shipped(), everyday_catalogue());
    warm_up(&model, &catalogue);
    let planner = planner(&model, 512, 16);
    let before = MEMORY.in_use();

    for target in TARGETS {
        search(&planner, &catalogue, target, &toy::expansions(600));
    }

    let (counted, held) = (planner.cached_bytes() as usize, MEMORY.in_use() - before);
    println!("{held} held, {counted} counted");
    assert!(counted >= 12 * MIB, "the cache is not full: {counted} bytes");
    assert!(held as f64 <= 16.0 * MIB as f64 * 1.1, "{held} bytes held");
    assert!(counted as f64 >= 0.9 * held as f64, "{counted} bytes counted, {held} held");
}
