//! The parts that templates take a molecule apart into, each made once.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::outcome::Precursor;

/// The parts made of one molecule, or of several in a flask, by their digests.
#[derive(Debug, Default)]
pub(crate) struct Parts(Mutex<HashMap<u64, Precursor>>);

impl Parts {
    /// The part with this digest, made if it is new; `None` where it cannot be made.
    pub fn get_or_make(&self, digest: u64, make: impl FnOnce() -> Option<Precursor>) -> Option<Precursor> {
        // What is in the map was put there whole, so a panic elsewhere leaves nothing half done.
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(part) = known().get(&digest) {
            return Some(part.clone());
        }
        let part = make()?;
        known().insert(digest, part.clone());
        Some(part)
    }
}
