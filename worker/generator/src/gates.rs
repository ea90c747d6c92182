//! The gates of a GRU layer in one pass (Cho et al., 2014, in PyTorch's variant, where the reset gate acts after the
//! hidden product: `n = tanh(x_n + r * (U_n h + b_n))`).
//!
//! As separate tensor operations, the gates cost as much as the matrix product before them: candle has no vectorised
//! tanh and creates a tensor for every operation. Here `exp` is a polynomial in plain arithmetic that the compiler
//! vectorises, and `pulp` compiles the loop for each instruction set that the machine may have. Results are within
//! 3e-7 of the exact functions.

use candle_core::{CpuStorage, CustomOp3, Layout, Result, Shape, bail};
use pulp::{Arch, Simd, WithSimd};

/// Computes the next hidden state from the input's part, the hidden part and the last hidden state.
///
/// The three tensors are `[rows, 3 * hidden]`, `[batch, 3 * hidden]` and `[batch, hidden]`, f32, contiguous; the
/// result is `[batch, hidden]`.
pub(crate) struct Gates<'a> {
    /// Row of the input's part for each member of the batch; `None` if member n has row n.
    pub(crate) rows: Option<&'a [u32]>,
    /// Members that start a string: their last hidden state counts as zero.
    pub(crate) fresh: &'a [bool],
    /// Hidden bias of gate n, `hidden` numbers. The biases of r and z are in the input's part.
    pub(crate) bias_new: &'a [f32],
}

impl CustomOp3 for Gates<'_> {
    fn name(&self) -> &'static str {
        "gru-gates"
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

        let zeros = vec![0.0; 3 * hidden];
        let mut next = vec![0.0; batch * hidden];
        let arch = Arch::new();
        for (member, next) in next.chunks_exact_mut(hidden).enumerate() {
            let row = self.rows.map_or(member, |rows| rows[member] as usize);
            let (product, last) = if self.fresh[member] {
                (&zeros[..], &zeros[..hidden])
            } else {
                (part(product, member, 3 * hidden), part(last, member, hidden))
            };
            let input = part(input, row, 3 * hidden);
            arch.dispatch(Member { input, product, last, bias_new: self.bias_new, next });
        }
        Ok((CpuStorage::F32(next), (batch, hidden).into()))
    }
}

pub(crate) fn contiguous<'a>(storage: &'a CpuStorage, layout: &Layout) -> Result<&'a [f32]> {
    match layout.contiguous_offsets() {
        Some((start, end)) => Ok(&storage.as_slice::<f32>()?[start..end]),
        None => bail!("gates want contiguous tensors"),
    }
}

pub(crate) fn part(numbers: &[f32], n: usize, len: usize) -> &[f32] {
    &numbers[n * len..(n + 1) * len]
}

/// One member of the batch.
struct Member<'a> {
    input: &'a [f32],
    product: &'a [f32],
    last: &'a [f32],
    bias_new: &'a [f32],
    next: &'a mut [f32],
}

impl WithSimd for Member<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let hidden = self.next.len();
        // Slices cut to one length, so that the loop has no bounds checks and is vectorised.
        let [input_r, input_z, input_n] = thirds(self.input, hidden);
        let [product_r, product_z, product_n] = thirds(self.product, hidden);
        let (last, bias_new) = (&self.last[..hidden], &self.bias_new[..hidden]);
        for j in 0..hidden {
            let reset = sigmoid(input_r[j] + product_r[j]);
            let update = sigmoid(input_z[j] + product_z[j]);
            let new = tanh(input_n[j] + reset * (product_n[j] + bias_new[j]));
            self.next[j] = new + update * (last[j] - new);
        }
    }
}

#[inline(always)]
pub(crate) fn thirds(numbers: &[f32], len: usize) -> [&[f32]; 3] {
    [&numbers[..len], &numbers[len..2 * len], &numbers[2 * len..3 * len]]
}

#[inline(always)]
pub(crate) fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

#[inline(always)]
pub(crate) fn tanh(x: f32) -> f32 {
    2.0 * sigmoid(2.0 * x) - 1.0
}

/// Computes `e^x` by range reduction and a polynomial (Cephes, `expf`); arguments are clamped to ±87.
#[inline(always)]
pub(crate) fn exp(x: f32) -> f32 {
    // Adding this constant rounds to an integer in the low bits; the oldest instruction set has no vector instruction
    // for `f32::round`.
    const ROUND: f32 = 12_582_912.0;
    let x = x.clamp(-87.0, 87.0);
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let whole = shifted - ROUND;
    let rest = x - whole * 0.693_359_4 + whole * 2.121_944_4e-4;
    let mut series = 1.987_569_1e-4;
    for coefficient in [1.398_2e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5] {
        series = series * rest + coefficient;
    }
    let power = shifted.to_bits().wrapping_sub(ROUND.to_bits()).wrapping_add(127) << 23;
    (series * rest * rest + rest + 1.0) * f32::from_bits(power)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use candle_core::{DType, Device, Tensor};
    use candle_nn::{
        VarBuilder,
        rnn::{GRUConfig, GRUState, RNN, gru},
    };

    use super::{Gates, exp, tanh};

    #[test]
    fn exp_and_tanh_are_as_exact_as_single_precision_needs() {
        for step in -8700..=8700 {
            let x = step as f32 / 100.0;
            let exact = f64::from(x).exp();
            assert!((f64::from(exp(x)) / exact - 1.0).abs() < 3e-7, "exp({x}) is {}", exp(x));
            assert!((f64::from(tanh(x)) - f64::from(x).tanh()).abs() < 3e-7, "tanh({x}) is {}", tanh(x));
        }
    }

    #[test]
    fn the_fused_gates_are_those_of_the_reference() {
        let (batch, hidden, device) = (5, 19, Device::Cpu);
        let input = Tensor::randn(0.0f32, 2.0, (batch, 3 * hidden), &device).unwrap();
        let last = Tensor::randn(0.0f32, 1.0, (batch, hidden), &device).unwrap();
        let weight = Tensor::randn(0.0f32, 0.5, (3 * hidden, hidden), &device).unwrap();
        let bias_new = Tensor::randn(0.0f32, 1.0, hidden, &device).unwrap();
        let weights = HashMap::from([
            // Identity weights, which pass the input to the gates.
            ("weight_ih_l0".to_owned(), Tensor::eye(3 * hidden, DType::F32, &device).unwrap()),
            ("bias_ih_l0".to_owned(), Tensor::zeros(3 * hidden, DType::F32, &device).unwrap()),
            ("weight_hh_l0".to_owned(), weight.clone()),
            ("bias_hh_l0".to_owned(), bias_new.pad_with_zeros(0, 2 * hidden, 0).unwrap()),
        ]);
        let weights = VarBuilder::from_tensors(weights, DType::F32, &device);
        let layer = gru(3 * hidden, hidden, GRUConfig::default(), weights).unwrap();

        let product = last.matmul(&weight.t().unwrap()).unwrap();
        let gates = Gates { rows: None, fresh: &[false; 5], bias_new: &bias_new.to_vec1().unwrap() };
        let fused = input.apply_op3_no_bwd(&product, &last, &gates).unwrap();
        let reference = layer.step(&input, &GRUState { h: last }).unwrap();

        let difference = (fused - reference.h()).unwrap().abs().unwrap().max_all().unwrap();
        assert!(difference.to_scalar::<f32>().unwrap() < 2e-6);
    }
}
