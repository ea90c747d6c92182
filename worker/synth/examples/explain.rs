//! Explains what the model computes for single steps: the templates that propose them, the results, and the faults.
//!
//! `explain MODEL_DIR < REACTIONS`, a reaction `precursor.precursor>>product` a line; a line's other columns are
//! ignored.

#![allow(clippy::print_stdout, reason = "a program that reports")]

use std::error::Error;
use std::io::stdin;
use std::path::Path;

use chem::Molecule;
use synth::{ProposedBy, RetroModel, explain};

/// The same allocator as in the worker.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("usage: explain MODEL_DIR < REACTIONS")?;
    let model = RetroModel::load(Path::new(&folder))?;
    for line in stdin().lines() {
        let line = line?;
        let Some((precursors, product)) = line.split('\t').find_map(|column| column.split_once(">>")) else {
            continue;
        };
        println!("{precursors}>>{product}");
        let names: Vec<&str> = precursors.split('.').collect();
        let precursors: Vec<Molecule> =
            names.iter().map(|smiles| smiles.parse()).collect::<Result<_, _>>()?;
        for found in explain(&model, &product.parse()?, &precursors) {
            let verdict = found.fault.map_or_else(|| "stands".to_owned(), |fault| fault.to_string());
            let [alone, among] = found.plausibility;
            println!(
                "  {}\t{verdict}\t{alone:.4}\t{among:.4}\t{}\t{}\t{}\t{}",
                found.template,
                found.class.name,
                found.events,
                conditions(&found, &names),
                found.surroundings.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
            );
        }
    }
    Ok(())
}

/// Names the agents of a step with their numbers of recorded reactions.
fn conditions(found: &ProposedBy, precursors: &[&str]) -> String {
    let agents = found.records.conditions(found.class, precursors);
    agents.iter().map(|(_, name, count)| format!("{name} {count}")).collect::<Vec<_>>().join(", ")
}
