//! Opening a file: detection from its first bytes and from the user's options, before its records are read.

use std::{
    num::NonZeroUsize,
    sync::{Arc, atomic::AtomicU64},
};

use super::{
    batch_reader::{BatchReader, EntryBatch, ParseContext, read_here},
    boundary::Boundary,
    column_styles,
    error::FileReadError,
    file_format::{self, FileFormat, SAMPLE, sample},
    hdf5::KeyReader,
    inchikey::KnownKeys,
    meaning::Meaning,
    offers::FileDefaults,
    parquet::RowReader,
    profile::{Column, ColumnMapper, ColumnProfile, HeaderError, holds_structures},
    record_source::RecordSource,
    records::Records,
    source::{Compression, ReadInput, Source},
    structure_column::{self, StructureColumn},
    window::{RawBatch, RecordCutter},
};
use crate::{currency::Rates, number_style::NumberStyle};

/// Options for reading a file.
#[derive(Debug, Clone)]
pub struct Options {
    /// The vendor of records that name none.
    pub vendor: Option<String>,
    /// User's statements about the columns.
    pub profile: ColumnProfile,
    /// Exchange rates of other currencies.
    pub rates: Rates,
    /// Structures by InChIKey, for stocks of keys.
    pub keys: Arc<KnownKeys>,
    /// Threads that parse records, in addition to the one that cuts the file.
    pub threads: NonZeroUsize,
}

/// Description of a file, shown before it is read.
#[derive(Debug, Clone, PartialEq)]
pub struct FileDescription {
    /// Compression of the file.
    pub compression: Compression,
    /// Format of the file.
    pub format: FileFormat,
    /// Profile used for its columns.
    pub profile: &'static str,
    /// Columns of the file. If records name their own fields, those of the first records.
    pub columns: Vec<Column>,
    /// The vendor of records that name none, if there is one.
    pub vendor: Option<String>,
    /// File size in bytes, before decompression.
    pub size: u64,
}

impl FileDescription {
    /// Returns true if every record can have a vendor.
    #[must_use]
    pub fn has_vendors(&self) -> bool {
        let vendors = |meaning: &Meaning| matches!(meaning, Meaning::Vendor | Meaning::VendorPerGram(_));
        self.vendor.is_some() || self.columns.iter().any(|column| vendors(&column.meaning))
    }

    /// Returns true if its records have InChIKeys instead of structures.
    #[must_use]
    pub fn has_only_keys(&self) -> bool {
        let structures = |meaning: &Meaning| matches!(meaning, Meaning::Smiles | Meaning::Molfile);
        !self.columns.iter().any(|column| structures(&column.meaning))
    }

    /// A profile that names every column, to read such a file again.
    #[must_use]
    pub fn to_profile(&self) -> ColumnProfile {
        let named = |column: &Column| (column.name.clone(), column.meaning.to_string());
        ColumnProfile {
            profile: Some(self.profile.to_owned()),
            columns: self.columns.iter().map(named).collect(),
            numbers: None,
        }
    }
}

/// An opened file whose records are still to be read.
pub struct OpenedFile {
    /// Description of the file.
    pub outline: FileDescription,
    cutter: Box<dyn FnOnce() -> Result<RecordSource, FileReadError> + Send>,
    context: ParseContext,
    taken: Arc<AtomicU64>,
    threads: NonZeroUsize,
}

impl OpenedFile {
    /// Starts reading on worker threads.
    #[must_use]
    pub fn read(self) -> BatchReader {
        BatchReader::begin(self.cutter, self.context, self.taken, self.threads)
    }

    /// Reads the file on this thread and passes each batch to `each`. Meant for files so small that starting threads
    /// would take longer.
    ///
    /// # Errors
    /// Fails when the file cannot be read further; earlier batches have been passed on by then.
    pub fn read_here(self, each: impl FnMut(EntryBatch)) -> Result<(), FileReadError> {
        read_here(self.cutter, &self.context, &self.taken, each)
    }

    /// Iterates over the raw records.
    ///
    /// # Errors
    /// Fails when the file cannot be read further.
    pub fn records(self) -> Result<Records, FileReadError> {
        let columns = self.outline.columns.into_iter().map(|column| column.name).collect();
        Ok(Records::new((self.cutter)()?, self.outline.format, columns))
    }
}

/// Opens a file and detects its format.
///
/// # Errors
/// Fails when the file cannot be read at all; later faults come out of the [`BatchReader`].
pub fn open(input: &ReadInput, options: &Options) -> Result<OpenedFile, FileReadError> {
    let name = input.name();
    let opening = |source| FileReadError::Open { name: name.clone(), source };
    let source = Source::open(input).map_err(opening)?;
    let mut window = RecordCutter::new(source.bytes);
    let broken = |source| FileReadError::Broken { name: name.clone(), at: 1, source };
    if !window.fill() {
        // A stream that fails at once is not an empty file.
        window.cut(&mut Boundary::Line, &mut RawBatch::default()).map_err(broken)?;
        return Err(FileReadError::Empty { name });
    }
    if window.held().starts_with(&[0xff, 0xfe]) || window.held().starts_with(&[0xfe, 0xff]) {
        return Err(FileReadError::Utf16 { name });
    }
    if window.held().starts_with("\u{feff}".as_bytes()) {
        window.skip(3);
    }
    let format = match file_format::said_delimiter(window.held()) {
        Some(delimiter) => {
            window.cut(&mut Boundary::Line, &mut RawBatch::default()).map_err(broken)?;
            FileFormat::Delimited(delimiter)
        }
        None => FileFormat::of(window.held(), &name),
    };
    check(&name, format, source.compression)?;
    let names = match format {
        FileFormat::Hdf5 => vec!["inchi_key".to_owned()],
        FileFormat::Parquet => RowReader::open(input).map_err(|error| of_table(&name, &error))?.names,
        format => file_format::names(format, window.held()),
    };
    let first = file_format::first_fields(format, &names, window.held());
    let mut reader = ColumnMapper::new(&options.profile, &names, &first)?;
    let (format, mut columns) = columns(format, &names, &mut reader, window.held())
        .map_err(|source| FileReadError::Header { name: name.clone(), source })?;
    if matches!(format, FileFormat::Delimited(_)) {
        window.cut(&mut format.boundary(), &mut RawBatch::default()).map_err(broken)?;
    }
    if options.profile.numbers.is_none() && columns.iter().any(|column| column.meaning.is_number()) {
        let records = match format {
            FileFormat::Parquet => first_rows(input).map_err(|error| of_table(&name, &error))?,
            format => first_records(&mut window, format),
        };
        // Retort's own files have decimal points.
        let usual = if reader.known.name == "retort" { NumberStyle::Point } else { NumberStyle::Undecided };
        reader = reader.with_styles(column_styles::decided(&records, format, &columns, usual));
        for column in &mut columns {
            column.numbers = reader.column(&column.name).numbers;
        }
    }
    let known = reader.known;
    let vendor = options.vendor.clone().or_else(|| known.vendor.map(ToOwned::to_owned));
    let outline = FileDescription {
        compression: source.compression,
        format,
        profile: known.name,
        columns: columns.clone(),
        vendor: vendor.clone(),
        size: source.size,
    };
    let rules = FileDefaults { vendor, rates: options.rates.clone(), keys: Arc::clone(&options.keys) };
    let context = ParseContext { format, columns, reader, rules };
    let input = input.clone();
    let cutter = move || match format {
        FileFormat::Parquet => {
            let rows = RowReader::open(&input).map_err(|error| of_table(&name, &error))?;
            Ok(RecordSource::Rows { rows, next: 1, name })
        }
        FileFormat::Hdf5 => {
            Ok(RecordSource::Keys { keys: KeyReader::new(window.into_bytes()), next: 1, name })
        }
        format => Ok(RecordSource::Text { window, boundary: format.boundary(), name }),
    };
    Ok(OpenedFile {
        outline,
        cutter: Box::new(cutter),
        context,
        taken: source.taken,
        threads: options.threads,
    })
}

/// The first rows of a table.
fn first_rows(input: &ReadInput) -> Result<Vec<Vec<u8>>, ::parquet::errors::ParquetError> {
    RowReader::open(input)?.take(column_styles::SAMPLE_ROWS).collect()
}

/// The first records of a text.
fn first_records(window: &mut RecordCutter, format: FileFormat) -> Vec<Vec<u8>> {
    while window.held().len() < column_styles::SAMPLE_BYTES && window.fill() {}
    let held = window.held();
    let start = &held[..held.len().min(column_styles::SAMPLE_BYTES)];
    column_styles::first_records(start, format, window.is_at_end() && start.len() == held.len())
}

/// Meanings of a file's columns. The returned format changes to a list if the apparent header was the first record.
/// If the header does not tell where the structures are, the values in `start` do.
fn columns(
    format: FileFormat,
    names: &[String],
    reader: &mut ColumnMapper,
    start: &[u8],
) -> Result<(FileFormat, Vec<Column>), HeaderError> {
    match format {
        FileFormat::Delimited(delimiter) => {
            let stated = reader.numbered_structure();
            let is_told = names.iter().any(|name| holds_structures(&reader.column(name).meaning));
            let found = (stated.is_some() || !is_told)
                .then(|| sample(start, format.boundary(), SAMPLE))
                .and_then(|records| structure_column::find(&records, format, stated));
            let Some(StructureColumn { at, meaning, is_in_first }) = found else {
                return Ok((format, reader.header(names, &[])?));
            };
            let mut defaults = vec![Meaning::Ignored; names.len()];
            defaults[at] = meaning;
            if !is_in_first {
                return Ok((format, reader.header(names, &defaults)?));
            }
            if let Some(id) = defaults.iter_mut().find(|meaning| **meaning == Meaning::Ignored) {
                *id = Meaning::Id;
            }
            let numbered: Vec<String> = (1..=names.len()).map(|number| format!("column {number}")).collect();
            Ok((FileFormat::List(delimiter), reader.header(&numbered, &defaults)?))
        }
        FileFormat::List(_) | FileFormat::Hdf5 => Ok((format, reader.header(names, &[])?)),
        FileFormat::JsonLines | FileFormat::Json | FileFormat::Sdf | FileFormat::Parquet => {
            Ok((format, reader.names(names)?))
        }
    }
}

fn check(name: &str, format: FileFormat, compression: Compression) -> Result<(), FileReadError> {
    let called = |endings: &[&str]| endings.iter().any(|ending| name.to_lowercase().ends_with(ending));
    let wrong = |format| Err(FileReadError::NotWhatItIsCalled { name: name.to_owned(), format });
    match format {
        FileFormat::Parquet if compression != Compression::None => {
            Err(FileReadError::PackedTable { name: name.to_owned() })
        }
        FileFormat::Parquet | FileFormat::Hdf5 => Ok(()),
        _ if called(&[".parquet"]) => wrong("Parquet"),
        _ if called(&[".h5", ".hdf5", ".hdf"]) => wrong("HDF5"),
        _ => Ok(()),
    }
}

fn of_table(name: &str, error: &::parquet::errors::ParquetError) -> FileReadError {
    FileReadError::Parquet { name: name.to_owned(), reason: error.to_string() }
}
