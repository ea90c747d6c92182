//! The gates of sixteen units, for every tile of a batch (the formulas: `crate::gates`).
//!
//! Multiplications and additions are fused by name, so that every processor rounds alike, and those that
//! have an instruction for it do a third less.

use pulp::{Simd, WithSimd};

use super::{
    Block, Sums,
    kernel::{BLOCK, GROUPS, LANES, ROWS},
};

/// Numbers of one tile: by member, then by unit.
pub(crate) type Values = [f32; ROWS * LANES];

/// Arguments of `exp2` are held within it, so that the product of two results is a number.
const LARGEST: f32 = 57.0;

/// What everything before the gates' functions is multiplied by, when weights are laid out: then a power of two is all that
/// σ(r), σ(z) and tanh(n) need, and a third of the work of an `exp` is saved.
pub(super) const FACTORS: [f32; GROUPS] =
    [-std::f32::consts::LOG2_E, -std::f32::consts::LOG2_E, 2.0 * std::f32::consts::LOG2_E];

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
    /// The next hidden states in bytes, all panels: `[tile, member, block]`.
    pub(crate) bytes: &'a mut [Block],
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
        let tile_blocks = self.bytes.len() / self.values.len();
        let tiles = self.values.iter_mut().zip(self.bytes.chunks_exact_mut(tile_blocks)).zip(self.sums);
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
            let (block, first) = (self.panel * LANES / BLOCK, self.panel * LANES % BLOCK);
            let members = bytes.chunks_exact_mut(tile_blocks / ROWS);
            for (bytes, rounded) in members.zip(rounded.as_chunks::<LANES>().0) {
                bytes[block].0[first..first + LANES].copy_from_slice(rounded);
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
            let reset = 1.0 / (1.0 + exp2(reset[n]));
            let new = reset.mul_add(self.hidden[n], new[n]);
            // z = 1 / a and tanh = 1 - 2 / b, by one division.
            let a = 1.0 + exp2(update[n]);
            let b = 1.0 + exp2(new);
            let both = 1.0 / (a * b);
            let new = (-2.0 * a).mul_add(both, 1.0);
            let next = (b * both).mul_add(values[n] - new, new);
            values[n] = next;
            rounded[n] = next.mul_add(127.0, ROUND).to_bits() as u8 ^ 0x80;
        }
    }
}

/// 2^x by range reduction and a polynomial (Cephes, `exp2f`); arguments are held within ±[`LARGEST`].
#[inline(always)]
fn exp2(x: f32) -> f32 {
    // Adding it rounds to an integer, which is then in the low bits.
    const ROUND: f32 = 12_582_912.0;
    let x = x.clamp(-LARGEST, LARGEST);
    let shifted = x + ROUND;
    let rest = x - (shifted - ROUND);
    let mut series = 1.535_336_2e-4_f32;
    for coefficient in [1.339_887_4e-3, 9.618_437e-3, 5.550_332_5e-2, 2.402_264_8e-1, 6.931_472e-1, 1.0] {
        series = series.mul_add(rest, coefficient);
    }
    f32::from_bits(series.to_bits().wrapping_add(shifted.to_bits() << 23))
}

#[cfg(test)]
mod tests {
    use super::{LARGEST, exp2};

    #[test]
    fn powers_of_two_are_as_exact_as_single_precision_needs() {
        for step in -5700..=5700 {
            let x = step as f32 / 100.0;
            assert!((f64::from(exp2(x)) / f64::from(x).exp2() - 1.0).abs() < 3e-7, "2^{x} is {}", exp2(x));
        }
        assert_eq!((exp2(1e9), exp2(-1e9)), (exp2(LARGEST), exp2(-LARGEST)));
    }
}
