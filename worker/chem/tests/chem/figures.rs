//! Measurements of CPU time; run with `cargo nextest run --release -p chem --run-ignored only figures --no-capture`.

use crate::shared::vectors;
use chem::{Molecule, PreparedMolecule, Template};

#[test]
#[ignore = "prints figures"]
fn figures() {
    let Some(lines) = vectors("molecules.tsv.gz") else { return };
    let smiles: Vec<_> = lines[1..].iter().map(|line| line.split('\t').next().unwrap()).collect();
    let started = cpu_seconds();
    let molecules: Vec<Molecule> = smiles.iter().map(|smiles| smiles.parse().unwrap()).collect();
    per("parse and canonical form", started, smiles.len());
    let started = cpu_seconds();
    let bits: u32 = molecules.iter().map(|molecule| molecule.fingerprint().count()).sum();
    per("fingerprint", started, smiles.len());
    println!("({bits} bits)");
    let canonical: Vec<String> = molecules.iter().map(Molecule::canonical_smiles).collect();
    let started = cpu_seconds();
    let molecules: Vec<Molecule> =
        canonical.iter().map(|smiles| Molecule::trusted(smiles).unwrap()).collect();
    per("reading what we wrote", started, smiles.len());
    let started = cpu_seconds();
    let keys: std::collections::HashSet<_> = molecules.iter().map(Molecule::key).collect();
    per("key", started, smiles.len());
    println!("({} keys)", keys.len());
    let started = cpu_seconds();
    let bits: u32 = molecules.iter().map(|molecule| molecule.fingerprint().count()).sum();
    per("fingerprint of that", started, smiles.len());
    println!("({bits} bits)");

    let (Some(templates), Some(products)) =
        (vectors("cross_templates.txt.gz"), vectors("cross_products.smi.gz"))
    else {
        return;
    };
    let started = cpu_seconds();
    let parsed: Vec<_> = templates.iter().map(|template| Template::parse(template).unwrap()).collect();
    per("template parse", started, parsed.len());
    let molecules: Vec<Molecule> = products.iter().take(200).map(|smiles| smiles.parse().unwrap()).collect();
    let started = cpu_seconds();
    let prepared: Vec<_> = molecules.iter().map(PreparedMolecule::new).collect();
    per("preparing a molecule", started, prepared.len());
    for round in ["first", "second"] {
        let started = cpu_seconds();
        let (mut hits, mut outcomes) = (0, 0);
        for product in &prepared {
            for template in &parsed {
                let found = template.apply(product).len();
                hits += usize::from(found > 0);
                outcomes += found;
            }
        }
        per(&format!("{round} application, a pair"), started, prepared.len() * parsed.len());
        per(&format!("{round} application, a hit"), started, hits);
        println!("({hits} hits, {outcomes} outcomes)");
    }

    let Some(lines) = vectors("own_template.tsv.gz") else { return };
    let cases: Vec<_> = lines[1..]
        .iter()
        .map(|line| {
            let fields: Vec<_> = line.split('\t').collect();
            let product: Molecule = fields[1].parse().unwrap();
            let reactants: Vec<Molecule> =
                fields[0].split('.').map(|smiles| smiles.parse().unwrap()).collect();
            (Template::parse(fields[2]).unwrap(), PreparedMolecule::new(&product), reactants)
        })
        .collect();
    for round in ["first", "second"] {
        let started = cpu_seconds();
        let outcomes: usize = cases.iter().map(|(template, product, _)| template.apply(product).len()).sum();
        per(&format!("{round} application of own template"), started, cases.len());
        println!("({outcomes} outcomes)");
        let started = cpu_seconds();
        let products: usize =
            cases.iter().map(|(template, _, reactants)| template.forward(reactants).len()).sum();
        per(&format!("{round} forward run of own template"), started, cases.len());
        println!("({products} products)");
    }
}

fn per(what: &str, started: f64, count: usize) {
    println!("{what}: {:.3} µs", (cpu_seconds() - started) * 1e6 / count as f64);
}

/// Returns this thread's CPU time, which unlike wall time does not depend on the load of the machine.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e9
}

#[test]
#[ignore = "reads a large file"]
fn keys_distinguish_every_molecule_of_a_file() {
    let Some(file) = std::env::var_os("RETORT_MOLECULES") else { return };
    let text = std::fs::read_to_string(file).unwrap();
    let molecules: Vec<Molecule> = text.lines().filter_map(|smiles| smiles.parse().ok()).collect();
    let forms: std::collections::HashSet<&str> = molecules.iter().map(Molecule::as_canonical).collect();
    let keys: std::collections::HashSet<_> = molecules.iter().map(Molecule::key).collect();
    println!("{} molecules, {} canonical forms, {} keys", molecules.len(), forms.len(), keys.len());
    assert_eq!(forms.len(), keys.len());
}
