//! Fifteen known drugs, planned with the shipped model and the demo catalogue for a fixed number of expansions. The
//! test checks which are solved and the best route of each. `data/drugs.tsv` holds the last reviewed results;
//! `RETORT_BLESS=1` rewrites it.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use crate::toy::{expansions, row, shipped, task, text};
use catalogue::StockView;
use flate2::read::MultiGzDecoder;
use synth::{Budget, RetroModel, SearchResult, StereoSource, Stop, Task, plan};

const EXPANSIONS: u64 = 200;
/// Least fraction of results that must stay the same. Rounding differs between processors, and an equally good route
/// may come first.
const MIN_UNCHANGED: f64 = 0.8;

/// Row of the table.
struct Drug {
    name: String,
    smiles: String,
    /// Steps of the best route as `precursor.precursor>>product`, separated by spaces; empty without one.
    best: String,
}

fn table() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/drugs.tsv")
}

fn drugs() -> Vec<Drug> {
    let text = fs::read_to_string(table()).unwrap();
    text.lines()
        .skip(1)
        .map(|line| {
            let fields: Vec<&str> = line.split('\t').collect();
            Drug { name: fields[0].to_owned(), smiles: fields[1].to_owned(), best: fields[2].to_owned() }
        })
        .collect()
}

fn model() -> &'static Arc<RetroModel> {
    static MODEL: OnceLock<Arc<RetroModel>> = OnceLock::new();
    MODEL.get_or_init(shipped)
}

/// Molecules of the demo catalogue, each at a dollar a gram.
fn catalogue() -> &'static StockView {
    static CATALOGUE: OnceLock<StockView> = OnceLock::new();
    CATALOGUE.get_or_init(|| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ops/catalogue/demo.csv.gz");
        let mut reader = csv::Reader::from_reader(MultiGzDecoder::new(File::open(path).unwrap()));
        let smiles = reader.records().map(|record| record.unwrap()[0].to_owned());
        let distinct: BTreeSet<String> = smiles.filter(|smiles| !smiles.contains('.')).collect();
        StockView::in_memory((0..).zip(&distinct).map(|(id, smiles)| row(id, smiles, 1.0)))
    })
}

fn planned(smiles: &str, stop: Stop, most: u64) -> SearchResult {
    plan(model(), catalogue(), &Task { stop, ..task(smiles) }, &expansions(most))
}

/// Lowest total of a plan's routes.
fn best_total(plan: &SearchResult) -> f64 {
    lowest_totals(plan).first().copied().unwrap_or(f64::INFINITY)
}

/// The ten lowest totals of a plan's routes, ascending.
fn lowest_totals(plan: &SearchResult) -> Vec<f64> {
    let mut totals: Vec<f64> = plan.routes().map(|route| route.total).collect();
    totals.sort_by(f64::total_cmp);
    totals.truncate(10);
    totals
}

#[test]
fn known_drugs_are_planned_as_recorded() {
    let drugs = drugs();
    let found: Vec<String> = drugs
        .iter()
        .map(|drug| {
            let plan = planned(&drug.smiles, Stop::Budget, EXPANSIONS);
            let best = plan.routes().min_by(|a, b| a.total.total_cmp(&b.total));
            best.map(text).unwrap_or_default().join(" ")
        })
        .collect();
    if std::env::var_os("RETORT_BLESS").is_some() {
        let line = |(drug, best): (&Drug, &String)| format!("{}\t{}\t{best}\n", drug.name, drug.smiles);
        let lines: String = drugs.iter().zip(&found).map(line).collect();
        fs::write(table(), format!("drug\tsmiles\tbest route\n{lines}")).unwrap();
        return;
    }
    let mut same = 0;
    let mut lost = Vec::new();
    for (drug, best) in drugs.iter().zip(&found) {
        same += usize::from(drug.best == *best);
        if drug.best != *best {
            println!("{}:\n  was {}\n  is  {best}", drug.name, drug.best);
        }
        if best.is_empty() && !drug.best.is_empty() {
            lost.push(&drug.name);
        }
    }
    assert!(lost.is_empty(), "no longer solved: {lost:?}");
    assert!(
        same as f64 >= MIN_UNCHANGED * drugs.len() as f64,
        "{same} of {} best routes are the same",
        drugs.len()
    );
}

#[test]
fn a_full_search_never_returns_less_than_an_early_exit() {
    for drug in drugs() {
        let early = planned(&drug.smiles, Stop::FirstRoute, 60);
        let full = planned(&drug.smiles, Stop::Budget, 60);

        assert!(full.solved() || !early.solved(), "{}", drug.name);
        assert!(best_total(&full) <= best_total(&early) + 1e-9, "{}", drug.name);
    }
}

#[test]
fn only_a_route_without_doubt_ends_the_search() {
    let mut early = 0;
    for drug in drugs() {
        let first = planned(&drug.smiles, Stop::FirstRoute, 60);
        let sound = planned(&drug.smiles, Stop::FirstSoundRoute, 60);

        assert_eq!(first.solved(), sound.solved(), "{}", drug.name);
        let is_doubtful = |plan: &SearchResult| plan.routes().any(|route| route.is_doubtful());
        assert!(sound.routes().count() <= 1, "{}", drug.name);
        if is_doubtful(&sound) {
            assert!(is_doubtful(&first), "{}", drug.name);
            assert!(sound.counts.expansions == 60 || sound.exhausted, "{}", drug.name);
        }
        early += usize::from(sound.solved() && sound.counts.expansions < 60);
    }
    assert!(early > 3, "{early} searches ended early");
}

#[test]
fn a_step_that_makes_a_centre_says_by_what() {
    let enantiomers = ["C[C@H](O)c1ccc(-c2ccncc2)cc1", "C[C@@H](O)c1ccc(-c2ccncc2)cc1"];
    let plans = enantiomers.map(|smiles| planned(smiles, Stop::Budget, 60));

    for plan in &plans {
        let sources: BTreeSet<_> = plan
            .routes()
            .flat_map(|route| route.steps().map(|(_, step)| step.stereo_source).collect::<Vec<_>>())
            .collect();
        assert!(sources.contains(&Some(StereoSource::ChiralCatalyst)), "{sources:?}");
    }
}

#[test]
fn the_best_ten_of_a_longer_search_are_no_worse_and_the_same_number_gives_the_same_answer() {
    for drug in drugs() {
        let plans = [30, 30, 90].map(|most| planned(&drug.smiles, Stop::Budget, most));

        assert_eq!(plans[0].groups, plans[1].groups, "{}", drug.name);
        let [shorter, _, longer] = plans.each_ref().map(lowest_totals);
        assert!(longer.len() >= shorter.len(), "{}", drug.name);
        let is_worse = |(longer, shorter): (&f64, &f64)| *longer > shorter + 1e-9;
        assert!(!longer.iter().zip(&shorter).any(is_worse), "{}: {longer:?}, {shorter:?}", drug.name);
    }
}

#[test]
fn a_search_that_reads_its_graph_more_than_once_returns_each_route_once() {
    let drug = &drugs()[0];
    let (model, catalogue) = (model(), catalogue());
    let task = Task { stop: Stop::Budget, ..task(&drug.smiles) };
    let deadline = Instant::now() + Duration::from_secs(2);
    let budget = Budget::until(deadline, Arc::new(AtomicBool::new(false)));

    let plan = plan(model, catalogue, &task, &budget);

    let routes: Vec<Vec<String>> = plan.routes().map(text).collect();
    let distinct: BTreeSet<&Vec<String>> = routes.iter().collect();
    assert!(!routes.is_empty());
    assert_eq!(distinct.len(), routes.len());
}

#[test]
fn more_reactive_groups_are_protected() {
    let acid = "O=C(O)c1ccc(F)cc1";
    let guarded = "CC(C)(C)OC(=O)NCC1CCNCC1";
    let stock = StockView::in_memory(
        (0..).zip([acid, guarded, "NCC1CCNCC1"]).map(|(id, smiles)| row(id, smiles, 1.0)),
    );

    let plan = plan(
        model(),
        &stock,
        &Task { stop: Stop::Budget, ..task("NCC1CCN(C(=O)c2ccc(F)cc2)CC1") },
        &expansions(EXPANSIONS),
    );

    let best = plan.routes().min_by(|a, b| a.total.total_cmp(&b.total)).unwrap();
    assert_eq!(
        text(best),
        [
            "CC(C)(C)OC(=O)NCC1CCN(C(=O)c2ccc(F)cc2)CC1>>NCC1CCN(C(=O)c2ccc(F)cc2)CC1",
            "CC(C)(C)OC(=O)NCC1CCNCC1.O=C(O)c1ccc(F)cc1>>CC(C)(C)OC(=O)NCC1CCN(C(=O)c2ccc(F)cc2)CC1",
        ]
    );
    let unguarded = plan.routes().flat_map(text).find(|step| step.starts_with("NCC1CCNCC1."));
    assert_eq!(unguarded, None);
}
