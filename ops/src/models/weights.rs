//! Writing tensors as a safetensors file.

use std::collections::HashMap;

use anyhow::Context as _;
use safetensors::{Dtype, tensor::TensorView};

use crate::failure::Failure;

/// A named tensor of f32.
#[derive(Debug, Clone, PartialEq)]
pub struct Tensor {
    /// Its name in the file.
    pub name: String,
    /// Its size in every dimension.
    pub shape: Vec<usize>,
    /// Its numbers, the last dimension the fastest.
    pub numbers: Vec<f32>,
}

/// A safetensors file of these tensors, with these words in its header.
pub fn file(tensors: &[Tensor], notes: &[(&str, &str)]) -> Result<Vec<u8>, Failure> {
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
