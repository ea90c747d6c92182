//! Whether a template may be of use to a product, asked before it is applied.

use super::demand::Demand;
use super::matching::query::Query;
use super::matching::target::Target;
use super::prepared::PreparedMolecule;

/// What a product has to look like for a template to be of use; the same for many templates.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Screen {
    pub query: Query,
    pub demand: Option<Demand>,
}

impl Screen {
    /// Whether a match of the query is one that the template can use: false is certain.
    pub fn accepts(&self, product: &PreparedMolecule, target: &Target, images: &[u8]) -> bool {
        self.demand.as_ref().is_none_or(|demand| demand.may_be_met(product, target, images))
    }
}
