//! Filter for offers of private vendors in a stored answer that its reader may not, or no longer, see.
//!
//! An answer is stored as its account saw it, and a person who leaves an organisation keeps the stored answer. So
//! offers are removed when the answer is read, by the vendors that are hidden from the reader at that moment
//! (`vendors_hidden_from`). Prices and days that may rest on them become null.

use std::collections::HashSet;

use contract::{PricingAnnotation, RouteGraph, ShoppingList};

/// Removes the offers of `hidden` vendors, and what may rest on them in the routes; returns true if there was
/// anything.
pub fn remove_hidden_offers<'r>(
    hidden: &[String],
    offers: &mut Vec<PricingAnnotation>,
    routes: impl Iterator<Item = &'r mut RouteGraph>,
) -> bool {
    let is_hidden = |name: &String| hidden.contains(name);
    let gone = offers.extract_if(.., |offer| is_hidden(&offer.vendor_name));
    let blocks: HashSet<i32> = gone.map(|offer| offer.major_component_id).collect();
    let mut has_left_out = !blocks.is_empty();
    for route in routes {
        let mut bought = route.nodes.iter().filter_map(|node| node.data.building_block_idx);
        let rests_on_blocks = bought.any(|block| blocks.contains(&block));
        if let Some(standing) = &mut route.graph
            && (rests_on_blocks || standing.shopping_list.iter().flat_map(vendors).any(is_hidden))
        {
            standing.cost_usd_per_mol = None;
            standing.lead_time_days = None;
            standing.shopping_list = None;
            has_left_out = true;
        }
    }
    has_left_out
}

/// Returns the vendors of a shopping list.
fn vendors(list: &ShoppingList) -> impl Iterator<Item = &String> {
    let stock = list.from_stock.iter().map(|taken| &taken.vendor_name);
    let orders = list.vendors.iter().map(|order| &order.vendor_name);
    stock.chain(orders).chain(list.without_price.iter().flat_map(|block| &block.vendors))
}
