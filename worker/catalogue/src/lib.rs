//! The catalogue: readers of vendors' files, building blocks and offers as a search sees them, and purchases.

pub mod common_chemicals;
mod currency;
mod entry;
mod fault;
mod folder;
mod inchi;
mod lead_time;
mod masks;
mod nearest;
mod number;
mod number_style;
mod offer;
pub mod packs;
mod price;
pub mod read;
mod region;
pub mod shipping_exclusions;
mod snapshot;
mod stock_view;
mod structure;

pub use currency::{Currency, RateParseError, Rates};
pub use entry::{Entry, InStock, RecordPosition, Reject};
pub use fault::RecordFault;
pub use folder::{
    FetchOutcome, OpenedSnapshot, SnapshotContent, SnapshotFolder, SnapshotOrigin, name_prefix,
    version_in_name,
};
pub use inchi::inchi_key;
pub use lead_time::IN_STOCK_DAYS;
pub use masks::{Masks, VendorSet, Visibility};
pub use number_style::NumberStyle;
pub use offer::Offer;
pub use region::{COUNTRIES, Region};
pub use snapshot::{Block, BlockRow, BuildError, Builder, Section, Snapshot, SnapshotError, chemistry};
pub use stock_view::{Stock, StockView};
pub use structure::BlockStructure;
