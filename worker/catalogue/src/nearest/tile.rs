//! Transposed fingerprints: for each bit, the blocks that set it.
//!
//! Blocks are sorted by their number of set bits and cut into *tiles* of 16,384. In a tile each bit is a *column*: a
//! bitmap if many blocks set it, otherwise a list of their positions (as in Roaring bitmaps: Chambi, Lemire, Kaser
//! and Godin, 2016). A block sets 30 to 50 of 2,048 bits, so it takes 50 to 90 bytes instead of a fingerprint's 256,
//! and a query reads only the columns of its own bits.

use std::thread;

use chem::Fingerprint;

/// Blocks in a tile.
pub const TILE: usize = 1 << 14;

/// Bits in a fingerprint.
pub const BITS: usize = Fingerprint::BITS as usize;

/// Blocks compared together: as many as the widest register has bits.
pub const CHUNK: usize = 512;

/// Longest position list, in positions. A bitmap would be shorter only from four times as many positions on, but is
/// copied instead of written position by position.
const MAX_LIST_LENGTH: usize = TILE / 64;

/// Starts of a tile's columns, and the end of the last.
pub const STARTS: usize = BITS + 1;

/// A bitmap of the blocks of a tile.
pub type BitColumn = [u64; TILE / 64];

/// Bitmap of no block.
pub const EMPTY: BitColumn = [0; TILE / 64];

/// The columns of one tile.
#[derive(Debug, Default)]
pub struct Tile {
    /// Start of each column, and the end of the last.
    pub starts: Vec<u32>,
    /// Concatenated columns: bitmaps, or position lists with four positions to a word. The last position of a list is
    /// repeated to fill its last word.
    pub columns: Vec<u64>,
}

impl Tile {
    /// Builds a tile from the set bits of its blocks, in the order of their positions.
    fn new<'a>(blocks: impl Iterator<Item = &'a [u16]>) -> Self {
        let mut lists = vec![Vec::new(); BITS];
        for (place, bits) in (0..TILE as u64).zip(blocks) {
            for &bit in bits {
                lists[usize::from(bit)].push(place);
            }
        }
        let mut tile = Self { starts: vec![0], columns: Vec::new() };
        for list in lists {
            if list.len() <= MAX_LIST_LENGTH {
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

/// Builds the tiles of blocks in the given order, on `cores` cores.
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

/// Positions of a list, some of them repeated. The modulo keeps a damaged file within the tile.
pub fn places(list: &[u64]) -> impl Iterator<Item = usize> {
    list.iter().flat_map(|&four| [0, 16, 32, 48].map(|shift| (four >> shift) as usize % TILE))
}
