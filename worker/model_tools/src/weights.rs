//! Writer of tensors as a safetensors file.

use std::collections::HashMap;

use anyhow::Context as _;
use safetensors::{Dtype, tensor::TensorView};

use crate::error::ModelToolError;

/// A named tensor of f32.
#[derive(Debug, Clone, PartialEq)]
pub struct Tensor {
    /// Name in the file.
    pub name: String,
    /// Size of each dimension.
    pub shape: Vec<usize>,
    /// Values in row-major order.
    pub numbers: Vec<f32>,
}

/// Encodes these tensors as a safetensors file, with `notes` in its header.
pub fn file(tensors: &[Tensor], notes: &[(&str, &str)]) -> Result<Vec<u8>, ModelToolError> {
    let bytes: Vec<Vec<u8>> = tensors
        .iter()
        .map(|tensor| tensor.numbers.iter().flat_map(|number| number.to_le_bytes()).collect())
        .collect();
    let views: Vec<(&str, TensorView<'_>)> = tensors
        .iter()
        .zip(&bytes)
        .map(|(tensor, bytes)| {
            let view = TensorView::new(Dtype::F32, tensor.shape.clone(), bytes)
                .with_context(|| format!("the tensor `{}`", tensor.name))?;
            Ok((tensor.name.as_str(), view))
        })
        .collect::<anyhow::Result<_>>()?;
    let notes: HashMap<String, String> =
        notes.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let notes = (!notes.is_empty()).then_some(notes);
    Ok(safetensors::serialize(views, notes).context("writing the weights")?)
}
