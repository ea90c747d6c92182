//! Reading vendors' files and sending their offers to the database, a batch at a time.
//!
//! Structures cost nearly all of the time: the reader understands them on all cores while the database takes what came before.

use std::{
    fs,
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::Arc,
    thread::available_parallelism,
    time::Instant,
};

use ::catalogue::{
    Rates, inchi_key,
    read::{self, Batch, Input, KnownKeys, Meaning, Opened, Options, Outline, Profile, ReadError},
};
use anyhow::Context as _;
use indicatif::ProgressBar;
use serde_json::json;
use sqlx::PgConnection;

use super::{
    load::{self, Merged},
    report::{At, Report},
};
use crate::{failure::Failure, journal, terminal};

/// What to import.
#[derive(Debug, Clone, Default)]
pub struct Import {
    /// The files, in the order in which they count: of one entry the last offer stays.
    pub files: Vec<PathBuf>,
    /// The vendor of records that name none.
    pub vendor: Option<String>,
    /// What the user says of the columns.
    pub profile: Profile,
    /// Where that is kept, with what was recognised.
    pub save_profile: Option<PathBuf>,
    /// What other currencies are worth.
    pub rates: Rates,
    /// Structures by InChIKey, for stocks of keys.
    pub keys: Arc<KnownKeys>,
    /// Where every record left out and every warning is written.
    pub rejects: Option<PathBuf>,
}

impl Import {
    /// How its files are read.
    fn options(&self) -> Options {
        Options {
            vendor: self.vendor.clone(),
            profile: self.profile.clone(),
            rates: self.rates.clone(),
            keys: Arc::clone(&self.keys),
            threads: available_parallelism().unwrap_or(NonZeroUsize::MIN),
        }
    }

    /// Whether a file is a stock of InChIKeys, for which the structures that they stand for must be known.
    ///
    /// # Errors
    /// Fails where a file cannot be opened.
    pub fn has_keys(&self) -> Result<bool, Failure> {
        for path in &self.files {
            let opened = read::open(&Input::File(path.clone()), &self.options()).map_err(failure)?;
            if opened.outline.is_of_keys() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Imported {
    /// Offers that loaded, or would.
    pub loaded: u64,
    /// Records left out.
    pub left_out: u64,
    /// Offers that loaded although their major component is a known counter-ion or solvate.
    pub doubted: u64,
    /// What changed in the catalogue; nothing where the files were only tried out.
    pub merged: Option<Merged>,
}

/// Imports files; records that make no sense are reported and left out.
///
/// # Errors
/// Fails, and changes nothing, when a file cannot be read to its end, when its columns hold no structures, or
/// when the database does.
pub async fn import(database: &mut PgConnection, import: &Import) -> Result<Imported, Failure> {
    let mut files = Files::open(import)?;
    let mut transaction = load::begin(database).await?;
    let mut copy = load::copy(&mut transaction).await?;
    let mut text = String::new();
    let mut number = 0;
    while let Some(batch) = files.next() {
        let batch = match batch {
            Ok(batch) => batch,
            Err(failure) => {
                // The server must leave its copy mode before the transaction can end; the fault to tell is the file's.
                let _ = copy.abort("the file cannot be read").await;
                return Err(failure);
            }
        };
        text.clear();
        for entry in &batch.entries {
            number += 1;
            load::push_row(&mut text, number, entry);
        }
        copy.send(text.as_bytes()).await.map_err(|error| Failure::database("copying rows", &error))?;
    }
    copy.finish().await.map_err(|error| Failure::database("copying rows", &error))?;
    files.bar.set_message("merging");
    let merged = load::merge(&mut transaction).await?;
    let left_out = files.report.count();
    let details = json!({ "vendor": import.vendor, "loaded": files.loaded, "left_out": left_out });
    let names: Vec<String> = import.files.iter().map(|path| path.display().to_string()).collect();
    journal::record(&mut transaction, "catalogue import", &names.join(", "), details)
        .await
        .map_err(|error| Failure::database("writing the journal", &error))?;
    load::commit(transaction).await?;
    files.finish(Some(merged))
}

/// The building blocks of the catalogue by their InChIKeys.
///
/// # Errors
/// Fails when the database does.
pub async fn known_keys(database: &mut PgConnection) -> Result<KnownKeys, Failure> {
    let blocks = load::structures(database).await?;
    let bar = terminal::bar(blocks.len() as u64, "InChIKeys of the catalogue");
    let keyed = |smiles: String| {
        bar.inc(1);
        Some((inchi_key(&smiles)?, smiles))
    };
    let keys = blocks.into_iter().filter_map(keyed).collect();
    bar.finish_and_clear();
    Ok(keys)
}

/// Reads files as an import does, and changes nothing.
///
/// # Errors
/// Fails as [`import`] does, the database aside.
pub fn try_out(import: &Import) -> Result<Imported, Failure> {
    let mut files = Files::open(import)?;
    while let Some(batch) = files.next() {
        batch?;
    }
    files.finish(None)
}

/// The files of an import, one after the other.
struct Files {
    waiting: std::vec::IntoIter<(String, Opened)>,
    reading: Option<Current>,
    /// Whether records are told by file.
    are_several: bool,
    report: Report,
    loaded: u64,
    records: u64,
    bar: ProgressBar,
    begun: Instant,
    /// Bytes of the files that are done.
    done: u64,
}

/// The file that is being read.
struct Current {
    name: String,
    outline: Outline,
    reading: read::Reading,
}

impl Files {
    /// Opens all files, and says what they are read as.
    fn open(import: &Import) -> Result<Self, Failure> {
        let options = import.options();
        let mut files = Vec::new();
        for path in &import.files {
            let opened = read::open(&Input::File(path.clone()), &options).map_err(failure)?;
            terminal::note(&shown(path, &opened.outline));
            if !opened.outline.tells_vendors() {
                let path = path.display();
                return Err(Failure::Usage(format!(
                    "{path} has no column `vendor_name`: name the vendor with --vendor"
                )));
            }
            files.push((path.display().to_string(), opened));
        }
        if let (Some(path), Some((_, first))) = (&import.save_profile, files.first()) {
            let profile = first.outline.to_profile();
            let text = serde_json::to_string_pretty(&profile).context("writing a profile")?;
            fs::write(path, text + "\n").with_context(|| format!("writing {}", path.display()))?;
        }
        let size = files.iter().map(|(_, file)| file.outline.size).sum();
        Ok(Self {
            are_several: files.len() > 1,
            waiting: files.into_iter(),
            reading: None,
            report: Report::new(import.rejects.as_deref()).context("writing the file of rejects")?,
            loaded: 0,
            records: 0,
            bar: terminal::bytes_bar(size, "importing"),
            begun: Instant::now(),
            done: 0,
        })
    }

    /// The next offers. What is left out with them is reported.
    fn next(&mut self) -> Option<Result<Batch, Failure>> {
        loop {
            if self.reading.is_none() {
                let (name, opened) = self.waiting.next()?;
                let outline = opened.outline.clone();
                self.reading = Some(Current { name, outline, reading: opened.read() });
            }
            let current = self.reading.as_mut()?;
            match current.reading.next() {
                Some(Ok(batch)) => return Some(self.take(batch)),
                Some(Err(error)) => return Some(Err(failure(error))),
                None => {
                    self.done += current.outline.size;
                    self.reading = None;
                }
            }
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "a rate, for people")]
    fn take(&mut self, batch: Batch) -> Result<Batch, Failure> {
        let Some(current) = &self.reading else { return Ok(batch) };
        let counted = if current.outline.format.has_lines() { "line" } else { "row" };
        let file = self.are_several.then_some(current.name.as_str());
        let at = |number| At { file, number, counted };
        let tell = |told: &str| self.bar.suspend(|| terminal::note(told));
        let writing = "writing the file of rejects";
        for reject in &batch.rejects {
            self.report.add(&at(reject.place.number), &reject.fault, tell).context(writing)?;
        }
        for entry in &batch.entries {
            self.report.doubt(&at(entry.place.number), entry, tell).context(writing)?;
        }
        self.loaded += batch.entries.len() as u64;
        self.records += batch.records;
        let rate = self.records as f64 / self.begun.elapsed().as_secs_f64();
        self.bar.set_message(format!("importing, {rate:.0} records/s"));
        self.bar.set_position(self.done + batch.bytes_read);
        Ok(batch)
    }

    fn finish(self, merged: Option<Merged>) -> Result<Imported, Failure> {
        self.bar.finish_and_clear();
        let (left_out, doubted) = (self.report.count(), self.report.doubted());
        self.report.finish().context("writing the file of rejects")?;
        Ok(Imported { loaded: self.loaded, left_out, doubted, merged })
    }
}

/// What a file is read as, for people.
fn shown(path: &Path, outline: &Outline) -> String {
    let Outline { format, compression, profile, columns, .. } = outline;
    let width = columns.iter().map(|column| column.name.chars().count()).max().unwrap_or(0);
    let line = |column: &read::Column| match &column.meaning {
        Meaning::Ignored => format!("\n  {:width$}  not used", column.name),
        meaning => format!("\n  {:width$}  {meaning}", column.name),
    };
    let columns: String = columns.iter().map(line).collect();
    let (format, packed) = (format.name(), compression.name());
    format!("{}: {format}, {packed}, read as `{profile}`{columns}", path.display())
}

fn failure(error: ReadError) -> Failure {
    match error {
        ReadError::Header { .. } | ReadError::Profile(_) => Failure::Usage(error.to_string()),
        error => Failure::Other(anyhow::Error::new(error).context("nothing was imported")),
    }
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
        fs::write(&path, bytes).unwrap();
        Import { files: vec![path], vendor: Some("House".into()), ..Import::default() }
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
            assert_eq!(first, Imported { loaded: 3, left_out: 0, doubted: 0, merged: Some(merged(2, 3, 0)) });
            assert_eq!(
                second,
                Imported { loaded: 3, left_out: 0, doubted: 0, merged: Some(merged(0, 0, 3)) }
            );
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
            import_it.rejects = Some(folder.path().join("errors.tsv"));

            let imported = import(database, &import_it).await.unwrap();

            assert_eq!((imported.loaded, imported.left_out), (2, 2));
            let errors = fs::read_to_string(folder.path().join("errors.tsv")).unwrap();
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
            import_it.rejects = Some(folder.path().join("errors.tsv"));

            let imported = import(database, &import_it).await.unwrap();

            assert_eq!((imported.loaded, imported.left_out, imported.doubted), (4, 0, 2));
            let errors = fs::read_to_string(folder.path().join("errors.tsv")).unwrap();
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

    #[tokio::test]
    async fn a_file_that_ends_too_soon_changes_nothing() {
        with_database(async |database| {
            let folder = tempfile::tempdir().unwrap();
            let import_it = file(&folder, "cut.csv.gz", OFFERS);
            let whole = fs::read(&import_it.files[0]).unwrap();
            fs::write(&import_it.files[0], &whole[..whole.len() - 20]).unwrap();

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

            let merged = imported.merged.unwrap();
            assert_eq!((merged.new_building_blocks, merged.new_offers), (2, 3));
            let info = crate::catalogue::info(database).await.unwrap();
            let names: Vec<&str> = info.vendors.iter().map(|vendor| vendor.name.as_str()).collect();
            assert_eq!(names, ["One", "Other", "Two, \\ or three"]);
        })
        .await;
    }

    #[tokio::test]
    async fn a_dry_run_tells_what_an_import_would_do() {
        let folder = tempfile::tempdir().unwrap();
        let mut import_it = file(&folder, "one.csv", "smiles,cs_id\nCCO,1\nC1CC,2\n");
        import_it.files.extend(file(&folder, "two.smi", "CCN Z2\n*C Z3\n").files);
        import_it.rejects = Some(folder.path().join("rejects.tsv"));
        import_it.save_profile = Some(folder.path().join("profile.json"));

        let imported = try_out(&import_it).unwrap();

        assert_eq!(imported, Imported { loaded: 2, left_out: 2, doubted: 0, merged: None });
        let rejects = fs::read_to_string(folder.path().join("rejects.tsv")).unwrap();
        let places: Vec<&str> =
            rejects.lines().skip(1).map(|line| line.split('\t').next().unwrap()).collect();
        let place = |name: &str, line: u64| format!("{}:{line}", folder.path().join(name).display());
        assert_eq!(places, [place("one.csv", 3), place("two.smi", 2)]);
        let profile = fs::read_to_string(folder.path().join("profile.json")).unwrap();
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&profile).unwrap(),
            json!({ "profile": "generic", "columns": { "smiles": "smiles", "cs_id": "id" } })
        );
    }

    #[tokio::test]
    async fn a_stock_of_keys_offers_what_the_catalogue_knows() {
        with_database(async |database| {
            let folder = tempfile::tempdir().unwrap();
            import(database, &file(&folder, "known.csv", "smiles\nCCO\nCCN\n")).await.unwrap();
            let keys = "inchi_key\nLFQSCWFLJHTTHZ-UHFFFAOYSA-N\nUHOVQNZJYSORNB-UHFFFAOYSA-N\n";
            let mut stock = Import { vendor: Some("Stock".into()), ..file(&folder, "stock.csv", keys) };
            assert!(stock.has_keys().unwrap());
            stock.keys = Arc::new(known_keys(database).await.unwrap());

            let imported = import(database, &stock).await.unwrap();

            assert_eq!((imported.loaded, imported.left_out), (1, 1));
            let merged = imported.merged.unwrap();
            assert_eq!((merged.new_building_blocks, merged.new_offers), (0, 1));
        })
        .await;
    }

    #[tokio::test]
    async fn several_files_load_together_or_not_at_all() {
        with_database(async |database| {
            let folder = tempfile::tempdir().unwrap();
            let mut import_it = file(&folder, "one.csv", "smiles,cs_id,usd_per_g\nCCO,1,5\n");
            import_it.files.extend(file(&folder, "two.csv", "smiles,cs_id,usd_per_g\nCCO,1,7\n").files);
            let mut broken = import_it.clone();
            broken.files.extend(file(&folder, "three.csv.gz", OFFERS).files);
            let whole = fs::read(&broken.files[2]).unwrap();
            fs::write(&broken.files[2], &whole[..whole.len() - 20]).unwrap();

            let failure = import(database, &broken).await.unwrap_err();
            assert!(failure.to_string().contains("nothing was imported"), "{failure}");
            let imported = import(database, &import_it).await.unwrap();

            // Of one entry the last offer of the last file stays.
            assert_eq!((imported.loaded, imported.merged.unwrap().new_offers), (2, 1));
            let price: f64 =
                sqlx::query_scalar("select normalised_usd from offers").fetch_one(database).await.unwrap();
            assert!((price - 7.0).abs() < 1e-9);
        })
        .await;
    }
}
