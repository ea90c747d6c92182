//! `retort model evaluate`.

use std::{fs, path::PathBuf};

use anyhow::Context as _;
use clap::Args;
use generator::{Device, Evaluation, ModelPack, Sampler};
use model_tools::{ModelsFolder, PackFolder};
use serde_json::json;

use super::escape_control_characters;
use crate::{failure::Failure, terminal};

/// Evaluate what a generator draws, and write a report with histograms and pictures.
///
/// Strings are counted raw: none is repaired or filtered. --reference should name the training file or molecules held
/// out of it, in random order. Novelty is then the share of molecules that the reference lacks. The first 10,000
/// molecules of each side are compared: in nine properties (KL score, as in GuacaMol), scaffolds and stereo.
#[derive(Debug, Args)]
pub struct Evaluate {
    /// Model id, or the path of another folder.
    #[arg(value_name = "MODEL|PATH")]
    model: String,
    /// Known molecules to compare with: one per line, SMILES first; .gz files are accepted.
    #[arg(long, value_name = "FILE")]
    reference: Option<PathBuf>,
    /// Number of strings to draw; below 10,000 the noise of the histograms lowers the KL score.
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    size: u32,
    /// Seed for drawing the strings.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Temperature in place of the model's own.
    #[arg(long, value_name = "T")]
    temperature: Option<f64>,
    /// Draw without constraining the strings, whatever the model's settings say.
    #[arg(long)]
    free: bool,
    /// File for the report [default: MODEL.html in the current folder].
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    /// Store the figures in the model's metadata.json under this name; `retort model show` and the API show them.
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = AS_SHIPPED)]
    update: Option<String>,
    /// Print the figures as JSON.
    #[arg(long)]
    json: bool,
}

/// Name of the figures of a model with its own settings.
const AS_SHIPPED: &str = "as_shipped";

impl Evaluate {
    /// Runs the command.
    pub fn run(self, models: &ModelsFolder) -> Result<(), Failure> {
        let folder = models.locate(&self.model)?;
        let mut pack = ModelPack::load(&folder).map_err(anyhow::Error::from)?;
        if let Some(temperature) = self.temperature {
            if !(1e-3..=100.0).contains(&temperature) {
                return Err(Failure::Usage(format!(
                    "--temperature {temperature}: must be from 0.001 to 100"
                )));
            }
            pack.generation.temperature = temperature;
        }
        pack.generation.constrained &= !self.free;
        let known = self.reference.as_deref().map(model_tools::lines).transpose()?.unwrap_or_default();
        let known: Vec<String> = known.into_iter().map(|(_, smiles)| smiles).collect();

        let spinner = terminal::spinner(format!(
            "drawing {} strings from {}",
            self.size,
            escape_control_characters(&pack.id)
        ));
        let sampler = Sampler::new(&pack, Device::Cpu).map_err(anyhow::Error::from)?;
        let strings = sampler.raw(self.size as usize, self.seed).map_err(anyhow::Error::from)?;
        spinner.set_message("measuring them");
        let evaluation = Evaluation::of(&strings, &known);
        spinner.finish_and_clear();

        let report = self.report.unwrap_or_else(|| PathBuf::from(format!("{}.html", pack.id)));
        fs::write(&report, evaluation.html(&pack.id))
            .with_context(|| format!("writing {}", report.display()))?;
        let mut figures = model_tools::figures(&evaluation);
        figures.other.insert("temperature".to_owned(), json!(pack.generation.temperature));
        figures.other.insert("constrained".to_owned(), json!(pack.generation.constrained));
        if let Some(name) = &self.update {
            PackFolder::open(&folder).keep(name, &figures)?;
        }
        if self.json {
            figures.other.insert("model".to_owned(), json!(pack.id));
            terminal::data(&json!(figures).to_string())?;
        } else {
            terminal::data(&text(&evaluation))?;
        }
        terminal::note(&format!("report in {}", report.display()));
        Ok(())
    }
}

/// Formats the figures as text.
fn text(evaluation: &Evaluation) -> String {
    let mut lines = vec![format!("{:<44}{}", "raw strings", evaluation.strings)];
    let rows = [
        ("valid, of raw strings", Some(evaluation.validity)),
        ("unique, of valid", Some(evaluation.uniqueness)),
        ("not in the reference, of unique", evaluation.novelty),
        ("KL score", evaluation.kl_score),
        ("internal diversity", Some(evaluation.internal_diversity)),
        ("scaffold similarity", evaluation.scaffolds.similarity),
        ("distinct scaffolds, of molecules with rings", Some(evaluation.scaffolds.diversity)),
        ("molecules with stereo", Some(evaluation.stereo)),
        ("molecules with stereo in the reference", evaluation.known_stereo),
    ];
    lines.extend(rows.iter().filter_map(|(name, value)| value.map(|value| format!("{name:<44}{value:.4}"))));
    for property in &evaluation.properties {
        let Some(drawn) = model_tools::distribution(&property.drawn, property.likeness) else { continue };
        let mut line = format!("{:<44}{:.2} ± {:.2}", property.name, drawn.mean, drawn.standard_deviation);
        if let Some(known) = model_tools::distribution(&property.known, None) {
            line += &format!(", in the reference {:.2} ± {:.2}", known.mean, known.standard_deviation);
        }
        if let Some(likeness) = drawn.likeness {
            line += &format!(", likeness {likeness:.4}");
        }
        lines.push(line);
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_printed_with_and_without_a_reference() {
        let drawn = ["CCO", "CCN", "C("].map(str::to_owned);

        let alone = text(&Evaluation::of(&drawn, &[]));
        let compared = text(&Evaluation::of(&drawn, &["CCO".to_owned()]));

        assert!(alone.contains("valid, of raw strings                       0.6667"), "{alone}");
        assert!(!alone.contains("reference"), "{alone}");
        assert!(compared.contains("not in the reference, of unique             0.5000"), "{compared}");
        assert!(compared.contains("KL score"), "{compared}");
    }
}
