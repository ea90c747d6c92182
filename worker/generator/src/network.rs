//! The forward pass of the language model: embedding, recurrent layers, output (PyTorch's `nn.GRU` and `nn.LSTM`).
//!
//! The embedding is folded into the input weights of the first layer: `W_i e(token) + b_i` is a row
//! of a `[vocab, gates * hidden]` table, so the first layer costs one matrix product a step, not two.
//!
//! On a processor the gates are one pass of our own. Elsewhere they are candle's operations, one after the other
//! ("plain"): each costs a launch, so a batch should hold thousands. Plain operations also run on a processor, where
//! they are tested against the fused ones.

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
    operations: Operations,
}

/// How a network computes its gates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operations {
    /// In one pass, on a processor.
    Fused,
    /// In candle's operations, on any device.
    Plain,
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

/// What every member of a batch is given in a step, as its gates want it.
enum Given<'a> {
    Fused {
        tokens: &'a [u32],
        fresh: &'a [bool],
    },
    /// `[batch]` u32, and `[batch, 1]`: 0 for a member that begins anew, 1 for another.
    Plain {
        tokens: Tensor,
        kept: Tensor,
    },
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
    /// Lays a pack's weights out on `device`, for the fastest operations that it has.
    pub(crate) fn new(pack: &ModelPack, device: &Device) -> Result<Self> {
        let operations = if device.is_cpu() { Operations::Fused } else { Operations::Plain };
        Self::with_operations(pack, device, operations)
    }

    /// Lays a pack's weights out for plain operations.
    pub(crate) fn plain(pack: &ModelPack, device: &Device) -> Result<Self> {
        Self::with_operations(pack, device, Operations::Plain)
    }

    fn with_operations(pack: &ModelPack, device: &Device, operations: Operations) -> Result<Self> {
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
            operations,
        })
    }

    /// How it computes its gates.
    pub(crate) fn operations(&self) -> Operations {
        self.operations
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
        let given = match self.operations {
            Operations::Fused => Given::Fused { tokens, fresh },
            Operations::Plain => {
                let kept = fresh.iter().map(|fresh| if *fresh { 0.0f32 } else { 1.0 }).collect();
                let kept = Tensor::from_vec(kept, (fresh.len(), 1), &self.device)?;
                Given::Plain { tokens: Tensor::new(tokens, &self.device)?, kept }
            }
        };
        let layers = &mut state.layers;
        for n in 0..self.layers.len() {
            let below = n.checked_sub(1).map(|below| layers[below].hidden.clone());
            layers[n] = self.layers[n].step(below.as_ref(), &given, &layers[n])?;
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
    fn step(&self, below: Option<&Tensor>, given: &Given, last: &LayerState) -> Result<LayerState> {
        match given {
            Given::Fused { tokens, fresh } => {
                let (input, rows) = match &self.input {
                    Input::Table(table) => (table.clone(), Some(*tokens)),
                    Input::Below { weight, bias } => (input_from(below, weight, bias)?, None),
                };
                self.fused(&input, rows, fresh, last)
            }
            Given::Plain { tokens, kept } => {
                let input = match &self.input {
                    Input::Table(table) => table.index_select(tokens, 0)?,
                    Input::Below { weight, bias } => input_from(below, weight, bias)?,
                };
                self.plain(&input, kept, last)
            }
        }
    }

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

    fn plain(&self, input: &Tensor, kept: &Tensor, last: &LayerState) -> Result<LayerState> {
        let hidden = last.hidden.broadcast_mul(kept)?;
        let product = hidden.matmul(&self.hidden_weight)?;
        match (&self.kind, &last.cell) {
            (Kind::Lstm, Some(cell)) => {
                let (hidden, cell) = lstm::plain(input, &product, &cell.broadcast_mul(kept)?)?;
                Ok(LayerState { hidden, cell: Some(cell) })
            }
            (Kind::Gru { bias_new, .. }, None) => {
                let hidden = gates::plain(input, &product, &hidden, bias_new)?;
                Ok(LayerState { hidden, cell: None })
            }
            _ => candle_core::bail!("the state of another network"),
        }
    }
}

/// What the layer below gives, `[batch, gates * hidden]`.
fn input_from(below: Option<&Tensor>, weight: &Tensor, bias: &Tensor) -> Result<Tensor> {
    let Some(below) = below else { candle_core::bail!("a layer without a layer below") };
    below.matmul(weight)?.broadcast_add(bias)
}
