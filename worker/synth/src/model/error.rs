//! Errors of loading a model directory.

use std::path::PathBuf;

/// A fault in a model directory.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// A file cannot be read.
    #[error("cannot read {}", path.display())]
    #[expect(missing_docs, reason = "fields named in the variant's doc")]
    Unreadable { path: PathBuf, source: std::io::Error },
    /// A line of the template table does not follow the format.
    #[error("{}, line {line}: {fault}", path.display())]
    #[expect(missing_docs, reason = "fields named in the variant's doc")]
    Row { path: PathBuf, line: u64, fault: String },
    /// The template table has no templates, or no usable ones.
    #[error("{}: none of its {read} templates can be used", path.display())]
    #[expect(missing_docs, reason = "fields named in the variant's doc")]
    NoTemplates { path: PathBuf, read: usize },
    /// The file of weights is not a safetensors file.
    #[error("{}: not a readable safetensors file: {fault}", path.display())]
    #[expect(missing_docs, reason = "fields named in the variant's doc")]
    Weights { path: PathBuf, fault: String },
    /// A tensor is missing or cannot be used.
    #[error("{}, tensor `{tensor}`: {fault}", path.display())]
    #[expect(missing_docs, reason = "fields named in the variant's doc")]
    Tensor { path: PathBuf, tensor: &'static str, fault: String },
}
