//! Sites at which a template applies.

use super::matching::target::MatchTarget;

/// Maximum number of atoms of a molecule with sites; in larger ones templates match without sites.
pub(crate) const MAX_ATOMS: usize = u128::BITS as usize;

/// The product atoms that a template's product side matches, as a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Site(u128);

impl Site {
    /// Returns the atoms of a match; `None` if the molecule is too large for sites.
    pub(crate) fn of(target: &MatchTarget, images: &[u8]) -> Option<Self> {
        let set = |set, &atom: &u8| set | 1 << atom;
        (target.atoms.len() <= MAX_ATOMS).then(|| Self(images.iter().fold(0_u128, set)))
    }

    /// Iterates over the atoms, ascending.
    pub fn atoms(self) -> impl Iterator<Item = usize> {
        let next = |&rest: &u128| Some(rest & (rest - 1)).filter(|&rest| rest != 0);
        std::iter::successors(Some(self.0).filter(|&set| set != 0), next)
            .map(|rest| rest.trailing_zeros() as usize)
    }

    /// Returns the atoms as bits: atom `i` is bit `i`.
    #[must_use]
    pub fn bits(self) -> u128 {
        self.0
    }
}

/// The templates that may match a molecule, with their sites.
#[derive(Debug, Clone, Default)]
pub struct Matches {
    /// Distinct sites of each matching product side, side after side.
    pub sites: Vec<Site>,
    /// One match for each template, ascending by number.
    pub templates: Vec<Match>,
}

/// A template that may match a molecule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Match {
    /// Number of the template in the index.
    pub template: u32,
    /// Start of its sites in [`Matches::sites`].
    pub first: u32,
    /// Number of its sites; 0 if unknown.
    pub count: u32,
}

impl Matches {
    /// Returns the sites of one of the templates.
    #[must_use]
    pub fn sites_of(&self, found: &Match) -> &[Site] {
        &self.sites[found.first as usize..][..found.count as usize]
    }
}
