//! Reading a vendor's file and sending it to the database, a block of rows at a time.
//!
//! Structures cost 99 % of the time, so a block's rows are parsed on all cores, in the file's order;
//! the database takes them faster than they come.

use std::{
    fs::File,
    io::{self, BufRead as _, BufReader, Read},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, anyhow};
use csv::{ByteRecord, ReaderBuilder};
use flate2::bufread::MultiGzDecoder;
use indicatif::ProgressBar;
use rayon::prelude::*;
use serde_json::json;
use sqlx::PgConnection;

use super::{
    columns::Columns,
    entry::{Entry, Fault},
    load::{self, Merged},
    report::Report,
};
use crate::{failure::Failure, journal, terminal};

/// Rows parsed together: enough for every core, small enough for a moving bar.
const BLOCK: usize = 2_048;

/// What to import.
#[derive(Debug, Clone)]
pub struct Import {
    /// Comma or tab separated, gzip or not, with a header.
    pub file: PathBuf,
    /// The vendor of rows that name none.
    pub vendor: Option<String>,
    /// The column with structures, where it is not called `smiles` or `full_canonical`.
    pub smiles_column: Option<String>,
    /// Where every row left out and every warning is written.
    pub errors: Option<PathBuf>,
}

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Imported {
    /// Rows that loaded.
    pub loaded: u64,
    /// Rows left out.
    pub left_out: u64,
    /// Rows that loaded although their major component is a known counter-ion or solvate.
    pub doubted: u64,
    /// What changed in the catalogue.
    pub merged: Merged,
}

/// Imports a file; rows that make no sense are reported and left out.
///
/// # Errors
/// Fails, and changes nothing, when the file cannot be read to its end, when its header has no structures, or
/// when the database does.
pub async fn import(database: &mut PgConnection, import: &Import) -> Result<Imported, Failure> {
    let path = import.file.display().to_string();
    let file = File::open(&import.file).with_context(|| format!("opening {path}"))?;
    let bar = terminal::file_bar(&file, "importing").with_context(|| format!("opening {path}"))?;
    let mut rows = open(bar.wrap_read(file), &path)?;
    let header = rows.headers().with_context(|| format!("reading the header of {path}"))?;
    let (columns, unused) = Columns::from_header(header, import.smiles_column.as_deref())
        .map_err(|error| Failure::Usage(format!("{path}: {error}")))?;
    if columns.vendor_name.is_none() && import.vendor.is_none() {
        return Err(Failure::Usage(format!(
            "{path} has no column `vendor_name`: name the vendor with --vendor"
        )));
    }
    if !unused.is_empty() {
        bar.suspend(|| terminal::note(&format!("columns not used: {}", unused.join(", "))));
    }
    let mut report = Report::new(import.errors.as_deref()).context("writing the file of errors")?;

    let mut transaction = load::begin(database).await?;
    let loaded = copy_rows(&mut transaction, &mut rows, &columns, import, &mut report, &bar).await?;
    bar.set_message("merging");
    let merged = load::merge(&mut transaction).await?;
    let details = json!({ "vendor": import.vendor, "loaded": loaded, "left_out": report.count() });
    journal::record(&mut transaction, "catalogue import", &path, details)
        .await
        .map_err(|error| Failure::database("writing the journal", &error))?;
    load::commit(transaction).await?;
    bar.finish_and_clear();
    let (left_out, doubted) = (report.count(), report.doubted());
    report.finish().context("writing the file of errors")?;
    Ok(Imported { loaded, left_out, doubted, merged })
}

/// A row and the line that it begins on.
pub type Line = (u64, ByteRecord);

/// The rows of a file.
pub type Rows = csv::Reader<Box<dyn Read + Send>>;

/// Tells gzip by its first bytes and the separator by the first line.
pub fn open(file: impl Read + Send + 'static, path: &str) -> Result<Rows, Failure> {
    let reading = || format!("reading {path}");
    let mut file = BufReader::with_capacity(1 << 16, file);
    let plain: Box<dyn Read + Send> = if file.fill_buf().with_context(reading)?.starts_with(&[0x1f, 0x8b]) {
        Box::new(MultiGzDecoder::new(file))
    } else {
        Box::new(file)
    };
    let mut plain = BufReader::with_capacity(1 << 16, plain);
    let start = plain.fill_buf().with_context(reading)?;
    if start.is_empty() {
        return Err(Failure::Other(anyhow!("{path} is empty")));
    }
    let first_line = start.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let delimiter = if first_line.contains(&b'\t') { b'\t' } else { b',' };
    Ok(ReaderBuilder::new()
        .delimiter(delimiter)
        .flexible(true)
        .from_reader(Box::new(WithoutCarriageReturns(plain))))
}

/// Drops the carriage returns of a text: the `csv` crate counts the line of a `\r\n` too late.
struct WithoutCarriageReturns<R>(R);

impl<R: Read> Read for WithoutCarriageReturns<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let filled = self.0.read(buffer)?;
            let mut kept = 0;
            for at in 0..filled {
                if buffer[at] != b'\r' {
                    buffer[kept] = buffer[at];
                    kept += 1;
                }
            }
            if kept > 0 || filled == 0 {
                return Ok(kept);
            }
        }
    }
}

/// Sends every row that makes sense to the temporary table; gives their number.
async fn copy_rows(
    connection: &mut PgConnection,
    rows: &mut Rows,
    columns: &Columns,
    import: &Import,
    report: &mut Report,
    bar: &ProgressBar,
) -> Result<u64, Failure> {
    let mut copy = load::copy(connection).await?;
    let mut loaded = 0;
    loop {
        let block = match read_block(rows, &import.file) {
            Ok(block) => block,
            Err(failure) => {
                // The server must leave its copy mode before the transaction can end; the fault to tell is the file's.
                let _ = copy.abort("the file cannot be read").await;
                return Err(failure);
            }
        };
        if block.is_empty() {
            break;
        }
        let vendor = import.vendor.as_deref();
        let entries: Vec<Result<Entry, (u64, Fault)>> = block
            .par_iter()
            .map(|(line, row)| Entry::read(*line, row, columns, vendor).map_err(|fault| (*line, fault)))
            .collect();
        let mut text = String::new();
        for entry in &entries {
            match entry {
                Ok(entry) => {
                    load::push_row(&mut text, entry);
                    loaded += 1;
                    report
                        .doubt(entry, |told| bar.suspend(|| terminal::note(told)))
                        .context("writing the file of errors")?;
                }
                Err((line, fault)) => report
                    .add(*line, fault, |told| bar.suspend(|| terminal::note(told)))
                    .context("writing the file of errors")?,
            }
        }
        copy.send(text.into_bytes()).await.map_err(|error| Failure::database("copying rows", &error))?;
    }
    copy.finish().await.map_err(|error| Failure::database("copying rows", &error))?;
    Ok(loaded)
}

/// The next rows of the file; none at its end. Empty lines are no rows.
pub fn read_block(rows: &mut Rows, path: &Path) -> Result<Vec<Line>, Failure> {
    let mut block = Vec::with_capacity(BLOCK);
    let mut row = ByteRecord::new();
    while block.len() < BLOCK {
        let line = rows.position().line();
        let more = rows.read_byte_record(&mut row).with_context(|| {
            format!("reading {} at about line {line}; nothing was imported", path.display())
        })?;
        if !more {
            break;
        }
        // Empty lines before a row belong to nobody; line feeds within it are its own.
        let within: usize = row.iter().map(|field| field.iter().filter(|&&byte| byte == b'\n').count()).sum();
        let begun = (rows.position().line() - 1).saturating_sub(within as u64);
        block.push((begun.max(line), row.clone()));
    }
    Ok(block)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::{Compression, write::GzEncoder};

    use super::*;
    use crate::{catalogue::load::Info, test_database::with_database};

    /// Writes a file, with gzip if its name says so, and describes its import.
    fn file(folder: &tempfile::TempDir, name: &str, text: &str) -> Import {
        let path = folder.path().join(name);
        let bytes = if name.ends_with(".gz") {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(text.as_bytes()).unwrap();
            encoder.finish().unwrap()
        } else {
            text.as_bytes().to_vec()
        };
        std::fs::write(&path, bytes).unwrap();
        Import { file: path, vendor: Some("House".into()), smiles_column: None, errors: None }
    }

    const OFFERS: &str = "smiles,cs_id,pack,uom,price_usd,lead_time_days_to_US\n\
                          OCC,1,10,g,20,3\nOCC,1,100,g,90,\nc1ccccc1Br,2,1,kg,50,7\n";

    #[tokio::test]
    async fn the_same_file_again_changes_nothing_but_the_time() {
        with_database(async |database| {
            let folder = tempfile::tempdir().unwrap();
            let import_it = file(&folder, "offers.csv.gz", OFFERS);

            let first = import(database, &import_it).await.unwrap();
            let second = import(database, &import_it).await.unwrap();

            let merged = |new_building_blocks, new_offers, replaced_offers| Merged {
                new_building_blocks,
                new_offers,
                replaced_offers,
            };
            assert_eq!(first, Imported { loaded: 3, left_out: 0, doubted: 0, merged: merged(2, 3, 0) });
            assert_eq!(second, Imported { loaded: 3, left_out: 0, doubted: 0, merged: merged(0, 0, 3) });
            let prices: Vec<(String, Option<f64>, Option<f64>)> = sqlx::query_as(
                "select smiles, normalised_usd, lead_time_days_to_us from offers
                 join building_blocks on building_blocks.id = building_block_id order by offers.cs_id, pack",
            )
            .fetch_all(database)
            .await
            .unwrap();
            assert_eq!(
                prices,
                [
                    ("CCO".into(), Some(2.0), Some(3.0)),
                    ("CCO".into(), Some(0.9), None),
                    ("Brc1ccccc1".into(), Some(0.05), Some(7.0)),
                ]
            );
        })
        .await;
    }

    #[tokio::test]
    async fn a_building_block_that_lost_its_last_offer_to_another_is_gone() {
        with_database(async |database| {
            let folder = tempfile::tempdir().unwrap();
            let first = file(&folder, "first.csv", "smiles,cs_id\nCCO,1\nCCN,2\nCCC,3\n");
            let second = file(&folder, "second.csv", "smiles,cs_id\nCCN,1\nCCN,2\n");

            import(database, &first).await.unwrap();
            import(database, &second).await.unwrap();

            let blocks: Vec<String> =
                sqlx::query_scalar("select smiles from building_blocks order by smiles")
                    .fetch_all(&mut *database)
                    .await
                    .unwrap();
            assert_eq!(blocks, ["CCC", "CCN"]);
            // Searchers that heard of neither import see that there were two.
            let version: i64 = sqlx::query_scalar("select version from catalogue_version")
                .fetch_one(database)
                .await
                .unwrap();
            assert_eq!(version, 3);
        })
        .await;
    }

    #[tokio::test]
    async fn broken_rows_are_written_down_and_the_rest_loads() {
        with_database(async |database| {
            let folder = tempfile::tempdir().unwrap();
            let rows = "smiles\tprice_usd\nCCO\t1\nC1CC\t1\n\nCCN\t-1\nCCC\t\n";
            let mut import_it = file(&folder, "broken.tsv", rows);
            import_it.errors = Some(folder.path().join("errors.tsv"));

            let imported = import(database, &import_it).await.unwrap();

            assert_eq!((imported.loaded, imported.left_out), (2, 2));
            let errors = std::fs::read_to_string(folder.path().join("errors.tsv")).unwrap();
            let lines: Vec<&str> = errors.lines().collect();
            assert_eq!(lines.len(), 3);
            assert!(lines[1].starts_with("3\tunreadable SMILES\tSMILES `C1CC`: ring bond 1"), "{}", lines[1]);
            assert_eq!(lines[2], "5\tnumber out of range\tprice_usd `-1` is negative");
        })
        .await;
    }

    #[tokio::test]
    async fn a_row_whose_parent_is_a_counter_ion_loads_with_a_warning_by_line() {
        with_database(async |database| {
            let folder = tempfile::tempdir().unwrap();
            let rows = "smiles\nC1CNC1.OC(=O)C(F)(F)F\nCCN(CC)CC.Cl\nCC(=O)O\n[Na+].CC(=O)[O-]\n";
            let mut import_it = file(&folder, "salts.csv", rows);
            import_it.errors = Some(folder.path().join("errors.tsv"));

            let imported = import(database, &import_it).await.unwrap();

            assert_eq!((imported.loaded, imported.left_out, imported.doubted), (4, 0, 2));
            let errors = std::fs::read_to_string(folder.path().join("errors.tsv")).unwrap();
            assert_eq!(
                errors.lines().skip(1).collect::<Vec<_>>(),
                [
                    "3\twarning\t`CCN(CC)CC.Cl` is taken for `CCN(CC)CC`, a known counter-ion or solvate (triethylamine)",
                    "5\twarning\t`CC(=O)[O-].[Na+]` is taken for `CC(=O)O`, a known counter-ion or solvate (acetic acid)",
                ]
            );
            let blocks: Vec<String> =
                sqlx::query_scalar("select smiles from building_blocks order by smiles collate \"C\"")
                    .fetch_all(database)
                    .await
                    .unwrap();
            assert_eq!(blocks, ["C1CNC1", "CC(=O)O", "CCN(CC)CC"]);
        })
        .await;
    }

    #[test]
    fn a_row_is_known_by_the_line_it_begins_on() {
        let cases = [
            ("smiles\nCCO\nCCN\n", vec![2, 3]),
            ("smiles\r\nCCO\r\nCCN\r\n", vec![2, 3]),
            ("smiles\n\nCCO\n\n\nCCN\n", vec![3, 6]),
            ("smiles,note\nCCO,\"two\nlines\"\nCCN,\n", vec![2, 4]),
        ];
        for (text, expected) in cases {
            let mut rows = open(io::Cursor::new(text), "text").unwrap();
            rows.headers().unwrap();

            let block = read_block(&mut rows, Path::new("text")).unwrap();

            assert_eq!(block.iter().map(|(line, _)| *line).collect::<Vec<_>>(), expected, "{text:?}");
        }
    }

    #[tokio::test]
    async fn a_file_that_ends_too_soon_changes_nothing() {
        with_database(async |database| {
            let folder = tempfile::tempdir().unwrap();
            let import_it = file(&folder, "cut.csv.gz", OFFERS);
            let whole = std::fs::read(&import_it.file).unwrap();
            std::fs::write(&import_it.file, &whole[..whole.len() - 20]).unwrap();

            let failure = import(database, &import_it).await.unwrap_err();

            assert!(failure.to_string().contains("nothing was imported"), "{failure}");
            let info = crate::catalogue::info(database).await.unwrap();
            assert_eq!(info, Info { building_blocks: 0, priced_building_blocks: 0, vendors: vec![] });
        })
        .await;
    }

    #[tokio::test]
    async fn a_row_that_names_its_vendor_needs_none_for_the_file() {
        with_database(async |database| {
            let folder = tempfile::tempdir().unwrap();
            let rows = "smiles,vendor_name\nCCO,One\nCCO,Other\n\"CCN\",\"Two, \\ or three\"\n";
            let import_it = Import { vendor: None, ..file(&folder, "vendors.csv", rows) };

            let imported = import(database, &import_it).await.unwrap();

            assert_eq!((imported.merged.new_building_blocks, imported.merged.new_offers), (2, 3));
            let info = crate::catalogue::info(database).await.unwrap();
            let names: Vec<&str> = info.vendors.iter().map(|vendor| vendor.name.as_str()).collect();
            assert_eq!(names, ["One", "Other", "Two, \\ or three"]);
        })
        .await;
    }
}
