//! Which building blocks and whose offers a search may use.

use std::sync::Arc;

use crate::common;
use crate::region::Region;

/// Which building blocks a search must not use. `None` is no limit.
///
/// A block may be used if its weight is below the limit and *one* offer of an allowed vendor, which ships to the region, is
/// below the limits of price and lead time. A price or a lead time that is not known is not "at or above" a limit. A block
/// that the catalogue has no offer for at all is one whose price and lead time nobody knows.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Masks {
    /// Excludes a molecular weight at or above this, daltons.
    pub mw_gte: Option<f64>,
    /// Excludes offers at or above this, USD per gram.
    pub usd_gte: Option<f64>,
    /// Excludes offers at or above this, days.
    pub lead_gte: Option<f64>,
    /// Where an offer has to ship to, and where lead times count.
    pub region: Region,
    /// Whose offers count.
    pub vendors: VendorSet,
}

/// The vendors that a caller may see and wants, by their numbers in the database: all public ones unless more is said.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VendorSet {
    shown: Arc<[i32]>,
    only: Option<Arc<[i32]>>,
    never: Arc<[i32]>,
}

impl VendorSet {
    /// These private vendors as well.
    #[must_use]
    pub fn and_private(self, vendors: impl IntoIterator<Item = i32>) -> Self {
        Self { shown: vendors.into_iter().collect(), ..self }
    }

    /// No vendors but these, and what every laboratory has.
    #[must_use]
    pub fn only(self, vendors: impl IntoIterator<Item = i32>) -> Self {
        Self { only: Some(vendors.into_iter().collect()), ..self }
    }

    /// Never these. Without [`common::VENDOR`] what every laboratory has must be bought like all else.
    #[must_use]
    pub fn never(self, vendors: impl IntoIterator<Item = i32>) -> Self {
        Self { never: vendors.into_iter().collect(), ..self }
    }

    /// Whether offers of this vendor count.
    #[must_use]
    pub fn allows(&self, vendor: i32, visibility: Visibility) -> bool {
        let is_seen = visibility == Visibility::Public || self.shown.contains(&vendor);
        let is_wanted =
            vendor == common::VENDOR || self.only.as_ref().is_none_or(|only| only.contains(&vendor));
        is_seen && is_wanted && !self.never.contains(&vendor)
    }
}

/// Who sees a vendor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visibility {
    /// Everybody.
    Public,
    /// Those to whom it is shown by name.
    Private,
}

#[cfg(test)]
mod tests {
    use super::*;
    use Visibility::{Private, Public};

    #[test]
    fn a_private_vendor_is_seen_by_those_to_whom_it_is_shown() {
        let everybody = VendorSet::default();
        let company = VendorSet::default().and_private([7]);

        assert_eq!([everybody.allows(7, Private), company.allows(7, Private)], [false, true]);
        assert_eq!([company.allows(8, Private), company.allows(8, Public)], [false, true]);
        // Naming a vendor shows nobody what is not theirs.
        assert!(!everybody.only([7]).allows(7, Private));
    }

    #[test]
    fn these_only_and_never_that_one() {
        let set = VendorSet::default().only([3, 4]).never([4]);

        assert_eq!([2, 3, 4].map(|vendor| set.allows(vendor, Public)), [false, true, false]);
    }

    #[test]
    fn what_every_laboratory_has_is_there_unless_it_is_switched_off() {
        let only = VendorSet::default().only([3]);

        assert!(only.allows(common::VENDOR, Public));
        assert!(!only.never([common::VENDOR]).allows(common::VENDOR, Public));
    }
}
