//! The most similar building blocks, exactly, for many molecules in one pass.
//!
//! A similarity that has been reached leaves few numbers of bits that a better block may set (Swamidass and Baldi, "Bounds and
//! algorithms for fast exact searches of chemical fingerprints", 2007), and each of these how many it has to share.
//! [`sums`] finds the blocks that share as many, out of the columns that [`tile`] keeps for each bit; a chunk of blocks in which
//! too few of a molecule's bits occur at all is passed over. The tiles of blocks that set as many bits as the molecules come
//! first, since they make the similarity high; a tile's columns are unfolded once for all molecules, and several cores share the tiles.

mod best;
mod sums;
pub mod tile;

use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;

use chem::Fingerprint;
use pulp::Arch;

pub use best::Wanted;
use best::{Best, Bound};
use sums::{AtLeast, LANES, TOGETHER};
use tile::{BITS, CHUNK, Column, EMPTY, STARTS, TILE};

/// Places whose blocks turned out not to be allowed, which is the same for all that ask under the same masks.
#[derive(Debug)]
pub struct Refused(Vec<AtomicU64>);

impl Refused {
    /// None yet, of so many blocks.
    pub fn none(blocks: usize) -> Self {
        Self((0..blocks.div_ceil(64)).map(|_| AtomicU64::new(0)).collect())
    }

    /// Those of word `at`. Whether one is seen that another thread adds makes no difference but to the time.
    fn word(&self, at: usize) -> u64 {
        self.0.get(at).map_or(0, |word| word.load(Ordering::Relaxed))
    }

    fn add(&self, at: usize, place: u64) {
        self.0[at].fetch_or(place, Ordering::Relaxed);
    }
}

/// The fingerprints of all blocks, as the file holds them.
#[derive(Debug, Clone, Copy)]
pub struct Index<'a> {
    /// The block at each place: ascending by how many bits they set, then by number.
    pub places: &'a [u32],
    /// The first place whose block sets this many bits or more, up to one more than there are.
    pub count_starts: &'a [u32],
    /// Where each tile's columns begin.
    pub tile_starts: &'a [u64],
    /// For each tile where its columns begin behind that.
    pub column_starts: &'a [u32],
    /// All columns.
    pub columns: &'a [u64],
}

impl<'a> Index<'a> {
    /// For each fingerprint the `wanted` blocks that are `allowed` and their similarities, the most similar first and of several the
    /// lowest-numbered. `cores` take turns at the tiles, and tell each other how similar a block must be.
    pub fn nearest_on(
        &self,
        fingerprints: &[Fingerprint],
        wanted: Wanted,
        allowed: &Allowed<'_>,
        cores: usize,
    ) -> Vec<Vec<(u32, f32)>> {
        let mut queries: Vec<Query> = fingerprints.iter().map(|query| Query::new(query, wanted)).collect();
        let threads = cores.min(self.tile_starts.len()).max(1);
        let part = queries.len().div_ceil(threads).max(1);
        on_all(queries.chunks_mut(part), |queries| self.begin(queries, allowed));
        let bounds: Vec<Bound> = queries.iter().map(|query| Bound::of(&query.best)).collect();
        let (order, next) = (self.common_order(&queries), AtomicUsize::new(0));
        let mut copies = vec![queries; threads];
        on_all(copies.iter_mut(), |queries| {
            let mut columns = Columns::new();
            while let Some(&tile) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
                queries.iter_mut().zip(&bounds).for_each(|(query, bound)| query.best.heed(bound));
                self.compare(tile, queries, &mut columns, allowed);
                queries.iter().zip(&bounds).for_each(|(query, bound)| bound.raise(&query.best));
            }
        });
        let best_of = |at: usize| copies.iter().map(move |queries| &queries[at].best);
        (0..fingerprints.len()).map(|at| Best::of_all(best_of(at), wanted)).collect()
    }

    /// Looks at the tile of a molecule's own size: among those blocks there is mostly one that leaves few others.
    fn begin(&self, queries: &mut [Query], allowed: &Allowed<'_>) {
        let mut columns = Columns::new();
        for query in queries {
            if let Some(&tile) = self.tiles_by_distance(query.count()).first() {
                query.bits.sort_by_key(|&bit| self.column(tile, bit).len());
                self.compare(tile, std::slice::from_mut(query), &mut columns, allowed);
            }
        }
    }

    /// The tiles in an order that is good for most of these molecules.
    fn common_order(&self, queries: &[Query]) -> Vec<usize> {
        let mut counts: Vec<u32> = queries.iter().map(Query::count).collect();
        counts.sort_unstable();
        self.tiles_by_distance(counts.get(counts.len() / 2).copied().unwrap_or(0))
    }

    /// Looks for better blocks in a tile.
    fn compare(&self, tile: usize, queries: &mut [Query], columns: &mut Columns<'a>, allowed: &Allowed<'_>) {
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

    /// The tiles, those first whose blocks set about `count` bits.
    fn tiles_by_distance(&self, count: u32) -> Vec<usize> {
        let [start, end] = [count, count + 1].map(|count| self.count_starts[count as usize] as usize);
        let mut tiles: Vec<usize> = (0..self.tile_starts.len()).collect();
        tiles.sort_by_key(|&tile| (tile * TILE + TILE / 2).abs_diff(start.midpoint(end)));
        tiles
    }

    /// How many bits the blocks of a tile set.
    fn counts(&self, tile: usize) -> Range<u32> {
        let count = |place: usize| {
            self.count_starts.partition_point(|&start| start as usize <= place).saturating_sub(1) as u32
        };
        count(tile * TILE)..count(self.places.len().min((tile + 1) * TILE) - 1) + 1
    }

    /// The blocks of a tile that set `count` bits.
    fn run(&self, tile: usize, count: u32) -> Run<'_> {
        let within = |place: u32| (place as usize).clamp(tile * TILE, (tile + 1) * TILE) - tile * TILE;
        let [start, end] = [count, count + 1].map(|count| within(self.count_starts[count as usize]));
        Run { count, places: start..end, tile, blocks: &self.places[tile * TILE..] }
    }

    fn column(&self, tile: usize, bit: u16) -> &'a [u64] {
        let starts = &self.column_starts[tile * STARTS..][usize::from(bit)..];
        let tile = &self.columns[self.tile_starts[tile] as usize..];
        &tile[starts[0] as usize..starts[1] as usize]
    }
}

/// Does something with each of these, each on a thread but the first, which is on this one.
fn on_all<T: Send>(parts: impl Iterator<Item = T>, work: impl Fn(T) + Sync) {
    let (mut parts, work) = (parts, &work);
    let Some(own) = parts.next() else { return };
    thread::scope(|scope| {
        parts.for_each(|part| drop(scope.spawn(move || work(part))));
        work(own);
    });
}

/// Which blocks may be answered with.
pub struct Allowed<'a> {
    /// Whether a block may.
    pub is_allowed: &'a (dyn Fn(u32) -> bool + Sync),
    /// What it said no to so far.
    pub refused: &'a Refused,
}

/// The blocks of a tile that set as many bits.
struct Run<'a> {
    count: u32,
    /// Their places in the tile.
    places: Range<usize>,
    tile: usize,
    /// The block at each place of the tile.
    blocks: &'a [u32],
}

impl Run<'_> {
    /// The blocks' places in word `at` of the tile.
    fn word(&self, at: usize) -> u64 {
        let below = |place: usize| {
            let bits = place.saturating_sub(at * 64);
            if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
        };
        below(self.places.end) & !below(self.places.start)
    }
}

/// The columns of a tile that some query needs, as bitmaps.
struct Columns<'a> {
    arch: Arch,
    /// Where each bit's is, if it is needed.
    places: Vec<u16>,
    bitmaps: Vec<Bitmap>,
    /// What the first bitmaps hold; the others are empty.
    unfolded: Vec<&'a [u64]>,
}

/// A column, so far from the next that the same chunk of many columns is in many places of a cache.
#[repr(C, align(64))]
#[derive(Clone)]
struct Bitmap {
    column: Column,
    /// The chunks in which it is not empty.
    chunks: u32,
}

impl<'a> Columns<'a> {
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

    /// Those of a query.
    fn of(&self, bits: &[u16]) -> Own<'_> {
        let filling = bits.len().next_multiple_of(TOGETHER) - bits.len();
        let mut own = Own { arch: self.arch, columns: vec![&EMPTY; filling], most: [0; CHUNKS] };
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
    /// Takes up a column, of which nothing is there yet.
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

/// Words of a bitmap; a list has fewer.
const COLUMN: usize = TILE / 64;

/// Chunks in a tile.
const CHUNKS: usize = TILE / CHUNK;

/// The columns of one query's bits.
struct Own<'a> {
    arch: Arch,
    /// Behind empty ones, up to as many as are added up together.
    columns: Vec<&'a Column>,
    /// How many are not empty in each chunk.
    most: [u32; CHUNKS],
}

/// One molecule and the best blocks so far.
#[derive(Clone)]
struct Query {
    /// The rarest first.
    bits: Vec<u16>,
    best: Best,
}

impl Query {
    fn new(fingerprint: &Fingerprint, wanted: Wanted) -> Self {
        let bits: Vec<u16> = fingerprint.on_bits().collect();
        Self { best: Best::none(bits.len() as u32, wanted), bits }
    }

    fn count(&self) -> u32 {
        self.best.query_count()
    }

    /// How many bits a block that sets `count` has to share at least to be as good as the best so far; `None` where none can.
    fn least(&self, count: u32) -> Option<u32> {
        let least = self.best.least_shared(count);
        (least <= count.min(self.count())).then_some(least)
    }

    /// Looks for better blocks in a run.
    fn compare(&mut self, run: &Run<'_>, own: &Own<'_>, allowed: &Allowed<'_>) {
        if run.places.is_empty() {
            return;
        }
        for chunk in run.places.start / CHUNK..run.places.end.div_ceil(CHUNK) {
            let Some(least) = self.least(run.count) else { return };
            if self.best.is_bounded() {
                self.look(run, own, chunk, least, allowed);
                continue;
            }
            // Nothing is known yet: the blocks that share most are few, and leave nothing to the others.
            let most = run.count.min(self.count());
            for eighths in (0..8).rev() {
                self.look(run, own, chunk, most * eighths / 8, allowed);
                if self.best.is_bounded() {
                    break;
                }
            }
        }
    }

    /// Looks for better blocks in a chunk among those that share `least` bits.
    fn look(&mut self, run: &Run<'_>, own: &Own<'_>, chunk: usize, least: u32, allowed: &Allowed<'_>) {
        if own.most[chunk] < least {
            return;
        }
        let found = AtLeast { columns: &own.columns, chunk, least }.find(own.arch);
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
