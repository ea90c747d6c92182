//! Price and delivery time of a route's building blocks, for ranking.
//!
//! Both are for one mole of the target, every step in full yield: a block that two steps need, or one step twice, is
//! needed twice, and so is what makes a racemate of which half is lost. Amounts are counted in molecules, so an
//! expensive block of which little is needed is cheap. The packs to order, for an amount and a yield, are in
//! `worker/src/shopping.rs`.

use crate::graph::Graph;
use crate::routes::choices::{ChosenMolecule, RouteChoices};
use catalogue::{Block, Stock};
use reactivity::StereoSource;

/// Number of molecules of each building block that one molecule of the target takes, ascending; empty for a target
/// that is bought.
pub fn needs(graph: &Graph, choices: &RouteChoices) -> Vec<(Block, u32)> {
    let makes = |chosen: &ChosenMolecule| {
        let assessment = chosen.reaction.and_then(|reaction| graph.reaction(reaction).assessment);
        assessment.and_then(|it| it.stereo_source).map_or(1, StereoSource::molecules_per_product)
    };
    let amounts = choices.route.molecules().zip(choices.route.amounts(makes));
    let bought = amounts.filter(|(chosen, _)| chosen.reaction.is_none());
    let mut needed: Vec<(Block, u32)> = bought
        .filter_map(|(chosen, amount)| Some((graph.molecule(chosen.molecule).block?, amount)))
        .collect();
    needed.sort_unstable();
    // Merges the forms of one building block.
    needed.dedup_by(|other, first| {
        let same = other.0 == first.0;
        if same {
            first.1 = first.1.saturating_add(other.1);
        }
        same
    });
    needed
}

/// USD for one mole of a product made of these building blocks, at the best price that may be paid for each. A block
/// without a known price counts as `unknown` USD a gram; if that is `None` too, so is the result.
pub fn usd_per_mol(stock: &dyn Stock, needs: &[(Block, u32)], unknown: Option<f64>) -> Option<f64> {
    let price = |&(block, times): &(Block, u32)| {
        let usd_per_gram = stock.usd_per_gram(block).map(f64::from).or(unknown)?;
        Some(usd_per_gram * f64::from(stock.mw(block)) * f64::from(times))
    };
    needs.iter().map(price).sum()
}

/// Days until the last of these building blocks arrives, by the quickest offer of each; `None` if one of them has no
/// known lead time.
pub fn lead_time_days(stock: &dyn Stock, needs: &[(Block, u32)]) -> Option<f64> {
    let days = needs.iter().map(|&(block, _)| stock.lead_time_days(block).map(f64::from));
    days.collect::<Option<Vec<f64>>>().map(|days| days.into_iter().fold(0.0, f64::max))
}
