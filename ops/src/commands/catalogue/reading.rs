//! Options for reading vendors' files, shared by `retort catalogue import` and `diff`.

use std::{
    error::Error,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use ::catalogue::{
    NumberStyle, Rates,
    read::{ColumnProfile, Meaning},
};
use anyhow::Context as _;
use clap::{Args, ValueEnum};
use sqlx::PgConnection;

use crate::{catalogue, failure::Failure};

/// Files, and options for reading them.
#[derive(Debug, Args)]
pub struct ReadingArgs {
    /// The files.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Vendor for records without their own vendor_name.
    #[arg(long, value_name = "NAME", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    vendor: Option<String>,
    /// Meaning of a column that its header does not show: smiles, id, price:EUR, pack:mg, lead_time:US, amount:mg,
    /// ignore … Columns may be named by their number, from 1.
    #[arg(long = "column", value_name = "COLUMN=MEANING", value_parser = column)]
    columns: Vec<(String, String)>,
    /// Column with structures, by name or by number from 1: the same as --column COLUMN=smiles.
    #[arg(long, value_name = "COLUMN")]
    smiles_column: Option<String>,
    /// Meanings of columns: a file written by --save-profile, or the name of a profile (askcos, emolecules, molport
    /// …).
    #[arg(long, value_name = "FILE")]
    profile: Option<PathBuf>,
    /// Decimal mark of all numbers [default: decided for each column from its values].
    #[arg(long, value_name = "MARK", value_enum)]
    numbers: Option<DecimalMark>,
    /// File of exchange rates, USD for one unit of other currencies: lines `EUR = 1.08` or `EUR,1.08`.
    #[arg(long, value_name = "FILE")]
    rates: Option<PathBuf>,
    /// Write every rejected record and every warning to FILE, with its line and the reason.
    #[arg(long, value_name = "FILE", alias = "errors")]
    rejects: Option<PathBuf>,
}

/// Decimal mark of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DecimalMark {
    /// 1,234.50
    Point,
    /// 1.234,50
    Comma,
}

impl From<DecimalMark> for NumberStyle {
    fn from(mark: DecimalMark) -> Self {
        match mark {
            DecimalMark::Point => Self::Point,
            DecimalMark::Comma => Self::Comma,
        }
    }
}

/// Parses `COLUMN=MEANING`; a name may contain an equals sign, a meaning does not.
fn column(text: &str) -> Result<(String, String), String> {
    let (name, meaning) = text.rsplit_once('=').ok_or("no `=` in it")?;
    meaning.parse::<Meaning>().map_err(|error| error.to_string())?;
    Ok((name.to_owned(), meaning.to_owned()))
}

impl ReadingArgs {
    /// Converts the arguments to import options, reading the files that they name.
    ///
    /// # Errors
    /// Fails if a profile or exchange rates are invalid.
    pub(super) fn settled(self) -> Result<catalogue::CatalogueImport, Failure> {
        let text =
            |path: &Path| fs::read_to_string(path).with_context(|| format!("reading {}", path.display()));
        let wrong = |path: &Path, error: &dyn Error| Failure::Usage(format!("{}: {error}", path.display()));
        let mut profile = match &self.profile {
            None => ColumnProfile::default(),
            Some(name) if !name.exists() => {
                ColumnProfile { profile: Some(name.display().to_string()), ..ColumnProfile::default() }
            }
            Some(path) => serde_json::from_str(&text(path)?).map_err(|error| wrong(path, &error))?,
        };
        profile.columns.extend(self.smiles_column.map(|column| (column, "smiles".to_owned())));
        profile.columns.extend(self.columns);
        profile.numbers = self.numbers.map(NumberStyle::from).or(profile.numbers);
        let rates = match &self.rates {
            None => Rates::default(),
            Some(path) => text(path)?.parse().map_err(|error| wrong(path, &error))?,
        };
        Ok(catalogue::CatalogueImport {
            files: self.files,
            vendor: self.vendor,
            profile,
            rates,
            rejects: self.rejects,
            ..catalogue::CatalogueImport::default()
        })
    }
}

/// Loads the known structures of InChIKeys, if a file has no other structures.
///
/// # Errors
/// Fails if a file cannot be opened, or if the database fails.
pub(super) async fn load_known_keys(
    database: &mut PgConnection,
    import: &mut catalogue::CatalogueImport,
) -> Result<(), Failure> {
    if import.has_keys()? {
        import.keys = Arc::new(catalogue::known_keys(database).await?);
    }
    Ok(())
}
