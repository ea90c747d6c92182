//! The gates of an LSTM layer in one pass (Hochreiter and Schmidhuber, 1997, as PyTorch's `nn.LSTM` has them, in the
//! order i, f, g, o): `c = σ(f) c + σ(i) tanh(g)`, `h = σ(o) tanh(c)`.
//!
//! One pass for the reason that `gates` gives for the GRU's.

use candle_core::{CpuStorage, CustomOp3, D, Layout, Result, Shape, Tensor};
use pulp::{Arch, Simd, WithSimd};

use crate::gates::{contiguous, part, plain_sigmoid, sigmoid, tanh};

/// The next state from the input's part, the hidden part and the last cell state.
///
/// The three tensors are `[rows, 4 * hidden]`, `[batch, 4 * hidden]` and `[batch, hidden]`, f32, contiguous; the
/// result is `[2, batch, hidden]`: the hidden state, then the cell state. Both biases are in the input's part.
pub(crate) struct Gates<'a> {
    /// The row of the input's part that belongs to each member of the batch; `None`: its own.
    pub(crate) rows: Option<&'a [u32]>,
    /// Members that begin: their last states count as zero.
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

/// The same as [`Gates`] in candle's own operations, for devices without the fused kernel.
///
/// `input` is `[batch, 4 * hidden]` here, and fresh members have been zeroed before the product.
pub(crate) fn plain(input: &Tensor, product: &Tensor, last: &Tensor) -> Result<(Tensor, Tensor)> {
    let hidden = last.dim(D::Minus1)?;
    let sums = (input + product)?;
    let gate = |n: usize| sums.narrow(1, n * hidden, hidden);
    let open = plain_sigmoid(sums.narrow(1, 0, 2 * hidden)?)?;
    let added = (open.narrow(1, 0, hidden)? * gate(2)?.tanh()?)?;
    let cell = ((open.narrow(1, hidden, hidden)? * last)? + added)?;
    let shown = (plain_sigmoid(gate(3)?)? * cell.tanh()?)?;
    Ok((shown, cell))
}

#[cfg(test)]
mod tests {
    use candle_core::{Device, Tensor};

    use super::{Gates, plain};

    #[test]
    fn the_fused_gates_equal_the_plain_ones() {
        let (batch, hidden, device) = (5, 19, Device::Cpu);
        let input = Tensor::randn(0.0f32, 2.0, (batch, 4 * hidden), &device).unwrap();
        let product = Tensor::randn(0.0f32, 2.0, (batch, 4 * hidden), &device).unwrap();
        let last = Tensor::randn(0.0f32, 1.0, (batch, hidden), &device).unwrap();

        let fused =
            input.apply_op3_no_bwd(&product, &last, &Gates { rows: None, fresh: &[false; 5] }).unwrap();
        let (shown, cell) = plain(&input, &product, &last).unwrap();

        let plain = Tensor::stack(&[shown, cell], 0).unwrap();
        let difference = (fused - plain).unwrap().abs().unwrap().max_all().unwrap();
        assert!(difference.to_scalar::<f32>().unwrap() < 2e-6);
    }
}
