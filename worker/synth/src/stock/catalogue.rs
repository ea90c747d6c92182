//! The building blocks as the search sees them: what can be bought, under which masks.
//!
//! Compact and immutable. Lookup is a binary search over the molecules' sorted keys, and where that finds nothing
//! another over the skeletons that tautomers and charged forms share: who needs 2-pyridone can buy what a vendor
//! calls 2-hydroxypyridine. Few molecules have a block's skeleton, so most cost no more than the two searches.

use std::thread;

use chem::{Fingerprint, Key, Molecule, Skeleton, TautomerKey};

use crate::cores::all_cores;
use crate::stock::nearest::NearestIndex;

/// Number of regions that prices and lead times are kept for.
pub const REGIONS: usize = 9;

/// A delivery region: 0 is anywhere, then US, CA, GB, FR, CH, DE, CN, AU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Region(u8);

impl Region {
    /// No particular region: the best offer anywhere.
    pub const ANYWHERE: Self = Self(0);

    /// The region of this number, `None` if there is none.
    #[must_use]
    pub fn new(number: usize) -> Option<Self> {
        u8::try_from(number).ok().filter(|_| number < REGIONS).map(Self)
    }

    /// The region of an ISO 3166-1 alpha-2 code in upper case.
    #[must_use]
    pub fn of_country(code: &str) -> Option<Self> {
        const CODES: [&str; REGIONS - 1] = ["US", "CA", "GB", "FR", "CH", "DE", "CN", "AU"];
        CODES.iter().position(|&known| known == code).and_then(|at| Self::new(at + 1))
    }

    /// Its place in [`CatalogueRow::usd_per_gram`] and [`CatalogueRow::lead_time_days`].
    #[must_use]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// Which building blocks a search must not use. `None` is no limit.
///
/// A block whose price or lead time in the region is not known is not "at or above" a limit and stays.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Masks {
    /// Excludes a molecular weight at or above this, daltons.
    pub mw_gte: Option<f64>,
    /// Excludes a best price at or above this, USD per gram.
    pub usd_gte: Option<f64>,
    /// Excludes a best lead time at or above this, days.
    pub lead_gte: Option<f64>,
    /// The region that prices and lead times are looked up for.
    pub region: Region,
}

/// One building block on its way into a [`Catalogue`].
#[derive(Debug, Clone, PartialEq)]
pub struct CatalogueRow {
    /// The catalogue's integer for it.
    pub id: i32,
    /// Canonical SMILES of the major component.
    pub smiles: String,
    /// Average molecular weight, daltons.
    pub mw: f32,
    /// Morgan fingerprint, radius 2.
    pub fingerprint: Fingerprint,
    /// USD per gram of the best offer that ships to each [`Region`].
    pub usd_per_gram: [Option<f32>; REGIONS],
    /// Days of the quickest offer that ships to each [`Region`].
    pub lead_time_days: [Option<f32>; REGIONS],
}

/// A building block's place in its [`Catalogue`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockIndex(pub(crate) u32);

impl BlockIndex {
    fn at(self) -> usize {
        self.0 as usize
    }
}

/// What tells the forms of a building block, tautomers and charged ones, from other molecules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Form {
    skeleton: Skeleton,
    key: TautomerKey,
    /// Of several blocks that are forms of one molecule the lowest comes first.
    id: i32,
    block: BlockIndex,
}

/// All building blocks, for lookup by molecule and by similarity.
#[derive(Debug)]
pub struct Catalogue {
    /// Each block's molecule, ascending; blocks are numbered in this order.
    keys: Vec<Key>,
    /// Each block's, ascending.
    forms: Vec<Form>,
    ids: Vec<i32>,
    mw: Vec<f32>,
    /// Per block and region; NaN where not known.
    usd_per_gram: Vec<[f32; REGIONS]>,
    lead_time_days: Vec<[f32; REGIONS]>,
    /// Block `i` is `smiles[starts[i]..starts[i + 1]]`.
    starts: Vec<u64>,
    smiles: String,
    nearest: NearestIndex,
    unreadable: usize,
}

impl Catalogue {
    /// Builds the catalogue, on all cores of the process.
    #[must_use]
    pub fn from_rows(rows: impl IntoIterator<Item = CatalogueRow>) -> Self {
        Self::from_rows_on(rows, all_cores())
    }

    /// Builds the catalogue, on `cores` cores. Of several rows for the same molecule the one with the lowest id
    /// stays; rows whose SMILES cannot be read are left out and [counted](Self::unreadable).
    #[must_use]
    pub fn from_rows_on(rows: impl IntoIterator<Item = CatalogueRow>, cores: usize) -> Self {
        let rows: Vec<_> = rows.into_iter().collect();
        let all = rows.len();
        let keys = keys(&rows, cores);
        let mut rows: Vec<(Keys, CatalogueRow)> =
            keys.into_iter().zip(rows).filter_map(|(keys, row)| Some((keys?, row))).collect();
        let unreadable = all - rows.len();
        rows.sort_unstable_by_key(|(keys, row)| (keys.own, row.id));
        rows.dedup_by_key(|(keys, _)| keys.own);
        let form = |(at, (keys, row)): (u32, &(Keys, CatalogueRow))| Form {
            skeleton: keys.skeleton,
            key: keys.tautomers,
            id: row.id,
            block: BlockIndex(at),
        };
        let mut forms: Vec<Form> = (0..).zip(&rows).map(form).collect();
        forms.sort_unstable();

        let known = |values: &[Option<f32>; REGIONS]| values.map(|value| value.unwrap_or(f32::NAN));
        let mut smiles = String::with_capacity(rows.iter().map(|(_, row)| row.smiles.len()).sum());
        let mut starts = Vec::with_capacity(rows.len() + 1);
        starts.push(0);
        for (_, row) in &rows {
            smiles.push_str(&row.smiles);
            starts.push(smiles.len() as u64);
        }
        Self {
            keys: rows.iter().map(|(keys, _)| keys.own).collect(),
            forms,
            unreadable,
            ids: rows.iter().map(|(_, row)| row.id).collect(),
            mw: rows.iter().map(|(_, row)| row.mw).collect(),
            usd_per_gram: rows.iter().map(|(_, row)| known(&row.usd_per_gram)).collect(),
            lead_time_days: rows.iter().map(|(_, row)| known(&row.lead_time_days)).collect(),
            nearest: NearestIndex::new(rows.iter().map(|(_, row)| &row.fingerprint)),
            starts,
            smiles,
        }
    }

    /// Number of building blocks.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there is no building block.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// How many rows were left out because their SMILES cannot be read.
    #[must_use]
    pub fn unreadable(&self) -> usize {
        self.unreadable
    }

    /// The building block that is this molecule, if `masks` let a route buy it; else the one with the lowest id that
    /// they do and that is a tautomer or a charged form of it.
    #[must_use]
    pub fn find(&self, molecule: &Molecule, masks: &Masks) -> Option<BlockIndex> {
        let own = self.keys.binary_search(&molecule.key()).ok();
        let own = own.map(|at| BlockIndex(u32::try_from(at).expect("catalogue: fewer than 2^32 blocks")));
        own.filter(|&block| self.is_allowed(block, masks)).or_else(|| {
            let skeleton = molecule.skeleton();
            let start = self.forms.partition_point(|form| form.skeleton < skeleton);
            let alike = self.forms[start..].iter().take_while(|form| form.skeleton == skeleton);
            alike
                .filter(|form| form.key == molecule.tautomer_key())
                .map(|form| form.block)
                .find(|&block| self.is_allowed(block, masks))
        })
    }

    /// Whether `masks` let a route buy `block`.
    #[must_use]
    pub fn is_allowed(&self, block: BlockIndex, masks: &Masks) -> bool {
        let region = masks.region.index();
        let below = |value: f32, limit: Option<f64>| {
            // NaN, not known, is not at or above any limit. The limit is rounded as the value was.
            limit.is_none_or(|limit| value.is_nan() || value < limit as f32)
        };
        below(self.mw[block.at()], masks.mw_gte)
            && below(self.usd_per_gram[block.at()][region], masks.usd_gte)
            && below(self.lead_time_days[block.at()][region], masks.lead_gte)
    }

    /// Tanimoto similarity of `fingerprint` to the nearest block that `masks` allow, and that block; the
    /// lowest-numbered of several. `None` when no block is allowed.
    #[must_use]
    pub fn nearest(&self, fingerprint: &Fingerprint, masks: &Masks) -> Option<(BlockIndex, f32)> {
        self.nearest
            .find(fingerprint, |block| self.is_allowed(BlockIndex(block), masks))
            .map(|(block, similarity)| (BlockIndex(block), similarity))
    }

    /// The catalogue's integer for `block`.
    #[must_use]
    pub fn id(&self, block: BlockIndex) -> i32 {
        self.ids[block.at()]
    }

    /// Canonical SMILES of `block`.
    #[must_use]
    pub fn smiles(&self, block: BlockIndex) -> &str {
        let range = self.starts[block.at()] as usize..self.starts[block.at() + 1] as usize;
        &self.smiles[range]
    }

    /// Molecular weight of `block`, daltons.
    #[must_use]
    pub fn mw(&self, block: BlockIndex) -> f32 {
        self.mw[block.at()]
    }

    /// USD per gram of the best offer for `block` that ships to `region`, if known.
    #[must_use]
    pub fn usd_per_gram(&self, block: BlockIndex, region: Region) -> Option<f32> {
        Some(self.usd_per_gram[block.at()][region.index()]).filter(|price| !price.is_nan())
    }

    /// Days of the quickest offer for `block` that ships to `region`, if known.
    #[must_use]
    pub fn lead_time_days(&self, block: BlockIndex, region: Region) -> Option<f32> {
        Some(self.lead_time_days[block.at()][region.index()]).filter(|days| !days.is_nan())
    }
}

/// What a molecule is found by.
#[derive(Clone, Copy)]
struct Keys {
    own: Key,
    skeleton: Skeleton,
    tautomers: TautomerKey,
}

/// The keys of each row's molecule; `None` where the SMILES cannot be read.
fn keys(rows: &[CatalogueRow], cores: usize) -> Vec<Option<Keys>> {
    let keys = |row: &CatalogueRow| {
        let molecule = Molecule::trusted(&row.smiles).ok()?;
        Some(Keys { own: molecule.key(), skeleton: molecule.skeleton(), tautomers: molecule.tautomer_key() })
    };
    thread::scope(|scope| {
        let parts: Vec<_> = rows
            .chunks(rows.len().div_ceil(cores.max(1)).max(1))
            .map(|part| scope.spawn(move || part.iter().map(keys).collect::<Vec<_>>()))
            .collect();
        parts
            .into_iter()
            .flat_map(|part| part.join().expect("catalogue: reading a molecule does not panic"))
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: i32, smiles: &str) -> CatalogueRow {
        CatalogueRow {
            id,
            smiles: smiles.to_owned(),
            mw: 180.159,
            fingerprint: Fingerprint::from_on_bits([id as u16]),
            usd_per_gram: [Some(0.1); REGIONS],
            lead_time_days: [None; REGIONS],
        }
    }

    /// The id of the block that is found for a molecule without masks.
    fn found(catalogue: &Catalogue, smiles: &str) -> Option<i32> {
        let molecule: Molecule = smiles.parse().unwrap();
        catalogue.find(&molecule, &Masks::default()).map(|block| catalogue.id(block))
    }

    #[test]
    fn every_block_is_found_by_its_molecule_and_nothing_else_is() {
        let rows = (0..200).map(|id| row(id, &"C".repeat(id as usize + 1)));

        let catalogue = Catalogue::from_rows(rows);

        for id in 0..200 {
            assert_eq!(found(&catalogue, &"C".repeat(id as usize + 1)), Some(id));
        }
        assert_eq!(found(&catalogue, "CCO"), None);
    }

    #[test]
    fn of_rows_for_one_molecule_the_lowest_id_stays() {
        let catalogue = Catalogue::from_rows([row(9, "CO"), row(4, "CO"), row(7, "CN")]);

        assert_eq!(catalogue.len(), 2);
        assert_eq!(found(&catalogue, "CO"), Some(4));
    }

    #[test]
    fn a_tautomer_or_charged_form_of_a_block_is_that_block() {
        let rows = [row(7, "O=c1cccc[nH]1"), row(2, "Cc1cc[nH]n1"), row(3, "NCC(=O)O"), row(4, "CC[NH3+]")];

        let catalogue = Catalogue::from_rows(rows);

        for (form, id) in [
            ("Oc1ccccn1", Some(7)),
            ("[O-]c1ccccn1", Some(7)),
            ("Cc1ccn[nH]1", Some(2)),
            ("[NH3+]CC(=O)[O-]", Some(3)),
            ("CCN", Some(4)),
            ("Oc1cccnc1", None),
            ("Cc1cnc[nH]1", None),
        ] {
            assert_eq!(found(&catalogue, form), id, "{form}");
        }
    }

    #[test]
    fn a_molecules_own_block_goes_before_its_tautomers_unless_masks_exclude_it() {
        let dear = CatalogueRow { usd_per_gram: [Some(9.0); REGIONS], ..row(8, "Oc1ccccn1") };
        let catalogue = Catalogue::from_rows([dear, row(3, "O=c1cccc[nH]1")]);
        let masks = Masks { usd_gte: Some(1.0), ..Masks::default() };

        assert_eq!(found(&catalogue, "Oc1ccccn1"), Some(8));
        let block = catalogue.find(&"Oc1ccccn1".parse().unwrap(), &masks).unwrap();
        assert_eq!(catalogue.id(block), 3);
    }

    #[test]
    fn a_limit_written_as_the_value_is_excludes_it() {
        // 180.159 and 0.1 are not f32 numbers: the limits must be rounded as the values were.
        let catalogue = Catalogue::from_rows([row(1, "CO")]);
        let block = catalogue.find(&"CO".parse().unwrap(), &Masks::default()).unwrap();

        for masks in [
            Masks { mw_gte: Some(180.159), ..Masks::default() },
            Masks { usd_gte: Some(0.1), ..Masks::default() },
        ] {
            assert!(!catalogue.is_allowed(block, &masks), "{masks:?}");
        }
    }

    #[test]
    fn the_nearest_block_is_an_allowed_one() {
        let catalogue = Catalogue::from_rows([row(1, "CO"), CatalogueRow { mw: 10.0, ..row(2, "CN") }]);
        let masks = Masks { mw_gte: Some(100.0), ..Masks::default() };
        let query = Fingerprint::from_on_bits([1, 2]);

        let (block, similarity) = catalogue.nearest(&query, &masks).unwrap();

        assert_eq!((catalogue.id(block), similarity), (2, 0.5));
    }

    #[test]
    fn regions_are_numbered_as_the_contract_lists_them() {
        assert_eq!(Region::of_country("US"), Region::new(1));
        assert_eq!(Region::of_country("AU"), Region::new(8));
        assert_eq!((Region::of_country("XX"), Region::new(9)), (None, None));
        assert_eq!(Region::ANYWHERE.index(), 0);
    }
}
