//! The headers that vendors and planners use.
//!
//! `tables/profiles.tsv` lists the vendors and planners, `tables/columns.tsv` the meanings of their columns. A sign is a
//! column that identifies a profile; `*_ppg` is every column with that ending, and `IDNUMBER:F####-####` a column whose
//! first value has this form, with digits for `#` and letters or digits for `@`. The first profile with a sign in the
//! file applies. Columns of the profile `every` count in all profiles, after the profile's own.
//!
//! Names are compared by their letters and digits alone, without regard to case. If a file has several columns for
//! one meaning, the first in the table wins.

use std::{collections::HashMap, iter, sync::LazyLock};

use chem::Table;

use super::{
    meaning::{Meaning, parse_pack},
    numbered,
};
use crate::{currency::Currency, lead_time::country, price::Unit};

/// The headers of one vendor or planner.
pub(crate) struct KnownProfile {
    pub(crate) name: &'static str,
    /// Default vendor of a file that names none.
    pub(crate) vendor: Option<&'static str>,
    /// Columns that identify the profile; one is enough.
    signs: Vec<&'static str>,
    /// Meanings of columns in this profile, then of those in every profile.
    columns: Vec<(&'static str, Meaning)>,
}

static PROFILES: LazyLock<Vec<KnownProfile>> = LazyLock::new(|| {
    let table = Table {
        file: "profiles.tsv",
        text: include_str!("../../tables/profiles.tsv"),
        columns: ["profile", "vendor", "signs", "source"],
        keys: 1,
    };
    let columns = columns();
    let profiles = table.read(|[name, vendor, signs, _]| {
        let of = |profile| columns.iter().filter(move |column| column.0 == profile);
        Ok(KnownProfile {
            name,
            vendor: Some(vendor).filter(|vendor| !vendor.is_empty()),
            signs: signs.split('|').filter(|sign| !sign.is_empty()).collect(),
            columns: of(name).chain(of("every")).map(|(_, column)| column.clone()).collect(),
        })
    });
    profiles.expect("known: a test reads the table")
});

/// Columns with their profiles.
fn columns() -> Vec<(&'static str, (&'static str, Meaning))> {
    let table = Table {
        file: "columns.tsv",
        text: include_str!("../../tables/columns.tsv"),
        columns: ["profile", "column", "meaning", "source"],
        keys: 2,
    };
    let columns = table.read(|[profile, column, meaning, _]| match meaning.parse::<Meaning>() {
        Ok(meaning) => Ok((profile, (column, meaning))),
        Err(error) => Err(error.to_string()),
    });
    columns.expect("known: a test reads the table")
}

/// Returns true if a value has the form of a vendor's numbers.
fn has_form(value: &str, form: &str) -> bool {
    let fits = |(character, place): (u8, u8)| match place {
        b'#' => character.is_ascii_digit(),
        b'@' => character.is_ascii_alphanumeric(),
        place => character == place,
    };
    value.len() == form.len() && value.bytes().zip(form.bytes()).all(fits)
}

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

    /// The profile that these columns identify, with their values in the first record.
    pub(crate) fn of_columns<'a>(
        columns: impl Iterator<Item = &'a str>,
        first: &[(String, String)],
    ) -> &'static Self {
        let columns: Vec<String> = columns.map(str::to_lowercase).collect();
        let normals: Vec<String> = columns.iter().map(|name| normal(name)).collect();
        let has_value = |column: &str, form: &str| {
            first.iter().any(|(name, value)| normal(name) == normal(column) && has_form(value.trim(), form))
        };
        let has = |sign: &str| match (sign.strip_prefix('*'), sign.split_once(':')) {
            (Some(ending), _) => {
                columns.iter().any(|name| name.len() > ending.len() && name.ends_with(ending))
            }
            (None, Some((column, form))) => has_value(column, form),
            (None, None) => normals.contains(&normal(sign)),
        };
        let known_profile = PROFILES.iter().find(|known| known.signs.iter().any(|sign| has(sign)));
        known_profile.unwrap_or_else(|| {
            let keys_alone = has("inchi_key") && !normals.iter().any(|name| name.contains("smiles"));
            let name = if keys_alone { "aizynthfinder" } else { "generic" };
            Self::named(name).expect("known: both are profiles")
        })
    }

    /// Meanings of columns in this profile.
    pub(crate) fn meanings(&self, columns: &[String]) -> ColumnMeanings {
        let mut by_name = HashMap::new();
        for (rank, (name, meaning)) in (1..).zip(&self.columns) {
            by_name.entry(normal(name)).or_insert_with(|| (rank, meaning.clone()));
        }
        ColumnMeanings { by_name, has_numbered_offers: numbered::has_offers(columns) }
    }
}

/// Meanings of columns.
#[derive(Clone)]
pub(crate) struct ColumnMeanings {
    by_name: HashMap<String, (usize, Meaning)>,
    /// True if the file has pairs of numbered columns, `Pack_1` and `Price_1`.
    has_numbered_offers: bool,
}

impl ColumnMeanings {
    /// Meaning of a column and its rank; of two columns for one meaning the lower rank wins.
    pub(crate) fn of(&self, column: &str) -> (usize, Meaning) {
        let name = normal(column);
        let numbered = || Some(column).filter(|_| self.has_numbered_offers).and_then(numbered::part);
        let by_pattern =
            || (usize::MAX, by_pattern(column, &name).or_else(numbered).unwrap_or(Meaning::Ignored));
        let (rank, meaning) = self.by_name.get(&name).cloned().unwrap_or_else(by_pattern);
        (rank, with_sign(column, meaning))
    }
}

/// Meaning of a price with the currency sign in its column's name: `Price (€)`. A sign of several currencies has no
/// meaning.
fn with_sign(column: &str, meaning: Meaning) -> Meaning {
    let sign = column.chars().find(|sign| ['$', '€', '£', '¥'].contains(sign));
    match (sign, meaning) {
        (Some(sign), Meaning::Price(_)) => Currency::from_sign(sign).map_or(Meaning::Ignored, Meaning::Price),
        (Some(sign), Meaning::PricePerGram(_)) => {
            Currency::from_sign(sign).map_or(Meaning::Ignored, Meaning::PricePerGram)
        }
        (Some(_), Meaning::Numbered(number, part)) => match with_sign(column, *part) {
            Meaning::Ignored => Meaning::Ignored,
            part => Meaning::Numbered(number, Box::new(part)),
        },
        (_, meaning) => meaning,
    }
}

/// Recognises names that contain an amount, a country or a vendor: `lead_time_days_to_US`, `PRICE_1G`,
/// `PRICERANGE_50MG_EUR`, `sigma_ppg`, `Stock (mg)`.
fn by_pattern(column: &str, normal: &str) -> Option<Meaning> {
    let to = |prefixes: &[&str]| prefixes.iter().find_map(|prefix| country(normal.strip_prefix(prefix)?));
    if let Some(position) = to(&["leadtimedaysto", "leadtimeto", "leadtime"]) {
        return Some(Meaning::LeadTime(Some(position)));
    }
    if let Some(position) = to(&["shipsto"]) {
        return Some(Meaning::ShipsTo(Some(position)));
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
    let (size, unit) = parse_pack(pack)?;
    Some(Meaning::PackPrice(size, unit.to_owned(), currency))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_belongs_to_a_profile() {
        for (profile, (column, _)) in columns() {
            let is_known = profile == "every" || KnownProfile::named(profile).is_some();
            assert!(is_known, "{column}: no profile `{profile}`");
        }
        assert!(KnownProfile::named("every").is_none());
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
            ("smiles,Price (€),Price per gram [£]", "generic", "smiles price:EUR price_per_gram:GBP"),
            (
                "smiles,Pack_1,Price_1,Pack_2,Price_2",
                "generic",
                "smiles pack#1 price:USD#1 pack#2 price:USD#2",
            ),
            (
                "smiles,Amount 1 (mg),Price 1 (USD),Amount 2 (mg),Price 2 (€)",
                "generic",
                "smiles pack:mg#1 price:USD#1 pack:mg#2 price:EUR#2",
            ),
            ("id,Structure,price_tag,PRICE_-1G", "generic", "id ignore ignore ignore"),
            ("smiles,Quantity available,Location", "generic", "smiles amount location"),
            (
                "smiles,Stock (mg),amount_unit,stock_rooms,Shelf",
                "generic",
                "smiles amount:mg amount_unit ignore location",
            ),
        ];
        for (header, profile, expected) in cases {
            let known = KnownProfile::of_columns(header.split(','), &[]);
            let names: Vec<String> = header.split(',').map(ToOwned::to_owned).collect();
            let meanings = known.meanings(&names);

            let meanings: Vec<String> =
                names.iter().map(|column| meanings.of(column).1.to_string()).collect();

            assert_eq!((known.name, meanings.join(" ").as_str()), (profile, expected), "{header}");
        }
    }
}
