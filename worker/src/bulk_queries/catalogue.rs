//! Catalogue search for building blocks: by structure, similarity, substructure or number.
//!
//! Similar blocks are found by fingerprints, all of them in some milliseconds. A substructure search must parse
//! molecules, which takes seconds for a million. They are parsed in the order of the answer, lightest first. So the
//! search can stop when there are enough, and after a timeout the blocks found are still the first ones. A text
//! filter, on letters that the pattern needs and the block's string lacks, avoids most of the parsing.

use std::time::{Duration, Instant};

use catalogue::{Block, Stock, StockView};
use chem::{Fingerprint, Molecule, Pattern};
use contract::CatalogueMatch;
use synth::{BatchLimits, Planner};

use super::building_blocks::sold;
use crate::rounding::rounded;

/// Timeout of a search; what was found until then is returned.
pub(crate) const MAX_QUERY_TIME: Duration = Duration::from_secs(5);

/// Blocks that a thread takes at once.
const PART: usize = 256;

/// Blocks in the first round; the size doubles with each round. After each round the search ends if there are enough.
const FIRST_ROUND: usize = 2_048;
const LARGEST_ROUND: usize = 131_072;

/// Search mode with its query.
#[derive(Debug)]
pub(crate) enum CatalogueQuery {
    /// Block as which a molecule is sold.
    Structure(Molecule),
    /// Blocks with at least this similarity to a molecule.
    Similar(Fingerprint, f64),
    /// Blocks that contain a pattern.
    Containing(Pattern),
    /// Blocks with these canonical SMILES, in their order.
    Entries(Vec<String>),
}

/// Blocks that a search found.
#[derive(Debug)]
pub(crate) struct CatalogueMatches {
    /// Blocks in the order of the answer, with their similarity if requested.
    pub(crate) blocks: Vec<(Block, Option<f32>)>,
    /// Set when there are more, or may be.
    pub(crate) more: bool,
    /// Searched fraction of the catalogue.
    pub(crate) searched: f64,
    /// Working time, without the time spent yielding to other work.
    pub(crate) worked: Duration,
}

impl CatalogueMatches {
    /// Keeps the first `limit` of these blocks.
    fn first(
        mut blocks: Vec<(Block, Option<f32>)>,
        limit: usize,
        (searched, worked): (f64, Duration),
    ) -> Self {
        let more = blocks.len() > limit || searched < 1.0;
        blocks.truncate(limit);
        Self { blocks, more, searched, worked }
    }

    /// Converts the blocks to items of the answer, without their offers.
    pub(crate) fn found_blocks(&self, stock: &StockView) -> Vec<CatalogueMatch> {
        let found_block = |&(block, similarity): &(Block, Option<f32>)| CatalogueMatch {
            sold: sold(stock, stock.smiles(block), Some(block)),
            mw: rounded(f64::from(stock.mw(block))),
            similarity: similarity.map(|similarity| rounded(f64::from(similarity))),
        };
        self.blocks.iter().map(found_block).collect()
    }
}

/// Returns the first `limit` blocks of `stock` that match `catalogue_query`.
pub(crate) fn catalogue(
    planner: &Planner,
    stock: &StockView,
    wanted: &CatalogueQuery,
    limit: usize,
    allowance: &BatchLimits,
) -> CatalogueMatches {
    let started = Instant::now();
    let alone = |block| (block, None);
    let blocks = match wanted {
        CatalogueQuery::Structure(molecule) => stock.find(molecule).map(alone).into_iter().collect(),
        CatalogueQuery::Similar(fingerprint, least) => {
            let found = stock.similar(fingerprint, *least as f32, limit + 1, planner.cores());
            found.into_iter().map(|(block, similarity)| (block, Some(similarity))).collect()
        }
        CatalogueQuery::Containing(pattern) => return containing(planner, stock, pattern, limit, allowance),
        CatalogueQuery::Entries(entries) => {
            let block = |smiles: &String| stock.snapshot().find(&Molecule::trusted(smiles).ok()?);
            let blocks = entries.iter().filter_map(block);
            blocks.filter(|&block| stock.is_allowed(block)).map(alone).collect()
        }
    };
    CatalogueMatches::first(blocks, limit, (1.0, started.elapsed()))
}

/// Returns the `limit` lightest blocks that contain a pattern.
fn containing(
    planner: &Planner,
    stock: &StockView,
    pattern: &Pattern,
    limit: usize,
    allowance: &BatchLimits,
) -> CatalogueMatches {
    let started = Instant::now();
    let all = stock.snapshot().by_weight();
    let mut worked = started.elapsed();
    let (mut blocks, mut checked, mut round) = (Vec::new(), 0, FIRST_ROUND);
    let mut is_time = true;
    while is_time && checked < all.len() && blocks.len() <= limit {
        let parts: Vec<&[Block]> = all[checked..].chunks(PART).take(round / PART).collect();
        let done = planner.each(&parts, allowance, |part, budget| {
            let mut found = Vec::new();
            for &block in *part {
                if budget.has_ended() {
                    return None;
                }
                if contains(stock, block, pattern) {
                    found.push((block, None));
                }
            }
            Some(found)
        });
        worked += done.worked;
        // Results after an unfinished part do not count: that part may hold lighter ones.
        for (part, found) in parts.iter().zip(done.each) {
            let Some(found) = found else {
                is_time = false;
                break;
            };
            blocks.extend(found);
            checked += part.len();
        }
        round = LARGEST_ROUND.min(round * 2);
    }
    let searched = if all.is_empty() { 1.0 } else { checked as f64 / all.len() as f64 };
    CatalogueMatches::first(blocks, limit, (searched, worked))
}

fn contains(stock: &StockView, block: Block, pattern: &Pattern) -> bool {
    let smiles = stock.smiles(block);
    pattern.may_occur_in(&smiles)
        && stock.is_allowed(block)
        && Molecule::trusted(&smiles).is_ok_and(|molecule| pattern.matches(&molecule))
}
