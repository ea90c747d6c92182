//! How vendors' files are read: what `retort catalogue import` and `diff` take alike.

use std::{
    error::Error,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use ::catalogue::{
    Rates,
    read::{Meaning, Profile},
};
use anyhow::Context as _;
use clap::Args;
use sqlx::PgConnection;

use crate::{catalogue, failure::Failure};

/// Files, and how they are read.
#[derive(Debug, Args)]
pub struct Reading {
    /// The files.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// The vendor, for records without a vendor_name of their own.
    #[arg(long, value_name = "NAME", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    vendor: Option<String>,
    /// What a column holds, where its header does not say: smiles, id, price:EUR, pack:mg, lead_time:US, amount:mg, ignore …
    #[arg(long = "column", value_name = "COLUMN=MEANING", value_parser = column)]
    columns: Vec<(String, String)>,
    /// The column with structures: the same as --column COLUMN=smiles.
    #[arg(long, value_name = "COLUMN")]
    smiles_column: Option<String>,
    /// What columns hold, as --save-profile wrote it or by the name of a profile (askcos, emolecules, molport …).
    #[arg(long, value_name = "FILE")]
    profile: Option<PathBuf>,
    /// USD for one unit of other currencies: lines `EUR = 1.08` or `EUR,1.08`.
    #[arg(long, value_name = "FILE")]
    rates: Option<PathBuf>,
    /// Write every record left out and every warning to FILE, with its line and the reason.
    #[arg(long, value_name = "FILE", alias = "errors")]
    rejects: Option<PathBuf>,
}

/// `COLUMN=MEANING`; a name may have an equals sign, a meaning has none.
fn column(text: &str) -> Result<(String, String), String> {
    let (name, meaning) = text.rsplit_once('=').ok_or("no `=` in it")?;
    meaning.parse::<Meaning>().map_err(|error| error.to_string())?;
    Ok((name.to_owned(), meaning.to_owned()))
}

impl Reading {
    /// What the arguments say, with the files that they name read.
    ///
    /// # Errors
    /// Fails where a profile or rates make no sense.
    pub(super) fn settled(self) -> Result<catalogue::Import, Failure> {
        let text =
            |path: &Path| fs::read_to_string(path).with_context(|| format!("reading {}", path.display()));
        let wrong = |path: &Path, error: &dyn Error| Failure::Usage(format!("{}: {error}", path.display()));
        let mut profile = match &self.profile {
            None => Profile::default(),
            Some(name) if !name.exists() => {
                Profile { profile: Some(name.display().to_string()), ..Profile::default() }
            }
            Some(path) => serde_json::from_str(&text(path)?).map_err(|error| wrong(path, &error))?,
        };
        profile.columns.extend(self.smiles_column.map(|column| (column, "smiles".to_owned())));
        profile.columns.extend(self.columns);
        let rates = match &self.rates {
            None => Rates::default(),
            Some(path) => text(path)?.parse().map_err(|error| wrong(path, &error))?,
        };
        Ok(catalogue::Import {
            files: self.files,
            vendor: self.vendor,
            profile,
            rates,
            rejects: self.rejects,
            ..catalogue::Import::default()
        })
    }
}

/// Looks up what InChIKeys stand for, where a file has nothing else.
///
/// # Errors
/// Fails where a file cannot be opened, and when the database does.
pub(super) async fn know_keys(
    database: &mut PgConnection,
    import: &mut catalogue::Import,
) -> Result<(), Failure> {
    if import.has_keys()? {
        import.keys = Arc::new(catalogue::known_keys(database).await?);
    }
    Ok(())
}
