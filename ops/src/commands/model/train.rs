//! `retort model train`.

use std::{fs, path::PathBuf, sync::atomic::Ordering};

use anyhow::Context as _;
use clap::Args;
use generator::{ModelPack, TrainingSettings};
use indicatif::ProgressBar;
use model_tools::{ModelId, ModelsFolder, Training, TrainingData, TrainingEvent};

use super::escape_control_characters;
use crate::{failure::Failure, terminal};

/// Number of rejected lines that are listed on the terminal.
const MAX_LISTED_LINES: usize = 10;

/// Train a model on your own molecules; the result is a new model, which running samplers load without a restart.
///
/// Lines that are no molecule, or that the model has no tokens for, are counted, listed and left out. A tenth of the
/// molecules is held out. Training ends when their likelihood stops improving, and the weights that were best for
/// them are kept. Ctrl-C ends it with the best epoch so far. If the command is killed, the same command continues
/// after the last complete epoch. Only models with GRU layers can be trained.
#[derive(Debug, Args)]
pub struct Train {
    /// Molecules to train on: one per line, SMILES first; .gz files are accepted.
    #[arg(long, value_name = "FILE.smi")]
    molecules: PathBuf,
    /// Model to start from: its id, or the path of another folder.
    #[arg(long, value_name = "MODEL|PATH")]
    from: String,
    /// Id of the new model: letters, digits and underscores.
    #[arg(long, value_name = "ID")]
    name: ModelId,
    /// Maximum number of epochs.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1000))]
    epochs: u32,
    /// Stop after this many epochs without improvement on the held-out molecules.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    patience: u32,
    /// Molecules per training step.
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..=4096))]
    batch_size: u16,
    /// Learning rate of Adam; halved after an epoch without improvement.
    #[arg(long, value_name = "RATE", default_value_t = 5e-4)]
    learning_rate: f32,
    /// Share of the molecules to hold out.
    #[arg(long, value_name = "SHARE", default_value_t = 0.1)]
    held_out: f64,
    /// Seed for the order of the molecules.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Write every rejected line to FILE, with its number and the reason.
    #[arg(long, value_name = "FILE")]
    errors: Option<PathBuf>,
}

impl Train {
    /// Runs the command; prints the id.
    pub fn run(self, models: &ModelsFolder) -> Result<(), Failure> {
        if !(self.learning_rate > 0.0 && self.learning_rate <= 1.0) {
            return Err(Failure::Usage(format!(
                "--learning-rate {}: wanted over 0 and at most 1",
                self.learning_rate
            )));
        }
        if !(self.held_out > 0.0 && self.held_out <= 0.5) {
            return Err(Failure::Usage(format!(
                "--held-out {}: wanted over 0 and at most 0.5",
                self.held_out
            )));
        }
        let from = models.locate(&self.from)?;
        let pack = ModelPack::load(&from).map_err(anyhow::Error::from)?;
        let spinner = terminal::spinner(format!("reading {}", self.molecules.display()));
        let training_data = TrainingData::read(&self.molecules, &pack, self.held_out);
        spinner.finish_and_clear();
        let training_data = training_data?;
        self.report_rejected_lines(&training_data)?;
        let training = Training {
            data: self.molecules,
            from,
            name: self.name,
            epochs: self.epochs,
            patience: self.patience,
            settings: TrainingSettings {
                batch_size: self.batch_size.into(),
                learning_rate: self.learning_rate,
                seed: self.seed,
            },
        };

        let bar = terminal::bar(training_data.sequences.len() as u64, "epoch");
        let interrupted = terminal::interrupted();
        let resume = || !interrupted.load(Ordering::Relaxed);
        let report =
            model_tools::train(models, &training, &training_data, resume, |event| show_event(&bar, event));
        bar.finish_and_clear();
        let report = report?;

        for warning in &report.warnings {
            terminal::note(&format!("warning: {}", escape_control_characters(warning)));
        }
        terminal::note(&format!("written to {}", report.folder));
        terminal::data(&report.id)
    }

    /// Reports the rejected lines and the reasons.
    fn report_rejected_lines(&self, training_data: &TrainingData) -> Result<(), Failure> {
        let line = |(number, fault): &(usize, model_tools::LineError)| {
            format!(
                "{}:{number}: {}",
                self.molecules.display(),
                escape_control_characters(&fault.to_string())
            )
        };
        if let Some(file) = &self.errors {
            let lines: String = training_data.faults.iter().map(|fault| line(fault) + "\n").collect();
            fs::write(file, lines).with_context(|| format!("writing {}", file.display()))?;
        }
        if training_data.faults.is_empty() {
            return Ok(());
        }
        for fault in training_data.faults.iter().take(MAX_LISTED_LINES) {
            terminal::note(&line(fault));
        }
        let more = training_data.faults.len().saturating_sub(MAX_LISTED_LINES);
        let more = if more == 0 { String::new() } else { format!(", {more} of them not named here") };
        terminal::note(&format!(
            "left out {} lines{more} ({})",
            training_data.faults.len(),
            training_data.summary()
        ));
        Ok(())
    }
}

/// Shows a training event.
fn show_event(bar: &ProgressBar, event: TrainingEvent) {
    let note = |text: String| bar.suspend(|| terminal::note(&text));
    match event {
        TrainingEvent::Begun { learnt, held_out, loss, epochs_before } => {
            note(format!(
                "{learnt} molecules to learn from, {held_out} held out: {loss:.3} nats a molecule before"
            ));
            if epochs_before > 0 {
                note(format!("continuing after epoch {epochs_before}"));
            }
        }
        TrainingEvent::Step(molecules) => bar.inc(molecules as u64),
        TrainingEvent::Epoch { number, learnt, held_out, is_best } => {
            let best = if is_best { "" } else { ", no gain" };
            note(format!("epoch {number}: learnt {learnt:.3}, held out {held_out:.3} nats a molecule{best}"));
            bar.reset();
        }
        TrainingEvent::Interrupted { best } => note(match best {
            0 => "stopped".to_owned(),
            epoch => format!("stopped; the best epoch, number {epoch}, is kept"),
        }),
        TrainingEvent::Measuring => bar.set_message("measuring"),
    }
}
