//! Where a template applies.

use super::matching::target::Target;

/// Most atoms of a molecule whose sites are told apart; in a larger one templates match, nobody says where.
pub(crate) const MAX_ATOMS: usize = u128::BITS as usize;

/// The atoms of a product that a template's product side lies on, as a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Site(u128);

impl Site {
    /// The atoms that a match lies on; `None` where the molecule is too large for sites.
    pub(crate) fn of(target: &Target, images: &[u8]) -> Option<Self> {
        let set = |set, &atom: &u8| set | 1 << atom;
        (target.atoms.len() <= MAX_ATOMS).then(|| Self(images.iter().fold(0_u128, set)))
    }

    /// The atoms, ascending.
    pub fn atoms(self) -> impl Iterator<Item = usize> {
        let next = |&rest: &u128| Some(rest & (rest - 1)).filter(|&rest| rest != 0);
        std::iter::successors(Some(self.0).filter(|&set| set != 0), next)
            .map(|rest| rest.trailing_zeros() as usize)
    }

    /// The atoms as bits: atom `i` is bit `i`.
    #[must_use]
    pub fn bits(self) -> u128 {
        self.0
    }
}

/// The templates that may match a molecule, and where.
#[derive(Debug, Clone, Default)]
pub struct Matches {
    /// The distinct sites of each product side that matches, side after side.
    pub sites: Vec<Site>,
    /// One for each template, ascending by number.
    pub templates: Vec<Match>,
}

/// A template that may match a molecule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Match {
    /// The number that the index has it by.
    pub template: u32,
    /// Where its sites begin among [`Matches::sites`].
    pub first: u32,
    /// How many they are; none where that is not known.
    pub count: u32,
}

impl Matches {
    /// The sites of one of the templates.
    #[must_use]
    pub fn sites_of(&self, found: &Match) -> &[Site] {
        &self.sites[found.first as usize..][..found.count as usize]
    }
}
