//! The bits by which atoms of molecules and of patterns are compared.
//!
//! Element, aromaticity, degree, hydrogens, charge and isotope are one group of bits each. An atom of a molecule has
//! one bit set in every group; a pattern's mask has all bits that it allows set.

/// Elements with a bit of their own; all others share the bit after them.
pub(crate) const ELEMENTS: [u8; 31] = [
    1, 3, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15, 16, 17, 19, 22, 25, 26, 27, 28, 29, 30, 32, 33, 34, 35, 46, 50,
    52, 53, 80,
];
pub(crate) const AROMATIC: u32 = 32;
pub(crate) const DEGREE: u32 = 34;
pub(crate) const HYDROGENS: u32 = 41;
pub(crate) const CHARGE: u32 = 46;
pub(crate) const ISOTOPE: u32 = 53;
pub(crate) const END: u32 = 55;
pub(crate) const GROUPS: [u64; 6] = [
    bits(0, AROMATIC),
    bits(AROMATIC, DEGREE),
    bits(DEGREE, HYDROGENS),
    bits(HYDROGENS, CHARGE),
    bits(CHARGE, ISOTOPE),
    bits(ISOTOPE, END),
];
pub(crate) const ANY_ATOM: u64 = bits(0, END);

/// Bond bits: a molecule's bond has one of these, a pattern's has those that it allows.
pub(crate) const SINGLE: u8 = 1;
pub(crate) const DOUBLE: u8 = 2;
pub(crate) const TRIPLE: u8 = 4;
pub(crate) const AROMATIC_BOND: u8 = 8;
pub(crate) const ANY_BOND: u8 = 15;

const fn bits(from: u32, to: u32) -> u64 {
    (1 << to) - (1 << from)
}

/// An atom with the properties that templates can state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Atom {
    pub element: u8,
    pub charge: i8,
    /// Hydrogens that are not atoms of the graph.
    pub hydrogens: u8,
    pub aromatic: bool,
    pub isotope: u16,
}

/// Returns the bits of a molecule's atom: one in every group.
pub(crate) fn features(atom: Atom, degree: usize) -> u64 {
    element_bit(atom.element)
        | 1 << (AROMATIC + u32::from(atom.aromatic))
        | 1 << (DEGREE + (degree.min(6) as u32))
        | 1 << (HYDROGENS + u32::from(atom.hydrogens.min(4)))
        | charge_bit(atom.charge)
        | 1 << (ISOTOPE + u32::from(atom.isotope != 0))
}

pub(crate) fn element_bit(number: u8) -> u64 {
    1 << ELEMENTS.iter().position(|&element| element == number).unwrap_or(ELEMENTS.len())
}

/// Returns the bit of a charge; charges beyond ±3 share the bit of ±3.
pub(crate) fn charge_bit(charge: i8) -> u64 {
    1 << (CHARGE + 3).saturating_add_signed(i32::from(charge.clamp(-3, 3)))
}
