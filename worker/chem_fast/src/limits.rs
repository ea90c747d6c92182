//! Size limits of strings and of the molecules that they spell.

/// Size limits of a string and its molecule; checked before any parser runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum length of the string, in bytes.
    pub max_bytes: usize,
    /// Maximum number of heavy atoms, over all components.
    pub max_heavy_atoms: usize,
}

impl Limits {
    /// Limits of a search target.
    pub const TARGET: Self = Self { max_bytes: 1000, max_heavy_atoms: 200 };
    /// Limits of any molecule, catalogue entries included.
    pub const DEFAULT: Self = Self { max_bytes: 2000, max_heavy_atoms: 300 };
}
