//! The forward pass of the language model: embedding, GRU layers, output (PyTorch `nn.GRU`).
//!
//! The embedding is folded into the input weights of the first layer: `W_i e(token) + b_i` is a row
//! of a `[vocab, 3 * hidden]` table, so the first layer costs one matrix product a step, not two.

use candle_core::{Device, Result, Tensor};

use crate::{
    gates::{self, Gates},
    pack::ModelPack,
    weights::LayerWeights,
};

/// Weights laid out for stepping.
#[derive(Debug)]
pub(crate) struct Network {
    layers: Vec<Layer>,
    /// `[hidden, vocab]`.
    out_weight: Tensor,
    /// `[vocab]`.
    out_bias: Tensor,
    hidden: usize,
    device: Device,
}

#[derive(Debug)]
struct Layer {
    input: Input,
    /// `[hidden, 3 * hidden]`.
    hidden_weight: Tensor,
    /// `[hidden]`: of gate n; the other gates' hidden biases are added to their input biases.
    bias_new: Tensor,
    bias_new_numbers: Vec<f32>,
}

#[derive(Debug)]
enum Input {
    /// `[vocab, 3 * hidden]`: what each token gives.
    Table(Tensor),
    /// `[hidden, 3 * hidden]` and `[3 * hidden]`: what the layer below gives.
    Below { weight: Tensor, bias: Tensor },
}

/// The hidden state of a batch.
#[derive(Debug)]
pub(crate) struct State {
    /// `[batch, hidden]` for every layer.
    layers: Vec<Tensor>,
    /// What the last step gave.
    logits: Vec<f32>,
}

impl State {
    /// Takes members out of the batch; see [`crate::engine::State::swap_remove`].
    pub(crate) fn swap_remove(&mut self, members: &[usize]) -> Result<()> {
        for layer in &mut self.layers {
            let mut kept: Vec<u32> = (0..).take(layer.dim(0)?).collect();
            for member in members.iter().rev() {
                kept.swap_remove(*member);
            }
            if !kept.is_empty() {
                *layer = layer.index_select(&Tensor::new(kept, layer.device())?, 0)?;
            }
        }
        Ok(())
    }
}

impl Network {
    pub(crate) fn new(pack: &ModelPack, device: &Device) -> Result<Self> {
        let weights = &pack.weights;
        let layers = (0..).zip(&weights.layers).map(|(n, layer)| {
            let embedding = (n == 0).then_some(&weights.embedding);
            Layer::new(layer, embedding, device)
        });
        Ok(Self {
            layers: layers.collect::<Result<_>>()?,
            out_weight: weights.out_weight.t()?.contiguous()?.to_device(device)?,
            out_bias: weights.out_bias.to_device(device)?,
            hidden: pack.config.hidden_size,
            device: device.clone(),
        })
    }

    /// The state before the first token.
    pub(crate) fn start(&self, batch: usize) -> Result<State> {
        let zeros = Tensor::zeros((batch, self.hidden), candle_core::DType::F32, &self.device)?;
        Ok(State { layers: vec![zeros; self.layers.len()], logits: Vec::new() })
    }

    /// Takes one token for every member of the batch; see [`crate::engine::Engine::step`].
    pub(crate) fn step<'a>(&self, tokens: &[u32], fresh: &[bool], state: &'a mut State) -> Result<&'a [f32]> {
        let layers = &mut state.layers;
        for n in 0..self.layers.len() {
            let below = n.checked_sub(1).map(|below| layers[below].clone());
            layers[n] = self.layers[n].step(below.as_ref(), tokens, fresh, &layers[n])?;
        }
        let top = layers.last().expect("pack: a model has a layer");
        let logits = top.matmul(&self.out_weight)?.broadcast_add(&self.out_bias)?;
        state.logits = logits.flatten_all()?.to_vec1()?;
        Ok(&state.logits)
    }
}

impl Layer {
    fn new(weights: &LayerWeights, embedding: Option<&Tensor>, device: &Device) -> Result<Self> {
        let hidden = weights.hidden_weight.dim(1)?;
        let bias = weights.outer_bias()?;
        let bias_new = weights.hidden_bias.narrow(0, 2 * hidden, hidden)?.contiguous()?;
        let input_weight = weights.input_weight.t()?.contiguous()?;

        let input = match embedding {
            Some(embedding) => {
                let table = embedding.matmul(&input_weight)?.broadcast_add(&bias)?;
                Input::Table(table.to_device(device)?)
            }
            None => Input::Below { weight: input_weight.to_device(device)?, bias: bias.to_device(device)? },
        };
        Ok(Self {
            input,
            hidden_weight: weights.hidden_weight.t()?.contiguous()?.to_device(device)?,
            bias_new_numbers: bias_new.to_vec1()?,
            bias_new: bias_new.to_device(device)?,
        })
    }

    /// The layer's next hidden state, from the layer below or, for the first layer, the tokens.
    fn step(&self, below: Option<&Tensor>, tokens: &[u32], fresh: &[bool], last: &Tensor) -> Result<Tensor> {
        let fused = last.device().is_cpu();
        let (input, rows) = match (&self.input, below) {
            (Input::Table(table), _) if fused => (table.clone(), Some(tokens)),
            (Input::Table(table), _) => (table.index_select(&Tensor::new(tokens, table.device())?, 0)?, None),
            (Input::Below { weight, bias }, Some(below)) => {
                (below.matmul(weight)?.broadcast_add(bias)?, None)
            }
            (Input::Below { .. }, None) => candle_core::bail!("a layer without a layer below"),
        };
        if fused {
            let product = last.matmul(&self.hidden_weight)?;
            let gates = Gates { rows, fresh, bias_new: &self.bias_new_numbers };
            return input.apply_op3_no_bwd(&product, last, &gates);
        }
        let kept: Vec<f32> = fresh.iter().map(|fresh| if *fresh { 0.0 } else { 1.0 }).collect();
        let last = last.broadcast_mul(&Tensor::from_vec(kept, (fresh.len(), 1), last.device())?)?;
        gates::plain(&input, &last.matmul(&self.hidden_weight)?, &last, &self.bias_new)
    }
}
