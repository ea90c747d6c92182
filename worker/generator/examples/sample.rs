//! Measures a model pack: `sample PACK [COUNT] [SEED] [THREADS] [--device DEVICE]`.
//!
//! For each precision, it measures raw strings per second, their validity, the uniqueness of the valid ones, and the
//! time of a sample of COUNT molecules. With one thread it also measures unconstrained strings. Prints a table on
//! standard error and JSON lines on standard output. On a GPU (`cuda:0`) that is one line, with all threads; COUNT
//! should be some hundred thousand.

use std::{
    collections::HashSet,
    error::Error,
    num::NonZeroUsize,
    path::Path,
    time::{Duration, Instant},
};

use chem::{Limits, Molecule};
use generator::{ByteRates, Device, DeviceChoice, ModelPack, Precision, SampleBudget, Sampler};
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let choice = match arguments.iter().position(|argument| argument == "--device") {
        Some(n) => arguments.drain(n..).nth(1).ok_or("--device needs a device")?.parse()?,
        None => DeviceChoice::Cpu,
    };
    let pack = arguments.first().ok_or("usage: sample PACK [COUNT] [SEED] [THREADS] [--device DEVICE]")?;
    let number = |n: usize, default: u64| arguments.get(n).map_or(Ok(default), |text| text.parse());
    let (count, seed) = (usize::try_from(number(1, 10_000)?)?, number(2, 1)?);
    let pack = ModelPack::load(Path::new(pack))?;
    let cores = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let all = NonZeroUsize::new(usize::try_from(number(3, 0)?)?).unwrap_or(cores);

    let device = choice.open()?;
    if !device.is_cpu() {
        let sampler = Sampler::new(&pack, device.clone())?.with_threads(all);
        // Warm-up: the first strings load and compile things once, which is not to be measured.
        sampler.raw(count.min(10_000), seed)?;
        return report(&sampler, &DeviceChoice::of(&device).to_string(), all, count, seed);
    }
    for precision in [Precision::Single, Precision::Bytes] {
        let mut threads = vec![NonZeroUsize::MIN, all];
        threads.dedup();
        let name = format!("{precision:?}").to_lowercase();
        let sampler = |pack, threads| {
            Ok::<_, Box<dyn Error>>(
                Sampler::new(pack, Device::Cpu)?.with_precision(precision)?.with_threads(threads),
            )
        };
        for threads in threads {
            report(&sampler(&pack, threads)?, &name, threads, count, seed)?;
        }
        let mut free = pack.clone();
        free.generation.constrained = false;
        report(&sampler(&free, NonZeroUsize::MIN)?, &format!("{name}-free"), NonZeroUsize::MIN, count, seed)?;
    }
    Ok(())
}

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "the program's purpose")]
fn report(
    sampler: &Sampler,
    precision: &str,
    threads: NonZeroUsize,
    count: usize,
    seed: u64,
) -> Result<(), Box<dyn Error>> {
    let id = &sampler.pack().id;
    let mut line = measured(sampler, count, seed)?;
    line["model"] = json!(id);
    line["precision"] = json!(precision);
    line["threads"] = json!(threads);
    let rates = sampler.byte_rates(Duration::from_millis(300));
    for rate in &rates {
        let (product, machine) = (rate.product / 1e9, rate.machine / 1e9);
        let instructions = rate.instructions;
        eprintln!(
            "{id:12} {instructions} products {product:.0} of the machine's {machine:.0} billion operations/s"
        );
    }
    let by_instructions = |rate: &ByteRates| {
        let rates = json!({ "product": rate.product, "machine": rate.machine });
        (rate.instructions.to_owned(), rates)
    };
    line["operations_per_second"] = Value::Object(rates.iter().map(by_instructions).collect());
    println!("{line}");
    eprintln!(
        "{id:12} {precision:7} x {threads}: {:6.0} strings/s, {:5.1} % valid, {:.2} % of them unique; \
         {:6.0} checks/s a thread; {:6.0} molecules/s",
        line["strings_per_second"].as_f64().unwrap_or_default(),
        100.0 * line["validity"].as_f64().unwrap_or_default(),
        100.0 * line["uniqueness"].as_f64().unwrap_or_default(),
        line["checks_per_second"].as_f64().unwrap_or_default(),
        line["molecules_per_second"].as_f64().unwrap_or_default(),
    );
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
    let sample = sampler.sample(count, seed, &SampleBudget::unlimited())?;
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
