//! Shopping list of a route: the cheapest packs, by vendor, that make the requested amount of target.
//!
//! The list leaves out common lab chemicals and building blocks that the caller has. The company's own stock is used
//! before anything is ordered: first the bottle with the largest content, then the next, so that few bottles are
//! fetched. A pack counts if the request's masks allow the route to buy it. The grams of building block in a pack
//! follow from its price and its price per gram, whatever its unit of sale and its salt form. The price for ranking,
//! per mole of target, is in `worker/synth/src/routes/price.rs`.

use std::collections::{BTreeMap, BTreeSet};

use catalogue::{
    common_chemicals::VENDOR_NAME,
    packs::{Pack, cheapest},
};
use catalogue_tables::Offers;
use contract::{
    Country, OrderedPack, PricingAnnotation, ShoppingList, StockTaken, TreeSearchRequest, Unpriced,
    VendorOrder,
};
use synth::{Route, RouteNode};

use crate::{
    own_blocks,
    rounding::{cents, rounded},
};

/// Relative shortfall that counts as rounding error.
const ROUNDING: f64 = 1e-9;

/// Makes the shopping lists of an answer's routes.
pub(crate) struct ShoppingListBuilder<'a> {
    request: &'a TreeSearchRequest,
    /// Supply of each building block that may be bought.
    counters: BTreeMap<i32, BlockSupply<'a>>,
}

/// An offer. If it is the company's own stock, also the grams of building block that it holds.
#[derive(Clone, Copy)]
struct OfferWithStock<'a> {
    offer: &'a PricingAnnotation,
    grams_owned: Option<f64>,
}

/// Sources of one building block.
#[derive(Default)]
struct BlockSupply<'a> {
    /// True if the block is a common lab chemical or the caller has it.
    is_common_chemical: bool,
    /// Grams and offers of the company's own bottles, the fullest first.
    bottles: Vec<(f64, &'a PricingAnnotation)>,
    /// Packs whose price and content are known.
    packs: Vec<Pack>,
    /// Offers of `packs`, in the same order.
    offers: Vec<&'a PricingAnnotation>,
    /// Names of the vendors that offer the block.
    vendors: BTreeSet<&'a str>,
}

impl<'a> BlockSupply<'a> {
    /// Collects the sources from the offers of one block. If vendors named in `first` offer it, only they count,
    /// beside the company's own stock.
    fn new(offered: &[OfferWithStock<'a>], first: &[String]) -> Self {
        let mut bottles: Vec<_> =
            offered.iter().filter_map(|offered| Some((offered.grams_owned?, offered.offer))).collect();
        bottles.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        let sold = offered.iter().filter(|offered| offered.grams_owned.is_none());
        let mut offers: Vec<&PricingAnnotation> = sold.map(|offered| offered.offer).collect();
        let is_first = |offer: &&PricingAnnotation| first.contains(&offer.vendor_name);
        if offers.iter().any(is_first) {
            offers.retain(is_first);
        }
        let vendors: BTreeSet<&str> = offers.iter().map(|offer| offer.vendor_name.as_str()).collect();
        let is_common_chemical =
            vendors.contains(VENDOR_NAME) || offers.iter().any(|offer| own_blocks::is_callers(offer));
        let priced = offers.into_iter().filter_map(|offer| Some((pack(offer)?, offer)));
        let (packs, offers) = priced.unzip();
        Self { is_common_chemical, bottles, packs, offers, vendors }
    }

    /// Takes the grams needed from the company's bottles, in turn. Returns what was taken and the grams still
    /// missing.
    fn take(&self, grams_needed: f64) -> (Vec<(f64, &'a PricingAnnotation)>, f64) {
        let (mut taken, mut missing) = (Vec::new(), grams_needed);
        for &(grams, offer) in &self.bottles {
            let part = grams.min(missing);
            if part > 0.0 {
                taken.push((part, offer));
                missing -= part;
            }
        }
        (taken, if missing > grams_needed * ROUNDING { missing } else { 0.0 })
    }
}

impl<'a> ShoppingListBuilder<'a> {
    /// Indexes `offers` by building block; vendors named in `first` are preferred.
    pub(crate) fn new(request: &'a TreeSearchRequest, first: &[String], offers: &'a Offers) -> Self {
        let own: BTreeMap<usize, f64> = offers.own.iter().map(|own| (own.at, own.grams)).collect();
        let mut by_block: BTreeMap<i32, Vec<OfferWithStock<'_>>> = BTreeMap::new();
        for (at, offer) in offers.annotations.iter().enumerate() {
            if may_be_bought(offer, request) {
                let offered = OfferWithStock { offer, grams_owned: own.get(&at).copied() };
                by_block.entry(offer.major_component_id).or_default().push(offered);
            }
        }
        let counters = by_block.iter().map(|(&block, offered)| (block, BlockSupply::new(offered, first)));
        Self { request, counters: counters.collect() }
    }

    /// Returns the shopping list of `route`.
    pub(crate) fn list(&self, route: &Route) -> ShoppingList {
        let mut vendors: BTreeMap<&str, Vec<OrderedPack>> = BTreeMap::new();
        let (mut from_stock, mut without_price, mut is_priced) = (Vec::new(), Vec::new(), true);
        let no_supply = BlockSupply::default();
        for (block, grams_needed) in self.needs(route) {
            let counter = self.counters.get(&block).unwrap_or(&no_supply);
            let (taken, missing) = match counter.is_common_chemical {
                true => (Vec::new(), grams_needed),
                false => counter.take(grams_needed),
            };
            from_stock.extend(taken.into_iter().map(|(grams, offer)| stock_taken(grams, offer)));
            if missing == 0.0 {
                continue;
            }
            is_priced &= counter.is_common_chemical || !counter.packs.is_empty();
            let purchase = if counter.is_common_chemical { None } else { cheapest(&counter.packs, missing) };
            let grams_needed = rounded(missing);
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
            from_stock,
            vendors,
            without_price,
        }
    }

    /// Returns the grams of each building block needed for the amount of target, by catalogue id.
    fn needs(&self, route: &Route) -> BTreeMap<i32, f64> {
        let mut needs = BTreeMap::new();
        for (molecule, moles) in route
            .molecules()
            .zip(route.graph.moles(self.request.step_yield, RouteNode::molecules_per_product))
        {
            if let Some(block) = molecule.building_block {
                // Two forms of a building block count as the same block.
                *needs.entry(block).or_default() += moles * self.request.amount_mmol * 1e-3 * molecule.mw;
            }
        }
        needs
    }
}

fn stock_taken(grams: f64, offer: &PricingAnnotation) -> StockTaken {
    StockTaken {
        building_block_idx: offer.major_component_id,
        grams: rounded(grams),
        vendor_name: offer.vendor_name.clone(),
        cs_id: offer.cs_id.clone(),
        location: offer.location.clone(),
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

/// Returns true if the offer passes the price and lead-time masks. An unknown value passes.
fn may_be_bought(offer: &PricingAnnotation, request: &TreeSearchRequest) -> bool {
    let below =
        |value: Option<f64>, limit: Option<f64>| value.zip(limit).is_none_or(|(value, limit)| value < limit);
    below(offer.normalised_usd, request.mask_usd_pricing_gte)
        && below(days(offer, request.ships_to), request.mask_lead_times_gte)
}

fn pack(offer: &PricingAnnotation) -> Option<Pack> {
    let (usd, usd_per_gram) = offer.price_usd.zip(offer.normalised_usd)?;
    let grams = usd / usd_per_gram;
    // An extreme price per gram can give a content of zero or infinity.
    (usd > 0.0 && grams > 0.0 && grams.is_finite()).then_some(Pack { usd, grams })
}

/// Returns the lead time in days. Without a named country, takes the shortest of all countries.
fn days(offer: &PricingAnnotation, to: Option<Country>) -> Option<f64> {
    match to {
        Some(country) => offer.lead_time_days_to(country),
        None => {
            Country::ALL.into_iter().filter_map(|country| offer.lead_time_days_to(country)).reduce(f64::min)
        }
    }
}

/// Returns the longest of these times, or `None` if any is unknown.
fn longest(times: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    times.collect::<Option<Vec<f64>>>().map(|times| times.into_iter().fold(0.0, f64::max))
}

#[cfg(test)]
mod tests {
    use catalogue_tables::OwnStock;

    use super::*;
    use crate::toy::{offer, plan};

    /// Shopping list of the two-step route for 50 mmol at a yield of 0.5 per step, so the last step is run at 100
    /// mmol. It needs 4 g each of blocks 3 and 7, since the target takes two of each, at 10 g/mol.
    fn shopping_list(
        annotations: Vec<PricingAnnotation>,
        own: &[OwnStock],
        lead_limit: Option<f64>,
    ) -> ShoppingList {
        let request = TreeSearchRequest {
            amount_mmol: 50.0,
            step_yield: 0.5,
            mask_lead_times_gte: lead_limit,
            ..TreeSearchRequest::new("CCOCC")
        };
        let offers = Offers { annotations, own: own.to_vec() };
        ShoppingListBuilder::new(&request, &[], &offers).list(&plan().groups[1].variations[0][0])
    }

    #[test]
    fn a_route_comes_with_the_cheapest_packs_that_make_what_was_asked_for() {
        let offers = vec![
            offer(3, "A", 1.0, 3.0, Some(2.0)),
            offer(3, "A", 5.0, 13.0, Some(2.0)),
            offer(3, "B", 3.0, 8.0, Some(9.0)),
            offer(7, "B", 10.0, 1.0, Some(9.0)),
        ];

        let list = shopping_list(offers.clone(), &[], None);
        let quick = shopping_list(offers, &[], Some(5.0));

        let items = |list: &ShoppingList| -> Vec<_> {
            let of = |order: &VendorOrder| order.items.clone();
            let items = list.vendors.iter().flat_map(of);
            items
                .map(|item| (item.cs_id, item.pack.unwrap(), item.count, item.usd, item.grams_needed))
                .collect()
        };
        let expected = [
            ("A-3".to_owned(), 1.0, 1, 3.0, 4.0),
            ("B-3".to_owned(), 3.0, 1, 8.0, 4.0),
            ("B-7".to_owned(), 10.0, 1, 1.0, 4.0),
        ];
        assert_eq!(items(&list), expected);
        assert_eq!((list.total_usd, list.lead_time_days), (Some(12.0), Some(9.0)));
        // The lead-time limit leaves dearer packs of block 3 and no vendor of block 7.
        assert_eq!(items(&quick), [("A-3".to_owned(), 1.0, 4, 12.0, 4.0)]);
        assert_eq!((quick.total_usd, quick.without_price.len()), (None, 1));
    }

    #[test]
    fn what_has_no_price_is_named_and_makes_no_total() {
        let list =
            shopping_list(vec![offer(3, "A", 1.0, 0.0, None), offer(7, "B", 10.0, 1.0, None)], &[], None);

        let [unpriced] = &list.without_price[..] else { panic!("{list:?}") };
        assert_eq!((unpriced.building_block_idx, &*unpriced.vendors), (3, &["A".to_owned()][..]));
        assert_eq!((list.total_usd, list.lead_time_days), (None, None));
        assert_eq!(list.vendors[0].total_usd, 1.0);
    }

    #[test]
    fn common_chemicals_are_not_ordered() {
        let offers = vec![
            offer(3, "Common Lab Chemicals", 1.0, 0.0, None),
            offer(3, "A", 1.0, 3.0, Some(2.0)),
            offer(7, "B", 10.0, 1.0, Some(9.0)),
        ];

        let list = shopping_list(offers, &[], None);

        assert_eq!((list.total_usd, list.lead_time_days), (Some(1.0), Some(9.0)));
        assert_eq!(list.without_price[0].building_block_idx, 3);
    }

    #[test]
    fn a_vendor_who_is_called_as_the_callers_own_blocks_are_is_ordered_from() {
        let list = shopping_list(vec![offer(3, own_blocks::VENDOR_NAME, 1.0, 3.0, Some(2.0))], &[], None);

        assert_eq!(list.vendors[0].total_usd, 12.0);
    }

    #[test]
    fn the_companys_stock_is_taken_first_and_the_rest_ordered() {
        let bottle = |at: &str| PricingAnnotation {
            location: Some(format!("shelf {at}")),
            cs_id: at.to_owned(),
            ..offer(3, "Own", 1.0, 0.0, None)
        };
        let offers = vec![
            bottle("A1"),
            bottle("B3"),
            offer(3, "A", 1.0, 3.0, Some(2.0)),
            offer(7, "B", 10.0, 1.0, Some(9.0)),
        ];
        let own = |grams: [f64; 2]| [0, 1].map(|at| OwnStock { at, grams: grams[at] });
        let taken = |list: &ShoppingList| -> Vec<_> {
            let from = list.from_stock.iter();
            from.map(|taken| (taken.location.clone().unwrap(), taken.grams)).collect()
        };

        let short = shopping_list(offers.clone(), &own([0.4, 2.1]), None);
        let enough = shopping_list(offers.clone(), &own([30.0, 2.1]), None);
        let alone = shopping_list(offers[..2].to_vec(), &own([0.4, 2.1]), None);

        // 4 g less 2.1 g and 0.4 g leaves 1.5 g: two packs of 1 g.
        assert_eq!(taken(&short), [("shelf B3".to_owned(), 2.1), ("shelf A1".to_owned(), 0.4)]);
        let [first, _] = &short.vendors[..] else { panic!("{short:?}") };
        assert_eq!((first.items[0].count, first.items[0].grams_needed), (2, 1.5));
        assert_eq!(short.total_usd, Some(7.0));
        assert_eq!(taken(&enough), [("shelf A1".to_owned(), 4.0)]);
        assert_eq!((enough.vendors.len(), enough.total_usd), (1, Some(1.0)));
        // No vendor sells the rest of block 3, nor any of block 7.
        assert_eq!(alone.total_usd, None);
        assert_eq!(alone.without_price[0].grams_needed, 1.5);
    }
}
