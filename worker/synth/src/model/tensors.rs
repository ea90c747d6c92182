//! Weights of a safetensors file, checked while they are read.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use half::{bf16, f16};
use safetensors::{Dtype, SafeTensors};

use crate::model::error::ModelError;

/// A tensor's shape and its values as f32.
pub type Floats = (Vec<usize>, Vec<f32>);

/// A file of weights, in memory.
pub struct Weights {
    path: PathBuf,
    bytes: Vec<u8>,
}

impl Weights {
    /// Reads the file and checks its header.
    pub fn read(path: &Path) -> Result<Self, ModelError> {
        let bytes =
            std::fs::read(path).map_err(|source| ModelError::Unreadable { path: path.to_owned(), source })?;
        Self::of(bytes, path)
    }

    /// Takes the bytes of a file and checks its header.
    pub fn of(bytes: Vec<u8>, path: &Path) -> Result<Self, ModelError> {
        let weights = Self { path: path.to_owned(), bytes };
        weights.file()?;
        Ok(weights)
    }

    /// Entry of the header's metadata, if there is one.
    pub fn note(&self, key: &str) -> Result<Option<String>, ModelError> {
        let (_, metadata) =
            SafeTensors::read_metadata(&self.bytes).map_err(|fault| self.unreadable(fault))?;
        Ok(metadata.metadata().as_ref().and_then(|notes| notes.get(key).cloned()))
    }

    /// Shape of a tensor; `None` where there is no such tensor.
    pub fn shape(&self, tensor: &str) -> Result<Option<Vec<usize>>, ModelError> {
        Ok(self.file()?.tensor(tensor).ok().map(|view| view.shape().to_vec()))
    }

    /// Tensor of f16, bf16 or f32, as f32. It must have this shape and finite values.
    pub fn floats(&self, tensor: &'static str, shape: &[usize]) -> Result<Vec<f32>, ModelError> {
        let (dtype, bytes) = self.values(tensor, shape)?;
        let values: Vec<f32> = match dtype {
            Dtype::F32 => each(bytes, f32::from_le_bytes),
            Dtype::F16 => each(bytes, |word| f16::from_le_bytes(word).to_f32()),
            Dtype::BF16 => each(bytes, |word| bf16::from_le_bytes(word).to_f32()),
            other => return Err(self.fault(tensor, format!("holds {other:?}, expected F16, BF16 or F32"))),
        };
        match values.iter().position(|value| !value.is_finite()) {
            Some(at) => Err(self.fault(tensor, format!("value {at} is {}", values[at]))),
            None => Ok(values),
        }
    }

    /// Tensor of signed bytes of this shape; `None` if its type differs.
    pub fn signed_bytes(&self, tensor: &'static str, shape: &[usize]) -> Result<Option<Vec<i8>>, ModelError> {
        let (dtype, bytes) = self.values(tensor, shape)?;
        Ok((dtype == Dtype::I8).then(|| each(bytes, i8::from_le_bytes)))
    }

    /// Tensor of unsigned bytes of this shape.
    pub fn bytes(&self, tensor: &'static str, shape: &[usize]) -> Result<&[u8], ModelError> {
        match self.values(tensor, shape)? {
            (Dtype::U8, bytes) => Ok(bytes),
            (other, _) => Err(self.fault(tensor, format!("holds {other:?}, expected U8"))),
        }
    }

    /// Tensor of unsigned 32-bit numbers of this shape.
    pub fn unsigned(&self, tensor: &'static str, shape: &[usize]) -> Result<Vec<u32>, ModelError> {
        match self.values(tensor, shape)? {
            (Dtype::U32, bytes) => Ok(each(bytes, u32::from_le_bytes)),
            (other, _) => Err(self.fault(tensor, format!("holds {other:?}, expected U32"))),
        }
    }

    /// All numeric tensors as f32, by name, each with its shape.
    pub fn tensors(&self) -> candle_core::Result<HashMap<String, Floats>> {
        let file = SafeTensors::deserialize(&self.bytes)?;
        let named = file.iter().map(|(name, view)| {
            let values = match view.dtype() {
                Dtype::F32 => each(view.data(), f32::from_le_bytes),
                Dtype::F16 => each(view.data(), |word| f16::from_le_bytes(word).to_f32()),
                Dtype::BF16 => each(view.data(), |word| bf16::from_le_bytes(word).to_f32()),
                Dtype::I8 => each(view.data(), |byte| f32::from(i8::from_le_bytes(byte))),
                other => candle_core::bail!("tensor {name} holds {other:?}"),
            };
            Ok((name.to_owned(), (view.shape().to_vec(), values)))
        });
        named.collect()
    }

    /// Error about one of the file's tensors.
    pub fn fault(&self, tensor: &'static str, fault: String) -> ModelError {
        ModelError::Tensor { path: self.path.clone(), tensor, fault }
    }

    fn values(&self, tensor: &'static str, shape: &[usize]) -> Result<(Dtype, &[u8]), ModelError> {
        let file = self.file()?;
        let view = file.tensor(tensor).map_err(|_| self.fault(tensor, "is missing".to_owned()))?;
        if view.shape() != shape {
            return Err(self.fault(tensor, format!("has shape {:?}, expected {shape:?}", view.shape())));
        }
        Ok((view.dtype(), view.data()))
    }

    fn file(&self) -> Result<SafeTensors<'_>, ModelError> {
        SafeTensors::deserialize(&self.bytes).map_err(|fault| self.unreadable(fault))
    }

    /// Error about the whole file.
    pub fn unreadable(&self, fault: impl ToString) -> ModelError {
        ModelError::Weights { path: self.path.clone(), fault: fault.to_string() }
    }
}

/// Converts every `N` bytes to a value.
fn each<const N: usize, T>(bytes: &[u8], value: impl Fn([u8; N]) -> T) -> Vec<T> {
    bytes.as_chunks().0.iter().map(|chunk| value(*chunk)).collect()
}
