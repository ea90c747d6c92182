//! Saved dictionary of a prior, entry by entry, and its errors.

use super::{
    END, START,
    archive::ArchiveError,
    pickle::{Id, PickleError, Pickled},
};

/// Maximum number of weights of a prior: fifty times the usual number.
pub const MAX_WEIGHTS: usize = 1 << 28;
/// Maximum number of tokens of a vocabulary.
const MAX_TOKENS: usize = 1 << 16;
/// Maximum number of tensors of a network: fifty times the usual number.
const MAX_TENSORS: usize = 1_000;
/// Maximum length of a line copied from a file, in characters.
const MAX_LINE_LENGTH: usize = 500;

/// Reason why a file is no prior.
#[derive(Debug, thiserror::Error)]
pub enum PriorError {
    /// The archive cannot be read.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// The pickle cannot be read.
    #[error(transparent)]
    Pickle(#[from] PickleError),
    /// The file holds another model than a prior of the classical REINVENT.
    #[error(
        "a model of type `{0}`; only `Reinvent` priors, which write SMILES from nothing, can be imported"
    )]
    OtherModel(String),
    /// An entry of the saved dictionary is missing or has the wrong type.
    #[error("`{entry}` is not {wanted}")]
    Entry {
        /// Name of the entry.
        entry: String,
        /// Expected type.
        wanted: &'static str,
    },
    /// The vocabulary is invalid.
    #[error("the vocabulary: {0}")]
    Vocabulary(String),
    /// A tensor cannot be used.
    #[error("tensor `{name}`: {fault}")]
    Tensor {
        /// Name of the tensor.
        name: String,
        /// Reason.
        fault: String,
    },
    /// The stated parameters contradict the tensors.
    #[error("`network_params.{parameter}` is {said}, but {seen}")]
    Parameter {
        /// Name of the parameter.
        parameter: &'static str,
        /// Stated value.
        said: String,
        /// Value according to the tensors.
        seen: String,
    },
    /// The file has more weights or tensors than a prior has.
    #[error("more than {MAX_WEIGHTS} weights, or more than {MAX_TENSORS} tensors")]
    TooLarge,
}

/// The saved dictionary.
pub struct SavedDictionary<'a> {
    /// The decoded pickle.
    pub pickled: &'a Pickled,
}

impl SavedDictionary<'_> {
    /// Returns an entry.
    pub fn entry(&self, name: &str) -> Option<Id> {
        self.pickled.field(self.pickled.root(), name)
    }

    /// Refuses a value that is no dictionary or belongs to another model.
    pub fn check_type(&self) -> Result<(), PriorError> {
        if self.pickled.entries(self.pickled.root()).is_none() {
            return Err(entry("the file", "a dictionary as REINVENT saves it"));
        }
        match self.entry("model_type").and_then(|id| self.pickled.text(id)) {
            Some(other) if !other.eq_ignore_ascii_case("reinvent") => {
                Err(PriorError::OtherModel(other.to_owned()))
            }
            _ => Ok(()),
        }
    }

    /// Returns the tokens by id, from an object with `_tokens`, which maps both ways, or from a plain dictionary.
    pub fn tokens(&self) -> Result<Vec<String>, PriorError> {
        let vocabulary = self.entry("vocabulary").ok_or_else(|| entry("vocabulary", "there"))?;
        let inner = ["_tokens", "tokens"].iter().find_map(|name| self.pickled.field(vocabulary, name));
        let pairs = self.pickled.entries(inner.unwrap_or(vocabulary));
        let pairs: Vec<(&str, Id)> =
            pairs.ok_or_else(|| entry("vocabulary", "a dictionary of tokens"))?.collect();
        if pairs.len() > MAX_TOKENS {
            return Err(PriorError::Vocabulary(format!("{} tokens", pairs.len())));
        }
        let mut tokens = vec![None; pairs.len()];
        for (token, id) in pairs {
            let id = self.pickled.count(id);
            match id.and_then(|id| tokens.get_mut(id)) {
                Some(place @ None) => *place = Some(token.to_owned()),
                _ => {
                    return Err(PriorError::Vocabulary(format!(
                        "`{token}` has no id of its own from 0 to {}",
                        tokens.len() - 1
                    )));
                }
            }
        }
        let tokens: Vec<String> = tokens.into_iter().flatten().collect();
        for (token, does) in [(START, "begins"), (END, "ends")] {
            if !tokens.iter().any(|known| known == token) {
                return Err(PriorError::Vocabulary(format!("no `{token}`, which {does} every string")));
            }
        }
        Ok(tokens)
    }

    /// Returns the tensors of the network by name, not yet decoded.
    pub fn network(&self) -> Result<Vec<(&str, Id)>, PriorError> {
        let network = self.entry("network").ok_or_else(|| entry("network", "there"))?;
        let tensors = self.pickled.entries(network);
        let tensors = tensors.ok_or_else(|| entry("network", "a dictionary of tensors"))?;
        let tensors: Vec<(&str, Id)> = tensors.take(MAX_TENSORS + 1).collect();
        if tensors.len() > MAX_TENSORS {
            return Err(PriorError::TooLarge);
        }
        Ok(tensors)
    }

    /// Returns the stated origin of the prior: its training data, and lines for its README.
    pub fn history(&self) -> (Option<String>, Vec<String>) {
        let Some(metadata) = self.entry("metadata") else { return (None, Vec::new()) };
        // REINVENT's own misspelling, and the correct spelling.
        let origin = ["origina_data_source", "original_data_source"];
        let line = |text: &str| {
            let line: String = text.trim().chars().take(MAX_LINE_LENGTH).collect();
            line.replace(char::is_control, " ")
        };
        let text = |name: &str| {
            let text = line(self.pickled.text(self.pickled.field(metadata, name)?)?);
            Some(text).filter(|text| !text.is_empty())
        };
        let training_data = origin.iter().find_map(|name| text(name));
        let mut history: Vec<String> = ["model_id", "hash_id"]
            .iter()
            .filter_map(|name| Some(format!("{name}: {}", text(name)?)))
            .collect();
        let comments = self.pickled.field(metadata, "comments").and_then(|id| self.pickled.items(id));
        let comments = comments.unwrap_or_default().iter().take(20);
        let comments = comments.filter_map(|id| self.pickled.text(*id));
        history.extend(comments.map(|text| format!("comment: {}", line(text))));
        (training_data, history)
    }
}

fn entry(entry: &str, wanted: &'static str) -> PriorError {
    PriorError::Entry { entry: entry.to_owned(), wanted }
}
