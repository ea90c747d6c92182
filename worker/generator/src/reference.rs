//! The reference network of candle-nn's layers: `Embedding`, `GRU` or `LSTM` as in PyTorch, `Linear`.
//!
//! It runs on any device. GPUs run nothing else, and the faster networks on a CPU, `fused` and `int8`, are tested
//! against it. Each of its operations costs a launch, so a batch on a GPU should hold thousands of strings.

use candle_core::{Device, Result, Tensor};
use candle_nn::{
    Embedding, Linear, Module, VarBuilder, embedding, linear,
    rnn::{GRU, GRUConfig, GRUState, LSTM, LSTMConfig, LSTMState, RNN, gru, lstm},
};

use crate::{
    config::{Cell, Config},
    pack::ModelPack,
};

/// Layers of a pack on a device.
#[derive(Debug)]
pub(crate) struct Network {
    embedding: Embedding,
    layers: Vec<Layer>,
    out: Linear,
    config: Config,
    device: Device,
}

#[derive(Debug)]
enum Layer {
    Gru(GRU),
    Lstm(LSTM),
}

/// Hidden state of a batch, in single precision.
#[derive(Debug)]
pub(crate) struct State {
    /// Layer states, from bottom to top.
    pub(crate) layers: Vec<LayerState>,
    /// Scores of the last step, `[batch, vocab]`.
    pub(crate) logits: Vec<f32>,
}

/// State tensors, `[batch, hidden]` f32: the output to the next layer and, for an LSTM, the internal cell state.
#[derive(Debug)]
pub(crate) enum LayerState {
    Gru(GRUState),
    Lstm(LSTMState),
}

impl Network {
    /// Builds the layers on `device` from a pack's weights.
    pub(crate) fn new(pack: &ModelPack, device: &Device) -> Result<Self> {
        let (config, weights) = (pack.config.clone(), pack.weights.builder(device));
        let (vocab, hidden) = (config.vocab_size, config.hidden_size);
        let layers = (0..config.num_layers).map(|n| {
            let input = if n == 0 { config.embedding_size } else { hidden };
            Layer::new(config.cell(), n, (input, hidden), weights.clone())
        });
        Ok(Self {
            embedding: embedding(vocab, config.embedding_size, weights.pp("embedding"))?,
            layers: layers.collect::<Result<_>>()?,
            out: linear(hidden, vocab, weights.pp("out"))?,
            config,
            device: device.clone(),
        })
    }

    /// Returns the state before the first token.
    pub(crate) fn start(&self, batch: usize) -> Result<State> {
        State::zeros(&self.config, batch, &self.device)
    }

    /// Feeds one token for every member of the batch; see [`crate::engine::NetworkEngine::step`].
    pub(crate) fn step(&self, tokens: &[u32], fresh: &[bool], state: &mut State) -> Result<()> {
        let kept: Vec<f32> = fresh.iter().map(|fresh| if *fresh { 0.0 } else { 1.0 }).collect();
        let kept = Tensor::from_vec(kept, (fresh.len(), 1), &self.device)?;
        let mut below = self.embedding.forward(&Tensor::new(tokens, &self.device)?)?;
        for (layer, state) in self.layers.iter().zip(&mut state.layers) {
            let last = state.each(|tensor| tensor.broadcast_mul(&kept))?;
            *state = layer.step(&below, &last)?;
            below = state.hidden().clone();
        }
        state.logits = self.out.forward(&below)?.flatten_all()?.to_vec1()?;
        Ok(())
    }
}

impl Layer {
    /// Builds layer `n`, counted from 0, with the given numbers of inputs and hidden units.
    fn new(
        cell: Cell,
        n: usize,
        (input, hidden): (usize, usize),
        weights: VarBuilder<'static>,
    ) -> Result<Self> {
        match cell {
            Cell::Gru => {
                // candle-nn's GRU always uses the first layer's weight names.
                let weights = weights.rename_f(move |name| name.replace("_l0", &format!("_l{n}")));
                gru(input, hidden, GRUConfig::default(), weights.pp("rnn")).map(Self::Gru)
            }
            Cell::Lstm => {
                let config = LSTMConfig { layer_idx: n, ..LSTMConfig::default() };
                lstm(input, hidden, config, weights.pp("rnn")).map(Self::Lstm)
            }
        }
    }

    fn step(&self, below: &Tensor, last: &LayerState) -> Result<LayerState> {
        match (self, last) {
            (Self::Gru(layer), LayerState::Gru(last)) => layer.step(below, last).map(LayerState::Gru),
            (Self::Lstm(layer), LayerState::Lstm(last)) => layer.step(below, last).map(LayerState::Lstm),
            _ => candle_core::bail!("the state of another network"),
        }
    }
}

impl State {
    /// Returns the initial state for a network of this shape.
    pub(crate) fn zeros(config: &Config, batch: usize, device: &Device) -> Result<Self> {
        let zeros = Tensor::zeros((batch, config.hidden_size), candle_core::DType::F32, device)?;
        let layer = || match config.cell() {
            Cell::Gru => LayerState::Gru(GRUState { h: zeros.clone() }),
            Cell::Lstm => LayerState::Lstm(LSTMState::new(zeros.clone(), zeros.clone())),
        };
        Ok(Self { layers: (0..config.num_layers).map(|_| layer()).collect(), logits: Vec::new() })
    }

    /// Removes members from the batch; see [`crate::engine::State::swap_remove`].
    pub(crate) fn swap_remove(&mut self, members: &[usize]) -> Result<()> {
        for layer in &mut self.layers {
            let hidden = layer.hidden();
            let mut kept: Vec<u32> = (0..).take(hidden.dim(0)?).collect();
            for member in members.iter().rev() {
                kept.swap_remove(*member);
            }
            if !kept.is_empty() {
                let kept = Tensor::new(kept, hidden.device())?;
                *layer = layer.each(|tensor| tensor.index_select(&kept, 0))?;
            }
        }
        Ok(())
    }
}

impl LayerState {
    /// Returns the output to the next layer.
    pub(crate) fn hidden(&self) -> &Tensor {
        match self {
            Self::Gru(state) => state.h(),
            Self::Lstm(state) => state.h(),
        }
    }

    /// Applies `change` to every tensor of the state.
    fn each(&self, change: impl Fn(&Tensor) -> Result<Tensor>) -> Result<Self> {
        Ok(match self {
            Self::Gru(state) => Self::Gru(GRUState { h: change(state.h())? }),
            Self::Lstm(state) => Self::Lstm(LSTMState::new(change(state.h())?, change(state.c())?)),
        })
    }
}
