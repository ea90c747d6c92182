//! Import of a folder in our own layout, which follows Hugging Face's as far as possible: `config.json`,
//! `generation_config.json`, `tokenizer.json` or `vocab.json`, `model.safetensors`, `README.md`, and `metadata.json`.
//!
//! Files that the pack does not need are left out. Missing files that follow from others are written.

use std::path::Path;

use anyhow::{Context as _, anyhow};
use serde_json::{Map, Value, json};

use super::ModelImport;
use crate::{
    Kind, ModelId, ModelsFolder, PackFolder, card,
    error::ModelToolError,
    folder::Draft,
    pack, read,
    tokenizer::{Special, tokenizer},
};

/// Default maximum length of a model's strings, in tokens.
const DEFAULT_MAX_LENGTH: u32 = 128;

/// Reads the folder into a draft.
pub fn import(
    models: &ModelsFolder,
    import: &ModelImport,
    tell: &dyn Fn(&str),
) -> Result<Draft, ModelToolError> {
    let source = &import.source;
    if let Some(network) = network_in(source) {
        return Err(ModelToolError::Usage(format!(
            "{} has no config.json, so it is not a pack; for a policy of AiZynthFinder name the network and its templates: \
             retort model import {} --templates FILE.csv.gz --name ID",
            source.display(),
            source.join(network).display()
        )));
    }
    let config = read::json(&source.join("config.json")).map_err(anyhow::Error::from)?;
    let kind =
        pack::kind(&config).map_err(|fault| anyhow!("{}: {fault}", source.join("config.json").display()))?;
    let mut metadata = metadata(source)?;
    let id = id(import, &metadata)?;
    let draft = models.begin(id)?;
    let left_out = copy(source, kind, &draft)?;
    if !left_out.is_empty() {
        tell(&format!("left out, as no part of a pack: {}", left_out.join(", ")));
    }
    metadata.insert("id".to_owned(), draft.id().as_str().into());
    if kind == Kind::Generator {
        complete_generator(source, &config, &draft, &mut metadata, tell)?;
    }
    metadata.entry("description").or_insert_with(|| format!("Imported from {}", name(source)).into());
    if !draft.path().join("README.md").exists() {
        draft.write("README.md", card::readme(&metadata, &[]).as_bytes())?;
    }
    draft.write_json("metadata.json", &Value::Object(metadata))?;
    Ok(draft)
}

/// Returns the name of an ONNX network in a folder that is no pack.
fn network_in(source: &Path) -> Option<String> {
    let files = PackFolder::open(source).files();
    let is_pack = files.iter().any(|(name, _)| name == "config.json");
    files.into_iter().map(|(name, _)| name).find(|name| !is_pack && name.ends_with(".onnx"))
}

/// Reads `metadata.json`; empty if there is none.
fn metadata(source: &Path) -> Result<Map<String, Value>, ModelToolError> {
    let file = source.join("metadata.json");
    if !file.exists() {
        return Ok(Map::new());
    }
    match read::json(&file).map_err(anyhow::Error::from)? {
        Value::Object(metadata) => Ok(metadata),
        _ => Err(anyhow!("{}: not a JSON object", file.display()).into()),
    }
}

/// Returns the requested id, else the pack's own, else the folder's name.
fn id(import: &ModelImport, metadata: &Map<String, Value>) -> Result<ModelId, ModelToolError> {
    let own = metadata.get("id").and_then(Value::as_str);
    own.map_or_else(|| super::id_or_stem(import), |own| super::id_or(import, own))
}

fn name(source: &Path) -> String {
    source.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Copies the files of a pack; returns the names of the others.
fn copy(source: &Path, kind: Kind, draft: &Draft) -> Result<Vec<String>, ModelToolError> {
    let wanted: &[&str] = match kind {
        Kind::Generator => {
            &["config.json", "generation_config.json", "tokenizer.json", "model.safetensors", "README.md"]
        }
        Kind::Templates => &[
            "config.json",
            "templates.csv.gz",
            "policy.safetensors",
            "sites.safetensors",
            "plausibility.safetensors",
            "precedents.safetensors",
            "reactants.safetensors",
            "README.md",
        ],
    };
    let mut left_out = Vec::new();
    for (file, _) in PackFolder::open(source).files() {
        let is_terms = ["LICENSE", "LICENCE", "NOTICE"].iter().any(|name| file.starts_with(name));
        if wanted.contains(&file.as_str()) || is_terms {
            let limit =
                if file.ends_with(".safetensors") { read::MAX_WEIGHTS_BYTES } else { read::MAX_JSON_BYTES };
            let bytes = read::bytes(&source.join(&file), limit).map_err(anyhow::Error::from)?;
            draft.write(&file, &bytes)?;
        } else if !["metadata.json", "vocab.json"].contains(&file.as_str()) {
            left_out.push(file);
        }
    }
    Ok(left_out)
}

/// Writes the files that a generator needs and that its folder leaves implicit.
fn complete_generator(
    source: &Path,
    config: &Value,
    draft: &Draft,
    metadata: &mut Map<String, Value>,
    tell: &dyn Fn(&str),
) -> Result<(), ModelToolError> {
    if !draft.path().join("tokenizer.json").exists() && source.join("vocab.json").exists() {
        let tokenizer = from_vocabulary(&source.join("vocab.json"), config)?;
        draft.write_json("tokenizer.json", &tokenizer)?;
    }
    if !draft.path().join("generation_config.json").exists() {
        let generation = json!({"temperature": 1.0, "top_p": 1.0, "max_length": DEFAULT_MAX_LENGTH});
        draft.write_json("generation_config.json", &generation)?;
        tell(&format!(
            "no generation_config.json: temperature 1, at most {DEFAULT_MAX_LENGTH} tokens a string"
        ));
    }
    if let Some(cost) = card::relative_cost(config) {
        metadata.entry("relative_cost").or_insert_with(|| cost.into());
    }
    Ok(())
}

/// Builds a tokenizer from a `vocab.json`, which maps a token's text to its id.
fn from_vocabulary(file: &Path, config: &Value) -> Result<Value, ModelToolError> {
    tokenizer_of(read::json(file).map_err(anyhow::Error::from)?, file, config)
}

/// Builds a tokenizer from the `vocabulary` in `file`.
pub fn tokenizer_of(vocabulary: Value, file: &Path, config: &Value) -> Result<Value, ModelToolError> {
    let vocabulary: Map<String, Value> = serde_json::from_value(vocabulary)
        .with_context(|| format!("{}: not an object of ids", file.display()))?;
    let mut tokens = vec![None; vocabulary.len()];
    for (text, id) in vocabulary {
        let place = id.as_u64().and_then(|id| tokens.get_mut(usize::try_from(id).ok()?));
        match place {
            Some(place @ None) => *place = Some(text),
            _ => {
                return Err(anyhow!(
                    "{}: `{text}` has the id {id}; ids count from 0 without a gap or a double",
                    file.display()
                )
                .into());
            }
        }
    }
    let tokens: Vec<String> = tokens.into_iter().flatten().collect();
    let token = |field: &str| {
        let id = config.get(field)?.as_u64().and_then(|id| usize::try_from(id).ok())?;
        tokens.get(id).map(String::as_str)
    };
    match (token("bos_token_id"), token("eos_token_id")) {
        (Some(start), Some(end)) => {
            Ok(tokenizer(&tokens, Special { start, end, padding: token("pad_token_id") }))
        }
        _ => Err(anyhow!(
            "{}: `bos_token_id` or `eos_token_id` is not an id of vocab.json",
            file.with_file_name("config.json").display()
        )
        .into()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_vocabulary_with_a_gap_or_a_double_is_refused_by_the_token() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("vocab.json");
        for vocabulary in ["{\"C\": 0, \"N\": 2}", "{\"C\": 0, \"N\": 0}", "{\"N\": -1}", "{\"N\": \"x\"}"] {
            fs::write(&file, vocabulary).unwrap();

            let fault = from_vocabulary(&file, &json!({})).unwrap_err().to_string();

            assert!(fault.contains("vocab.json: `N` has the id"), "{fault}");
        }
    }
}
