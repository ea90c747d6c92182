//! The most similar block, compared with an exhaustive search.

use std::sync::Arc;

use catalogue::{Block, BlockRow, Builder, Masks, Snapshot, Stock, StockView};
use chem::Fingerprint;
use proptest::prelude::*;

/// More blocks than a tile holds, with few bits, so that some bits are common, some are rare and many blocks are
/// alike.
fn many(seed: u64, blocks: usize) -> Vec<Fingerprint> {
    let mut state = seed;
    let mut next = |below: u64| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (state >> 33) % below
    };
    (0..blocks)
        .map(|_| {
            let count = 1 + next(20);
            let bits: Vec<u16> = (0..count)
                .map(|_| {
                    let below = [6, 60, 2048][next(3) as usize];
                    next(below) as u16
                })
                .collect();
            Fingerprint::from_on_bits(bits)
        })
        .collect()
}

/// A stock whose blocks have these fingerprints; the masks allow the light ones. The order of the ids follows the
/// molecules' keys.
fn stock(fingerprints: &[Fingerprint], cores: usize, is_light: impl Fn(i32) -> bool) -> StockView {
    let mut builder = Builder::new(cores);
    for (id, fingerprint) in (0..).zip(fingerprints) {
        // Different molecules for all ids: a number in binary, written with two kinds of atoms.
        let atoms: String = (0..16).map(|bit| if id >> bit & 1 == 1 { 'N' } else { 'C' }).collect();
        let mw = if is_light(id) { 100.0 } else { 300.0 };
        builder.block(BlockRow { smiles: format!("O{atoms}"), id, fingerprint: *fingerprint, mw });
    }
    let snapshot = Snapshot::from_bytes(&builder.into_bytes(1).unwrap(), cores).unwrap();
    StockView::new(Arc::new(snapshot), Masks { mw_gte: Some(200.0), ..Masks::default() })
}

fn by_full_comparison(
    stock: &StockView,
    fingerprints: &[Fingerprint],
    query: &Fingerprint,
    is_light: impl Fn(i32) -> bool,
) -> Option<(Block, f32)> {
    let blocks = (0..fingerprints.len() as u32).map(Block::new).filter(|&block| is_light(stock.id(block)));
    let similar = blocks.map(|block| (block, query.tanimoto(&fingerprints[stock.id(block) as usize])));
    similar.reduce(|best, next| if next.1 > best.1 { next } else { best })
}

/// Blocks with at least this similarity, the most similar first, then the lowest number.
fn all_by_full_comparison(
    stock: &StockView,
    fingerprints: &[Fingerprint],
    query: &Fingerprint,
    least: f32,
) -> Vec<(Block, f32)> {
    let blocks = (0..fingerprints.len() as u32).map(Block::new).filter(|&block| stock.is_allowed(block));
    let similar = blocks.map(|block| (block, query.tanimoto(&fingerprints[stock.id(block) as usize])));
    let mut similar: Vec<_> = similar.filter(|&(_, similarity)| similarity >= least).collect();
    similar.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    similar
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn the_nearest_is_what_a_full_comparison_finds(seed: u64, blocks in 1_usize..300, odd: bool) {
        let all = many(seed, blocks);
        let queries = many(seed ^ 1, 7);
        let is_light = |id: i32| !odd || id % 3 == 1;
        let stock = stock(&all, 1, is_light);

        let found = stock.nearest(&queries, 2);

        for (query, found) in queries.iter().zip(found) {
            prop_assert_eq!(found, by_full_comparison(&stock, &all, query, is_light));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn those_that_are_similar_are_what_a_full_comparison_finds(
        seed: u64,
        blocks in 1_usize..300,
        most in 1_usize..40,
        least in prop::sample::select(vec![0.0_f32, 0.1, 0.3, 0.5, 0.7, 1.0]),
        cores in 1_usize..3,
    ) {
        let all = many(seed, blocks);
        let query = many(seed ^ 1, 1)[0];
        let stock = stock(&all, 1, |id| id % 3 != 1);

        let found = stock.similar(&query, least, most, cores);

        let expected = all_by_full_comparison(&stock, &all, &query, least);
        prop_assert_eq!(&found[..], &expected[..most.min(expected.len())]);
    }
}

#[test]
fn those_that_are_similar_are_found_over_several_tiles() {
    let all = many(5, 40_000);
    let stock = stock(&all, 2, |id| id % 7 != 3);

    for query in many(6, 10) {
        for (least, most) in [(0.3, 25), (0.0, 100), (0.9, 3), (1.0, 1)] {
            let expected = all_by_full_comparison(&stock, &all, &query, least);

            let found = stock.similar(&query, least, most, 2);

            assert_eq!(found, expected[..most.min(expected.len())], "{least} {most} {query:?}");
        }
    }
    assert_eq!(stock.similar(&all[0], 0.0, 0, 2), []);
}

#[test]
fn so_it_is_over_several_tiles() {
    let all = many(5, 20_000);
    let empty = Fingerprint::from_on_bits([]);
    let full = Fingerprint::from_on_bits(0..2048);
    let queries: Vec<Fingerprint> = many(6, 30).into_iter().chain([empty, full]).collect();
    let allowances: [fn(i32) -> bool; 4] = [|_| true, |id| id % 7 == 3, |id| id == 19_000, |_| false];

    for (number, is_light) in allowances.into_iter().enumerate() {
        let stock = stock(&all, 2, is_light);

        // The second query uses the exclusions that the first one remembered.
        for _ in 0..2 {
            for (query, found) in queries.iter().zip(stock.nearest(&queries, 2)) {
                assert_eq!(found, by_full_comparison(&stock, &all, query, is_light), "{number}: {query:?}");
            }
        }
    }
}
