//! Input of each token to the first layer, rounded to bytes.
//!
//! In single precision, the rows of some hundred tokens would be larger than the L2 cache and displace the weights.

use super::{
    kernel::WIDTH,
    matrix::{Dequantisation, OutputRow},
};

/// A `[token, output]` table; its outputs are in panels, as those of a matrix are.
#[derive(Debug)]
pub(crate) struct Table {
    /// Layout `[token, panel]`.
    rows: Vec<[i8; WIDTH]>,
    /// Dequantisation of each panel.
    readings: Vec<Dequantisation>,
}

impl Table {
    /// Rounds the numbers of each output so that the smallest is -127 and the largest 127.
    ///
    /// `output` says which of a token's numbers belongs to a panel and lane; `None` is an output of 0.
    pub(crate) fn rounded(
        tokens: &[Vec<f32>],
        panels: usize,
        output: impl Fn(usize, usize) -> Option<OutputRow>,
    ) -> Self {
        let mut table = Self {
            rows: vec![[0; WIDTH]; tokens.len() * panels],
            readings: vec![Dequantisation { scale: [0.0; WIDTH], bias: [0.0; WIDTH] }; panels],
        };
        for panel in 0..panels {
            for lane in 0..WIDTH {
                let Some(output) = output(panel, lane) else { continue };
                let numbers = || tokens.iter().map(|numbers| numbers[output.row]);
                let least = numbers().fold(f32::INFINITY, f32::min);
                let largest = numbers().fold(f32::NEG_INFINITY, f32::max);
                let (middle, scale) = (0.5 * (least + largest), (largest - least) / 254.0);
                table.readings[panel].bias[lane] = output.factor * middle + output.bias;
                if scale > 0.0 {
                    table.readings[panel].scale[lane] = output.factor * scale;
                    for (token, number) in numbers().enumerate() {
                        // Within ±127 by the choice of the scale.
                        table.rows[token * panels + panel][lane] = ((number - middle) / scale).round() as i8;
                    }
                }
            }
        }
        table
    }

    /// Returns the bytes, `[token, panel]`.
    pub(crate) fn rows(&self) -> &[[i8; WIDTH]] {
        &self.rows
    }

    /// Returns the dequantisation of `count` panels from `first` on.
    pub(crate) fn readings(&self, first: usize, count: usize) -> &[Dequantisation] {
        &self.readings[first..first + count]
    }
}
