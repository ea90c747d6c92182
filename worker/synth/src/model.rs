//! A retrosynthesis model: reaction templates and the network that ranks them.

use std::fmt;
use std::fs::File;
use std::path::Path;
use std::thread;

use chem::{Change, Fingerprint, Flask, PreparedMolecule, Template, TemplateIndex};
use flate2::read::MultiGzDecoder;

use crate::error::ModelError;
use crate::plausibility::Judge;
use crate::policy::{Policy, Ranked};
use crate::precedents::Precedents;

/// The columns of `templates.csv.gz`, behind an unnamed one that numbers the rows.
const COLUMNS: [&str; 4] = ["retro_template", "template_hash", "library_occurrence", "library_index"];

/// Templates and the policy network that ranks them, loaded once and shared.
pub struct RetroModel {
    /// `None` for a template that cannot be compiled: it is never applied.
    templates: Vec<Option<Template>>,
    /// Of those that can be compiled, by row.
    index: TemplateIndex,
    hashes: Vec<String>,
    policy: Policy,
    judge: Option<Judge>,
    precedents: Option<Precedents>,
}

/// A row of the template table.
struct Row {
    smarts: String,
    hash: String,
}

impl RetroModel {
    /// Loads `templates.csv.gz` and `policy.safetensors` from `dir`, and what is there of
    /// `plausibility.safetensors`, which tells how probable it is that a flask gives what it is said to, and
    /// `precedents.safetensors`, products of recorded reactions.
    ///
    /// The table is TAB-separated with the header `retro_template template_hash library_occurrence
    /// library_index` behind an unnamed column that numbers the rows from 0; row `i` is output `i` of the
    /// network. The weights are `layer1.weight` `[H, 2048]`, `layer1.bias` `[H]`, `layer2.weight` `[N, H]`,
    /// `layer2.bias` `[N]`, f16, bf16 or f32; `layer2.weight` may be signed bytes that share a scale with their
    /// row, `layer2.scale` `[N]`. The header's `activation` is `elu` (if it says nothing) or `relu`.
    ///
    /// Templates that cannot be compiled are skipped: see [`skipped_templates`](Self::skipped_templates).
    ///
    /// # Errors
    /// Fails when a file is missing or broken, says which line or tensor it is, or when no template is usable.
    pub fn load(dir: &Path) -> Result<Self, ModelError> {
        let path = dir.join("templates.csv.gz");
        let rows = read_rows(&path)?;
        let templates = compile(&rows);
        if templates.iter().all(Option::is_none) {
            return Err(ModelError::NoTemplates { path, read: rows.len() });
        }
        let policy = Policy::load(&dir.join("policy.safetensors"), rows.len())?;
        let there = |name: &str| Some(dir.join(name)).filter(|path| path.exists());
        let numbered = || (0_u32..).zip(&templates).filter_map(|(row, one)| Some((row, one.as_ref()?)));
        let judge =
            there("plausibility.safetensors").map(|path| Judge::load(&path, numbered())).transpose()?;
        let precedents =
            there("precedents.safetensors").map(|path| Precedents::load(&path, rows.len())).transpose()?;
        let hashes = rows.into_iter().map(|row| row.hash).collect();
        Ok(Self { index: index(&templates), templates, hashes, policy, judge, precedents })
    }

    /// A model for tests of what comes after the templates.
    #[cfg(test)]
    pub(crate) fn of_one_template(smarts: &str) -> Self {
        let rows = [Row { smarts: smarts.to_owned(), hash: String::new() }];
        let templates = compile(&rows);
        Self {
            index: index(&templates),
            templates,
            hashes: vec![String::new()],
            policy: Policy::uniform(1),
            judge: None,
            precedents: None,
        }
    }

    /// Number of templates, usable or not.
    #[must_use]
    pub fn templates(&self) -> usize {
        self.templates.len()
    }

    /// Number of templates that could not be compiled and are never applied.
    #[must_use]
    pub fn skipped_templates(&self) -> usize {
        self.templates.iter().filter(|template| template.is_none()).count()
    }

    /// The compiled template of row `index`, `None` when it could not be compiled.
    pub(crate) fn template(&self, index: u32) -> Option<&Template> {
        self.templates[index as usize].as_ref()
    }

    /// The hash that the table gives the template of row `index`.
    pub(crate) fn template_hash(&self, index: u32) -> &str {
        &self.hashes[index as usize]
    }

    /// Probability that a flask gives this, rivals or not; 1 as far as the model does not know.
    pub(crate) fn plausibility_alone(&self, change: &Change) -> f32 {
        self.judge.as_ref().map_or(1.0, |judge| judge.alone(change))
    }

    /// The same beside everything that the templates make of the flask, which is never more.
    pub(crate) fn plausibility(&self, flask: &Flask, change: &Change) -> f32 {
        let judge = self.judge.as_ref();
        judge.map_or(1.0, |judge| judge.among_rivals(flask, change, |row| self.template(row)))
    }

    /// What judges the steps, if anything does.
    pub(crate) fn judge(&self) -> Option<&Judge> {
        self.judge.as_ref()
    }

    /// Similarity of the product to the nearest one that a recorded reaction of the template made; `None` where the
    /// model has no records.
    pub(crate) fn nearest_precedent(&self, template: u32, product: &Fingerprint) -> Option<f32> {
        self.precedents.as_ref().map(|precedents| precedents.nearest(template, product))
    }

    /// The templates that may match a product, most probable first.
    pub(crate) fn rank(&self, product: &PreparedMolecule) -> Vec<Ranked> {
        self.policy.rank(&product.molecule().fingerprint(), &self.index.matching(product))
    }
}

impl fmt::Debug for RetroModel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "RetroModel({} templates)", self.templates())
    }
}

fn read_rows(path: &Path) -> Result<Vec<Row>, ModelError> {
    let file = File::open(path).map_err(|source| ModelError::Unreadable { path: path.to_owned(), source })?;
    let mut reader = csv::ReaderBuilder::new().delimiter(b'\t').from_reader(MultiGzDecoder::new(file));
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
        rows.push(Row { smarts: record[1].to_owned(), hash: record[2].to_owned() });
    }
    Ok(rows)
}

/// Compiles every template, on all cores.
fn compile(rows: &[Row]) -> Vec<Option<Template>> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let share = rows.len().div_ceil(cores).max(1);
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

fn index(templates: &[Option<Template>]) -> TemplateIndex {
    let numbered = (0_u32..).zip(templates);
    TemplateIndex::new(numbered.filter_map(|(row, template)| Some((row, template.as_ref()?))))
}
