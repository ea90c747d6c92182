//! `retort catalogue`.

use std::{path::PathBuf, time::Instant};

use clap::{Args, Subcommand};

use crate::{Place, catalogue, failure::Failure, terminal};

/// Load what can be bought, and look at it.
#[derive(Debug, Subcommand)]
pub enum Catalogue {
    /// Load a vendor's file; a second import of an entry replaces it.
    Import(Import),
    /// Say what the catalogue holds.
    Info(Info),
}

/// Load a vendor's file.
///
/// Comma or tab separated, gzip or not, with a header. Columns are known by the contract's field names: smiles
/// or full_canonical, and optionally vendor_name, cs_id, cs_prefix, cs_url, pack, uom, price_usd,
/// normalised_usd, usd_per_g, density_g_per_ml, lead_time_days_to_US … _AU; others are not used. Rows that make
/// no sense are reported and left out; those that are counter-ions and solvates alone load with a warning. The whole
/// file loads in one transaction.
#[derive(Debug, Args)]
pub struct Import {
    /// The file.
    #[arg(value_name = "FILE.csv[.gz]")]
    file: PathBuf,
    /// The vendor, for rows without a vendor_name of their own.
    #[arg(long, value_name = "NAME", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    vendor: Option<String>,
    /// The column with structures, where it is not called smiles or full_canonical.
    #[arg(long, value_name = "COLUMN")]
    smiles_column: Option<String>,
    /// Write every row left out and every warning to FILE, with its line and the reason.
    #[arg(long, value_name = "FILE")]
    errors: Option<PathBuf>,
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
        }
    }
}

impl Import {
    async fn run(self, place: &Place) -> Result<(), Failure> {
        let begun = Instant::now();
        let mut database = place.data().connect().await?;
        let import = catalogue::Import {
            file: self.file,
            vendor: self.vendor,
            smiles_column: self.smiles_column,
            errors: self.errors,
        };

        let imported = catalogue::import(&mut database, &import).await?;

        let seconds = begun.elapsed().as_secs_f64();
        let merged = imported.merged;
        terminal::note(&format!(
            "loaded {} rows and left out {} in {seconds:.1} s: {} new building blocks, {} new offers, {} replaced",
            imported.loaded,
            imported.left_out,
            merged.new_building_blocks,
            merged.new_offers,
            merged.replaced_offers
        ));
        if imported.loaded == 0 && imported.left_out > 0 {
            return Err(Failure::Other(anyhow::anyhow!(
                "no row of {} could be loaded",
                import.file.display()
            )));
        }
        Ok(())
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
