//! What to order for a route: the cheapest packs that make the amount of target that was asked for, by vendor.
//!
//! What every laboratory has is not ordered. A pack counts if the request's masks let the route buy it. What a pack holds of the
//! building block follows from its price and its price by the gram, whatever unit it is sold in and whatever salt it is.

use std::collections::{BTreeMap, BTreeSet};

use catalogue::{
    common::VENDOR_NAME,
    packs::{Pack, cheapest},
};
use contract::{
    Country, OrderedPack, PricingAnnotation, ShoppingList, TreeSearchRequest, Unpriced, VendorOrder,
};
use synth::Route;

use crate::rounding::{cents, rounded};

/// Makes the shopping lists of an answer's routes.
pub(crate) struct Shop<'a> {
    request: &'a TreeSearchRequest,
    /// What may be bought of each building block.
    counters: BTreeMap<i32, Counter<'a>>,
}

/// Where a building block is sold.
#[derive(Default)]
struct Counter<'a> {
    /// Whether every laboratory has it.
    is_at_hand: bool,
    /// What of it has a price and a content that are known.
    packs: Vec<Pack>,
    /// The offers that these are.
    offers: Vec<&'a PricingAnnotation>,
    /// Who has it, by name.
    vendors: BTreeSet<&'a str>,
}

impl<'a> Counter<'a> {
    /// What these offers come to: of the vendors named `first` alone, if they have the block.
    fn new(mut offers: Vec<&'a PricingAnnotation>, first: &[String]) -> Self {
        let is_first = |offer: &&PricingAnnotation| first.contains(&offer.vendor_name);
        if offers.iter().any(is_first) {
            offers.retain(is_first);
        }
        let vendors: BTreeSet<&str> = offers.iter().map(|offer| offer.vendor_name.as_str()).collect();
        let priced = offers.into_iter().filter_map(|offer| Some((pack(offer)?, offer)));
        let (packs, offers) = priced.unzip();
        Self { is_at_hand: vendors.contains(VENDOR_NAME), packs, offers, vendors }
    }
}

impl<'a> Shop<'a> {
    /// A shop in which these are the offers, those of the vendors named `first` before others.
    pub(crate) fn new(
        request: &'a TreeSearchRequest,
        first: &[String],
        offers: &'a [PricingAnnotation],
    ) -> Self {
        let mut by_block: BTreeMap<i32, Vec<&PricingAnnotation>> = BTreeMap::new();
        for offer in offers.iter().filter(|offer| may_be_bought(offer, request)) {
            by_block.entry(offer.major_component_id).or_default().push(offer);
        }
        let counters = by_block.into_iter().map(|(block, offers)| (block, Counter::new(offers, first)));
        Self { request, counters: counters.collect() }
    }

    /// What to order for `route`.
    pub(crate) fn list(&self, route: &Route) -> ShoppingList {
        let mut vendors: BTreeMap<&str, Vec<OrderedPack>> = BTreeMap::new();
        let (mut without_price, mut is_priced) = (Vec::new(), true);
        let nobody = Counter::default();
        for (block, grams_needed) in self.needs(route) {
            let counter = self.counters.get(&block).unwrap_or(&nobody);
            is_priced &= counter.is_at_hand || !counter.packs.is_empty();
            let purchase = if counter.is_at_hand { None } else { cheapest(&counter.packs, grams_needed) };
            let grams_needed = rounded(grams_needed);
            let Some(purchase) = purchase else {
                without_price.push(Unpriced {
                    building_block_idx: block,
                    grams_needed,
                    vendors: counter.vendors.iter().map(|&name| name.to_owned()).collect(),
                });
                continue;
            };
            for (at, count) in purchase.packs {
                let (offer, pack) = (counter.offers[at], counter.packs[at]);
                vendors.entry(&offer.vendor_name).or_default().push(OrderedPack {
                    building_block_idx: block,
                    grams_needed,
                    cs_id: offer.cs_id.clone(),
                    pack: offer.pack,
                    uom: offer.uom.clone(),
                    count,
                    usd: cents(pack.usd * f64::from(count)),
                    lead_time_days: days(offer, self.request.ships_to),
                });
            }
        }
        let vendors: Vec<VendorOrder> = vendors.into_iter().map(|(name, items)| order(name, items)).collect();
        ShoppingList {
            amount_mmol: self.request.amount_mmol,
            step_yield: self.request.step_yield,
            total_usd: is_priced.then(|| cents(vendors.iter().map(|order| order.total_usd).sum())),
            lead_time_days: longest(vendors.iter().map(|order| order.lead_time_days)).filter(|_| is_priced),
            vendors,
            without_price,
        }
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
        total_usd: cents(items.iter().map(|item| item.usd).sum()),
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
