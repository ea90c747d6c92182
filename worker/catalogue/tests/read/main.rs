//! Reading complete vendors' files: every format, every vendor's header, broken files, and properties of all.

#![allow(clippy::unwrap_used, reason = "a file of a test that cannot be read is a failed test")]

mod broken;
mod formats;
mod laws;
mod layouts;
mod numbers;
mod packed;
mod stock;
mod vendors;

use std::{num::NonZeroUsize, sync::Arc};

use catalogue::{
    Entry, Rates,
    read::{self, ColumnProfile, FileDescription, FileReadError, KnownKeys, Options, ReadInput},
};

/// Result of a file: offers, and rejects by line.
#[derive(Debug, PartialEq)]
struct Found {
    outline: FileDescription,
    entries: Vec<Entry>,
    rejects: Vec<(u64, String)>,
}

fn options() -> Options {
    Options {
        vendor: Some("House".into()),
        profile: ColumnProfile::default(),
        rates: Rates::default(),
        keys: Arc::new(KnownKeys::default()),
        threads: NonZeroUsize::new(2).unwrap(),
    }
}

fn found(name: &str, bytes: &[u8]) -> Found {
    found_with(name, bytes, &options()).unwrap()
}

fn found_with(name: &str, bytes: &[u8], options: &Options) -> Result<Found, FileReadError> {
    let opened = read::open(&ReadInput::Bytes(name.into(), bytes.to_vec()), options)?;
    let outline = opened.outline.clone();
    let (mut entries, mut rejects) = (Vec::new(), Vec::new());
    for batch in opened.read() {
        let batch = batch?;
        entries.extend(batch.entries);
        rejects.extend(
            batch.rejects.into_iter().map(|reject| (reject.position.number, reject.fault.to_string())),
        );
    }
    Ok(Found { outline, entries, rejects })
}

/// An offer in a line: structure, vendor, id, pack, USD and USD per gram of the entry.
fn shown(entry: &Entry) -> String {
    let number = |number: Option<f64>| number.map_or("-".into(), |number| format!("{number:.2}"));
    format!(
        "{} {} {} {}{} {} {}",
        entry.structure.smiles,
        entry.vendor_name,
        entry.cs_id.as_deref().unwrap_or("-"),
        entry.pack.map_or("-".into(), |pack| pack.to_string()),
        entry.uom.as_deref().unwrap_or(""),
        number(entry.price_usd),
        number(entry.normalised_usd),
    )
}

fn all_shown(found: &Found) -> Vec<String> {
    found.entries.iter().map(shown).collect()
}
