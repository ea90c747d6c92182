//! Prints every SMILES of standard input with its tautomer key, its skeleton and its parent, and measures the time of
//! the keys.
//!
//! `cargo run --release -p chem --example tautomer_keys < SMILES > KEYS`; `tests/data/compare_inchi.py` compares the
//! keys with InChI's.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for a person")]

use std::io::{self, BufRead as _, Write as _};
use std::time::{Duration, Instant};

use chem::Molecule;

fn main() -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut molecules = 0_u32;
    let (mut for_keys, mut for_skeletons, mut for_plain) = (Duration::ZERO, Duration::ZERO, Duration::ZERO);
    for line in io::stdin().lock().lines() {
        let line = line?;
        let Ok(molecule) = line.parse::<Molecule>() else { continue };
        let Ok(read) = Molecule::trusted(molecule.as_canonical()) else { continue };
        let start = Instant::now();
        let skeleton = read.skeleton();
        for_skeletons += start.elapsed();
        let start = Instant::now();
        std::hint::black_box(read.key());
        for_plain += start.elapsed();
        let start = Instant::now();
        let key = read.tautomer_key();
        for_keys += start.elapsed();
        molecules += 1;
        let parent = molecule.parent().molecule;
        writeln!(out, "{}\t{key:?}\t{skeleton:?}\t{}", molecule.as_canonical(), parent.as_canonical())?;
    }
    out.flush()?;
    let each = |all: Duration| all / molecules.max(1);
    eprintln!(
        "{molecules} molecules; each {:?} for its key, {:?} for its tautomer key, \
         {:?} for its skeleton",
        each(for_plain),
        each(for_keys),
        each(for_skeletons)
    );
    Ok(())
}
