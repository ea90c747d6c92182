//! Atom positions as chematic names them.

use chematic::core::AtomIdx;

/// The atom index of chematic for a position in a `Vec`.
pub(crate) fn index(atom: usize) -> AtomIdx {
    AtomIdx(u32::try_from(atom).expect("index: atom counts are limited to thousands"))
}
