//! The forward pass of the language model: embedding, recurrent layers, output (PyTorch's `nn.GRU` and `nn.LSTM`).
//!
//! The embedding is folded into the input weights of the first layer: `W_i e(token) + b_i` is a row
//! of a `[vocab, gates * hidden]` table, so the first layer costs one matrix product a step, not two.

use candle_core::{Device, Result, Tensor};

use crate::{
    gates, lstm,
    pack::{Cell, ModelPack},
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
    /// `[hidden, gates * hidden]`.
    hidden_weight: Tensor,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Gru {
        /// `[hidden]`: of gate n; the other gates' hidden biases are added to their input biases.
        bias_new: Tensor,
        bias_new_numbers: Vec<f32>,
    },
    Lstm,
}

#[derive(Debug)]
enum Input {
    /// `[vocab, gates * hidden]`: what each token gives.
    Table(Tensor),
    /// `[hidden, gates * hidden]` and `[gates * hidden]`: what the layer below gives.
    Below { weight: Tensor, bias: Tensor },
}

/// The hidden state of a batch.
#[derive(Debug)]
pub(crate) struct State {
    layers: Vec<LayerState>,
    /// What the last step gave.
    logits: Vec<f32>,
}

#[derive(Debug, Clone)]
struct LayerState {
    /// `[batch, hidden]`: what the next layer sees.
    hidden: Tensor,
    /// `[batch, hidden]`: what an LSTM keeps to itself.
    cell: Option<Tensor>,
}

impl State {
    /// The scores of the last step, `[batch, vocab]`.
    pub(crate) fn logits(&self) -> &[f32] {
        &self.logits
    }

    /// Takes members out of the batch; see [`crate::engine::State::swap_remove`].
    pub(crate) fn swap_remove(&mut self, members: &[usize]) -> Result<()> {
        let tensors = self.layers.iter_mut().flat_map(|layer| [Some(&mut layer.hidden), layer.cell.as_mut()]);
        for layer in tensors.flatten() {
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
            Layer::new(pack.config.cell(), layer, embedding, device)
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
        let layer = |layer: &Layer| LayerState {
            hidden: zeros.clone(),
            cell: matches!(layer.kind, Kind::Lstm).then(|| zeros.clone()),
        };
        Ok(State { layers: self.layers.iter().map(layer).collect(), logits: Vec::new() })
    }

    /// Takes one token for every member of the batch; see [`crate::engine::Engine::step`].
    pub(crate) fn step(&self, tokens: &[u32], fresh: &[bool], state: &mut State) -> Result<()> {
        let layers = &mut state.layers;
        for n in 0..self.layers.len() {
            let below = n.checked_sub(1).map(|below| layers[below].hidden.clone());
            layers[n] = self.layers[n].step(below.as_ref(), tokens, fresh, &layers[n])?;
        }
        let top = layers.last().expect("pack: a model has a layer");
        let logits = top.hidden.matmul(&self.out_weight)?.broadcast_add(&self.out_bias)?;
        state.logits = logits.flatten_all()?.to_vec1()?;
        Ok(())
    }
}

impl Layer {
    fn new(cell: Cell, weights: &LayerWeights, embedding: Option<&Tensor>, device: &Device) -> Result<Self> {
        let hidden = weights.hidden_weight.dim(1)?;
        let bias = weights.outer_bias()?;
        let kind = match cell {
            Cell::Gru => {
                let bias_new = weights.hidden_bias.narrow(0, 2 * hidden, hidden)?.contiguous()?;
                Kind::Gru { bias_new_numbers: bias_new.to_vec1()?, bias_new: bias_new.to_device(device)? }
            }
            Cell::Lstm => Kind::Lstm,
        };
        let input_weight = weights.input_weight.t()?.contiguous()?;

        let input = match embedding {
            Some(embedding) => {
                let table = embedding.matmul(&input_weight)?.broadcast_add(&bias)?;
                Input::Table(table.to_device(device)?)
            }
            None => Input::Below { weight: input_weight.to_device(device)?, bias: bias.to_device(device)? },
        };
        Ok(Self { input, hidden_weight: weights.hidden_weight.t()?.contiguous()?.to_device(device)?, kind })
    }

    /// The layer's next state, from the layer below or, for the first layer, the tokens.
    fn step(
        &self,
        below: Option<&Tensor>,
        tokens: &[u32],
        fresh: &[bool],
        last: &LayerState,
    ) -> Result<LayerState> {
        let fused = last.hidden.device().is_cpu();
        let (input, rows) = match (&self.input, below) {
            (Input::Table(table), _) if fused => (table.clone(), Some(tokens)),
            (Input::Table(table), _) => (table.index_select(&Tensor::new(tokens, table.device())?, 0)?, None),
            (Input::Below { weight, bias }, Some(below)) => {
                (below.matmul(weight)?.broadcast_add(bias)?, None)
            }
            (Input::Below { .. }, None) => candle_core::bail!("a layer without a layer below"),
        };
        if fused {
            return self.fused(&input, rows, fresh, last);
        }
        let kept: Vec<f32> = fresh.iter().map(|fresh| if *fresh { 0.0 } else { 1.0 }).collect();
        let kept = Tensor::from_vec(kept, (fresh.len(), 1), last.hidden.device())?;
        let hidden = last.hidden.broadcast_mul(&kept)?;
        let product = hidden.matmul(&self.hidden_weight)?;
        match (&self.kind, &last.cell) {
            (Kind::Lstm, Some(cell)) => {
                let (hidden, cell) = lstm::plain(&input, &product, &cell.broadcast_mul(&kept)?)?;
                Ok(LayerState { hidden, cell: Some(cell) })
            }
            (Kind::Gru { bias_new, .. }, None) => {
                let hidden = gates::plain(&input, &product, &hidden, bias_new)?;
                Ok(LayerState { hidden, cell: None })
            }
            _ => candle_core::bail!("the state of another network"),
        }
    }

    /// The same on a processor, with the gates in one pass.
    fn fused(
        &self,
        input: &Tensor,
        rows: Option<&[u32]>,
        fresh: &[bool],
        last: &LayerState,
    ) -> Result<LayerState> {
        let product = last.hidden.matmul(&self.hidden_weight)?;
        match (&self.kind, &last.cell) {
            (Kind::Lstm, Some(cell)) => {
                let states = input.apply_op3_no_bwd(&product, cell, &lstm::Gates { rows, fresh })?;
                Ok(LayerState { hidden: states.get(0)?, cell: Some(states.get(1)?) })
            }
            (Kind::Gru { bias_new_numbers, .. }, None) => {
                let gates = gates::Gates { rows, fresh, bias_new: bias_new_numbers };
                let hidden = input.apply_op3_no_bwd(&product, &last.hidden, &gates)?;
                Ok(LayerState { hidden, cell: None })
            }
            _ => candle_core::bail!("the state of another network"),
        }
    }
}
