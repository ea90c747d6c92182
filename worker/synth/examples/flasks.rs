//! Makes the training examples of the plausibility model: the products that the library makes from recorded reaction
//! mixtures.
//!
//! `flasks TEMPLATES.csv.gz OUT.safetensors [--rivals 48] [--part K/N] < REACTIONS`. Each line is a reaction
//! `precursor.precursor>>product` and, after a tab, the precursor atom of each product atom, as
//! `worker/training/flask_reactions.py` writes them.
//!
//! The tensors: `flasks` u32 `[F + 1]`, the start of each mixture's changes; the first change of a mixture is the
//! recorded one, the others are rivals. `changes` u32 `[C + 1]`, the start of each change's features; `features` u16
//! `[N]`, the upper half of each; `classes` i64 `[C]`; `templates` u32 `[C]`, the template that makes the change;
//! `rows` u32 `[F]`, the line of the reaction. A change that no template makes on the graph is derived from the
//! recorded map and has the template [`NO_TEMPLATE`].

#![allow(clippy::print_stdout, reason = "a program that reports")]

use std::error::Error;
use std::fs::File;
use std::io::stdin;
use std::path::Path;
use std::time::{Duration, Instant};

use chem::{Change, Molecule, OutcomeIndex, ReactionMixture, Template};
use flate2::read::MultiGzDecoder;
use safetensors::tensor::{Dtype, TensorView};

/// Placeholder template for a recorded change that no template makes.
const NO_TEMPLATE: u32 = u32::MAX;

/// The same allocator as in the worker.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [templates, out, options @ ..] = arguments.as_slice() else {
        return Err("usage: flasks TEMPLATES.csv.gz OUT.safetensors [--rivals 48] < REACTIONS".into());
    };
    let option =
        |name: &str| options.iter().position(|option| option == name).and_then(|at| options.get(at + 1));
    let rivals: usize = option("--rivals").map_or(Ok(48), |text| text.parse())?;
    let (part, parts) = option("--part").and_then(|text| text.split_once('/')).unwrap_or(("0", "1"));
    let (part, parts): (usize, usize) = (part.parse()?, parts.parse()?);

    let templates = read_templates(Path::new(templates))?;
    let numbered = (0_u32..).zip(&templates);
    let index =
        OutcomeIndex::new(numbered.filter_map(|(number, template)| Some((number, template.as_ref()?))));
    println!("{} templates, {} of them on the graph", templates.len(), index.len());

    let mut examples = Examples::default();
    let (mut read, mut unmade, mut unread, mut elapsed) = (0_u32, 0, 0, Duration::ZERO);
    for (row, line) in stdin().lines().enumerate() {
        let line = line?;
        if row % parts != part {
            continue;
        }
        let Some((reaction, sources)) = line.split_once('\t') else { continue };
        let Some((precursors, product)) = reaction.split_once(">>") else { continue };
        let sources: Vec<Option<u32>> = sources.split(',').map(|source| source.parse().ok()).collect();
        read += 1;
        let precursors: Option<Vec<Molecule>> = precursors.split('.').map(|one| one.parse().ok()).collect();
        let (Some(precursors), Ok(product)) = (precursors, product.parse::<Molecule>()) else {
            unread += 1;
            continue;
        };
        let start = Instant::now();
        let Some(mixture) = ReactionMixture::new(&precursors) else {
            unread += 1;
            continue;
        };
        let mut made = index.outcomes(&mixture, |number| templates[number as usize].as_ref(), rivals);
        elapsed += start.elapsed();
        let Some(recorded) =
            mixture.change(&product, &sources).filter(|recorded| recorded.changing_atoms > 0)
        else {
            unread += 1;
            continue;
        };
        let at = made
            .iter()
            .position(|(_, change)| change.product_hash == recorded.product_hash)
            .unwrap_or_else(|| {
                unmade += 1;
                made.push((NO_TEMPLATE, recorded));
                made.len() - 1
            });
        examples.add(u32::try_from(row)?, made, at);
        if read % 5000 == 0 {
            let flasks = examples.rows.len();
            println!(
                "{read} read, {unread} not taken, {unmade} not made; {:.1} changes a flask, {:.1} features a change, {:.2} ms a flask",
                examples.templates.len() as f64 / flasks as f64,
                examples.features.len() as f64 / examples.templates.len() as f64,
                elapsed.as_secs_f64() * 1e3 / f64::from(read)
            );
        }
    }
    println!("{read} read, {unread} not taken, {unmade} not made by any template, {:.2?} in all", elapsed);
    examples.write(Path::new(out))
}

/// The examples, one reaction mixture after the other.
#[derive(Default)]
struct Examples {
    flasks: Vec<u32>,
    changes: Vec<u32>,
    features: Vec<u16>,
    classes: Vec<u64>,
    templates: Vec<u32>,
    rows: Vec<u32>,
}

impl Examples {
    /// Adds a reaction mixture; the change at `recorded` comes first.
    fn add(&mut self, row: u32, mut made: Vec<(u32, Change)>, recorded: usize) {
        made.swap(0, recorded);
        self.rows.push(row);
        self.flasks.push(self.templates.len() as u32);
        for (template, change) in made {
            self.changes.push(self.features.len() as u32);
            self.features.extend(change.features.iter().map(|&feature| (feature >> 16) as u16));
            self.classes.push(change.class_hash);
            self.templates.push(template);
        }
    }

    fn write(mut self, path: &Path) -> Result<(), Box<dyn Error>> {
        self.flasks.push(self.templates.len() as u32);
        self.changes.push(self.features.len() as u32);
        let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
        let features: Vec<u8> = self.features.iter().flat_map(|one| one.to_le_bytes()).collect();
        let classes: Vec<u8> = self.classes.iter().flat_map(|one| one.to_le_bytes()).collect();
        let (flasks, changes) = (words(&self.flasks), words(&self.changes));
        let (templates, rows) = (words(&self.templates), words(&self.rows));
        let tensors = [
            ("flasks", Dtype::U32, self.flasks.len(), &flasks),
            ("changes", Dtype::U32, self.changes.len(), &changes),
            ("features", Dtype::U16, self.features.len(), &features),
            ("classes", Dtype::I64, self.classes.len(), &classes),
            ("templates", Dtype::U32, self.templates.len(), &templates),
            ("rows", Dtype::U32, self.rows.len(), &rows),
        ];
        let views: Result<Vec<_>, _> = tensors
            .into_iter()
            .map(|(name, dtype, len, bytes)| Ok((name, TensorView::new(dtype, vec![len], bytes)?)))
            .collect::<Result<_, safetensors::SafeTensorError>>();
        Ok(safetensors::serialize_to_file(views?, None, path)?)
    }
}

/// Reads the templates of a pack; `None` for a template that cannot be parsed.
fn read_templates(path: &Path) -> Result<Vec<Option<Template>>, Box<dyn Error>> {
    let file = MultiGzDecoder::new(File::open(path)?);
    let mut reader = csv::ReaderBuilder::new().delimiter(b'\t').from_reader(file);
    let mut templates = Vec::new();
    for record in reader.records() {
        templates.push(Template::parse(&record?[1]).ok());
    }
    Ok(templates)
}
