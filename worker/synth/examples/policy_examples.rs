//! Converts recorded reactions to training data of the policy network.
//!
//! `policy_examples TEMPLATES OUT < REACTIONS` reads `product TAB precursors` a line and writes safetensors. For
//! every distinct product: the network's inputs (Morgan bits, the environments of its atoms, its bonds), the
//! templates that match it and their sites. For every reaction: the templates and sites that give its recorded
//! precursors. Ragged arrays are flat, with a `…_starts` beside them. Lines that cannot be parsed are counted and
//! left out.

#![allow(clippy::print_stdout, reason = "a program that reports")]

use std::collections::HashMap;
use std::error::Error;
use std::io::stdin;
use std::ops::Range;
use std::path::Path;
use std::thread;

use chem::{Molecule, MoleculeKey, PreparedMolecule, Structure};
use safetensors::tensor::{Dtype, TensorView, serialize_to_file};
use synth::TemplateLibrary;

/// A recorded reaction: the number of its product, its line, and the keys of its precursors, ascending.
struct Reaction {
    product: usize,
    line: usize,
    precursors: Vec<MoleculeKey>,
    /// Number of atoms of each element in the precursors.
    elements: ElementCounts,
}

/// Counts of atoms by atomic number, for one or several molecules.
type ElementCounts = [i16; 128];

/// Flat arrays of some products and of their reactions.
#[derive(Default)]
struct Arrays {
    atom_counts: Vec<u32>,
    environments: Vec<u16>,
    bond_counts: Vec<u32>,
    bonds: Vec<u8>,
    bit_counts: Vec<u32>,
    bits: Vec<u16>,
    site_counts: Vec<u32>,
    sites: Vec<u64>,
    match_counts: Vec<u32>,
    match_templates: Vec<u16>,
    match_firsts: Vec<u16>,
    match_sites: Vec<u8>,
    products: Vec<u32>,
    lines: Vec<u32>,
    right_counts: Vec<u32>,
    rights: Vec<u16>,
    right_sites: Vec<u16>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(templates), Some(out)) = (arguments.next(), arguments.next()) else {
        return Err("usage: policy_examples TEMPLATES OUT < REACTIONS".into());
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let library = TemplateLibrary::load(Path::new(&templates), threads)?;
    let ParsedReactions { products, mut reactions, unreadable } = read()?;
    reactions.sort_by_key(|reaction| reaction.product);
    let share = products.len().div_ceil(threads).max(1);
    let parts: Vec<Range<usize>> =
        (0..products.len()).step_by(share).map(|from| from..(from + share).min(products.len())).collect();
    let arrays: Vec<Arrays> = thread::scope(|scope| {
        let run = |part: Range<usize>| {
            let (library, products) = (&library, &products);
            let from = reactions.partition_point(|reaction| reaction.product < part.start);
            let to = reactions.partition_point(|reaction| reaction.product < part.end);
            let reactions = &reactions[from..to];
            scope.spawn(move || {
                let mut arrays = Arrays::default();
                for reactions in reactions.chunk_by(|a, b| a.product == b.product) {
                    arrays.add(library, &products[reactions[0].product], reactions);
                }
                arrays
            })
        };
        let running: Vec<_> = parts.into_iter().map(run).collect();
        running.into_iter().map(|part| part.join().expect("a part does not panic")).collect()
    });
    let explained: usize =
        arrays.iter().flat_map(|part| &part.right_counts).filter(|&&count| count > 0).count();
    println!(
        "{} reactions of {} products, {explained} of them explained; {unreadable} lines unreadable",
        reactions.len(),
        products.len(),
    );
    write(&arrays, Path::new(&out))
}

/// The parsed input: distinct products, reactions, and the number of invalid lines.
#[derive(Default)]
struct ParsedReactions {
    products: Vec<String>,
    reactions: Vec<Reaction>,
    unreadable: usize,
}

fn read() -> Result<ParsedReactions, Box<dyn Error>> {
    let ParsedReactions { mut products, mut reactions, mut unreadable } = ParsedReactions::default();
    let mut known: HashMap<String, Option<usize>> = HashMap::new();
    for (line, text) in stdin().lines().enumerate() {
        let text = text?;
        let mut columns = text.split('\t');
        let (Some(product), Some(precursors)) = (columns.next(), columns.next()) else {
            unreadable += 1;
            continue;
        };
        let number = *known.entry(product.to_owned()).or_insert_with(|| {
            let readable = product.parse::<Molecule>().ok()?.canonical_smiles();
            Molecule::trusted(&readable).ok()?;
            products.push(readable);
            Some(products.len() - 1)
        });
        let molecules: Result<Vec<Molecule>, _> = precursors.split('.').map(str::parse).collect();
        let (Some(product), Ok(molecules)) = (number, molecules) else {
            unreadable += 1;
            continue;
        };
        let mut precursors: Vec<MoleculeKey> = molecules.iter().map(Molecule::key).collect();
        precursors.sort_unstable();
        let elements = elements(&molecules);
        reactions.push(Reaction { product, line, precursors, elements });
    }
    Ok(ParsedReactions { products, reactions, unreadable })
}

impl Arrays {
    /// Adds a product and the reactions that make it.
    fn add(&mut self, library: &TemplateLibrary, product: &str, reactions: &[Reaction]) {
        let molecule = Molecule::trusted(product).expect("was read before");
        let prepared = PreparedMolecule::new(&molecule);
        let own = self.atom_counts.len() as u32;
        let environments = molecule.environments();
        self.atom_counts.push(environments.len() as u32);
        self.environments.extend(environments.as_flattened().iter().map(|&hash| low_half(hash)));
        let bits: Vec<u16> = molecule.fingerprint().on_bits().collect();
        self.bit_counts.push(bits.len() as u32);
        self.bits.extend(bits);
        let before = self.bonds.len();
        let structure = Structure::of(&molecule);
        for atom in 0..molecule.atoms() {
            for bond in structure.bonds(atom as u32) {
                self.bonds.extend([atom as u8, bond.to as u8, bond.order as u8]);
            }
        }
        self.bond_counts.push(((self.bonds.len() - before) / 3) as u32);
        let matches = library.matches(&prepared);
        self.site_counts.push(matches.sites.len() as u32);
        for site in &matches.sites {
            self.sites.extend([site.bits() as u64, (site.bits() >> 64) as u64]);
        }
        self.match_counts.push(matches.templates.len() as u32);
        for found in &matches.templates {
            self.match_templates.push(found.template as u16);
            self.match_firsts.push(found.first as u16);
            self.match_sites.push(found.count as u8);
        }
        let own_elements = elements(std::slice::from_ref(&molecule));
        let added: Vec<ElementCounts> = reactions
            .iter()
            .map(|reaction| std::array::from_fn(|at| reaction.elements[at] - own_elements[at]))
            .collect();
        let mut right = vec![Vec::new(); reactions.len()];
        for (at, found) in matches.templates.iter().enumerate() {
            let Some(template) = library.template(found.template) else { continue };
            if template.atoms_added().is_some_and(|atoms| !added.contains(&counted(atoms))) {
                continue;
            }
            for outcome in template.apply(&prepared) {
                let keys = || outcome.precursors.iter().map(|precursor| precursor.molecule.key());
                for (reaction, right) in reactions.iter().zip(&mut right) {
                    if keys().eq(reaction.precursors.iter().copied()) {
                        let sites = matches.sites_of(found);
                        let is_used = |at: &usize| outcome.sites.contains(&sites[*at]);
                        let mask = (0..sites.len()).filter(is_used).fold(0_u16, |mask, at| mask | 1 << at);
                        right.push((at as u16, mask));
                    }
                }
            }
        }
        for (reaction, right) in reactions.iter().zip(right) {
            self.products.push(own);
            self.lines.push(reaction.line as u32);
            self.right_counts.push(right.len() as u32);
            self.rights.extend(right.iter().map(|right| right.0));
            self.right_sites.extend(right.iter().map(|right| right.1));
        }
    }
}

fn elements(molecules: &[Molecule]) -> ElementCounts {
    let structures = molecules.iter().map(Structure::of);
    let atoms = structures
        .flat_map(|whole| (0..whole.len() as u32).map(move |at| whole.atom(at).element).collect::<Vec<_>>());
    counted(&atoms.collect::<Vec<_>>())
}

fn counted(atoms: &[u8]) -> ElementCounts {
    let mut elements = [0; 128];
    atoms.iter().for_each(|&element| elements[usize::from(element) % 128] += 1);
    elements
}

/// Returns the low half of a hash, which is the network's resolution.
fn low_half(hash: u32) -> u16 {
    (hash & 0xffff) as u16
}

/// Writes the parts one after the other, with continuous product numbers.
fn write(parts: &[Arrays], path: &Path) -> Result<(), Box<dyn Error>> {
    let mut bytes: Vec<(&str, Dtype, Vec<usize>, Vec<u8>)> = Vec::new();
    let mut starts = |name, counts: fn(&Arrays) -> &[u32]| {
        let mut sum = 0_u64;
        let mut values = vec![0_u64];
        for &count in parts.iter().flat_map(counts) {
            sum += u64::from(count);
            values.push(sum);
        }
        let data = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        bytes.push((name, Dtype::U64, vec![values.len()], data));
    };
    starts("atom_starts", |part| &part.atom_counts);
    starts("bond_starts", |part| &part.bond_counts);
    starts("bit_starts", |part| &part.bit_counts);
    starts("site_starts", |part| &part.site_counts);
    starts("match_starts", |part| &part.match_counts);
    starts("right_starts", |part| &part.right_counts);
    let mut products = Vec::new();
    let mut before = 0;
    for part in parts {
        products.extend(part.products.iter().map(|&product| product + before));
        before += part.atom_counts.len() as u32;
    }
    macro_rules! values {
        ($name:literal, $dtype:ident, $width:expr, $values:expr) => {{
            let data: Vec<u8> = $values.flat_map(|value| value.to_le_bytes()).collect();
            let count = data.len() / ($width * Dtype::$dtype.bitsize() / 8);
            let shape = if $width == 1 { vec![count] } else { vec![count, $width] };
            bytes.push(($name, Dtype::$dtype, shape, data));
        }};
    }
    values!("products", U32, 1, products.iter());
    values!("lines", U32, 1, parts.iter().flat_map(|part| &part.lines));
    values!("environments", U16, 4, parts.iter().flat_map(|part| &part.environments));
    values!("bonds", U8, 3, parts.iter().flat_map(|part| &part.bonds));
    values!("bits", U16, 1, parts.iter().flat_map(|part| &part.bits));
    values!("sites", U64, 2, parts.iter().flat_map(|part| &part.sites));
    values!("match_templates", U16, 1, parts.iter().flat_map(|part| &part.match_templates));
    values!("match_firsts", U16, 1, parts.iter().flat_map(|part| &part.match_firsts));
    values!("match_sites", U8, 1, parts.iter().flat_map(|part| &part.match_sites));
    values!("rights", U16, 1, parts.iter().flat_map(|part| &part.rights));
    values!("right_sites", U16, 1, parts.iter().flat_map(|part| &part.right_sites));
    let views: Vec<(&str, TensorView<'_>)> = bytes
        .iter()
        .map(|(name, dtype, shape, data)| Ok((*name, TensorView::new(*dtype, shape.clone(), data)?)))
        .collect::<Result<_, safetensors::SafeTensorError>>()?;
    serialize_to_file(views, None, path)?;
    Ok(())
}
