//! Products of bytes, for the instruction sets that the machine may have.
//!
//! One call multiplies a panel of weights, 48 outputs that stay in the first cache, with the inputs of
//! as many tiles of 8 members as there are. A tile and a panel make 24 vector registers of sums, which
//! stay in registers from the first input to the last.
//!
//! # Safety
//! This is the crate's one module with `unsafe`: the call of a function that is compiled for AVX-512
//! VNNI, which `pulp` has no type for. It is sound if the processor has these instructions, and
//! [`Kernel::Vnni`] is only made by [`Kernel::available`] after it has asked for every one of them. The
//! function itself is safe code: it touches memory through slices and arrays alone.
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::{__m256i, __m512i, _mm512_dpbusd_epi32, _mm512_set1_epi32};

#[cfg(target_arch = "x86_64")]
use pulp::x86::{V3, V4};
use pulp::{Scalar, Simd, WithSimd};

/// Members of a tile.
pub(crate) const ROWS: usize = 8;
/// Groups of outputs in a panel: of a GRU's panel, the gates r, z and n of the same units.
pub(crate) const GROUPS: usize = 3;
/// Outputs of a group.
pub(crate) const LANES: usize = 16;

/// Four inputs of each member of a tile; a byte b stands for b - 128, which is within ±127.
pub(crate) type Inputs = [[u8; 4]; ROWS];
/// The weights of four inputs, by output: `[group][lane * 4 + input]`, within ±127.
pub(crate) type Weights = [[i8; 4 * LANES]; GROUPS];
/// Sums of a tile and a panel: `[group][member][lane]`.
pub(crate) type Sums = [[[i32; LANES]; ROWS]; GROUPS];

/// The weights of 48 outputs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Panel<'a> {
    /// One entry for every four inputs.
    pub(crate) weights: &'a [Weights],
    /// What sums start from: -128 times the sum of an output's weights, for the offset of the inputs.
    pub(crate) start: &'a [[i32; LANES]; GROUPS],
}

/// What multiplies.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kernel {
    /// Four products and three sums a lane and instruction.
    #[cfg(target_arch = "x86_64")]
    Vnni(V4),
    /// The same in four instructions, and half as many lanes.
    #[cfg(target_arch = "x86_64")]
    Avx2(V3),
    /// What the compiler makes of loops.
    Plain,
}

impl Kernel {
    /// What this machine has, fastest first.
    pub(crate) fn available() -> impl Iterator<Item = Self> {
        #[cfg(target_arch = "x86_64")]
        let vectors = {
            let vnni = std::arch::is_x86_feature_detected!("avx512f")
                && std::arch::is_x86_feature_detected!("avx512vnni");
            [V4::try_new().filter(|_| vnni).map(Self::Vnni), V3::try_new().map(Self::Avx2)]
        };
        #[cfg(not(target_arch = "x86_64"))]
        let vectors: [Option<Self>; 0] = [];
        vectors.into_iter().flatten().chain([Self::Plain])
    }

    /// The fastest that this machine has.
    pub(crate) fn best() -> Self {
        Self::available().next().unwrap_or(Self::Plain)
    }

    /// Sets `sums`, one for each tile, to the products of the tiles' inputs and the panel's weights.
    ///
    /// `inputs` holds as many entries for each tile as the panel does, tile after tile.
    pub(crate) fn multiply(self, inputs: &[Inputs], panel: Panel<'_>, sums: &mut [Sums]) {
        match self {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: see the module's header.
            Self::Vnni(_) => unsafe { multiply_vnni(inputs, panel, sums) },
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(simd) => Simd::vectorize(simd, MultiplyAvx2 { simd, inputs, panel, sums }),
            Self::Plain => multiply_plain(inputs, panel, sums),
        }
    }

    /// Does as many multiplications and additions as it can without touching memory, `rounds` times 24
    /// instructions: how many were done. `None` for instruction sets that multiply in several steps.
    pub(crate) fn spin(self, rounds: u32) -> Option<u64> {
        match self {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: see the module's header.
            Self::Vnni(_) => {
                std::hint::black_box(unsafe { spin_vnni(rounds) });
                Some(u64::from(rounds) * (ROWS * GROUPS * LANES * 4 * 2) as u64)
            }
            _ => None,
        }
    }

    /// Runs an operation compiled for the instruction set.
    pub(crate) fn run<O: WithSimd>(self, operation: O) -> O::Output {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Vnni(simd) => Simd::vectorize(simd, operation),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(simd) => Simd::vectorize(simd, operation),
            Self::Plain => Simd::vectorize(Scalar::new(), operation),
        }
    }
}

/// Each tile's inputs with the place of its sums.
fn tiles<'a>(
    inputs: &'a [Inputs],
    panel: Panel<'a>,
    sums: &'a mut [Sums],
) -> impl Iterator<Item = (&'a [Inputs], &'a mut Sums)> {
    inputs.chunks_exact(panel.weights.len()).zip(sums)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vnni")]
fn multiply_vnni(inputs: &[Inputs], panel: Panel<'_>, sums: &mut [Sums]) {
    let mut start = [_mm512_set1_epi32(0); GROUPS];
    for (start, numbers) in start.iter_mut().zip(panel.start) {
        *start = pulp::cast::<[i32; LANES], __m512i>(*numbers);
    }
    for (inputs, sums) in tiles(inputs, panel, sums) {
        let mut totals = [start; ROWS];
        for (inputs, weights) in inputs.iter().zip(panel.weights) {
            for row in 0..ROWS {
                let four = _mm512_set1_epi32(i32::from_ne_bytes(inputs[row]));
                for group in 0..GROUPS {
                    let weights = pulp::cast::<[i8; 4 * LANES], __m512i>(weights[group]);
                    totals[row][group] = _mm512_dpbusd_epi32(totals[row][group], four, weights);
                }
            }
        }
        for row in 0..ROWS {
            for group in 0..GROUPS {
                sums[group][row] = pulp::cast::<__m512i, [i32; LANES]>(totals[row][group]);
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vnni")]
fn spin_vnni(rounds: u32) -> [[i32; LANES]; ROWS * GROUPS] {
    let mut totals = [_mm512_set1_epi32(0); ROWS * GROUPS];
    let (inputs, weights) =
        std::hint::black_box((_mm512_set1_epi32(0x0102_0304), _mm512_set1_epi32(0x0506_0708)));
    for _ in 0..rounds {
        for total in &mut totals {
            *total = _mm512_dpbusd_epi32(*total, inputs, weights);
        }
    }
    totals.map(pulp::cast::<__m512i, [i32; LANES]>)
}

/// `vpmaddubsw` sums two products in 16 bits, which hold 2 * 127 * 127 and not 2 * 255 * 127. So the
/// magnitude of an input meets the weight with the input's sign.
#[cfg(target_arch = "x86_64")]
struct MultiplyAvx2<'a> {
    simd: V3,
    inputs: &'a [Inputs],
    panel: Panel<'a>,
    sums: &'a mut [Sums],
}

#[cfg(target_arch = "x86_64")]
impl WithSimd for MultiplyAvx2<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        const HALVES: usize = 2 * GROUPS;
        let Self { simd: V3 { avx, avx2, .. }, inputs, panel, sums } = self;
        let ones = avx._mm256_set1_epi16(1);
        let offset = avx._mm256_set1_epi8(i8::MIN);
        for (inputs, sums) in tiles(inputs, panel, sums) {
            for row in 0..ROWS {
                let mut totals = [avx._mm256_setzero_si256(); HALVES];
                for (inputs, weights) in inputs.iter().zip(panel.weights) {
                    let four = avx._mm256_set1_epi32(i32::from_ne_bytes(inputs[row]));
                    let four = avx2._mm256_xor_si256(four, offset);
                    let magnitudes = avx2._mm256_abs_epi8(four);
                    let weights: [__m256i; HALVES] = pulp::cast(*weights);
                    for half in 0..HALVES {
                        let weights = avx2._mm256_sign_epi8(weights[half], four);
                        let pairs = avx2._mm256_maddubs_epi16(magnitudes, weights);
                        let fours = avx2._mm256_madd_epi16(pairs, ones);
                        totals[half] = avx2._mm256_add_epi32(totals[half], fours);
                    }
                }
                let totals: [[i32; LANES]; GROUPS] = pulp::cast(totals);
                for group in 0..GROUPS {
                    sums[group][row] = totals[group];
                }
            }
        }
    }
}

fn multiply_plain(inputs: &[Inputs], panel: Panel<'_>, sums: &mut [Sums]) {
    for (inputs, sums) in tiles(inputs, panel, sums) {
        for (sums, start) in sums.iter_mut().zip(panel.start) {
            *sums = [*start; ROWS];
        }
        for (inputs, weights) in inputs.iter().zip(panel.weights) {
            for (sums, weights) in sums.iter_mut().zip(weights) {
                for (sums, inputs) in sums.iter_mut().zip(inputs) {
                    for (sum, weights) in sums.iter_mut().zip(weights.as_chunks::<4>().0) {
                        for (weight, input) in weights.iter().zip(inputs) {
                            // Cannot overflow; a check would keep the loop out of vector registers.
                            let product = i32::from(*weight).wrapping_mul(i32::from(*input));
                            *sum = sum.wrapping_add(product);
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::{GROUPS, Inputs, Kernel, LANES, Panel, ROWS, Sums, Weights};

    /// Inputs of `tiles` tiles and a panel, of random numbers or of the greatest that there are.
    fn stage(quads: usize, tiles: usize, byte: &mut impl FnMut() -> i8) -> (Vec<Inputs>, Vec<Weights>) {
        let inputs =
            (0..tiles * quads).map(|_| [[0; 4]; ROWS].map(|row| row.map(|_: u8| byte() as u8 ^ 0x80)));
        let inputs = inputs.collect();
        let weights = (0..quads).map(|_| [[0; 4 * LANES]; GROUPS].map(|group| group.map(|_: i8| byte())));
        (inputs, weights.collect())
    }

    fn start(weights: &[Weights]) -> [[i32; LANES]; GROUPS] {
        let mut start = [[0; LANES]; GROUPS];
        for weights in weights {
            for (start, weights) in start.iter_mut().zip(weights) {
                for (start, weights) in start.iter_mut().zip(weights.chunks(4)) {
                    *start -= 128 * weights.iter().map(|weight| i32::from(*weight)).sum::<i32>();
                }
            }
        }
        start
    }

    fn exact(inputs: &[Inputs], weights: &[Weights], group: usize, row: usize, lane: usize) -> i32 {
        let product = |n: usize| -> i32 {
            let four = (0..4)
                .map(|k| (i32::from(inputs[n][row][k]) - 128) * i32::from(weights[n][group][4 * lane + k]));
            four.sum()
        };
        (0..weights.len()).map(product).sum()
    }

    #[test]
    fn every_instruction_set_gives_the_exact_sums() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        for (quads, tiles, extreme) in [(1, 1, false), (5, 3, true), (128, 2, true), (128, 1, false)] {
            let (inputs, weights) = stage(quads, tiles, &mut || {
                if !extreme {
                    rng.random_range(-127..=127)
                } else if rng.random() {
                    127
                } else {
                    -127
                }
            });
            let start = start(&weights);
            for kernel in Kernel::available() {
                let mut sums: Vec<Sums> = vec![[[[7; LANES]; ROWS]; GROUPS]; tiles];

                kernel.multiply(&inputs, Panel { weights: &weights, start: &start }, &mut sums);

                for (sums, inputs) in sums.iter().zip(inputs.chunks(quads)) {
                    for (group, sums) in sums.iter().enumerate() {
                        for (row, sums) in sums.iter().enumerate() {
                            for (lane, sum) in sums.iter().enumerate() {
                                assert_eq!(*sum, exact(inputs, &weights, group, row, lane), "{kernel:?}");
                            }
                        }
                    }
                }
            }
        }
    }
}
