//! What an import tells about the rows that it left out, and about those that it has doubts of.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, BufWriter, Write as _},
    path::Path,
};

use super::entry::{Entry, Fault};
use crate::terminal;

/// Rows told in full; the others are counted.
const TOLD: u64 = 20;

/// The rows left out or doubted so far.
pub struct Report {
    count: u64,
    doubted: u64,
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
        Ok(Self { count: 0, doubted: 0, kinds: BTreeMap::new(), all })
    }

    /// Takes down one row; `tell` shows a line to the user.
    pub fn add(&mut self, line: u64, fault: &Fault, tell: impl Fn(&str)) -> io::Result<()> {
        self.count += 1;
        *self.kinds.entry(fault.kind()).or_default() += 1;
        if self.count <= TOLD {
            tell(&format!("line {line}: {fault}"));
        }
        if self.count == TOLD + 1 {
            tell(self.more());
        }
        if let Some(file) = &mut self.all {
            let reason = fault.to_string().replace(['\t', '\r', '\n'], " ");
            writeln!(file, "{line}\t{}\t{reason}", fault.kind())?;
        }
        Ok(())
    }

    /// Takes down a row that loads although its major component is a known counter-ion or solvate, if it is one.
    pub fn doubt(&mut self, entry: &Entry, tell: impl Fn(&str)) -> io::Result<()> {
        let Some(name) = entry.counter_ion else { return Ok(()) };
        self.doubted += 1;
        let Entry { line, smiles, full_canonical, .. } = entry;
        let reason =
            format!("`{full_canonical}` is taken for `{smiles}`, a known counter-ion or solvate ({name})");
        if self.doubted <= TOLD {
            tell(&format!("line {line}: warning: {reason}"));
        }
        if self.doubted == TOLD + 1 {
            tell(self.more());
        }
        if let Some(file) = &mut self.all {
            writeln!(file, "{line}\twarning\t{reason}")?;
        }
        Ok(())
    }

    /// What stands for the rows that are not told.
    const fn more(&self) -> &'static str {
        if self.all.is_some() { "…" } else { "… (--errors FILE keeps every one)" }
    }

    /// Rows that load although there are doubts of them.
    pub const fn doubted(&self) -> u64 {
        self.doubted
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
        if self.doubted > 0 {
            terminal::note(&format!(
                "warnings: {} × the parent is a known counter-ion or solvate",
                self.doubted
            ));
        }
        Ok(())
    }
}
