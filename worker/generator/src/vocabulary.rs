//! The tokens of a model, from its `tokenizer.json` (Hugging Face `tokenizers`).
//!
//! Only decoding is needed to sample, and it must be plain concatenation: then a table of strings
//! is the whole decoder. The tokenizer's own decoder is asked once, at load, whether it agrees.

use std::path::PathBuf;

use tokenizers::Tokenizer;

use crate::{PackError, pack, pack::Config};

/// Token texts by id.
#[derive(Debug, Clone)]
pub(crate) struct Vocabulary {
    texts: Vec<String>,
    bos: u32,
    eos: u32,
    pad: u32,
}

impl Vocabulary {
    pub(crate) fn load(file: PathBuf, config: &Config) -> Result<Self, PackError> {
        let fault = |reason: String| PackError::Tokenizer { file: file.clone(), reason };
        let tokenizer = Tokenizer::from_bytes(pack::bytes(&file)?).map_err(|e| fault(e.to_string()))?;
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
        let vocabulary =
            Self { texts, bos: config.bos_token_id, eos: config.eos_token_id, pad: config.pad_token_id };

        let plain: Vec<u32> = (0..).take(vocabulary.len()).filter(|id| !vocabulary.is_special(*id)).collect();
        let decoded = tokenizer.decode(&plain, true).map_err(|e| fault(e.to_string()))?;
        if decoded != vocabulary.text(&plain) {
            return Err(fault("the decoder does not join tokens as they are".to_owned()));
        }
        Ok(vocabulary)
    }

    /// Number of tokens, special ones included.
    pub(crate) fn len(&self) -> usize {
        self.texts.len()
    }

    /// The token that every string begins with.
    pub(crate) fn bos(&self) -> u32 {
        self.bos
    }

    /// The token that ends a string.
    pub(crate) fn eos(&self) -> u32 {
        self.eos
    }

    /// The text of a string of tokens.
    pub(crate) fn text(&self, tokens: &[u32]) -> String {
        tokens.iter().map(|token| self.texts[*token as usize].as_str()).collect()
    }

    /// The text of one token.
    pub(crate) fn piece(&self, token: u32) -> &str {
        &self.texts[token as usize]
    }

    /// The tokens that may follow others: all but the first token of a string and padding.
    pub(crate) fn can_be_drawn(&self) -> Vec<bool> {
        (0..).take(self.len()).map(|id| id != self.bos && id != self.pad).collect()
    }

    fn is_special(&self, id: u32) -> bool {
        [self.bos, self.eos, self.pad].contains(&id)
    }
}
