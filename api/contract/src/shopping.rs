//! What to take from stock and to order for a route.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The cheapest packs of a route's building blocks that make the amount of target asked for, by vendor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ShoppingList {
    /// Millimoles of the target.
    pub amount_mmol: f64,
    /// The part of each step's product that is expected to be had.
    pub step_yield: f64,
    /// USD for all packs; null where a building block has none with a known price, is not what every laboratory has, and is not in the
    /// company's own stock either.
    pub total_usd: Option<f64>,
    /// Days until the last pack is there; null where one is not known.
    pub lead_time_days: Option<f64>,
    /// What is taken from the company's own stock, as far as that reaches; only the rest is ordered. Absent where nothing is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub from_stock: Vec<StockTaken>,
    /// Who is ordered from, by name.
    pub vendors: Vec<VendorOrder>,
    /// Building blocks that are not ordered: what every laboratory has (`Common Lab Chemicals`), and those without a pack of known price
    /// and content.
    pub without_price: Vec<Unpriced>,
}

/// What is taken from the company's own stock: from an entry of a private vendor that says how much of it there is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StockTaken {
    /// The building block.
    pub building_block_idx: i32,
    /// Grams of the building block that are taken.
    pub grams: f64,
    /// Whose stock it is.
    pub vendor_name: String,
    /// The entry.
    pub cs_id: String,
    /// Where it stands; null where that is not said.
    pub location: Option<String>,
}

/// What is ordered from one vendor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct VendorOrder {
    /// The vendor.
    pub vendor_name: String,
    /// USD for all its packs.
    pub total_usd: f64,
    /// Days until the last of them is there; null where one is not known.
    pub lead_time_days: Option<f64>,
    /// What is ordered, by building block and entry.
    pub items: Vec<OrderedPack>,
}

/// Packs of one entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct OrderedPack {
    /// The building block.
    pub building_block_idx: i32,
    /// Grams of the building block that the route takes beside what is in the company's own stock, by whatever packs they come.
    pub grams_needed: f64,
    /// The vendor's entry.
    pub cs_id: String,
    /// Pack size.
    pub pack: Option<f64>,
    /// Unit of the pack size.
    pub uom: Option<String>,
    /// How many packs.
    #[schema(minimum = 1)]
    pub count: u32,
    /// USD for all of them.
    pub usd: f64,
    /// Days until they are there; null where it is not known.
    pub lead_time_days: Option<f64>,
}

/// A building block that is at hand, or whose price nobody knows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Unpriced {
    /// The building block.
    pub building_block_idx: i32,
    /// Grams that the route takes beside what is in the company's own stock.
    pub grams_needed: f64,
    /// Who offers it.
    pub vendors: Vec<String>,
}
