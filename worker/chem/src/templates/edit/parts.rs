//! The parts that templates take a molecule apart into, each made once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::molecules::bytes::block;
use crate::molecules::molecule::Molecule;

/// A molecule that a template makes of others.
#[derive(Debug, Clone)]
pub struct Precursor {
    /// The molecule, its atoms in no particular order.
    pub molecule: Molecule,
    /// For each atom of [`Self::molecule`], the atom it was before; `None` for an atom the template adds.
    pub sources: Arc<[Option<u32>]>,
}

impl Precursor {
    /// About how many bytes it takes beside itself; clones share them.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.molecule.bytes() + block(size_of_val(&*self.sources) + 2 * size_of::<usize>())
    }

    /// Whether a clone of it is held by somebody else.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        Arc::strong_count(&self.sources) > 1
    }
}

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

    /// Forgets the parts that nobody else holds, and says about how many bytes the others take.
    pub fn tidy(&self) -> usize {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|_, part| part.is_shared());
        known.shrink_to_fit();
        let entries = block(known.capacity() * 8 / 7 * size_of::<(u64, Precursor)>());
        entries + known.values().map(Precursor::bytes).sum::<usize>()
    }
}
