//! Reasons for refusing a step.

/// Fault of a step. It names no atoms, because it is read beside the step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// A carbon of the product comes from a reagent that cannot provide it.
    #[error("a carbon comes from a reagent that does not give carbon")]
    CarbonSource,
    /// A carbon changes its oxidation state by more than one step can.
    #[error("a carbon changes its oxidation state by more than one step can")]
    OxidationState,
    /// No leaving group, or one that does not leave.
    #[error("no leaving group")]
    NoLeavingGroup,
    /// An aromatic or vinylic carbon is not activated for the substitution.
    #[error("not activated for substitution")]
    NotActivated,
    /// The carbon is tertiary or neopentylic.
    #[error("too crowded for substitution")]
    Hindered,
    /// The hydrogen or nucleophile does not react under the conditions of such a step.
    #[error("not reactive enough")]
    Unreactive,
    /// A group that would react sooner, or as soon, is left unreacted.
    #[error("a group that would react first is left alone")]
    CompetingGroup,
    /// Another position of the ring, or another ring, reacts with the electrophile first.
    #[error("another position of the arene reacts first")]
    Position,
    /// The arene is too electron-poor, or the chain would rearrange.
    #[error("the arene does not take this electrophile")]
    Arene,
    /// Two components of the reaction mixture destroy each other.
    #[error("incompatible groups in the flask")]
    Incompatible,
    /// A precursor reacts with itself.
    #[error("a precursor reacts with itself")]
    SelfReacting,
    /// A precursor is too unstable to keep, or does not exist.
    #[error("a precursor cannot be kept")]
    Unstable,
    /// An inverting substitution is drawn with retention.
    #[error("an inverting substitution is drawn with retention")]
    Retention,
    /// A stereocentre of the product has no source.
    #[error("a stereocentre comes from nowhere")]
    StereoFromNowhere,
    /// A stereocentre that the step does not touch changes.
    #[error("a stereocentre that nothing touches changes")]
    StereoScrambled,
    /// The ring that is formed is too strained.
    #[error("the ring is too strained to form")]
    Strained,
}
