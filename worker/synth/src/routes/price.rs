//! What the building blocks of a route cost and how long they take to come.
//!
//! Counted for one mole of the target, every step in full yield: a block that two steps need, or one step twice, is needed
//! twice. What is weighed out is molecules, not kinds of them, so that a dear block of which little is needed is cheap.

use rustc_hash::FxHashMap;

use crate::graph::{Graph, MoleculeId};
use crate::routes::extract::Choices;
use crate::stock::catalogue::{BlockIndex, Catalogue, Region};

/// How many molecules of each block one molecule of the target takes, ascending; none for a target that is bought.
pub fn needs(graph: &Graph, choices: &Choices) -> Vec<(BlockIndex, u32)> {
    let mut needed: FxHashMap<BlockIndex, u32> = FxHashMap::default();
    let mut open = vec![(graph.target(), 1_u32)];
    while let Some((molecule, times)) = open.pop() {
        let Some(reaction) = choices.reaction(molecule) else { continue };
        for (precursor, share) in graph.reaction(reaction).distinct_precursors() {
            let times = times.saturating_mul(share);
            match bought(graph, choices, precursor) {
                Some(block) => *needed.entry(block).or_default() += times,
                None => open.push((precursor, times)),
            }
        }
    }
    let mut needed: Vec<_> = needed.into_iter().collect();
    needed.sort_unstable();
    needed
}

/// The block that `molecule` is, if the route buys it.
fn bought(graph: &Graph, choices: &Choices, molecule: MoleculeId) -> Option<BlockIndex> {
    graph.molecule(molecule).block.filter(|_| choices.reaction(molecule).is_none())
}

/// USD for one mole of what takes these blocks, at the best price of each that ships to `region`; a block without a known
/// price costs `unknown` USD a gram, and without such a guess nobody knows.
pub fn usd_per_mol(
    catalogue: &Catalogue,
    region: Region,
    needs: &[(BlockIndex, u32)],
    unknown: Option<f64>,
) -> Option<f64> {
    let price = |&(block, times): &(BlockIndex, u32)| {
        let usd_per_gram = catalogue.usd_per_gram(block, region).map(f64::from).or(unknown)?;
        Some(usd_per_gram * f64::from(catalogue.mw(block)) * f64::from(times))
    };
    needs.iter().map(price).sum()
}

/// Days until the last of these blocks is there, the quickest offer of each taken; `None` where one of them has no known
/// lead time.
pub fn lead_time_days(catalogue: &Catalogue, region: Region, needs: &[(BlockIndex, u32)]) -> Option<f64> {
    let days = needs.iter().map(|&(block, _)| catalogue.lead_time_days(block, region).map(f64::from));
    days.collect::<Option<Vec<f64>>>().map(|days| days.into_iter().fold(0.0, f64::max))
}
