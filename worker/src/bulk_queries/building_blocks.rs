//! Bulk query of building blocks: availability and vendors of molecules.

use std::collections::{BTreeMap, BTreeSet};

use catalogue::{Block, Stock, StockView, inchi_key};
use contract::{MoleculeAvailability, PricingAnnotation};
use synth::{BatchLimits, Planner};

use super::{BulkAnswer, BulkItem, answer_each};
use crate::rounding::rounded;

/// Looks up each of the molecules in `stock`, with its InChIKey if requested, without its offers.
pub(crate) fn building_blocks(
    planner: &Planner,
    stock: &StockView,
    texts: &[String],
    with_keys: bool,
    allowance: &BatchLimits,
) -> BulkAnswer<MoleculeAvailability> {
    answer_each(planner, texts, allowance, |molecule, _| {
        let smiles = molecule.canonical_smiles();
        let inchikey = if with_keys { inchi_key(&smiles) } else { None };
        Some(MoleculeAvailability { inchikey, ..sold(stock, smiles, stock.find(molecule)) })
    })
}

/// Builds the item of a molecule that is sold as `block`, or not sold, without its offers.
pub(super) fn sold(stock: &StockView, smiles: String, block: Option<Block>) -> MoleculeAvailability {
    let figure = |figure: Option<f32>| figure.map(|figure| rounded(f64::from(figure)));
    MoleculeAvailability {
        smiles,
        error: None,
        in_stock: block.is_some(),
        building_block_idx: block.map(|block| stock.id(block)),
        price: figure(block.and_then(|block| stock.usd_per_gram(block))),
        lead_time_days: figure(block.and_then(|block| stock.lead_time_days(block))),
        inchikey: None,
        vendors: Vec::new(),
        offers: Vec::new(),
    }
}

/// Returns the blocks of these molecules, each once.
pub(crate) fn blocks<'a>(sold: impl Iterator<Item = &'a MoleculeAvailability>) -> Vec<i32> {
    let found: BTreeSet<i32> = sold.filter_map(|item| item.building_block_idx).collect();
    found.into_iter().collect()
}

/// Adds the sorted offers to the items: all vendors of each molecule, and its first `most` offers.
pub(crate) fn add_offers<'a>(
    sold: impl Iterator<Item = &'a mut MoleculeAvailability>,
    offers: Vec<PricingAnnotation>,
    most: usize,
) {
    let mut by_block: BTreeMap<i32, Vec<PricingAnnotation>> = BTreeMap::new();
    for offer in offers {
        by_block.entry(offer.major_component_id).or_default().push(offer);
    }
    for item in sold {
        let offers = item.building_block_idx.and_then(|block| by_block.get(&block));
        let offers = offers.map_or(&[][..], Vec::as_slice);
        let vendors: BTreeSet<&str> = offers.iter().map(|offer| offer.vendor_name.as_str()).collect();
        item.vendors = vendors.into_iter().map(str::to_owned).collect();
        item.offers = offers.iter().take(most).cloned().collect();
    }
}

impl BulkItem for MoleculeAvailability {
    fn nothing(smiles: String, error: String) -> Self {
        Self {
            smiles,
            error: Some(error),
            in_stock: false,
            building_block_idx: None,
            price: None,
            lead_time_days: None,
            inchikey: None,
            vendors: Vec::new(),
            offers: Vec::new(),
        }
    }
}
