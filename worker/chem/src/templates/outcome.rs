//! The result of applying a template.

use super::edit::parts::Precursor;
use super::site::Site;

/// One way to make the product, with its precursors.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Required molecules, in the order of their keys.
    pub precursors: Vec<Precursor>,
    /// Known sites at which the template does this. Matches with the same edit are processed only once, so the list
    /// may be incomplete.
    pub sites: Vec<Site>,
    /// Stereocentres of the product, as its atoms, that the precursors have not: flat atoms, whose faces the template
    /// does not tell apart. Empty for most outcomes, and for a template that states stereo itself.
    pub made_centres: Vec<u32>,
}
