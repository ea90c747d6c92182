//! Plans routes to a list of targets, several at once, and reports the memory used against the allowed maximum.
//!
//! `memory MODEL_DIR STOCK.csv TARGETS.csv [--seconds 4] [--at-once 2] [--rounds 1] [--cache-mb 256] [--memory-mb
//! 512]`
//!
//! Each search runs on its own thread, as in a worker. Each search prints a line: bytes in use by the allocator's
//! count, the process' current and maximum resident memory, and the bytes counted by the search and the cache. The
//! last line compares both measurements with the bound: memory before the first search, plus the cache, plus one
//! search's memory for each concurrent search.

#![allow(clippy::print_stdout, reason = "a program that reports")]

use std::error::Error;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use catalogue::{BlockRow, Offer, StockView};
use chem::Molecule;
use synth::{
    Budget, Constraints, GroupOrder, Planner, PlannerSettings, RetroModel, Stop, TargetPurchase, Task,
};
use test_support::CountingAllocator;

#[global_allocator]
static MEMORY: CountingAllocator = CountingAllocator::new();

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [model, stock, targets, options @ ..] = arguments.as_slice() else {
        return Err("usage: memory MODEL_DIR STOCK.csv TARGETS.csv [--seconds S] [--at-once N]".into());
    };
    let number = |name: &str, default: usize| {
        let at = options.iter().position(|option| option == name);
        at.and_then(|at| options.get(at + 1)).map_or(Ok(default), |text| text.parse())
    };
    let seconds = Duration::from_secs(number("--seconds", 4)? as u64);
    let (at_once, rounds) = (number("--at-once", 2)?, number("--rounds", 1)?);
    let settings = PlannerSettings {
        cache_bytes: number("--cache-mb", 256)? << 20,
        memory_bytes: number("--memory-mb", 512)? << 20,
        ..PlannerSettings::default()
    };

    let model = Arc::new(RetroModel::load(Path::new(model))?);
    let blocks = molecules(stock)?.into_iter().zip(0..).map(row);
    let (catalogue, targets) = (StockView::in_memory(blocks), molecules(targets)?);
    let planner = Planner::new(model, settings);
    let (base, resident) = (MEMORY.forget(), status("VmRSS:"));
    println!("before the first search {} MB in use, {} MB resident", base >> 20, resident >> 20);
    println!("in_use_mb\tresident_mb\tmost_resident_mb\tcounted_mb\tcached_mb\troutes");

    let (next, peaks) = (AtomicUsize::new(0), Mutex::new(0_u64));
    thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                while let Some(target) = {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    (at < rounds * targets.len()).then(|| &targets[at % targets.len()])
                } {
                    let search = || search(&planner, &catalogue, target, seconds);
                    let most =
                        thread::scope(|own| own.spawn(search).join().expect("a search does not panic"));
                    let mut peaks = peaks.lock().expect("nobody panics with it");
                    *peaks = most.max(*peaks);
                }
            });
        }
    });
    let bound = settings.cache_bytes + at_once * settings.memory_bytes;
    println!("the largest search counted {} MB", *peaks.lock().expect("nobody panics with it") >> 20);
    println!(
        "beside what was there before: {} MB in use at most, {} MB resident at most, {} MB bound",
        (MEMORY.most() - base) >> 20,
        (status("VmHWM:").max(resident) - resident) >> 20,
        bound >> 20
    );
    Ok(())
}

/// Runs a search and returns the maximum of the bytes that it counted.
fn search(planner: &Planner, catalogue: &StockView, target: &Molecule, seconds: Duration) -> u64 {
    let task = Task {
        target: target.clone(),
        max_depth: 10,
        stop: Stop::Budget,
        target_purchase: TargetPurchase::Mask,
        max_groups: 10_000,
        max_group_size: 10_000,
        group_order: GroupOrder::Total,
        constraints: Constraints::default(),
    };
    let budget = Budget::until(Instant::now() + seconds, Arc::new(AtomicBool::new(false)));
    let plan = planner.plan(catalogue, &task, &budget);
    println!(
        "{}\t{}\t{}\t{}\t{}\t{}",
        MEMORY.in_use() >> 20,
        status("VmRSS:") >> 20,
        status("VmHWM:") >> 20,
        plan.counts.memory_bytes >> 20,
        planner.cached_bytes() >> 20,
        plan.routes().count()
    );
    plan.counts.memory_bytes
}

fn molecules(path: &str) -> Result<Vec<Molecule>, Box<dyn Error>> {
    let mut reader = csv::Reader::from_path(path)?;
    let at = reader.headers()?.iter().position(|name| name == "smiles").ok_or("needs the column smiles")?;
    let records: Vec<_> = reader.records().collect::<Result<_, _>>()?;
    Ok(records.iter().filter_map(|record| record[at].parse().ok()).collect())
}

fn row((molecule, id): (Molecule, i32)) -> (BlockRow, Vec<Offer>) {
    (BlockRow::of(id, &molecule), vec![Offer::of(1).at(1.0).within(5.0)])
}

/// Returns a line of `/proc/self/status` in bytes; Linux only, else 0.
fn status(name: &str) -> usize {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
    let kilobytes: usize = line.trim().trim_end_matches(" kB").parse().unwrap_or(0);
    kilobytes << 10
}
