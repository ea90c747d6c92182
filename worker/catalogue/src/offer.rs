//! Compact form of an offer for a search, in eight bytes.
//!
//! Prices differ from offer to offer, but combinations of lead times and countries are few: a vendor states them for
//! its warehouse, not for each bottle. So these are *profiles* in a table, and an offer is its price, its vendor and
//! its profile.

use std::cmp::Ordering;

use crate::masks::Masks;
use crate::region::{COUNTRIES, Region};
use crate::shipping_exclusions::ShippingExclusions;

/// An offer for a building block.
#[derive(Debug, Clone, PartialEq)]
pub struct Offer {
    /// The vendor's number in the database, or [`common_chemicals::VENDOR`](crate::common_chemicals::VENDOR).
    pub vendor: i32,
    /// USD per gram of the major component, if known.
    pub usd_per_gram: Option<f32>,
    /// Days to each of [`COUNTRIES`], if known.
    pub lead_time_days: [Option<f32>; COUNTRIES.len()],
    /// True where the vendor states that it does not ship to the country of [`COUNTRIES`].
    pub refuses: ShippingExclusions,
}

impl Offer {
    /// An offer that ships everywhere, with unknown price and lead times.
    #[must_use]
    pub fn of(vendor: i32) -> Self {
        Self { vendor, usd_per_gram: None, lead_time_days: [None; 8], refuses: [false; 8] }
    }

    /// Sets the price.
    #[must_use]
    pub fn at(self, usd_per_gram: f32) -> Self {
        Self { usd_per_gram: Some(usd_per_gram), ..self }
    }

    /// Sets the lead time for all countries, in days.
    #[must_use]
    pub fn within(self, days: f32) -> Self {
        Self { lead_time_days: [Some(days); 8], ..self }
    }
}

/// Lead times and countries in the file's form: the bits of the days to each [`Region`] (NaN if unknown), then a bit
/// for each region that it ships to.
pub type Profile = [u32; Region::COUNT + 1];

/// Stored form of an offer: the bits of its price (NaN if unknown), then its vendor and profile.
pub type PackedOffer = [u32; 2];

/// Maximum numbers of vendors and profiles: 12 and 20 bits.
pub const MAX_VENDORS: usize = 1 << 12;
/// See [`MAX_VENDORS`].
pub const MAX_PROFILES: usize = 1 << 20;

/// The NaN that stands for an unknown value.
const UNKNOWN: u32 = f32::NAN.to_bits();

fn bits(known: Option<f32>) -> u32 {
    known.filter(|value| !value.is_nan()).map_or(UNKNOWN, f32::to_bits)
}

fn known(bits: u32) -> Option<f32> {
    Some(f32::from_bits(bits)).filter(|value| !value.is_nan())
}

/// The profile of an offer. The lead time to anywhere is the shortest known one.
pub fn profile(offer: &Offer) -> Profile {
    let mut profile = [UNKNOWN; Region::COUNT + 1];
    let mut ships = 0;
    let mut quickest: Option<f32> = None;
    for (region, (days, refuses)) in Region::all().skip(1).zip(offer.lead_time_days.iter().zip(offer.refuses))
    {
        if !refuses {
            ships |= 1 << region.index() | 1 << Region::ANYWHERE.index();
            profile[region.index()] = bits(*days);
            quickest = known(bits(*days)).into_iter().chain(quickest).min_by(f32::total_cmp);
        }
    }
    profile[Region::ANYWHERE.index()] = bits(quickest);
    profile[Region::COUNT] = ships;
    profile
}

/// Days to `region`, if known.
pub fn lead_time_days(profile: &Profile, region: Region) -> Option<f32> {
    known(profile[region.index()])
}

/// Returns true if an offer of this profile ships to the region of `masks` within their lead time.
pub fn passes(profile: &Profile, masks: &Masks) -> bool {
    let ships = profile[Region::COUNT] >> masks.region.index() & 1 == 1;
    ships && is_below(lead_time_days(profile, masks.region), masks.lead_gte)
}

/// Returns true unless a known value is at or above the limit. The limit is rounded to f32 as the value was.
pub fn is_below(value: Option<f32>, limit: Option<f64>) -> bool {
    !matches!((value, limit), (Some(value), Some(limit)) if value >= limit as f32)
}

/// Terms of an offer; vendor and profile are indices in the file.
pub fn terms(usd_per_gram: Option<f32>, vendor: usize, profile: usize) -> PackedOffer {
    [bits(usd_per_gram), (vendor << 20 | profile) as u32]
}

/// Index of the vendor.
pub fn vendor_of(terms: PackedOffer) -> usize {
    (terms[1] >> 20) as usize
}

/// Index of the profile.
pub fn profile_of(terms: PackedOffer) -> usize {
    terms[1] as usize & (MAX_PROFILES - 1)
}

/// USD per gram, if known.
pub fn usd_per_gram(terms: PackedOffer) -> Option<f32> {
    known(terms[0])
}

/// Keeps only the offers of a block that can make a difference to a search, sorted.
///
/// For one vendor and one profile, a higher price never passes a mask that the lowest one fails and is never the best
/// price. An offer without a price passes every price limit but adds no cost, so it is kept beside the cheapest.
pub fn keep_best(offers: &mut Vec<PackedOffer>) {
    let price = |terms: &PackedOffer| f32::from_bits(terms[0]);
    let order =
        |a: &PackedOffer, b: &PackedOffer| a[1].cmp(&b[1]).then_with(|| price(a).total_cmp(&price(b)));
    offers.sort_unstable_by(order);
    // NaN sorts after every price.
    offers.dedup_by(|next, first| next[1] == first[1] && price(next).is_nan() == price(first).is_nan());
    debug_assert!(offers.is_sorted_by(|a, b| order(a, b) == Ordering::Less));
}
