//! The network in single precision on a CPU: the same results as [`reference`](crate::reference), three times as
//! fast.
//!
//! The embedding is folded into the input weights of the first layer: `W_i e(token) + b_i` is a row of a `[vocab,
//! gates * hidden]` table. So the first layer costs one matrix product per step instead of two. The gates are
//! computed in one pass by our own code.

use candle_core::{Device, Result, Tensor};
use candle_nn::rnn::{GRUState, LSTMState};

use crate::{
    config::{Cell, Config},
    gates, lstm,
    pack::ModelPack,
    reference::{LayerState, State},
    weights::LayerWeights,
};

/// Weights arranged for stepping.
#[derive(Debug)]
pub(crate) struct Network {
    layers: Vec<Layer>,
    /// Shape `[hidden, vocab]`.
    out_weight: Tensor,
    /// Shape `[vocab]`.
    out_bias: Vec<f32>,
    config: Config,
}

#[derive(Debug)]
struct Layer {
    input: Input,
    /// Shape `[hidden, gates * hidden]`.
    hidden_weight: Tensor,
    /// Hidden biases that are not part of the input: for a GRU, `hidden` values of gate n.
    bias_new: Vec<f32>,
}

#[derive(Debug)]
enum Input {
    /// `[vocab, gates * hidden]`: input of each token to the gates.
    Table(Tensor),
    /// `[hidden, gates * hidden]` and `[gates * hidden]`: weights of the input from the layer below.
    Below { weight: Tensor, bias: Tensor },
}

impl Network {
    /// Arranges a pack's weights for stepping.
    pub(crate) fn new(pack: &ModelPack) -> Result<Self> {
        let weights = &pack.weights;
        let layers = (0..).zip(&weights.layers).map(|(n, layer)| {
            let embedding = (n == 0).then_some(&weights.embedding);
            Layer::new(pack.config.cell(), layer, embedding)
        });
        Ok(Self {
            layers: layers.collect::<Result<_>>()?,
            out_weight: weights.out_weight.t()?.contiguous()?,
            out_bias: weights.out_bias.to_vec1()?,
            config: pack.config.clone(),
        })
    }

    /// Returns the state before the first token.
    pub(crate) fn start(&self, batch: usize) -> Result<State> {
        State::zeros(&self.config, batch, &Device::Cpu)
    }

    /// Feeds one token for every member of the batch; see [`crate::engine::NetworkEngine::step`].
    pub(crate) fn step(&self, tokens: &[u32], fresh: &[bool], state: &mut State) -> Result<()> {
        let mut below = None;
        for (layer, state) in self.layers.iter().zip(&mut state.layers) {
            *state = layer.step(below, tokens, fresh, state)?;
            below = Some(state.hidden());
        }
        let top = below.expect("pack: a model has a layer");
        state.logits = top.matmul(&self.out_weight)?.flatten_all()?.to_vec1()?;
        for logits in state.logits.chunks_exact_mut(self.out_bias.len()) {
            logits.iter_mut().zip(&self.out_bias).for_each(|(logit, bias)| *logit += bias);
        }
        Ok(())
    }
}

impl Layer {
    fn new(cell: Cell, weights: &LayerWeights, embedding: Option<&Tensor>) -> Result<Self> {
        let hidden = weights.hidden_weight.dim(1)?;
        let bias = weights.outer_bias()?;
        let bias_new = match cell {
            Cell::Gru => weights.hidden_bias.narrow(0, 2 * hidden, hidden)?.to_vec1()?,
            Cell::Lstm => Vec::new(),
        };
        let weight = weights.input_weight.t()?.contiguous()?;
        let input = match embedding {
            Some(embedding) => Input::Table(embedding.matmul(&weight)?.broadcast_add(&bias)?),
            None => Input::Below { weight, bias },
        };
        Ok(Self { input, hidden_weight: weights.hidden_weight.t()?.contiguous()?, bias_new })
    }

    /// Computes the layer's next state from the layer below or, for the first layer, from the tokens.
    fn step(
        &self,
        below: Option<&Tensor>,
        tokens: &[u32],
        fresh: &[bool],
        last: &LayerState,
    ) -> Result<LayerState> {
        let (input, rows) = match (&self.input, below) {
            (Input::Table(table), _) => (table.clone(), Some(tokens)),
            (Input::Below { weight, bias }, Some(below)) => {
                (below.matmul(weight)?.broadcast_add(bias)?, None)
            }
            (Input::Below { .. }, None) => candle_core::bail!("a layer without a layer below"),
        };
        let product = last.hidden().matmul(&self.hidden_weight)?;
        match last {
            LayerState::Lstm(last) => {
                let states = input.apply_op3_no_bwd(&product, last.c(), &lstm::Gates { rows, fresh })?;
                Ok(LayerState::Lstm(LSTMState::new(states.get(0)?, states.get(1)?)))
            }
            LayerState::Gru(last) => {
                let gates = gates::Gates { rows, fresh, bias_new: &self.bias_new };
                let h = input.apply_op3_no_bwd(&product, last.h(), &gates)?;
                Ok(LayerState::Gru(GRUState { h }))
            }
        }
    }
}
