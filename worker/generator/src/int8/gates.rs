//! The gates of sixteen units, for every tile of a batch (the formulas: `crate::gates`).

use pulp::{Simd, WithSimd};

use super::{
    Inputs, Sums,
    kernel::{GROUPS, LANES, ROWS},
};
use crate::gates::exp;

/// Numbers of one tile: by member, then by unit.
pub(crate) type Values = [f32; ROWS * LANES];

/// Arguments of `exp` are held below it, so that the product of two results is a number.
const LARGEST: f32 = 40.0;

/// One panel of a layer: the same sixteen units of every member.
pub(crate) struct GatesOfPanel<'a> {
    /// Hidden products, by tile.
    pub(crate) sums: &'a [Sums],
    pub(crate) scales: &'a [[f32; LANES]; GROUPS],
    /// The hidden bias of gate n.
    pub(crate) bias_new: &'a [f32; LANES],
    /// What the input gives to the gates, by member.
    pub(crate) input: InputPart<'a>,
    /// The panel's number.
    pub(crate) panel: usize,
    /// Last hidden states, by tile; the next ones afterwards.
    pub(crate) values: &'a mut [Values],
    /// The next hidden states in bytes: all panels, tile after tile.
    pub(crate) bytes: &'a mut [Inputs],
}

/// What the layer's input gives to the gates.
#[derive(Clone, Copy)]
pub(crate) enum InputPart<'a> {
    /// The rows of a `[token, panel]` table, by the members' tokens.
    Table { rows: &'a [[[f32; LANES]; GROUPS]], tokens: &'a [u32], panels: usize },
    /// Products with the layer below, by tile.
    Below { sums: &'a [Sums], scales: &'a [[f32; LANES]; GROUPS], bias: &'a [[f32; LANES]; GROUPS] },
}

impl WithSimd for GatesOfPanel<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let quads = self.bytes.len() / self.values.len();
        let tiles = self.values.iter_mut().zip(self.bytes.chunks_exact_mut(quads)).zip(self.sums);
        for (tile, ((values, bytes), sums)) in tiles.enumerate() {
            let mut gates =
                Preactivations { gates: [[0.0; ROWS * LANES]; GROUPS], hidden: [0.0; ROWS * LANES] };
            for row in 0..ROWS {
                let input = match self.input {
                    InputPart::Table { rows, tokens, panels } => {
                        &rows[tokens[tile * ROWS + row] as usize * panels + self.panel]
                    }
                    InputPart::Below { sums, scales, bias } => &from_below(&sums[tile], row, scales, bias),
                };
                gates.set(row, input, sums, self.scales, self.bias_new);
            }
            let mut rounded = [0; ROWS * LANES];
            gates.advance(values, &mut rounded);
            let bytes = &mut bytes[self.panel * LANES / 4..][..LANES / 4];
            for (row, four) in rounded.as_chunks::<LANES>().0.iter().enumerate() {
                for (bytes, four) in bytes.iter_mut().zip(four.as_chunks::<4>().0) {
                    bytes[row] = *four;
                }
            }
        }
    }
}

#[inline(always)]
fn from_below(
    sums: &Sums,
    row: usize,
    scales: &[[f32; LANES]; GROUPS],
    bias: &[[f32; LANES]; GROUPS],
) -> [[f32; LANES]; GROUPS] {
    let mut input = *bias;
    for group in 0..GROUPS {
        for lane in 0..LANES {
            input[group][lane] += sums[group][row][lane] as f32 * scales[group][lane];
        }
    }
    input
}

/// What the gates' functions are applied to.
struct Preactivations {
    /// Of r and z; of n, the input's part alone.
    gates: [Values; GROUPS],
    /// Of n, the hidden part, which r scales.
    hidden: Values,
}

impl Preactivations {
    #[inline(always)]
    fn set(
        &mut self,
        row: usize,
        input: &[[f32; LANES]; GROUPS],
        sums: &Sums,
        scales: &[[f32; LANES]; GROUPS],
        bias_new: &[f32; LANES],
    ) {
        let [reset, update, new] = self.gates.each_mut().map(|gate| &mut gate[row * LANES..][..LANES]);
        let hidden = &mut self.hidden[row * LANES..][..LANES];
        for lane in 0..LANES {
            reset[lane] = input[0][lane] + sums[0][row][lane] as f32 * scales[0][lane];
            update[lane] = input[1][lane] + sums[1][row][lane] as f32 * scales[1][lane];
            new[lane] = input[2][lane];
            hidden[lane] = bias_new[lane] + sums[2][row][lane] as f32 * scales[2][lane];
        }
    }

    /// Replaces the last hidden states by the next, and rounds those to bytes.
    #[inline(always)]
    fn advance(&self, values: &mut Values, rounded: &mut [u8; ROWS * LANES]) {
        // Adding it rounds to an integer, whose two's complement is then in the low bits.
        const ROUND: f32 = 12_582_912.0;
        let [reset, update, new] = &self.gates;
        for n in 0..values.len() {
            let reset = 1.0 / (1.0 + exp(-reset[n]));
            let new = new[n] + reset * self.hidden[n];
            // z = 1 / a and tanh = 1 - 2 / b, by one division.
            let a = 1.0 + exp((-update[n]).min(LARGEST));
            let b = 1.0 + exp((2.0 * new).min(LARGEST));
            let both = 1.0 / (a * b);
            let new = 1.0 - 2.0 * (a * both);
            let next = new + (b * both) * (values[n] - new);
            values[n] = next;
            rounded[n] = (next * 127.0 + ROUND).to_bits() as u8 ^ 0x80;
        }
    }
}
