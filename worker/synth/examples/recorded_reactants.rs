//! Counts recorded reactants and writes them as a model reads them.
//!
//! `recorded_reactants OUT < REACTIONS` reads `product TAB precursors` a line and writes `reactants.safetensors`. Lines that
//! cannot be parsed are counted and left out.

#![allow(clippy::print_stdout, reason = "a program that reports")]

use std::error::Error;
use std::io::stdin;
use std::path::Path;

use chem::Molecule;
use synth::ReactantCounts;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: recorded_reactants OUT < REACTIONS")?;
    let mut counts = ReactantCounts::default();
    let (mut reactions, mut unreadable) = (0, 0);
    for line in stdin().lines() {
        let line = line?;
        let precursors = line.split('\t').nth(1).unwrap_or_default().split('.').map(str::parse);
        match precursors.collect::<Result<Vec<Molecule>, _>>() {
            Ok(molecules) => {
                reactions += 1;
                molecules.into_iter().for_each(|molecule| counts.add(molecule));
            }
            Err(_) => unreadable += 1,
        }
    }
    let reactants = counts.write(Path::new(&path))?;
    println!("{reactants} reactants of {reactions} reactions; {unreadable} lines unreadable");
    Ok(())
}
