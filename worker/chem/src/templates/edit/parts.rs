//! The parts into which templates split a molecule, each made once.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::molecules::bytes::block;
use crate::molecules::molecule::Molecule;

/// A molecule that a template makes from others.
#[derive(Debug, Clone)]
pub struct Precursor {
    /// The molecule, its atoms in no particular order.
    pub molecule: Molecule,
    /// Original atom of each atom of [`Self::molecule`]; `None` for an atom that the template adds.
    pub sources: Arc<[Option<u32>]>,
}

impl Precursor {
    /// Estimates the bytes that it takes in addition to its own size; clones share them.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.molecule.bytes() + block(size_of_val(&*self.sources) + 2 * size_of::<usize>())
    }

    /// Returns true if another owner holds a clone.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        Arc::strong_count(&self.sources) > 1
    }
}

/// The parts made from one molecule, or from the molecules of a reaction mixture, by digest.
#[derive(Debug, Default)]
pub(crate) struct Parts(Mutex<HashMap<u64, Precursor>>);

impl Parts {
    /// Returns the part with this digest, and makes it if it is new; `None` if it cannot be made.
    pub fn get_or_make(&self, digest: u64, make: impl FnOnce() -> Option<Precursor>) -> Option<Precursor> {
        // Entries are inserted whole, so a panic elsewhere leaves no partial entry.
        let known = || self.0.lock();
        if let Some(part) = known().get(&digest) {
            return Some(part.clone());
        }
        let part = make()?;
        known().insert(digest, part.clone());
        Some(part)
    }

    /// Drops the parts without other owners, and returns the approximate bytes of the rest.
    pub fn tidy(&self) -> usize {
        let mut known = self.0.lock();
        known.retain(|_, part| part.is_shared());
        known.shrink_to_fit();
        // The map's own capacity leaves out the gaps of removed entries, whose number hangs on the seed of its hashes.
        let capacity = match known.len() {
            0 => 0,
            1..4 => 3,
            4..8 => 7,
            len => (len * 8 / 7).next_power_of_two() / 8 * 7,
        };
        let entries = block(capacity * 8 / 7 * size_of::<(u64, Precursor)>());
        entries + known.values().map(Precursor::bytes).sum::<usize>()
    }
}
