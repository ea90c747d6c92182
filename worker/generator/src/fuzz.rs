//! Properties that hold for any content of a pack's files, one function per file. The fuzz targets in `ops/fuzz` call
//! them, and so do the tests here with the same seeds.

use std::path::Path;

use crate::{
    config::{Config, GenerationConfig, Metadata},
    partial_smiles::PartialSmiles,
    vocabulary::Vocabulary,
    weights::Weights,
};

/// A minimal valid model with nine tokens.
const CONFIG: &str = r#"{"model_type": "smiles_gru", "vocab_size": 9, "embedding_size": 3, "hidden_size": 2,
    "num_layers": 1, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}"#;

fn config() -> Config {
    Config::read(CONFIG.as_bytes(), Path::new("config.json")).expect("fuzz: a configuration is one")
}

/// Checks a `config.json`, `generation_config.json` or `metadata.json`.
pub fn generator_config(input: &[u8]) {
    let file = Path::new("input");
    if let Ok(config) = Config::read(input, file) {
        assert!(config.vocab_size > 0 && config.cell().gates() >= 3);
    }
    if let Ok(generation) = GenerationConfig::read(input, file) {
        assert!(generation.temperature.is_finite() && generation.max_length >= 3);
    }
    if let Ok(metadata) = Metadata::read(input, file) {
        assert!(!metadata.id.is_empty() && metadata.relative_cost.is_finite());
    }
}

/// Checks a `tokenizer.json`: decoding gives the concatenated texts of its tokens, and spelling a text and decoding
/// it gives the same text.
pub fn tokenizer(input: &[u8]) {
    let Ok(vocabulary) = Vocabulary::read(input, "input".into(), &config()) else { return };
    assert_eq!((vocabulary.len(), vocabulary.can_be_drawn().len()), (9, 9));
    let mut outline = PartialSmiles::default();
    for token in 0..9 {
        outline.clear();
        let _ = outline.read(vocabulary.symbols(token)) && outline.end();
    }
    for text in ["", "CC(=O)O", "c1ccccc1", "Cl", "é"] {
        if let Some(tokens) = vocabulary.encode(text) {
            assert_eq!(vocabulary.text(&tokens[1..tokens.len() - 1]), text);
        }
    }
}

/// Checks a `model.safetensors`.
pub fn generator_weights(input: &[u8]) {
    let Ok(weights) = Weights::read(input, "input".into(), &config()) else { return };
    assert_eq!(weights.embedding.dims(), [9, 3]);
    assert_eq!(weights.named().len(), 7);
}

#[cfg(test)]
mod tests {
    use test_support::replay;

    use super::*;

    #[test]
    fn any_configuration_is_one_or_has_its_fault() {
        replay("generator_config", 10_000, generator_config);
    }

    #[test]
    fn any_tokenizer_is_one_or_has_its_fault() {
        replay("tokenizer", 3_000, tokenizer);
    }

    #[test]
    fn any_weights_are_some_or_have_their_fault() {
        replay("generator_weights", 10_000, generator_weights);
    }
}
