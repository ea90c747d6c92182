//! Building blocks that are like something, of which the catalogue is searched.
//!
//! Blocks that are like a molecule are found by their fingerprints, all of them in some milliseconds. For a pattern molecules have to
//! be read, which takes seconds for a million: they are read the lightest first, as they are answered, so that it ends when there are
//! enough, and what is found until the time is over are the first of all; letters that the pattern needs and a block's string
//! lacks save most of the reading.

use std::time::{Duration, Instant};

use catalogue::{Block, Shelf, Stock};
use chem::{Fingerprint, Molecule, Pattern};
use contract::FoundBlock;
use synth::{Allowance, Planner};

use super::building_blocks::sold;
use crate::rounding::rounded;

/// The longest that a search takes, whatever was found until then.
pub(crate) const LONGEST: Duration = Duration::from_secs(5);

/// Blocks that a thread looks at between two looks at which come next.
const PART: usize = 256;

/// Blocks that are looked at before it is seen whether there are enough: at first so many, then twice as many each time.
const FIRST_ROUND: usize = 2_048;
const LARGEST_ROUND: usize = 131_072;

/// What blocks have to be like.
#[derive(Debug)]
pub(crate) enum Wanted {
    /// What a molecule is bought as.
    Structure(Molecule),
    /// At least so similar to a molecule.
    Similar(Fingerprint, f64),
    /// A pattern occurs in them.
    Containing(Pattern),
    /// Those of these canonical SMILES, in their order.
    Entries(Vec<String>),
}

/// Blocks that were found.
#[derive(Debug)]
pub(crate) struct Found {
    /// In the order in which they are answered, with their similarity where that was asked for.
    pub(crate) blocks: Vec<(Block, Option<f32>)>,
    /// Whether there are more, or may be.
    pub(crate) more: bool,
    /// The part of the catalogue that was looked at.
    pub(crate) searched: f64,
    /// How long it took, without the time for which it stood aside.
    pub(crate) worked: Duration,
}

impl Found {
    /// The first `limit` of these.
    fn first(
        mut blocks: Vec<(Block, Option<f32>)>,
        limit: usize,
        (searched, worked): (f64, Duration),
    ) -> Self {
        let more = blocks.len() > limit || searched < 1.0;
        blocks.truncate(limit);
        Self { blocks, more, searched, worked }
    }

    /// What is told of them, without their offers.
    pub(crate) fn told(&self, shelf: &Shelf) -> Vec<FoundBlock> {
        let told = |&(block, similarity): &(Block, Option<f32>)| FoundBlock {
            sold: sold(shelf, shelf.smiles(block), Some(block)),
            mw: rounded(f64::from(shelf.mw(block))),
            similarity: similarity.map(|similarity| rounded(f64::from(similarity))),
        };
        self.blocks.iter().map(told).collect()
    }
}

/// The first `limit` of the blocks on `shelf` that are `wanted`.
pub(crate) fn catalogue(
    planner: &Planner,
    shelf: &Shelf,
    wanted: &Wanted,
    limit: usize,
    allowance: &Allowance,
) -> Found {
    let started = Instant::now();
    let alone = |block| (block, None);
    let blocks = match wanted {
        Wanted::Structure(molecule) => shelf.find(molecule).map(alone).into_iter().collect(),
        Wanted::Similar(fingerprint, least) => {
            let found = shelf.similar(fingerprint, *least as f32, limit + 1, planner.cores());
            found.into_iter().map(|(block, similarity)| (block, Some(similarity))).collect()
        }
        Wanted::Containing(pattern) => return containing(planner, shelf, pattern, limit, allowance),
        Wanted::Entries(entries) => {
            let block = |smiles: &String| shelf.snapshot().own(&Molecule::trusted(smiles).ok()?);
            let blocks = entries.iter().filter_map(block);
            blocks.filter(|&block| shelf.is_allowed(block)).map(alone).collect()
        }
    };
    Found::first(blocks, limit, (1.0, started.elapsed()))
}

/// The `limit` lightest blocks in which a pattern occurs.
fn containing(
    planner: &Planner,
    shelf: &Shelf,
    pattern: &Pattern,
    limit: usize,
    allowance: &Allowance,
) -> Found {
    let started = Instant::now();
    let all = shelf.snapshot().by_weight();
    let mut worked = started.elapsed();
    let (mut blocks, mut looked_at, mut round) = (Vec::new(), 0, FIRST_ROUND);
    let mut is_time = true;
    while is_time && looked_at < all.len() && blocks.len() <= limit {
        let parts: Vec<&[Block]> = all[looked_at..].chunks(PART).take(round / PART).collect();
        let done = planner.each(&parts, allowance, |part, budget| {
            let mut found = Vec::new();
            for &block in *part {
                if budget.has_ended() {
                    return None;
                }
                if contains(shelf, block, pattern) {
                    found.push((block, None));
                }
            }
            Some(found)
        });
        worked += done.worked;
        // Behind a part that was not done nothing counts: there may be lighter ones in it.
        for (part, found) in parts.iter().zip(done.each) {
            let Some(found) = found else {
                is_time = false;
                break;
            };
            blocks.extend(found);
            looked_at += part.len();
        }
        round = LARGEST_ROUND.min(round * 2);
    }
    let searched = if all.is_empty() { 1.0 } else { looked_at as f64 / all.len() as f64 };
    Found::first(blocks, limit, (searched, worked))
}

fn contains(shelf: &Shelf, block: Block, pattern: &Pattern) -> bool {
    let smiles = shelf.smiles(block);
    pattern.may_occur_in(&smiles)
        && shelf.is_allowed(block)
        && Molecule::trusted(&smiles).is_ok_and(|molecule| pattern.matches(&molecule))
}
