//! Bulk queries: computations on many molecules, each by itself, and catalogue searches.
//!
//! An invalid molecule gets an error entry at its position and does not affect the others. Molecules are started in
//! the order of the request. Those not reached before the deadline are marked as such, so that the finished ones are
//! kept.

mod analogues;
mod building_blocks;
mod catalogue;
mod expansions;
mod makeability;
mod synthesizability;

use std::time::Duration;

use chem::{Limits, MappedMolecule, Molecule};
use contract::NOT_REACHED;
use synth::{BatchLimits, Budget, Planner, Route};

use crate::rounding::rounded;

pub(crate) use analogues::analogues;
pub(crate) use building_blocks::{add_offers, blocks, building_blocks};
pub(crate) use catalogue::{CatalogueQuery, MAX_QUERY_TIME, catalogue};
pub(crate) use expansions::expansions;
pub(crate) use makeability::makeability;
pub(crate) use synthesizability::synthesizability;

/// Answer of a bulk query.
#[derive(Debug)]
pub(crate) struct BulkAnswer<T> {
    /// One item per molecule, in order.
    pub(crate) items: Vec<T>,
    /// Working time, without the time spent yielding to other work.
    pub(crate) worked: Duration,
}

/// Answer for one molecule.
trait BulkItem: Send {
    /// Creates an item without results, with the reason.
    fn nothing(smiles: String, error: String) -> Self;
}

/// Applies `of` to each molecule in `texts`, in order.
fn answer_each<T: BulkItem>(
    planner: &Planner,
    texts: &[String],
    allowance: &BatchLimits,
    of: impl Fn(&Molecule, &Budget) -> Option<T> + Sync,
) -> BulkAnswer<T> {
    let done = planner.each(texts, allowance, |text, budget| match molecule(text) {
        Ok(molecule) => of(&molecule, budget),
        Err(error) => Some(T::nothing(text.clone(), error)),
    });
    let not_reached = |text: &String| T::nothing(text.clone(), NOT_REACHED.to_owned());
    let items =
        done.each.into_iter().zip(texts).map(|(item, text)| item.unwrap_or_else(|| not_reached(text)));
    BulkAnswer { items: items.collect(), worked: done.worked }
}

/// Returns the probability that every step of a route gives its product.
fn plausibility(route: &Route) -> f64 {
    rounded(route.steps().map(|(_, step)| f64::from(step.plausibility)).product())
}

/// Parses a molecule with the limits of a search target.
pub(crate) fn molecule(text: &str) -> Result<Molecule, String> {
    let mapped = MappedMolecule::of_one(text, Limits::TARGET).map_err(|error| error.to_string())?;
    Ok(mapped.molecule().clone())
}
