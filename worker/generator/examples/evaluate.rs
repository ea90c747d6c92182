//! Measures a model pack and writes a report: `evaluate PACK [REFERENCE] [COUNT] [SEED]`.
//!
//! REFERENCE holds known molecules, one a line, SMILES first; without it nothing is compared. Figures go to
//! standard output as JSON, the report to `PACK_ID.html`.

use std::{error::Error, fs, path::Path};

use generator::{Device, Evaluation, ModelPack, Sampler};
use serde_json::{Map, json};

#[expect(clippy::print_stdout, reason = "the program's purpose")]
fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let pack = arguments.first().ok_or("usage: evaluate PACK [REFERENCE] [COUNT] [SEED]")?;
    let pack = ModelPack::load(Path::new(pack))?;
    let known: Vec<String> = match arguments.get(1) {
        Some(file) => {
            let text = fs::read_to_string(file)?;
            text.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
        }
        None => Vec::new(),
    };
    let count = arguments.get(2).map_or(Ok(10_000), |text| text.parse())?;
    let seed = arguments.get(3).map_or(Ok(0), |text| text.parse())?;

    let strings = Sampler::new(&pack, Device::Cpu)?.raw(count, seed)?;
    let evaluation = Evaluation::of(&strings, &known);

    fs::write(format!("{}.html", pack.id), evaluation.html(&pack.id))?;
    let properties = evaluation.properties.iter().map(|it| (it.name.to_owned(), json!(it.likeness)));
    println!(
        "{}",
        json!({
            "model": pack.id,
            "strings": evaluation.strings,
            "constrained": pack.generation.constrained,
            "temperature": pack.generation.temperature,
            "validity": evaluation.validity,
            "uniqueness": evaluation.uniqueness,
            "novelty": evaluation.novelty,
            "internal_diversity": evaluation.internal_diversity,
            "likeness": evaluation.likeness,
            "properties": properties.collect::<Map<_, _>>(),
        })
    );
    Ok(())
}
