//! What a model's strings are worth: validity, uniqueness, novelty, diversity, and how their properties
//! lie beside those of known molecules.
//!
//! Nothing is repaired or filtered before it is counted. The likeness of two distributions is exp(-KL) of
//! their histograms, as in GuacaMol (Brown et al., J. Chem. Inf. Model. 2019), in the bins of
//! `worker/training/evaluate.py`; but the properties are the few that need no toolkit beside `chem`, so
//! scores here and there are not to be compared.

use std::collections::HashSet;

use chem::{Fingerprint, Limits, Molecule};

use crate::symbol::{Aromatic, Symbol, symbols};

/// Molecules whose similarities are averaged over all pairs.
const DIVERSITY_MOLECULES: usize = 1_000;
/// Bins of a property that is no count.
const BINS: usize = 50;
/// What an empty bin counts as.
const EMPTY: f64 = 0.1;

/// The figures of a set of strings.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// Strings that were given.
    pub strings: usize,
    /// Share of the strings that are molecules.
    pub validity: f64,
    /// Share of distinct molecules among the valid strings.
    pub uniqueness: f64,
    /// Share of the distinct molecules that are not among the known ones, if these were given.
    pub novelty: Option<f64>,
    /// One less the mean Tanimoto similarity over all pairs of the first 1,000 distinct molecules.
    pub internal_diversity: f64,
    /// Mean likeness of the properties, if known molecules were given.
    pub likeness: Option<f64>,
    /// The distributions.
    pub properties: Vec<Distribution>,
    /// The distinct molecules, canonical, in the order of the strings.
    pub molecules: Vec<String>,
}

/// The distribution of a property over the molecules drawn and over the known ones.
#[derive(Debug, Clone, PartialEq)]
pub struct Distribution {
    /// What the property is called.
    pub name: &'static str,
    /// Of each distinct molecule.
    pub drawn: Vec<f64>,
    /// Of each known molecule; empty when none were given.
    pub known: Vec<f64>,
    /// exp(-KL) of the two, if known molecules were given.
    pub likeness: Option<f64>,
}

/// A property's name and how it is read off a molecule and the symbols of its canonical SMILES.
type Property = (&'static str, fn(&Molecule, &[Symbol]) -> f64);

/// Properties by name; all but the first are counts.
const PROPERTIES: [Property; 6] = [
    ("molecular weight", |molecule, _| molecule.molecular_weight()),
    ("heavy atoms", |molecule, _| molecule.heavy_atoms() as f64),
    ("rings", |_, symbols| count(symbols, |symbol| matches!(symbol, Symbol::Ring(_))) / 2.0),
    ("aromatic atoms", |_, symbols| {
        count(symbols, |symbol| matches!(symbol, Symbol::Atom(atom) if atom.aromatic != Aromatic::No))
    }),
    ("branches", |_, symbols| count(symbols, |symbol| *symbol == Symbol::Open)),
    ("stereo marks", |molecule, _| {
        let text = molecule.as_canonical();
        (text.matches('@').count() - text.matches("@@").count()) as f64
            + text.matches(['/', '\\']).count() as f64 / 2.0
    }),
];

fn count(symbols: &[Symbol], holds: impl Fn(&Symbol) -> bool) -> f64 {
    symbols.iter().filter(|symbol| holds(symbol)).count() as f64
}

impl Evaluation {
    /// Measures raw strings, such as [`crate::Sampler::raw`] gives, beside known molecules, if there are any.
    ///
    /// Known molecules that do not parse are left out.
    #[must_use]
    pub fn of(strings: &[String], known: &[String]) -> Self {
        let valid = parsed(strings);
        let mut seen = HashSet::new();
        let distinct: Vec<&Molecule> =
            valid.iter().filter(|molecule| seen.insert(molecule.as_canonical())).collect();
        let known = parsed(known);
        let known_texts: HashSet<&str> = known.iter().map(Molecule::as_canonical).collect();
        let novel = distinct.iter().filter(|molecule| !known_texts.contains(molecule.as_canonical())).count();

        let (drawn_values, known_values) = (values(distinct.iter().copied()), values(&known));
        let properties: Vec<_> = PROPERTIES
            .iter()
            .zip(drawn_values.into_iter().zip(known_values))
            .map(|((name, _), (drawn, known))| {
                let likeness = (!known.is_empty() && !drawn.is_empty()).then(|| likeness(&drawn, &known));
                Distribution { name, drawn, known, likeness }
            })
            .collect();
        let scores: Vec<f64> = properties.iter().filter_map(|property| property.likeness).collect();
        Self {
            strings: strings.len(),
            validity: share(valid.len(), strings.len()),
            uniqueness: share(distinct.len(), valid.len()),
            novelty: (!known.is_empty()).then(|| share(novel, distinct.len())),
            internal_diversity: internal_diversity(&distinct),
            likeness: (!scores.is_empty()).then(|| scores.iter().sum::<f64>() / scores.len() as f64),
            properties,
            molecules: distinct.iter().map(|molecule| molecule.canonical_smiles()).collect(),
        }
    }
}

fn parsed(strings: &[String]) -> Vec<Molecule> {
    strings.iter().filter_map(|text| Molecule::parse(text, Limits::TARGET).ok()).collect()
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// By property: its value for each molecule.
fn values<'a>(molecules: impl IntoIterator<Item = &'a Molecule>) -> [Vec<f64>; PROPERTIES.len()] {
    let mut values = [const { Vec::new() }; PROPERTIES.len()];
    for molecule in molecules {
        let symbols = symbols(molecule.as_canonical());
        for ((_, property), values) in PROPERTIES.iter().zip(&mut values) {
            values.push(property(molecule, &symbols));
        }
    }
    values
}

fn internal_diversity(molecules: &[&Molecule]) -> f64 {
    let prints: Vec<Fingerprint> =
        molecules.iter().take(DIVERSITY_MOLECULES).map(|molecule| molecule.fingerprint()).collect();
    let pairs = prints.len() * prints.len().saturating_sub(1) / 2;
    if pairs == 0 {
        return 0.0;
    }
    let similar =
        |n: usize| prints[..n].iter().map(|other| f64::from(prints[n].tanimoto(other))).sum::<f64>();
    1.0 - (0..prints.len()).map(similar).sum::<f64>() / pairs as f64
}

/// exp(-KL(known || drawn)) of two histograms; neither may be empty.
fn likeness(drawn: &[f64], known: &[f64]) -> f64 {
    let edges = edges(known);
    let (p, q) = (shares(known, &edges), shares(drawn, &edges));
    (-p.iter().zip(&q).map(|(p, q)| p * (p / q).ln()).sum::<f64>()).exp()
}

/// Between bins: for counts one bin each, else bins that hold as many known molecules each.
fn edges(known: &[f64]) -> Vec<f64> {
    let mut sorted = known.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (first, last) = (sorted[0], sorted[sorted.len() - 1]);
    let mut edges: Vec<f64> = if sorted.iter().all(|value| *value == value.round()) {
        (1..=(last - first) as usize).map(|n| first - 0.5 + n as f64).collect()
    } else {
        (1..BINS).map(|n| sorted[n * (sorted.len() - 1) / BINS]).collect()
    };
    edges.dedup();
    edges
}

/// Share of the values in each bin, empty bins counted a little.
fn shares(values: &[f64], edges: &[f64]) -> Vec<f64> {
    let mut shares = vec![EMPTY; edges.len() + 1];
    for value in values {
        shares[edges.partition_point(|edge| edge <= value)] += 1.0;
    }
    let total: f64 = shares.iter().sum();
    shares.iter().map(|share| share / total).collect()
}

#[cfg(test)]
mod tests {
    use super::Evaluation;

    fn strings(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn raw_strings_are_counted_as_they_are() {
        let drawn = strings(&["CCO", "OCC", "c1ccccc1", "C(", ""]);

        let evaluation = Evaluation::of(&drawn, &strings(&["CCO", "CCN", "nonsense"]));

        assert_eq!(evaluation.strings, 5);
        assert!((evaluation.validity - 0.6).abs() < 1e-9);
        assert!((evaluation.uniqueness - 2.0 / 3.0).abs() < 1e-9);
        assert_eq!(evaluation.novelty, Some(0.5));
        assert_eq!(evaluation.molecules, ["CCO", "c1ccccc1"]);
        // They share no bit of their fingerprints.
        assert!((evaluation.internal_diversity - 1.0).abs() < 1e-6);
    }

    #[test]
    fn properties_are_read_off_each_molecule() {
        let evaluation = Evaluation::of(&strings(&["C[C@H](N)C(=O)Oc1ccc2ccccc2c1", "F/C=C/F"]), &[]);

        let values: Vec<_> = evaluation.properties.iter().map(|property| property.drawn.clone()).collect();
        assert_eq!(
            values[1..],
            [[16.0, 4.0], [2.0, 0.0], [10.0, 0.0], [2.0, 0.0], [1.0, 1.0]].map(Vec::from)
        );
        assert!((values[0][1] - 64.03).abs() < 0.01, "{}", values[0][1]);
    }

    #[test]
    fn a_set_is_like_itself_and_less_like_another() {
        let small = strings(&["C", "CC", "CCC", "CCCC", "CCCCC"]);
        let large = strings(&["c1ccccc1CCN", "c1ccccc1CCCN", "c1ccccc1CCCCN", "c1ccccc1CO", "Oc1ccccc1"]);

        assert!((Evaluation::of(&small, &small).likeness.unwrap() - 1.0).abs() < 1e-9);
        assert!(Evaluation::of(&small, &large).likeness.unwrap() < 0.9);
    }

    #[test]
    fn nothing_drawn_is_nothing_and_no_fault() {
        let evaluation = Evaluation::of(&[], &strings(&["CCO"]));

        assert_eq!((evaluation.validity, evaluation.uniqueness, evaluation.likeness), (0.0, 0.0, None));
    }
}
