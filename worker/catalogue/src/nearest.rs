//! Exact search for the most similar building blocks, for many molecules in one pass.
//!
//! A similarity that has been reached limits the number of bits that a better block may set (Swamidass and Baldi,
//! "Bounds and algorithms for fast exact searches of chemical fingerprints", 2007), and the number that it has to
//! share. [`sums`] finds the blocks that share enough bits, from the columns that [`tile`] keeps for each bit. A
//! chunk of blocks in which too few of a molecule's bits occur is skipped. Tiles whose blocks set about as many bits
//! as the molecules come first, because they raise the bound early. A tile's columns are unpacked once for all
//! molecules, and several cores share the tiles.

mod best;
mod sums;
pub mod tile;

use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;

use chem::Fingerprint;
use pulp::Arch;

pub use best::NearestLimits;
use best::{SharedBound, TopBlocks};
use sums::{COLUMNS_PER_STEP, LANES, ThresholdSearch};
use tile::{BITS, BitColumn, CHUNK, EMPTY, STARTS, TILE};

/// Positions of blocks that the masks exclude; shared by all queries under the same masks.
#[derive(Debug)]
pub struct ExcludedPositions(Vec<AtomicU64>);

impl ExcludedPositions {
    /// Starts empty, for `blocks` blocks.
    pub fn none(blocks: usize) -> Self {
        Self((0..blocks.div_ceil(64)).map(|_| AtomicU64::new(0)).collect())
    }

    /// The positions in word `at`. A stale value costs only time.
    fn word(&self, at: usize) -> u64 {
        self.0.get(at).map_or(0, |word| word.load(Ordering::Relaxed))
    }

    fn add(&self, at: usize, place: u64) {
        self.0[at].fetch_or(place, Ordering::Relaxed);
    }
}

/// The fingerprints of all blocks, as the file holds them.
#[derive(Debug, Clone, Copy)]
pub struct FingerprintIndex<'a> {
    /// Block at each position, ascending by number of set bits, then by block number.
    pub places: &'a [u32],
    /// First position whose block sets at least this many bits, for every count up to one more than the number of
    /// bits.
    pub count_starts: &'a [u32],
    /// Start of each tile's columns.
    pub tile_starts: &'a [u64],
    /// Start of each column, relative to the start of its tile.
    pub column_starts: &'a [u32],
    /// All columns.
    pub columns: &'a [u64],
}

impl<'a> FingerprintIndex<'a> {
    /// For each fingerprint, the `wanted` blocks that are `allowed` and their similarities: the most similar first,
    /// then the lowest number. `cores` threads share the tiles and the bounds.
    pub fn nearest_on(
        &self,
        fingerprints: &[Fingerprint],
        wanted: NearestLimits,
        allowed: &BlockFilter<'_>,
        cores: usize,
    ) -> Vec<Vec<(u32, f32)>> {
        let mut queries: Vec<Query> = fingerprints.iter().map(|query| Query::new(query, wanted)).collect();
        let threads = cores.min(self.tile_starts.len()).max(1);
        let part = queries.len().div_ceil(threads).max(1);
        run_in_parallel(queries.chunks_mut(part), |queries| self.compare_nearest_tile(queries, allowed));
        let bounds: Vec<SharedBound> = queries.iter().map(|query| SharedBound::of(&query.best)).collect();
        let (order, next) = (self.tile_order(&queries), AtomicUsize::new(0));
        let mut copies = vec![queries; threads];
        run_in_parallel(copies.iter_mut(), |queries| {
            let mut columns = UnpackedColumns::new();
            while let Some(&tile) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
                queries.iter_mut().zip(&bounds).for_each(|(query, bound)| query.best.raise_to(bound));
                self.compare(tile, queries, &mut columns, allowed);
                queries.iter().zip(&bounds).for_each(|(query, bound)| bound.raise_floor(&query.best));
            }
        });
        let best_of = |at: usize| copies.iter().map(move |queries| &queries[at].best);
        (0..fingerprints.len()).map(|at| TopBlocks::merge(best_of(at), wanted)).collect()
    }

    /// Compares each query with the tile of its own bit count. That tile mostly has a block that excludes most
    /// others.
    fn compare_nearest_tile(&self, queries: &mut [Query], allowed: &BlockFilter<'_>) {
        let mut columns = UnpackedColumns::new();
        for query in queries {
            if let Some(&tile) = self.tiles_by_distance(query.count()).first() {
                query.bits.sort_by_key(|&bit| self.column(tile, bit).len());
                self.compare(tile, std::slice::from_mut(query), &mut columns, allowed);
            }
        }
    }

    /// Order of the tiles that suits most of these molecules.
    fn tile_order(&self, queries: &[Query]) -> Vec<usize> {
        let mut counts: Vec<u32> = queries.iter().map(Query::count).collect();
        counts.sort_unstable();
        self.tiles_by_distance(counts.get(counts.len() / 2).copied().unwrap_or(0))
    }

    /// Compares the blocks of a tile with the queries.
    fn compare(
        &self,
        tile: usize,
        queries: &mut [Query],
        columns: &mut UnpackedColumns<'a>,
        allowed: &BlockFilter<'_>,
    ) {
        let counts = self.counts(tile);
        let is_open = |query: &Query| counts.clone().any(|count| query.least(count).is_some());
        let mut open: Vec<&mut Query> = queries.iter_mut().filter(|query| is_open(query)).collect();
        columns.unfold(open.iter().flat_map(|query| &query.bits), |bit| self.column(tile, bit));
        for query in &mut open {
            let own = columns.of(&query.bits);
            for count in counts.clone() {
                query.compare(&self.run(tile, count), &own, allowed);
            }
        }
    }

    /// The tiles, ordered by the distance of their bit counts from `count`.
    fn tiles_by_distance(&self, count: u32) -> Vec<usize> {
        let [start, end] = [count, count + 1].map(|count| self.count_starts[count as usize] as usize);
        let mut tiles: Vec<usize> = (0..self.tile_starts.len()).collect();
        tiles.sort_by_key(|&tile| (tile * TILE + TILE / 2).abs_diff(start.midpoint(end)));
        tiles
    }

    /// Range of the bit counts of a tile's blocks.
    fn counts(&self, tile: usize) -> Range<u32> {
        let count = |place: usize| {
            self.count_starts.partition_point(|&start| start as usize <= place).saturating_sub(1) as u32
        };
        count(tile * TILE)..count(self.places.len().min((tile + 1) * TILE) - 1) + 1
    }

    /// The blocks of a tile that set `count` bits.
    fn run(&self, tile: usize, count: u32) -> EqualCountRun<'_> {
        let within = |place: u32| (place as usize).clamp(tile * TILE, (tile + 1) * TILE) - tile * TILE;
        let [start, end] = [count, count + 1].map(|count| within(self.count_starts[count as usize]));
        EqualCountRun { count, places: start..end, tile, blocks: &self.places[tile * TILE..] }
    }

    fn column(&self, tile: usize, bit: u16) -> &'a [u64] {
        let starts = &self.column_starts[tile * STARTS..][usize::from(bit)..];
        let tile = &self.columns[self.tile_starts[tile] as usize..];
        &tile[starts[0] as usize..starts[1] as usize]
    }
}

/// Runs `work` on each part, each on its own thread except the first, which runs on the calling thread.
fn run_in_parallel<T: Send>(parts: impl Iterator<Item = T>, work: impl Fn(T) + Sync) {
    let (mut parts, work) = (parts, &work);
    let Some(own) = parts.next() else { return };
    thread::scope(|scope| {
        parts.for_each(|part| drop(scope.spawn(move || work(part))));
        work(own);
    });
}

/// Filter on the blocks of a result.
pub struct BlockFilter<'a> {
    /// Returns true if a block is allowed.
    pub is_allowed: &'a (dyn Fn(u32) -> bool + Sync),
    /// Blocks known to be excluded.
    pub refused: &'a ExcludedPositions,
}

/// Blocks of a tile with the same number of set bits.
struct EqualCountRun<'a> {
    count: u32,
    /// Positions of the run in the tile.
    places: Range<usize>,
    tile: usize,
    /// Block at each position of the tile.
    blocks: &'a [u32],
}

impl EqualCountRun<'_> {
    /// Bitmap of the run's positions in word `at` of the tile.
    fn word(&self, at: usize) -> u64 {
        let below = |place: usize| {
            let bits = place.saturating_sub(at * 64);
            if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
        };
        below(self.places.end) & !below(self.places.start)
    }
}

/// The columns of a tile that any query needs, unpacked to bitmaps.
struct UnpackedColumns<'a> {
    arch: Arch,
    /// Index of each bit's bitmap, if it is needed.
    places: Vec<u16>,
    bitmaps: Vec<Bitmap>,
    /// Packed content of the first bitmaps; the others are empty.
    unfolded: Vec<&'a [u64]>,
}

/// An unpacked column. The padding spreads the same chunk of many columns over different cache sets.
#[repr(C, align(64))]
#[derive(Clone)]
struct Bitmap {
    column: BitColumn,
    /// Chunks in which the column is not empty, as bits.
    chunks: u32,
}

impl<'a> UnpackedColumns<'a> {
    fn new() -> Self {
        Self { arch: Arch::new(), places: vec![u16::MAX; BITS], bitmaps: Vec::new(), unfolded: Vec::new() }
    }

    fn unfold<'b>(&mut self, bits: impl Iterator<Item = &'b u16>, column: impl Fn(u16) -> &'a [u64]) {
        for (bitmap, old) in self.bitmaps.iter_mut().zip(self.unfolded.drain(..)) {
            match old.len() {
                COLUMN => bitmap.column = EMPTY,
                _ => tile::places(old).for_each(|place| bitmap.column[place / 64] = 0),
            }
        }
        self.places.fill(u16::MAX);
        for &bit in bits {
            let place = &mut self.places[usize::from(bit)];
            if *place == u16::MAX {
                let number = self.unfolded.len();
                *place = number as u16;
                if number == self.bitmaps.len() {
                    self.bitmaps.push(Bitmap { column: EMPTY, chunks: 0 });
                }
                self.unfolded.push(column(bit));
                self.bitmaps[number].fill(column(bit));
            }
        }
    }

    /// The columns of one query.
    fn of(&self, bits: &[u16]) -> QueryColumns<'_> {
        let filling = bits.len().next_multiple_of(COLUMNS_PER_STEP) - bits.len();
        let mut own = QueryColumns { arch: self.arch, columns: vec![&EMPTY; filling], most: [0; CHUNKS] };
        for &bit in bits {
            let Bitmap { column, chunks } = &self.bitmaps[usize::from(self.places[usize::from(bit)])];
            own.columns.push(column);
            for (chunk, most) in own.most.iter_mut().enumerate() {
                *most += chunks >> chunk & 1;
            }
        }
        own
    }
}

impl Bitmap {
    /// Unpacks a column into an empty bitmap.
    fn fill(&mut self, column: &[u64]) {
        if let Ok(bitmap) = column.try_into() {
            (self.column, self.chunks) = (bitmap, u32::MAX);
            return;
        }
        self.chunks = tile::places(column).fold(0, |chunks, place| {
            self.column[place / 64] |= 1 << (place % 64);
            chunks | 1 << (place / CHUNK)
        });
    }
}

/// Words of a bitmap; a position list has fewer.
const COLUMN: usize = TILE / 64;

/// Chunks in a tile.
const CHUNKS: usize = TILE / CHUNK;

/// The columns of one query's bits.
struct QueryColumns<'a> {
    arch: Arch,
    /// Padded in front with empty columns to a multiple of `COLUMNS_PER_STEP`.
    columns: Vec<&'a BitColumn>,
    /// Number of columns that are not empty in each chunk.
    most: [u32; CHUNKS],
}

/// One molecule and the best blocks so far.
#[derive(Clone)]
struct Query {
    /// Rarest bits first.
    bits: Vec<u16>,
    best: TopBlocks,
}

impl Query {
    fn new(fingerprint: &Fingerprint, wanted: NearestLimits) -> Self {
        let bits: Vec<u16> = fingerprint.on_bits().collect();
        Self { best: TopBlocks::none(bits.len() as u32, wanted), bits }
    }

    fn count(&self) -> u32 {
        self.best.query_count()
    }

    /// Minimum number of bits that a block with `count` bits has to share to equal the best so far; `None` if no such
    /// block can.
    fn least(&self, count: u32) -> Option<u32> {
        let least = self.best.min_shared_bits(count);
        (least <= count.min(self.count())).then_some(least)
    }

    /// Compares the query with the blocks of a run.
    fn compare(&mut self, run: &EqualCountRun<'_>, own: &QueryColumns<'_>, allowed: &BlockFilter<'_>) {
        if run.places.is_empty() {
            return;
        }
        for chunk in run.places.start / CHUNK..run.places.end.div_ceil(CHUNK) {
            let Some(least) = self.least(run.count) else { return };
            if self.best.is_bounded() {
                self.compare_chunk(run, own, chunk, least, allowed);
                continue;
            }
            // No bound is known yet. The few blocks that share most bits are tried first, because they exclude the
            // others.
            let most = run.count.min(self.count());
            for eighths in (0..8).rev() {
                self.compare_chunk(run, own, chunk, most * eighths / 8, allowed);
                if self.best.is_bounded() {
                    break;
                }
            }
        }
    }

    /// Compares the query with the blocks of a chunk that share at least `least` bits.
    fn compare_chunk(
        &mut self,
        run: &EqualCountRun<'_>,
        own: &QueryColumns<'_>,
        chunk: usize,
        least: u32,
        allowed: &BlockFilter<'_>,
    ) {
        if own.most[chunk] < least {
            return;
        }
        let found = ThresholdSearch { columns: &own.columns, chunk, least }.find(own.arch);
        if found == [0; LANES] {
            return;
        }
        for (at, found) in (chunk * LANES..).zip(found) {
            let word = run.tile * (TILE / 64) + at;
            let mut left = found & run.word(at) & !allowed.refused.word(word);
            while left != 0 {
                let bit = left.trailing_zeros();
                left &= left - 1;
                let block = run.blocks[at * 64 + bit as usize];
                if (allowed.is_allowed)(block) {
                    let shared =
                        own.columns.iter().filter(|column| column[at] >> bit & 1 == 1).count() as u32;
                    self.best.take(block, shared, run.count);
                } else {
                    allowed.refused.add(word, 1 << bit);
                }
            }
        }
    }
}
