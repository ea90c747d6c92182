//! How fast the products are, beside how fast the machine could multiply.

use std::time::{Duration, Instant};

use super::{
    Network,
    kernel::{BLOCK, Kernel, ROWS, Sums, WIDTH},
};

/// Multiplications and additions of bytes a second, of one thread.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ByteRates {
    /// The instructions that multiply: `amx` or `avx512_vnni`.
    pub instructions: &'static str,
    /// The hidden product of the first layer, with a full batch.
    pub product: f64,
    /// The multiply instruction by itself, its operands in registers.
    pub machine: f64,
}

impl Network {
    /// Measures the rates of every instruction set that multiplies in one step, for `time` each; the one in use is the first.
    pub(crate) fn rates(&self, members: usize, time: Duration) -> Vec<ByteRates> {
        Kernel::available().filter_map(|kernel| self.rates_of(kernel, members, time)).collect()
    }

    fn rates_of(&self, kernel: Kernel, members: usize, time: Duration) -> Option<ByteRates> {
        const ROUNDS: u32 = 10_000;
        const TURNS: u32 = 10;
        let (instructions, _) = kernel.spin(1)?;
        let state = self.start(members);
        let (matrix, bytes, gates) = (self.hidden_product(), state.first_bytes(), self.cell.gates());
        let mut sums = vec![Sums([[0; WIDTH]; ROWS]); gates * members.div_ceil(ROWS)];
        let operations = 2 * matrix.panels() * WIDTH * bytes.len() * BLOCK;

        // By turns, for a processor may change its clock.
        let mut rates = ByteRates { instructions, product: 0.0, machine: 0.0 };
        for _ in 0..TURNS {
            let spin = || kernel.spin(ROUNDS).map_or(0, |(_, operations)| operations);
            rates.machine += rate(time / TURNS, spin) / f64::from(TURNS);
            let kernel = kernel.ready();
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
