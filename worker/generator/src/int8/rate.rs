//! How fast the products are, beside how fast the machine could multiply.

use std::time::{Duration, Instant};

use super::{
    Network,
    kernel::{BLOCK, GROUPS, LANES, ROWS},
};

/// Multiplications and additions of bytes a second, of one thread.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ByteRates {
    /// The hidden product of the first layer, with a full batch.
    pub product: f64,
    /// The multiply instruction by itself, its operands in registers.
    pub machine: f64,
}

impl Network {
    /// Measures both rates, each for `time`; `None` where the machine multiplies in several steps.
    pub(crate) fn rates(&self, members: usize, time: Duration) -> Option<ByteRates> {
        const ROUNDS: u32 = 100_000;
        self.kernel.spin(1)?;
        let machine = rate(time, || self.kernel.spin(ROUNDS).unwrap_or(0));

        let state = self.start(members);
        let tiles = members.div_ceil(ROWS);
        let (matrix, bytes) = (self.hidden_product(), state.first_bytes());
        let mut sums = vec![[[[0; LANES]; ROWS]; GROUPS]; tiles];
        let outputs = matrix.panels() * GROUPS * LANES;
        let operations = 2 * outputs * bytes.len() * BLOCK;
        let product = rate(time, || {
            for panel in 0..matrix.panels() {
                self.kernel.multiply(bytes, matrix.panel(panel), &mut sums);
                std::hint::black_box(&mut sums);
            }
            operations as u64
        });
        Some(ByteRates { product, machine })
    }
}

fn rate(time: Duration, mut work: impl FnMut() -> u64) -> f64 {
    let begun = Instant::now();
    let mut done = 0;
    while begun.elapsed() < time {
        done += work();
    }
    done as f64 / begun.elapsed().as_secs_f64()
}
