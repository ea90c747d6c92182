//! All building blocks and their offers, as a search sees them, in one read-only memory-mapped file.
//!
//! Processes of a machine that map the same file share its memory. All data is sorted and of fixed width, so it is
//! used in place. Opening builds nothing; it only verifies the checksums and checks every stored position once.

mod build;
mod counts;
mod format;
mod keys;
mod map;
mod text;

use std::fs::File;
use std::path::Path;
use std::sync::OnceLock;

use bytemuck::AnyBitPattern;
use chem::{Fingerprint, Molecule};

pub use build::{BlockRow, BuildError, Builder};
pub use format::{FORMAT, Section, SnapshotError, chemistry};

use crate::masks::Visibility;
use crate::nearest::tile::{BITS, STARTS, TILE};
use crate::nearest::{BlockFilter, FingerprintIndex, NearestLimits};
use crate::offer::{self, PackedOffer, Profile};
use counts::OfferCounts;
use format::Header;
use map::Bytes;

/// Blocks between two stored starts of packed SMILES.
const SMILES_STRIDE: usize = 16;

/// Index of a building block in its [`Snapshot`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Block(pub(crate) u32);

impl Block {
    /// The block of this index, which need not exist.
    #[must_use]
    pub fn new(number: u32) -> Self {
        Self(number)
    }

    fn at(self) -> usize {
        self.0 as usize
    }
}

/// All building blocks, for lookup by molecule and by similarity.
#[derive(Debug)]
pub struct Snapshot {
    bytes: Bytes,
    header: Header,
    /// Sorted on first use.
    by_weight: OnceLock<Vec<Block>>,
}

impl Snapshot {
    /// Maps a file, which must not change from then on, and verifies all of it on `cores` cores.
    ///
    /// # Errors
    /// Reports the part of the file that differs from what was written.
    pub fn open(path: &Path, cores: usize) -> Result<Self, SnapshotError> {
        Self::of(Bytes::map(&File::open(path)?)?, cores)
    }

    /// Opens a snapshot from a file's bytes.
    ///
    /// # Errors
    /// Reports the part of the bytes that differs from what was written.
    pub fn from_bytes(bytes: &[u8], cores: usize) -> Result<Self, SnapshotError> {
        Self::of(Bytes::owned(bytes), cores)
    }

    fn of(bytes: Bytes, cores: usize) -> Result<Self, SnapshotError> {
        let header = Header::read(&bytes, cores)?;
        let snapshot = Self { bytes, header, by_weight: OnceLock::new() };
        snapshot.check()?;
        Ok(snapshot)
    }

    /// Number of building blocks.
    #[must_use]
    pub fn len(&self) -> usize {
        self.header.blocks as usize
    }

    /// Returns true if there is no building block.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of rows that were skipped because their SMILES cannot be parsed.
    #[must_use]
    pub fn unreadable(&self) -> u64 {
        self.header.unreadable
    }

    /// Version of the catalogue that the snapshot was built from.
    #[must_use]
    pub fn version(&self) -> i64 {
        self.header.version
    }

    /// Length of the file, and the part of it that the fingerprints take.
    #[must_use]
    pub fn bytes(&self) -> (usize, usize) {
        let fingerprints = Section::ALL.into_iter().filter(|section| section.is_of_fingerprints());
        (self.bytes.len(), fingerprints.map(|section| self.header.range(section).len()).sum())
    }

    /// Looks up the building block of this molecule.
    #[must_use]
    pub fn find(&self, molecule: &Molecule) -> Option<Block> {
        let key = molecule.key().number();
        let bucket = keys::place(self.section(Section::KeyStarts), (key >> 64) as u64);
        let stored_key = keys::stored_key(key, self.len());
        let keys: &[u64] = &self.section(Section::Keys)[bucket.clone()];
        keys.iter().position(|&key| key == stored_key).map(|at| Block((bucket.start + at) as u32))
    }

    /// Building blocks that are a tautomer or a charged form of this molecule and satisfy `is_allowed`, the lowest id
    /// first. The file distinguishes tautomer keys by 16 bits only, so each candidate is verified.
    pub fn forms(
        &self,
        molecule: &Molecule,
        is_allowed: impl Fn(Block) -> bool,
    ) -> impl Iterator<Item = Block> {
        let skeleton = molecule.skeleton().number();
        let bucket = keys::place(self.section(Section::FormStarts), skeleton);
        let skeleton_key = keys::stored_skeleton_key(skeleton, self.len());
        let forms: &[u64] = &self.section(Section::Forms)[bucket];
        let alike = forms.iter().filter(move |&&form| (form >> 48) as u16 == skeleton_key);
        let of_same_form = alike.filter(|&&form| (form >> 32) as u16 == keys::stored_tautomer_key(molecule));
        let blocks = of_same_form.map(|&form| Block(form as u32));
        blocks.filter(move |&block| is_allowed(block) && self.is_form(block, molecule))
    }

    fn is_form(&self, block: Block, molecule: &Molecule) -> bool {
        Molecule::trusted(&self.smiles(block))
            .is_ok_and(|sold| sold.tautomer_key() == molecule.tautomer_key())
    }

    /// Catalogue id of `block`.
    #[must_use]
    pub fn id(&self, block: Block) -> i32 {
        self.section(Section::Ids)[block.at()]
    }

    /// Canonical SMILES of `block`.
    #[must_use]
    pub fn smiles(&self, block: Block) -> String {
        let starts: &[u64] = self.section(Section::SmilesStarts);
        let packed = &self.section::<u8>(Section::Smiles)[starts[block.at() / SMILES_STRIDE] as usize..];
        let mut each = packed.split(|&byte| byte == text::END);
        text::unpack(each.nth(block.at() % SMILES_STRIDE).unwrap_or_default())
    }

    /// Molecular weight of `block`, daltons.
    #[must_use]
    pub fn mw(&self, block: Block) -> f32 {
        self.section(Section::Weights)[block.at()]
    }

    pub(crate) fn offers(&self, block: Block) -> &[PackedOffer] {
        let (starts, unary) = (self.section(Section::OfferStarts), self.section(Section::OfferCounts));
        &self.section(Section::Offers)[OfferCounts { starts, unary }.offers(block.at())]
    }

    pub(crate) fn profiles(&self) -> &[Profile] {
        self.section(Section::Profiles)
    }

    /// The vendors' numbers in the database, and their visibility.
    pub fn vendors(&self) -> impl ExactSizeIterator<Item = (i32, Visibility)> {
        let visibility = |is_private| if is_private == 0 { Visibility::Public } else { Visibility::Private };
        let vendors: &[[i32; 2]] = self.section(Section::Vendors);
        vendors.iter().map(move |&[vendor, is_private]| (vendor, visibility(is_private)))
    }

    /// All blocks by ascending weight, then by id.
    #[must_use]
    pub fn by_weight(&self) -> &[Block] {
        self.by_weight.get_or_init(|| {
            let (weights, ids): (&[f32], &[i32]) =
                (self.section(Section::Weights), self.section(Section::Ids));
            let mut blocks: Vec<Block> = (0..self.len() as u32).map(Block).collect();
            blocks.sort_unstable_by(|a, b| {
                let by_id = || ids[a.at()].cmp(&ids[b.at()]);
                weights[a.at()].total_cmp(&weights[b.at()]).then_with(by_id)
            });
            blocks
        })
    }

    /// For each fingerprint, the blocks within `limits` that are allowed and their similarities: the most similar
    /// first, then the lowest number. Compares on `cores` cores.
    pub(crate) fn nearest(
        &self,
        fingerprints: &[Fingerprint],
        limits: NearestLimits,
        allowed: &BlockFilter<'_>,
        cores: usize,
    ) -> Vec<Vec<(Block, f32)>> {
        let index = FingerprintIndex {
            places: self.section(Section::Places),
            count_starts: self.section(Section::CountStarts),
            tile_starts: self.section(Section::TileStarts),
            column_starts: self.section(Section::ColumnStarts),
            columns: self.section(Section::Columns),
        };
        let blocks = |found: Vec<(u32, f32)>| {
            found.into_iter().map(|(block, similarity)| (Block(block), similarity)).collect()
        };
        index.nearest_on(fingerprints, limits, allowed, cores).into_iter().map(blocks).collect()
    }

    /// Content of a section; its length and alignment were checked when the file was opened.
    fn section<T: AnyBitPattern>(&self, section: Section) -> &[T] {
        bytemuck::cast_slice(&self.bytes[self.header.range(section)])
    }

    /// Checks every stored position, so that reading cannot go out of bounds.
    fn check(&self) -> Result<(), SnapshotError> {
        let blocks = self.len();
        // Block indices are 32 bits wide.
        if u32::try_from(self.header.blocks).is_err() {
            return Err(SnapshotError::Header);
        }
        let is_block = |&block: &u32| (block as usize) < blocks;
        self.section_of_len::<u64>(Section::Keys, blocks)?;
        self.check_starts(Section::KeyStarts, keys::starts_len(blocks), blocks)?;
        let forms: &[u64] = self.section_of_len(Section::Forms, blocks)?;
        ensure(forms.iter().all(|&form| is_block(&(form as u32))), Section::Forms)?;
        self.check_starts(Section::FormStarts, keys::starts_len(blocks), blocks)?;
        self.section_of_len::<i32>(Section::Ids, blocks)?;
        self.section_of_len::<f32>(Section::Weights, blocks)?;
        self.check_offers(blocks)?;
        self.check_smiles(blocks)?;

        let places: &[u32] = self.section_of_len(Section::Places, blocks)?;
        ensure(places.iter().all(is_block), Section::Places)?;
        self.check_starts(Section::CountStarts, BITS + 2, blocks)?;
        self.check_columns(blocks.div_ceil(TILE))
    }

    fn check_offers(&self, blocks: usize) -> Result<(), SnapshotError> {
        let offers: &[PackedOffer] = self.cast(Section::Offers)?;
        let counts =
            OfferCounts { starts: self.cast(Section::OfferStarts)?, unary: self.cast(Section::OfferCounts)? };
        ensure(counts.is_consistent(blocks, offers.len()), Section::OfferCounts)?;
        let profiles = self.cast::<Profile>(Section::Profiles)?.len();
        let vendors = self.cast::<[i32; 2]>(Section::Vendors)?.len();
        let is_known =
            |&terms: &PackedOffer| offer::profile_of(terms) < profiles && offer::vendor_of(terms) < vendors;
        ensure(offers.iter().all(is_known), Section::Offers)
    }

    fn check_smiles(&self, blocks: usize) -> Result<(), SnapshotError> {
        let packed: &[u8] = self.cast(Section::Smiles)?;
        let starts: &[u64] = self.section_of_len(Section::SmilesStarts, blocks.div_ceil(SMILES_STRIDE))?;
        ensure(starts.iter().all(|&start| start <= packed.len() as u64), Section::SmilesStarts)
    }

    fn check_columns(&self, tiles: usize) -> Result<(), SnapshotError> {
        let columns = self.cast::<u64>(Section::Columns)?.len() as u64;
        let tile_starts: &[u64] = self.section_of_len(Section::TileStarts, tiles)?;
        let starts: &[u32] = self.section_of_len(Section::ColumnStarts, tiles * STARTS)?;
        let ends = tile_starts.iter().skip(1).copied().chain([columns]);
        for ((starts, &start), end) in starts.chunks(STARTS).zip(tile_starts).zip(ends) {
            let len = starts.last().map(|&last| u64::from(last));
            let is_sound = starts.is_sorted() && start.checked_add(len.unwrap_or(0)) == Some(end);
            ensure(is_sound, Section::ColumnStarts)?;
        }
        ensure(tile_starts.first().is_none_or(|&first| first == 0), Section::TileStarts)
    }

    fn cast<T: AnyBitPattern>(&self, section: Section) -> Result<&[T], SnapshotError> {
        let bytes = &self.bytes[self.header.range(section)];
        bytemuck::try_cast_slice(bytes).map_err(|_| SnapshotError::Damaged(section))
    }

    fn section_of_len<T: AnyBitPattern>(&self, section: Section, len: usize) -> Result<&[T], SnapshotError> {
        let numbers = self.cast(section)?;
        ensure(numbers.len() == len, section)?;
        Ok(numbers)
    }

    /// Checks that starts ascend from 0 to `end`.
    fn check_starts(&self, section: Section, len: usize, end: usize) -> Result<(), SnapshotError> {
        let starts: &[u32] = self.section_of_len(section, len)?;
        let ends = (starts.first().copied(), starts.last().map(|&last| last as usize));
        ensure(ends == (Some(0), Some(end)) && starts.is_sorted(), section)
    }
}

fn ensure(is_sound: bool, section: Section) -> Result<(), SnapshotError> {
    if is_sound { Ok(()) } else { Err(SnapshotError::Damaged(section)) }
}
