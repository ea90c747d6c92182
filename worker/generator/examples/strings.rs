//! Writes raw strings of a model pack, one per line: `strings PACK [COUNT] [SEED] [TEMPERATURE] [free]`.
//!
//! The default temperature is the pack's. `free` turns constrained decoding off, whatever the pack says. A
//! constrained string that could not be completed is an empty line.

use std::{
    error::Error,
    io::{Write, stdout},
    path::Path,
};

use generator::{Device, ModelPack, Sampler};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_free = arguments.last().is_some_and(|last| last == "free");
    arguments.truncate(arguments.len() - usize::from(is_free));
    let pack = arguments.first().ok_or("usage: strings PACK [COUNT] [SEED] [TEMPERATURE] [free]")?;
    let mut pack = ModelPack::load(Path::new(pack))?;
    let count = arguments.get(1).map_or(Ok(10_000), |text| text.parse())?;
    let seed = arguments.get(2).map_or(Ok(0), |text| text.parse())?;
    if let Some(temperature) = arguments.get(3) {
        pack.generation.temperature = temperature.parse()?;
    }
    pack.generation.constrained &= !is_free;

    let strings = Sampler::new(&pack, Device::Cpu)?.raw(count, seed)?;

    let mut out = stdout().lock();
    strings.iter().try_for_each(|text| writeln!(out, "{text}"))?;
    Ok(())
}
