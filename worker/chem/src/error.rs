//! Faults of a SMILES string or a template, with their positions.

/// Reason why a SMILES string is refused.
///
/// Positions are byte offsets into the string that was parsed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the fields are named in each variant's message")]
pub enum SmilesError {
    /// The string is empty.
    #[error("the string is empty")]
    Empty,
    /// A single molecule is required, but there is a second component.
    #[error("more than one component, the second begins after byte {at}")]
    SecondComponent { at: usize },
    /// The string is longer than the caller's limit.
    #[error("{bytes} bytes are more than the {limit} allowed")]
    TooLong { bytes: usize, limit: usize },
    /// The string describes more heavy atoms than the caller's limit.
    #[error("more than {limit} heavy atoms, the first one too many at byte {at}")]
    TooManyAtoms { limit: usize, at: usize },
    /// There are more wildcard atoms than any real string has.
    #[error("more than {limit} wildcard atoms, the first one too many at byte {at}")]
    TooManyWildcards { limit: usize, at: usize },
    /// Branches are nested deeper than any real molecule needs.
    #[error("branches nested more than {limit} deep at byte {at}")]
    TooDeep { limit: usize, at: usize },
    /// A character that cannot start a symbol here.
    #[error("unexpected `{found}` at byte {at}")]
    Unexpected { found: char, at: usize },
    /// The string ends where an atom has to follow.
    #[error("the string ends after `{after}` at byte {at}, where an atom must follow")]
    Unfinished { after: char, at: usize },
    /// A letter sequence that is not an element.
    #[error("`{symbol}` at byte {at} is not an element")]
    UnknownElement { symbol: String, at: usize },
    /// `[` without `]`.
    #[error("bracket opened at byte {opened} is never closed")]
    UnclosedBracket { opened: usize },
    /// `(` without `)`.
    #[error("branch opened at byte {opened} is never closed")]
    UnclosedBranch { opened: usize },
    /// `)` without `(`.
    #[error("`)` at byte {at} closes no branch")]
    UnopenedBranch { at: usize },
    /// `()` or a branch that starts with something other than an atom.
    #[error("branch opened at byte {opened} has no atom")]
    EmptyBranch { opened: usize },
    /// A ring bond number used an odd number of times.
    #[error("ring bond {number} opened at byte {opened} is never closed")]
    UnclosedRing { number: u32, opened: usize },
    /// A ring bond from an atom to itself.
    #[error("ring bond {number} at byte {at} joins an atom to itself")]
    RingToSelf { number: u32, at: usize },
    /// A ring bond between two atoms that are bonded already.
    #[error("ring bond {number} at byte {at} joins two atoms that are already bonded")]
    DuplicateBond { number: u32, at: usize },
    /// The two ends of a ring bond name different bonds.
    #[error("ring bond {number} is written with two different bond types, at bytes {opened} and {at}")]
    RingBondConflict { number: u32, opened: usize, at: usize },
    /// A ChemAxon extension without its second bar, or with text behind it.
    #[error("the extension opened at byte {opened} does not end with `|`")]
    UnclosedExtension { opened: usize },
    /// A feature of a ChemAxon extension that is invalid, or that a molecule here cannot hold.
    #[error("{feature} in the extension at byte {at}")]
    Extension { feature: &'static str, at: usize },
    /// A number that is out of range (ring bond, isotope, charge, hydrogens, atom map).
    #[error("the {what} at byte {at} is out of range")]
    OutOfRange { what: &'static str, at: usize },
    /// An atom with more bonds than its element allows.
    #[error("{element} with {bonds} bonds at byte {at}")]
    Valence { element: String, bonds: u32, at: usize },
    /// Aromatic atoms to which alternating single and double bonds cannot be assigned.
    #[error("the aromatic system around byte {at} has no arrangement of double bonds")]
    Kekule { at: usize },
    /// An aromatic atom outside a ring.
    #[error("the aromatic atom at byte {at} is in no ring")]
    AromaticOutsideRing { at: usize },
    /// The sanitiser refused the molecule for another reason.
    #[error("not a molecule: {reason}")]
    Refused { reason: String, at: Option<usize> },
    /// Something that RDKit supports and this crate does not.
    #[error("not supported here: {reason}")]
    Unsupported { reason: String, at: Option<usize> },
}

impl SmilesError {
    /// Returns the byte offset of the fault, if it has one.
    #[must_use]
    pub fn position(&self) -> Option<usize> {
        match *self {
            Self::Empty | Self::TooLong { .. } => None,
            Self::SecondComponent { at }
            | Self::TooManyAtoms { at, .. }
            | Self::TooManyWildcards { at, .. }
            | Self::TooDeep { at, .. }
            | Self::Unexpected { at, .. }
            | Self::Unfinished { at, .. }
            | Self::UnknownElement { at, .. }
            | Self::UnopenedBranch { at }
            | Self::RingToSelf { at, .. }
            | Self::DuplicateBond { at, .. }
            | Self::RingBondConflict { at, .. }
            | Self::OutOfRange { at, .. }
            | Self::Extension { at, .. }
            | Self::Valence { at, .. }
            | Self::Kekule { at }
            | Self::AromaticOutsideRing { at } => Some(at),
            Self::UnclosedBracket { opened }
            | Self::UnclosedBranch { opened }
            | Self::EmptyBranch { opened }
            | Self::UnclosedExtension { opened }
            | Self::UnclosedRing { opened, .. } => Some(opened),
            Self::Refused { at, .. } | Self::Unsupported { at, .. } => at,
        }
    }
}

/// Reason why a SMARTS pattern or reaction template cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the fields are named in each variant's message")]
pub enum TemplateError {
    /// The template is longer than any real one.
    #[error("{bytes} bytes are more than the {limit} allowed")]
    TooLong { bytes: usize, limit: usize },
    /// Not of the form `product>>precursors`.
    #[error("a template is written `product>>precursors`, both sides present")]
    NotAReaction,
    /// A side has more molecules than any real one.
    #[error("{components} components of a side are more than the {limit} allowed")]
    TooManyComponents { components: usize, limit: usize },
    /// A side or a pattern is not valid SMARTS.
    #[error("`{smarts}` is not a SMARTS pattern: {reason}")]
    Smarts { smarts: String, reason: String },
    /// The pattern is too large to match.
    #[error("{atoms} pattern atoms are more than the {limit} allowed")]
    TooManyAtoms { atoms: usize, limit: usize },
}
