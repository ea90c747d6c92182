//! What can be bought: vendors' files read, building blocks and their offers as a search sees them.

mod currency;
mod entry;
mod fault;
mod inchi;
mod lead_time;
mod number;
mod price;
pub mod read;
mod structure;

pub use currency::{Currency, NotARate, Rates};
pub use entry::{Entry, Place, Reject};
pub use fault::Fault;
pub use inchi::inchi_key;
pub use lead_time::{COUNTRIES, IN_STOCK_DAYS};
pub use structure::Structure;
