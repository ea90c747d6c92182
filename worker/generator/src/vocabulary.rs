//! Vocabulary of a model, from its `tokenizer.json` (Hugging Face `tokenizers`).
//!
//! Sampling only needs decoding, which must be plain concatenation. Then a table of strings is the whole decoder. At
//! load, this is verified once against the tokenizer's own decoder.

use std::{collections::HashMap, path::PathBuf};

use serde_json::Value;
use tokenizers::{Tokenizer, decoders::DecoderWrapper};

use crate::{
    PackError,
    config::{self, Config},
    symbol::{Symbol, symbols},
};

/// Token texts by id.
#[derive(Debug, Clone)]
pub(crate) struct Vocabulary {
    texts: Vec<String>,
    /// Symbols of each token's text.
    symbols: Vec<Vec<Symbol>>,
    /// Tokens that spell text, by their text.
    ids: HashMap<String, u32>,
    /// Length of the longest token, in bytes.
    longest: usize,
    bos: u32,
    eos: u32,
    pad: Option<u32>,
}

impl Vocabulary {
    pub(crate) fn load(file: PathBuf, config: &Config) -> Result<Self, PackError> {
        Self::read(&config::bytes(&file)?, file, config)
    }

    /// Parses the content of `file`.
    pub(crate) fn read(json: &[u8], file: PathBuf, config: &Config) -> Result<Self, PackError> {
        let fault = |reason: String| PackError::Tokenizer { file: file.clone(), reason };
        let tokenizer = decoder(json).map_err(&fault)?;
        let tokens = tokenizer.get_vocab(true);
        if tokens.len() != config.vocab_size {
            return Err(PackError::VocabularySize { file, found: tokens.len(), wanted: config.vocab_size });
        }

        let mut texts = vec![None; config.vocab_size];
        for (text, id) in tokens {
            match usize::try_from(id).ok().and_then(|id| texts.get_mut(id)) {
                Some(place @ None) => *place = Some(text),
                Some(Some(_)) => return Err(fault(format!("two tokens have the id {id}"))),
                None => return Err(fault(format!("token id {id} is not below `vocab_size`"))),
            }
        }
        let texts: Vec<String> = texts.into_iter().flatten().collect();
        let mut vocabulary = Self {
            ids: HashMap::new(),
            longest: texts.iter().map(String::len).max().unwrap_or(0),
            symbols: texts.iter().map(|text| symbols(text)).collect(),
            texts,
            bos: config.bos_token_id,
            eos: config.eos_token_id,
            pad: config.pad_token_id,
        };

        let spelling =
            (0..).zip(&vocabulary.texts).filter(|(id, text)| !vocabulary.is_special(*id) && !text.is_empty());
        vocabulary.ids = spelling.map(|(id, text)| (text.clone(), id)).collect();
        let plain: Vec<u32> = (0..).take(vocabulary.len()).filter(|id| !vocabulary.is_special(*id)).collect();
        let decoded = tokenizer.decode(&plain, true).map_err(|e| fault(e.to_string()))?;
        if decoded != vocabulary.text(&plain) {
            return Err(fault("the decoder does not join tokens as they are".to_owned()));
        }
        Ok(vocabulary)
    }

    /// Returns the number of tokens, special ones included.
    pub(crate) fn len(&self) -> usize {
        self.texts.len()
    }

    /// Returns the token that begins every string.
    pub(crate) fn bos(&self) -> u32 {
        self.bos
    }

    /// Returns the token that ends a string.
    pub(crate) fn eos(&self) -> u32 {
        self.eos
    }

    /// Returns the text of a sequence of tokens.
    pub(crate) fn text(&self, tokens: &[u32]) -> String {
        tokens.iter().map(|token| self.texts[*token as usize].as_str()).collect()
    }

    /// Returns the text of one token.
    fn token_text(&self, token: u32) -> &str {
        &self.texts[token as usize]
    }

    /// Returns the symbols of one token.
    pub(crate) fn symbols(&self, token: u32) -> &[Symbol] {
        &self.symbols[token as usize]
    }

    /// Marks the tokens that may follow others: all but the first token of a string and padding.
    pub(crate) fn can_be_drawn(&self) -> Vec<bool> {
        (0..).take(self.len()).map(|id| id != self.bos && Some(id) != self.pad).collect()
    }

    /// Encodes `text` in tokens, including the first and last special token. Takes the longest token from which the
    /// end can be reached; `None` if there is no encoding.
    pub(crate) fn encode(&self, text: &str) -> Option<Vec<u32>> {
        // By byte offset: the token to write there, if the rest can be encoded.
        let mut choices: Vec<Option<u32>> = vec![None; text.len()];
        for start in (0..text.len()).rev() {
            choices[start] = (start + 1..=text.len().min(start + self.longest)).rev().find_map(|end| {
                let id = self.ids.get(text.get(start..end)?)?;
                (end == text.len() || choices[end].is_some()).then_some(*id)
            });
        }
        let mut spelled = vec![self.bos];
        let mut at = 0;
        while at < text.len() {
            let id = choices[at]?;
            at += self.token_text(id).len();
            spelled.push(id);
        }
        spelled.push(self.eos);
        Some(spelled)
    }

    fn is_special(&self, id: u32) -> bool {
        [Some(self.bos), Some(self.eos), self.pad].contains(&Some(id))
    }
}

/// Loads only the decoding part of a tokenizer. The part that splits text is not needed here and is often a regular
/// expression. Some faults in it, or in the JSON, would make the library panic.
fn decoder(bytes: &[u8]) -> Result<Tokenizer, String> {
    let mut json: Value = serde_json::from_slice(bytes).map_err(|e| e.to_string())?;
    if let Some(parts) = json.as_object_mut() {
        for part in ["normalizer", "pre_tokenizer", "post_processor"] {
            parts.insert(part.to_owned(), Value::Null);
        }
    }
    let tokenizer = Tokenizer::from_bytes(json.to_string()).map_err(|e| e.to_string())?;
    if tokenizer.get_decoder().is_some_and(trims_tokens) {
        return Err("the decoder cuts off the ends of tokens (`Strip` with a `stop` above 0)".to_owned());
    }
    Ok(tokenizer)
}

/// Returns true if a decoder would cut characters off the ends of tokens. A concatenating decoder does not, and the
/// library panics if a token is shorter than the part to cut.
fn trims_tokens(decoder: &DecoderWrapper) -> bool {
    match decoder {
        DecoderWrapper::Strip(strip) => strip.stop > 0,
        DecoderWrapper::Sequence(parts) => parts.get_decoders().iter().any(trims_tokens),
        _ => false,
    }
}
