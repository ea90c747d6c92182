//! Products of bytes, for the instruction sets that the machine may have.
//!
//! A panel of weights, 32 outputs that stay in the L1 cache, is multiplied with tiles of 32 members. With AMX that is
//! two by two registers: four of sums, which stay in registers from the first input to the last. Four products need
//! four register loads, which take half as long as the products.
//!
//! # Safety
//! This is the crate's only module with `unsafe`, for instructions that `pulp` has no type for. AVX-512 VNNI is a
//! call of a function that is compiled for it. The call is sound if the CPU has these instructions. [`Kernel::Vnni`]
//! is only made by [`Kernel::available`] after it has checked for each of them. The function itself is safe code,
//! which accesses memory only through slices and arrays. AMX has no stable functions in Rust, so it is assembly
//! (`multiply_amx`). It is sound if CPU and operating system support AMX, which [`Kernel::available`] checks too, and
//! if the memory that it accesses is valid, which is stated at each call.
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
use core::arch::{
    asm,
    x86_64::{__cpuid_count, __m256i, __m512i, _mm512_dpbusd_epi32, _mm512_set1_epi32},
};
use core::marker::PhantomData;

#[cfg(target_arch = "x86_64")]
use pulp::x86::{V3, V4};
use pulp::{Scalar, Simd, WithSimd};

/// Members of a tile.
pub(crate) const ROWS: usize = 32;
/// Outputs of a panel.
pub(crate) const WIDTH: usize = 32;
/// Inputs are padded to a multiple of this number.
pub(crate) const BLOCK: usize = 64;

/// Outputs whose weights are contiguous, and members whose sums are in one AMX register.
pub(crate) const LANES: usize = 16;
/// Halves of a panel's outputs and of a tile's members.
const HALVES: usize = WIDTH / LANES;
/// Groups of four in a block's inputs.
const QUADS_PER_BLOCK: usize = BLOCK / 4;
/// Instructions per round of [`Kernel::spin`].
#[cfg(target_arch = "x86_64")]
const SPIN_INSTRUCTIONS: usize = 24;

/// Inputs of a member; a byte b stands for b - 128, which is within ±127.
///
/// Aligned to a cache line, as the rows of weights are: AMX takes three times as long for data that straddles two
/// lines.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Block(pub(crate) [u8; BLOCK]);

/// Weights of a block of inputs for half the outputs of a panel: `[input / 4][lane * 4 + input % 4]`, within ±127.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Weights(pub(crate) [[i8; 4 * LANES]; QUADS_PER_BLOCK]);

/// Weights of a panel for a block of inputs.
pub(crate) type Halves = [Weights; HALVES];

/// Sums of a tile and a panel, by member and output, over the stored input bytes: too large by 128 times the weights.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Sums(pub(crate) [[i32; WIDTH]; ROWS]);

/// Instruction set of the matrix products.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kernel {
    /// AMX: sixteen times the multiplications of a VNNI instruction in one.
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    Amx(V4),
    /// Four multiplications and three additions per lane and instruction.
    #[cfg(target_arch = "x86_64")]
    Vnni(V4),
    /// The same work in four instructions, with half as many lanes.
    #[cfg(target_arch = "x86_64")]
    Avx2(V3),
    /// Loops as the compiler translates them.
    Plain,
}

impl Kernel {
    /// Returns the kernels that this machine supports, fastest first.
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

    /// Returns the fastest kernel that this machine supports.
    pub(crate) fn best() -> Self {
        Self::available().next().unwrap_or(Self::Plain)
    }

    /// Sets up the CPU for products until the returned value is dropped; only one at a time per thread.
    pub(crate) fn ready(self) -> ReadyKernel {
        #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
        if let Self::Amx(_) = self {
            // SAFETY: only shapes are read. Nothing else uses AMX's registers, and `ReadyKernel` releases them.
            unsafe { asm!("ldtilecfg [{shapes}]", shapes = in(reg) &raw const SHAPES, options(nostack)) };
        }
        ReadyKernel { kernel: self, _of_this_thread: PhantomData }
    }

    /// Runs as many multiplications and additions as possible without touching memory, in `rounds` times `SPIN_INSTRUCTIONS`
    /// instructions. Returns the instructions' name and the number of operations; `None` if a multiplication takes
    /// several steps.
    pub(crate) fn spin(self, rounds: u32) -> Option<(&'static str, u64)> {
        match self {
            #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
            Self::Amx(_) => {
                spin_amx(rounds);
                Some(("amx", u64::from(rounds) * (SPIN_INSTRUCTIONS * LANES * BLOCK * LANES * 2) as u64))
            }
            #[cfg(target_arch = "x86_64")]
            // SAFETY: see the module's header.
            Self::Vnni(_) => {
                std::hint::black_box(unsafe { spin_vnni(rounds) });
                Some(("avx512_vnni", u64::from(rounds) * (SPIN_INSTRUCTIONS * LANES * 4 * 2) as u64))
            }
            _ => None,
        }
    }
}

/// A kernel whose registers are set up in this thread.
pub(crate) struct ReadyKernel {
    kernel: Kernel,
    _of_this_thread: PhantomData<*const ()>,
}

impl ReadyKernel {
    /// Sets `sums`, `[panel, tile]`, to the products of the tiles' inputs and the panels' weights.
    ///
    /// `inputs` is `[tile, block, member]`, `weights` is `[panel, block]`.
    pub(crate) fn multiply(&self, inputs: &[Block], weights: &[Halves], blocks: usize, sums: &mut [Sums]) {
        let work = Product { inputs, weights, blocks, sums };
        match self.kernel {
            #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
            Kernel::Amx(_) => multiply_amx(work),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: see the module's header.
            Kernel::Vnni(_) => unsafe { multiply_vnni(work) },
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2(simd) => Simd::vectorize(simd, MultiplyAvx2(simd, work)),
            Kernel::Plain => multiply_plain(work),
        }
    }

    /// Runs an operation compiled for the instruction set.
    pub(crate) fn run<O: WithSimd>(&self, operation: O) -> O::Output {
        match self.kernel {
            #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
            Kernel::Amx(simd) => Simd::vectorize(simd, operation),
            #[cfg(target_arch = "x86_64")]
            Kernel::Vnni(simd) => Simd::vectorize(simd, operation),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2(simd) => Simd::vectorize(simd, operation),
            Kernel::Plain => Simd::vectorize(Scalar::new(), operation),
        }
    }
}

impl Drop for ReadyKernel {
    fn drop(&mut self) {
        #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
        if let Kernel::Amx(_) = self.kernel {
            // SAFETY: releases AMX's registers, which nothing else uses.
            unsafe { asm!("tilerelease", options(nostack, nomem)) };
        }
    }
}

/// Arguments of [`ReadyKernel::multiply`].
struct Product<'a> {
    inputs: &'a [Block],
    weights: &'a [Halves],
    blocks: usize,
    sums: &'a mut [Sums],
}

impl<'a> Product<'a> {
    /// Returns each tile's inputs, `[block][member]`, with a panel's weights, `[block]`, and the destination of their
    /// sums.
    fn parts(self) -> impl Iterator<Item = (&'a [[Block; ROWS]], &'a [Halves], &'a mut Sums)> {
        let tiles = self.inputs.as_chunks().0.chunks_exact(self.blocks);
        let panels = self.weights.chunks_exact(self.blocks);
        let pairs = panels.flat_map(move |panel| tiles.clone().map(move |tile| (tile, panel)));
        pairs.zip(self.sums).map(|((tile, panel), sums)| (tile, panel, sums))
    }
}

impl Block {
    fn quads(&self) -> &[[u8; 4]; QUADS_PER_BLOCK] {
        self.0.as_chunks().0.try_into().expect("kernel: a block is whole quads")
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vnni")]
fn multiply_vnni(product: Product<'_>) {
    // Limited by the number of registers.
    const FEW: usize = 8;
    for (tile, panel, sums) in product.parts() {
        for (few, sums) in sums.0.as_chunks_mut::<FEW>().0.iter_mut().enumerate() {
            let mut totals = [[_mm512_set1_epi32(0); HALVES]; FEW];
            for (members, [first, second]) in tile.iter().zip(panel) {
                let quads: [_; FEW] = std::array::from_fn(|row| members[few * FEW + row].quads());
                for n in 0..QUADS_PER_BLOCK {
                    let weights =
                        [first, second].map(|half| pulp::cast::<[i8; 4 * LANES], __m512i>(half.0[n]));
                    for (totals, quads) in totals.iter_mut().zip(quads) {
                        let four = _mm512_set1_epi32(i32::from_ne_bytes(quads[n]));
                        for (total, weights) in totals.iter_mut().zip(weights) {
                            *total = _mm512_dpbusd_epi32(*total, four, weights);
                        }
                    }
                }
            }
            for (sums, totals) in sums.iter_mut().zip(totals) {
                *sums = pulp::cast::<[__m512i; HALVES], [i32; WIDTH]>(totals);
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vnni")]
fn spin_vnni(rounds: u32) -> [[i32; LANES]; SPIN_INSTRUCTIONS] {
    let mut totals = [_mm512_set1_epi32(0); SPIN_INSTRUCTIONS];
    let (inputs, weights) =
        std::hint::black_box((_mm512_set1_epi32(0x0102_0304), _mm512_set1_epi32(0x0506_0708)));
    for _ in 0..rounds {
        for total in &mut totals {
            *total = _mm512_dpbusd_epi32(*total, inputs, weights);
        }
    }
    totals.map(pulp::cast::<__m512i, [i32; LANES]>)
}

/// Kernel for AVX2. `vpmaddubsw` sums two products in 16 bits, which hold 2 * 127 * 127 but not 2 * 255 * 127. So the
/// magnitude of an input is multiplied by the weight with the input's sign, and the offset is added separately.
#[cfg(target_arch = "x86_64")]
struct MultiplyAvx2<'a>(V3, Product<'a>);

#[cfg(target_arch = "x86_64")]
impl WithSimd for MultiplyAvx2<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        const REGISTERS: usize = 2 * HALVES;
        let Self(V3 { avx, avx2, .. }, product) = self;
        let ones = avx._mm256_set1_epi16(1);
        let offset = avx._mm256_set1_epi8(i8::MIN);
        for (tile, panel, sums) in product.parts() {
            let mut start = [avx._mm256_setzero_si256(); REGISTERS];
            for halves in panel {
                for n in 0..QUADS_PER_BLOCK {
                    let weights: [__m256i; REGISTERS] = pulp::cast([halves[0].0[n], halves[1].0[n]]);
                    for (start, weights) in start.iter_mut().zip(weights) {
                        // 128 as an unsigned byte; 16 bits hold twice its largest product.
                        let pairs = avx2._mm256_maddubs_epi16(offset, weights);
                        *start = avx2._mm256_add_epi32(*start, avx2._mm256_madd_epi16(pairs, ones));
                    }
                }
            }
            for (row, sums) in sums.0.iter_mut().enumerate() {
                let mut totals = start;
                for (members, halves) in tile.iter().zip(panel) {
                    for (n, four) in members[row].quads().iter().enumerate() {
                        let four = avx._mm256_set1_epi32(i32::from_ne_bytes(*four));
                        let four = avx2._mm256_xor_si256(four, offset);
                        let magnitudes = avx2._mm256_abs_epi8(four);
                        let weights: [__m256i; REGISTERS] = pulp::cast([halves[0].0[n], halves[1].0[n]]);
                        for (total, weights) in totals.iter_mut().zip(weights) {
                            let weights = avx2._mm256_sign_epi8(weights, four);
                            let pairs = avx2._mm256_maddubs_epi16(magnitudes, weights);
                            let fours = avx2._mm256_madd_epi16(pairs, ones);
                            *total = avx2._mm256_add_epi32(*total, fours);
                        }
                    }
                }
                *sums = pulp::cast(totals);
            }
        }
    }
}

fn multiply_plain(product: Product<'_>) {
    for (tile, panel, sums) in product.parts() {
        for (row, sums) in sums.0.iter_mut().enumerate() {
            *sums = [0; WIDTH];
            for (members, halves) in tile.iter().zip(panel) {
                for (n, four) in members[row].quads().iter().enumerate() {
                    for (sums, half) in sums.chunks_exact_mut(LANES).zip(halves) {
                        for (sum, weights) in sums.iter_mut().zip(half.0[n].as_chunks::<4>().0) {
                            for (weight, input) in weights.iter().zip(four) {
                                // Cannot overflow. A check would prevent vectorisation.
                                let product = i32::from(*weight).wrapping_mul(i32::from(*input));
                                *sum = sum.wrapping_add(product);
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Checks that the CPU has AMX for bytes and that the system lets this process use it.
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
    // SAFETY: this system call takes two numbers and touches no memory of ours; `syscall` overwrites rcx and r11. A
    // kernel that does not support it returns an error.
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

/// Shapes of AMX's registers: four registers of sums and two of inputs with a row for each of sixteen members, two of
/// weights with a row for every four inputs of a block. Rows are 64 bytes long (Intel SDM, "TILECFG").
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
    rows: [16, 16, 16, 16, 16, 16, 16, 16, 0, 0, 0, 0, 0, 0, 0, 0],
};

/// Multiplies two halves of members by two halves of outputs: `tmm0` and `tmm1` are the first members' sums, `tmm2`
/// and `tmm3` the others'.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
fn multiply_amx(product: Product<'_>) {
    let blocks = product.blocks;
    assert!(blocks > 0, "matrix: a panel has a block of weights");
    for (tile, panel, sums) in product.parts() {
        // SAFETY: `tile` and `panel` hold `blocks` times 32 rows of 64 bytes, of which each round reads 32; `sums` is
        // 32 rows of 128 bytes. The registers have their shapes, because only `ReadyKernel` calls this.
        unsafe {
            asm!(
                "tilezero tmm0",
                "tilezero tmm1",
                "tilezero tmm2",
                "tilezero tmm3",
                "2:",
                "tileloadd tmm6, [{weights} + {row}]",
                "tileloadd tmm4, [{inputs} + {row}]",
                "tdpbusd tmm0, tmm4, tmm6",
                "tileloadd tmm7, [{weights} + {row} + 1024]",
                "tdpbusd tmm1, tmm4, tmm7",
                "tileloadd tmm5, [{inputs} + {row} + 1024]",
                "tdpbusd tmm2, tmm5, tmm6",
                "tdpbusd tmm3, tmm5, tmm7",
                "add {inputs}, 2048",
                "add {weights}, 2048",
                "dec {blocks}",
                "jnz 2b",
                "add {row}, {row}",
                "tilestored [{sums} + {row}], tmm0",
                "tilestored [{sums} + {row} + 64], tmm1",
                "tilestored [{sums} + {row} + 2048], tmm2",
                "tilestored [{sums} + {row} + 2112], tmm3",
                inputs = inout(reg) tile.as_ptr() => _,
                weights = inout(reg) panel.as_ptr() => _,
                row = inout(reg) 64_usize => _,
                blocks = inout(reg) blocks => _,
                sums = in(reg) sums,
                options(nostack),
            );
        }
    }
}

/// Runs 24 products of registers, `rounds` times.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
fn spin_amx(rounds: u32) {
    if rounds == 0 {
        return;
    }
    // SAFETY: only the shapes are read from memory. Nothing else uses AMX's registers, and they are released.
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

    use super::{BLOCK, Block, HALVES, Halves, Kernel, LANES, QUADS_PER_BLOCK, ROWS, Sums, WIDTH, Weights};

    fn exact(inputs: &[Block], panel: &[Halves], row: usize, output: usize) -> i32 {
        let product = |n: usize| {
            let input = inputs[n / BLOCK * ROWS + row].0[n % BLOCK];
            let weights = &panel[n / BLOCK][output / LANES].0[n % BLOCK / 4];
            i32::from(input) * i32::from(weights[4 * (output % LANES) + n % 4])
        };
        (0..panel.len() * BLOCK).map(product).sum()
    }

    #[test]
    fn every_instruction_set_gives_the_exact_sums() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        for (blocks, tiles, panels, extreme) in
            [(1, 1, 1, false), (3, 3, 2, true), (8, 2, 3, true), (8, 5, 1, false)]
        {
            let mut byte = || {
                if !extreme {
                    rng.random_range(-127..=127)
                } else if rng.random() {
                    127
                } else {
                    -127_i8
                }
            };
            let mut inputs = vec![Block([0; BLOCK]); tiles * blocks * ROWS];
            inputs.iter_mut().flat_map(|block| &mut block.0).for_each(|input| *input = byte() as u8 ^ 0x80);
            let mut weights = vec![[Weights([[0; 4 * LANES]; QUADS_PER_BLOCK]); HALVES]; panels * blocks];
            let all = weights.iter_mut().flatten().flat_map(|half| &mut half.0).flatten();
            all.for_each(|weight| *weight = byte());
            for kernel in Kernel::available() {
                let mut sums = vec![Sums([[7; WIDTH]; ROWS]); panels * tiles];

                kernel.ready().multiply(&inputs, &weights, blocks, &mut sums);

                for (n, sums) in sums.iter().enumerate() {
                    let inputs = &inputs[n % tiles * blocks * ROWS..];
                    let panel = &weights[n / tiles * blocks..][..blocks];
                    for (row, sums) in sums.0.iter().enumerate() {
                        for (output, sum) in sums.iter().enumerate() {
                            assert_eq!(*sum, exact(inputs, panel, row, output), "{kernel:?}");
                        }
                    }
                }
            }
        }
    }
}
