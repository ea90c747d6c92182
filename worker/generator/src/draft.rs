//! A sample in the making.
//!
//! Drawing may be interrupted at any time: what has been drawn stays, and drawing goes on after it. A string depends on the seed and its
//! number alone, so that the sample becomes the same however often that happens.

use crate::harvest::Harvest;

/// What has been drawn of a sample so far ([`Sampler::go_on`](crate::Sampler::go_on)).
#[derive(Debug)]
pub struct Draft {
    pub(crate) seed: u64,
    pub(crate) harvest: Harvest,
}

impl Draft {
    /// A sample of `size` molecules of which none is drawn.
    #[must_use]
    pub fn new(size: usize, seed: u64) -> Self {
        Self { seed, harvest: Harvest::new(size) }
    }

    /// Wants `size` molecules in all; the first of them stay what they are.
    pub fn grow(&mut self, size: usize) {
        self.harvest.grow(size);
    }

    /// The molecules drawn so far, the first of the sample.
    #[must_use]
    pub fn molecules(&self) -> &[String] {
        self.harvest.molecules()
    }

    /// Molecules wanted in all.
    #[must_use]
    pub fn size(&self) -> usize {
        self.harvest.size()
    }
}
