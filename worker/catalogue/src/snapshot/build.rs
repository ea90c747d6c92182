//! Writing a snapshot: the same rows, in any order and on any number of cores, give the same bytes.
//!
//! Rows are kept as columns of the data that the file needs, about 130 bytes for a block and 12 for an offer, until
//! all of them are there and can be sorted.

use std::hash::Hash;
use std::io::{self, Cursor, Seek, Write};
use std::thread;

use bytemuck::NoUninit;
use chem::{Fingerprint, Molecule};
use rustc_hash::{FxHashMap, FxHashSet};

use super::counts::EncodedCounts;
use super::format::{Section, Writer};
use super::{SMILES_STRIDE, keys, text};
use crate::nearest::tile::{self, BITS};
use crate::offer::{self, MAX_PROFILES, MAX_VENDORS, Offer, PackedOffer, Profile};

/// Rows whose molecules are parsed together.
const BATCH: usize = 1 << 14;
/// Numbers written together.
const PART: usize = 1 << 13;

/// A building block to be written to a [`Snapshot`](super::Snapshot).
#[derive(Debug, Clone, PartialEq)]
pub struct BlockRow {
    /// Catalogue id.
    pub id: i32,
    /// Canonical SMILES of the major component.
    pub smiles: String,
    /// Average molecular weight, daltons.
    pub mw: f32,
    /// Morgan fingerprint, radius 2.
    pub fingerprint: Fingerprint,
}

impl BlockRow {
    /// Row of a molecule that is its own major component.
    #[must_use]
    pub fn of(id: i32, molecule: &Molecule) -> Self {
        Self {
            id,
            smiles: molecule.canonical_smiles(),
            mw: molecule.molecular_weight() as f32,
            fingerprint: molecule.fingerprint(),
        }
    }
}

/// Reason why no snapshot file can be built from the rows.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The file cannot be written.
    #[error("the snapshot cannot be written")]
    Io(#[from] io::Error),
    /// There are more vendors than a snapshot can number.
    #[error("the catalogue has more than {MAX_VENDORS} vendors")]
    Vendors,
    /// There are more combinations of lead times and countries than a snapshot can number.
    #[error("the catalogue has more than {MAX_PROFILES} combinations of lead times and countries")]
    Profiles,
    /// There are more blocks or offers than 32 bits can number.
    #[error("the catalogue has more than {} building blocks or offers", u32::MAX)]
    Many,
    /// Two molecules agree in the stored leading bits of their keys.
    #[error("the building blocks {0} and {1} cannot be told apart")]
    Alike(i32, i32),
}

/// Collects building blocks and offers, and writes them as a snapshot.
#[derive(Debug, Default)]
pub struct Builder {
    cores: usize,
    waiting: Vec<BlockRow>,
    rows: Rows,
    /// Block id, and the offer's terms with vendor and profile numbered in the order of arrival.
    offers: Vec<(i32, PackedOffer)>,
    vendors: FxHashMap<i32, usize>,
    private: FxHashSet<i32>,
    profiles: FxHashMap<Profile, usize>,
    unreadable: u64,
}

/// Columns of the rows with a valid SMILES.
#[derive(Debug, Default)]
struct Rows {
    keys: Vec<u128>,
    /// Highest 48 bits of the skeleton key, then 16 bits of the tautomer key.
    forms: Vec<u64>,
    ids: Vec<i32>,
    weights: Vec<f32>,
    smiles: ConcatenatedLists<u8>,
    bits: ConcatenatedLists<u16>,
}

/// Concatenated lists.
#[derive(Debug)]
struct ConcatenatedLists<T> {
    starts: Vec<u64>,
    all: Vec<T>,
}

impl<T> Default for ConcatenatedLists<T> {
    fn default() -> Self {
        Self { starts: vec![0], all: Vec::new() }
    }
}

impl<T> ConcatenatedLists<T> {
    /// Ends the current list.
    fn end(&mut self) {
        self.starts.push(self.all.len() as u64);
    }

    fn list(&self, at: u32) -> &[T] {
        let at = at as usize;
        &self.all[self.starts[at] as usize..self.starts[at + 1] as usize]
    }
}

/// Lookup keys of a row's molecule.
struct Keys {
    key: u128,
    form: u64,
    smiles: Vec<u8>,
}

impl Keys {
    /// Returns `None` if the SMILES cannot be parsed.
    fn of(row: &BlockRow) -> Option<Self> {
        let molecule = Molecule::trusted(&row.smiles).ok()?;
        let form = molecule.skeleton().number() & !0xffff | u64::from(keys::stored_tautomer_key(&molecule));
        let mut smiles = Vec::new();
        text::pack(&row.smiles, &mut smiles)?;
        Some(Self { key: molecule.key().number(), form, smiles })
    }
}

impl Builder {
    /// Starts empty; molecules are parsed on `cores` cores.
    #[must_use]
    pub fn new(cores: usize) -> Self {
        Self { cores: cores.max(1), ..Self::default() }
    }

    /// Adds a building block. Of several with the same molecule the lowest id is kept. Blocks with an invalid SMILES
    /// are skipped and counted.
    pub fn block(&mut self, row: BlockRow) {
        self.waiting.push(row);
        if self.waiting.len() >= BATCH * self.cores {
            self.read_waiting();
        }
    }

    /// Adds an offer for the building block with this id.
    ///
    /// # Errors
    /// Fails if there are more vendors or profiles than a snapshot can number.
    pub fn offer(&mut self, block: i32, offer: &Offer) -> Result<(), BuildError> {
        let next = self.vendors.len();
        let vendor = *self.vendors.entry(offer.vendor).or_insert(next);
        let next = self.profiles.len();
        let profile = *self.profiles.entry(offer::profile(offer)).or_insert(next);
        if vendor >= MAX_VENDORS {
            return Err(BuildError::Vendors);
        }
        if profile >= MAX_PROFILES {
            return Err(BuildError::Profiles);
        }
        self.offers.push((block, offer::terms(offer.usd_per_gram, vendor, profile)));
        Ok(())
    }

    /// Marks this vendor as private, visible only to named organisations.
    pub fn private(&mut self, vendor: i32) {
        self.private.insert(vendor);
    }

    /// Writes the file in memory.
    ///
    /// # Errors
    /// Fails if no file can be built from the rows.
    pub fn into_bytes(mut self, version: i64) -> Result<Vec<u8>, BuildError> {
        Ok(self.write(version, Cursor::new(Vec::new()))?.into_inner())
    }

    /// Writes the file for this version of the catalogue and returns the writer.
    ///
    /// # Errors
    /// Fails if no file can be built from the rows, or if it cannot be written.
    pub fn write<W: Write + Seek>(&mut self, version: i64, out: W) -> Result<W, BuildError> {
        self.read_waiting();
        let rows = &self.rows;
        let order = self.order()?;
        let mut writer = Writer::new(out)?;

        let bits = keys::bucket_bits(order.len());
        let key = |row: u32| rows.keys[row as usize];
        writer.section(Section::Keys, mapped(&order, |row| keys::stored_key(key(row), order.len())))?;
        writer
            .section(Section::KeyStarts, [keys::starts(order.iter().map(|&row| (key(row) >> 64) as u64))])?;
        self.write_forms(&order, bits, &mut writer)?;
        writer.section(Section::Ids, mapped(&order, |row| rows.ids[row as usize]))?;
        writer.section(Section::Weights, mapped(&order, |row| rows.weights[row as usize]))?;
        self.write_offers(&order, &mut writer)?;

        let mut smiles_starts = vec![0];
        for part in order.chunks(SMILES_STRIDE) {
            let len: usize = part.iter().map(|&row| rows.smiles.list(row).len()).sum();
            smiles_starts.push(smiles_starts[smiles_starts.len() - 1] + len as u64);
        }
        smiles_starts.pop();
        writer.section(Section::SmilesStarts, [smiles_starts])?;
        writer.section(Section::Smiles, order.iter().map(|&row| rows.smiles.list(row)))?;
        self.write_fingerprints(&order, &mut writer)?;
        Ok(writer.finish(version, order.len() as u64, self.unreadable)?)
    }

    fn read_waiting(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        let part = waiting.len().div_ceil(self.cores.max(1)).max(1);
        let keys: Vec<Option<Keys>> = thread::scope(|scope| {
            let parts: Vec<_> = waiting
                .chunks(part)
                .map(|part| scope.spawn(move || part.iter().map(Keys::of).collect::<Vec<_>>()))
                .collect();
            parts
                .into_iter()
                .flat_map(|part| part.join().expect("build: reading a molecule does not panic"))
                .collect()
        });
        for (row, keys) in waiting.iter().zip(keys) {
            let Some(Keys { key, form, smiles }) = keys else {
                self.unreadable += 1;
                continue;
            };
            self.rows.keys.push(key);
            self.rows.forms.push(form);
            self.rows.ids.push(row.id);
            self.rows.weights.push(row.mw);
            self.rows.smiles.all.extend(smiles);
            self.rows.smiles.end();
            self.rows.bits.all.extend(row.fingerprint.on_bits());
            self.rows.bits.end();
        }
    }

    /// Rows that become blocks, in the order of their keys.
    fn order(&self) -> Result<Vec<u32>, BuildError> {
        let Rows { keys, ids, .. } = &self.rows;
        let rows = u32::try_from(keys.len()).map_err(|_| BuildError::Many)?;
        let key = |row: u32| keys[row as usize];
        let mut order: Vec<u32> = (0..rows).collect();
        order.sort_unstable_by_key(|&row| (key(row), ids[row as usize]));
        order.dedup_by_key(|&mut row| key(row));
        // A file stores the 64 bits that follow those of the bucket.
        let kept = u128::BITS - 64 - keys::bucket_bits(order.len());
        match order.windows(2).find(|pair| key(pair[0]) >> kept == key(pair[1]) >> kept) {
            Some(pair) => Err(BuildError::Alike(ids[pair[0] as usize], ids[pair[1] as usize])),
            None => Ok(order),
        }
    }

    fn write_forms(
        &self,
        order: &[u32],
        bits: u32,
        writer: &mut Writer<impl Write + Seek>,
    ) -> io::Result<()> {
        let form = |block: u32| self.rows.forms[order[block as usize] as usize];
        let id = |block: u32| self.rows.ids[order[block as usize] as usize];
        let mut by_form: Vec<u32> = (0..order.len() as u32).collect();
        // Among blocks with the same stored skeleton bits, the lowest id comes first.
        by_form.sort_unstable_by_key(|&block| (form(block) >> (48 - bits), id(block)));
        let kept = |block: u32| {
            let skeleton = u64::from(keys::stored_skeleton_key(form(block), order.len()));
            skeleton << 48 | (form(block) & 0xffff) << 32 | u64::from(block)
        };
        writer.section(Section::Forms, mapped(&by_form, kept))?;
        writer.section(Section::FormStarts, [keys::starts(by_form.iter().map(|&block| form(block)))])
    }

    fn write_offers(&self, order: &[u32], writer: &mut Writer<impl Write + Seek>) -> Result<(), BuildError> {
        let (vendors, vendor_places) = sorted(&self.vendors);
        let (profiles, profile_places) = sorted(&self.profiles);
        let mut offers = self.offers.clone();
        offers.sort_unstable();
        let placed = |&(_, [price, known]): &(i32, PackedOffer)| {
            let vendor = vendor_places[offer::vendor_of([price, known])];
            let profile = profile_places[offer::profile_of([price, known])];
            [price, offer::terms(None, vendor, profile)[1]]
        };
        let (mut counts, mut all) = (Vec::with_capacity(order.len()), Vec::new());
        for &row in order {
            let id = self.rows.ids[row as usize];
            let first = offers.partition_point(|&(other, _)| other < id);
            let own = offers[first..].iter().take_while(|&&(other, _)| other == id);
            let mut own: Vec<PackedOffer> = own.map(placed).collect();
            offer::keep_best(&mut own);
            counts.push(own.len());
            all.extend(own);
        }
        let EncodedCounts { starts, unary } =
            EncodedCounts::of(counts.into_iter()).ok_or(BuildError::Many)?;
        let vendors: Vec<[i32; 2]> =
            vendors.iter().map(|&vendor| [vendor, i32::from(self.private.contains(&vendor))]).collect();
        writer.section(Section::OfferStarts, [starts])?;
        writer.section(Section::OfferCounts, [unary])?;
        writer.section(Section::Offers, [all])?;
        writer.section(Section::Profiles, [profiles])?;
        writer.section(Section::Vendors, [vendors])?;
        Ok(())
    }

    fn write_fingerprints(&self, order: &[u32], writer: &mut Writer<impl Write + Seek>) -> io::Result<()> {
        let bits_of = |block: u32| self.rows.bits.list(order[block as usize]);
        let mut places: Vec<u32> = (0..order.len() as u32).collect();
        // A stable sort: among blocks with the same number of set bits, lower numbers stay first.
        places.sort_by_key(|&block| bits_of(block).len());
        let count_start = |count| places.partition_point(|&block| bits_of(block).len() < count) as u32;
        let count_starts: Vec<u32> = (0..BITS + 2).map(count_start).collect();
        writer.section(Section::Places, [&places])?;
        writer.section(Section::CountStarts, [count_starts])?;
        let (mut tile_starts, mut column_starts, mut next) = (Vec::new(), Vec::new(), 0);
        let columns = tile::tiles(&places, bits_of, self.cores).map(|tile| {
            tile_starts.push(next);
            next += tile.columns.len() as u64;
            column_starts.push(tile.starts);
            tile.columns
        });
        writer.section(Section::Columns, columns)?;
        writer.section(Section::TileStarts, [tile_starts])?;
        writer.section(Section::ColumnStarts, column_starts)
    }
}

/// Numbers of a section, computed part by part.
fn mapped<T: NoUninit>(order: &[u32], number: impl Fn(u32) -> T) -> impl Iterator<Item = Vec<T>> {
    order.chunks(PART).map(move |part| part.iter().map(|&row| number(row)).collect())
}

/// Sorts items that were numbered on arrival; also returns the sorted index of each old number.
fn sorted<T: Copy + Ord + Hash>(numbers: &FxHashMap<T, usize>) -> (Vec<T>, Vec<usize>) {
    let mut all: Vec<T> = numbers.keys().copied().collect();
    all.sort_unstable();
    let mut places = vec![0; all.len()];
    for (place, one) in all.iter().enumerate() {
        places[numbers[one]] = place;
    }
    (all, places)
}
