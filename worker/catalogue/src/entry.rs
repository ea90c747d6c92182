//! One offer of a vendor's file, understood: its structure, pack, price and lead times.

use std::sync::Arc;

use chrono::{DateTime, Utc};

use crate::structure::Structure;

/// Where in a file a record begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Place {
    /// The line, or the row of a file that has no lines; the first is 1.
    pub number: u64,
    /// The byte, before compression; 0 in a file without lines.
    pub offset: u64,
}

/// An offer ready to be stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Where its record begins. A record may hold several offers.
    pub place: Place,
    /// Vendor.
    pub vendor_name: String,
    /// What is sold; offers of one record share it.
    pub structure: Arc<Structure>,
    /// Catalogue entry; `None` leaves it to be derived from the structure.
    pub cs_id: Option<String>,
    /// Catalogue prefix; may be empty.
    pub cs_prefix: String,
    /// Address of the entry; may be empty.
    pub cs_url: String,
    /// Pack size.
    pub pack: Option<f64>,
    /// Unit of the pack size, as the vendor writes it.
    pub uom: Option<String>,
    /// USD for the pack.
    pub price_usd: Option<f64>,
    /// USD per gram of the major component.
    pub normalised_usd: Option<f64>,
    /// Days to each of [`COUNTRIES`](crate::COUNTRIES); `None` where nobody knows, and where it does not ship.
    pub lead_time_days: [Option<f64>; 8],
    /// Whether it ships to each of [`COUNTRIES`](crate::COUNTRIES); `None` where the file does not say.
    pub ships_to: [Option<bool>; 8],
    /// When the vendor said so.
    pub api_timestamp: Option<DateTime<Utc>>,
    /// How much of it is there, where the file says so.
    pub in_stock: Option<InStock>,
    /// Where that stands.
    pub location: Option<String>,
}

/// How much of an entry is in stock.
#[derive(Debug, Clone, PartialEq)]
pub struct InStock {
    /// How much, in `uom`; 0 or more.
    pub amount: f64,
    /// The unit, as the vendor writes it.
    pub uom: String,
    /// Grams of the major component; `None` for a volume without a density.
    pub grams: Option<f64>,
}

/// A record that is left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reject {
    /// Where it begins.
    pub place: Place,
    /// Why.
    pub fault: crate::fault::Fault,
}
