//! What a prior's pickle says: vocabulary, network, lengths (`Model.get_save_dict` of REINVENT 2 to 4).

use std::path::Path;

use super::{
    END, START,
    archive::{Archive, ArchiveError},
    network::{Cell, MOST_WEIGHTS, Shape},
    pickle::{self, Id, Meaning, PickleError, Pickled},
};
use crate::models::weights::Tensor;

/// Most tokens of a vocabulary.
const MOST_TOKENS: usize = 1 << 16;
/// Most tensors of a network: fifty times what is usual.
const MOST_TENSORS: usize = 1_000;
/// Longest line that is taken over from a file, in characters.
const LONGEST_LINE: usize = 500;
/// Length of strings where the file does not say, as in REINVENT.
const DEFAULT_LENGTH: usize = 256;
/// A prior, checked as far as its own words go.
#[derive(Debug)]
pub struct Prior {
    /// What its layers are made of.
    pub cell: Cell,
    /// Its tokens by id.
    pub tokens: Vec<String>,
    /// Numbers of a token.
    pub embedding_size: usize,
    /// Numbers of a layer's state.
    pub hidden_size: usize,
    /// Layers.
    pub num_layers: usize,
    /// Tokens of the longest string, the first and the last included.
    pub max_length: usize,
    /// By the names of our packs.
    pub tensors: Vec<Tensor>,
    /// What it says it learnt from.
    pub training_data: Option<String>,
    /// What else it says of itself.
    pub history: Vec<String>,
}

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

impl Prior {
    /// Reads a file that `torch.save` wrote.
    pub fn read(file: &Path) -> Result<Self, PriorError> {
        let mut archive = Archive::open(file)?;
        let pickled = pickle::read(&archive.pickle()?, meaning)?;
        let saved = Saved { pickled: &pickled };
        saved.check_type()?;
        let tokens = saved.tokens()?;
        let shape = Shape::of(&saved)?;
        shape.check_parameters(&saved)?;
        let tensors = shape.read(&saved, tokens.len(), &mut archive)?;
        let root = pickled.root();
        let max_length = pickled.field(root, "max_sequence_length").and_then(|id| pickled.count(id));
        let (training_data, history) = saved.history();
        Ok(Self {
            cell: shape.cell,
            tokens,
            embedding_size: shape.embedding_size,
            hidden_size: shape.hidden_size,
            num_layers: shape.num_layers,
            max_length: max_length.unwrap_or(DEFAULT_LENGTH),
            tensors,
            training_data,
            history,
        })
    }
}

/// The names that priors have in them; every other is refused.
fn meaning(module: &str, name: &str) -> Option<Meaning> {
    let reinvent = ["reinvent", "reinvent_models", "models"].iter().any(|package| {
        module.strip_prefix(package).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    });
    match (module, name) {
        ("collections", "OrderedDict") => Some(Meaning::Dictionary),
        ("torch._utils", "_rebuild_tensor_v2" | "_rebuild_parameter") => Some(Meaning::Inert),
        (
            "torch",
            "FloatStorage" | "DoubleStorage" | "HalfStorage" | "BFloat16Storage" | "LongStorage"
            | "IntStorage",
        ) => Some(Meaning::Inert),
        ("copyreg" | "copy_reg", "_reconstructor") => Some(Meaning::Inert),
        ("builtins" | "__builtin__", "object") => Some(Meaning::Inert),
        ("uuid", "UUID") => Some(Meaning::Inert),
        (_, "Vocabulary" | "SMILESTokenizer" | "ModelMetaData") if reinvent => Some(Meaning::Inert),
        _ => None,
    }
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

    fn check_type(&self) -> Result<(), PriorError> {
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
    fn tokens(&self) -> Result<Vec<String>, PriorError> {
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
    fn history(&self) -> (Option<String>, Vec<String>) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_allowed_that_priors_have_and_no_others() {
        for (module, name) in [
            ("reinvent.models.reinvent.models.vocabulary", "Vocabulary"),
            ("reinvent_models.reinvent_core.models.vocabulary", "SMILESTokenizer"),
            ("models.vocabulary", "Vocabulary"),
            ("reinvent.models.meta_data", "ModelMetaData"),
            ("collections", "OrderedDict"),
        ] {
            assert!(meaning(module, name).is_some(), "{module}.{name}");
        }
        for (module, name) in [
            ("os", "system"),
            ("posix", "system"),
            ("builtins", "eval"),
            ("builtins", "getattr"),
            ("torch.storage", "_load_from_bytes"),
            ("reinvent.models", "load"),
            ("reinventors", "Vocabulary"),
            ("numpy.core.multiarray", "_reconstruct"),
            ("collections", "defaultdict"),
        ] {
            assert_eq!(meaning(module, name), None, "{module}.{name}");
        }
    }
}
