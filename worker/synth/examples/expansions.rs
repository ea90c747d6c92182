//! Measures the throughput of many molecules: expansions, and small searches if there is a stock, per second of one
//! core.
//!
//! `expansions MODEL_DIR TARGETS.csv [STOCK.csv[.gz]] [--limit 50] [--seconds 0.05] [--count 1000] [--cores 1]`
//!
//! The column `smiles` of the targets and of the stock is read. Seconds are the process' CPU time, so that other load
//! on the machine does not count.

#![allow(clippy::print_stdout, reason = "a program that reports")]

use std::error::Error;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use catalogue::{BlockRow, Offer, StockView};
use chem::Molecule;
use flate2::read::MultiGzDecoder;
use synth::{
    BatchLimits, Check, Constraints, GroupOrder, Planner, PlannerSettings, RetroModel, SearchUrgency, Stop,
    TargetPurchase, Task,
};

/// The same allocator as in the worker.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let named = arguments.iter().position(|argument| argument.starts_with("--")).unwrap_or(arguments.len());
    let (files, options) = arguments.split_at(named);
    let [model, targets, stock @ ..] = files else {
        return Err(
            "usage: expansions MODEL_DIR TARGETS.csv [STOCK.csv[.gz]] [--limit N] [--seconds S]".into()
        );
    };
    let option = |name: &str| options.iter().position(|it| it == name).and_then(|at| options.get(at + 1));
    let number = |name: &str, default: usize| option(name).map_or(Ok(default), |text| text.parse());
    let (limit, count) = (number("--limit", 50)?, number("--count", 1000)?);
    let time = Duration::from_secs_f64(option("--seconds").map_or(Ok(0.05), |text| text.parse())?);
    let settings = PlannerSettings {
        cores: number("--cores", 1)?,
        cache_bytes: 256 << 20,
        ..PlannerSettings::default()
    };

    let model = Arc::new(RetroModel::load(Path::new(model))?);
    let molecules: Vec<Molecule> = read(targets)?.into_iter().take(count).collect();
    println!("{} molecules on {} cores", molecules.len(), settings.cores);
    for (check, name) in [(Check::Rules, "held against the rules"), (Check::Forwards, "run forwards")] {
        let planner = Planner::new(Arc::clone(&model), settings);
        let (seconds, sets) = measured(|| {
            let work = |molecule: &Molecule, budget: &synth::Budget| {
                planner.precursor_sets(molecule, (limit, check), budget).map(|sets| sets.len())
            };
            planner.each(&molecules, &allowance(), work).each.into_iter().flatten().sum::<usize>()
        });
        println!(
            "expansions {name}: {:.0} molecules a second of a core, {:.1} sets of at most {limit} each",
            molecules.len() as f64 / seconds,
            sets as f64 / molecules.len() as f64
        );
    }
    let [stock] = stock else { return Ok(()) };
    let blocks = read(stock)?
        .into_iter()
        .zip(0..)
        .map(|(molecule, id)| (BlockRow::of(id, &molecule), vec![Offer::of(1).at(1.0).within(5.0)]));
    let catalogue = StockView::in_memory(blocks);
    let planner = Planner::new(model, settings);
    let (seconds, solved) = measured(|| {
        let work = |molecule: &Molecule, budget: &synth::Budget| {
            Some(planner.plan(&catalogue, &task(molecule), &budget.within(time)).solved())
        };
        planner
            .each(&molecules, &allowance(), work)
            .each
            .into_iter()
            .flatten()
            .filter(|solved| *solved)
            .count()
    });
    println!(
        "searches of {} ms: {:.0} molecules a second of a core, {solved} solved with {} building blocks",
        time.as_millis(),
        molecules.len() as f64 / seconds,
        catalogue.snapshot().len()
    );
    Ok(())
}

fn task(molecule: &Molecule) -> Task {
    Task {
        target: molecule.clone(),
        max_depth: 5,
        stop: Stop::FirstRoute,
        target_purchase: TargetPurchase::Allow,
        max_groups: 1,
        max_group_size: 1,
        group_order: GroupOrder::Total,
        constraints: Constraints::default(),
    }
}

fn allowance() -> BatchLimits {
    let latest = Instant::now() + Duration::from_secs(3600);
    BatchLimits { urgency: SearchUrgency::Bulk, latest, cancelled: Arc::default() }
}

/// Returns the result of `work` and the CPU time that the process took for it.
fn measured<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let before = cpu_seconds();
    let done = work();
    (cpu_seconds() - before, done)
}

/// Returns the CPU seconds of the process, user and system, as Linux counts them: in hundredths.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// Reads the molecules of a table's column `smiles`; invalid ones are skipped.
fn read(path: &str) -> Result<Vec<Molecule>, Box<dyn Error>> {
    let file = File::open(path)?;
    let table: Box<dyn Read> =
        if path.ends_with(".gz") { Box::new(MultiGzDecoder::new(file)) } else { Box::new(file) };
    let mut reader = csv::Reader::from_reader(table);
    let at = reader.headers()?.iter().position(|name| name == "smiles").ok_or("no column `smiles`")?;
    let mut molecules = Vec::new();
    for record in reader.records() {
        molecules.extend(record?.get(at).and_then(|smiles| smiles.parse().ok()));
    }
    Ok(molecules)
}
