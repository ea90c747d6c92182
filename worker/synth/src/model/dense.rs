//! A small dense layer in single precision, for many inputs at a time.
//!
//! Every output is summed in the order of the inputs, so every machine gets the same bits, whatever its vector width.

use pulp::{Arch, Simd, WithSimd};

use crate::model::error::ModelError;
use crate::model::tensors::Weights;

/// Number of outputs that are summed together, in registers.
const LANES: usize = 32;

/// A dense layer, `inputs -> outputs`.
#[derive(Debug)]
pub struct Dense {
    inputs: usize,
    outputs: usize,
    /// Weights as `[block of outputs, inputs]`: the file's matrix, transposed, with outputs padded with zeros.
    weights: Vec<[f32; LANES]>,
}

impl Dense {
    /// Loads a tensor of `[outputs, inputs]`, as PyTorch's linear layers write it.
    pub fn load(
        file: &Weights,
        tensor: &'static str,
        inputs: usize,
        outputs: usize,
    ) -> Result<Self, ModelError> {
        Ok(Self::new(inputs, outputs, &file.floats(tensor, &[outputs, inputs])?))
    }

    /// Creates a layer from `[outputs, inputs]` weights.
    pub fn new(inputs: usize, outputs: usize, rows: &[f32]) -> Self {
        let mut weights = vec![[0.0; LANES]; inputs * outputs.div_ceil(LANES)];
        for (output, row) in rows.chunks_exact(inputs.max(1)).enumerate() {
            for (input, &weight) in row.iter().enumerate() {
                weights[output / LANES * inputs + input][output % LANES] = weight;
            }
        }
        Self { inputs, outputs, weights }
    }

    /// Adds the layer's outputs for `[n, inputs]` to `[n, outputs]` sums.
    pub fn add_to(&self, inputs: &[f32], sums: &mut [f32]) {
        Arch::new().dispatch(Product { layer: self, inputs, sums });
    }
}

/// The matrix product, compiled for the instruction sets that `pulp` finds at run time.
struct Product<'a> {
    layer: &'a Dense,
    inputs: &'a [f32],
    sums: &'a mut [f32],
}

impl WithSimd for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        let Dense { inputs: width, outputs, weights } = self.layer;
        // Loops, since closures would not be compiled for the instruction set.
        for (block, weights) in weights.chunks_exact((*width).max(1)).enumerate() {
            let first = block * LANES;
            let count = (*outputs - first).min(LANES);
            let mut inputs = self.inputs.chunks_exact(2 * *width);
            let mut sums = self.sums.chunks_exact_mut(2 * *outputs);
            // Two rows of inputs share each read of the weights, and fill the registers.
            for (input, sums) in (&mut inputs).zip(&mut sums) {
                let (one, two) = input.split_at(*width);
                let (sums_one, sums_two) = sums.split_at_mut(*outputs);
                let (sums_one, sums_two) =
                    (&mut sums_one[first..first + count], &mut sums_two[first..first + count]);
                let (mut lanes_one, mut lanes_two) = ([0.0_f32; LANES], [0.0_f32; LANES]);
                lanes_one[..count].copy_from_slice(sums_one);
                lanes_two[..count].copy_from_slice(sums_two);
                for ((one, two), weights) in one.iter().zip(two).zip(weights) {
                    for lane in 0..LANES {
                        lanes_one[lane] += one * weights[lane];
                        lanes_two[lane] += two * weights[lane];
                    }
                }
                sums_one.copy_from_slice(&lanes_one[..count]);
                sums_two.copy_from_slice(&lanes_two[..count]);
            }
            let (input, sums) = (inputs.remainder(), sums.into_remainder());
            if input.len() == *width {
                let sums = &mut sums[first..first + count];
                let mut lanes = [0.0_f32; LANES];
                lanes[..count].copy_from_slice(sums);
                for (value, weights) in input.iter().zip(weights) {
                    for lane in 0..LANES {
                        lanes[lane] += value * weights[lane];
                    }
                }
                sums.copy_from_slice(&lanes[..count]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_layer_adds_the_product(inputs in 1_usize..40, outputs in 1_usize..70, rows in 0_usize..4, seed in prop::collection::vec(-1.0_f32..1.0, 97)) {
            let value = |at: usize| seed[at % seed.len()];
            let weights: Vec<f32> = (0..inputs * outputs).map(value).collect();
            let input: Vec<f32> = (0..rows * inputs).map(|at| value(3 * at + 1)).collect();
            let mut sums = vec![0.5; rows * outputs];

            Dense::new(inputs, outputs, &weights).add_to(&input, &mut sums);

            for (at, sum) in sums.iter().enumerate() {
                let (row, output) = (at / outputs, at % outputs);
                let products = (0..inputs).map(|i| input[row * inputs + i] * weights[output * inputs + i]);
                prop_assert!((0.5 + products.sum::<f32>() - sum).abs() < 1e-4);
            }
        }
    }
}
