//! The output layer: one row of weights for every template, in signed bytes.
//!
//! Weights take a byte each and share a scale with their row, the inputs are 16-bit integers, and sums are exact:
//! every machine gets the same bits, whatever its vector width. Blocks of rows lie side by side, so that a lane sums for
//! a row and nothing has to be added up across lanes: what is left is about the time that the weights take from memory.

use pulp::{Arch, Simd, WithSimd};

/// The greatest magnitude of an input: [`MAX_INPUTS`] products with weights of up to 127 stay in 32 bits.
const INPUT_MAX: f32 = 4_000.0;
/// Longest row whose sum cannot overflow.
pub const MAX_INPUTS: usize = 4_096;
/// Rows of a block: their sums are four of AVX-512's registers, eight of AVX2's.
const ROWS: usize = 64;

/// The weights of a block for a pair of inputs: `[row, input]`.
type Pair = [i8; 2 * ROWS];

/// `inputs -> rows` dense layer.
#[derive(Debug)]
pub struct OutputLayer {
    /// Pairs of inputs; of an odd number of inputs the last has a zero for a partner.
    pairs: usize,
    /// `[block, pair]`; the last block is filled up with zeros.
    weights: Vec<Pair>,
    /// What a weight of 1 stands for, by row.
    scales: Vec<f32>,
    bias: Vec<f32>,
}

impl OutputLayer {
    /// A layer of `[rows, inputs]` weights that are in bytes already.
    pub fn new(inputs: usize, weights: &[i8], scales: Vec<f32>, bias: Vec<f32>) -> Self {
        let pairs = inputs.div_ceil(2);
        let mut blocks = vec![[0; 2 * ROWS]; bias.len().div_ceil(ROWS) * pairs];
        for (row, weights) in weights.chunks_exact(inputs.max(1)).enumerate() {
            for (input, &weight) in weights.iter().enumerate() {
                blocks[row / ROWS * pairs + input / 2][row % ROWS * 2 + input % 2] = weight;
            }
        }
        Self { pairs, weights: blocks, scales, bias }
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

    /// The layer's output for an input.
    pub fn outputs(&self, input: &[f32]) -> Vec<f32> {
        self.pass(&Input::rounded(input), Unit::available().next().unwrap_or(Unit::Plain))
    }

    fn pass(&self, input: &Input, unit: Unit) -> Vec<f32> {
        Arch::new().dispatch(Pass { layer: self, input, unit })
    }
}

/// An input, rounded, in pairs.
struct Input {
    pairs: Vec<[i16; 2]>,
    scale: f32,
}

impl Input {
    fn rounded(values: &[f32]) -> Self {
        let most = values.iter().fold(0.0_f32, |most, value| most.max(value.abs()));
        let scale = if most > 0.0 { most / INPUT_MAX } else { 1.0 };
        let rounded = |value: Option<&f32>| value.map_or(0, |value| (value / scale).round() as i16);
        Self {
            pairs: values.chunks(2).map(|pair| [rounded(pair.first()), rounded(pair.get(1))]).collect(),
            scale,
        }
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
        let OutputLayer { pairs, weights, scales, bias } = self.layer;
        let mut outputs = bias.clone();
        // Loops, since closures would not be compiled for the instruction set.
        let blocks =
            outputs.chunks_mut(ROWS).zip(scales.chunks(ROWS)).zip(weights.chunks_exact((*pairs).max(1)));
        for ((outputs, scales), weights) in blocks {
            let sums = self.unit.sums(weights, &self.input.pairs);
            for ((output, scale), sum) in outputs.iter_mut().zip(scales).zip(sums) {
                *output += sum as f32 * (scale * self.input.scale);
            }
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

    /// The sums of a block's rows.
    #[inline(always)]
    fn sums(self, weights: &[Pair], inputs: &[[i16; 2]]) -> [i32; ROWS] {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(simd) => {
                let mut sums = [simd.avx512f._mm512_setzero_si512(); ROWS / 16];
                for (weights, inputs) in weights.iter().zip(inputs) {
                    let inputs = simd.avx512f._mm512_set1_epi32(pulp::cast(*inputs));
                    let weights: [[i8; 32]; ROWS / 16] = pulp::cast(*weights);
                    for (sum, weights) in sums.iter_mut().zip(weights) {
                        let weights = simd.avx512bw._mm512_cvtepi8_epi16(pulp::cast(weights));
                        let products = simd.avx512bw._mm512_madd_epi16(weights, inputs);
                        *sum = simd.avx512f._mm512_add_epi32(*sum, products);
                    }
                }
                pulp::cast(sums)
            }
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(simd) => {
                let mut sums = [simd.avx._mm256_setzero_si256(); ROWS / 8];
                for (weights, inputs) in weights.iter().zip(inputs) {
                    let inputs = simd.avx._mm256_set1_epi32(pulp::cast(*inputs));
                    let weights: [[i8; 16]; ROWS / 8] = pulp::cast(*weights);
                    for (sum, weights) in sums.iter_mut().zip(weights) {
                        let weights = simd.avx2._mm256_cvtepi8_epi16(pulp::cast(weights));
                        let products = simd.avx2._mm256_madd_epi16(weights, inputs);
                        *sum = simd.avx2._mm256_add_epi32(*sum, products);
                    }
                }
                pulp::cast(sums)
            }
            Self::Plain => {
                let mut sums = [0_i32; ROWS];
                for (weights, inputs) in weights.iter().zip(inputs) {
                    for (sum, weights) in sums.iter_mut().zip(weights.as_chunks::<2>().0) {
                        for (weight, input) in weights.iter().zip(inputs) {
                            // Cannot overflow (see INPUT_MAX); a check would keep the loop out of vector registers.
                            *sum = sum.wrapping_add(i32::from(*weight).wrapping_mul(i32::from(*input)));
                        }
                    }
                }
                sums
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
        fn outputs_are_those_of_the_weights_but_for_rounding_whatever_multiplies(
            inputs in 1_usize..80,
            rows in prop::sample::select(vec![1_usize, 5, 64, 130]),
            seed in prop::collection::vec(-1.0_f32..1.0, 200),
        ) {
            let value = |at: usize| seed[at % seed.len()] * (1 + at % 3) as f32;
            let weights: Vec<f32> = (0..rows * inputs).map(value).collect();
            let input: Vec<f32> = (0..inputs).map(|at| value(at * 7 + 3)).collect();
            let layer = OutputLayer::rounded(inputs, &weights, vec![0.5; rows]);

            let outputs = layer.outputs(&input);

            for (row, output) in weights.chunks_exact(inputs).zip(&outputs) {
                let exact: f32 = row.iter().zip(&input).map(|(a, b)| a * b).sum::<f32>() + 0.5;
                let most = |values: &[f32]| values.iter().fold(0.0_f32, |most, value| most.max(value.abs()));
                let bound = inputs as f32 * most(row) * most(&input) * (0.5 / 127.0 + 0.5 / INPUT_MAX + 1e-4);
                prop_assert!((exact - output).abs() <= bound + 1e-5, "{exact} {output} {bound}");
            }
            prop_assert_eq!(outputs.len(), rows);
            prop_assert_eq!(layer.outputs(&vec![0.0; inputs]), vec![0.5; rows]);
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
