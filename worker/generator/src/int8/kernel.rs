//! Products of bytes, for the instruction sets that the machine may have.
//!
//! One call multiplies a panel of weights, 48 outputs that stay in the first cache, with the inputs of
//! as many tiles of 8 members as there are. A tile and a panel make 24 vector registers of sums, or 3 of
//! AMX, which stay in registers from the first input to the last.
//!
//! # Safety
//! This is the crate's one module with `unsafe`: instructions that `pulp` has no type for. AVX-512 VNNI is
//! a call of a function that is compiled for it. It is sound if the processor has these instructions, and
//! [`Kernel::Vnni`] is only made by [`Kernel::available`] after it has asked for every one of them; the
//! function itself is safe code, which touches memory through slices and arrays alone. AMX has no stable
//! functions in Rust, so it is assembly (`multiply_amx`), which is sound if processor and system have AMX,
//! which [`Kernel::available`] asks as well, and if what it reads and writes is there, which is said where it
//! is called.
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
use core::arch::{
    asm,
    x86_64::{__cpuid_count, __m256i, __m512i, _mm512_dpbusd_epi32, _mm512_set1_epi32},
};

#[cfg(target_arch = "x86_64")]
use pulp::x86::{V3, V4};
use pulp::{Scalar, Simd, WithSimd};

/// Members of a tile.
pub(crate) const ROWS: usize = 8;
/// Groups of outputs in a panel: of a GRU's panel, the gates r, z and n of the same units.
pub(crate) const GROUPS: usize = 3;
/// Outputs of a group.
pub(crate) const LANES: usize = 16;

/// Inputs are padded to a multiple of as many.
pub(crate) const BLOCK: usize = 64;
/// Entries of a panel for a block of inputs.
const QUADS: usize = BLOCK / 4;

/// Inputs of a member; a byte b stands for b - 128, which is within ±127.
///
/// A line of the cache, as the rows of weights are: what lies across two takes AMX three times as long.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Block(pub(crate) [u8; BLOCK]);

/// The weights of four inputs, by output: `[group][lane * 4 + input]`, within ±127.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Weights(pub(crate) [[i8; 4 * LANES]; GROUPS]);

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
    /// Sixteen products and sums of VNNI's in one instruction.
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    Amx(V4),
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
            let vnni = V4::try_new().filter(|_| vnni);
            #[cfg(target_os = "linux")]
            let amx = vnni.filter(|_| amx_is_there()).map(Self::Amx);
            #[cfg(not(target_os = "linux"))]
            let amx = None;
            [amx, vnni.map(Self::Vnni), V3::try_new().map(Self::Avx2)]
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
    /// `inputs` is `[tile, member, block]`, with a block for every sixteen entries of the panel.
    pub(crate) fn multiply(self, inputs: &[Block], panel: Panel<'_>, sums: &mut [Sums]) {
        match self {
            #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
            Self::Amx(_) => multiply_amx(inputs, panel, sums),
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
            #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
            Self::Amx(_) => {
                spin_amx(rounds);
                Some(u64::from(rounds) * (24 * ROWS * BLOCK * LANES * 2) as u64)
            }
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
            #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
            Self::Amx(simd) => Simd::vectorize(simd, operation),
            #[cfg(target_arch = "x86_64")]
            Self::Vnni(simd) => Simd::vectorize(simd, operation),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(simd) => Simd::vectorize(simd, operation),
            Self::Plain => Simd::vectorize(Scalar::new(), operation),
        }
    }
}

/// Each tile's inputs, by member, with the place of its sums.
fn tiles<'a>(
    inputs: &'a [Block],
    panel: Panel<'a>,
    sums: &'a mut [Sums],
) -> impl Iterator<Item = ([&'a [Block]; ROWS], &'a mut Sums)> {
    let blocks = panel.weights.len() / QUADS;
    let tiles = inputs.chunks_exact(ROWS * blocks);
    tiles.map(move |tile| std::array::from_fn(|row| &tile[row * blocks..(row + 1) * blocks])).zip(sums)
}

impl Block {
    fn quads(&self) -> &[[u8; 4]; QUADS] {
        self.0.as_chunks().0.try_into().expect("kernel: a block is whole quads")
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vnni")]
fn multiply_vnni(inputs: &[Block], panel: Panel<'_>, sums: &mut [Sums]) {
    let mut start = [_mm512_set1_epi32(0); GROUPS];
    for (start, numbers) in start.iter_mut().zip(panel.start) {
        *start = pulp::cast::<[i32; LANES], __m512i>(*numbers);
    }
    for (inputs, sums) in tiles(inputs, panel, sums) {
        let mut totals = [start; ROWS];
        for (n, weights) in panel.weights.as_chunks::<QUADS>().0.iter().enumerate() {
            let quads: [_; ROWS] = std::array::from_fn(|row| inputs[row][n].quads());
            for (n, weights) in weights.iter().enumerate() {
                for row in 0..ROWS {
                    let four = _mm512_set1_epi32(i32::from_ne_bytes(quads[row][n]));
                    for (total, weights) in totals[row].iter_mut().zip(&weights.0) {
                        let weights = pulp::cast::<[i8; 4 * LANES], __m512i>(*weights);
                        *total = _mm512_dpbusd_epi32(*total, four, weights);
                    }
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
    inputs: &'a [Block],
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
                for (four, weights) in inputs[row].iter().flat_map(Block::quads).zip(panel.weights) {
                    let four = avx._mm256_set1_epi32(i32::from_ne_bytes(*four));
                    let four = avx2._mm256_xor_si256(four, offset);
                    let magnitudes = avx2._mm256_abs_epi8(four);
                    let weights: [__m256i; HALVES] = pulp::cast(weights.0);
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

fn multiply_plain(inputs: &[Block], panel: Panel<'_>, sums: &mut [Sums]) {
    for (inputs, sums) in tiles(inputs, panel, sums) {
        for (sums, start) in sums.iter_mut().zip(panel.start) {
            *sums = [*start; ROWS];
        }
        for (n, weights) in panel.weights.iter().enumerate() {
            for (sums, weights) in sums.iter_mut().zip(&weights.0) {
                for (sums, inputs) in sums.iter_mut().zip(inputs) {
                    let four = &inputs[n / QUADS].quads()[n % QUADS];
                    for (sum, weights) in sums.iter_mut().zip(weights.as_chunks::<4>().0) {
                        for (weight, input) in weights.iter().zip(four) {
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

/// Whether the processor has AMX for bytes, and the system lets this process use it.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
fn amx_is_there() -> bool {
    // Linux, "Using XSTATE features in user space applications".
    const ARCH_PRCTL: i64 = 158;
    const ARCH_REQ_XCOMP_PERM: i64 = 0x1023;
    const XFEATURE_XTILEDATA: i64 = 18;
    const TILE_AND_INT8: u32 = 3 << 24;
    if __cpuid_count(0, 0).eax < 7 || __cpuid_count(7, 0).edx & TILE_AND_INT8 != TILE_AND_INT8 {
        return false;
    }
    let result: i64;
    // SAFETY: this system call takes two numbers and touches no memory of ours; `syscall` overwrites rcx and
    // r11. A kernel that does not know it says so.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") ARCH_PRCTL => result,
            in("rdi") ARCH_REQ_XCOMP_PERM,
            in("rsi") XFEATURE_XTILEDATA,
            out("rcx") _,
            out("r11") _,
            options(nostack),
        );
    }
    result == 0
}

/// The shapes of AMX's registers: six of sums and one of inputs with a row for each member of a tile, one of
/// weights with a row for every four inputs; rows are 64 bytes long (Intel SDM, "TILECFG").
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
#[repr(C, align(64))]
struct Shapes {
    palette: u8,
    start_row: u8,
    reserved: [u8; 14],
    row_bytes: [u16; 16],
    rows: [u8; 16],
}

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
static SHAPES: Shapes = Shapes {
    palette: 1,
    start_row: 0,
    reserved: [0; 14],
    row_bytes: [64, 64, 64, 64, 64, 64, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0],
    rows: [8, 8, 8, 8, 8, 8, 8, 16, 0, 0, 0, 0, 0, 0, 0, 0],
};

/// Takes two tiles at a time, for a sum waits longer for the sum before it than six products take.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
fn multiply_amx(inputs: &[Block], panel: Panel<'_>, sums: &mut [Sums]) {
    const ROW: usize = 64;
    let blocks = panel.weights.len() / QUADS;
    assert!(blocks > 0, "matrix: a panel has a block of weights");
    assert!(inputs.len() >= sums.len() * ROWS * blocks, "network: every tile has its inputs");
    for (n, pair) in sums.chunks_mut(2).enumerate() {
        let first = &inputs[2 * n * ROWS * blocks..];
        // A last tile without a neighbour is its own.
        let second = if pair.len() == 2 { &first[ROWS * blocks..] } else { first };
        let to_first = pair.as_mut_ptr();
        let to_second = to_first.wrapping_add(pair.len() - 1);
        // SAFETY: `first` and `second` hold `ROWS` rows of `blocks` times 64 bytes, of which each round reads 64; the
        // panel holds `blocks` times 16 entries of three rows of 64 bytes, of which each round reads 16, and
        // three rows of 64 bytes to start from; `to_first` and `to_second` are sums of three times `ROWS`
        // rows of 64 bytes. AMX's registers are used by nothing else, and given back.
        unsafe {
            asm!(
                "ldtilecfg [{shapes}]",
                "tileloadd tmm0, [{start} + {none}]",
                "tileloadd tmm1, [{start} + {none} + 64]",
                "tileloadd tmm2, [{start} + {none} + 128]",
                "tileloadd tmm3, [{start} + {none}]",
                "tileloadd tmm4, [{start} + {none} + 64]",
                "tileloadd tmm5, [{start} + {none} + 128]",
                "2:",
                "tileloadd tmm7, [{weights} + {entry}]",
                "tileloadd tmm6, [{first} + {width}]",
                "tdpbusd tmm0, tmm6, tmm7",
                "tileloadd tmm6, [{second} + {width}]",
                "tdpbusd tmm3, tmm6, tmm7",
                "tileloadd tmm7, [{weights} + {entry} + 64]",
                "tdpbusd tmm4, tmm6, tmm7",
                "tileloadd tmm6, [{first} + {width}]",
                "tdpbusd tmm1, tmm6, tmm7",
                "tileloadd tmm7, [{weights} + {entry} + 128]",
                "tdpbusd tmm2, tmm6, tmm7",
                "tileloadd tmm6, [{second} + {width}]",
                "tdpbusd tmm5, tmm6, tmm7",
                "add {first}, 64",
                "add {second}, 64",
                "add {weights}, 3072",
                "dec {blocks}",
                "jnz 2b",
                "tilestored [{to_first} + {row}], tmm0",
                "tilestored [{to_first} + {row} + 512], tmm1",
                "tilestored [{to_first} + {row} + 1024], tmm2",
                "tilestored [{to_second} + {row}], tmm3",
                "tilestored [{to_second} + {row} + 512], tmm4",
                "tilestored [{to_second} + {row} + 1024], tmm5",
                "tilerelease",
                shapes = in(reg) &raw const SHAPES,
                start = in(reg) panel.start,
                none = in(reg) 0_usize,
                weights = inout(reg) panel.weights.as_ptr() => _,
                entry = in(reg) size_of::<Weights>(),
                first = inout(reg) first.as_ptr() => _,
                second = inout(reg) second.as_ptr() => _,
                width = in(reg) blocks * BLOCK,
                blocks = inout(reg) blocks => _,
                to_first = in(reg) to_first,
                to_second = in(reg) to_second,
                row = in(reg) ROW,
                options(nostack),
            );
        }
    }
}

/// 24 products of registers, `rounds` times.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
fn spin_amx(rounds: u32) {
    if rounds == 0 {
        return;
    }
    // SAFETY: no memory is touched but the shapes. AMX's registers are used by nothing else, and given back.
    unsafe {
        asm!(
            "ldtilecfg [{shapes}]",
            "2:",
            ".rept 4",
            "tdpbusd tmm0, tmm6, tmm7",
            "tdpbusd tmm1, tmm6, tmm7",
            "tdpbusd tmm2, tmm6, tmm7",
            "tdpbusd tmm3, tmm6, tmm7",
            "tdpbusd tmm4, tmm6, tmm7",
            "tdpbusd tmm5, tmm6, tmm7",
            ".endr",
            "dec {rounds:e}",
            "jnz 2b",
            "tilerelease",
            shapes = in(reg) &raw const SHAPES,
            rounds = inout(reg) rounds => _,
            options(nostack),
        );
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::{BLOCK, Block, GROUPS, Kernel, LANES, Panel, QUADS, ROWS, Sums, Weights};

    /// Inputs of `tiles` tiles and a panel, of random numbers or of the greatest that there are.
    fn stage(blocks: usize, tiles: usize, byte: &mut impl FnMut() -> i8) -> (Vec<Block>, Vec<Weights>) {
        let inputs =
            (0..tiles * ROWS * blocks).map(|_| Block([0; BLOCK].map(|_: u8| byte() as u8 ^ 0x80))).collect();
        let weights = (0..blocks * QUADS)
            .map(|_| Weights([[0; 4 * LANES]; GROUPS].map(|group| group.map(|_: i8| byte()))));
        (inputs, weights.collect())
    }

    fn start(weights: &[Weights]) -> [[i32; LANES]; GROUPS] {
        let mut start = [[0; LANES]; GROUPS];
        for weights in weights {
            for (start, weights) in start.iter_mut().zip(&weights.0) {
                for (start, weights) in start.iter_mut().zip(weights.chunks(4)) {
                    *start -= 128 * weights.iter().map(|weight| i32::from(*weight)).sum::<i32>();
                }
            }
        }
        start
    }

    fn exact(inputs: &[Block], weights: &[Weights], group: usize, row: usize, lane: usize) -> i32 {
        let blocks = weights.len() / QUADS;
        let product = |n: usize| {
            let input = inputs[row * blocks + n / BLOCK].0[n % BLOCK];
            (i32::from(input) - 128) * i32::from(weights[n / 4].0[group][4 * lane + n % 4])
        };
        (0..4 * weights.len()).map(product).sum()
    }

    #[test]
    fn every_instruction_set_gives_the_exact_sums() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        for (blocks, tiles, extreme) in [(1, 1, false), (3, 3, true), (8, 2, true), (8, 5, false)] {
            let (inputs, weights) = stage(blocks, tiles, &mut || {
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

                for (sums, inputs) in sums.iter().zip(inputs.chunks(ROWS * blocks)) {
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
