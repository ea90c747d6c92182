//! What each token gives to the first layer, rounded to bytes.
//!
//! In single precision, the rows of some hundred tokens would be larger than the second cache, and push the weights out.

use super::{
    kernel::WIDTH,
    matrix::{Output, Reading},
};

/// A `[token, output]` table; its outputs are in panels, as those of a matrix.
#[derive(Debug)]
pub(crate) struct Table {
    /// `[token, panel]`.
    rows: Vec<[i8; WIDTH]>,
    /// By panel.
    readings: Vec<Reading>,
}

impl Table {
    /// Rounds the numbers of each output so that its least is -127 and its largest 127.
    ///
    /// `output` says which of a token's numbers a panel's output is; `None` is an output of 0.
    pub(crate) fn rounded(
        tokens: &[Vec<f32>],
        panels: usize,
        output: impl Fn(usize, usize) -> Option<Output>,
    ) -> Self {
        let mut table = Self {
            rows: vec![[0; WIDTH]; tokens.len() * panels],
            readings: vec![Reading { scale: [0.0; WIDTH], bias: [0.0; WIDTH] }; panels],
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
                        // In range by the choice of the scale.
                        table.rows[token * panels + panel][lane] = ((number - middle) / scale).round() as i8;
                    }
                }
            }
        }
        table
    }

    /// The bytes, `[token, panel]`.
    pub(crate) fn rows(&self) -> &[[i8; WIDTH]] {
        &self.rows
    }

    /// What the bytes of `count` panels from `first` on stand for.
    pub(crate) fn readings(&self, first: usize, count: usize) -> &[Reading] {
        &self.readings[first..first + count]
    }
}
