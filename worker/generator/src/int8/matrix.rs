//! A matrix of weights, rounded to bytes and laid out for the kernel.

use super::{
    Panel, Weights,
    kernel::{BLOCK, GROUPS, LANES},
};

/// What a byte of an input stands for.
pub(crate) const INPUT_SCALE: f32 = 1.0 / 127.0;

/// A `[rows, inputs]` matrix; its rows are the outputs, in panels.
#[derive(Debug)]
pub(crate) struct Matrix {
    /// Entries of a panel: four inputs each.
    quads: usize,
    /// Panel after panel.
    weights: Vec<Weights>,
    start: Vec<[[i32; LANES]; GROUPS]>,
    /// By panel: what a sum of 1 stands for.
    scales: Vec<[[f32; LANES]; GROUPS]>,
}

impl Matrix {
    /// Rounds `weights`, `[rows, inputs]`, so that each row's largest weight is 127.
    ///
    /// `row` says which row is at a panel, group and lane; where there is none, the output is 0.
    pub(crate) fn rounded(
        weights: &[f32],
        inputs: usize,
        panels: usize,
        row: impl Fn(usize, usize, usize) -> Option<usize>,
    ) -> Self {
        let quads = inputs.div_ceil(BLOCK) * BLOCK / 4;
        let mut matrix = Self {
            quads,
            weights: vec![Weights([[0; 4 * LANES]; GROUPS]); panels * quads],
            start: vec![[[0; LANES]; GROUPS]; panels],
            scales: vec![[[0.0; LANES]; GROUPS]; panels],
        };
        for panel in 0..panels {
            for group in 0..GROUPS {
                for lane in 0..LANES {
                    let Some(row) = row(panel, group, lane) else { continue };
                    let row = &weights[row * inputs..(row + 1) * inputs];
                    matrix.put(row, panel, group, lane);
                }
            }
        }
        matrix
    }

    fn put(&mut self, row: &[f32], panel: usize, group: usize, lane: usize) {
        let largest = row.iter().fold(0.0_f32, |most, weight| most.max(weight.abs()));
        if largest == 0.0 {
            return;
        }
        let scale = largest / 127.0;
        self.scales[panel][group][lane] = scale * INPUT_SCALE;
        let place = &mut self.weights[panel * self.quads..];
        let mut sum = 0;
        for (input, weight) in row.iter().enumerate() {
            // In range by the choice of the scale.
            let byte = (weight / scale).round() as i8;
            place[input / 4].0[group][4 * lane + input % 4] = byte;
            sum += i32::from(byte);
        }
        self.start[panel][group][lane] = -128 * sum;
    }

    /// The same matrix with the outputs of each group multiplied by a factor.
    pub(crate) fn times(mut self, factors: [f32; GROUPS]) -> Self {
        for scales in &mut self.scales {
            for (scales, factor) in scales.iter_mut().zip(factors) {
                for scale in scales {
                    *scale *= factor;
                }
            }
        }
        self
    }

    /// Panels of outputs.
    pub(crate) fn panels(&self) -> usize {
        self.start.len()
    }

    /// The weights of a panel.
    pub(crate) fn panel(&self, n: usize) -> Panel<'_> {
        Panel { weights: &self.weights[n * self.quads..(n + 1) * self.quads], start: &self.start[n] }
    }

    /// What a sum of 1 stands for, for the outputs of a panel.
    pub(crate) fn scales(&self, panel: usize) -> &[[f32; LANES]; GROUPS] {
        &self.scales[panel]
    }
}
