//! The output layer: one row of weights for every template, in signed bytes.
//!
//! Each weight takes one byte and shares a scale with its row. Inputs are 16-bit integers and sums are exact, so
//! every machine computes the same bits, whatever its vector width. Only the requested rows are read.

use pulp::{Arch, Simd, WithSimd};

/// Largest magnitude of an input: [`MAX_INPUTS`] products with weights of up to 127 stay in 32 bits.
const INPUT_MAX: f32 = 4_000.0;
/// 1.5 × 2^23: consecutive floats around this value are consecutive whole numbers.
const ROUNDING: f32 = 12_582_912.0;
/// Longest row whose sum cannot overflow.
pub const MAX_INPUTS: usize = 4_096;
/// Number of inputs multiplied at a time. Rows are padded with zeros to a multiple of it.
const LANES: usize = 64;

/// `inputs -> rows` dense layer.
#[derive(Debug)]
pub struct OutputLayer {
    /// Number of blocks per row.
    blocks: usize,
    /// `[row, block]`.
    weights: Vec<[i8; LANES]>,
    /// Value of a weight of 1, by row.
    scales: Vec<f32>,
    bias: Vec<f32>,
}

impl OutputLayer {
    /// Creates a layer from `[rows, inputs]` weights that are already in bytes.
    pub fn new(inputs: usize, weights: &[i8], scales: Vec<f32>, bias: Vec<f32>) -> Self {
        let inputs = inputs.max(1);
        let blocks = inputs.div_ceil(LANES);
        let mut filled = vec![[0; LANES]; bias.len() * blocks];
        for (row, weights) in filled.chunks_exact_mut(blocks).zip(weights.chunks_exact(inputs)) {
            row.as_flattened_mut()[..inputs].copy_from_slice(weights);
        }
        Self { blocks, weights: filled, scales, bias }
    }

    /// Rounds `[rows, inputs]` weights to bytes.
    pub fn rounded(inputs: usize, weights: &[f32], bias: Vec<f32>) -> Self {
        let mut bytes = Vec::with_capacity(weights.len());
        let mut scales = Vec::with_capacity(bias.len());
        for row in weights.chunks_exact(inputs.max(1)) {
            let scale = row.iter().fold(0.0_f32, |most, weight| most.max(weight.abs())) / 127.0;
            let scale = if scale > 0.0 { scale } else { 1.0 };
            // In range by the choice of the scale.
            bytes.extend(row.iter().map(|weight| (weight / scale).round() as i8));
            scales.push(scale);
        }
        Self::new(inputs, &bytes, scales, bias)
    }

    /// Converts an input to the integers that the layer multiplies.
    pub fn rounded_input(&self, input: &[f32]) -> QuantisedInput {
        let most = input.iter().fold(0.0_f32, |most, value| most.max(value.abs()));
        let scale = if most > 0.0 { most / INPUT_MAX } else { 1.0 };
        let inverse = 1.0 / scale;
        let mut values = vec![[0_i16; LANES]; self.blocks];
        for (rounded, value) in values.as_flattened_mut().iter_mut().zip(input) {
            // Adding so large a number leaves the rounded integer in the lowest bits; `round` would be a function
            // call.
            *rounded = (value * inverse + ROUNDING).to_bits() as i16;
        }
        QuantisedInput { values, scale }
    }

    /// Returns the layer's outputs for pairs of a row and an input's index, in their order.
    ///
    /// # Panics
    /// Panics when there is no such row or input.
    pub fn outputs(&self, inputs: &[QuantisedInput], pairs: &[(u32, u32)]) -> Vec<f32> {
        let sums = Arch::new().dispatch(Sums { layer: self, inputs, pairs });
        let output = |(&(row, input), sum): (&(u32, u32), i32)| {
            let row = row as usize;
            self.bias[row] + sum as f32 * (self.scales[row] * inputs[input as usize].scale)
        };
        pairs.iter().zip(sums).map(output).collect()
    }
}

/// An input in 16-bit integers.
#[derive(Debug)]
pub struct QuantisedInput {
    values: Vec<[i16; LANES]>,
    /// Value of an integer of 1.
    scale: f32,
}

/// Sums of some rows, compiled for the instruction sets that `pulp` finds at run time.
struct Sums<'a> {
    layer: &'a OutputLayer,
    inputs: &'a [QuantisedInput],
    pairs: &'a [(u32, u32)],
}

impl WithSimd for Sums<'_> {
    type Output = Vec<i32>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) -> Vec<i32> {
        let mut sums = Vec::with_capacity(self.pairs.len());
        // Loops, because closures would not be compiled for the instruction set.
        for &(row, input) in self.pairs {
            let input = &self.inputs[input as usize].values;
            let weights = &self.layer.weights[row as usize * self.layer.blocks..][..self.layer.blocks];
            let mut lanes = [0_i32; LANES / 2];
            for (weights, inputs) in weights.iter().zip(input) {
                for (lane, sum) in lanes.iter_mut().enumerate() {
                    let product = |at: usize| i32::from(weights[at]).wrapping_mul(i32::from(inputs[at]));
                    // Cannot overflow (see INPUT_MAX); a check would keep the loop out of vector registers.
                    *sum = sum.wrapping_add(product(2 * lane).wrapping_add(product(2 * lane + 1)));
                }
            }
            sums.push(lanes.iter().fold(0_i32, |sum, lane| sum.wrapping_add(*lane)));
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn outputs_are_those_of_the_weights_but_for_rounding(
            inputs in 1_usize..200,
            rows in prop::collection::vec(0_u32..9, 0..12),
            seed in prop::collection::vec(-1.0_f32..1.0, 200),
        ) {
            let value = |at: usize| seed[at % seed.len()] * (1 + at % 3) as f32;
            let weights: Vec<f32> = (0..9 * inputs).map(value).collect();
            let input: Vec<f32> = (0..inputs).map(|at| value(at * 7 + 3)).collect();
            let layer = OutputLayer::rounded(inputs, &weights, vec![0.5; 9]);

            let pairs: Vec<(u32, u32)> = rows.iter().map(|&row| (row, 0)).collect();
            let outputs = layer.outputs(&[layer.rounded_input(&input)], &pairs);

            prop_assert_eq!(outputs.len(), rows.len());
            for (&row, output) in rows.iter().zip(&outputs) {
                let row = &weights[row as usize * inputs..][..inputs];
                let exact: f32 = row.iter().zip(&input).map(|(a, b)| a * b).sum::<f32>() + 0.5;
                let most = |values: &[f32]| values.iter().fold(0.0_f32, |most, value| most.max(value.abs()));
                let bound = inputs as f32 * most(row) * most(&input) * (0.5 / 127.0 + 0.5 / INPUT_MAX + 1e-4);
                prop_assert!((exact - output).abs() <= bound + 1e-5, "{exact} {output} {bound}");
            }
            let zeros = layer.rounded_input(&vec![0.0; inputs]);
            prop_assert_eq!(layer.outputs(&[zeros], &[(3, 0), (1, 0)]), vec![0.5; 2]);
        }

        #[test]
        fn sums_are_those_of_the_bytes_to_the_last_bit(
            weights in prop::collection::vec(any::<i8>(), 3 * 70),
            input in prop::collection::vec(-4_000_i16..=4_000, 70),
        ) {
            let layer = OutputLayer::new(70, &weights, vec![1.0; 3], vec![0.0; 3]);
            let mut values = vec![[0; LANES]; 2];
            values.as_flattened_mut()[..70].copy_from_slice(&input);
            let (inputs, pairs) = ([QuantisedInput { values, scale: 1.0 }], [(2, 0), (0, 0), (1, 0)]);

            let sums = Arch::new().dispatch(Sums { layer: &layer, inputs: &inputs, pairs: &pairs });

            let exact = |row: usize| -> i32 {
                weights[row * 70..][..70].iter().zip(&input).map(|(&a, &b)| i32::from(a) * i32::from(b)).sum()
            };
            prop_assert_eq!(sums, vec![exact(2), exact(0), exact(1)]);
        }
    }

    #[test]
    fn the_longest_row_of_greatest_values_does_not_overflow() {
        let layer = OutputLayer::rounded(MAX_INPUTS, &[1.0; MAX_INPUTS], vec![0.0]);

        let output = layer.outputs(&[layer.rounded_input(&[2.0; MAX_INPUTS])], &[(0, 0)])[0];

        assert!((output - 2.0 * MAX_INPUTS as f32).abs() < 0.5, "{output}");
    }
}
