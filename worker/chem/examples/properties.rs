//! Compares properties and alerts with RDKit's and measures them: `properties VECTORS`.
//!
//! VECTORS is a file of `worker/chem/tests/data/make_properties.py`. For each column, prints the number of molecules,
//! the number of differences, the first of them, and the microseconds that a molecule takes on one thread.

use std::{error::Error, time::Instant};

use chem::{AlertSet, Molecule, Properties, Property};

#[expect(clippy::print_stdout, reason = "the program's purpose")]
fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: properties VECTORS")?;
    let text = std::fs::read_to_string(path)?;
    let rows: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split('\t').collect()).collect();
    // As in a sample: canonical strings, already checked.
    let mut molecules = Vec::with_capacity(rows.len());
    for row in &rows {
        let canonical = row[0].parse::<Molecule>().map_err(|error| format!("{}: {error}", row[0]))?;
        molecules.push(Molecule::trusted(canonical.as_canonical())?);
    }
    let print = |name: &str, differences: &[String], seconds: f64| {
        let each = seconds * 1e6 / rows.len() as f64;
        println!("{name}: {} of {} differ, {each:.2} µs", differences.len(), rows.len());
        differences.iter().take(5).for_each(|difference| println!("    {difference}"));
    };
    for (column, property) in (1..).zip(Property::ALL) {
        let _ = property.of(&molecules[0]);
        let started = Instant::now();
        let values: Vec<f64> = molecules.iter().map(|molecule| property.of(molecule)).collect();
        let seconds = started.elapsed().as_secs_f64();
        let mut differences = Vec::new();
        for (row, value) in rows.iter().zip(values) {
            let expected: f64 = row[column].parse()?;
            if (value - expected).abs() > 1e-9 * expected.abs().max(1.0) {
                differences.push(format!("{} {value} {expected}", row[0]));
            }
        }
        print(property.name(), &differences, seconds);
    }
    for (column, set) in (1 + Property::ALL.len()..).zip(AlertSet::ALL) {
        let _ = set.first_match(&molecules[0]);
        let started = Instant::now();
        let names: Vec<_> = molecules.iter().map(|molecule| set.first_match(molecule)).collect();
        let seconds = started.elapsed().as_secs_f64();
        let differences: Vec<String> = rows
            .iter()
            .zip(names)
            .filter(|(row, name)| name.unwrap_or_default() != row[column])
            .map(|(row, name)| format!("{} {name:?} {}", row[0], row[column]))
            .collect();
        print(set.name(), &differences, seconds);
    }
    let started = Instant::now();
    for molecule in &molecules {
        let properties = Properties::new(molecule);
        let _ = Property::ALL.map(|property| properties.value(property));
    }
    print("all properties together", &[], started.elapsed().as_secs_f64());
    let started = Instant::now();
    for molecule in &molecules {
        let _ = AlertSet::first_matches(&AlertSet::ALL, molecule);
    }
    print("all alerts together", &[], started.elapsed().as_secs_f64());
    Ok(())
}
