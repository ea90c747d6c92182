//! Building blocks of the caller, which take precedence over those of the catalogue.
//!
//! They are in stock whatever the masks say. The catalogue's ids go from 0 upwards, so theirs go from -1 downwards,
//! in the order of the request.

use std::collections::HashMap;

use ::catalogue::{Block, Stock};
use chem::{Fingerprint, Limits, Molecule, SmilesError, TautomerKey};
use chrono::Utc;
use contract::{OwnBlock, PricingAnnotation, TreeSearchRequest};

/// Vendor name of the caller's own stock.
pub const VENDOR_NAME: &str = "Own";

/// Positions of own blocks go from this downwards; a catalogue is far smaller.
const LAST_PLACE: u32 = u32::MAX;

/// Caller's building blocks in front of another stock.
pub struct OwnBlocks<'a> {
    others: &'a dyn Stock,
    own: HashMap<Block, Own>,
    /// Blocks by tautomer key; the first of several.
    forms: HashMap<TautomerKey, Block>,
}

struct Own {
    id: i32,
    molecule: Molecule,
    fingerprint: Fingerprint,
    usd_per_gram: Option<f64>,
}

impl<'a> OwnBlocks<'a> {
    /// Puts these blocks in front of `others`.
    ///
    /// # Errors
    /// Fails if one of them is no valid molecule.
    pub fn new(others: &'a dyn Stock, blocks: &[OwnBlock]) -> Result<Self, SmilesError> {
        let (mut own, mut forms) = (HashMap::new(), HashMap::new());
        for (at, block) in (0_u32..).zip(blocks) {
            let place = Block::new(LAST_PLACE - at);
            let molecule = Molecule::parse_one(&block.smiles, Limits::TARGET)?;
            let fingerprint = molecule.fingerprint();
            forms.entry(molecule.tautomer_key()).or_insert(place);
            own.insert(place, Own { id: id(at), molecule, fingerprint, usd_per_gram: block.usd_per_gram });
        }
        Ok(Self { others, own, forms })
    }
}

impl Stock for OwnBlocks<'_> {
    fn find(&self, molecule: &Molecule) -> Option<Block> {
        let own = |molecule: &Molecule| self.forms.get(&molecule.tautomer_key()).copied();
        own(molecule)
            .or_else(|| own(&molecule.with_exchangeable_deuterium()?))
            .or_else(|| self.others.find(molecule))
    }

    fn id(&self, block: Block) -> i32 {
        self.own.get(&block).map_or_else(|| self.others.id(block), |own| own.id)
    }

    fn smiles(&self, block: Block) -> String {
        self.own.get(&block).map_or_else(|| self.others.smiles(block), |own| own.molecule.canonical_smiles())
    }

    fn mw(&self, block: Block) -> f32 {
        #[expect(clippy::cast_possible_truncation, reason = "a weight is told to seven digits")]
        let mw = |own: &Own| own.molecule.molecular_weight() as f32;
        self.own.get(&block).map_or_else(|| self.others.mw(block), mw)
    }

    fn usd_per_gram(&self, block: Block) -> Option<f32> {
        #[expect(clippy::cast_possible_truncation, reason = "a price is told to seven digits")]
        let price = |own: &Own| own.usd_per_gram.map(|usd| usd as f32);
        self.own.get(&block).map_or_else(|| self.others.usd_per_gram(block), price)
    }

    fn lead_time_days(&self, block: Block) -> Option<f32> {
        self.own.get(&block).map_or_else(|| self.others.lead_time_days(block), |_| Some(0.0))
    }

    fn nearest(&self, fingerprints: &[Fingerprint], cores: usize) -> Vec<Option<(Block, f32)>> {
        let others = self.others.nearest(fingerprints, cores);
        let nearer = |(fingerprint, other): (&Fingerprint, Option<(Block, f32)>)| {
            let own = self.own.iter().map(|(&place, own)| (place, own.fingerprint.tanimoto(fingerprint)));
            // Among equally similar ones, the first of the request wins; it has the highest position.
            let own = own.max_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
            own.filter(|own| other.is_none_or(|other| own.1 > other.1)).or(other)
        };
        fingerprints.iter().zip(others).map(nearer).collect()
    }
}

/// Returns true if an offer of an answer is one of the caller's own blocks.
pub fn is_callers(offer: &PricingAnnotation) -> bool {
    offer.major_component_id < 0
}

/// Returns the id of own block number `at`.
fn id(at: u32) -> i32 {
    -1 - i32::try_from(at).unwrap_or_default()
}

/// Returns the offers of an answer for the own blocks among those that its routes use.
pub fn offers(request: &TreeSearchRequest, used: &[i32]) -> Vec<PricingAnnotation> {
    let blocks = (0_u32..).zip(&request.building_blocks_own).filter(|(at, _)| used.contains(&id(*at)));
    let offer = |(at, block): (u32, &OwnBlock)| {
        // The search has parsed it already.
        let molecule = Molecule::parse_one(&block.smiles, Limits::TARGET).ok()?;
        Some(PricingAnnotation {
            major_component_id: id(at),
            full_canonical: molecule.canonical_smiles(),
            major_component: molecule.canonical_smiles(),
            mw: molecule.molecular_weight(),
            vendor_name: VENDOR_NAME.to_owned(),
            cs_id: (at + 1).to_string(),
            normalised_usd: block.usd_per_gram,
            api_timestamp: Utc::now(),
            lead_time_days_to_US: Some(0.0),
            lead_time_days_to_CA: Some(0.0),
            lead_time_days_to_GB: Some(0.0),
            lead_time_days_to_FR: Some(0.0),
            lead_time_days_to_CH: Some(0.0),
            lead_time_days_to_DE: Some(0.0),
            lead_time_days_to_CN: Some(0.0),
            lead_time_days_to_AU: Some(0.0),
            ..PricingAnnotation::default()
        })
    };
    blocks.filter_map(offer).collect()
}

#[cfg(test)]
mod tests {
    use ::catalogue::{BlockRow, Offer, StockView};

    use super::*;

    fn own(smiles: &str, usd_per_gram: Option<f64>) -> OwnBlock {
        OwnBlock { smiles: smiles.to_owned(), usd_per_gram }
    }

    #[test]
    fn the_callers_blocks_come_before_those_for_sale() {
        let sold = |id, smiles: &str| {
            let molecule: Molecule = smiles.parse().unwrap();
            (BlockRow::of(id, &molecule), vec![Offer::of(1).at(7.0).within(5.0)])
        };
        let catalogue = StockView::in_memory([sold(0, "CCO"), sold(1, "CC(=O)O")]);
        let stock = OwnBlocks::new(&catalogue, &[own("NCC", Some(2.0)), own("CC(=O)[O-]", None)]).unwrap();
        let facts = |smiles: &str| {
            let block = stock.find(&smiles.parse().unwrap())?;
            let days = stock.lead_time_days(block);
            Some((stock.id(block), stock.smiles(block), stock.usd_per_gram(block), days))
        };

        assert_eq!(facts("CCN"), Some((-1, "CCN".to_owned(), Some(2.0), Some(0.0))));
        assert_eq!(facts("CC(=O)O"), Some((-2, "CC(=O)[O-]".to_owned(), None, Some(0.0))));
        assert_eq!(facts("CCO"), Some((0, "CCO".to_owned(), Some(7.0), Some(5.0))));
        assert_eq!(facts("CCC"), None);
    }

    #[test]
    fn a_racemate_of_the_caller_is_no_enantiomer_and_a_salt_is_its_parent() {
        let catalogue = StockView::in_memory([]);
        let blocks = [
            own("C[C@H](N)c1ccccc1 |&1:1|", None),
            own("C[C@H](O)c1ccccc1 |o1:1,r|", None),
            own("NCc1ccccc1.Cl.O", None),
        ];
        let stock = OwnBlocks::new(&catalogue, &blocks).unwrap();
        let id = |smiles: &str| stock.find(&smiles.parse().unwrap()).map(|block| stock.id(block));

        for enantiomer in
            ["C[C@H](N)c1ccccc1", "C[C@@H](N)c1ccccc1", "C[C@H](O)c1ccccc1", "C[C@@H](O)c1ccccc1"]
        {
            assert_eq!(id(enantiomer), None, "{enantiomer}");
        }
        assert_eq!(["CC(N)c1ccccc1", "CC(O)c1ccccc1", "NCc1ccccc1"].map(id), [Some(-1), Some(-2), Some(-3)]);
    }

    #[test]
    fn the_nearest_block_may_be_the_callers() {
        let catalogue = StockView::in_memory([]);
        let stock = OwnBlocks::new(&catalogue, &[own("CCN", None)]).unwrap();
        let amine: Molecule = "CCN".parse().unwrap();

        let nearest = stock.nearest(&[amine.fingerprint()], 1);

        assert_eq!(nearest, [Some((Block::new(LAST_PLACE), 1.0))]);
    }
}
