//! Stock of one search: a snapshot filtered by its masks.

use std::sync::Arc;
use std::thread::available_parallelism;

use chem::{Fingerprint, Molecule};

use crate::common_chemicals;
use crate::masks::{Masks, Visibility};
use crate::nearest::{BlockFilter, ExcludedPositions, NearestLimits};
use crate::offer::{self, Offer, PackedOffer};
use crate::snapshot::{Block, BlockRow, Builder, Snapshot};

/// Catalogue queries of a search. Every answer is filtered by the masks of the implementation.
pub trait Stock: Sync {
    /// The building block of this molecule, if it may be bought. Otherwise the allowed block with the lowest id that
    /// is a tautomer or a charged form of it, or one with isotopes that its exchangeable hydrogens also have (CD3OD for
    /// CD3OH).
    fn find(&self, molecule: &Molecule) -> Option<Block>;

    /// Catalogue id of `block`.
    fn id(&self, block: Block) -> i32;

    /// Canonical SMILES of `block`, as sold.
    fn smiles(&self, block: Block) -> String;

    /// Molecular weight of `block`, daltons.
    fn mw(&self, block: Block) -> f32;

    /// USD per gram of the cheapest allowed offer for `block` with a known price; 0 for a common laboratory chemical
    /// without one.
    fn usd_per_gram(&self, block: Block) -> Option<f32>;

    /// Lead time of the quickest allowed offer for `block`, in days, where it is known.
    fn lead_time_days(&self, block: Block) -> Option<f32>;

    /// For each fingerprint, the most similar block that may be bought (on a tie the lowest number) and its Tanimoto
    /// similarity; `None` if nothing may be bought. Compares on `cores` cores.
    fn nearest(&self, fingerprints: &[Fingerprint], cores: usize) -> Vec<Option<(Block, f32)>>;
}

/// A snapshot filtered by masks.
///
/// The masks are evaluated once for every vendor and profile, so that checking a block reads only its offers.
#[derive(Debug, Clone)]
pub struct StockView {
    snapshot: Arc<Snapshot>,
    masks: Masks,
    vendors: Vec<bool>,
    profiles: Vec<bool>,
    /// Index of the vendor of common laboratory chemicals.
    common_vendor: Option<usize>,
    refused: Arc<ExcludedPositions>,
}

impl StockView {
    /// Filters the snapshot by these masks.
    #[must_use]
    pub fn new(snapshot: Arc<Snapshot>, masks: Masks) -> Self {
        let allows = |(vendor, visibility): (i32, Visibility)| masks.vendors.allows(vendor, visibility);
        let vendors = snapshot.vendors().map(allows).collect();
        let profiles = snapshot.profiles().iter().map(|profile| offer::passes(profile, &masks)).collect();
        let common_vendor = snapshot.vendors().position(|(vendor, _)| vendor == common_chemicals::VENDOR);
        let refused = Arc::new(ExcludedPositions::none(snapshot.len()));
        Self { snapshot, masks, vendors, profiles, common_vendor, refused }
    }

    /// Builds an unfiltered stock in memory from these building blocks and offers, for tests and examples.
    ///
    /// # Panics
    /// Panics if no file can be built from them, see [`BuildError`](crate::BuildError).
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

    /// Filters the same snapshot by other masks.
    #[must_use]
    pub fn under(&self, masks: Masks) -> Self {
        Self::new(Arc::clone(&self.snapshot), masks)
    }

    /// The underlying snapshot.
    #[must_use]
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// Returns true if a route may buy `block`.
    #[must_use]
    pub fn is_allowed(&self, block: Block) -> bool {
        let offers = self.snapshot.offers(block);
        offer::is_below(Some(self.snapshot.mw(block)), self.masks.mw_gte)
            && (offers.is_empty() || offers.iter().any(|&terms| self.may_use(terms)))
    }

    /// The `most` most similar blocks that may be bought and have a Tanimoto similarity of `least` or more, with that
    /// similarity; on a tie the lowest number first. Compares on `cores` cores.
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
        self.compared(&[*fingerprint], NearestLimits { most, least }, cores).pop().unwrap_or_default()
    }

    /// For each fingerprint, the `wanted` blocks that may be bought.
    fn compared(
        &self,
        fingerprints: &[Fingerprint],
        wanted: NearestLimits,
        cores: usize,
    ) -> Vec<Vec<(Block, f32)>> {
        let is_allowed = |block| self.is_allowed(Block(block));
        let allowed = BlockFilter { is_allowed: &is_allowed, refused: &self.refused };
        self.snapshot.nearest(fingerprints, wanted, &allowed, cores)
    }

    fn may_use(&self, terms: PackedOffer) -> bool {
        self.vendors[offer::vendor_of(terms)]
            && self.profiles[offer::profile_of(terms)]
            && offer::is_below(offer::usd_per_gram(terms), self.masks.usd_gte)
    }

    fn usable(&self, block: Block) -> impl Iterator<Item = PackedOffer> {
        self.snapshot.offers(block).iter().copied().filter(|&terms| self.may_use(terms))
    }
}

impl Stock for StockView {
    fn find(&self, molecule: &Molecule) -> Option<Block> {
        let find = |molecule: &Molecule| self.snapshot.find(molecule).filter(|&block| self.is_allowed(block));
        find(molecule)
            .or_else(|| self.snapshot.forms(molecule, |block| self.is_allowed(block)).next())
            .or_else(|| find(&molecule.with_exchangeable_deuterium()?))
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
        let is_at_hand = |terms| Some(offer::vendor_of(terms)) == self.common_vendor;
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
        let found = self.compared(fingerprints, NearestLimits::NEAREST, cores);
        found.into_iter().map(|found| found.first().copied()).collect()
    }
}
