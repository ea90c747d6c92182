//! What a template gives.

use super::edit::parts::Precursor;
use super::site::Site;

/// One way to make the product: the precursors, in the order of their keys.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The molecules needed, in the order of their keys.
    pub precursors: Vec<Precursor>,
    /// Where the template does that, as far as it is known: matches that make the same edit are looked at once.
    pub sites: Vec<Site>,
}
