//! What an import tells about the rows that it left out.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, BufWriter, Write as _},
    path::Path,
};

use super::entry::Fault;
use crate::terminal;

/// Rows told in full; the others are counted.
const TOLD: u64 = 20;

/// The rows left out so far.
pub struct Report {
    count: u64,
    kinds: BTreeMap<&'static str, u64>,
    all: Option<BufWriter<File>>,
}

impl Report {
    /// A report that also writes every fault to the file `all`, as line, kind and reason between tabs.
    pub fn new(all: Option<&Path>) -> io::Result<Self> {
        let mut all = all.map(File::create).transpose()?.map(BufWriter::new);
        if let Some(file) = &mut all {
            writeln!(file, "line\tkind\treason")?;
        }
        Ok(Self { count: 0, kinds: BTreeMap::new(), all })
    }

    /// Takes down one row; `tell` shows a line to the user.
    pub fn add(&mut self, line: u64, fault: &Fault, tell: impl Fn(&str)) -> io::Result<()> {
        self.count += 1;
        *self.kinds.entry(fault.kind()).or_default() += 1;
        if self.count <= TOLD {
            tell(&format!("line {line}: {fault}"));
        }
        if self.count == TOLD + 1 {
            tell(if self.all.is_some() { "…" } else { "… (--errors FILE keeps every one)" });
        }
        if let Some(file) = &mut self.all {
            let reason = fault.to_string().replace(['\t', '\r', '\n'], " ");
            writeln!(file, "{line}\t{}\t{reason}", fault.kind())?;
        }
        Ok(())
    }

    /// Rows left out.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Ends the report with the counts by kind.
    pub fn finish(mut self) -> io::Result<()> {
        if let Some(file) = &mut self.all {
            file.flush()?;
        }
        for (kind, count) in &self.kinds {
            terminal::note(&format!("left out: {count} × {kind}"));
        }
        Ok(())
    }
}
