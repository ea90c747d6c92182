//! `retort catalogue diff`.

use std::{
    io::{self, Write},
    path::PathBuf,
};

use anyhow::Context as _;
use catalogue_tables::difference::Difference;
use clap::{Args, ValueEnum};

use super::reading::{ReadingArgs, load_known_keys};
use crate::{
    InstallationArgs,
    catalogue::{CatalogueImport, difference::difference},
    failure::Failure,
    terminal,
};

/// Show what an import of files would change.
///
/// Prints a line for each offer that is new or gone (`price_usd` with its price), and for each changed fact of an
/// offer: pack, price_usd, normalised_usd, full_canonical, amount, location, lead_time_days_to_…, ships_to_…. Offers
/// of the files' vendors that are not in the files count as gone, as with import --replace. Nothing is changed.
#[derive(Debug, Args)]
pub struct Diff {
    #[command(flatten)]
    reading: ReadingArgs,
    /// Compare with this file instead of the loaded catalogue; can be given several times.
    #[arg(long, value_name = "FILE")]
    against: Vec<PathBuf>,
    /// Output format.
    #[arg(long, value_enum, default_value_t = DiffFormat::Csv)]
    format: DiffFormat,
}

/// Output format of the differences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DiffFormat {
    /// Comma separated values under a header.
    Csv,
    /// One JSON object per line.
    Json,
}

impl Diff {
    pub(super) async fn run(self, installation: &InstallationArgs) -> Result<(), Failure> {
        let (against, format) = (self.against, self.format);
        let mut import = self.reading.settled()?;
        let mut database = installation.data().connect().await?;
        let mut older = CatalogueImport { files: against, rejects: None, ..import.clone() };
        // A list of keys only may be on either side.
        load_known_keys(&mut database, &mut import).await?;
        load_known_keys(&mut database, &mut older).await?;
        let before = (!older.files.is_empty()).then_some(&older);
        let mut lines = DiffWriter::new(format);
        let counts = difference(&mut database, &import, before, |difference| lines.write(difference)).await?;
        lines.finish()?;
        terminal::note(&format!(
            "{} offers are new, {} gone, {} changed, {} the same",
            counts.new, counts.gone, counts.changed, counts.same
        ));
        Ok(())
    }
}

/// Standard output in the requested format.
enum DiffWriter {
    Csv(Box<csv::Writer<io::Stdout>>),
    Json(io::BufWriter<io::Stdout>),
}

/// Context of a write error.
const WRITE_CONTEXT: &str = "writing to standard output";

impl DiffWriter {
    fn new(format: DiffFormat) -> Self {
        match format {
            DiffFormat::Csv => Self::Csv(Box::new(csv::Writer::from_writer(io::stdout()))),
            DiffFormat::Json => Self::Json(io::BufWriter::new(io::stdout())),
        }
    }

    fn write(&mut self, difference: &Difference) -> Result<(), Failure> {
        match self {
            Self::Csv(lines) => {
                lines.serialize(difference).map_err(io::Error::from).context(WRITE_CONTEXT)?
            }
            Self::Json(lines) => {
                serde_json::to_writer(&mut *lines, difference)
                    .map_err(io::Error::from)
                    .context(WRITE_CONTEXT)?;
                lines.write_all(b"\n").context(WRITE_CONTEXT)?;
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<(), Failure> {
        match self {
            Self::Csv(mut lines) => lines.flush().context(WRITE_CONTEXT)?,
            Self::Json(mut lines) => lines.flush().context(WRITE_CONTEXT)?,
        }
        Ok(())
    }
}
