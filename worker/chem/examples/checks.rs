//! Measures the time to parse, sanitise and canonicalise SMILES: `checks [FILE] [ROUNDS]`.
//!
//! Reads one string per line from FILE or standard input, as the example `strings` of worker/generator writes them.
//! Times them with this crate and with chematic alone, alternately on one thread, so that other load slows both
//! equally. Prints a table on standard error and a JSON line on standard output.

use std::{error::Error, io::Read, time::Instant};

use chem::{Limits, Molecule};

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "the program's purpose")]
fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut text = String::new();
    match arguments.next().as_deref() {
        None | Some("-") => std::io::stdin().read_to_string(&mut text)?,
        Some(path) => std::fs::File::open(path)?.read_to_string(&mut text)?,
    };
    let rounds: u32 = arguments.next().map_or(Ok(3), |rounds| rounds.parse())?;
    let strings: Vec<&str> = text.lines().collect();
    if strings.is_empty() {
        return Err("no strings".into());
    }

    let (mut here, mut alone) = (f64::MAX, f64::MAX);
    for _ in 0..rounds {
        let (seconds, found) = timed(&strings, |string| {
            Molecule::parse(string, Limits::TARGET).ok().map(|molecule| molecule.canonical_smiles())
        });
        here = here.min(seconds);
        let (seconds, expected) = timed(&strings, |string| {
            let graph = chematic::smiles::parse(string).ok()?;
            chematic::smiles::rdkit_canonical_smiles(&graph).ok()
        });
        alone = alone.min(seconds);
        let differ = found.iter().zip(&expected).filter(|(found, expected)| found != expected);
        // chematic accepts some strings that are not well-formed SMILES.
        let count = differ.filter(|(found, _)| found.is_some()).count();
        if count > 0 {
            return Err(format!("{count} strings come out otherwise than with chematic").into());
        }
    }

    let count = strings.len() as f64;
    eprintln!(
        "{:.0} checks/s on one thread, {:.0} with chematic alone: {:.2} times as many",
        count / here,
        count / alone,
        alone / here
    );
    println!(
        "{{\"strings\":{count},\"checks_per_second\":{:.0},\"chematic_per_second\":{:.0},\"ratio\":{:.2}}}",
        count / here,
        count / alone,
        alone / here
    );
    Ok(())
}

/// Returns the seconds taken for all strings, and the results.
fn timed(strings: &[&str], work: impl Fn(&str) -> Option<String>) -> (f64, Vec<Option<String>>) {
    let started = Instant::now();
    let results = strings.iter().map(|string| work(string)).collect();
    (started.elapsed().as_secs_f64(), results)
}
