//! Quality of a model's strings: validity, uniqueness, novelty, diversity, and comparison with known molecules in
//! nine descriptors, scaffolds and stereo.
//!
//! Strings are not repaired or filtered before they are counted. Likeness is exp(-KL) of two histograms, and its mean
//! is the KL score, as in GuacaMol (Brown et al., J. Chem. Inf. Model. 2019), with the bins of
//! `worker/training/evaluate.py` and RDKit's descriptors. So the figures of both can be compared. Scaffold similarity
//! is that of MOSES (Polykovskiy et al., Front. Pharmacol. 2020): the cosine between the counts of Bemis–Murcko
//! scaffolds.

use std::collections::{HashMap, HashSet};

use chem::{Descriptors, Fingerprint, Limits, Molecule};
use rayon::prelude::*;

/// Molecules whose pairwise similarities are averaged.
const DIVERSITY_MOLECULES: usize = 1_000;
/// Maximum molecules per set whose distributions are compared; the noise of histograms depends on it.
const MAX_COMPARED: usize = 10_000;
/// Bins of a property that is not a count.
const BINS: usize = 50;
/// Count assigned to an empty bin.
const EMPTY_BIN_COUNT: f64 = 0.1;

/// Evaluation of a set of strings.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// Number of strings given.
    pub strings: usize,
    /// Share of the strings that are molecules.
    pub validity: f64,
    /// Share of distinct molecules among the valid strings.
    pub uniqueness: f64,
    /// Share of the distinct molecules that are not among the known ones; `None` without known molecules.
    pub novelty: Option<f64>,
    /// 1 minus the mean Tanimoto similarity over all pairs of the first 1,000 distinct molecules.
    pub internal_diversity: f64,
    /// KL score, the mean likeness of the properties; `None` without known molecules.
    pub kl_score: Option<f64>,
    /// Statistics of the scaffolds.
    pub scaffolds: Scaffolds,
    /// Share of the distinct molecules that have stereo marks.
    pub stereo: f64,
    /// Share of the known molecules with stereo marks, if any were given.
    pub known_stereo: Option<f64>,
    /// Distributions of the nine descriptors, then of the number of heavy atoms, which is not in the score.
    pub properties: Vec<Distribution>,
    /// Distinct molecules as canonical SMILES, in the order of the strings.
    pub molecules: Vec<String>,
}

/// Statistics of the molecules' scaffolds.
#[derive(Debug, Clone, PartialEq)]
pub struct Scaffolds {
    /// Distinct scaffolds per molecule that has a scaffold.
    pub diversity: f64,
    /// Share of the molecules without a ring.
    pub acyclic: f64,
    /// Cosine between the scaffold counts of both sets; `None` without known molecules.
    pub similarity: Option<f64>,
    /// Most common scaffolds, with their share of the molecules and of the known molecules.
    pub commonest: Vec<(String, f64, Option<f64>)>,
}

/// Distribution of a property over the drawn and the known molecules.
#[derive(Debug, Clone, PartialEq)]
pub struct Distribution {
    /// Name of the property.
    pub name: &'static str,
    /// Value of each distinct molecule.
    pub drawn: Vec<f64>,
    /// Value of each known molecule; empty if none were given.
    pub known: Vec<f64>,
    /// exp(-KL) of the two; `None` without known molecules.
    pub likeness: Option<f64>,
}

/// Number of properties in the score.
const SCORED: usize = 9;

const NAMES: [&str; SCORED + 1] = [
    "Bertz complexity",
    "Crippen logP",
    "molecular weight",
    "polar surface",
    "hydrogen bond acceptors",
    "hydrogen bond donors",
    "rotatable bonds",
    "aliphatic rings",
    "aromatic rings",
    "heavy atoms",
];

/// Number of scaffolds in a report.
const REPORTED_SCAFFOLDS: usize = 12;

/// Computed properties of a molecule.
struct MoleculeProperties {
    numbers: [f64; NAMES.len()],
    scaffold: Option<String>,
    has_stereo: bool,
}

impl Evaluation {
    /// Evaluates raw strings, such as [`crate::Sampler::raw`] returns, against known molecules, if any are given.
    ///
    /// Known molecules that do not parse are left out. The first 10,000 of either set are compared, so the known ones
    /// should be in random order.
    #[must_use]
    pub fn of(strings: &[String], known: &[String]) -> Self {
        let valid = parsed(strings);
        let mut seen = HashSet::new();
        let distinct: Vec<&Molecule> =
            valid.iter().filter(|molecule| seen.insert(molecule.as_canonical())).collect();
        // Kept as strings to save memory, since there may be a million.
        let known: Vec<String> = known.par_iter().filter_map(|text| canonical(text)).collect();
        let known_texts: HashSet<&str> = known.iter().map(String::as_str).collect();
        let novel = distinct.iter().filter(|molecule| !known_texts.contains(molecule.as_canonical())).count();

        let compared: Vec<&Molecule> = distinct.iter().copied().take(MAX_COMPARED).collect();
        let drawn = traits(&compared);
        let known_molecules = parsed(&known[..known.len().min(MAX_COMPARED)]);
        let known = traits(&known_molecules.iter().collect::<Vec<_>>());
        let properties: Vec<_> = (0..NAMES.len())
            .map(|n| {
                let values =
                    |of: &[MoleculeProperties]| -> Vec<f64> { of.iter().map(|it| it.numbers[n]).collect() };
                let (drawn, known) = (values(&drawn), values(&known));
                let likeness = (!known.is_empty() && !drawn.is_empty()).then(|| likeness(&drawn, &known));
                Distribution { name: NAMES[n], drawn, known, likeness }
            })
            .collect();
        let scores: Vec<f64> =
            properties.iter().take(SCORED).filter_map(|property| property.likeness).collect();
        let stereo =
            |of: &[MoleculeProperties]| share(of.iter().filter(|it| it.has_stereo).count(), of.len());
        Self {
            strings: strings.len(),
            validity: share(valid.len(), strings.len()),
            uniqueness: share(distinct.len(), valid.len()),
            novelty: (!known.is_empty()).then(|| share(novel, distinct.len())),
            internal_diversity: internal_diversity(&distinct),
            kl_score: (!scores.is_empty()).then(|| scores.iter().sum::<f64>() / scores.len() as f64),
            scaffolds: Scaffolds::of(&drawn, &known),
            stereo: stereo(&drawn),
            known_stereo: (!known.is_empty()).then(|| stereo(&known)),
            properties,
            molecules: distinct.iter().map(|molecule| molecule.canonical_smiles()).collect(),
        }
    }
}

impl Scaffolds {
    fn of(drawn: &[MoleculeProperties], known: &[MoleculeProperties]) -> Self {
        let (counts, known_counts) = (counts(drawn), counts(known));
        let cyclic: usize = counts.values().sum();
        let mut commonest: Vec<(&str, usize)> = counts.iter().map(|(text, count)| (*text, *count)).collect();
        commonest.sort_by_key(|(text, count)| (std::cmp::Reverse(*count), *text));
        let known_share = |text: &str| share(known_counts.get(text).copied().unwrap_or(0), known.len());
        let commonest = commonest.into_iter().take(REPORTED_SCAFFOLDS).map(|(text, count)| {
            (text.to_owned(), share(count, drawn.len()), (!known.is_empty()).then(|| known_share(text)))
        });
        Self {
            diversity: share(counts.len(), cyclic),
            acyclic: share(drawn.len() - cyclic, drawn.len()),
            similarity: (!known.is_empty() && !drawn.is_empty()).then(|| cosine(&counts, &known_counts)),
            commonest: commonest.collect(),
        }
    }
}

fn counts(of: &[MoleculeProperties]) -> HashMap<&str, usize> {
    let mut counts = HashMap::new();
    for scaffold in of.iter().filter_map(|it| it.scaffold.as_deref()) {
        *counts.entry(scaffold).or_insert(0) += 1;
    }
    counts
}

fn cosine(a: &HashMap<&str, usize>, b: &HashMap<&str, usize>) -> f64 {
    let product: usize = a.iter().filter_map(|(text, count)| b.get(text).map(|other| count * other)).sum();
    let length = |counts: &HashMap<&str, usize>| {
        counts.values().map(|count| (count * count) as f64).sum::<f64>().sqrt()
    };
    let lengths = length(a) * length(b);
    if lengths == 0.0 { 0.0 } else { product as f64 / lengths }
}

fn parsed(strings: &[String]) -> Vec<Molecule> {
    strings.par_iter().filter_map(|text| Molecule::parse(text, Limits::TARGET).ok()).collect()
}

fn canonical(text: &str) -> Option<String> {
    Molecule::parse(text, Limits::TARGET).ok().map(|molecule| molecule.canonical_smiles())
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

fn traits(molecules: &[&Molecule]) -> Vec<MoleculeProperties> {
    let traits = |molecule: &&Molecule| {
        let it = Descriptors::of(molecule);
        MoleculeProperties {
            numbers: [
                it.complexity,
                it.log_p,
                it.molecular_weight,
                it.polar_surface,
                f64::from(it.hydrogen_bond_acceptors),
                f64::from(it.hydrogen_bond_donors),
                f64::from(it.rotatable_bonds),
                f64::from(it.aliphatic_rings),
                f64::from(it.aromatic_rings),
                molecule.heavy_atoms() as f64,
            ],
            scaffold: chem::scaffold(molecule),
            has_stereo: molecule.as_canonical().contains(['@', '/', '\\']),
        }
    };
    molecules.par_iter().map(traits).collect()
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

/// Returns exp(-KL(known || drawn)) of two histograms; neither may be empty.
fn likeness(drawn: &[f64], known: &[f64]) -> f64 {
    let edges = edges(known);
    let (p, q) = (shares(known, &edges), shares(drawn, &edges));
    (-p.iter().zip(&q).map(|(p, q)| p * (p / q).ln()).sum::<f64>()).exp()
}

/// Returns the bin edges: one bin per value for counts, else bins that hold equally many known molecules.
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

/// Returns the share of the values in each bin; an empty bin counts as `EMPTY_BIN_COUNT`.
fn shares(values: &[f64], edges: &[f64]) -> Vec<f64> {
    let mut shares = vec![EMPTY_BIN_COUNT; edges.len() + 1];
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
        // The fingerprints have no bit in common.
        assert!((evaluation.internal_diversity - 1.0).abs() < 1e-6);
    }

    #[test]
    fn properties_are_read_off_each_molecule() {
        let evaluation = Evaluation::of(&strings(&["C[C@H](N)C(=O)Oc1ccc2ccccc2c1", "F/C=C/F"]), &[]);

        let values: Vec<_> = evaluation.properties.iter().map(|property| property.drawn.clone()).collect();
        // Acceptors, donors, rotatable bonds, aliphatic and aromatic rings, heavy atoms.
        assert_eq!(
            values[4..],
            [[3.0, 0.0], [1.0, 0.0], [2.0, 0.0], [0.0, 0.0], [2.0, 0.0], [16.0, 4.0]].map(Vec::from)
        );
        assert!((values[2][1] - 64.03).abs() < 0.01, "{}", values[2][1]);
        assert!((evaluation.stereo - 1.0).abs() < 1e-9);
        assert_eq!((evaluation.known_stereo, evaluation.kl_score), (None, None));
    }

    #[test]
    fn scaffolds_are_counted_and_compared() {
        let drawn = strings(&["c1ccccc1CCN", "c1ccccc1CO", "C1CC1C", "CCO"]);
        let known = strings(&["Oc1ccccc1", "CCN"]);

        let scaffolds = Evaluation::of(&drawn, &known).scaffolds;

        assert_eq!(scaffolds.commonest[0], ("c1ccccc1".to_owned(), 0.5, Some(0.5)));
        assert!((scaffolds.diversity - 2.0 / 3.0).abs() < 1e-9);
        assert!((scaffolds.acyclic - 0.25).abs() < 1e-9);
        // Counts are (2, 1) and (1, 0).
        assert!((scaffolds.similarity.unwrap() - 2.0 / 5.0_f64.sqrt()).abs() < 1e-9);
    }

    #[test]
    fn a_set_is_like_itself_and_less_like_another() {
        let small = strings(&["C", "CC", "CCC", "CCCC", "CCCCC"]);
        let large = strings(&["c1ccccc1CCN", "c1ccccc1CCCN", "c1ccccc1CCCCN", "c1ccccc1CO", "Oc1ccccc1"]);

        assert!((Evaluation::of(&small, &small).kl_score.unwrap() - 1.0).abs() < 1e-9);
        assert!(Evaluation::of(&small, &large).kl_score.unwrap() < 0.9);
    }

    #[test]
    fn nothing_drawn_is_nothing_and_no_fault() {
        let evaluation = Evaluation::of(&[], &strings(&["CCO"]));

        assert_eq!((evaluation.validity, evaluation.uniqueness, evaluation.kl_score), (0.0, 0.0, None));
        assert_eq!(evaluation.scaffolds.similarity, None);
    }
}
