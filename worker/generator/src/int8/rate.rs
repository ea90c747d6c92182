//! How fast the products are, beside how fast the machine could multiply.

use std::time::{Duration, Instant};

use super::{
    Network,
    kernel::{BLOCK, ROWS, Sums, WIDTH},
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
        const ROUNDS: u32 = 10_000;
        const TURNS: u32 = 10;
        self.kernel.spin(1)?;
        let state = self.start(members);
        let (matrix, bytes, gates) = (self.hidden_product(), state.first_bytes(), self.cell.gates());
        let mut sums = vec![Sums([[0; WIDTH]; ROWS]); gates * members.div_ceil(ROWS)];
        let operations = 2 * matrix.panels() * WIDTH * bytes.len() * BLOCK;

        // By turns, for a processor may change its clock.
        let mut rates = ByteRates { product: 0.0, machine: 0.0 };
        for _ in 0..TURNS {
            rates.machine += rate(time / TURNS, || self.kernel.spin(ROUNDS).unwrap_or(0)) / f64::from(TURNS);
            let kernel = self.kernel.ready();
            rates.product += rate(time / TURNS, || {
                for first in (0..matrix.panels()).step_by(gates) {
                    matrix.multiply(&kernel, bytes, first, gates, &mut sums);
                    std::hint::black_box(&mut sums);
                }
                operations as u64
            }) / f64::from(TURNS);
        }
        Some(rates)
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
