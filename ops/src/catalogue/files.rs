//! The files of an import, read one after the other, with their description, reports of rejects, and a progress bar.

use std::{
    fs,
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::Arc,
    thread::available_parallelism,
    time::Instant,
};

use ::catalogue::{
    Rates,
    read::{
        self, ColumnProfile, EntryBatch, FileDescription, FileReadError, KnownKeys, Meaning, OpenedFile,
        Options, ReadInput,
    },
};
use anyhow::Context as _;
use catalogue_tables::structure_changes::StructureChange;
use indicatif::ProgressBar;

use super::report::{ImportReport, RecordLocation, ReportCounts};
use crate::{failure::Failure, terminal};

/// Options of an import.
#[derive(Debug, Clone, Default)]
pub struct CatalogueImport {
    /// The files in order of precedence: the last offer of an entry counts.
    pub files: Vec<PathBuf>,
    /// The vendor of records that name none.
    pub vendor: Option<String>,
    /// User's statements about the columns.
    pub profile: ColumnProfile,
    /// File to which these are saved, together with the detected columns.
    pub save_profile: Option<PathBuf>,
    /// Exchange rates of other currencies.
    pub rates: Rates,
    /// Structures by InChIKey, for stocks of keys.
    pub keys: Arc<KnownKeys>,
    /// File to which every reject and every warning is written.
    pub rejects: Option<PathBuf>,
    /// True if the files are the complete offer of their vendors.
    pub is_all: bool,
}

impl CatalogueImport {
    /// Options for reading its files.
    fn options(&self) -> Options {
        Options {
            vendor: self.vendor.clone(),
            profile: self.profile.clone(),
            rates: self.rates.clone(),
            keys: Arc::clone(&self.keys),
            threads: available_parallelism().unwrap_or(NonZeroUsize::MIN),
        }
    }

    /// Returns true if a file is a stock of InChIKeys, which needs the known structures of the keys.
    ///
    /// # Errors
    /// Fails if a file cannot be opened.
    pub fn has_keys(&self) -> Result<bool, Failure> {
        for path in &self.files {
            let opened = read::open(&ReadInput::File(path.clone()), &self.options()).map_err(failure)?;
            if opened.outline.has_only_keys() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The files of an import, one after the other.
pub(super) struct InputFiles {
    waiting: std::vec::IntoIter<(String, OpenedFile)>,
    reading: Option<Current>,
    /// True if messages must name the file.
    are_several: bool,
    pub(super) report: ImportReport,
    /// Number of offers so far.
    pub(super) loaded: u64,
    records: u64,
    pub(super) bar: ProgressBar,
    begun: Instant,
    /// Bytes of the finished files.
    done: u64,
}

/// The file being read.
struct Current {
    name: String,
    outline: FileDescription,
    reading: read::BatchReader,
}

impl InputFiles {
    /// Opens all files and shows their formats and columns.
    pub(super) fn open(import: &CatalogueImport) -> Result<Self, Failure> {
        let options = import.options();
        let mut files = Vec::new();
        for path in &import.files {
            let opened = read::open(&ReadInput::File(path.clone()), &options).map_err(failure)?;
            terminal::note(&shown(path, &opened.outline));
            if !opened.outline.has_vendors() {
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
            report: ImportReport::new(import.rejects.as_deref()).context("writing the file of rejects")?,
            loaded: 0,
            records: 0,
            bar: terminal::bytes_bar(size, "importing"),
            begun: Instant::now(),
            done: 0,
        })
    }

    #[expect(clippy::cast_precision_loss, reason = "a rate, for people")]
    fn note(&mut self, batch: EntryBatch) -> Result<EntryBatch, Failure> {
        let Some(current) = &self.reading else { return Ok(batch) };
        let counted = if current.outline.format.has_lines() { "line" } else { "row" };
        let file = self.are_several.then_some(current.name.as_str());
        let at = |number| RecordLocation { file, number, counted };
        let report = |message: &str| self.bar.suspend(|| terminal::note(message));
        let writing = "writing the file of rejects";
        for reject in &batch.rejects {
            self.report.add(&at(reject.position.number), &reject.fault, report).context(writing)?;
        }
        for entry in &batch.entries {
            let at = at(entry.position.number);
            self.report.report_doubtful(&at, entry, report).context(writing)?;
            self.report.note_racemate(&at, entry).context(writing)?;
        }
        self.loaded += batch.entries.len() as u64;
        self.records += batch.records;
        let rate = self.records as f64 / self.begun.elapsed().as_secs_f64();
        self.bar.set_message(format!("importing, {rate:.0} records/s"));
        self.bar.set_position(self.done + batch.bytes_read);
        Ok(batch)
    }

    /// Reports an entry that has another structure in a later row.
    pub(super) fn report_doubled(&mut self, change: &StructureChange) -> Result<(), Failure> {
        let StructureChange { before, after, .. } = change;
        self.report_structure(change, &format!("`{before}` is left out, since a later row has `{after}`"))
    }

    /// Reports an entry that had another structure before this import.
    pub(super) fn report_changed(&mut self, change: &StructureChange) -> Result<(), Failure> {
        let StructureChange { before, after, .. } = change;
        self.report_structure(change, &format!("was `{before}` and is now `{after}`"))
    }

    fn report_structure(&mut self, change: &StructureChange, what: &str) -> Result<(), Failure> {
        let report = |message: &str| self.bar.suspend(|| terminal::note(message));
        let entry = format!("{}, id {}", change.vendor_name, change.cs_id);
        Ok(self.report.report_structure(&entry, what, report).context("writing the file of rejects")?)
    }

    /// Reports the rejects by kind, and returns the counts.
    pub(super) fn finish(self) -> Result<ReportCounts, Failure> {
        self.bar.finish_and_clear();
        Ok(self.report.finish().context("writing the file of rejects")?)
    }
}

impl Iterator for InputFiles {
    type Item = Result<EntryBatch, Failure>;

    /// Returns the next batch of offers. Its rejects are reported.
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if self.reading.is_none() {
                let (name, opened) = self.waiting.next()?;
                let outline = opened.outline.clone();
                self.reading = Some(Current { name, outline, reading: opened.read() });
            }
            let current = self.reading.as_mut()?;
            match current.reading.next() {
                Some(Ok(batch)) => return Some(self.note(batch)),
                Some(Err(error)) => return Some(Err(failure(error))),
                None => {
                    self.done += current.outline.size;
                    self.reading = None;
                }
            }
        }
    }
}

/// Description of a file for the user.
fn shown(path: &Path, outline: &FileDescription) -> String {
    let FileDescription { format, compression, profile, columns, .. } = outline;
    let width = columns.iter().map(|column| column.name.chars().count()).max().unwrap_or(0);
    let line = |column: &read::Column| match &column.meaning {
        Meaning::Ignored => format!("\n  {:width$}  not used", column.name),
        meaning if column.has_numbers() => {
            format!("\n  {:width$}  {meaning}, {}", column.name, column.numbers)
        }
        meaning => format!("\n  {:width$}  {meaning}", column.name),
    };
    let columns: String = columns.iter().map(line).collect();
    let (format, packed) = (format.name(), compression.name());
    format!("{}: {format}, {packed}, read as `{profile}`{columns}", path.display())
}

fn failure(error: FileReadError) -> Failure {
    match error {
        FileReadError::Header { .. } | FileReadError::Profile(_) => Failure::Usage(error.to_string()),
        error => Failure::Other(anyhow::Error::new(error).context("nothing was imported")),
    }
}
