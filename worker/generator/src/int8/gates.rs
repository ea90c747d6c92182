//! The gates of 32 units, for every tile of a batch (the formulas: `crate::gates`, `crate::lstm`).
//!
//! Fused multiply-add is requested explicitly, so that every CPU rounds alike. CPUs with an instruction for it do a
//! third less work.

use pulp::{Simd, WithSimd};

use super::{
    kernel::{BLOCK, Block, ROWS, Sums, WIDTH},
    matrix::Dequantisation,
};
use crate::config::Cell;

/// Gates of a GRU and of an LSTM.
const GRU: usize = Cell::Gru.gates();
const LSTM: usize = Cell::Lstm.gates();

/// Members whose gates are computed together, and the number of their units.
const MEMBER_GROUP: usize = 4;
const GROUP_UNITS: usize = MEMBER_GROUP * WIDTH;

/// Cell values in single precision, by member, then by unit.
pub(crate) type CellValues = [[f32; WIDTH]; ROWS];

/// Bound for arguments of `exp2`, so that the product of two results is finite.
const MAX_EXPONENT: f32 = 57.0;

/// Factors that are folded into the weights before a σ and before a tanh. With them, both functions need only a power
/// of two, which saves a third of the work of an `exp`.
const SIGMOID_FACTOR: f32 = -std::f32::consts::LOG2_E;
const TANH_FACTOR: f32 = 2.0 * std::f32::consts::LOG2_E;

/// Returns the factor of a gate.
pub(crate) fn factor(cell: Cell, gate: usize) -> f32 {
    match (cell, gate) {
        (Cell::Gru | Cell::Lstm, 2) => TANH_FACTOR,
        _ => SIGMOID_FACTOR,
    }
}

/// Computation of the gates of the same 32 units of every member.
pub(crate) struct Gates<'a> {
    pub(crate) cell: Cell,
    /// Hidden products, `[gate, tile]`, and their dequantisation, by gate.
    pub(crate) sums: &'a [Sums],
    pub(crate) readings: &'a [Dequantisation],
    /// The input's part of the gates, by member.
    pub(crate) input: InputPart<'a>,
    /// Index of this group of 32 units.
    pub(crate) strip: usize,
    /// Values of the units, by tile: last hidden states of a GRU, cell states of an LSTM. They are replaced by the
    /// next ones.
    pub(crate) values: &'a mut [CellValues],
    /// The next hidden states in bytes, of all units: `[tile, block, member]`.
    pub(crate) bytes: &'a mut [Block],
}

/// The input's part of the gates.
#[derive(Clone, Copy)]
pub(crate) enum InputPart<'a> {
    /// Rows of a `[token, strip, gate]` table, selected by the members' tokens, and the dequantisation of its bytes.
    Table { rows: &'a [[i8; WIDTH]], tokens: &'a [u32], strips: usize, readings: &'a [Dequantisation] },
    /// Products with the layer below, `[gate, tile]`, and their dequantisation.
    Below { sums: &'a [Sums], readings: &'a [Dequantisation] },
}

impl InputPart<'_> {
    /// Returns the input's part for the group `few` of the tile's members, dequantised with `readings`.
    #[inline(always)]
    fn of<const GATES: usize>(
        &self,
        readings: &[Dequantisation<GROUP_UNITS>; GATES],
        strip: usize,
        (tile, tiles): (usize, usize),
        few: usize,
    ) -> [Line; GATES] {
        let mut given = [Line([0.0; GROUP_UNITS]); GATES];
        for (gate, Line(given)) in given.iter_mut().enumerate() {
            match *self {
                Self::Below { sums, .. } => {
                    let sums = flat(&sums[gate * tiles + tile], few);
                    for n in 0..GROUP_UNITS {
                        given[n] = readings[gate].of(sums[n], n);
                    }
                }
                Self::Table { rows, tokens, strips, .. } => {
                    let mut bytes = [0; GROUP_UNITS];
                    for (row, bytes) in bytes.as_chunks_mut::<WIDTH>().0.iter_mut().enumerate() {
                        let token = tokens[tile * ROWS + few * MEMBER_GROUP + row] as usize;
                        *bytes = rows[(token * strips + strip) * GATES + gate];
                    }
                    for n in 0..GROUP_UNITS {
                        given[n] = readings[gate].of(i32::from(bytes[n]), n);
                    }
                }
            }
        }
        given
    }
}

impl WithSimd for Gates<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        match self.cell {
            Cell::Gru => self.advance::<GRU>(),
            Cell::Lstm => self.advance::<LSTM>(),
        }
    }
}

impl Gates<'_> {
    /// Advances every tile, some members at a time. The parameters of a unit are repeated for each member, so that
    /// all their units lie in plain loops, which compilers vectorise well.
    #[inline(always)]
    fn advance<const GATES: usize>(self)
    where
        for<'a> Units<'a, GATES>: CellStep,
    {
        let tiles = self.values.len();
        let tile_blocks = self.bytes.len() / tiles;
        let (block, first) = (self.strip * WIDTH / BLOCK, self.strip * WIDTH % BLOCK);
        let readings = repeated::<GATES>(self.readings);
        let (InputPart::Table { readings: of_input, .. } | InputPart::Below { readings: of_input, .. }) =
            self.input;
        let of_input = repeated::<GATES>(of_input);
        for tile in 0..tiles {
            let members = &mut self.bytes[tile * tile_blocks + block * ROWS..][..ROWS];
            for few in 0..ROWS / MEMBER_GROUP {
                let mut outer = self.input.of::<GATES>(&of_input, self.strip, (tile, tiles), few);
                let mut sums = [&[0; GROUP_UNITS]; GATES];
                for (gate, sums) in sums.iter_mut().enumerate() {
                    *sums = flat(&self.sums[gate * tiles + tile], few);
                }
                let values = &mut self.values[tile].as_flattened_mut()[few * GROUP_UNITS..][..GROUP_UNITS];
                let values = values.try_into().expect("the length of a slice");
                let mut rounded = [0; GROUP_UNITS];
                Units { gates: &mut outer, sums, readings: &readings, values, rounded: &mut rounded }
                    .advance();
                for (member, rounded) in
                    members[few * MEMBER_GROUP..].iter_mut().zip(rounded.as_chunks::<WIDTH>().0)
                {
                    member.0[first..first + WIDTH].copy_from_slice(rounded);
                }
            }
        }
    }
}

#[inline(always)]
fn repeated<const GATES: usize>(readings: &[Dequantisation]) -> [Dequantisation<GROUP_UNITS>; GATES] {
    let mut repeated = [Dequantisation { scale: [0.0; GROUP_UNITS], bias: [0.0; GROUP_UNITS] }; GATES];
    for (repeated, reading) in repeated.iter_mut().zip(readings) {
        for row in 0..MEMBER_GROUP {
            repeated.scale[row * WIDTH..][..WIDTH].copy_from_slice(&reading.scale);
            repeated.bias[row * WIDTH..][..WIDTH].copy_from_slice(&reading.bias);
        }
    }
    repeated
}

#[inline(always)]
fn flat(sums: &Sums, few: usize) -> &[i32; GROUP_UNITS] {
    sums.0.as_flattened()[few * GROUP_UNITS..][..GROUP_UNITS].try_into().expect("the length of a slice")
}

/// Computation of the scores, `[vocab]`, of each member.
pub(crate) struct Scores<'a> {
    /// Layout `[panel, tile]`.
    pub(crate) sums: &'a [Sums],
    pub(crate) readings: &'a [Dequantisation],
    /// Layout `[member, vocab]`.
    pub(crate) logits: &'a mut [f32],
    pub(crate) vocab: usize,
}

impl WithSimd for Scores<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let tiles = self.sums.len() / self.readings.len();
        for (member, logits) in self.logits.chunks_exact_mut(self.vocab).enumerate() {
            for (panel, logits) in logits.chunks_mut(WIDTH).enumerate() {
                let sums = &self.sums[panel * tiles + member / ROWS].0[member % ROWS];
                for (lane, logit) in logits.iter_mut().enumerate() {
                    *logit = self.readings[panel].of(sums[lane], lane);
                }
            }
        }
    }
}

impl<const N: usize> Dequantisation<N> {
    #[inline(always)]
    pub(crate) fn of(&self, sum: i32, lane: usize) -> f32 {
        (sum as f32).mul_add(self.scale[lane], self.bias[lane])
    }
}

/// Values of some members' units, aligned to cache lines.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
struct Line([f32; GROUP_UNITS]);

/// The same units of some members.
///
/// Each loop below is one or two steps of a long chain of dependent instructions. In a single loop, a CPU could not
/// reach far enough ahead for independent instructions to run meanwhile.
struct Units<'a, const GATES: usize> {
    /// The input's part; replaced by the results of the gates.
    gates: &'a mut [Line; GATES],
    /// Hidden products and their dequantisation.
    sums: [&'a [i32; GROUP_UNITS]; GATES],
    readings: &'a [Dequantisation<GROUP_UNITS>; GATES],
    /// See [`Gates`].
    values: &'a mut [f32; GROUP_UNITS],
    /// The next hidden states in bytes.
    rounded: &'a mut [u8; GROUP_UNITS],
}

impl<const GATES: usize> Units<'_, GATES> {
    /// Returns the hidden part of a gate for the unit `n`.
    #[inline(always)]
    fn hidden(&self, gate: usize, n: usize) -> f32 {
        self.readings[gate].of(self.sums[gate][n], n)
    }

    /// Replaces a gate's x by `1 + 2^x`: σ is 1 over it, tanh is 1 less 2 over it.
    #[inline(always)]
    fn activation_denominator(&mut self, gate: usize) {
        for n in 0..GROUP_UNITS {
            self.gates[gate].0[n] = 1.0 + exp2(self.gates[gate].0[n] + self.hidden(gate, n));
        }
    }
}

/// Step of a cell type.
trait CellStep {
    fn advance(self);
}

impl CellStep for Units<'_, GRU> {
    #[inline(always)]
    fn advance(mut self) {
        self.activation_denominator(0);
        self.activation_denominator(1);
        for n in 0..GROUP_UNITS {
            let reset = 1.0 / self.gates[0].0[n];
            self.gates[2].0[n] = 1.0 + exp2(reset.mul_add(self.hidden(2, n), self.gates[2].0[n]));
        }
        let [_, Line(updates), Line(news)] = &*self.gates;
        for n in 0..GROUP_UNITS {
            // z = 1 / a and tanh = 1 - 2 / b, computed with one division.
            let (a, b) = (updates[n], news[n]);
            let both = 1.0 / (a * b);
            let new = (-2.0 * a).mul_add(both, 1.0);
            let next = (b * both).mul_add(self.values[n] - new, new);
            self.values[n] = next;
            self.rounded[n] = byte(next);
        }
    }
}

impl CellStep for Units<'_, LSTM> {
    #[inline(always)]
    fn advance(mut self) {
        for gate in 0..LSTM {
            self.activation_denominator(gate);
        }
        let [Line(inputs), Line(forgets), Line(news), Line(outputs)] = &*self.gates;
        for n in 0..GROUP_UNITS {
            // σ(i) = 1 / a and tanh(g) = (b - 2) / b, computed with one division; likewise σ(o) and tanh(c).
            let (a, b) = (inputs[n], news[n]);
            self.values[n] = (1.0 / forgets[n]).mul_add(self.values[n], (b - 2.0) / (a * b));
        }
        for (n, a) in outputs.iter().enumerate() {
            let b = 1.0 + exp2(self.values[n] * TANH_FACTOR);
            self.rounded[n] = byte((b - 2.0) / (a * b));
        }
    }
}

/// Returns the byte for a hidden state, which is within ±1.
#[inline(always)]
fn byte(state: f32) -> u8 {
    // Adding this constant rounds to an integer in the low bits; the byte 128 stands for 0.
    const ROUND: f32 = 12_582_912.0 + 128.0;
    state.mul_add(127.0, ROUND).to_bits() as u8
}

/// Computes 2^x by range reduction and a polynomial, the best of its degree on the range used. Arguments are clamped
/// to ±[`MAX_EXPONENT`].
#[inline(always)]
fn exp2(x: f32) -> f32 {
    // Adding this constant rounds to an integer in the low bits.
    const ROUND: f32 = 12_582_912.0;
    // Not ln 2, which is not the best coefficient for any finite degree.
    const FIRST: f32 = f32::from_bits(0x3F31_7215);
    let x = x.clamp(-MAX_EXPONENT, MAX_EXPONENT);
    let shifted = x + ROUND;
    let rest = x - (shifted - ROUND);
    let mut series = 1.326_473_7e-3_f32;
    for coefficient in [9.671_517e-3, 5.550_733_6e-2, 2.402_224_2e-1, FIRST, 1.0] {
        series = series.mul_add(rest, coefficient);
    }
    f32::from_bits(series.to_bits().wrapping_add(shifted.to_bits() << 23))
}

#[cfg(test)]
mod tests {
    use super::{CellStep, Dequantisation, GROUP_UNITS, GRU, LSTM, Line, MAX_EXPONENT, Units, byte, exp2};

    #[test]
    fn powers_of_two_are_as_exact_as_single_precision_needs() {
        for step in -5700..=5700 {
            let x = step as f32 / 100.0;
            assert!((f64::from(exp2(x)) / f64::from(x).exp2() - 1.0).abs() < 4e-7, "2^{x} is {}", exp2(x));
        }
        assert_eq!((exp2(1e9), exp2(-1e9)), (exp2(MAX_EXPONENT), exp2(-MAX_EXPONENT)));
    }

    /// Returns the values of units and the bytes of their hidden states after a step with the gate inputs `gates`.
    fn next<const GATES: usize>(gates: [f32; GATES], kept: f32) -> (f32, u8)
    where
        for<'a> Units<'a, GATES>: CellStep,
    {
        let (mut values, mut rounded) = ([kept; GROUP_UNITS], [0; GROUP_UNITS]);
        let readings =
            gates.map(|gate| Dequantisation { scale: [0.5; GROUP_UNITS], bias: [gate; GROUP_UNITS] });
        Units {
            gates: &mut [Line([0.0; GROUP_UNITS]); GATES],
            sums: [&[0; GROUP_UNITS]; GATES],
            readings: &readings,
            values: &mut values,
            rounded: &mut rounded,
        }
        .advance();
        assert!(
            values.iter().all(|value| *value == values[0]) && rounded.iter().all(|byte| *byte == rounded[0])
        );
        (values[0], rounded[0])
    }

    #[test]
    fn units_whose_gates_are_far_open_or_shut_stay_numbers() {
        assert_eq!([-1.0, -0.5, 0.0, 0.5, 1.0].map(byte), [1, 64, 128, 192, 255]);
        let far = [-1e9, -60.0, 0.0, 60.0, 1e9];
        for (x, y) in far.into_iter().flat_map(|x| far.map(|y| (x, y))) {
            let (state, rounded) = next::<GRU>([x, y, y], 1.0);
            assert!((-1.0..=1.0).contains(&state) && rounded > 0, "gru: {state}");
            let (cell, rounded) = next::<LSTM>([x, y, x, y], 100.0);
            assert!((-101.0..=101.0).contains(&cell) && rounded > 0, "lstm: {cell}");
        }
    }
}
