//! `retort catalogue`.

mod look;
mod vendors;

use std::{
    error::Error,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Instant,
};

use ::catalogue::{
    Rates,
    read::{Meaning, Profile},
};
use anyhow::{Context as _, anyhow};
use clap::{Args, Subcommand};

use crate::{Place, catalogue, failure::Failure, terminal};

/// Load what can be bought, and look at it.
#[derive(Debug, Subcommand)]
pub enum Catalogue {
    /// Load vendors' files; a second import of an entry replaces it.
    Import(Import),
    /// Say what the catalogue holds.
    Info(Info),
    Vendors(vendors::Vendors),
    Restrict(vendors::Restrict),
    Prefer(vendors::Prefer),
    /// Let everybody see a vendor again.
    Publish(vendors::Named),
    /// Remove a vendor with its offers, and the building blocks that nobody else offers.
    Remove(vendors::Named),
    Search(look::Search),
    Show(look::Show),
    Export(look::Export),
    Verify(look::Verify),
}

/// Load vendors' files.
///
/// CSV and TSV, SMILES lists (.smi, .cxsmiles), SDF, JSON lines, JSON arrays, Parquet; packed with gzip, zstd or bzip2 or not, all told
/// by content. Columns are known by the headers that vendors and planners use, and shown before anything loads: those of
/// the contract's fields (smiles or full_canonical, and optionally vendor_name, cs_id, cs_prefix, cs_url, pack, uom, price_usd,
/// normalised_usd, usd_per_g, density_g_per_ml, lead_time_days_to_US … _AU, ships_to_US … _AU), ASKCOS buyables, eMolecules, MolPort,
/// Enamine, Mcule, Chemspace offers, SynPlanner, AiZynthFinder stocks; others are not used. Records that make
/// no sense are reported and left out; those that are counter-ions and solvates alone load with a warning. All files
/// load in one transaction.
#[derive(Debug, Args)]
pub struct Import {
    /// The files.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// The vendor, for records without a vendor_name of their own.
    #[arg(long, value_name = "NAME", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    vendor: Option<String>,
    /// What a column holds, where its header does not say: smiles, id, price:EUR, pack:mg, lead_time:US, ignore …
    #[arg(long = "column", value_name = "COLUMN=MEANING", value_parser = column)]
    columns: Vec<(String, String)>,
    /// The column with structures: the same as --column COLUMN=smiles.
    #[arg(long, value_name = "COLUMN")]
    smiles_column: Option<String>,
    /// What columns hold, as --save-profile wrote it or by the name of a profile (askcos, emolecules, molport …).
    #[arg(long, value_name = "FILE")]
    profile: Option<PathBuf>,
    /// The files are all that their vendors offer: what they offered before and do not offer in them goes.
    #[arg(long)]
    replace: bool,
    /// Write what the columns of the first file are read as to FILE, for --profile.
    #[arg(long, value_name = "FILE")]
    save_profile: Option<PathBuf>,
    /// USD for one unit of other currencies: lines `EUR = 1.08` or `EUR,1.08`.
    #[arg(long, value_name = "FILE")]
    rates: Option<PathBuf>,
    /// Write every record left out and every warning to FILE, with its line and the reason.
    #[arg(long, value_name = "FILE", alias = "errors")]
    rejects: Option<PathBuf>,
    /// Read and report everything, and change nothing; needs no database but for stocks of InChIKeys.
    #[arg(long)]
    dry_run: bool,
}

/// `COLUMN=MEANING`; a name may have an equals sign, a meaning has none.
fn column(text: &str) -> Result<(String, String), String> {
    let (name, meaning) = text.rsplit_once('=').ok_or("no `=` in it")?;
    meaning.parse::<Meaning>().map_err(|error| error.to_string())?;
    Ok((name.to_owned(), meaning.to_owned()))
}

/// Say what the catalogue holds.
#[derive(Debug, Args)]
pub struct Info {}

impl Catalogue {
    /// Runs the command.
    pub async fn run(self, place: &Place) -> Result<(), Failure> {
        match self {
            Self::Import(import) => import.run(place).await,
            Self::Info(info) => info.run(place).await,
            Self::Vendors(vendors) => vendors.run(place).await,
            Self::Restrict(restrict) => restrict.run(place).await,
            Self::Prefer(prefer) => prefer.run(place).await,
            Self::Publish(vendor) => vendor.publish(place).await,
            Self::Remove(vendor) => vendor.remove(place).await,
            Self::Search(search) => search.run(place).await,
            Self::Show(show) => show.run(place).await,
            Self::Export(export) => export.run(place).await,
            Self::Verify(verify) => verify.run(place).await,
        }
    }
}

impl Import {
    async fn run(self, place: &Place) -> Result<(), Failure> {
        let begun = Instant::now();
        let dry_run = self.dry_run;
        let mut import = self.settled()?;
        if import.has_keys()? {
            let mut database = place.data().connect().await?;
            import.keys = Arc::new(catalogue::known_keys(&mut database).await?);
        }

        let imported = if dry_run {
            catalogue::try_out(&import)?
        } else {
            let mut database = place.data().connect().await?;
            catalogue::common::add(&mut database).await?;
            catalogue::import(&mut database, &import).await?
        };

        let seconds = begun.elapsed().as_secs_f64();
        let (loaded, left_out) = (imported.loaded, imported.left_out);
        terminal::note(&match imported.merged {
            Some(merged) => format!(
                "loaded {loaded} offers and left out {left_out} records in {seconds:.1} s: {} new building blocks, {} new offers, {} replaced, {} removed",
                merged.new_building_blocks, merged.new_offers, merged.replaced_offers, merged.removed_offers
            ),
            None => {
                format!("would load {loaded} offers and leave out {left_out} records, read in {seconds:.1} s")
            }
        });
        if loaded == 0 && left_out > 0 {
            let files: Vec<String> = import.files.iter().map(|file| file.display().to_string()).collect();
            return Err(Failure::Other(anyhow!("no record of {} could be loaded", files.join(", "))));
        }
        Ok(())
    }

    /// What the arguments say, with the files that they name read.
    fn settled(self) -> Result<catalogue::Import, Failure> {
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
            save_profile: self.save_profile,
            rates,
            keys: Arc::default(),
            rejects: self.rejects,
            is_all: self.replace,
        })
    }
}

impl Info {
    async fn run(self, place: &Place) -> Result<(), Failure> {
        let mut database = place.data().connect().await?;
        let info = catalogue::info(&mut database).await?;
        let mut lines = vec![format!(
            "{} building blocks, {} of them with a price per gram",
            info.building_blocks, info.priced_building_blocks
        )];
        lines.extend(info.vendors.iter().map(|vendor| {
            format!(
                "{}: {} building blocks, {} offers, {} of them with a price per gram",
                vendor.name, vendor.building_blocks, vendor.offers, vendor.priced_offers
            )
        }));
        terminal::data(&lines.join("\n"))
    }
}
