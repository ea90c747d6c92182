//! The catalogue: readers of vendors' files, building blocks and offers as a search sees them, and purchases.

pub mod common;
mod currency;
mod entry;
mod fault;
mod folder;
mod inchi;
mod lead_time;
mod masks;
mod nearest;
mod number;
mod offer;
pub mod packs;
mod price;
pub mod read;
pub mod refusals;
mod region;
mod shelf;
mod snapshot;
mod structure;

pub use currency::{Currency, NotARate, Rates};
pub use entry::{Entry, InStock, Place, Reject};
pub use fault::Fault;
pub use folder::{Content, Fetched, Folder, Opened, Origin, names_of, version_of};
pub use inchi::inchi_key;
pub use lead_time::IN_STOCK_DAYS;
pub use masks::{Masks, VendorSet, Visibility};
pub use offer::Offer;
pub use region::{COUNTRIES, Region};
pub use shelf::{Shelf, Stock};
pub use snapshot::{Block, BlockRow, BuildError, Builder, Section, Snapshot, SnapshotError, chemistry};
pub use structure::Structure;
