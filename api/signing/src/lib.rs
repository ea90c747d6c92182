//! The keys that sign tokens, as they are stored: made, sealed, opened.
//!
//! The API makes the first key and signs with what is stored; the operator's command makes the next. Both do
//! it here, so that they agree on the format. Nothing here does I/O.

mod key;
mod seal;

pub use key::{StoredKey, generate, thumbprint};
pub use seal::{NotASecret, OpenError, Secret, is_sealed, open, seal};
