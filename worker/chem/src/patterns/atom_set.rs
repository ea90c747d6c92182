//! Sets of atoms of one molecule.

/// A set of atoms with indices below 128, as bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AtomSet(u128);

impl AtomSet {
    pub const EMPTY: Self = Self(0);

    /// Collects the places of the items for which `is_in` holds; those from 128 on are ignored.
    pub fn of<T>(items: &[T], is_in: impl Fn(&T) -> bool) -> Self {
        Self(
            items.iter().take(128).enumerate().fold(0, |set, (at, item)| set | u128::from(is_in(item)) << at),
        )
    }

    pub const fn single(atom: u8) -> Self {
        Self(1 << (atom & 127))
    }

    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub const fn contains(self, atom: u8) -> bool {
        self.0 >> (atom & 127) & 1 == 1
    }

    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Iterates over the atoms, ascending.
    pub fn iter(self) -> impl Iterator<Item = u8> {
        let first = (self.0 != 0).then_some(self.0);
        let next = |rest: &u128| Some(rest & (rest - 1)).filter(|&rest| rest != 0);
        // Below 128.
        std::iter::successors(first, next).map(|rest| rest.trailing_zeros() as u8)
    }
}
