//! Conversion of a record's fields to offers.
//!
//! A record is one structure of one vendor with one or several offers: a column for the price of each pack, or of
//! each vendor. One invalid field rejects the whole record, because half a record would be trusted.

use std::{collections::HashMap, ops::RangeInclusive, sync::Arc};

use chrono::{DateTime, Datelike as _, NaiveDate, NaiveDateTime, Utc};

use super::{
    inchikey::{self, KnownKeys},
    meaning::{Meaning, split_pack},
    profile::{Column, holds_structures},
    row::{Cell, LARGEST_PACK, Row},
    stock,
};
use crate::{
    currency::{Currency, Rates},
    entry::{Entry, RecordPosition},
    fault::{RecordFault, shorten},
    lead_time::{LeadTime, destinations, ships},
    number::{money, parse_price_range},
    price::{PricedPack, Unit, usd_per_gram},
    structure::BlockStructure,
};

/// Maximum price of a pack, USD; a higher one is taken for an error in the file.
const MAX_PACK_USD: f64 = 1e8;
/// Maximum price per gram, USD: a microgram for a million.
const MAX_USD_PER_GRAM: f64 = 1e12;
/// Plausible years of a vendor's statement.
const YEARS: RangeInclusive<i32> = 1970..=2199;
/// The longest lead time, days.
const MAX_LEAD_TIME_DAYS: f64 = 3_650.0;

/// Settings for all records of a file.
#[derive(Clone)]
pub(crate) struct FileDefaults {
    /// The vendor of records that name none.
    pub(crate) vendor: Option<String>,
    /// Exchange rates of other currencies.
    pub(crate) rates: Rates,
    /// Structures by InChIKey.
    pub(crate) keys: Arc<KnownKeys>,
}

/// Cache of recently parsed structures, by their text.
pub(crate) type StructureCache = HashMap<String, Result<Arc<BlockStructure>, RecordFault>>;

/// Pack and price of an offer.
#[derive(Debug, Clone, Default)]
struct Offer {
    vendor: Option<String>,
    pack: Option<f64>,
    uom: Option<String>,
    price_usd: Option<f64>,
    usd_per_g: Option<f64>,
    /// Lead time of this pack, days.
    lead_time_days: Option<f64>,
}

/// Parses the offers of a record.
///
/// # Errors
/// Fails with the first fault of the record.
pub(crate) fn entries<'a>(
    position: RecordPosition,
    fields: impl Iterator<Item = (&'a Column, &'a str)>,
    rules: &FileDefaults,
    structures: &mut StructureCache,
) -> Result<Vec<Entry>, RecordFault> {
    let row = Row::of(fields)?;
    let has_structure = row.find(holds_structures).is_some();
    if !has_structure {
        return Err(RecordFault::NoSmiles);
    }
    let vendor = row.text(&Meaning::Vendor).or(rules.vendor.as_deref());
    let offers = offers(&row, rules)?;
    let density_g_per_ml = row.get(&Meaning::Density).map(Cell::density).transpose()?;
    let stated_usd =
        row.get(&Meaning::NormalisedUsd).map(|cell| cell.number(MAX_USD_PER_GRAM)).transpose()?;
    let (lead_time_days, ships_to) = delivery(&row)?;
    let api_timestamp = row.get(&Meaning::Timestamp).map(timestamp).transpose()?;
    let is_priced = offers.iter().any(|offer| offer.price_usd.or(offer.usd_per_g).is_some());
    let amount = stock::amount(&row, is_priced)?;
    let vendors = offers.iter().map(|offer| offer.vendor.as_deref().or(vendor).ok_or(RecordFault::NoVendor));
    let vendors: Vec<String> =
        vendors.map(|vendor| vendor.map(ToOwned::to_owned)).collect::<Result<_, _>>()?;
    let structure = structure(&row, rules, structures)?;
    let text = |meaning| row.text(&meaning).map(ToOwned::to_owned);
    let entry = |(offer, vendor_name): (Offer, String)| {
        let normalised_usd = offer.usd_per_gram(density_g_per_ml, &structure).or(stated_usd);
        Entry {
            position,
            vendor_name,
            structure: Arc::clone(&structure),
            cs_id: text(Meaning::Id),
            cs_prefix: text(Meaning::Prefix).unwrap_or_default(),
            cs_url: text(Meaning::Url).unwrap_or_default(),
            pack: offer.pack,
            uom: offer.uom,
            price_usd: offer.price_usd,
            normalised_usd,
            lead_time_days: offer.lead_time_days.map_or(lead_time_days, |days| {
                ships_to.map(|ships| Some(days).filter(|_| ships != Some(false)))
            }),
            ships_to,
            api_timestamp,
            in_stock: None,
            location: None,
        }
    };
    let mut entries: Vec<Entry> = offers.into_iter().zip(vendors).map(entry).collect();
    // The stock of an entry is counted once, however many packs are offered.
    if let Some(first) = entries.first_mut() {
        first.in_stock = amount.map(|amount| amount.of(density_g_per_ml, &structure));
        first.location = text(Meaning::Location);
    }
    Ok(entries)
}

impl Offer {
    /// USD per gram of the major component: from pack and price if both are known, otherwise from the price per gram
    /// of the entry.
    fn usd_per_gram(&self, density_g_per_ml: Option<f64>, structure: &BlockStructure) -> Option<f64> {
        let of_pack = || {
            let unit = self.uom.as_deref()?.parse().ok()?;
            let (price_usd, size) = (self.price_usd?, self.pack?);
            usd_per_gram(PricedPack { price_usd, size, unit, density_g_per_ml }, structure.weights)
        };
        let of_gram = || {
            let gram = PricedPack {
                price_usd: self.usd_per_g?,
                size: 1.0,
                unit: Unit::Mass(1.0),
                density_g_per_ml: None,
            };
            usd_per_gram(gram, structure.weights)
        };
        of_pack().or_else(of_gram)
    }
}

/// Offers from a row's prices: one for its own pack, and one for each number, pack or vendor column. A row without
/// prices gives one offer without a price.
fn offers(row: &Row<'_>, rules: &FileDefaults) -> Result<Vec<Offer>, RecordFault> {
    let prices = Prices { stated: currency(row)?, rates: &rules.rates };
    let unit = row.get(&Meaning::Unit);
    let own = own_offer(row, unit, &prices)?;
    let mut offers = Vec::new();
    for part in row.numbered().values() {
        let prices = Prices { stated: currency(part)?.or(prices.stated), ..prices };
        let mut offer = own_offer(part, part.get(&Meaning::Unit).or(unit), &prices)?;
        offer.lead_time_days = match part.get(&Meaning::LeadTime(None)).map(lead_time).transpose()? {
            Some(LeadTime::Days(days)) => Some(days),
            _ => None,
        };
        if offer.pack.is_some() || offer.price_usd.is_some() || offer.usd_per_g.is_some() {
            offers.push(offer);
        }
    }
    for cell in row.offers.iter().copied() {
        match cell.meaning {
            Meaning::PackPrice(size, unit, currency) => {
                let price = parse_price_range(cell.text, cell.column.numbers);
                let price = price.map_err(|fault| cell.number_fault(fault))?;
                let Some((amount, beside)) = price else { continue };
                let price_usd = prices.usd(cell, amount, beside.unwrap_or(*currency), MAX_PACK_USD)?;
                let (pack, uom) = (Some(*size), Some(unit.clone()));
                offers.push(Offer { pack, uom, price_usd: Some(price_usd), ..Offer::default() });
            }
            Meaning::VendorPerGram(vendor) if !cell.is_zero() => {
                let usd_per_g = prices.money(cell, Currency::USD, MAX_USD_PER_GRAM)?;
                offers.push(Offer {
                    vendor: Some(vendor.clone()),
                    usd_per_g: Some(usd_per_g),
                    ..Offer::default()
                });
            }
            // A vendor's 0 means that it does not sell the entry.
            _ => {}
        }
    }
    let of_vendors = |cell: &Cell<'_>| matches!(cell.meaning, Meaning::VendorPerGram(_));
    if let (true, Some(cell)) = (offers.is_empty(), row.offers.iter().find(|cell| of_vendors(cell))) {
        return Err(RecordFault::NotForSale { column: cell.name() });
    }
    if offers.is_empty() || own.price_usd.is_some() || own.usd_per_g.is_some() {
        offers.insert(0, own);
    }
    Ok(offers)
}

/// The currency that a row states.
fn currency(row: &Row<'_>) -> Result<Option<Currency>, RecordFault> {
    let stated = row.get(&Meaning::Currency).map(|cell| match cell.text.parse() {
        Ok(currency) => Ok(currency),
        Err(_) => Err(RecordFault::Currency { column: cell.name(), text: shorten(cell.text) }),
    });
    stated.transpose()
}

/// The row's own pack and price.
fn own_offer(row: &Row<'_>, unit: Option<Cell<'_>>, prices: &Prices<'_>) -> Result<Offer, RecordFault> {
    let mut own = pack(row, unit)?;
    for cell in row.single.iter().copied() {
        match cell.meaning {
            Meaning::Price(currency) => own.price_usd = Some(prices.money(cell, *currency, MAX_PACK_USD)?),
            Meaning::PricePerGram(currency) => {
                // ASKCOS buyables mark entries that are not for sale this way.
                if cell.is_zero() {
                    return Err(RecordFault::NotForSale { column: cell.name() });
                }
                own.usd_per_g = Some(prices.money(cell, *currency, MAX_USD_PER_GRAM)?);
            }
            _ => {}
        }
    }
    Ok(own)
}

/// The row's own pack: a number with a unit column, or both in one field.
fn pack(row: &Row<'_>, unit: Option<Cell<'_>>) -> Result<Offer, RecordFault> {
    if let Some(unit) = unit {
        unit.unit()?;
    }
    let mut offer = Offer { uom: unit.map(|cell| cell.text.to_owned()), ..Offer::default() };
    let Some(cell) = row.find(|meaning| matches!(meaning, Meaning::Pack | Meaning::PackIn(_))) else {
        return Ok(offer);
    };
    if let Meaning::PackIn(unit) = cell.meaning {
        offer.uom = Some(unit.clone());
    }
    let size = match split_pack(cell.text) {
        Some((size, unit)) if offer.uom.is_none() => {
            offer.uom = Some(unit.to_owned());
            cell.over_zero(cell.number_in(size)?, LARGEST_PACK)?
        }
        _ => cell.number(LARGEST_PACK)?,
    };
    offer.pack = Some(size);
    Ok(offer)
}

/// Conversion of a row's prices to USD.
#[derive(Clone, Copy)]
struct Prices<'a> {
    stated: Option<Currency>,
    rates: &'a Rates,
}

impl Prices<'_> {
    /// Parses a price. Its currency is the one beside it, otherwise the row's, otherwise the column's.
    fn money(&self, cell: Cell<'_>, column: Currency, most: f64) -> Result<f64, RecordFault> {
        let found = money(cell.text, cell.column.numbers);
        let (amount, beside) = found.map_err(|fault| cell.number_fault(fault))?;
        self.usd(cell, amount, beside.or(self.stated).unwrap_or(column), most)
    }

    fn usd(&self, cell: Cell<'_>, amount: f64, currency: Currency, most: f64) -> Result<f64, RecordFault> {
        let amount = cell.over_zero(amount, f64::MAX)?;
        let no_rate = || RecordFault::NoRate { code: currency.to_string() };
        cell.over_zero(self.rates.usd(amount, currency).ok_or_else(no_rate)?, most)
    }
}

type Delivery = ([Option<f64>; 8], [Option<bool>; 8]);

/// Lead times and destinations. A statement about one country overrides one about all, and a country that is not
/// served has no lead time.
fn delivery(row: &Row<'_>) -> Result<Delivery, RecordFault> {
    let mut days = [None; 8];
    let mut ships_to = [None; 8];
    if let Some(cell) = row.get(&Meaning::ShipsTo(None)) {
        let wrong = || RecordFault::ShipsTo { column: cell.name(), text: shorten(cell.text) };
        ships_to = destinations(cell.text).ok_or_else(wrong)?;
    }
    if let Some(cell) = row.get(&Meaning::LeadTime(None)) {
        match lead_time(cell)? {
            LeadTime::Days(found) => days = [Some(found); 8],
            LeadTime::DoesNotShip => ships_to = [Some(false); 8],
            LeadTime::Unknown => {}
        }
    }
    for cell in row.single.iter().copied() {
        match *cell.meaning {
            Meaning::LeadTime(Some(position)) => match lead_time(cell)? {
                LeadTime::Days(found) => days[position] = Some(found),
                LeadTime::DoesNotShip => ships_to[position] = Some(false),
                LeadTime::Unknown => days[position] = None,
            },
            Meaning::ShipsTo(Some(position)) => {
                let wrong = || RecordFault::ShipsTo { column: cell.name(), text: shorten(cell.text) };
                ships_to[position] = ships(cell.text).ok_or_else(wrong)?.or(ships_to[position]);
            }
            _ => {}
        }
    }
    for (days, ships) in days.iter_mut().zip(ships_to) {
        if ships == Some(false) {
            *days = None;
        }
    }
    Ok((days, ships_to))
}

fn lead_time(cell: Cell<'_>) -> Result<LeadTime, RecordFault> {
    let found = LeadTime::of(cell.text)
        .ok_or_else(|| RecordFault::LeadTime { column: cell.name(), text: shorten(cell.text) })?;
    match found {
        LeadTime::Days(days) if days < 0.0 => Err(cell.out_of_range("negative")),
        LeadTime::Days(days) if days > MAX_LEAD_TIME_DAYS => Err(cell.out_of_range("beyond all reason")),
        found => Ok(found),
    }
}

fn timestamp(cell: Cell<'_>) -> Result<DateTime<Utc>, RecordFault> {
    let text = cell.text;
    let with_zone = || DateTime::parse_from_rfc3339(text).ok().map(|time| time.to_utc());
    let time = |form| NaiveDateTime::parse_from_str(text, form).ok().map(|time| time.and_utc());
    let date = || Some(text.parse::<NaiveDate>().ok()?.and_hms_opt(0, 0, 0)?.and_utc());
    let found = unix_time(text)
        .or_else(with_zone)
        .or_else(|| time("%Y-%m-%d %H:%M:%S%.f"))
        .or_else(|| time("%Y-%m-%dT%H:%M:%S%.f"))
        .or_else(date)
        .ok_or_else(|| RecordFault::Timestamp { column: cell.name(), text: shorten(text) })?;
    if YEARS.contains(&found.year()) { Ok(found) } else { Err(cell.out_of_range("beyond all reason")) }
}

/// Time since 1970 in seconds, milliseconds, microseconds or nanoseconds: of the times from 2001 to 2286, each unit
/// has its own number of digits.
fn unix_time(text: &str) -> Option<DateTime<Utc>> {
    let stored: i64 = text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()))?;
    match text.len() {
        10 => DateTime::from_timestamp(stored, 0),
        13 => DateTime::from_timestamp_millis(stored),
        16 => DateTime::from_timestamp_micros(stored),
        19 => Some(DateTime::from_timestamp_nanos(stored)),
        _ => None,
    }
}

/// The row's structure: from its SMILES, otherwise its connection table, otherwise the known structure of its
/// InChIKey.
fn structure(
    row: &Row<'_>,
    rules: &FileDefaults,
    structures: &mut StructureCache,
) -> Result<Arc<BlockStructure>, RecordFault> {
    // The blank lines at the start of a connection table are part of it.
    let molfile = row.get(&Meaning::Molfile).map(|cell| cell.untrimmed);
    let written = if let Some(smiles) = row.text(&Meaning::Smiles) {
        smiles
    } else if let Some(molfile) = molfile {
        molfile
    } else {
        let key = row.text(&Meaning::InchiKey).ok_or(RecordFault::NoSmiles)?;
        let key = key.strip_prefix("InChIKey=").unwrap_or(key);
        if !inchikey::is_key(key) {
            return Err(RecordFault::NotAKey { text: shorten(key) });
        }
        rules.keys.smiles(key).ok_or_else(|| RecordFault::UnknownKey { key: key.to_owned() })?
    };
    if let Some(known) = structures.get(written) {
        return known.clone();
    }
    let read = if molfile == Some(written) { BlockStructure::of_molfile } else { BlockStructure::of_smiles };
    let found = read(written).map(Arc::new);
    structures.insert(written.to_owned(), found.clone());
    found
}
