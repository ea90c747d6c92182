//! Import of a REINVENT prior (Olivecrona et al., 2017; Loeffler et al., 2024): a file that `torch.save` wrote.
//!
//! Such a file is a zip with a pickle in it. A pickle is a program, and unpickling runs it. This importer reads the
//! pickle without running it (`pickle`), and refuses by name everything that does not belong in a prior.

pub(crate) mod archive;
mod network;
mod pickle;
pub(crate) mod prior;
mod saved;

use std::path::Path;

use anyhow::Context as _;
use serde_json::{Value, json};

use super::ModelImport;
use crate::{
    ModelsFolder,
    card::{self, Card},
    error::ModelToolError,
    folder::Draft,
    tokenizer::{Special, tokenizer},
    weights,
};
use prior::Prior;

/// Token that begins every string of a prior.
const START: &str = "^";
/// Token that ends every string of a prior.
const END: &str = "$";

/// Reads the prior into a draft.
pub fn import(models: &ModelsFolder, import: &ModelImport) -> Result<Draft, ModelToolError> {
    let prior = Prior::read(&import.source).with_context(|| import.source.display().to_string())?;
    let id = super::id_or_stem(import)?;
    let draft = models.begin(id)?;
    write(&prior, &import.source, &draft)?;
    Ok(draft)
}

fn write(prior: &Prior, source: &Path, draft: &Draft) -> Result<(), ModelToolError> {
    let id_of = |text: &str| prior.tokens.iter().position(|token| token == text);
    let config = json!({
        "model_type": prior.cell.model_type(),
        "vocab_size": prior.tokens.len(),
        "embedding_size": prior.embedding_size,
        "hidden_size": prior.hidden_size,
        "num_layers": prior.num_layers,
        "bos_token_id": id_of(START),
        "eos_token_id": id_of(END),
    });
    let name = source.file_name().unwrap_or_default().to_string_lossy();
    let architecture = format!(
        "{}, {} x {}, {} SMILES tokens",
        prior.cell.name(),
        prior.num_layers,
        prior.hidden_size,
        prior.tokens.len()
    );
    let mut metadata = card::metadata(
        draft.id(),
        &Card {
            description: &format!("REINVENT prior, imported from {name}"),
            architecture: &architecture,
            training_data: prior.training_data.as_deref().unwrap_or("not stated in its file"),
        },
    );
    metadata.insert("relative_cost".to_owned(), card::relative_cost(&config).into());
    let special = Special { start: START, end: END, padding: None };
    let generation = json!({"temperature": 1.0, "top_p": 1.0, "max_length": prior.max_length});

    draft.write_json("config.json", &config)?;
    draft.write_json("generation_config.json", &generation)?;
    draft.write_json("tokenizer.json", &tokenizer(&prior.tokens, special))?;
    draft.write("model.safetensors", &weights::file(&prior.tensors, &[])?)?;
    draft.write("README.md", card::readme(&metadata, &prior.history).as_bytes())?;
    draft.write_json("metadata.json", &Value::Object(metadata))
}
