//! The saved dictionary of a prior, entry by entry, and what can be wrong with it.

use super::{
    END, START,
    archive::ArchiveError,
    pickle::{Id, PickleError, Pickled},
};

/// Most weights of a prior: fifty times what is usual.
pub const MOST_WEIGHTS: usize = 1 << 28;
/// Most tokens of a vocabulary.
const MOST_TOKENS: usize = 1 << 16;
/// Most tensors of a network: fifty times what is usual.
const MOST_TENSORS: usize = 1_000;
/// Longest line that is taken over from a file, in characters.
const LONGEST_LINE: usize = 500;

/// Why a file is no prior.
#[derive(Debug, thiserror::Error)]
pub enum PriorError {
    /// The archive cannot be read.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// The pickle cannot be read.
    #[error(transparent)]
    Pickle(#[from] PickleError),
    /// It is another model than a prior of the classical REINVENT.
    #[error(
        "a model of type `{0}`; only `Reinvent` priors, which write SMILES from nothing, can be imported"
    )]
    OtherModel(String),
    /// An entry of the saved dictionary is missing or of a kind that it should not have.
    #[error("`{entry}` is not {wanted}")]
    Entry {
        /// Its name.
        entry: String,
        /// What it should be.
        wanted: &'static str,
    },
    /// The vocabulary is not one.
    #[error("the vocabulary: {0}")]
    Vocabulary(String),
    /// A tensor cannot be used.
    #[error("tensor `{name}`: {fault}")]
    Tensor {
        /// Its name.
        name: String,
        /// What is wrong.
        fault: String,
    },
    /// The parameters say something else than the tensors.
    #[error("`network_params.{parameter}` is {said}, but {seen}")]
    Parameter {
        /// Its name.
        parameter: &'static str,
        /// Its value.
        said: String,
        /// What the network is.
        seen: String,
    },
    /// There are more weights or tensors than a prior has.
    #[error("more than {MOST_WEIGHTS} weights, or more than {MOST_TENSORS} tensors")]
    TooLarge,
}

/// The saved dictionary.
pub struct Saved<'a> {
    /// What was pickled.
    pub pickled: &'a Pickled,
}

impl Saved<'_> {
    /// An entry.
    pub fn entry(&self, name: &str) -> Option<Id> {
        self.pickled.field(self.pickled.root(), name)
    }

    /// Refuses what is no dictionary, or of another model.
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

    /// The tokens by id: of an object with `_tokens`, which maps both ways, or of a plain dictionary.
    pub fn tokens(&self) -> Result<Vec<String>, PriorError> {
        let vocabulary = self.entry("vocabulary").ok_or_else(|| entry("vocabulary", "there"))?;
        let inner = ["_tokens", "tokens"].iter().find_map(|name| self.pickled.field(vocabulary, name));
        let pairs = self.pickled.entries(inner.unwrap_or(vocabulary));
        let pairs: Vec<(&str, Id)> =
            pairs.ok_or_else(|| entry("vocabulary", "a dictionary of tokens"))?.collect();
        if pairs.len() > MOST_TOKENS {
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

    /// The tensors of the network by name, not yet looked into.
    pub fn network(&self) -> Result<Vec<(&str, Id)>, PriorError> {
        let network = self.entry("network").ok_or_else(|| entry("network", "there"))?;
        let tensors = self.pickled.entries(network);
        let tensors = tensors.ok_or_else(|| entry("network", "a dictionary of tensors"))?;
        let tensors: Vec<(&str, Id)> = tensors.take(MOST_TENSORS + 1).collect();
        if tensors.len() > MOST_TENSORS {
            return Err(PriorError::TooLarge);
        }
        Ok(tensors)
    }

    /// What the prior says of its origin: its training data, and lines for its README.
    pub fn history(&self) -> (Option<String>, Vec<String>) {
        let Some(metadata) = self.entry("metadata") else { return (None, Vec::new()) };
        // REINVENT's own spelling, and the one that it meant.
        let origin = ["origina_data_source", "original_data_source"];
        let line = |text: &str| {
            let line: String = text.trim().chars().take(LONGEST_LINE).collect();
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
