//! Masks, compared with a reference model that checks every offer.

use std::sync::Arc;

use catalogue::{COUNTRIES, Masks, Offer, Region, Snapshot, Stock, StockView, VendorSet, common_chemicals};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use crate::alkane;

const VENDORS: i32 = 5;
const PRIVATE: [i32; 2] = [3, 4];

/// Few distinct values, so that limits often equal them.
fn value() -> impl Strategy<Value = Option<f32>> {
    option::weighted(0.7, prop::sample::select(vec![0.1_f32, 1.0, 2.5, 7.0, 30.0]))
}

fn limit() -> impl Strategy<Value = Option<f64>> {
    option::weighted(0.6, prop::sample::select(vec![0.1, 0.5, 1.0, 2.5, 7.1, 100.0]))
}

fn offer() -> impl Strategy<Value = Offer> {
    let refuses = prop::array::uniform8(prop::bool::weighted(0.3));
    // A vendor often has one lead time for all countries, so that profiles coincide.
    let days = prop_oneof![
        prop::array::uniform8(value()),
        value().prop_map(|days| [days; COUNTRIES.len()]),
        Just([None; COUNTRIES.len()])
    ];
    let refuses = prop_oneof![Just([false; 8]), Just([true; 8]), refuses];
    (0..VENDORS, value(), days, refuses).prop_map(|(vendor, usd_per_gram, lead_time_days, refuses)| Offer {
        vendor,
        usd_per_gram,
        lead_time_days,
        refuses,
    })
}

fn vendors() -> impl Strategy<Value = VendorSet> {
    let some = || vec(0..VENDORS, 0..4);
    (some(), option::of(some()), some()).prop_map(|(shown, only, never)| {
        let set = VendorSet::default().with_private(shown).never(never);
        match only {
            Some(only) => set.only(only),
            None => set,
        }
    })
}

fn masks() -> impl Strategy<Value = Masks> {
    let region = prop::sample::select(Region::all().collect::<Vec<_>>());
    let mw_gte = option::weighted(0.3, prop::sample::select(vec![180.159, 180.16, 100.0]));
    (mw_gte, limit(), limit(), region, vendors()).prop_map(|(mw_gte, usd_gte, lead_gte, region, vendors)| {
        Masks { mw_gte, usd_gte, lead_gte, region, vendors }
    })
}

fn is_below(value: Option<f32>, limit: Option<f64>) -> bool {
    match (value, limit) {
        (Some(value), Some(limit)) => value < limit as f32,
        _ => true,
    }
}

/// The countries of the region that an offer ships to.
fn countries(offer: &Offer, region: Region) -> Vec<usize> {
    let is_meant =
        |&at: &usize| region == Region::ANYWHERE || Region::of_country(COUNTRIES[at]) == Some(region);
    (0..COUNTRIES.len()).filter(is_meant).filter(|&at| !offer.refuses[at]).collect()
}

fn lead_time(offer: &Offer, region: Region) -> Option<f32> {
    let days = countries(offer, region).into_iter().filter_map(|at| offer.lead_time_days[at]);
    days.min_by(f32::total_cmp)
}

/// Reference model of the masks for one offer.
fn is_allowed_by_reference(offer: &Offer, masks: &Masks, own: (&[i32], Option<&[i32]>, &[i32])) -> bool {
    let (shown, only, never) = own;
    let is_common = offer.vendor == common_chemicals::VENDOR;
    (!PRIVATE.contains(&offer.vendor) || shown.contains(&offer.vendor))
        && (is_common || only.is_none_or(|only| only.contains(&offer.vendor)))
        && !never.contains(&offer.vendor)
        && !countries(offer, masks.region).is_empty()
        && is_below(offer.usd_per_gram, masks.usd_gte)
        && is_below(lead_time(offer, masks.region), masks.lead_gte)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn masks_agree_with_a_scan_of_every_offer(
        offers in vec(vec(offer(), 0..8), 1..12),
        masks in masks(),
        shown in vec(0..VENDORS, 0..4),
        only in option::of(vec(0..VENDORS, 0..4)),
        never in vec(0..VENDORS, 0..3),
    ) {
        let mut builder = catalogue::Builder::new(1);
        PRIVATE.into_iter().for_each(|vendor| builder.private(vendor));
        for (id, offers) in (0..).zip(&offers) {
            builder.block(alkane(id));
            offers.iter().for_each(|offer| builder.offer(id, offer).unwrap());
        }
        let snapshot = Snapshot::from_bytes(&builder.into_bytes(1).unwrap(), 1).unwrap();
        let mut set = VendorSet::default().with_private(shown.clone()).never(never.clone());
        if let Some(only) = &only {
            set = set.only(only.clone());
        }
        let masks = Masks { vendors: set, ..masks };

        let stock = StockView::new(Arc::new(snapshot), masks.clone());

        let mut allowed = Vec::new();
        for (id, offers) in (0..).zip(&offers) {
            let usable: Vec<&Offer> = offers
                .iter()
                .filter(|offer| is_allowed_by_reference(offer, &masks, (&shown, only.as_deref(), &never)))
                .collect();
            let expected = is_below(Some(alkane(id).mw), masks.mw_gte) && (offers.is_empty() || !usable.is_empty());
            let found = stock.find(&alkane(id).smiles.parse().unwrap());
            prop_assert_eq!(found.is_some(), expected, "{:?}", offers);
            if let Some(block) = found {
                let usd = usable.iter().filter_map(|offer| offer.usd_per_gram).min_by(f32::total_cmp);
                // A common laboratory chemical costs nothing if no other vendor states a price.
                let is_common = usable.iter().any(|offer| offer.vendor == common_chemicals::VENDOR);
                let usd = usd.or(is_common.then_some(0.0));
                let days = usable.iter().filter_map(|offer| lead_time(offer, masks.region));
                prop_assert_eq!(stock.usd_per_gram(block), usd);
                prop_assert_eq!(stock.lead_time_days(block), days.min_by(f32::total_cmp));
                allowed.push(block);
            }
        }
        // A block that is not allowed is never a nearest neighbour.
        let own = alkane(0).fingerprint;
        let nearest = stock.nearest(&[own], 1)[0].map(|(block, _)| block);
        prop_assert_eq!(nearest.is_some(), !allowed.is_empty());
        prop_assert!(nearest.is_none_or(|block| allowed.contains(&block)));
    }
}

#[test]
fn price_and_lead_time_hold_for_one_offer_together() {
    let us = Region::of_country("US").unwrap();
    let cheap_and_slow = Offer::of(1).at(1.0).within(60.0);
    let dear_and_quick = Offer::of(1).at(50.0).within(2.0);
    let stock = StockView::in_memory([(alkane(0), vec![cheap_and_slow, dear_and_quick])]);
    let is_there = |usd_gte, lead_gte| {
        let stock = stock.under(Masks { usd_gte, lead_gte, region: us, ..Masks::default() });
        stock.find(&"C".parse().unwrap()).is_some()
    };

    assert!(is_there(Some(10.0), None));
    assert!(is_there(None, Some(10.0)));
    assert!(!is_there(Some(10.0), Some(10.0)));
    assert!(is_there(Some(50.1), Some(2.1)));
}

#[test]
fn a_block_that_nobody_ships_to_a_region_is_none_there() {
    let mut offer = Offer::of(1).at(1.0);
    offer.refuses[1] = true;
    let stock = StockView::in_memory([(alkane(0), vec![offer])]);
    let is_there = |code| {
        let region = Region::of_country(code).unwrap();
        stock.under(Masks { region, ..Masks::default() }).find(&"C".parse().unwrap()).is_some()
    };

    // The lead time to the United States is unknown, but the offer ships there.
    assert_eq!(["US", "CA", "AU"].map(is_there), [true, false, true]);
    assert!(stock.find(&"C".parse().unwrap()).is_some());
}

#[test]
fn a_limit_written_as_the_value_is_excludes_it() {
    // 180.159 and 0.1 have no exact f32: the limits must be rounded as the values were.
    let stock = StockView::in_memory([(alkane(0), vec![Offer::of(1).at(0.1)])]);

    for masks in [
        Masks { mw_gte: Some(180.159), ..Masks::default() },
        Masks { usd_gte: Some(0.1), ..Masks::default() },
    ] {
        assert_eq!(stock.under(masks.clone()).find(&"C".parse().unwrap()), None, "{masks:?}");
    }
}

#[test]
fn common_chemicals_pass_all_limits_until_switched_off() {
    let offers =
        [(alkane(0), vec![Offer::of(common_chemicals::VENDOR)]), (alkane(1), vec![Offer::of(1).at(9.0)])];
    let stock = StockView::in_memory(offers);
    let limits = Masks { usd_gte: Some(0.01), lead_gte: Some(0.01), ..Masks::default() };
    let off = Masks { vendors: VendorSet::default().never([common_chemicals::VENDOR]), ..Masks::default() };
    let found = |masks: Masks| {
        ["C", "CC"].map(|smiles| stock.under(masks.clone()).find(&smiles.parse().unwrap()).is_some())
    };

    assert_eq!(found(limits), [true, false]);
    assert_eq!(found(off), [false, true]);
}
