//! The templates of a model, and the index that finds those matching a molecule.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::thread;

use chem::{Matches, PreparedMolecule, Template, TemplateIndex};
use flate2::read::MultiGzDecoder;

use crate::model::error::ModelError;

/// Columns of `templates.csv.gz`, after an unnamed column that numbers the rows.
const COLUMNS: [&str; 4] = ["retro_template", "template_hash", "library_occurrence", "library_index"];

/// Templates by row.
pub struct TemplateLibrary {
    /// Compiled templates by row; `None` for a template that cannot be compiled and is never applied.
    templates: Vec<Option<Template>>,
    /// Index of the compiled templates, by row.
    index: TemplateIndex,
    hashes: Vec<String>,
    occurrences: Vec<u32>,
}

/// A row of the template table.
struct Row {
    smarts: String,
    hash: String,
    /// Number of recorded reactions that the template was extracted from; 0 where the table holds no number.
    occurrence: u32,
}

impl TemplateLibrary {
    /// Loads `templates.csv.gz` on `cores` cores. The file is TAB-separated with the header `retro_template
    /// template_hash library_occurrence library_index`, after an unnamed column that numbers the rows from 0.
    ///
    /// Templates that cannot be compiled are skipped: see [`skipped`](Self::skipped).
    ///
    /// # Errors
    /// Fails when the file is missing, when a line is broken (the error names it), or when no template is usable.
    pub fn load(path: &Path, cores: usize) -> Result<Self, ModelError> {
        let file =
            File::open(path).map_err(|source| ModelError::Unreadable { path: path.to_owned(), source })?;
        Self::read(MultiGzDecoder::new(file), path, cores)
    }

    /// Reads the uncompressed table at `path`.
    pub(crate) fn read(table: impl Read, path: &Path, cores: usize) -> Result<Self, ModelError> {
        let library = Self::new(read_rows(table, path)?, cores);
        if library.skipped() == library.len() {
            return Err(ModelError::NoTemplates { path: path.to_owned(), read: library.len() });
        }
        Ok(library)
    }

    fn new(rows: Vec<Row>, cores: usize) -> Self {
        let templates = compile(&rows, cores);
        let index = TemplateIndex::new(usable(&templates));
        let occurrences = rows.iter().map(|row| row.occurrence).collect();
        Self { templates, index, occurrences, hashes: rows.into_iter().map(|row| row.hash).collect() }
    }

    /// Single-template library for tests of later stages.
    #[cfg(test)]
    pub fn with_one_template(smarts: &str) -> Self {
        Self::new(vec![Row { smarts: smarts.to_owned(), hash: String::new(), occurrence: 0 }], 1)
    }

    /// Number of templates, usable or not.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "one without templates is refused")]
    pub fn len(&self) -> usize {
        self.templates.len()
    }

    /// Number of templates that could not be compiled and are never applied.
    #[must_use]
    pub fn skipped(&self) -> usize {
        self.templates.iter().filter(|template| template.is_none()).count()
    }

    /// The compiled template of a row, `None` when it could not be compiled.
    ///
    /// # Panics
    /// Panics when there is no such row.
    #[must_use]
    pub fn template(&self, row: u32) -> Option<&Template> {
        self.templates[row as usize].as_ref()
    }

    /// Compiled templates, each with its row.
    pub(crate) fn templates(&self) -> impl Iterator<Item = (u32, &Template)> {
        usable(&self.templates)
    }

    /// Drops cached reactions that templates have not used lately, once there are many of them.
    pub(crate) fn tidy(&self) {
        /// Number of cached reactions that counts as many. A reaction takes 20 to 60 KB, so those of all templates
        /// would take 2 GB. A search creates some tens of them.
        const MAX_CACHED_REACTIONS: usize = 1000;
        if self.templates().map(|(_, template)| template.cached_reactions()).sum::<usize>()
            > MAX_CACHED_REACTIONS
        {
            self.templates().for_each(|(_, template)| template.drop_unused());
        }
    }

    /// Hash of a row's template, from the table.
    pub(crate) fn hash(&self, row: u32) -> &str {
        &self.hashes[row as usize]
    }

    /// First row with this hash.
    pub(crate) fn called(&self, hash: &str) -> Option<u32> {
        let row = self.hashes.iter().position(|own| own == hash)?;
        u32::try_from(row).ok()
    }

    /// Number of recorded reactions that the template of a row was extracted from.
    pub(crate) fn occurrence(&self, row: u32) -> u32 {
        self.occurrences[row as usize]
    }

    /// Templates that may match a product, with the sites where they match.
    #[must_use]
    pub fn matches(&self, product: &PreparedMolecule) -> Matches {
        self.index.matches(product)
    }
}

fn usable(templates: &[Option<Template>]) -> impl Iterator<Item = (u32, &Template)> {
    (0_u32..).zip(templates).filter_map(|(row, template)| Some((row, template.as_ref()?)))
}

impl fmt::Debug for TemplateLibrary {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Library({} templates)", self.len())
    }
}

fn read_rows(table: impl Read, path: &Path) -> Result<Vec<Row>, ModelError> {
    let mut reader = csv::ReaderBuilder::new().delimiter(b'\t').from_reader(table);
    let fault = |line: u64, fault: String| ModelError::Row { path: path.to_owned(), line, fault };
    let header = reader.headers().map_err(|error| fault(1, error.to_string()))?;
    if header.iter().skip(1).ne(COLUMNS) {
        let expected = COLUMNS.join(", ");
        return Err(fault(1, format!("expected an unnamed column and {expected}")));
    }
    let mut rows = Vec::new();
    for record in reader.records() {
        // The header is line 1; no field holds a line break.
        let line = rows.len() as u64 + 2;
        let record = record.map_err(|error| fault(line, error.to_string()))?;
        if record[0].parse() != Ok(rows.len()) {
            return Err(fault(line, format!("is numbered `{}`, expected {}", &record[0], rows.len())));
        }
        let occurrence = record[3].parse().unwrap_or(0);
        rows.push(Row { smarts: record[1].to_owned(), hash: record[2].to_owned(), occurrence });
    }
    Ok(rows)
}

/// Compiles every template.
fn compile(rows: &[Row], cores: usize) -> Vec<Option<Template>> {
    let share = rows.len().div_ceil(cores.max(1)).max(1);
    thread::scope(|scope| {
        let parts: Vec<_> = rows
            .chunks(share)
            .map(|part| {
                let one = |row: &Row| Template::parse(&row.smarts).ok();
                scope.spawn(move || part.iter().map(one).collect::<Vec<_>>())
            })
            .collect();
        parts
            .into_iter()
            .flat_map(|part| part.join().expect("model: compiling a template does not panic"))
            .collect()
    })
}
