//! The output layer: one row of weights for every template, in signed bytes.
//!
//! Weights take a byte each and share a scale with their row, the inputs are 16-bit integers, and sums are exact:
//! every machine gets the same bits, whatever its vector width.

use pulp::{Arch, Simd, WithSimd};

/// The greatest magnitude of an input: [`MAX_INPUTS`] products with weights of up to 127 stay in 32 bits.
const INPUT_MAX: f32 = 4_000.0;
/// Longest row whose sum cannot overflow.
pub const MAX_INPUTS: usize = 4_096;

/// `inputs -> rows` dense layer.
#[derive(Debug)]
pub struct OutputLayer {
    inputs: usize,
    /// `[rows, inputs]`.
    weights: Vec<i8>,
    /// What a weight of 1 stands for, by row.
    scales: Vec<f32>,
    bias: Vec<f32>,
}

impl OutputLayer {
    /// A layer of `[rows, inputs]` weights that are in bytes already.
    pub fn new(inputs: usize, weights: Vec<i8>, scales: Vec<f32>, bias: Vec<f32>) -> Self {
        Self { inputs, weights, scales, bias }
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
        Self { inputs, weights: bytes, scales, bias }
    }

    /// The layer's output for an input.
    pub fn outputs(&self, input: &[f32]) -> Vec<f32> {
        self.pass(&Input::rounded(input), Unit::available().next().unwrap_or(Unit::Plain))
    }

    fn pass(&self, input: &Input, unit: Unit) -> Vec<f32> {
        Arch::new().dispatch(Pass { layer: self, input, unit })
    }
}

/// An input, rounded.
struct Input {
    values: Vec<i16>,
    scale: f32,
}

impl Input {
    fn rounded(values: &[f32]) -> Self {
        let most = values.iter().fold(0.0_f32, |most, value| most.max(value.abs()));
        let scale = if most > 0.0 { most / INPUT_MAX } else { 1.0 };
        Self { values: values.iter().map(|value| (value / scale).round() as i16).collect(), scale }
    }
}

/// One pass over the weights, compiled for the instruction sets that `pulp` finds at run time.
struct Pass<'a> {
    layer: &'a OutputLayer,
    input: &'a Input,
    unit: Unit,
}

impl WithSimd for Pass<'_> {
    type Output = Vec<f32>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) -> Self::Output {
        let OutputLayer { inputs, weights, scales, bias } = self.layer;
        let mut outputs = vec![0.0; bias.len()];
        // A loop, since a closure would not be compiled for the instruction set.
        let scaled = scales.iter().zip(bias);
        for ((output, row), (scale, bias)) in
            outputs.iter_mut().zip(weights.chunks_exact(*inputs)).zip(scaled)
        {
            *output = bias + self.unit.dot(row, &self.input.values) as f32 * (scale * self.input.scale);
        }
        outputs
    }
}

/// What multiplies the integers.
#[derive(Clone, Copy)]
enum Unit {
    /// Thirty-two products an instruction; the compiler does not find `vpmaddwd` by itself.
    #[cfg(target_arch = "x86_64")]
    Avx512(pulp::x86::V4),
    /// Sixteen products an instruction.
    #[cfg(target_arch = "x86_64")]
    Avx2(pulp::x86::V3),
    Plain,
}

impl Unit {
    /// What this machine has, fastest first.
    fn available() -> impl Iterator<Item = Self> {
        #[cfg(target_arch = "x86_64")]
        let vectors = [pulp::x86::V4::try_new().map(Self::Avx512), pulp::x86::V3::try_new().map(Self::Avx2)];
        #[cfg(not(target_arch = "x86_64"))]
        let vectors: [Option<Self>; 0] = [];
        vectors.into_iter().flatten().chain([Self::Plain])
    }

    /// The dot product of two slices of one length.
    #[inline(always)]
    fn dot(self, weights: &[i8], inputs: &[i16]) -> i32 {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(simd) => {
                let (weights, weights_left) = weights.as_chunks::<32>();
                let (inputs, inputs_left) = inputs.as_chunks::<32>();
                let mut sums = simd.avx512f._mm512_setzero_si512();
                for (weights, inputs) in weights.iter().zip(inputs) {
                    let weights = simd.avx512bw._mm512_cvtepi8_epi16(pulp::cast(*weights));
                    let products = simd.avx512bw._mm512_madd_epi16(weights, pulp::cast(*inputs));
                    sums = simd.avx512f._mm512_add_epi32(sums, products);
                }
                dot(weights_left, inputs_left).wrapping_add(simd.avx512f._mm512_reduce_add_epi32(sums))
            }
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(simd) => {
                let (weights, weights_left) = weights.as_chunks::<16>();
                let (inputs, inputs_left) = inputs.as_chunks::<16>();
                let mut sums = simd.avx._mm256_setzero_si256();
                for (weights, inputs) in weights.iter().zip(inputs) {
                    let weights = simd.avx2._mm256_cvtepi8_epi16(pulp::cast(*weights));
                    let products = simd.avx2._mm256_madd_epi16(weights, pulp::cast(*inputs));
                    sums = simd.avx2._mm256_add_epi32(sums, products);
                }
                let sums: [i32; 8] = pulp::cast(sums);
                sums.iter().fold(dot(weights_left, inputs_left), |sum, more| sum.wrapping_add(*more))
            }
            Self::Plain => dot(weights, inputs),
        }
    }
}

#[inline(always)]
fn dot(weights: &[i8], inputs: &[i16]) -> i32 {
    // Cannot overflow (see INPUT_MAX), and must not be checked for it: checks keep the loop out of vector registers.
    weights.iter().zip(inputs).fold(0, |sum: i32, (&weight, &input)| {
        sum.wrapping_add(i32::from(weight).wrapping_mul(i32::from(input)))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn outputs_are_those_of_the_weights_but_for_rounding_whatever_multiplies(
            inputs in 1_usize..80,
            seed in prop::collection::vec(-1.0_f32..1.0, 200),
        ) {
            let value = |at: usize| seed[at % seed.len()] * (1 + at % 3) as f32;
            let weights: Vec<f32> = (0..5 * inputs).map(value).collect();
            let input: Vec<f32> = (0..inputs).map(|at| value(at * 7 + 3)).collect();
            let layer = OutputLayer::rounded(inputs, &weights, vec![0.5; 5]);

            let outputs = layer.outputs(&input);

            for (row, output) in weights.chunks_exact(inputs).zip(&outputs) {
                let exact: f32 = row.iter().zip(&input).map(|(a, b)| a * b).sum::<f32>() + 0.5;
                let most = |values: &[f32]| values.iter().fold(0.0_f32, |most, value| most.max(value.abs()));
                let bound = inputs as f32 * most(row) * most(&input) * (0.5 / 127.0 + 0.5 / INPUT_MAX + 1e-4);
                prop_assert!((exact - output).abs() <= bound + 1e-5, "{exact} {output} {bound}");
            }
            prop_assert_eq!(layer.outputs(&vec![0.0; inputs]), vec![0.5; 5]);
            for unit in Unit::available() {
                prop_assert_eq!(&layer.pass(&Input::rounded(&input), unit), &outputs);
            }
        }
    }

    #[test]
    fn the_longest_row_of_greatest_values_does_not_overflow() {
        let layer = OutputLayer::rounded(MAX_INPUTS, &[1.0; MAX_INPUTS], vec![0.0]);

        let output = layer.outputs(&[2.0; MAX_INPUTS])[0];

        assert!((output - 2.0 * MAX_INPUTS as f32).abs() < 0.5, "{output}");
    }
}
