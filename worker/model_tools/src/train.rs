//! Training of a model on a user's own molecules: the weights of one pack become those of a new one.
//!
//! Training runs in Rust (`generator::Trainer`), which is faster here than PyTorch's own GRU and needs no
//! installation. After every epoch the whole training state is saved in a hidden folder among the models, so a killed
//! training continues where it was. The weights that are best for the held-out molecules are kept.

mod checkpoint;
mod training_data;

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use anyhow::{Context as _, anyhow};
use generator::{Device, Evaluation, ModelPack, NamedTensor, Sampler, Trainer, TrainingSettings};
use half::f16;
use safetensors::{Dtype, tensor::TensorView};
use serde_json::{Map, Value, json};

use super::{CheckReport, ModelId, ModelsFolder, card, import, read};
use crate::error::ModelToolError;
use checkpoint::Checkpoint;
pub use training_data::{LineError, TrainingData};

/// Number of strings that the new model's figures are computed from.
const EVALUATED_STRINGS: usize = 10_000;
/// Factor of the learning rate after an epoch without improvement.
const LEARNING_RATE_FACTOR: f32 = 0.5;

/// Training job: model, data and settings.
#[derive(Debug)]
pub struct Training {
    /// The file of molecules.
    pub data: PathBuf,
    /// Folder of the model to start from.
    pub from: PathBuf,
    /// Id of the new model.
    pub name: ModelId,
    /// Maximum number of epochs.
    pub epochs: u32,
    /// Number of epochs without improvement on the held-out molecules after which training stops.
    pub patience: u32,
    /// Settings of each step.
    pub settings: TrainingSettings,
}

/// Progress event of a training.
#[derive(Debug)]
pub enum TrainingEvent {
    /// The molecules are read: the numbers for training and held out, and the model's loss on the held-out ones.
    Begun {
        /// Number of training molecules.
        learnt: usize,
        /// Number of held-out molecules.
        held_out: usize,
        /// Loss on the held-out molecules, in nats per molecule.
        loss: f64,
        /// Epochs that an earlier run completed.
        epochs_before: u32,
    },
    /// A step has processed this many molecules.
    Step(usize),
    /// An epoch has ended with these losses, in nats per molecule.
    Epoch {
        /// Number of the epoch, from 1.
        number: u32,
        /// Loss on the training molecules during the epoch.
        learnt: f64,
        /// Loss on the held-out molecules.
        held_out: f64,
        /// True if this is the best epoch so far.
        is_best: bool,
    },
    /// The training was asked to stop.
    Interrupted {
        /// Number of the epoch that is kept, from 1; 0 if there is none.
        best: u32,
    },
    /// The new model is being evaluated.
    Measuring,
}

/// Trains a model, checks it and moves it among the others; ends with the best epoch so far when `resume` returns
/// false.
///
/// # Errors
/// Fails, and leaves no pack behind, if the data has too few molecules that the model can write, the id is taken, or
/// the training diverges.
pub fn train(
    models: &ModelsFolder,
    training: &Training,
    data: &TrainingData,
    resume: impl Fn() -> bool,
    mut watch: impl FnMut(TrainingEvent),
) -> Result<CheckReport, ModelToolError> {
    let pack = ModelPack::load(&training.from).map_err(anyhow::Error::from)?;
    let draft = models.begin(training.name.clone())?;
    let mut trainer = Trainer::new(&pack, training.settings).map_err(anyhow::Error::from)?;
    let begun = Instant::now();

    let place = models.hidden(&format!(".train-{}", training.name.as_str()));
    let key = data.key(&training.from)?;
    let mut course = Checkpoint::load(&place, &key, &mut trainer)?;
    if course.is_none() {
        let loss = trainer.loss(&data.held_out).map_err(anyhow::Error::from)?;
        course = Some(Checkpoint::first(key, loss, &trainer));
    }
    let mut course = course.context("a training has a beginning")?;
    watch(TrainingEvent::Begun {
        learnt: data.sequences.len(),
        held_out: data.held_out.len(),
        loss: course.first_loss,
        epochs_before: course.epochs,
    });
    while course.epochs < training.epochs && course.epochs_without_improvement < training.patience {
        let learnt = trainer
            .epoch(&data.sequences, |molecules| {
                watch(TrainingEvent::Step(molecules));
                resume()
            })
            .map_err(anyhow::Error::from)?;
        if !resume() {
            watch(TrainingEvent::Interrupted { best: course.best_epoch });
            break;
        }
        let held_out = trainer.loss(&data.held_out).map_err(anyhow::Error::from)?;
        let is_best = course.note(held_out, &trainer);
        if !is_best {
            trainer.scale_learning_rate(LEARNING_RATE_FACTOR);
        }
        course.save(&place, &trainer)?;
        watch(TrainingEvent::Epoch { number: course.epochs, learnt, held_out, is_best });
    }
    if course.best_epoch == 0 && !resume() {
        return Err(match course.epochs {
            0 => anyhow!("nothing is kept: no epoch had ended"),
            epochs => anyhow!("no epoch was of use yet; the same command goes on after number {epochs}"),
        }
        .into());
    }
    if course.best_loss >= course.first_loss {
        checkpoint::clear(&place);
        return Err(anyhow!(
            "the training did not improve the model: the held-out molecules are not more likely than before ({:.3} nats); try a lower --learning-rate, \
             or more molecules",
            course.first_loss
        )
        .into());
    }

    for name in ["config.json", "generation_config.json", "tokenizer.json"] {
        let bytes = std::fs::read(training.from.join(name))
            .with_context(|| format!("reading {name} of the model"))?;
        draft.write(name, &bytes)?;
    }
    draft.write("model.safetensors", &f16_safetensors(&course.best)?)?;
    let mut metadata = metadata(training, data, &pack);
    draft.write_json("metadata.json", &Value::Object(metadata.clone()))?;
    watch(TrainingEvent::Measuring);
    let evaluation = evaluate_model(draft.path(), data)?;
    metadata.insert("metrics".to_owned(), json!({ "as_shipped": card::figures(&evaluation) }));
    draft.write_json("metadata.json", &Value::Object(metadata.clone()))?;
    let history = history(training, data, &course, begun.elapsed().as_secs());
    draft.write("README.md", readme(&metadata, &history, &evaluation).as_bytes())?;
    let report = import::finish(draft, "the trained model has faults")?;
    checkpoint::clear(&place);
    Ok(report)
}

/// Builds `metadata.json` without figures.
fn metadata(training: &Training, data: &TrainingData, pack: &ModelPack) -> Map<String, Value> {
    let before = read::json(&training.from.join("metadata.json")).unwrap_or_default();
    let text = |field: &str| before.get(field).and_then(Value::as_str).unwrap_or("not stated").to_owned();
    let file = training.data.file_name().unwrap_or_default().to_string_lossy();
    let architecture = text("architecture");
    let (description, from) = (format!("{}, taught {file}", pack.description), &pack.id);
    let learnt = data.sequences.len();
    let training_data = format!("{learnt} molecules of {file}, after {from} ({})", text("training_data"));
    let licence = format!("that of {from} ({}), and whatever holds for {file}", text("licence"));
    let card =
        card::Card { description: &description, architecture: &architecture, training_data: &training_data };
    let mut metadata = card::metadata(&training.name, &card);
    metadata.insert("licence".to_owned(), licence.into());
    metadata.insert("relative_cost".to_owned(), pack.relative_cost.into());
    metadata
}

/// Evaluates what the new model draws, compared with its training molecules.
fn evaluate_model(folder: &Path, data: &TrainingData) -> Result<Evaluation, ModelToolError> {
    let pack = ModelPack::load(folder).map_err(anyhow::Error::from)?;
    let sampler = Sampler::new(&pack, Device::Cpu).map_err(anyhow::Error::from)?;
    let strings = sampler.raw(EVALUATED_STRINGS, 0).map_err(anyhow::Error::from)?;
    Ok(Evaluation::of(&strings, &data.smiles))
}

/// Returns the model card's lines on how the model was made.
fn history(training: &Training, data: &TrainingData, course: &Checkpoint, seconds: u64) -> Vec<String> {
    let settings = training.settings;
    vec![
        format!(
            "{} molecules to learn from, {} held out; {} lines of the file were left out ({})",
            data.sequences.len(),
            data.held_out.len(),
            data.faults.len(),
            data.summary()
        ),
        format!(
            "{} epochs, of which number {} was the best; batches of {}, Adam, learning rate {:e}, seed {}; {seconds} s",
            course.epochs, course.best_epoch, settings.batch_size, settings.learning_rate, settings.seed
        ),
        format!(
            "negative log-likelihood of the held-out molecules: {:.3} nats a molecule, {:.3} before",
            course.best_loss, course.first_loss
        ),
    ]
}

fn readme(metadata: &Map<String, Value>, history: &[String], evaluation: &Evaluation) -> String {
    let mut readme = card::readme(metadata, &[]);
    readme += "\n## How it was made\n\nBy `retort model train`.\n\n";
    for line in history {
        readme += &format!("- {line}\n");
    }
    readme += &format!(
        "\n## Figures\n\n{} raw strings as the pack ships, seed 0, beside the molecules that it learnt from:\n\n{}",
        evaluation.strings,
        card::tables(&card::figures(evaluation))
    );
    readme
}

/// Encodes tensors as a safetensors file in f16.
fn f16_safetensors(tensors: &[checkpoint::StoredTensor]) -> Result<Vec<u8>, ModelToolError> {
    let bytes: Vec<Vec<u8>> = tensors
        .iter()
        .map(|it| it.numbers.iter().flat_map(|number| f16::from_f32(*number).to_le_bytes()).collect())
        .collect();
    let views: Vec<(&str, TensorView<'_>)> = tensors
        .iter()
        .zip(&bytes)
        .map(|(it, bytes)| Ok((it.name.as_str(), TensorView::new(Dtype::F16, it.shape.clone(), bytes)?)))
        .collect::<Result<_, safetensors::SafeTensorError>>()
        .context("writing the weights")?;
    Ok(safetensors::serialize(views, None).context("writing the weights")?)
}

/// Copies a tensor.
fn stored_tensor(tensor: &NamedTensor<'_>) -> checkpoint::StoredTensor {
    checkpoint::StoredTensor {
        name: tensor.name.clone(),
        shape: tensor.shape.to_vec(),
        numbers: tensor.numbers.to_vec(),
    }
}
