//! Reading a file in parallel: one thread cuts it into records, the others parse them.
//!
//! Batches leave in the file's order although any thread may process any of them. Each batch has its own result
//! channel, and these channels wait in a queue in the file's order. So nothing is sorted, and the queue's capacity
//! limits the number of batches.

use std::{
    collections::HashMap,
    num::NonZeroUsize,
    ops::ControlFlow,
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread::{self, JoinHandle},
};

use parking_lot::Mutex;

use super::{
    error::FileReadError,
    file_format::FileFormat,
    json,
    offers::{self, FileDefaults, StructureCache},
    profile::{Column, ColumnMapper},
    record_source::RecordSource,
    sdf,
    text::decode,
    window::RawBatch,
};
use crate::{
    entry::{Entry, RecordPosition, Reject},
    fault::RecordFault,
};

/// Result of a batch of records, in the file's order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EntryBatch {
    /// Parsed offers.
    pub entries: Vec<Entry>,
    /// Rejected records, with reasons.
    pub rejects: Vec<Reject>,
    /// Number of records read.
    pub records: u64,
    /// Bytes of the file, before decompression, that had been read when these records were cut.
    pub bytes_read: u64,
}

/// Context for parsing the records of a file.
#[derive(Clone)]
pub(crate) struct ParseContext {
    pub(crate) format: FileFormat,
    /// Columns of a format with a header; empty for formats whose records name their own fields.
    pub(crate) columns: Vec<Column>,
    pub(crate) reader: ColumnMapper,
    pub(crate) rules: FileDefaults,
}

type BatchOutcome = Result<EntryBatch, FileReadError>;

/// Cut records, the bytes read by then, and the channel for the result.
type Work = (RawBatch, u64, SyncSender<BatchOutcome>);

/// Iterator over the batches of a file. Dropping it early stops reading.
#[derive(Debug)]
pub struct BatchReader {
    /// Result channel of each batch, in the file's order; `None` at the end.
    outcomes: Option<Receiver<Receiver<BatchOutcome>>>,
    threads: Vec<JoinHandle<()>>,
}

impl BatchReader {
    /// Starts the threads. `open` is called on the thread that cuts.
    pub(crate) fn begin(
        open: impl FnOnce() -> Result<RecordSource, FileReadError> + Send + 'static,
        context: ParseContext,
        taken: Arc<AtomicU64>,
        workers: NonZeroUsize,
    ) -> Self {
        let (queue, outcomes) = sync_channel(2 * workers.get());
        let (work, jobs) = sync_channel::<Work>(workers.get());
        let jobs = Arc::new(Mutex::new(jobs));
        let parser = |_| {
            let (jobs, context) = (Arc::clone(&jobs), context.clone());
            thread::spawn(move || parse_all(&jobs, &context))
        };
        let mut threads: Vec<_> = (0..workers.get()).map(parser).collect();
        threads.push(thread::spawn(move || cut_all(open, &taken, &work, &queue)));
        Self { outcomes: Some(outcomes), threads }
    }

    fn stop(&mut self) -> thread::Result<()> {
        // Dropping the receiver ends the cutting thread, whose end closes the work channel of the parsing threads.
        self.outcomes = None;
        let ended: Vec<_> = self.threads.drain(..).map(JoinHandle::join).collect();
        ended.into_iter().collect()
    }
}

impl Iterator for BatchReader {
    type Item = BatchOutcome;

    fn next(&mut self) -> Option<BatchOutcome> {
        let outcome = match self.outcomes.as_ref()?.recv() {
            Ok(outcome) => outcome.recv().unwrap_or(Err(FileReadError::Panicked)),
            // The cutting thread has finished or panicked.
            Err(_) => return self.stop().err().map(|_| Err(FileReadError::Panicked)),
        };
        if outcome.is_err() {
            let _ = self.stop();
        }
        Some(outcome)
    }
}

impl Drop for BatchReader {
    fn drop(&mut self) {
        let _ = self.stop();
    }
}

/// Reads a file on this thread and passes each batch to `each`, in order.
pub(crate) fn read_here(
    open: impl FnOnce() -> Result<RecordSource, FileReadError>,
    context: &ParseContext,
    taken: &AtomicU64,
    mut each: impl FnMut(EntryBatch),
) -> Result<(), FileReadError> {
    let mut names = ColumnCache::new(context);
    cut_each(open, |cut| {
        let bytes_read = taken.load(Ordering::Relaxed);
        each(EntryBatch { bytes_read, ..parse_batch(&cut, context, &mut names) });
        ControlFlow::Continue(())
    })
}

/// Cuts a file into batches of work. Ends when the receiver is gone.
fn cut_all(
    open: impl FnOnce() -> Result<RecordSource, FileReadError>,
    taken: &AtomicU64,
    work: &SyncSender<Work>,
    queue: &SyncSender<Receiver<BatchOutcome>>,
) {
    let end = cut_each(open, |cut| {
        let (tell, outcome) = sync_channel(1);
        let bytes_read = taken.load(Ordering::Relaxed);
        if queue.send(outcome).is_err() || work.send((cut, bytes_read, tell)).is_err() {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    });
    if let Err(error) = end {
        let (tell, outcome) = sync_channel(1);
        let _ = tell.send(Err(error));
        let _ = queue.send(outcome);
    }
}

/// Opens a file and cuts it until its end or until `each` breaks.
fn cut_each(
    open: impl FnOnce() -> Result<RecordSource, FileReadError>,
    mut each: impl FnMut(RawBatch) -> ControlFlow<()>,
) -> Result<(), FileReadError> {
    let mut cutter = open()?;
    loop {
        let mut cut = RawBatch::default();
        let more = cutter.cut(&mut cut);
        if !cut.is_empty() && each(cut).is_break() {
            return Ok(());
        }
        if !more? {
            return Ok(());
        }
    }
}

fn parse_all(jobs: &Mutex<Receiver<Work>>, context: &ParseContext) {
    let mut names = ColumnCache::new(context);
    loop {
        let job = jobs.lock().recv();
        let Ok((cut, bytes_read, tell)) = job else { return };
        let batch = EntryBatch { bytes_read, ..parse_batch(&cut, context, &mut names) };
        // The receiver is gone if reading was stopped.
        let _ = tell.send(Ok(batch));
    }
}

fn parse_batch(cut: &RawBatch, context: &ParseContext, names: &mut ColumnCache<'_>) -> EntryBatch {
    let mut batch = EntryBatch::default();
    let mut structures = StructureCache::new();
    for (position, record) in cut.records() {
        batch.records += 1;
        let found = record
            .map_err(Clone::clone)
            .and_then(|record| one(position, record, context, names, &mut structures, &mut batch.entries));
        if let Err(fault) = found {
            batch.rejects.push(Reject { position, fault });
        }
    }
    batch
}

/// Parses one record.
fn one(
    position: RecordPosition,
    record: &[u8],
    context: &ParseContext,
    names: &mut ColumnCache<'_>,
    structures: &mut StructureCache,
    entries: &mut Vec<Entry>,
) -> Result<(), RecordFault> {
    let ParseContext { format, columns, rules, .. } = context;
    match format {
        FileFormat::Delimited(_) | FileFormat::List(_) | FileFormat::Hdf5 => {
            let fields: Vec<_> = format.fields(record).into_iter().map(decode).collect();
            let beyond = fields.iter().skip(columns.len()).any(|field| !field.trim().is_empty());
            if matches!(format, FileFormat::Delimited(_)) && (fields.len() < columns.len() || beyond) {
                return Err(RecordFault::FieldCount { found: fields.len(), expected: columns.len() });
            }
            let named = columns.iter().zip(fields.iter().map(AsRef::as_ref));
            entries.extend(offers::entries(position, named, rules, structures)?);
        }
        FileFormat::Sdf => {
            let record = decode(record.into());
            let fields = sdf::fields(&record)?;
            let columns: Vec<_> = fields.iter().map(|(name, _)| names.column(name)).collect();
            let named = columns.iter().map(AsRef::as_ref).zip(fields.iter().map(|(_, text)| text.as_str()));
            entries.extend(offers::entries(position, named, rules, structures)?);
        }
        FileFormat::JsonLines | FileFormat::Json | FileFormat::Parquet => {
            let mut found = Vec::new();
            for row in json::rows(record)? {
                let columns: Vec<_> = row.iter().map(|(name, _)| names.column(name)).collect();
                let named = columns.iter().map(AsRef::as_ref).zip(row.iter().map(|(_, text)| text.as_str()));
                found.extend(offers::entries(position, named, rules, structures)?);
            }
            entries.append(&mut found);
        }
    }
    Ok(())
}

/// Cache of columns, for records that name their own fields.
struct ColumnCache<'a> {
    reader: &'a ColumnMapper,
    known: HashMap<String, Rc<Column>>,
}

impl<'a> ColumnCache<'a> {
    /// Maximum number of cached names; a file with more of them is read more slowly.
    const KEPT: usize = 4_096;

    fn new(context: &'a ParseContext) -> Self {
        Self { reader: &context.reader, known: HashMap::new() }
    }

    fn column(&mut self, name: &str) -> Rc<Column> {
        if let Some(column) = self.known.get(name) {
            return Rc::clone(column);
        }
        let column = Rc::new(self.reader.column(name));
        if self.known.len() < Self::KEPT {
            self.known.insert(name.to_owned(), Rc::clone(&column));
        }
        column
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;
    use crate::{
        NumberStyle,
        currency::Rates,
        read::{
            boundary::Boundary, inchikey::KnownKeys, meaning::Meaning, profile::ColumnProfile,
            window::RecordCutter,
        },
    };

    /// Reads rows with a structure and a lead time to the country at index `position`.
    fn reading(open: fn() -> Result<RecordSource, FileReadError>, position: usize) -> BatchReader {
        let column =
            |meaning| Column { name: "column".into(), meaning, numbers: NumberStyle::Point, rank: 0 };
        let context = ParseContext {
            format: FileFormat::Delimited(b','),
            columns: vec![column(Meaning::Smiles), column(Meaning::LeadTime(Some(position)))],
            reader: ColumnMapper::new(&ColumnProfile::default(), &[], &[]).unwrap(),
            rules: FileDefaults {
                vendor: Some("House".into()),
                rates: Rates::default(),
                keys: Arc::new(KnownKeys::default()),
            },
        };
        BatchReader::begin(open, context, Arc::default(), NonZeroUsize::new(2).unwrap())
    }

    fn two_rows() -> Result<RecordSource, FileReadError> {
        let window = RecordCutter::new(Box::new(Cursor::new("CCO,1\nCCN,2\n")));
        Ok(RecordSource::Text { window, boundary: Boundary::delimited(b','), name: "rows".into() })
    }

    #[test]
    fn a_panic_of_any_thread_is_an_error_and_the_end() {
        let no_such_country = reading(two_rows, 99);
        let no_file = reading(|| panic!("no file"), 0);

        for reading in [no_such_country, no_file] {
            let outcomes: Vec<BatchOutcome> = reading.collect();

            assert!(matches!(outcomes[..], [Err(FileReadError::Panicked)]), "{outcomes:?}");
        }
        let sound: Vec<BatchOutcome> = reading(two_rows, 0).collect();
        assert!(matches!(&sound[..], [Ok(batch)] if batch.entries.len() == 2), "{sound:?}");
    }
}
