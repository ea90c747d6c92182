//! Fingerprints turned on their side: for each bit, which blocks set it.
//!
//! Blocks are put in the order of how many bits they set and cut into *tiles* of 16,384. In a tile each bit is a *column*: a
//! bitmap if many blocks set it, else a list of their places (as Roaring bitmaps are: Chambi, Lemire, Kaser and Godin, 2016). A
//! block has 30 to 50 bits of 2,048, so this takes 50 to 90 bytes of the 256 that a fingerprint has, and a query reads only the
//! columns of its own bits.

use std::thread;

use chem::Fingerprint;

/// Blocks in a tile.
pub const TILE: usize = 1 << 14;

/// Bits in a fingerprint.
pub const BITS: usize = Fingerprint::BITS as usize;

/// Blocks that are compared together: as many as the widest register has bits.
pub const CHUNK: usize = 512;

/// The longest list. A bitmap would be shorter from four times as many places on, but is copied and not written place by place.
const LONGEST: usize = TILE / 64;

/// Starts of a tile's columns and the end of the last.
pub const STARTS: usize = BITS + 1;

/// The blocks of a tile, one bit each.
pub type Column = [u64; TILE / 64];

/// No block.
pub const EMPTY: Column = [0; TILE / 64];

/// The columns of one tile.
#[derive(Debug, Default)]
pub struct Tile {
    /// Where each begins, and where the last ends.
    pub starts: Vec<u32>,
    /// One behind the other: bitmaps, or lists of places, four to a word; the last place of a list fills its last word up.
    pub columns: Vec<u64>,
}

impl Tile {
    /// Of the blocks at the tile's places, the bits that each sets.
    fn new<'a>(blocks: impl Iterator<Item = &'a [u16]>) -> Self {
        let mut lists = vec![Vec::new(); BITS];
        for (place, bits) in (0..TILE as u64).zip(blocks) {
            for &bit in bits {
                lists[usize::from(bit)].push(place);
            }
        }
        let mut tile = Self { starts: vec![0], columns: Vec::new() };
        for list in lists {
            if list.len() <= LONGEST {
                let word =
                    |four: &[u64]| (0..4).rev().fold(0, |word, at| word << 16 | four[at.min(four.len() - 1)]);
                tile.columns.extend(list.chunks(4).map(word));
            } else {
                let mut bitmap = EMPTY;
                for place in list {
                    bitmap[place as usize / 64] |= 1 << (place % 64);
                }
                tile.columns.extend(bitmap);
            }
            tile.starts.push(tile.columns.len() as u32);
        }
        tile
    }
}

/// The tiles of blocks in the order in which they stand, made on `cores` cores.
pub fn tiles<'a>(
    order: &[u32],
    bits_of: impl Fn(u32) -> &'a [u16] + Sync,
    cores: usize,
) -> impl Iterator<Item = Tile> {
    order.chunks(TILE * cores.max(1)).flat_map(move |part| {
        let tile = |blocks: &[u32]| Tile::new(blocks.iter().map(|&block| bits_of(block)));
        let tile = &tile;
        thread::scope(|scope| {
            let tiles: Vec<_> = part.chunks(TILE).map(|blocks| scope.spawn(move || tile(blocks))).collect();
            let made = tiles.into_iter().map(|tile| tile.join().expect("tile: making one does not panic"));
            made.collect::<Vec<_>>()
        })
    })
}

/// The places of a list, some of them twice. A place beyond the tile would be a damaged file's.
pub fn places(list: &[u64]) -> impl Iterator<Item = usize> {
    list.iter().flat_map(|&four| [0, 16, 32, 48].map(|shift| (four >> shift) as usize % TILE))
}
