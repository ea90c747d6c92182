//! Snapshots from a caller's view: lookups, masks, and damaged files.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

mod file;
mod folder;
mod inchi;
mod lookup;
mod masks;
mod nearest;

use catalogue::{BlockRow, Offer, StockView};
use chem::Fingerprint;

/// A block with the molecule's own weight and fingerprint.
fn row(id: i32, smiles: &str) -> BlockRow {
    BlockRow::of(id, &smiles.parse().unwrap())
}

/// An alkane; every id gives a different block.
fn alkane(id: i32) -> BlockRow {
    let smiles = "C".repeat(id as usize + 1);
    BlockRow { id, smiles, mw: 180.159, fingerprint: Fingerprint::from_on_bits([id as u16]) }
}

/// A stock of these blocks, each with these offers.
fn stock(rows: impl IntoIterator<Item = BlockRow>, offers: &[Offer]) -> StockView {
    StockView::in_memory(rows.into_iter().map(|row| (row, offers.to_vec())))
}
