//! Test that an answer takes no more memory than its search had estimated.
//!
//! This is a separate test binary, because its allocator counts all memory in use.

use std::{
    path::Path,
    sync::{Arc, atomic::AtomicBool},
    time::{Duration, Instant},
};

use catalogue::{BlockRow, Offer, StockView};
use flate2::read::MultiGzDecoder;
use synth::{Budget, Constraints, GroupOrder, RetroModel, Route, Stop, TargetPurchase, Task};
use test_support::CountingAllocator;
use worker::{OfferAnnotation, result};

#[global_allocator]
static MEMORY: CountingAllocator = CountingAllocator::new();

#[test]
fn an_answer_takes_what_was_reckoned_for_its_routes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let model = Arc::new(RetroModel::load(&folder.join("models/uspto_retro")).unwrap());
    let budget = Budget {
        max_expansions: Some(150),
        ..Budget::until(Instant::now() + Duration::from_secs(600), Arc::new(AtomicBool::new(false)))
    };
    let task = Task {
        target: "CC(=O)Nc1ccc(OCc2ccccc2C(=O)N2CCN(C)CC2)cc1".parse().unwrap(),
        max_depth: 6,
        stop: Stop::Budget,
        target_purchase: TargetPurchase::Mask,
        max_groups: 1000,
        max_group_size: 1000,
        group_order: GroupOrder::Total,
        constraints: Constraints::default(),
    };
    let plan = synth::plan(&model, &demo_stock(folder), &task, &budget);
    let (routes, reckoned) = (plan.routes().count(), plan.routes().map(Route::answer_bytes).sum::<usize>());

    let before = MEMORY.forget();
    let request = contract::TreeSearchRequest::new(&*plan.target);
    let answer = result(&request, &plan, OfferAnnotation::default(), Duration::ZERO).expanded();
    let text = serde_json::value::to_raw_value(&Ok::<_, contract::JobFailure>(answer)).unwrap();
    // Serialised as it is sent.
    let mut sent = Vec::new();
    serde_json::to_writer(&mut sent, &text).unwrap();
    let most = MEMORY.most() - before;

    println!("{routes} routes: {most} bytes in use, {reckoned} reckoned, {} of text", sent.len());
    assert!(routes > 100, "{routes} routes");
    assert!(most as f64 <= 1.1 * reckoned as f64, "{most} bytes in use, {reckoned} reckoned");
    assert!(reckoned as f64 <= 1.5 * most as f64, "{most} bytes in use, {reckoned} reckoned");
}

/// Stock view of every third building block of the demo catalogue.
fn demo_stock(folder: &Path) -> StockView {
    let file = std::fs::File::open(folder.join("../ops/catalogue/demo.csv.gz"))
        .expect("the demo catalogue is there");
    let mut lines = csv::Reader::from_reader(MultiGzDecoder::new(file));
    let smiles = lines.records().step_by(3).map(|line| line.expect("a line can be read")[0].to_owned());
    let row = |(id, smiles): (usize, String)| {
        let molecule: chem::Molecule = smiles.parse().ok()?;
        Some((BlockRow::of(id as i32, &molecule), vec![Offer::of(1).at(1.0).within(5.0)]))
    };
    StockView::in_memory(smiles.enumerate().filter_map(row))
}
