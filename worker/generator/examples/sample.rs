//! Measures a model pack: `sample PACK [COUNT] [SEED] [THREADS]`.
//!
//! For each precision: raw strings a second, their validity and the uniqueness of the valid ones, then
//! how long a sample of COUNT molecules takes. Prints a table on standard error and JSON lines on
//! standard output.

use std::{
    collections::HashSet,
    error::Error,
    num::NonZeroUsize,
    path::Path,
    time::{Duration, Instant},
};

use chem::{Limits, Molecule};
use generator::{Budget, Device, ModelPack, Precision, Sampler};
use serde_json::{Value, json};

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "the program's purpose")]
fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let pack = arguments.first().ok_or("usage: sample PACK [COUNT] [SEED] [THREADS]")?;
    let number = |n: usize, default: u64| arguments.get(n).map_or(Ok(default), |text| text.parse());
    let (count, seed) = (usize::try_from(number(1, 10_000)?)?, number(2, 1)?);
    let pack = ModelPack::load(Path::new(pack))?;
    let cores = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let all = NonZeroUsize::new(usize::try_from(number(3, 0)?)?).unwrap_or(cores);

    for precision in [Precision::Single, Precision::Bytes] {
        let mut threads = vec![NonZeroUsize::MIN, all];
        threads.dedup();
        for threads in threads {
            let sampler = Sampler::new(&pack, Device::Cpu)?.with_precision(precision)?.with_threads(threads);
            let mut line = measured(&sampler, count, seed)?;
            line["model"] = json!(pack.id);
            line["precision"] = json!(format!("{precision:?}").to_lowercase());
            line["threads"] = json!(threads);
            if let Some(rates) = sampler.byte_rates(Duration::from_millis(300)) {
                line["product_operations_per_second"] = json!(rates.product);
                line["machine_operations_per_second"] = json!(rates.machine);
                let (product, machine) = (rates.product / 1e9, rates.machine / 1e9);
                eprintln!(
                    "{:12} products {product:.0} of the machine's {machine:.0} billion operations/s",
                    pack.id
                );
            }
            println!("{line}");
            eprintln!(
                "{:12} {:7} x {threads}: {:6.0} strings/s, {:5.1} % valid, {:.2} % of them unique; \
                 {:6.0} checks/s a thread; {:6.0} molecules/s",
                pack.id,
                line["precision"].as_str().unwrap_or_default(),
                line["strings_per_second"].as_f64().unwrap_or_default(),
                100.0 * line["validity"].as_f64().unwrap_or_default(),
                100.0 * line["uniqueness"].as_f64().unwrap_or_default(),
                line["checks_per_second"].as_f64().unwrap_or_default(),
                line["molecules_per_second"].as_f64().unwrap_or_default(),
            );
        }
    }
    Ok(())
}

fn measured(sampler: &Sampler, count: usize, seed: u64) -> Result<Value, Box<dyn Error>> {
    let begun = Instant::now();
    let raw = sampler.raw(count, seed)?;
    let raw_seconds = begun.elapsed().as_secs_f64();

    let begun = Instant::now();
    let valid: Vec<String> = raw
        .iter()
        .filter_map(|text| Molecule::parse(text, Limits::TARGET).ok())
        .map(|molecule| molecule.canonical_smiles())
        .collect();
    let check_seconds = begun.elapsed().as_secs_f64();
    let distinct = valid.iter().collect::<HashSet<_>>().len();

    let begun = Instant::now();
    let sample = sampler.sample(count, seed, &Budget::unlimited())?;
    let sample_seconds = begun.elapsed().as_secs_f64();
    Ok(json!({
        "strings": count,
        "strings_per_second": count as f64 / raw_seconds,
        "validity": valid.len() as f64 / count as f64,
        "uniqueness": distinct as f64 / valid.len() as f64,
        "checks_per_second": count as f64 / check_seconds,
        "molecules_per_second": sample.len() as f64 / sample_seconds,
        "sample_seconds": sample_seconds,
    }))
}
