//! Stereo conditions that a template sets for its product.
//!
//! RDKit ignores configurations when it matches, so a template that states stereo matches far more than it can make.
//! Run forwards, it must give the product back. Some matches can be excluded at once: a centre that the forward
//! reaction makes must be stated in the product, and one whose configuration it destroys must not be.

use chematic::smarts::QueryMolecule;

use super::edit::script::has_configuration;
use super::matching::target::MatchTarget;
use super::prepared::PreparedMolecule;

/// The centres of the product side that a forward reaction changes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct StereoConditions {
    /// Atoms whose configuration only the product side states: the reaction makes it.
    made: Vec<u8>,
    /// Atoms whose configuration only the precursor side states: the reaction destroys it.
    destroyed: Vec<u8>,
}

impl StereoConditions {
    /// Derives the conditions; `None` if there are none.
    pub fn new(product: &QueryMolecule, precursors: &QueryMolecule) -> Option<Self> {
        let mut demand = Self { made: Vec::new(), destroyed: Vec::new() };
        for (at, atom) in product.atoms.iter().enumerate() {
            let at = u8::try_from(at).ok()?;
            let same = |other: &&chematic::smarts::QueryAtom| {
                atom.atom_map.is_some() && other.atom_map == atom.atom_map
            };
            let before =
                precursors.atoms.iter().find(same).is_some_and(|atom| has_configuration(&atom.query));
            match (before, has_configuration(&atom.query)) {
                (false, true) => demand.made.push(at),
                (true, false) => demand.destroyed.push(at),
                _ => {}
            }
        }
        (!demand.made.is_empty() || !demand.destroyed.is_empty()).then_some(demand)
    }

    /// Returns true if a match of the product side may give the product back; false is certain.
    pub fn may_be_met(&self, product: &PreparedMolecule, target: &MatchTarget, images: &[u8]) -> bool {
        let is_stated = |atom: u8| target.centres.iter().any(|centre| centre.atom == atom);
        // A made carbon with four different neighbours is a stereocentre, and the product states no configuration for
        // it. Other atoms, and centres that depend on other centres, are left to the forward run.
        let may_be_made = |atom: u8| {
            is_stated(atom)
                || target.atoms[usize::from(atom)].element != 6
                || product.colours().has_like_neighbours(usize::from(atom))
        };
        let image = |&atom: &u8| images[usize::from(atom)];
        !product.molecule().is_perceived()
            || self.made.iter().map(image).all(may_be_made)
                && !self.destroyed.iter().map(image).any(is_stated)
    }
}
