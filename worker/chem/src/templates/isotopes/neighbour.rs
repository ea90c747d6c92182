//! Neighbours of an atom whose configuration isotopes cause.

/// A neighbour of a centre or of an end of a double bond.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Neighbour {
    /// Atom of the molecule without isotopes.
    Atom(u32),
    /// Hydrogen of this isotope, 0 for the natural one.
    Hydrogen(u16),
}
