//! The headers that vendors and planners use.
//!
//! | profile | taken from |
//! |---|---|
//! | `retort` | the field names of this service's API |
//! | `askcos` | ASKCOS 2 buyables, JSON and CSV (`smiles, ppg, lead_time, source, properties`) |
//! | `synplanner` | SynPlanner building blocks, one column `NAME_ppg` for each vendor |
//! | `molport` | MolPort's `iis_smiles-….txt.gz` and SDF downloads |
//! | `emolecules` | eMolecules' `version.smi.gz` |
//! | `chemspace` | Chemspace's API v3 and v4 (`offers`, `prices` within them) and its offers as tables |
//! | `mcule` | Mcule's downloads |
//! | `enamine` | Enamine's building blocks and stock collections, tables, `.cxsmiles` and SDF |
//! | `aizynthfinder` | AiZynthFinder's stocks of InChIKeys |
//! | `generic` | any other |
//!
//! Names are compared by their letters and digits alone, without regard to case. If a file has several columns for
//! one meaning, the first in the table wins.

use std::{collections::HashMap, iter};

use super::meaning::{Meaning, parse_pack};
use crate::{currency::Currency, lead_time::country, price::Unit};

/// Pairs of column name and meaning.
type Names = &'static [(&'static str, &'static str)];

/// The headers of one vendor or planner.
pub(crate) struct KnownProfile {
    pub(crate) name: &'static str,
    /// Default vendor of a file that names none.
    pub(crate) vendor: Option<&'static str>,
    /// Columns that identify the profile; one is enough.
    signs: &'static [&'static str],
    /// Meanings of columns in this profile only.
    columns: Names,
}

/// The profiles; the first one with an identifying column in the file applies.
const PROFILES: [KnownProfile; 10] = [
    KnownProfile {
        name: "retort",
        vendor: None,
        signs: &["full_canonical", "cs_prefix", "normalised_usd", "usd_per_g", "lead_time_days_to_US"],
        columns: &[("full_canonical", "smiles")],
    },
    KnownProfile {
        name: "askcos",
        vendor: None,
        signs: &["ppg"],
        columns: &[("ppg", "price_per_gram"), ("source", "vendor"), ("lead_time", "lead_time")],
    },
    KnownProfile { name: "synplanner", vendor: None, signs: &["*_ppg"], columns: &[] },
    KnownProfile {
        name: "molport",
        vendor: Some("MolPort"),
        signs: &["MOLPORTID", "MolPort ID"],
        columns: &[
            ("MOLPORTID", "id"),
            ("SMILES", "smiles"),
            ("SMILES_CANONICAL", "smiles"),
            ("BEST_LEAD_TIME", "lead_time"),
            ("PUBCHEM_EXT_SUBSTANCE_URL", "url"),
        ],
    },
    KnownProfile {
        name: "emolecules",
        vendor: Some("eMolecules"),
        signs: &["isosmiles", "version_id"],
        columns: &[("isosmiles", "smiles"), ("version_id", "id"), ("parent_id", "ignore")],
    },
    KnownProfile {
        name: "chemspace",
        vendor: Some("Chemspace"),
        signs: &["packMg", "Chemspace ID", "vendorCode"],
        columns: &[
            ("vendorName", "vendor"),
            ("vendorCode", "id"),
            ("csId", "id"),
            ("Chemspace ID", "id"),
            ("link", "url"),
            ("packMg", "pack:mg"),
            ("priceUsd", "price:USD"),
            ("priceEur", "price:EUR"),
            ("leadTimeDays", "lead_time"),
        ],
    },
    KnownProfile {
        name: "mcule",
        vendor: Some("Mcule"),
        signs: &["mcule_id", "Mcule ID", "mculeid"],
        columns: &[
            ("mcule_id", "id"),
            ("url", "url"),
            ("Mcule URL", "url"),
            ("Delivery time (days)", "lead_time"),
        ],
    },
    KnownProfile {
        name: "enamine",
        vendor: Some("Enamine"),
        signs: &["Catalog ID", "idnumber", "Enamine ID"],
        columns: &[
            ("Catalog ID", "id"),
            ("idnumber", "id"),
            ("Enamine ID", "id"),
            ("ID", "id"),
            ("Link", "url"),
        ],
    },
    KnownProfile { name: "aizynthfinder", vendor: Some("stock"), signs: &[], columns: &[] },
    KnownProfile { name: "generic", vendor: None, signs: &[], columns: &[] },
];

/// Meanings of names in every profile.
const COMMON: Names = &[
    ("smiles", "smiles"),
    ("canonical_smiles", "smiles"),
    ("isomeric_smiles", "smiles"),
    ("(connection table)", "molfile"),
    ("inchi_key", "inchikey"),
    ("standard_inchi_key", "inchikey"),
    ("vendor_name", "vendor"),
    ("vendor", "vendor"),
    ("supplier", "vendor"),
    ("supplier_name", "vendor"),
    ("cs_id", "id"),
    ("catalog_id", "id"),
    ("catalogue_id", "id"),
    ("catalog_number", "id"),
    ("cs_prefix", "prefix"),
    ("cs_url", "url"),
    ("url", "url"),
    ("pack", "pack"),
    ("pack_size", "pack"),
    ("pack_mg", "pack:mg"),
    ("pack_g", "pack:g"),
    ("uom", "unit"),
    ("unit", "unit"),
    ("price_usd", "price:USD"),
    ("price", "price:USD"),
    ("price_eur", "price:EUR"),
    ("price_gbp", "price:GBP"),
    ("currency", "currency"),
    ("normalised_usd", "usd_per_gram_of_major"),
    ("usd_per_g", "price_per_gram:USD"),
    ("price_per_gram", "price_per_gram:USD"),
    ("density_g_per_ml", "density"),
    ("density", "density"),
    ("lead_time_days", "lead_time"),
    ("lead_time", "lead_time"),
    ("ships_to", "ships_to"),
    ("api_timestamp", "timestamp"),
    ("updated_at", "timestamp"),
    ("last_updated", "timestamp"),
    ("price_date", "timestamp"),
    ("amount", "amount"),
    ("amount_in_stock", "amount"),
    ("quantity_available", "amount"),
    ("available_quantity", "amount"),
    ("stock_amount", "amount"),
    ("stock", "amount"),
    ("amount_unit", "amount_unit"),
    ("stock_unit", "amount_unit"),
    ("amount_grams", "grams_of_major"),
    ("location", "location"),
    ("storage_location", "location"),
    ("shelf", "location"),
];

/// Normalises a name to its letters and digits in lower case.
pub(crate) fn normal(name: &str) -> String {
    name.chars().filter(|character| character.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

impl KnownProfile {
    /// Looks up a profile by name.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        PROFILES.iter().find(|known| known.name == name)
    }

    /// Names of the profiles.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        PROFILES.iter().map(|known| known.name)
    }

    /// The profile that these columns identify.
    pub(crate) fn of_columns<'a>(columns: impl Iterator<Item = &'a str>) -> &'static Self {
        let columns: Vec<String> = columns.map(str::to_lowercase).collect();
        let normals: Vec<String> = columns.iter().map(|name| normal(name)).collect();
        let has = |sign: &str| match sign.strip_prefix('*') {
            Some(ending) => columns.iter().any(|name| name.len() > ending.len() && name.ends_with(ending)),
            None => normals.contains(&normal(sign)),
        };
        let told = PROFILES.iter().find(|known| known.signs.iter().any(|sign| has(sign)));
        told.unwrap_or_else(|| {
            let keys_alone = has("inchi_key") && !normals.iter().any(|name| name.contains("smiles"));
            let name = if keys_alone { "aizynthfinder" } else { "generic" };
            Self::named(name).expect("known: both are profiles")
        })
    }

    /// Meanings of columns in this profile.
    pub(crate) fn meanings(&self) -> ColumnMeanings {
        let mut by_name = HashMap::new();
        for (rank, (name, meaning)) in (1..).zip(self.columns.iter().chain(COMMON)) {
            let meaning = || (rank, meaning.parse().expect("known: the tables hold meanings"));
            by_name.entry(normal(name)).or_insert_with(meaning);
        }
        ColumnMeanings(by_name)
    }
}

/// Meanings of columns, by normalised name.
#[derive(Clone)]
pub(crate) struct ColumnMeanings(HashMap<String, (usize, Meaning)>);

impl ColumnMeanings {
    /// Meaning of a column and its rank; of two columns for one meaning the lower rank wins.
    pub(crate) fn of(&self, column: &str) -> (usize, Meaning) {
        let name = normal(column);
        let by_pattern = || (usize::MAX, by_pattern(column, &name).unwrap_or(Meaning::Ignored));
        self.0.get(&name).cloned().unwrap_or_else(by_pattern)
    }
}

/// Recognises names that contain an amount, a country or a vendor: `lead_time_days_to_US`, `PRICE_1G`,
/// `PRICERANGE_50MG_EUR`, `sigma_ppg`, `Stock (mg)`.
fn by_pattern(column: &str, normal: &str) -> Option<Meaning> {
    let to = |prefixes: &[&str]| prefixes.iter().find_map(|prefix| country(normal.strip_prefix(prefix)?));
    if let Some(place) = to(&["leadtimedaysto", "leadtimeto", "leadtime"]) {
        return Some(Meaning::LeadTime(Some(place)));
    }
    if let Some(place) = to(&["shipsto"]) {
        return Some(Meaning::ShipsTo(Some(place)));
    }
    let amount = ["amountinstock", "amount", "quantityavailable", "stock"]
        .iter()
        .find_map(|prefix| normal.strip_prefix(prefix));
    if let Some(unit) = amount.filter(|unit| unit.parse::<Unit>().is_ok()) {
        return Some(Meaning::AmountIn(unit.to_owned()));
    }
    let lower = column.to_lowercase();
    if let Some(vendor) = lower.strip_suffix("_ppg").filter(|vendor| !vendor.is_empty()) {
        return Some(Meaning::VendorPerGram(column[..vendor.len()].to_owned()));
    }
    let pack = iter::successors(lower.strip_prefix("price"), |rest| {
        ["range", "_", " ", "("].iter().find_map(|between| rest.strip_prefix(between))
    });
    let pack = pack.last()?.trim_end_matches(')');
    let (pack, currency) = match pack.rsplit_once(['_', ' ', '-']) {
        Some((pack, code)) if code.parse::<Currency>().is_ok() => (pack, code.parse().ok()?),
        _ => (pack, Currency::USD),
    };
    let (size, unit) = parse_pack(pack).filter(|(size, _)| *size > 0.0)?;
    Some(Meaning::PackPrice(size, unit.to_owned(), currency))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_holds_meanings() {
        for (_, meaning) in PROFILES.iter().flat_map(|known| known.columns).chain(COMMON) {
            assert!(meaning.parse::<Meaning>().is_ok(), "{meaning}");
        }
    }

    #[test]
    fn headers_are_known_as_vendors_write_them() {
        let cases = [
            (
                "smiles,ppg,lead_time,source,properties",
                "askcos",
                "smiles price_per_gram:USD lead_time vendor ignore",
            ),
            (
                "SMILES,SMILES_CANONICAL,MOLPORTID,STANDARD_INCHI,INCHIKEY,PRICERANGE_1MG,PRICE_1G,BEST_LEAD_TIME",
                "molport",
                "smiles smiles id ignore inchikey price:USD:1mg price:USD:1g lead_time",
            ),
            ("isosmiles,version_id,parent_id", "emolecules", "smiles id ignore"),
            ("SMILES,Catalog ID,CAS", "enamine", "smiles id ignore"),
            ("smiles,idnumber,reagent_type", "enamine", "smiles id ignore"),
            ("smiles,CatalogId", "enamine", "smiles id"),
            ("smiles,mcule_id", "mcule", "smiles id"),
            (
                "smiles,packMg,priceUsd,priceEur,vendorName",
                "chemspace",
                "smiles pack:mg price:USD price:EUR vendor",
            ),
            (
                "smiles,sigma_ppg,Enamine_PPG",
                "synplanner",
                "smiles price_per_gram_of:sigma price_per_gram_of:Enamine",
            ),
            ("inchi_key", "aizynthfinder", "inchikey"),
            ("full_canonical,Lead_Time_Days_To_us,ships_to_CN", "retort", "smiles lead_time:US ships_to:CN"),
            ("SMILES,PRICE_0.5KG_EUR,Price (5 g)", "generic", "smiles price:EUR:0.5kg price:USD:5g"),
            ("id,Structure,price_tag,PRICE_-1G", "generic", "ignore ignore ignore ignore"),
            ("smiles,Quantity available,Location", "generic", "smiles amount location"),
            (
                "smiles,Stock (mg),amount_unit,stock_rooms,Shelf",
                "generic",
                "smiles amount:mg amount_unit ignore location",
            ),
        ];
        for (header, profile, expected) in cases {
            let known = KnownProfile::of_columns(header.split(','));
            let meanings = known.meanings();

            let meanings: Vec<String> =
                header.split(',').map(|column| meanings.of(column).1.to_string()).collect();

            assert_eq!((known.name, meanings.join(" ").as_str()), (profile, expected), "{header}");
        }
    }
}
