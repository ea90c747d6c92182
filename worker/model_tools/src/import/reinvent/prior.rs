//! Contents of a prior's pickle: vocabulary, network, lengths (`Model.get_save_dict` of REINVENT 2 to 4).

use std::{
    io::{Read, Seek},
    path::Path,
};

use super::{
    archive::Archive,
    network::{CellKind, Shape},
    pickle::{self, NameUse},
    saved::{PriorError, SavedDictionary},
};
use crate::weights::Tensor;

/// Default maximum length of strings, as in REINVENT.
const DEFAULT_LENGTH: usize = 256;

/// A prior that has been checked against its own description.
#[derive(Debug)]
pub struct Prior {
    /// Cell of its layers.
    pub cell: CellKind,
    /// Tokens by id.
    pub tokens: Vec<String>,
    /// Size of a token's embedding.
    pub embedding_size: usize,
    /// Size of a layer's state.
    pub hidden_size: usize,
    /// Number of layers.
    pub num_layers: usize,
    /// Maximum number of tokens of a string, including the first and the last.
    pub max_length: usize,
    /// Tensors, under the names of our packs.
    pub tensors: Vec<Tensor>,
    /// Training data that the file states.
    pub training_data: Option<String>,
    /// Other statements of the file about the prior.
    pub history: Vec<String>,
}

impl Prior {
    /// Reads a file that `torch.save` wrote.
    pub fn read(file: &Path) -> Result<Self, PriorError> {
        Self::of(&mut Archive::open(file)?)
    }

    /// Reads the prior in an archive.
    pub fn of<R: Read + Seek>(archive: &mut Archive<R>) -> Result<Self, PriorError> {
        let pickle = archive.pickle()?;
        Self::pickled(&pickle, archive)
    }

    /// Reads the prior that `pickle` describes; the tensors come from the archive.
    pub fn pickled<R: Read + Seek>(pickle: &[u8], archive: &mut Archive<R>) -> Result<Self, PriorError> {
        let pickled = pickle::read(pickle, meaning)?;
        let saved = SavedDictionary { pickled: &pickled };
        saved.check_type()?;
        let tokens = saved.tokens()?;
        let shape = Shape::of(&saved)?;
        shape.check_parameters(&saved)?;
        let tensors = shape.read(&saved, tokens.len(), archive)?;
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

/// Allows the names that occur in priors; every other name is refused.
fn meaning(module: &str, name: &str) -> Option<NameUse> {
    let reinvent = ["reinvent", "reinvent_models", "models"].iter().any(|package| {
        module.strip_prefix(package).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    });
    match (module, name) {
        ("collections", "OrderedDict") => Some(NameUse::Dictionary),
        ("torch._utils", "_rebuild_tensor_v2" | "_rebuild_parameter") => Some(NameUse::Inert),
        (
            "torch",
            "FloatStorage" | "DoubleStorage" | "HalfStorage" | "BFloat16Storage" | "LongStorage"
            | "IntStorage",
        ) => Some(NameUse::Inert),
        ("copyreg" | "copy_reg", "_reconstructor") => Some(NameUse::Inert),
        ("builtins" | "__builtin__", "object") => Some(NameUse::Inert),
        ("uuid", "UUID") => Some(NameUse::Inert),
        (_, "Vocabulary" | "SMILESTokenizer" | "ModelMetaData") if reinvent => Some(NameUse::Inert),
        _ => None,
    }
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
