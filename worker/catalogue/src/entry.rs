//! One parsed offer of a vendor's file: structure, pack, price and lead times.

use std::sync::Arc;

use chrono::{DateTime, Utc};

use crate::structure::BlockStructure;

/// Position of a record in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct RecordPosition {
    /// Line number, counted from 1. Row number in a file without lines.
    pub number: u64,
    /// Byte offset before compression; 0 in a file without lines.
    pub offset: u64,
}

/// An offer that is ready to be stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Position of its record. A record may hold several offers.
    pub position: RecordPosition,
    /// Vendor.
    pub vendor_name: String,
    /// Structure for sale; the offers of one record share it.
    pub structure: Arc<BlockStructure>,
    /// Catalogue number; `None` has it derived from the structure.
    pub cs_id: Option<String>,
    /// Catalogue prefix; may be empty.
    pub cs_prefix: String,
    /// URL of the entry; may be empty.
    pub cs_url: String,
    /// Pack size.
    pub pack: Option<f64>,
    /// Unit of the pack size, as the vendor writes it.
    pub uom: Option<String>,
    /// USD for the pack.
    pub price_usd: Option<f64>,
    /// USD per gram of the major component.
    pub normalised_usd: Option<f64>,
    /// Days to each of [`COUNTRIES`](crate::COUNTRIES); `None` if unknown, or if the vendor does not ship there.
    pub lead_time_days: [Option<f64>; 8],
    /// True if the vendor ships to each of [`COUNTRIES`](crate::COUNTRIES); `None` if the file does not say.
    pub ships_to: [Option<bool>; 8],
    /// Time of the vendor's statement.
    pub api_timestamp: Option<DateTime<Utc>>,
    /// Amount in stock, if the file states it.
    pub in_stock: Option<InStock>,
    /// Storage location of the stock.
    pub location: Option<String>,
}

/// Amount of an entry in stock.
#[derive(Debug, Clone, PartialEq)]
pub struct InStock {
    /// Amount in `uom`; 0 or more.
    pub amount: f64,
    /// Unit, as the vendor writes it.
    pub uom: String,
    /// Grams of the major component; `None` for a volume without a density.
    pub grams: Option<f64>,
}

/// A rejected record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reject {
    /// Position of the record.
    pub position: RecordPosition,
    /// Reason.
    pub fault: crate::fault::RecordFault,
}
