//! `retort catalogue`.

mod diff;
mod query;
mod reading;
mod vendors;

use std::{path::PathBuf, time::Instant};

use anyhow::anyhow;
use clap::{Args, Subcommand};
use reading::{ReadingArgs, load_known_keys};

use crate::{InstallationArgs, catalogue, failure::Failure, terminal};

/// Load and query the catalogue of building blocks.
#[derive(Debug, Subcommand)]
pub enum Catalogue {
    /// Load vendors' files; a second import of an entry replaces it.
    Import(ImportCatalogueArgs),
    Diff(diff::Diff),
    /// Summarise the content of the catalogue.
    Info(Info),
    Vendors(vendors::Vendors),
    Restrict(vendors::Restrict),
    Prefer(vendors::Prefer),
    /// Show a vendor to everybody again.
    Publish(vendors::Named),
    /// Remove a vendor with its offers, and the building blocks that no other vendor offers.
    Remove(vendors::Named),
    Search(query::SearchOffersArgs),
    Show(query::ShowOffersArgs),
    Export(query::Export),
    Verify(query::Verify),
}

/// Load vendors' files.
///
/// Reads CSV and TSV, SMILES lists (.smi, .cxsmiles), SDF, JSON lines, JSON arrays and Parquet, plain or compressed
/// with gzip, zstd or bzip2; all are detected by content. Columns are recognised by the headers that vendors and
/// planners use, and shown before anything loads: the contract's fields (smiles or full_canonical, and optionally
/// vendor_name, cs_id, cs_prefix, cs_url, pack, uom, price_usd, normalised_usd, usd_per_g, density_g_per_ml,
/// lead_time_days_to_US … _AU, ships_to_US … _AU, api_timestamp), those of your own stock (amount with its unit,
/// location), ASKCOS buyables, eMolecules, MolPort, Enamine, Mcule, Chemspace offers, ChemDiv, Life Chemicals, ZINC,
/// SynPlanner, AiZynthFinder stocks, and numbered pairs (Pack_1, Price_1); others are not used. Without a known column
/// of structures, the first that has SMILES in most rows counts. Each column's decimal mark is decided from its values
/// and shown. Invalid records are reported and left out; entries that consist only of counter-ions and solvates load
/// with a warning, and of one id with two structures the later row counts. All files load in one transaction.
#[derive(Debug, Args)]
pub struct ImportCatalogueArgs {
    #[command(flatten)]
    reading: ReadingArgs,
    /// The files are the complete offer of their vendors: offers that are not in them are removed.
    #[arg(long)]
    replace: bool,
    /// Write the meanings of the first file's columns to FILE, for --profile.
    #[arg(long, value_name = "FILE")]
    save_profile: Option<PathBuf>,
    /// Read and report everything, but change nothing; needs no database except for stocks of InChIKeys.
    #[arg(long)]
    dry_run: bool,
}

/// Summarise the content of the catalogue.
#[derive(Debug, Args)]
pub struct Info {}

impl Catalogue {
    /// Runs the command.
    pub async fn run(self, installation: &InstallationArgs) -> Result<(), Failure> {
        match self {
            Self::Import(import) => import.run(installation).await,
            Self::Diff(diff) => diff.run(installation).await,
            Self::Info(info) => info.run(installation).await,
            Self::Vendors(vendors) => vendors.run(installation).await,
            Self::Restrict(restrict) => restrict.run(installation).await,
            Self::Prefer(prefer) => prefer.run(installation).await,
            Self::Publish(vendor) => vendor.publish(installation).await,
            Self::Remove(vendor) => vendor.remove(installation).await,
            Self::Search(search) => search.run(installation).await,
            Self::Show(show) => show.run(installation).await,
            Self::Export(export) => export.run(installation).await,
            Self::Verify(verify) => verify.run(installation).await,
        }
    }
}

impl ImportCatalogueArgs {
    async fn run(self, installation: &InstallationArgs) -> Result<(), Failure> {
        let begun = Instant::now();
        let dry_run = self.dry_run;
        let mut import = catalogue::CatalogueImport {
            save_profile: self.save_profile,
            is_all: self.replace,
            ..self.reading.settled()?
        };
        if import.has_keys()? {
            load_known_keys(&mut installation.data().connect().await?, &mut import).await?;
        }

        let imported = if dry_run {
            catalogue::try_out(&import)?
        } else {
            let mut database = installation.data().connect().await?;
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
}

impl Info {
    async fn run(self, installation: &InstallationArgs) -> Result<(), Failure> {
        let mut database = installation.data().connect().await?;
        let info = catalogue_tables::query::info(&mut database).await?;
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
