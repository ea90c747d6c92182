//! Shopping list of a route: what to take from stock and what to order.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The cheapest packs of a route's building blocks for the requested amount of target, by vendor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ShoppingList {
    /// Amount of target, millimoles.
    pub amount_mmol: f64,
    /// Expected yield of each step, as a fraction.
    pub step_yield: f64,
    /// USD for all packs; null where a building block has no pack of known price, is not a common laboratory
    /// chemical, and is not in the company's own stock.
    pub total_usd: Option<f64>,
    /// Days until the last pack arrives; null where one is not known.
    pub lead_time_days: Option<f64>,
    /// Amounts taken from the company's own stock, as far as it lasts; only the rest is ordered. Absent where nothing
    /// is taken.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub from_stock: Vec<StockTaken>,
    /// Orders, by name of the vendor.
    pub vendors: Vec<VendorOrder>,
    /// Building blocks that are not ordered: common laboratory chemicals (`Common Lab Chemicals`), and blocks without
    /// a pack of known price and content.
    pub without_price: Vec<Unpriced>,
}

/// An amount taken from the company's own stock: an entry of a private vendor that states its amount.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StockTaken {
    /// Catalogue's integer for the building block.
    pub building_block_idx: i32,
    /// Grams of the building block that are taken.
    pub grams: f64,
    /// Vendor whose stock it is.
    pub vendor_name: String,
    /// Catalogue entry identifier.
    pub cs_id: String,
    /// Location of the stock; null where it is not stated.
    pub location: Option<String>,
}

/// Order from one vendor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct VendorOrder {
    /// Name of the vendor.
    pub vendor_name: String,
    /// USD for all packs of the order.
    pub total_usd: f64,
    /// Days until the last of them arrives; null where one is not known.
    pub lead_time_days: Option<f64>,
    /// Packs, by building block and entry.
    pub items: Vec<OrderedPack>,
}

/// Packs of one entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct OrderedPack {
    /// Catalogue's integer for the building block.
    pub building_block_idx: i32,
    /// Grams of the building block that the route needs beyond the company's own stock, whatever the pack sizes.
    pub grams_needed: f64,
    /// Catalogue entry identifier.
    pub cs_id: String,
    /// Pack size.
    pub pack: Option<f64>,
    /// Unit of the pack size.
    pub uom: Option<String>,
    /// Number of packs.
    #[schema(minimum = 1)]
    pub count: u32,
    /// USD for all these packs.
    pub usd: f64,
    /// Days until they arrive; null where not known.
    pub lead_time_days: Option<f64>,
}

/// A building block that is at hand or has no known price.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Unpriced {
    /// Catalogue's integer for the building block.
    pub building_block_idx: i32,
    /// Grams that the route needs beyond the company's own stock.
    pub grams_needed: f64,
    /// Vendors that offer it.
    pub vendors: Vec<String>,
}
