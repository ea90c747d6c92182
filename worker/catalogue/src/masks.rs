//! Filters on the building blocks and the offers that a search may use.

use std::sync::Arc;

use crate::common_chemicals;
use crate::region::Region;

/// Limits on the building blocks of a search. `None` is no limit.
///
/// A block is allowed if its weight is below the limit and *one* offer of an allowed vendor that ships to the region
/// is below the limits of price and lead time. An unknown price or lead time passes a limit. A block without any
/// offer in the catalogue counts as one of unknown price and lead time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Masks {
    /// Excludes a molecular weight at or above this, daltons.
    pub mw_gte: Option<f64>,
    /// Excludes offers at or above this, USD per gram.
    pub usd_gte: Option<f64>,
    /// Excludes offers at or above this, days.
    pub lead_gte: Option<f64>,
    /// Region that an offer has to ship to, and whose lead times count.
    pub region: Region,
    /// Vendors whose offers count.
    pub vendors: VendorSet,
}

/// Vendors that a caller may see and wants, by their numbers in the database. By default all public ones.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VendorSet {
    shown: Arc<[i32]>,
    only: Option<Arc<[i32]>>,
    never: Arc<[i32]>,
}

impl VendorSet {
    /// Adds private vendors.
    #[must_use]
    pub fn with_private(self, vendors: impl IntoIterator<Item = i32>) -> Self {
        Self { shown: vendors.into_iter().collect(), ..self }
    }

    /// Restricts the set to these vendors and the common laboratory chemicals.
    #[must_use]
    pub fn only(self, vendors: impl IntoIterator<Item = i32>) -> Self {
        Self { only: Some(vendors.into_iter().collect()), ..self }
    }

    /// Excludes these vendors. Without [`common_chemicals::VENDOR`], common laboratory chemicals have to be bought like any
    /// other block.
    #[must_use]
    pub fn never(self, vendors: impl IntoIterator<Item = i32>) -> Self {
        Self { never: vendors.into_iter().collect(), ..self }
    }

    /// Returns true if offers of this vendor count.
    #[must_use]
    pub fn allows(&self, vendor: i32, visibility: Visibility) -> bool {
        let is_seen = visibility == Visibility::Public || self.shown.contains(&vendor);
        let is_wanted = vendor == common_chemicals::VENDOR
            || self.only.as_ref().is_none_or(|only| only.contains(&vendor));
        is_seen && is_wanted && !self.never.contains(&vendor)
    }
}

/// Visibility of a vendor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visibility {
    /// Visible to everybody.
    Public,
    /// Visible only to organisations that are named.
    Private,
}

#[cfg(test)]
mod tests {
    use super::*;
    use Visibility::{Private, Public};

    #[test]
    fn a_private_vendor_is_seen_by_those_to_whom_it_is_shown() {
        let everybody = VendorSet::default();
        let company = VendorSet::default().with_private([7]);

        assert_eq!([everybody.allows(7, Private), company.allows(7, Private)], [false, true]);
        assert_eq!([company.allows(8, Private), company.allows(8, Public)], [false, true]);
        // Naming a private vendor does not grant access to it.
        assert!(!everybody.only([7]).allows(7, Private));
    }

    #[test]
    fn these_only_and_never_that_one() {
        let set = VendorSet::default().only([3, 4]).never([4]);

        assert_eq!([2, 3, 4].map(|vendor| set.allows(vendor, Public)), [false, true, false]);
    }

    #[test]
    fn common_chemicals_are_in_stock_unless_switched_off() {
        let only = VendorSet::default().only([3]);

        assert!(only.allows(common_chemicals::VENDOR, Public));
        assert!(!only.never([common_chemicals::VENDOR]).allows(common_chemicals::VENDOR, Public));
    }
}
