//! `retort model`.

mod evaluate;
mod import;
mod show;
mod train;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use clap::{Args, Subcommand};
use model_tools::{CheckReport, Kind, ModelsFolder, PackFolder};
use serde::Serialize;

use crate::{InstallationArgs, failure::Failure, terminal};

/// List, check and measure the models, import, train and remove them.
#[derive(Debug, Args)]
pub struct ModelArgs {
    /// Folders of model packs, those of the workers; new packs go to the last one [default: those of the data folder].
    #[arg(long, global = true, value_name = "DIR[:DIR…]", env = "MODELS_DIR", value_delimiter = ':')]
    models: Option<Vec<PathBuf>>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the models.
    List(show::ListModelsArgs),
    /// Show one model: its card, its settings, its files.
    Show(show::ShowModelArgs),
    /// Load models as a worker would, try them, and report what is wrong with which file.
    Check(CheckModelArgs),
    /// Evaluate what a generator draws, and write a report with histograms and pictures.
    Evaluate(evaluate::Evaluate),
    /// Import a model; running samplers load it without a restart.
    Import(import::ImportModelArgs),
    /// Train a model on your own molecules.
    Train(train::Train),
    /// Remove a model from the folder.
    Remove(Remove),
}

/// Load models as a worker would, try them, and report what is wrong with which file.
///
/// A generator must be able to write ordinary molecules and draw some. Templates must fit their network and apply to
/// ordinary molecules. Faults end with exit code 1, warnings do not.
#[derive(Debug, Args)]
struct CheckModelArgs {
    /// Model ids, or paths of other folders; all models if none is given.
    #[arg(value_name = "MODEL|PATH")]
    which: Vec<String>,
    /// Print the results as JSON.
    #[arg(long)]
    json: bool,
}

/// Remove a model from the folder.
#[derive(Debug, Args)]
struct Remove {
    /// The model's id, or the name of its folder.
    #[arg(value_name = "MODEL")]
    id: String,
    /// Do not ask for confirmation.
    #[arg(long)]
    yes: bool,
}

impl ModelArgs {
    /// Runs the command.
    pub fn run(self, installation: &InstallationArgs) -> Result<(), Failure> {
        let models = self.models.filter(|paths| !paths.is_empty());
        let models = ModelsFolder::new(models.map_or_else(|| installation.data().models(), Ok)?)?;
        match self.command {
            Command::List(list) => list.run(&models),
            Command::Show(show) => show.run(&models),
            Command::Check(check) => check.run(&models),
            Command::Evaluate(evaluate) => evaluate.run(&models),
            Command::Import(import) => import.run(&models),
            Command::Train(train) => train.run(&models),
            Command::Remove(remove) => remove.run(&models),
        }
    }
}

impl CheckModelArgs {
    fn run(self, models: &ModelsFolder) -> Result<(), Failure> {
        let (packs, all) = self.packs(models)?;
        let mut reports = Vec::new();
        for pack in &packs {
            let spinner = terminal::spinner(format!("checking {}", escape_control_characters(pack.id())));
            let report = model_tools::check(pack, &all);
            spinner.finish_and_clear();
            if !self.json {
                terminal::data(&text(&report))?;
            }
            reports.push(report);
        }
        if self.json {
            json(&reports)?;
        }
        match reports.iter().filter(|report| !report.is_sound()).count() {
            0 => Ok(()),
            1 => Err(anyhow!("one model of {} has faults", reports.len()).into()),
            faulty => Err(anyhow!("{faulty} models of {} have faults", reports.len()).into()),
        }
    }

    /// Returns the packs to check, and all packs among the models.
    fn packs(&self, models: &ModelsFolder) -> Result<(Vec<PackFolder>, Vec<PackFolder>), Failure> {
        if self.which.is_empty() {
            return Ok((models.packs()?, models.packs()?));
        }
        let mut packs = Vec::new();
        let mut all = Vec::new();
        for name in &self.which {
            if name.contains('/') && Path::new(name).is_dir() {
                packs.push(PackFolder::open(Path::new(name)));
            } else {
                packs.push(models.find(name)?);
                all = models.packs()?;
            }
        }
        Ok((packs, all))
    }
}

impl Remove {
    fn run(self, models: &ModelsFolder) -> Result<(), Failure> {
        let pack = models.find(&self.id)?;
        let folder = pack.folder.display();
        if !self.yes {
            let answer = terminal::prompt(&format!(
                "Remove {} with everything in it? [y/N]",
                escape_control_characters(&folder.to_string())
            ))
            .map_err(|_| Failure::Usage("there is no terminal to ask on; use --yes".to_owned()))?;
            if !["y", "yes"].contains(&answer.to_lowercase().as_str()) {
                return Err(anyhow!("nothing was removed").into());
            }
        }
        let last = pack.kind == Some(Kind::Generator)
            && models.packs()?.iter().filter(|pack| pack.kind == Some(Kind::Generator)).count() == 1;
        models.remove(&pack)?;
        terminal::note(&format!("removed {folder}"));
        if last {
            terminal::note("no generator is left: running samplers keep the model, new ones will not start");
        }
        Ok(())
    }
}

/// Formats a report as text.
fn text(report: &CheckReport) -> String {
    let kind = report.kind.map_or("?", Kind::name);
    let verdict = if report.is_sound() { "ok" } else { "FAULT" };
    let mut lines = vec![format!("{verdict:<6} {} ({kind})", escape_control_characters(&report.id))];
    let kinds = [("FAULT", &report.faults), ("warn", &report.warnings), ("", &report.notes)];
    for (kind, findings) in kinds {
        lines.extend(
            findings.iter().map(|finding| format!("  {kind:<6} {}", escape_control_characters(finding))),
        );
    }
    lines.join("\n")
}

/// Prints a value as JSON.
fn json(value: &impl Serialize) -> Result<(), Failure> {
    terminal::data(&serde_json::to_string_pretty(value).context("writing JSON")?)
}

/// Escapes the control characters of untrusted text, so that it cannot control the terminal.
fn escape_control_characters(text: &str) -> String {
    text.chars()
        .map(
            |letter| {
                if letter.is_control() { letter.escape_default().to_string() } else { letter.to_string() }
            },
        )
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_a_file_cannot_steer_the_terminal() {
        assert_eq!(escape_control_characters("Ada\u{1b}[2Jé\n"), "Ada\\u{1b}[2Jé\\n");
    }

    #[test]
    fn a_report_begins_with_its_result() {
        let report = CheckReport {
            id: "one".to_owned(),
            kind: Some(Kind::Generator),
            faults: vec!["config.json: bad".to_owned()],
            notes: vec!["7 things".to_owned()],
            ..CheckReport::default()
        };

        assert_eq!(text(&report), "FAULT  one (generator)\n  FAULT  config.json: bad\n         7 things");
    }
}
