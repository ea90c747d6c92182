//! A partial sample.
//!
//! Drawing may be interrupted and resumed at any time; molecules already drawn are kept. A string depends only on the
//! seed and its number, so interruptions do not change the sample.

use crate::molecule_collector::MoleculeCollector;

/// Molecules of a sample that have been drawn so far ([`Sampler::resume`](crate::Sampler::resume)).
#[derive(Debug)]
pub struct PartialSample {
    pub(crate) seed: u64,
    pub(crate) collector: MoleculeCollector,
}

impl PartialSample {
    /// Creates a sample of `size` molecules with none drawn.
    #[must_use]
    pub fn new(size: usize, seed: u64) -> Self {
        Self { seed, collector: MoleculeCollector::new(size) }
    }

    /// Sets the size to `size` molecules; the first of them stay the same.
    pub fn grow(&mut self, size: usize) {
        self.collector.grow(size);
    }

    /// Returns the molecules drawn so far, which are the first of the sample.
    #[must_use]
    pub fn molecules(&self) -> &[String] {
        self.collector.molecules()
    }

    /// Returns the number of valid strings that the conditions refused so far, by the index of the constraint.
    #[must_use]
    pub fn refused(&self) -> &[u64] {
        self.collector.refused()
    }

    /// Returns the number of molecules wanted in total.
    #[must_use]
    pub fn size(&self) -> usize {
        self.collector.size()
    }
}
