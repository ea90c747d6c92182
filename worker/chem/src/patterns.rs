//! SMARTS patterns as operations on sets of atoms: many patterns, matched to one molecule.
//!
//! A condition on an atom is evaluated once for a molecule, as the set of atoms that meet it, and patterns share
//! conditions. *And*, *or* and *not* of conditions are operations on words. A pattern is searched for only where each
//! of its atoms has candidates that are bonded as the pattern says, which leaves few searches and few candidates.
//!
//! `condition` has the conditions, `target` the molecule, `library` the patterns, and `matcher` brings them together.
//! Unlike the masks of `templates/matching`, which screen templates, conditions express all of SMARTS that RDKit's
//! tables use: rings, valences, recursion. Stereo is ignored, as RDKit ignores it unless it is asked for. Unusual
//! molecules have no `PatternTarget`; chematic handles them.

mod atom_set;
mod condition;
pub(crate) mod library;
pub(crate) mod matcher;
pub(crate) mod target;
#[cfg(test)]
mod tests;
