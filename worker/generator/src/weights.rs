//! Weights of a recurrent language model, by PyTorch's names.

use std::{collections::HashMap, path::PathBuf};

use candle_core::{DType, Device, Tensor, safetensors};
use candle_nn::VarBuilder;

use crate::{
    PackError,
    config::{self, Cell, Config},
};

/// All tensors, in f32 on the CPU, with checked shapes.
#[derive(Debug, Clone)]
pub(crate) struct Weights {
    /// Shape `[vocab, embedding]`.
    pub(crate) embedding: Tensor,
    pub(crate) layers: Vec<LayerWeights>,
    /// Shape `[vocab, hidden]`.
    pub(crate) out_weight: Tensor,
    /// Shape `[vocab]`.
    pub(crate) out_bias: Tensor,
}

/// Weights of one layer. Rows are the gates one after the other: r, z, n of a GRU (3), i, f, g, o of an LSTM (4).
#[derive(Debug, Clone)]
pub(crate) struct LayerWeights {
    /// Shape `[gates * hidden, input]`.
    pub(crate) input_weight: Tensor,
    /// Shape `[gates * hidden, hidden]`.
    pub(crate) hidden_weight: Tensor,
    /// Shape `[gates * hidden]`.
    pub(crate) input_bias: Tensor,
    /// Shape `[gates * hidden]`.
    pub(crate) hidden_bias: Tensor,
}

impl Weights {
    pub(crate) fn load(file: PathBuf, config: &Config) -> Result<Self, PackError> {
        Self::read(&config::bytes(&file)?, file, config)
    }

    /// Parses the content of `file`.
    pub(crate) fn read(bytes: &[u8], file: PathBuf, config: &Config) -> Result<Self, PackError> {
        let tensors = safetensors::load_buffer(bytes, &Device::Cpu)
            .map_err(|source| PackError::Weights { file: file.clone(), source })?;
        let mut file = WeightFile { file, tensors };

        let (vocab, hidden) = (config.vocab_size, config.hidden_size);
        let gates = config.cell().gates() * hidden;
        let weights = Self {
            embedding: file.take("embedding.weight", &[vocab, config.embedding_size])?,
            layers: (0..config.num_layers)
                .map(|n| {
                    let input = if n == 0 { config.embedding_size } else { hidden };
                    Ok(LayerWeights {
                        input_weight: file.take(&format!("rnn.weight_ih_l{n}"), &[gates, input])?,
                        hidden_weight: file.take(&format!("rnn.weight_hh_l{n}"), &[gates, hidden])?,
                        input_bias: file.take(&format!("rnn.bias_ih_l{n}"), &[gates])?,
                        hidden_bias: file.take(&format!("rnn.bias_hh_l{n}"), &[gates])?,
                    })
                })
                .collect::<Result<_, PackError>>()?,
            out_weight: file.take("out.weight", &[vocab, hidden])?,
            out_bias: file.take("out.bias", &[vocab])?,
        };
        file.finish()?;
        Ok(weights)
    }

    /// Returns every tensor with its name: embedding, output, then layer by layer. This is the order of the
    /// parameters in training.
    pub(crate) fn named(&self) -> Vec<(String, &Tensor)> {
        let ends = [
            ("embedding.weight", &self.embedding),
            ("out.weight", &self.out_weight),
            ("out.bias", &self.out_bias),
        ];
        let layers = self.layers.iter().enumerate().flat_map(|(n, layer)| {
            [
                (format!("rnn.weight_ih_l{n}"), &layer.input_weight),
                (format!("rnn.weight_hh_l{n}"), &layer.hidden_weight),
                (format!("rnn.bias_ih_l{n}"), &layer.input_bias),
                (format!("rnn.bias_hh_l{n}"), &layer.hidden_bias),
            ]
        });
        ends.map(|(name, tensor)| (name.to_owned(), tensor)).into_iter().chain(layers).collect()
    }

    /// Returns the tensors for candle-nn's layers on `device`.
    pub(crate) fn builder(&self, device: &Device) -> VarBuilder<'static> {
        let tensors = self.named().into_iter().map(|(name, tensor)| (name, tensor.clone()));
        VarBuilder::from_tensors(tensors.collect(), DType::F32, device)
    }
}

impl LayerWeights {
    /// Returns the bias that does not depend on the hidden state, `[gates * hidden]`. Most gates only use the sum of
    /// their two biases, but gate n of a GRU scales the hidden bias by r.
    pub(crate) fn outer_bias(&self) -> candle_core::Result<Tensor> {
        let (rows, hidden) = self.hidden_weight.dims2()?;
        if rows == Cell::Lstm.gates() * hidden {
            return &self.input_bias + &self.hidden_bias;
        }
        &self.input_bias + self.hidden_bias.narrow(0, 0, 2 * hidden)?.pad_with_zeros(0, 0, hidden)?
    }
}

/// File of tensors, which are removed one by one.
struct WeightFile {
    file: PathBuf,
    tensors: HashMap<String, Tensor>,
}

impl WeightFile {
    fn take(&mut self, name: &str, wanted: &[usize]) -> Result<Tensor, PackError> {
        let (file, name) = (self.file.clone(), name.to_owned());
        let Some(tensor) = self.tensors.remove(&name) else {
            return Err(PackError::MissingTensor { file, name });
        };
        if tensor.dims() != wanted {
            let (found, wanted) = (tensor.dims().to_vec(), wanted.to_vec());
            return Err(PackError::Shape { file, name, found, wanted });
        }
        if !matches!(tensor.dtype(), DType::F16 | DType::BF16 | DType::F32) {
            return Err(PackError::NumberType { file, name, found: tensor.dtype().as_str() });
        }
        let broken = |source| PackError::Weights { file: file.clone(), source };
        let tensor = tensor.to_dtype(DType::F32).map_err(broken)?;
        let numbers = tensor.flatten_all().and_then(|flat| flat.to_vec1::<f32>()).map_err(broken)?;
        if numbers.iter().all(|number| number.is_finite()) {
            Ok(tensor)
        } else {
            Err(PackError::NotFinite { file, name })
        }
    }

    fn finish(self) -> Result<(), PackError> {
        match self.tensors.into_keys().min() {
            Some(name) => Err(PackError::UnknownTensor { file: self.file, name }),
            None => Ok(()),
        }
    }
}
