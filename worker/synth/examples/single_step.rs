//! Measures single steps: the rank of the recorded precursors among the model's proposals.
//!
//! `single_step MODEL_DIR [ROWS_OUT] < REACTIONS` reads `product TAB precursors` a line. It prints the shares of all
//! reactions whose precursors are among the first 1, 3, 5, 10, 20 and 50 proposed sets, ordered by the sum of the
//! probabilities of the templates and sites that propose them. `ROWS_OUT` gets the rank of each line, 0 for none.

#![allow(clippy::print_stdout, reason = "a program that reports")]

use std::error::Error;
use std::fs;
use std::io::stdin;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use chem::{Molecule, MoleculeKey};
use synth::{RetroModel, proposals};

const TOP: [usize; 6] = [1, 3, 5, 10, 20, 50];

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("usage: single_step MODEL_DIR [ROWS_OUT] < REACTIONS")?;
    let model = Arc::new(RetroModel::load(Path::new(&folder))?);
    let lines: Vec<String> = stdin().lines().collect::<Result<_, _>>()?;
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let share = lines.len().div_ceil(threads).max(1);
    let ranks: Vec<usize> = thread::scope(|scope| {
        let model = &model;
        let run = |part| {
            let rank_of = move |line: &String| rank(model, line).unwrap_or(0);
            scope.spawn(move || <[String]>::iter(part).map(rank_of).collect::<Vec<usize>>())
        };
        let running: Vec<_> = lines.chunks(share).map(run).collect();
        running.into_iter().flat_map(|part| part.join().expect("a part does not panic")).collect()
    });
    for top in TOP {
        let found = ranks.iter().filter(|&&rank| (1..=top).contains(&rank)).count() as f64;
        let (share, count) = (found / ranks.len() as f64, ranks.len() as f64);
        let error = 1.96 * (share * (1.0 - share) / count).sqrt();
        println!("top-{top}: {share:.4} ± {error:.4} of {count} reactions");
    }
    if let Some(path) = arguments.next() {
        fs::write(path, ranks.iter().map(|rank| format!("{rank}\n")).collect::<String>())?;
    }
    Ok(())
}

/// Returns the rank of a line's precursors, from 1; `None` if they are not proposed or the line cannot be parsed.
fn rank(model: &Arc<RetroModel>, line: &str) -> Option<usize> {
    let mut columns = line.split('\t');
    let product: Molecule = columns.next()?.parse().ok()?;
    let precursors: Result<Vec<Molecule>, _> = columns.next()?.split('.').map(str::parse).collect();
    let mut wanted: Vec<MoleculeKey> = precursors.ok()?.iter().map(Molecule::key).collect();
    wanted.sort_unstable();
    let found = proposals(model, &product, TOP[TOP.len() - 1]);
    found
        .iter()
        .position(|proposal| proposal.precursors.iter().map(Molecule::key).eq(wanted.iter().copied()))
        .map(|at| at + 1)
}
