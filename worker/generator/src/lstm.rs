//! The gates of an LSTM layer in one pass (Hochreiter and Schmidhuber, 1997, in the form and order i, f, g, o of
//! PyTorch's `nn.LSTM`): `c = σ(f) c + σ(i) tanh(g)`, `h = σ(o) tanh(c)`.
//!
//! One pass, for the reason given in `gates` for the GRU.

use candle_core::{CpuStorage, CustomOp3, Layout, Result, Shape};
use pulp::{Arch, Simd, WithSimd};

use crate::gates::{contiguous, part, sigmoid, tanh};

/// Computes the next state from the input's part, the hidden part and the last cell state.
///
/// The three tensors are `[rows, 4 * hidden]`, `[batch, 4 * hidden]` and `[batch, hidden]`, f32, contiguous; the
/// result is `[2, batch, hidden]`: the hidden state, then the cell state. Both biases are in the input's part.
pub(crate) struct Gates<'a> {
    /// Row of the input's part for each member of the batch; `None` if member n has row n.
    pub(crate) rows: Option<&'a [u32]>,
    /// Members that start a string: their last states count as zero.
    pub(crate) fresh: &'a [bool],
}

impl CustomOp3 for Gates<'_> {
    fn name(&self) -> &'static str {
        "lstm-gates"
    }

    fn cpu_fwd(
        &self,
        input: &CpuStorage,
        input_layout: &Layout,
        product: &CpuStorage,
        product_layout: &Layout,
        last: &CpuStorage,
        last_layout: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        let (batch, hidden) = last_layout.shape().dims2()?;
        let input = contiguous(input, input_layout)?;
        let product = contiguous(product, product_layout)?;
        let last = contiguous(last, last_layout)?;

        let zeros = vec![0.0; 4 * hidden];
        let mut next = vec![0.0; 2 * batch * hidden];
        let (hiddens, cells) = next.split_at_mut(batch * hidden);
        let arch = Arch::new();
        let members = hiddens.chunks_exact_mut(hidden).zip(cells.chunks_exact_mut(hidden));
        for (member, (next_hidden, next_cell)) in members.enumerate() {
            let row = self.rows.map_or(member, |rows| rows[member] as usize);
            let (product, last) = if self.fresh[member] {
                (&zeros[..], &zeros[..hidden])
            } else {
                (part(product, member, 4 * hidden), part(last, member, hidden))
            };
            let input = part(input, row, 4 * hidden);
            arch.dispatch(Member { input, product, last, next_hidden, next_cell });
        }
        Ok((CpuStorage::F32(next), (2, batch, hidden).into()))
    }
}

/// One member of the batch.
struct Member<'a> {
    input: &'a [f32],
    product: &'a [f32],
    last: &'a [f32],
    next_hidden: &'a mut [f32],
    next_cell: &'a mut [f32],
}

impl WithSimd for Member<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let hidden = self.next_hidden.len();
        // Slices cut to one length, so that the loop has no bounds checks and is vectorised.
        let [input_i, input_f, input_g, input_o] = quarters(self.input, hidden);
        let [product_i, product_f, product_g, product_o] = quarters(self.product, hidden);
        let (last, next_cell) = (&self.last[..hidden], &mut self.next_cell[..hidden]);
        for j in 0..hidden {
            let add = sigmoid(input_i[j] + product_i[j]);
            let keep = sigmoid(input_f[j] + product_f[j]);
            let new = tanh(input_g[j] + product_g[j]);
            let show = sigmoid(input_o[j] + product_o[j]);
            let cell = keep * last[j] + add * new;
            next_cell[j] = cell;
            self.next_hidden[j] = show * tanh(cell);
        }
    }
}

#[inline(always)]
fn quarters(numbers: &[f32], len: usize) -> [&[f32]; 4] {
    [&numbers[..len], &numbers[len..2 * len], &numbers[2 * len..3 * len], &numbers[3 * len..4 * len]]
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use candle_core::{DType, Device, Tensor};
    use candle_nn::{
        VarBuilder,
        rnn::{LSTMConfig, LSTMState, RNN, lstm},
    };

    use super::Gates;

    #[test]
    fn the_fused_gates_are_those_of_the_reference() {
        let (batch, hidden, device) = (5, 19, Device::Cpu);
        let input = Tensor::randn(0.0f32, 2.0, (batch, 4 * hidden), &device).unwrap();
        let last = Tensor::randn(0.0f32, 1.0, (batch, hidden), &device).unwrap();
        let cells = Tensor::randn(0.0f32, 1.0, (batch, hidden), &device).unwrap();
        let weight = Tensor::randn(0.0f32, 0.5, (4 * hidden, hidden), &device).unwrap();
        let zeros = Tensor::zeros(4 * hidden, DType::F32, &device).unwrap();
        let weights = HashMap::from([
            // Identity weights, which pass the input to the gates.
            ("weight_ih_l0".to_owned(), Tensor::eye(4 * hidden, DType::F32, &device).unwrap()),
            ("bias_ih_l0".to_owned(), zeros.clone()),
            ("weight_hh_l0".to_owned(), weight.clone()),
            ("bias_hh_l0".to_owned(), zeros),
        ]);
        let weights = VarBuilder::from_tensors(weights, DType::F32, &device);
        let layer = lstm(4 * hidden, hidden, LSTMConfig::default(), weights).unwrap();

        let product = last.matmul(&weight.t().unwrap()).unwrap();
        let gates = Gates { rows: None, fresh: &[false; 5] };
        let fused = input.apply_op3_no_bwd(&product, &cells, &gates).unwrap();
        let reference = layer.step(&input, &LSTMState::new(last, cells)).unwrap();

        let reference = Tensor::stack(&[reference.h(), reference.c()], 0).unwrap();
        let difference = (fused - reference).unwrap().abs().unwrap().max_all().unwrap();
        assert!(difference.to_scalar::<f32>().unwrap() < 2e-6);
    }
}
