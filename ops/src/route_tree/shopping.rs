//! Shopping list of a route as lines of text: what to take from stock and what to order.

use contract::{OrderedPack, RouteGraph, ShoppingList, StockTaken};

use super::format_price;

/// Formats the route's shopping list: its total, then each pack under its vendor. Empty if the target itself is
/// bought, or for an answer of an earlier version.
pub fn lines(graph: &RouteGraph) -> Vec<String> {
    let list = graph.graph.as_ref().and_then(|standing| standing.shopping_list.as_ref());
    let Some(list) = list.filter(|_| !graph.edges.is_empty()) else { return Vec::new() };
    let mut lines: Vec<String> = list.from_stock.iter().map(taken).collect();
    lines.insert(0, total(list));
    for vendor in &list.vendors {
        lines.extend(vendor.items.iter().map(|item| ordered(&vendor.vendor_name, item)));
    }
    lines.extend(list.without_price.iter().map(|block| {
        let vendors = if block.vendors.is_empty() { "nobody".to_owned() } else { block.vendors.join(", ") };
        format!(
            "  {} g of #{}: no price ({vendors})",
            format_price(block.grams_needed),
            block.building_block_idx
        )
    }));
    lines
}

fn total(list: &ShoppingList) -> String {
    let per_cent = (list.step_yield * 100.0).round();
    let usd = list.total_usd.map_or_else(|| "not all priced".to_owned(), |usd| format!("{usd:.2} USD"));
    let days = list.lead_time_days.map_or_else(String::new, |days| format!(", {days} days"));
    format!("to order for {} mmol at {per_cent} % a step: {usd}{days}", list.amount_mmol)
}

fn taken(stock: &StockTaken) -> String {
    let StockTaken { grams, building_block_idx, vendor_name, cs_id, location } = stock;
    let from = location.as_deref().unwrap_or("stock");
    format!("  take {} g of #{building_block_idx} from {from} ({vendor_name} {cs_id})", format_price(*grams))
}

fn ordered(vendor: &str, item: &OrderedPack) -> String {
    let pack = match (item.pack, &item.uom) {
        (Some(size), Some(unit)) => format!("{size} {unit}"),
        _ => "pack".to_owned(),
    };
    let needed = format_price(item.grams_needed);
    format!(
        "  {} × {pack} of #{} ({needed} g needed): {vendor} {}, {:.2} USD",
        item.count, item.building_block_idx, item.cs_id, item.usd
    )
}
