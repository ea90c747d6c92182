//! The test for a template that may apply to a product, made before it is applied.

use super::demand::Demand;
use super::matching::query::Query;
use super::matching::target::Target;
use super::prepared::PreparedMolecule;

/// The conditions on a product under which a template may apply; many templates share them.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Screen {
    pub query: Query,
    pub demand: Option<Demand>,
}

impl Screen {
    /// Returns true if the template may use a match of the query; false is certain.
    pub fn accepts(&self, product: &PreparedMolecule, target: &Target, images: &[u8]) -> bool {
        self.demand.as_ref().is_none_or(|demand| demand.may_be_met(product, target, images))
    }
}
