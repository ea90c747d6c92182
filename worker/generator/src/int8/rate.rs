//! Speed of the matrix products, compared with the peak speed of the machine.

use std::time::{Duration, Instant};

use super::{
    Network,
    kernel::{BLOCK, Kernel, ROWS, Sums, WIDTH},
};

/// Byte multiplications and additions per second, on one thread.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ByteRates {
    /// Multiply instructions: `amx` or `avx512_vnni`.
    pub instructions: &'static str,
    /// Rate of the hidden product of the first layer, with a full batch.
    pub product: f64,
    /// Rate of the multiply instruction alone, with its operands in registers.
    pub machine: f64,
}

impl Network {
    /// Measures the rates of every instruction set that multiplies in one instruction, for `time` each. The one in
    /// use comes first.
    pub(crate) fn rates(&self, members: usize, time: Duration) -> Vec<ByteRates> {
        Kernel::available().filter_map(|kernel| self.rates_of(kernel, members, time)).collect()
    }

    fn rates_of(&self, kernel: Kernel, members: usize, time: Duration) -> Option<ByteRates> {
        const ROUNDS: u32 = 10_000;
        const MEASURED_ROUNDS: u32 = 10;
        let (instructions, _) = kernel.spin(1)?;
        let state = self.start(members);
        let (matrix, bytes, gates) = (self.hidden_product(), state.first_bytes(), self.cell.gates());
        let mut sums = vec![Sums([[0; WIDTH]; ROWS]); gates * members.div_ceil(ROWS)];
        let operations = 2 * matrix.panels() * WIDTH * bytes.len() * BLOCK;

        // Measured alternately, since a CPU may change its clock rate.
        let mut rates = ByteRates { instructions, product: 0.0, machine: 0.0 };
        for _ in 0..MEASURED_ROUNDS {
            let spin = || kernel.spin(ROUNDS).map_or(0, |(_, operations)| operations);
            rates.machine += rate(time / MEASURED_ROUNDS, spin) / f64::from(MEASURED_ROUNDS);
            let kernel = kernel.ready();
            rates.product += rate(time / MEASURED_ROUNDS, || {
                for first in (0..matrix.panels()).step_by(gates) {
                    matrix.multiply(&kernel, bytes, first, gates, &mut sums);
                    std::hint::black_box(&mut sums);
                }
                operations as u64
            }) / f64::from(MEASURED_ROUNDS);
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
