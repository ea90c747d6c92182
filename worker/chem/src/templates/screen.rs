//! The test for a template that may apply to a product, made before it is applied.

use super::matching::query::MaskPattern;
use super::matching::target::MatchTarget;
use super::prepared::PreparedMolecule;
use super::stereo_conditions::StereoConditions;

/// The conditions on a product under which a template may apply; many templates share them.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct ProductScreen {
    pub query: MaskPattern,
    pub demand: Option<StereoConditions>,
}

impl ProductScreen {
    /// Returns true if the template may use a match of the query; false is certain.
    pub fn accepts(&self, product: &PreparedMolecule, target: &MatchTarget, images: &[u8]) -> bool {
        self.demand.as_ref().is_none_or(|demand| demand.may_be_met(product, target, images))
    }
}
