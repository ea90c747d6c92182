//! What one search may buy: a snapshot under its masks.

use std::sync::Arc;
use std::thread::available_parallelism;

use chem::{Fingerprint, Molecule};

use crate::common;
use crate::masks::{Masks, Visibility};
use crate::nearest::{Allowed, Refused, Wanted};
use crate::offer::{self, Offer, Terms};
use crate::snapshot::{Block, BlockRow, Builder, Snapshot};

/// What a search asks of the catalogue. Everything is answered for the masks that it was made for.
pub trait Stock: Sync {
    /// The building block that is this molecule, if it may be bought; else the one with the lowest id that may and that is a
    /// tautomer or a charged form of it.
    fn find(&self, molecule: &Molecule) -> Option<Block>;

    /// The catalogue's integer for `block`.
    fn id(&self, block: Block) -> i32;

    /// Canonical SMILES of `block`, as it is sold.
    fn smiles(&self, block: Block) -> String;

    /// Molecular weight of `block`, daltons.
    fn mw(&self, block: Block) -> f32;

    /// USD per gram of the cheapest offer for `block` that may be used and whose price is known; 0 where there is none and every
    /// laboratory has it.
    fn usd_per_gram(&self, block: Block) -> Option<f32>;

    /// Days of the quickest offer for `block` that may be used and whose lead time is known.
    fn lead_time_days(&self, block: Block) -> Option<f32>;

    /// For each fingerprint the most similar block that may be bought, the lowest-numbered of several, and its Tanimoto
    /// similarity; `None` when nothing may be bought. They are compared on `cores` cores.
    fn nearest(&self, fingerprints: &[Fingerprint], cores: usize) -> Vec<Option<(Block, f32)>>;
}

/// A snapshot under masks.
///
/// Which vendors and profiles pass is found out once, so that a mask costs a look at the block's offers.
#[derive(Debug, Clone)]
pub struct Shelf {
    snapshot: Arc<Snapshot>,
    masks: Masks,
    vendors: Vec<bool>,
    profiles: Vec<bool>,
    /// The place among the vendors of what every laboratory has.
    at_hand: Option<usize>,
    refused: Arc<Refused>,
}

impl Shelf {
    /// The snapshot under these masks.
    #[must_use]
    pub fn new(snapshot: Arc<Snapshot>, masks: Masks) -> Self {
        let allows = |(vendor, visibility): (i32, Visibility)| masks.vendors.allows(vendor, visibility);
        let vendors = snapshot.vendors().map(allows).collect();
        let profiles = snapshot.profiles().iter().map(|profile| offer::passes(profile, &masks)).collect();
        let at_hand = snapshot.vendors().position(|(vendor, _)| vendor == common::VENDOR);
        let refused = Arc::new(Refused::none(snapshot.len()));
        Self { snapshot, masks, vendors, profiles, at_hand, refused }
    }

    /// A shelf in memory with these building blocks and their offers, without masks: for tests and examples.
    ///
    /// # Panics
    /// Panics where no file could be made of them, see [`BuildError`](crate::BuildError).
    #[must_use]
    pub fn in_memory(blocks: impl IntoIterator<Item = (BlockRow, Vec<Offer>)>) -> Self {
        let cores = available_parallelism().map_or(1, usize::from);
        let mut builder = Builder::new(cores);
        for (block, offers) in blocks {
            for offer in offers {
                builder.offer(block.id, &offer).expect("shelf: few vendors and profiles");
            }
            builder.block(block);
        }
        let bytes = builder.into_bytes(0).expect("shelf: a file in memory can be written");
        let snapshot = Snapshot::from_bytes(&bytes, cores).expect("shelf: what was just written is sound");
        Self::new(Arc::new(snapshot), Masks::default())
    }

    /// The same snapshot under other masks.
    #[must_use]
    pub fn under(&self, masks: Masks) -> Self {
        Self::new(Arc::clone(&self.snapshot), masks)
    }

    /// The snapshot.
    #[must_use]
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// Whether a route may buy `block`.
    #[must_use]
    pub fn is_allowed(&self, block: Block) -> bool {
        let offers = self.snapshot.offers(block);
        offer::is_below(Some(self.snapshot.mw(block)), self.masks.mw_gte)
            && (offers.is_empty() || offers.iter().any(|&terms| self.may_use(terms)))
    }

    /// The `most` blocks that may be bought and whose Tanimoto similarity is `least` or more, and that; the most similar first, of
    /// several the lowest-numbered. They are compared on `cores` cores.
    #[must_use]
    pub fn similar(
        &self,
        fingerprint: &Fingerprint,
        least: f32,
        most: usize,
        cores: usize,
    ) -> Vec<(Block, f32)> {
        if most == 0 {
            return Vec::new();
        }
        self.compared(&[*fingerprint], Wanted { most, least }, cores).pop().unwrap_or_default()
    }

    /// The `wanted` blocks for each fingerprint that may be bought.
    fn compared(&self, fingerprints: &[Fingerprint], wanted: Wanted, cores: usize) -> Vec<Vec<(Block, f32)>> {
        let is_allowed = |block| self.is_allowed(Block(block));
        let allowed = Allowed { is_allowed: &is_allowed, refused: &self.refused };
        self.snapshot.nearest(fingerprints, wanted, &allowed, cores)
    }

    fn may_use(&self, terms: Terms) -> bool {
        self.vendors[offer::vendor_of(terms)]
            && self.profiles[offer::profile_of(terms)]
            && offer::is_below(offer::usd_per_gram(terms), self.masks.usd_gte)
    }

    fn usable(&self, block: Block) -> impl Iterator<Item = Terms> {
        self.snapshot.offers(block).iter().copied().filter(|&terms| self.may_use(terms))
    }
}

impl Stock for Shelf {
    fn find(&self, molecule: &Molecule) -> Option<Block> {
        let own = self.snapshot.own(molecule).filter(|&block| self.is_allowed(block));
        own.or_else(|| self.snapshot.forms(molecule, |block| self.is_allowed(block)).next())
    }

    fn id(&self, block: Block) -> i32 {
        self.snapshot.id(block)
    }

    fn smiles(&self, block: Block) -> String {
        self.snapshot.smiles(block)
    }

    fn mw(&self, block: Block) -> f32 {
        self.snapshot.mw(block)
    }

    fn usd_per_gram(&self, block: Block) -> Option<f32> {
        let best = self.usable(block).filter_map(offer::usd_per_gram).min_by(f32::total_cmp);
        let is_at_hand = |terms| Some(offer::vendor_of(terms)) == self.at_hand;
        best.or_else(|| self.usable(block).any(is_at_hand).then_some(0.0))
    }

    fn lead_time_days(&self, block: Block) -> Option<f32> {
        let profiles = self.snapshot.profiles();
        let days = self.usable(block).filter_map(|terms| {
            offer::lead_time_days(&profiles[offer::profile_of(terms)], self.masks.region)
        });
        days.min_by(f32::total_cmp)
    }

    fn nearest(&self, fingerprints: &[Fingerprint], cores: usize) -> Vec<Option<(Block, f32)>> {
        let found = self.compared(fingerprints, Wanted::NEAREST, cores);
        found.into_iter().map(|found| found.first().copied()).collect()
    }
}
