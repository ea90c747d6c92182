//! What to order for a route: the cheapest packs that make the amount of target that was asked for, by vendor.
//!
//! What every laboratory has is not ordered. A pack counts if the request's masks let the route buy it. What a pack holds of the building block follows from its price
//! and its price by the gram, whatever unit it is sold in and whatever salt it is.

use std::collections::BTreeMap;

use catalogue::{
    common::VENDOR_NAME,
    packs::{Pack, cheapest},
};
use contract::{
    Country, OrderedPack, PricingAnnotation, ShoppingList, TreeSearchRequest, Unpriced, VendorOrder,
};
use synth::Route;

/// Makes the shopping lists of an answer's routes.
pub(crate) struct Shop<'a> {
    request: &'a TreeSearchRequest,
    /// The vendors that come first.
    first: &'a [String],
    /// What may be bought of each building block.
    offers: BTreeMap<i32, Vec<&'a PricingAnnotation>>,
}

impl<'a> Shop<'a> {
    /// A shop in which these are the offers, those of the vendors named `first` before others.
    pub(crate) fn new(
        request: &'a TreeSearchRequest,
        first: &'a [String],
        offers: &'a [PricingAnnotation],
    ) -> Self {
        let mut by_block: BTreeMap<i32, Vec<&PricingAnnotation>> = BTreeMap::new();
        for offer in offers.iter().filter(|offer| may_be_bought(offer, request)) {
            by_block.entry(offer.major_component_id).or_default().push(offer);
        }
        Self { request, first, offers: by_block }
    }

    /// What to order for `route`.
    pub(crate) fn list(&self, route: &Route) -> ShoppingList {
        let mut vendors: BTreeMap<&str, Vec<OrderedPack>> = BTreeMap::new();
        let (mut without_price, mut is_priced) = (Vec::new(), true);
        for (block, grams_needed) in self.needs(route) {
            let offers = self.preferred(block);
            let is_at_hand = offers.iter().any(|offer| offer.vendor_name == VENDOR_NAME);
            is_priced &= is_at_hand || offers.iter().any(|offer| pack(offer).is_some());
            let priced: Vec<(&PricingAnnotation, Pack)> =
                offers.iter().filter_map(|&offer| Some((offer, pack(offer)?))).collect();
            let packs: Vec<Pack> = priced.iter().map(|&(_, pack)| pack).collect();
            let Some(purchase) = cheapest(&packs, grams_needed).filter(|_| !is_at_hand) else {
                without_price.push(Unpriced {
                    building_block_idx: block,
                    grams_needed: rounded(grams_needed, 1e4),
                    vendors: names(&offers),
                });
                continue;
            };
            for (at, count) in purchase.packs {
                let (offer, pack) = priced[at];
                vendors.entry(&offer.vendor_name).or_default().push(OrderedPack {
                    building_block_idx: block,
                    grams_needed: rounded(grams_needed, 1e4),
                    cs_id: offer.cs_id.clone(),
                    pack: offer.pack,
                    uom: offer.uom.clone(),
                    count,
                    usd: rounded(pack.usd * f64::from(count), 100.0),
                    lead_time_days: days(offer, self.request.ships_to),
                });
            }
        }
        let vendors: Vec<VendorOrder> = vendors.into_iter().map(|(name, items)| order(name, items)).collect();
        ShoppingList {
            amount_mmol: self.request.amount_mmol,
            step_yield: self.request.step_yield,
            total_usd: is_priced.then(|| rounded(vendors.iter().map(|order| order.total_usd).sum(), 100.0)),
            lead_time_days: longest(vendors.iter().map(|order| order.lead_time_days)).filter(|_| is_priced),
            vendors,
            without_price,
        }
    }

    /// The offers for a block, of the vendors that come first alone if they have it.
    fn preferred(&self, block: i32) -> Vec<&'a PricingAnnotation> {
        let offers = self.offers.get(&block).map_or(&[][..], Vec::as_slice);
        let is_first = |offer: &&&PricingAnnotation| self.first.contains(&offer.vendor_name);
        let first: Vec<_> = offers.iter().filter(is_first).copied().collect();
        if first.is_empty() { offers.to_vec() } else { first }
    }

    /// Grams of each building block that the amount of target takes, by the catalogue's integers.
    fn needs(&self, route: &Route) -> BTreeMap<i32, f64> {
        let mut needs = BTreeMap::new();
        for (molecule, moles) in route.molecules().zip(route.graph.moles(self.request.step_yield)) {
            if let Some(block) = molecule.building_block {
                // Two forms of a block are that block.
                *needs.entry(block).or_default() += moles * self.request.amount_mmol * 1e-3 * molecule.mw;
            }
        }
        needs
    }
}

fn order(name: &str, items: Vec<OrderedPack>) -> VendorOrder {
    VendorOrder {
        vendor_name: name.to_owned(),
        total_usd: rounded(items.iter().map(|item| item.usd).sum(), 100.0),
        lead_time_days: longest(items.iter().map(|item| item.lead_time_days)),
        items,
    }
}

/// Whether one offer is within the masks of price and lead time; what is not known is within them.
fn may_be_bought(offer: &PricingAnnotation, request: &TreeSearchRequest) -> bool {
    let below =
        |value: Option<f64>, limit: Option<f64>| value.zip(limit).is_none_or(|(value, limit)| value < limit);
    below(offer.normalised_usd, request.mask_usd_pricing_gte)
        && below(days(offer, request.ships_to), request.mask_lead_times_gte)
}

fn pack(offer: &PricingAnnotation) -> Option<Pack> {
    let (usd, usd_per_gram) = offer.price_usd.zip(offer.normalised_usd)?;
    let grams = usd / usd_per_gram;
    // A price by the gram may be far beyond what divides well.
    (usd > 0.0 && grams > 0.0 && grams.is_finite()).then_some(Pack { usd, grams })
}

/// Days until an offer is there, in the quickest of all countries where none is named.
fn days(offer: &PricingAnnotation, to: Option<Country>) -> Option<f64> {
    match to {
        Some(country) => offer.lead_time_days_to(country),
        None => {
            Country::ALL.into_iter().filter_map(|country| offer.lead_time_days_to(country)).reduce(f64::min)
        }
    }
}

/// The longest of these times; `None` where one is not known.
fn longest(times: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    times.collect::<Option<Vec<f64>>>().map(|times| times.into_iter().fold(0.0, f64::max))
}

fn names(offers: &[&PricingAnnotation]) -> Vec<String> {
    let mut names: Vec<String> = offers.iter().map(|offer| offer.vendor_name.clone()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn rounded(value: f64, places: f64) -> f64 {
    (value * places).round() / places
}
