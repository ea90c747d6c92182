//! Builds `tokenizer.json` for a vocabulary that is a plain list of tokens.

use serde_json::{Map, Value, json};

/// Special tokens.
#[derive(Debug, Clone, Copy)]
pub struct Special<'a> {
    /// Token that begins every string.
    pub start: &'a str,
    /// Token that ends every string.
    pub end: &'a str,
    /// Token that pads batches, if there is one.
    pub padding: Option<&'a str>,
}

/// Builds a Hugging Face tokenizer of these tokens, in the order of their ids. Each atom, bond, ring closure or
/// parenthesis is one token, as in all published SMILES models; decoding concatenates.
pub fn tokenizer(tokens: &[String], special: Special<'_>) -> Value {
    let id = |text: &str| tokens.iter().position(|token| token == text);
    let ends = [Some(special.start), Some(special.end), special.padding];
    let added: Vec<Value> = ends
        .into_iter()
        .flatten()
        .filter_map(|content| {
            Some(json!({
                "id": id(content)?, "content": content, "single_word": false, "lstrip": false,
                "rstrip": false, "normalized": false, "special": true,
            }))
        })
        .collect();
    let vocabulary: Map<String, Value> =
        tokens.iter().enumerate().map(|(id, text)| (text.clone(), id.into())).collect();
    let piece = |name: &str| json!({"SpecialToken": {"id": name, "type_id": 0}});
    let entry = |name: &str| json!({"id": name, "ids": [id(name)], "tokens": [name]});
    json!({
        "version": "1.0",
        "truncation": null,
        "padding": null,
        "added_tokens": added,
        "normalizer": null,
        "pre_tokenizer": {
            "type": "Split",
            "pattern": {"Regex": "\\[[^\\[\\]]+\\]|Br|Cl|%[0-9]{2}|."},
            "behavior": "Isolated",
            "invert": false,
        },
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [piece(special.start), {"Sequence": {"id": "A", "type_id": 0}}, piece(special.end)],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {special.start: entry(special.start), special.end: entry(special.end)},
        },
        "decoder": {"type": "Fuse"},
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "<unk>"},
    })
}
