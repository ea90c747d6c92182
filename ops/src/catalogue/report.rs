//! Report of an import about rejected records and doubtful offers.

use std::{
    collections::BTreeMap,
    fmt,
    fs::File,
    io::{self, BufWriter, Write as _},
    path::Path,
};

use ::catalogue::{BlockStructure, Entry, RecordFault};

use crate::terminal;

/// Number of rows shown in full; the others are counted.
const MAX_SHOWN_ROWS: u64 = 20;

/// Position of a record.
pub struct RecordLocation<'a> {
    /// The file, if an import has several.
    pub file: Option<&'a str>,
    /// Line number, or row number in a file without lines.
    pub number: u64,
    /// Word for the number: line or row.
    pub counted: &'static str,
}

impl RecordLocation<'_> {
    /// Form used in the file of rejects.
    fn key(&self) -> String {
        match self.file {
            Some(file) => format!("{file}:{}", self.number),
            None => self.number.to_string(),
        }
    }
}

impl fmt::Display for RecordLocation<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = self.file {
            write!(formatter, "{file}, ")?;
        }
        write!(formatter, "{} {}", self.counted, self.number)
    }
}

/// Numbers of an import's reported rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReportCounts {
    /// Rejected records.
    pub left_out: u64,
    /// Offers that load although their major component is a known counter-ion or solvate.
    pub doubtful: u64,
    /// Offers of racemates and of unknown enantiomers, which load.
    pub racemates: u64,
}

/// The records rejected or doubted so far.
pub struct ImportReport {
    count: u64,
    doubtful: u64,
    /// Number of entries with two structures.
    structures: u64,
    /// Number of racemates and unknown enantiomers.
    racemates: u64,
    kinds: BTreeMap<&'static str, u64>,
    all: Option<BufWriter<File>>,
}

impl ImportReport {
    /// Creates a report that also writes every fault to the file `all`, as line, kind and reason between tabs.
    pub fn new(all: Option<&Path>) -> io::Result<Self> {
        let mut all = all.map(File::create).transpose()?.map(BufWriter::new);
        if let Some(file) = &mut all {
            writeln!(file, "line\tkind\treason")?;
        }
        Ok(Self { count: 0, doubtful: 0, structures: 0, racemates: 0, kinds: BTreeMap::new(), all })
    }

    /// Records a reject at its position; `report` shows a line to the user.
    pub fn add(
        &mut self,
        at: &RecordLocation<'_>,
        fault: &RecordFault,
        report: impl Fn(&str),
    ) -> io::Result<()> {
        self.count += 1;
        *self.kinds.entry(fault.kind()).or_default() += 1;
        self.show(self.count, || format!("{at}: {fault}"), report);
        if let Some(file) = &mut self.all {
            let reason = fault.to_string().replace(['\t', '\r', '\n'], " ");
            writeln!(file, "{}\t{}\t{reason}", at.key(), fault.kind())?;
        }
        Ok(())
    }

    /// Records a doubtful offer: one that loads although its major component is a known counter-ion or solvate.
    /// `report` shows a line to the user.
    pub fn report_doubtful(
        &mut self,
        at: &RecordLocation<'_>,
        entry: &Entry,
        report: impl Fn(&str),
    ) -> io::Result<()> {
        let Some(name) = entry.structure.counter_ion else { return Ok(()) };
        self.doubtful += 1;
        let BlockStructure { smiles, full_canonical, .. } = &*entry.structure;
        let reason =
            format!("`{full_canonical}` is taken for `{smiles}`, a known counter-ion or solvate ({name})");
        self.show(self.doubtful, || format!("{at}: warning: {reason}"), report);
        if let Some(file) = &mut self.all {
            writeln!(file, "{}\twarning\t{reason}", at.key())?;
        }
        Ok(())
    }

    /// Records an offer of a racemate or of an unknown enantiomer. These are usual, so that only the file `all` has each
    /// of them.
    pub fn note_racemate(&mut self, at: &RecordLocation<'_>, entry: &Entry) -> io::Result<()> {
        if !entry.structure.has_unknown_configuration {
            return Ok(());
        }
        self.racemates += 1;
        if let Some(file) = &mut self.all {
            let smiles = &entry.structure.full_canonical;
            writeln!(file, "{}\tracemate\tloads without its configuration, as `{smiles}`", at.key())?;
        }
        Ok(())
    }

    /// Records an entry with two structures, of which the later one counts. `report` shows a line to the user.
    pub fn report_structure(&mut self, entry: &str, what: &str, report: impl Fn(&str)) -> io::Result<()> {
        self.structures += 1;
        self.show(self.structures, || format!("{entry}: warning: {what}"), report);
        if let Some(file) = &mut self.all {
            writeln!(file, "{}\ttwo structures\t{what}", entry.replace(['\t', '\r', '\n'], " "))?;
        }
        Ok(())
    }

    /// Shows the line of the `count`-th row of its kind, or once that there are more.
    fn show(&self, count: u64, line: impl FnOnce() -> String, report: impl Fn(&str)) {
        if count <= MAX_SHOWN_ROWS {
            report(&line());
        }
        if count == MAX_SHOWN_ROWS + 1 {
            report(self.more());
        }
    }

    /// Placeholder for the rows that are not shown.
    const fn more(&self) -> &'static str {
        if self.all.is_some() { "…" } else { "… (--rejects FILE keeps every one)" }
    }

    /// Number of rejected rows.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Ends the report with the counts by kind.
    pub fn finish(mut self) -> io::Result<ReportCounts> {
        if let Some(file) = &mut self.all {
            file.flush()?;
        }
        for (kind, count) in &self.kinds {
            terminal::note(&format!("left out: {count} × {kind}"));
        }
        if self.doubtful > 0 {
            terminal::note(&format!(
                "warnings: {} × the parent is a known counter-ion or solvate",
                self.doubtful
            ));
        }
        if self.racemates > 0 {
            terminal::note(&format!(
                "{} × a racemate or an unknown enantiomer, which is taken for neither enantiomer",
                self.racemates
            ));
        }
        if self.structures > 0 {
            terminal::note(&format!(
                "warnings: {} × an id with two structures, of which the later one counts",
                self.structures
            ));
        }
        let Self { count: left_out, doubtful, racemates, .. } = self;
        Ok(ReportCounts { left_out, doubtful, racemates })
    }
}
