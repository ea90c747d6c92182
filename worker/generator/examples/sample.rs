//! Measures a model pack: `sample PACK [COUNT] [SEED] [THREADS]`.
//!
//! Prints the validity of COUNT raw strings and the uniqueness of the valid ones, then how long a
//! sample of COUNT molecules takes.

use std::{collections::HashSet, num::NonZeroUsize, path::Path, time::Instant};

use chem::{Limits, Molecule};
use generator::{Budget, Device, ModelPack, Sampler};

#[expect(clippy::print_stdout, reason = "the program's purpose")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let pack = arguments.first().ok_or("usage: sample PACK [COUNT] [SEED] [THREADS]")?;
    let number = |n: usize, default: u64| arguments.get(n).map_or(Ok(default), |text| text.parse());
    let (count, seed) = (usize::try_from(number(1, 10_000)?)?, number(2, 1)?);
    let mut sampler = Sampler::new(&ModelPack::load(Path::new(pack))?, Device::Cpu)?;
    if let Some(threads) = NonZeroUsize::new(usize::try_from(number(3, 0)?)?) {
        sampler = sampler.with_threads(threads);
    }

    let begun = Instant::now();
    let raw = sampler.raw(count, seed)?;
    let seconds = begun.elapsed().as_secs_f64();
    let begun = Instant::now();
    let valid: Vec<String> = raw
        .iter()
        .filter_map(|text| Molecule::parse(text, Limits::TARGET).ok())
        .map(|molecule| molecule.canonical_smiles())
        .collect();
    let checking = begun.elapsed().as_secs_f64();
    let distinct = valid.iter().collect::<HashSet<_>>().len();
    println!("raw:    {count} strings in {seconds:.2} s, {:.0}/s", count as f64 / seconds);
    println!("check:  {checking:.2} s on one thread, {:.0}/s", count as f64 / checking);
    println!("valid:  {:.2} % of the strings", 100.0 * valid.len() as f64 / count as f64);
    println!("unique: {:.2} % of the valid", 100.0 * distinct as f64 / valid.len() as f64);

    let begun = Instant::now();
    let sample = sampler.sample(count, seed, &Budget::unlimited())?;
    let seconds = begun.elapsed().as_secs_f64();
    println!("sample: {} molecules in {seconds:.2} s, {:.0}/s", sample.len(), count as f64 / seconds);
    for smiles in sample.iter().take(5) {
        println!("        {smiles}");
    }
    Ok(())
}
