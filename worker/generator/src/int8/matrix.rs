//! Weight matrices, rounded to bytes and arranged for the kernel.

use super::kernel::{BLOCK, Block, Halves, LANES, ReadyKernel, Sums, WIDTH, Weights};

/// Value of one step of an input byte.
pub(crate) const INPUT_SCALE: f32 = 1.0 / 127.0;

/// A `[rows, inputs]` matrix; its rows are the outputs, in panels.
#[derive(Debug)]
pub(crate) struct Matrix {
    /// Number of blocks of inputs.
    blocks: usize,
    /// Layout `[panel, block]`.
    weights: Vec<Halves>,
    /// Dequantisation of each panel.
    readings: Vec<Dequantisation>,
}

/// Dequantisation of a panel's sums: `scale * sum + bias`, per output.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Dequantisation<const N: usize = WIDTH> {
    pub(crate) scale: [f32; N],
    pub(crate) bias: [f32; N],
}

/// An output that is `factor * (weights[row] * inputs) + bias`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OutputRow {
    pub(crate) row: usize,
    pub(crate) factor: f32,
    pub(crate) bias: f32,
}

impl Matrix {
    /// Rounds `weights`, `[rows, inputs]`, so that each row's largest magnitude is 127.
    ///
    /// `output` describes the output at a panel and lane; `None` is an output of 0.
    pub(crate) fn rounded(
        weights: &[f32],
        inputs: usize,
        panels: usize,
        output: impl Fn(usize, usize) -> Option<OutputRow>,
    ) -> Self {
        let blocks = inputs.div_ceil(BLOCK);
        let mut matrix = Self {
            blocks,
            weights: vec![[Weights([[0; 4 * LANES]; BLOCK / 4]); 2]; panels * blocks],
            readings: vec![Dequantisation { scale: [0.0; WIDTH], bias: [0.0; WIDTH] }; panels],
        };
        for panel in 0..panels {
            for lane in 0..WIDTH {
                let Some(output) = output(panel, lane) else { continue };
                matrix.put(&weights[output.row * inputs..][..inputs], output, panel, lane);
            }
        }
        matrix
    }

    fn put(&mut self, row: &[f32], output: OutputRow, panel: usize, lane: usize) {
        let reading = &mut self.readings[panel];
        reading.bias[lane] = output.bias;
        let largest = row.iter().fold(0.0_f32, |most, weight| most.max(weight.abs()));
        if largest == 0.0 {
            return;
        }
        let scale = largest / 127.0;
        reading.scale[lane] = scale * INPUT_SCALE * output.factor;
        let blocks = &mut self.weights[panel * self.blocks..];
        let mut sum = 0;
        for (input, weight) in row.iter().enumerate() {
            // Within ±127 by the choice of the scale.
            let byte = (weight / scale).round() as i8;
            let quad = &mut blocks[input / BLOCK][lane / LANES].0[input % BLOCK / 4];
            quad[4 * (lane % LANES) + input % 4] = byte;
            sum += i32::from(byte);
        }
        // Corrects the input bytes' offset of 128.
        reading.bias[lane] -= 128.0 * sum as f32 * reading.scale[lane];
    }

    /// Returns the number of panels of outputs.
    pub(crate) fn panels(&self) -> usize {
        self.readings.len()
    }

    /// Multiplies `inputs`, `[tile, block, member]`, by `count` panels from `first` on and writes `sums`, `[panel,
    /// tile]`.
    pub(crate) fn multiply(
        &self,
        kernel: &ReadyKernel,
        inputs: &[Block],
        first: usize,
        count: usize,
        sums: &mut [Sums],
    ) {
        let weights = &self.weights[first * self.blocks..][..count * self.blocks];
        kernel.multiply(inputs, weights, self.blocks, sums);
    }

    /// Returns the dequantisation of `count` panels from `first` on.
    pub(crate) fn readings(&self, first: usize, count: usize) -> &[Dequantisation] {
        &self.readings[first..first + count]
    }
}
