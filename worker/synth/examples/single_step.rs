//! Measures single steps: the rank of the recorded precursors among the model's proposals.
//!
//! `single_step MODEL_DIR [ROWS_OUT [SETS_OUT]] < REACTIONS` reads `product TAB precursors` a line. It prints the shares of
//! all reactions whose precursors are among the first 1, 3, 5, 10, 20 and 50 proposed sets. `ROWS_OUT` gets the rank of
//! each line, 0 for none. `SETS_OUT` gets a line for each set: the number of the reaction, 1 for its recorded
//! precursors, else 0, and what the set is ordered by, as `fit_order.py` reads it.

#![allow(clippy::print_stdout, reason = "a program that reports")]

use std::error::Error;
use std::fs;
use std::io::stdin;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use chem::{Molecule, MoleculeKey};
use synth::{Precursors, RetroModel, SetFeatures, proposals};

const TOP: [usize; 6] = [1, 3, 5, 10, 20, 50];

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("usage: single_step MODEL_DIR [ROWS_OUT] < REACTIONS")?;
    let model = Arc::new(RetroModel::load(Path::new(&folder))?);
    let lines: Vec<String> = stdin().lines().collect::<Result<_, _>>()?;
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let share = lines.len().div_ceil(threads).max(1);
    let measured: Vec<Measured> = thread::scope(|scope| {
        let model = &model;
        let run =
            |part| scope.spawn(move || <[String]>::iter(part).map(|line| measure(model, line)).collect());
        let running: Vec<thread::ScopedJoinHandle<'_, Vec<Measured>>> =
            lines.chunks(share).map(run).collect();
        running.into_iter().flat_map(|part| part.join().expect("a part does not panic")).collect()
    });
    let ranks: Vec<usize> = measured.iter().map(|measured| measured.rank.unwrap_or(0)).collect();
    for top in TOP {
        let found = ranks.iter().filter(|&&rank| (1..=top).contains(&rank)).count() as f64;
        let (share, count) = (found / ranks.len() as f64, ranks.len() as f64);
        let error = 1.96 * (share * (1.0 - share) / count).sqrt();
        println!("top-{top}: {share:.4} ± {error:.4} of {count} reactions");
    }
    if let Some(path) = arguments.next() {
        fs::write(path, ranks.iter().map(|rank| format!("{rank}\n")).collect::<String>())?;
    }
    if let Some(path) = arguments.next() {
        let lines = measured
            .iter()
            .enumerate()
            .flat_map(|(at, measured)| measured.sets.iter().map(move |set| format!("{at}\t{set}\n")));
        fs::write(path, lines.collect::<String>())?;
    }
    Ok(())
}

/// Measurement of one line.
#[derive(Default)]
struct Measured {
    /// Rank of the recorded precursors, from 1; `None` if they are not proposed or the line cannot be parsed.
    rank: Option<usize>,
    /// 1 or 0 and the features of each set.
    sets: Vec<String>,
}

fn measure(model: &Arc<RetroModel>, line: &str) -> Measured {
    let mut columns = line.split('\t');
    let product = columns.next().and_then(|product| product.parse::<Molecule>().ok());
    let precursors = columns.next().map(|precursors| precursors.split('.').map(str::parse).collect());
    let (Some(product), Some(Ok::<Vec<Molecule>, _>(precursors))) = (product, precursors) else {
        return Measured::default();
    };
    let mut wanted: Vec<MoleculeKey> = precursors.iter().map(Molecule::key).collect();
    wanted.sort_unstable();
    let found = proposals(model, &product, TOP[TOP.len() - 1]);
    let is_wanted = |set: &Precursors| set.precursors.iter().map(Molecule::key).eq(wanted.iter().copied());
    let set = |set: &Precursors| {
        let SetFeatures { probability, records, sound, reactions, unrecorded, environment } = set.features?;
        let is_wanted = u8::from(is_wanted(set));
        Some(format!(
            "{is_wanted}\t{probability:.4}\t{records:.4}\t{sound}\t{reactions:.4}\t{unrecorded}\t{environment:.4}"
        ))
    };
    Measured {
        rank: found.iter().position(is_wanted).map(|at| at + 1),
        sets: found.iter().filter_map(set).collect(),
    }
}
