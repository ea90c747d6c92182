//! Looks: what is told of many molecules at once, of each by itself, and of the catalogue.
//!
//! A molecule that cannot be read is told of in its place and keeps nothing from the others. They are begun in the order in which they were
//! asked for; those that were not reached before the deadline say so, so that what was done is not lost.

mod analogues;
mod building_blocks;
mod catalogue;
mod expansions;
mod synthesizability;

use std::time::Duration;

use chem::{Limits, Mapped, Molecule};
use contract::NOT_REACHED;
use synth::{Allowance, Budget, Planner};

pub(crate) use analogues::analogues;
pub(crate) use building_blocks::{add_offers, blocks, building_blocks};
pub(crate) use catalogue::{LONGEST, Wanted, catalogue};
pub(crate) use expansions::expansions;
pub(crate) use synthesizability::synthesizability;

/// What is told of the molecules of a call.
#[derive(Debug)]
pub(crate) struct Answer<T> {
    /// One for each, in their order.
    pub(crate) items: Vec<T>,
    /// How long it took, without the time for which it stood aside.
    pub(crate) worked: Duration,
}

/// What is told of one molecule.
trait Told: Send {
    /// Nothing, and why.
    fn nothing(smiles: String, error: String) -> Self;
}

/// What `of` tells of each of the molecules that `texts` spell, in their order.
fn tell<T: Told>(
    planner: &Planner,
    texts: &[String],
    allowance: &Allowance,
    of: impl Fn(&Molecule, &Budget) -> Option<T> + Sync,
) -> Answer<T> {
    let done = planner.each(texts, allowance, |text, budget| match molecule(text) {
        Ok(molecule) => of(&molecule, budget),
        Err(error) => Some(T::nothing(text.clone(), error)),
    });
    let not_reached = |text: &String| T::nothing(text.clone(), NOT_REACHED.to_owned());
    let items =
        done.each.into_iter().zip(texts).map(|(item, text)| item.unwrap_or_else(|| not_reached(text)));
    Answer { items: items.collect(), worked: done.worked }
}

/// The molecule that `text` spells, as for the target of a search.
pub(crate) fn molecule(text: &str) -> Result<Molecule, String> {
    let mapped = Mapped::of_one(text, Limits::TARGET).map_err(|error| error.to_string())?;
    Ok(mapped.molecule().clone())
}
