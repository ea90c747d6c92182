//! Atom positions as chematic names them.

use chematic::core::AtomIdx;

/// Converts a position in a `Vec` to chematic's atom index.
pub(crate) fn index(atom: usize) -> AtomIdx {
    AtomIdx(u32::try_from(atom).expect("index: atom counts are limited to thousands"))
}
