//! Errors of model packs and of sampling.

use std::{io, path::PathBuf};

/// Reason why a folder is not a model pack: the file and the fault.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "fields named in the variant's doc")]
#[non_exhaustive]
pub enum PackError {
    /// `file` is missing or unreadable.
    #[error("{}: {source}", file.display())]
    Unreadable { file: PathBuf, source: io::Error },
    /// `file` is not JSON, lacks a field, or has a field of the wrong type.
    #[error("{}: {source}", file.display())]
    Json { file: PathBuf, source: serde_json::Error },
    /// `field` of `file` is `found`, which is not `wanted`.
    #[error("{}: `{field}` is {found}, wanted {wanted}", file.display())]
    Value { file: PathBuf, field: &'static str, found: String, wanted: &'static str },
    /// `file` is not a tokenizer that decodes by concatenation.
    #[error("{}: {reason}", file.display())]
    Tokenizer { file: PathBuf, reason: String },
    /// `file` has `found` tokens, but the configuration says `wanted`.
    #[error("{}: {found} tokens, but `vocab_size` is {wanted}", file.display())]
    VocabularySize { file: PathBuf, found: usize, wanted: usize },
    /// `file` is truncated or not in the safetensors format.
    #[error("{}: {source}", file.display())]
    Weights { file: PathBuf, source: candle_core::Error },
    /// `file` lacks the tensor `name`.
    #[error("{}: no tensor `{name}`", file.display())]
    MissingTensor { file: PathBuf, name: String },
    /// `file` has a tensor `name` that the architecture does not have.
    #[error("{}: unexpected tensor `{name}`", file.display())]
    UnknownTensor { file: PathBuf, name: String },
    /// The tensor `name` has the shape `found`.
    #[error("{}: tensor `{name}` is {found:?}, wanted {wanted:?}", file.display())]
    Shape { file: PathBuf, name: String, found: Vec<usize>, wanted: Vec<usize> },
    /// The tensor `name` holds numbers of type `found`.
    #[error("{}: tensor `{name}` holds {found}, wanted f16, bf16 or f32", file.display())]
    NumberType { file: PathBuf, name: String, found: &'static str },
    /// The tensor `name` holds a NaN or an infinity.
    #[error("{}: tensor `{name}` holds a number that is not finite", file.display())]
    NotFinite { file: PathBuf, name: String },
}

/// Reason why sampling failed.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "fields named in the variant's doc")]
#[non_exhaustive]
pub enum SampleError {
    /// The model gave only `reached` distinct molecules of the `wanted` within the limit of attempts. `refused` are
    /// the valid strings refused by the filter, by the index of the constraint.
    #[error("the model gave {reached} distinct valid molecules of the {wanted} wanted")]
    SizeUnreachable { wanted: usize, reached: usize, refused: Vec<u64> },
    /// The budget ended first, with `reached` molecules found. `refused` as above.
    #[error("interrupted before the sample was complete")]
    Interrupted { reached: usize, refused: Vec<u64> },
    /// The model cannot write this part of the molecules: it has no token for an atom, or no string is long enough.
    #[error("the model cannot write molecules with `{part}`")]
    Unwritable { part: String },
    /// The network could not be evaluated.
    #[error("the network failed: {0}")]
    Network(#[from] candle_core::Error),
}
