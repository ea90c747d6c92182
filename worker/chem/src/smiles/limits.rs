//! How large a string may be, and the molecule that it spells.

/// How large a string and molecule may be; checked before any parser runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Longest string, in bytes.
    pub max_bytes: usize,
    /// Most heavy atoms, over all components.
    pub max_heavy_atoms: usize,
}

impl Limits {
    /// What a search target may be.
    pub const TARGET: Self = Self { max_bytes: 1000, max_heavy_atoms: 200 };
    /// What any molecule may be, catalogue entries included.
    pub const DEFAULT: Self = Self { max_bytes: 2000, max_heavy_atoms: 300 };
}
