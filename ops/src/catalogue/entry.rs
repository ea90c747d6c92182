//! One row of a vendor's file, understood.
//!
//! The major component is what the entry is bought for, its [parent](chem::Parent): never a counter-ion or a solvate
//! where there is something else, and without the charges that a salt put on it. What comes with it are minor
//! components; they make the gram of the major component dearer.

use std::str;

use chem::{Limits, Molecule, SmilesError};
use csv::ByteRecord;

use super::{
    columns::Columns,
    price::{Pack, Unit, Weights, usd_per_gram},
};

/// An entry ready to be stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Line of the file that it begins on.
    pub line: u64,
    /// Vendor.
    pub vendor_name: String,
    /// Canonical SMILES of the major component, neutral.
    pub smiles: String,
    /// Weight of the major component, daltons.
    pub mw: f64,
    /// Its fingerprint, as the table keeps it.
    pub morgan_bits: Vec<u8>,
    /// Canonical SMILES of the whole entry.
    pub full_canonical: String,
    /// Canonical SMILES of the other components as the entry has them, joined by dots.
    pub minor_components: String,
    /// Weight of the whole entry, daltons.
    pub full_mw: f64,
    /// The name of the counter-ion or solvate that the major component is, for want of another.
    pub counter_ion: Option<&'static str>,
    /// Catalogue entry; `None` leaves it to be derived from the structure.
    pub cs_id: Option<String>,
    /// Catalogue prefix; may be empty.
    pub cs_prefix: String,
    /// Address of the entry; may be empty.
    pub cs_url: String,
    /// Pack size.
    pub pack: Option<f64>,
    /// Unit of the pack size, as the vendor writes it.
    pub uom: Option<String>,
    /// USD for the pack.
    pub price_usd: Option<f64>,
    /// USD per gram of the major component.
    pub normalised_usd: Option<f64>,
    /// Days to each country, in the order of `Country::ALL`.
    pub lead_time_days: [Option<f64>; 8],
}

/// Why a row is left out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The row has `found` fields where the header has `expected`.
    #[error("{found} fields where the header has {expected}")]
    FieldCount { found: usize, expected: usize },
    /// The field `column` is not UTF-8.
    #[error("{column} is not UTF-8 text")]
    NotUtf8 { column: &'static str },
    /// There is no structure.
    #[error("no SMILES")]
    NoSmiles,
    /// The structure `smiles` cannot be read.
    #[error("SMILES `{smiles}`: {source}")]
    Smiles { smiles: String, source: SmilesError },
    /// The structure has a wildcard atom, so it is no molecule that can be bought.
    #[error("SMILES `{smiles}`: wildcard atom")]
    Wildcard { smiles: String },
    /// There is neither a vendor in the row nor one for the file.
    #[error("no vendor_name, and no --vendor for the file")]
    NoVendor,
    /// The field `column` holds `text`, which is no number.
    #[error("{column} `{text}` is no number")]
    NotANumber { column: &'static str, text: String },
    /// The field `column` holds `text`, which is under its least value.
    #[error("{column} `{text}` is {fault}")]
    OutOfRange { column: &'static str, text: String, fault: &'static str },
    /// The unit `text` is not known.
    #[error("unknown unit `{text}` (known: kg, g, mg, ug, mol, mmol, umol, L, mL, uL)")]
    Unit { text: String },
}

impl Fault {
    /// The kind of fault, for counting.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::FieldCount { .. } => "wrong number of fields",
            Self::NotUtf8 { .. } => "not UTF-8",
            Self::NoSmiles => "no SMILES",
            Self::Smiles { .. } => "unreadable SMILES",
            Self::Wildcard { .. } => "wildcard atom",
            Self::NoVendor => "no vendor",
            Self::NotANumber { .. } => "not a number",
            Self::OutOfRange { .. } => "number out of range",
            Self::Unit { .. } => "unknown unit",
        }
    }
}

/// What a number in a file may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Range {
    AtLeastZero,
    OverZero,
}

impl Entry {
    /// Reads a row.
    ///
    /// # Errors
    /// Fails with the first fault of the row.
    pub fn read(line: u64, row: &ByteRecord, columns: &Columns, vendor: Option<&str>) -> Result<Self, Fault> {
        if row.len() != columns.count {
            return Err(Fault::FieldCount { found: row.len(), expected: columns.count });
        }
        let row = Row { fields: row };
        let smiles = row.text("the SMILES", Some(columns.smiles))?.ok_or(Fault::NoSmiles)?;
        let vendor_name = row.text("vendor_name", columns.vendor_name)?.or(vendor).ok_or(Fault::NoVendor)?;
        let offer = Offer::read(row, columns)?;
        let mut lead_time_days = [None; 8];
        for (days, column) in lead_time_days.iter_mut().zip(columns.lead_time_days) {
            *days = row.number("lead_time_days", column, Range::AtLeastZero)?;
        }
        let structure = Structure::parse(smiles)?;
        Ok(Self {
            line,
            vendor_name: vendor_name.to_owned(),
            normalised_usd: offer.normalised_usd(structure.weights),
            smiles: structure.smiles,
            mw: structure.mw,
            morgan_bits: structure.morgan_bits,
            full_canonical: structure.full_canonical,
            minor_components: structure.minor_components,
            full_mw: structure.weights.full,
            counter_ion: structure.counter_ion,
            cs_id: row.text("cs_id", columns.cs_id)?.map(ToOwned::to_owned),
            cs_prefix: row.text("cs_prefix", columns.cs_prefix)?.unwrap_or_default().to_owned(),
            cs_url: row.text("cs_url", columns.cs_url)?.unwrap_or_default().to_owned(),
            pack: offer.pack,
            uom: offer.uom.map(ToOwned::to_owned),
            price_usd: offer.price_usd,
            lead_time_days,
        })
    }
}

/// A row's fields by column.
#[derive(Clone, Copy)]
struct Row<'a> {
    fields: &'a ByteRecord,
}

impl<'a> Row<'a> {
    /// The trimmed text of a field; `None` where it is empty or there is no such column.
    fn text(self, name: &'static str, column: Option<usize>) -> Result<Option<&'a str>, Fault> {
        let Some(bytes) = column.and_then(|column| self.fields.get(column)) else { return Ok(None) };
        let text = str::from_utf8(bytes).map_err(|_| Fault::NotUtf8 { column: name })?.trim();
        // PostgreSQL text holds every character but this one.
        if text.contains('\0') {
            return Err(Fault::NotUtf8 { column: name });
        }
        Ok((!text.is_empty()).then_some(text))
    }

    fn number(self, name: &'static str, column: Option<usize>, range: Range) -> Result<Option<f64>, Fault> {
        let Some(text) = self.text(name, column)? else { return Ok(None) };
        let number: f64 = text
            .parse()
            .ok()
            .filter(|number: &f64| number.is_finite())
            .ok_or_else(|| Fault::NotANumber { column: name, text: shorten(text) })?;
        let out_of_range = |fault| Err(Fault::OutOfRange { column: name, text: shorten(text), fault });
        match range {
            _ if number < 0.0 => out_of_range("negative"),
            Range::OverZero if number == 0.0 => out_of_range("zero (leave it empty where it is not known)"),
            _ => Ok(Some(number)),
        }
    }
}

/// What a row says about price and pack.
struct Offer<'a> {
    pack: Option<f64>,
    uom: Option<&'a str>,
    unit: Option<Unit>,
    price_usd: Option<f64>,
    density_g_per_ml: Option<f64>,
    usd_per_g: Option<f64>,
    stated_usd: Option<f64>,
}

impl<'a> Offer<'a> {
    fn read(row: Row<'a>, columns: &Columns) -> Result<Self, Fault> {
        let uom = row.text("uom", columns.uom)?;
        let unit =
            uom.map(|text| text.parse().map_err(|_| Fault::Unit { text: shorten(text) })).transpose()?;
        Ok(Self {
            pack: row.number("pack", columns.pack, Range::OverZero)?,
            uom,
            unit,
            price_usd: row.number("price_usd", columns.price_usd, Range::OverZero)?,
            density_g_per_ml: row.number("density_g_per_ml", columns.density_g_per_ml, Range::OverZero)?,
            usd_per_g: row.number("usd_per_g", columns.usd_per_g, Range::OverZero)?,
            stated_usd: row.number("normalised_usd", columns.normalised_usd, Range::OverZero)?,
        })
    }

    /// From pack and price if the row has them, else from `usd_per_g`, else what the file states.
    fn normalised_usd(&self, weights: Weights) -> Option<f64> {
        let of_pack = || {
            let (price_usd, size, unit) = (self.price_usd?, self.pack?, self.unit?);
            usd_per_gram(Pack { price_usd, size, unit, density_g_per_ml: self.density_g_per_ml }, weights)
        };
        let of_gram = || {
            let price_usd = self.usd_per_g?;
            usd_per_gram(
                Pack { price_usd, size: 1.0, unit: Unit::Mass(1.0), density_g_per_ml: None },
                weights,
            )
        };
        of_pack().or_else(of_gram).or(self.stated_usd)
    }
}

/// What a SMILES says.
struct Structure {
    smiles: String,
    mw: f64,
    morgan_bits: Vec<u8>,
    full_canonical: String,
    minor_components: String,
    weights: Weights,
    counter_ion: Option<&'static str>,
}

impl Structure {
    fn parse(smiles: &str) -> Result<Self, Fault> {
        let whole = Molecule::parse(smiles, Limits::DEFAULT)
            .map_err(|source| Fault::Smiles { smiles: shorten(smiles), source })?;
        let full_canonical = whole.canonical_smiles();
        if full_canonical.contains('*') {
            return Err(Fault::Wildcard { smiles: shorten(smiles) });
        }
        let full_mw = whole.molecular_weight();
        let parent = whole.parent();
        let mw = parent.molecule.molecular_weight();
        #[expect(clippy::cast_precision_loss, reason = "a handful of components")]
        let weights = Weights { full: full_mw, major: mw * parent.copies as f64 };
        Ok(Self {
            morgan_bits: parent.molecule.fingerprint().to_bytes(),
            smiles: parent.molecule.canonical_smiles(),
            mw,
            full_canonical,
            minor_components: parent.others.join("."),
            weights,
            counter_ion: parent.counter_ion,
        })
    }
}

/// The start of a text, for a message.
fn shorten(text: &str) -> String {
    const SHOWN: usize = 100;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use csv::StringRecord;

    use super::*;

    /// Reads one row of a file with this header.
    fn read(header: &str, row: &str) -> Result<Entry, Fault> {
        let (columns, _) = Columns::from_header(&header.split(',').collect::<StringRecord>(), None).unwrap();
        Entry::read(2, &row.split(',').collect::<StringRecord>().into_byte_record(), &columns, Some("House"))
    }

    #[test]
    fn a_salt_is_sold_for_what_is_no_counter_ion() {
        // Aniline hydrochloride: 129.59 g/mol, of which aniline is 93.13.
        let entry = read("smiles,pack,uom,price_usd", "Cl.Nc1ccccc1,10,g,20").unwrap();

        assert_eq!((entry.smiles.as_str(), entry.minor_components.as_str()), ("Nc1ccccc1", "Cl"));
        assert_eq!(entry.full_canonical, "Cl.Nc1ccccc1");
        assert!((entry.normalised_usd.unwrap() - 2.0 * 129.59 / 93.13).abs() < 0.001);

        // Azetidine trifluoroacetate: the counter-ion is twice as heavy.
        for row in ["C1CNC1.OC(=O)C(F)(F)F,1", "C1C[NH2+]C1.[O-]C(=O)C(F)(F)F,1"] {
            let entry = read("smiles,usd_per_g", row).unwrap();

            assert_eq!((entry.smiles.as_str(), entry.counter_ion), ("C1CNC1", None));
            assert!((entry.mw - 57.096).abs() < 0.001);
            assert!((entry.normalised_usd.unwrap() - entry.full_mw / entry.mw).abs() < 1e-9);
        }
    }

    #[test]
    fn both_copies_in_a_hemisalt_are_the_building_block() {
        for amine in ["NC1CC1", "NC1CCCC1", "[NH3+]C1CC1"] {
            let acid = if amine.contains('+') { "O=S(=O)([O-])[O-]" } else { "O=S(=O)(O)O" };
            let entry = read("smiles,usd_per_g", &format!("{amine}.{amine}.{acid},1")).unwrap();

            assert_eq!(entry.smiles, amine.replace("[NH3+]", "N"));
            let mut minor: Vec<&str> = entry.minor_components.split('.').collect();
            minor.sort_unstable();
            let mut expected = [amine, acid];
            expected.sort_unstable();
            assert_eq!(minor, expected);
            assert!((entry.normalised_usd.unwrap() - entry.full_mw / (2.0 * entry.mw)).abs() < 1e-9);
        }
    }

    #[test]
    fn a_metals_salt_is_sold_for_its_acid() {
        let entry = read("smiles,usd_per_g", "O=C([O-])C1CC1.[Na+],1").unwrap();

        assert_eq!((entry.smiles.as_str(), entry.minor_components.as_str()), ("O=C(O)C1CC1", "[Na+]"));
        assert_eq!((entry.full_canonical.as_str(), entry.counter_ion), ("O=C([O-])C1CC1.[Na+]", None));
    }

    #[test]
    fn nothing_but_counter_ions_is_sold_for_the_most_organic_and_says_so() {
        let entry = read("smiles", "CCN(CC)CC.Cl").unwrap();

        assert_eq!((entry.smiles.as_str(), entry.counter_ion), ("CCN(CC)CC", Some("triethylamine")));
    }

    #[test]
    fn a_structure_alone_is_an_entry_without_a_price() {
        let entry = read("smiles", "OCC").unwrap();

        assert_eq!((entry.smiles.as_str(), entry.vendor_name.as_str()), ("CCO", "House"));
        assert_eq!((entry.price_usd, entry.normalised_usd, entry.cs_id), (None, None, None));
    }

    #[test]
    fn the_rows_own_vendor_wins_over_the_files() {
        let entry = read("smiles,vendor_name,lead_time_days_to_CN", "CCO,Other,3").unwrap();

        assert_eq!((entry.vendor_name.as_str(), entry.lead_time_days[6]), ("Other", Some(3.0)));
    }

    #[test]
    fn every_fault_names_what_is_wrong() {
        let header = "smiles,pack,uom,price_usd";
        let cases = [
            ("CCO,1,g", "3 fields where the header has 4"),
            (",1,g,1", "no SMILES"),
            ("*CCO,1,g,1", "SMILES `*CCO`: wildcard atom"),
            ("CCO,1,g,-1", "price_usd `-1` is negative"),
            ("CCO,1,g,0", "price_usd `0` is zero (leave it empty where it is not known)"),
            ("CCO,1,g,cheap", "price_usd `cheap` is no number"),
            ("CCO,1,g,NaN", "price_usd `NaN` is no number"),
            ("CCO,0,g,1", "pack `0` is zero (leave it empty where it is not known)"),
            ("CCO,1,cup,1", "unknown unit `cup` (known: kg, g, mg, ug, mol, mmol, umol, L, mL, uL)"),
        ];
        for (row, message) in cases {
            assert_eq!(read(header, row).unwrap_err().to_string(), message, "{row}");
        }
        assert_eq!(read(header, "C1CC,1,g,1").unwrap_err().kind(), "unreadable SMILES");
    }
}
