//! What an offer says to a search, in eight bytes.
//!
//! Prices differ from offer to offer, but there are few combinations of lead times and countries: a vendor states them for
//! its warehouse, not for each bottle. So these are *profiles* in a table, and an offer is its price, its vendor and its profile.

use std::cmp::Ordering;

use crate::masks::Masks;
use crate::refusals::Refuses;
use crate::region::{COUNTRIES, Region};

/// An offer for a building block.
#[derive(Debug, Clone, PartialEq)]
pub struct Offer {
    /// The vendor's number in the database, or [`common::VENDOR`](crate::common::VENDOR).
    pub vendor: i32,
    /// USD per gram of the major component, where it is known.
    pub usd_per_gram: Option<f32>,
    /// Days to each of [`COUNTRIES`], where they are known.
    pub lead_time_days: [Option<f32>; COUNTRIES.len()],
    /// Whether it is stated that the vendor does not ship to each of [`COUNTRIES`].
    pub refuses: Refuses,
}

impl Offer {
    /// One that ships everywhere, of which nothing else is known.
    #[must_use]
    pub fn of(vendor: i32) -> Self {
        Self { vendor, usd_per_gram: None, lead_time_days: [None; 8], refuses: [false; 8] }
    }

    /// The same at a price.
    #[must_use]
    pub fn at(self, usd_per_gram: f32) -> Self {
        Self { usd_per_gram: Some(usd_per_gram), ..self }
    }

    /// The same within so many days, wherever it ships.
    #[must_use]
    pub fn within(self, days: f32) -> Self {
        Self { lead_time_days: [Some(days); 8], ..self }
    }
}

/// Lead times and countries, as the file holds them: the bits of the days to each [`Region`] (NaN where not known), then
/// a bit for each region that it ships to.
pub type Profile = [u32; Region::COUNT + 1];

/// What an offer is kept as: the bits of its price (NaN where not known), then its vendor and profile.
pub type Terms = [u32; 2];

/// Vendors and profiles that there may be: 12 and 20 bits.
pub const MOST_VENDORS: usize = 1 << 12;
/// See [`MOST_VENDORS`].
pub const MOST_PROFILES: usize = 1 << 20;

/// The one NaN that stands for what is not known.
const UNKNOWN: u32 = f32::NAN.to_bits();

fn bits(known: Option<f32>) -> u32 {
    known.filter(|value| !value.is_nan()).map_or(UNKNOWN, f32::to_bits)
}

fn known(bits: u32) -> Option<f32> {
    Some(f32::from_bits(bits)).filter(|value| !value.is_nan())
}

/// The profile of an offer. The lead time to anywhere is the shortest of those that are known.
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

/// Days to `region`, where they are known.
pub fn lead_time_days(profile: &Profile, region: Region) -> Option<f32> {
    known(profile[region.index()])
}

/// Whether an offer of this profile ships where `masks` want it and soon enough.
pub fn passes(profile: &Profile, masks: &Masks) -> bool {
    let ships = profile[Region::COUNT] >> masks.region.index() & 1 == 1;
    ships && is_below(lead_time_days(profile, masks.region), masks.lead_gte)
}

/// Whether a value is not at or above a limit. The limit is rounded as the value was.
pub fn is_below(value: Option<f32>, limit: Option<f64>) -> bool {
    !matches!((value, limit), (Some(value), Some(limit)) if value >= limit as f32)
}

/// An offer's terms, of a vendor and a profile by their places in the file.
pub fn terms(usd_per_gram: Option<f32>, vendor: usize, profile: usize) -> Terms {
    [bits(usd_per_gram), (vendor << 20 | profile) as u32]
}

/// The vendor's place.
pub fn vendor_of(terms: Terms) -> usize {
    (terms[1] >> 20) as usize
}

/// The profile's place.
pub fn profile_of(terms: Terms) -> usize {
    terms[1] as usize & (MOST_PROFILES - 1)
}

/// USD per gram, where they are known.
pub fn usd_per_gram(terms: Terms) -> Option<f32> {
    known(terms[0])
}

/// Leaves of a block's offers those that a search can tell from the rest, in an order of their own.
///
/// Of one vendor and one profile a higher price passes no mask that the lowest does not pass, and is no block's best. An
/// offer without a price passes every limit of price but says nothing of the cost, so it stays beside the cheapest.
pub fn leave_best(offers: &mut Vec<Terms>) {
    let price = |terms: &Terms| f32::from_bits(terms[0]);
    let order = |a: &Terms, b: &Terms| a[1].cmp(&b[1]).then_with(|| price(a).total_cmp(&price(b)));
    offers.sort_unstable_by(order);
    // NaN sorts behind every price.
    offers.dedup_by(|next, first| next[1] == first[1] && price(next).is_nan() == price(first).is_nan());
    debug_assert!(offers.is_sorted_by(|a, b| order(a, b) == Ordering::Less));
}
