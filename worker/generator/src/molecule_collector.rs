//! Collection of molecules in the order of their string numbers, although strings end in any order.

use std::collections::{BTreeMap, HashSet};

/// Limit of strings, per molecule wanted and as a constant, after which a size counts as unreachable.
const ATTEMPTS: (u64, u64) = (20, 2_000);
/// Number of strings without any new molecule after which a size counts as unreachable.
const MAX_FRUITLESS_STRINGS: u64 = 2_000;
/// Strings started in addition to those that the share of valid strings suggests.
const SPARE: u64 = 8;

/// Result of a string: a molecule's canonical SMILES, or `None` if it is invalid.
pub(crate) type StringResult = Option<String>;

/// The first `size` distinct molecules of a run.
#[derive(Debug)]
pub(crate) struct MoleculeCollector {
    size: usize,
    /// Number of molecules wanted now.
    aim: usize,
    molecules: Vec<String>,
    known: HashSet<String>,
    /// Results that arrived before one with a lower number.
    early: BTreeMap<u64, StringResult>,
    /// Number of valid results in `early`.
    early_valid: u64,
    /// Number of strings taken in order so far, which is the number of the string to take next.
    strings: u64,
    /// Valid strings among those taken.
    valid: u64,
    /// Strings taken since the last new molecule.
    since_new: u64,
}

/// Counts of generated strings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StringCounts {
    /// All strings.
    pub strings: u64,
    /// Strings that are valid molecules.
    pub valid: u64,
    /// Valid molecules that did not occur before in the same sample.
    pub distinct: u64,
}

impl StringCounts {
    /// Returns the counts since `before`.
    pub(crate) fn since(self, before: Self) -> Self {
        Self {
            strings: self.strings - before.strings,
            valid: self.valid - before.valid,
            distinct: self.distinct - before.distinct,
        }
    }
}

impl MoleculeCollector {
    pub(crate) fn new(size: usize) -> Self {
        Self {
            size,
            aim: size,
            molecules: Vec::with_capacity(size),
            known: HashSet::with_capacity(size),
            early: BTreeMap::new(),
            early_valid: 0,
            strings: 0,
            valid: 0,
            since_new: 0,
        }
    }

    /// Sets the total to `size` molecules, whatever it was before.
    pub(crate) fn grow(&mut self, size: usize) {
        self.size = size;
        self.aim_at(size);
    }

    /// Sets the number of molecules wanted now, and takes results that arrived beyond the previous number.
    pub(crate) fn aim_at(&mut self, molecules: usize) {
        self.aim = molecules.min(self.size);
        self.add([]);
    }

    /// Adds the results of strings, by their numbers.
    pub(crate) fn add(&mut self, strings: impl IntoIterator<Item = (u64, StringResult)>) {
        for (number, molecule) in strings {
            self.early_valid += u64::from(molecule.is_some());
            self.early.insert(number, molecule);
        }
        while !self.is_over()
            && let Some(molecule) = self.early.remove(&self.strings)
        {
            self.take(molecule);
        }
    }

    fn take(&mut self, molecule: StringResult) {
        self.strings += 1;
        self.since_new += 1;
        if let Some(molecule) = molecule {
            self.early_valid -= 1;
            self.valid += 1;
            if !self.known.contains(&molecule) {
                self.known.insert(molecule.clone());
                self.molecules.push(molecule);
                self.since_new = 0;
            }
        }
    }

    /// Returns the number of strings that have arrived, in order or not.
    pub(crate) fn arrived(&self) -> u64 {
        self.strings + self.early.len() as u64
    }

    /// Estimates the total number of strings needed, from the results so far; at least one more than have arrived.
    pub(crate) fn expected(&self) -> u64 {
        let found = self.molecules.len() as u64 + self.early_valid;
        let missing = (self.aim as u64).saturating_sub(found);
        // One extra success is assumed; otherwise a share of zero would ask for infinitely many strings.
        let strings = missing * (self.arrived() + 1) / (found + 1);
        self.arrived() + strings.clamp(1, missing.saturating_mul(8).max(1)) + SPARE.min(missing / 8)
    }

    /// Returns true if no further string is needed.
    pub(crate) fn is_over(&self) -> bool {
        self.is_complete() || self.yields_nothing_new()
    }

    /// Returns true if the limit of attempts is reached.
    pub(crate) fn yields_nothing_new(&self) -> bool {
        self.since_new >= MAX_FRUITLESS_STRINGS || self.strings >= ATTEMPTS.0 * self.size as u64 + ATTEMPTS.1
    }

    /// Returns the counts of the strings taken.
    pub(crate) fn tally(&self) -> StringCounts {
        StringCounts { strings: self.strings, valid: self.valid, distinct: self.molecules.len() as u64 }
    }

    /// Returns the number of the string to take next; all lower numbers have arrived.
    pub(crate) fn next(&self) -> u64 {
        self.strings
    }

    /// Returns the numbers of the strings that arrived out of order.
    pub(crate) fn early(&self) -> impl Iterator<Item = u64> {
        self.early.keys().copied()
    }

    /// Returns the molecules found.
    pub(crate) fn molecules(&self) -> &[String] {
        &self.molecules
    }

    /// Returns the molecules found and consumes the collection.
    pub(crate) fn into_molecules(self) -> Vec<String> {
        self.molecules
    }

    /// Returns the number of molecules wanted now and not found yet.
    pub(crate) fn missing(&self) -> usize {
        self.aim.saturating_sub(self.molecules.len())
    }

    /// Returns the number of molecules wanted in total.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Returns true if the molecules wanted now have been found.
    pub(crate) fn is_complete(&self) -> bool {
        self.molecules.len() >= self.aim
    }
}

#[cfg(test)]
mod tests {
    use super::MoleculeCollector;

    fn molecule(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn molecules_come_in_the_order_of_their_numbers() {
        let mut collector = MoleculeCollector::new(3);

        collector.add([(3, molecule("CN")), (1, molecule("C"))]);
        assert!(!collector.is_over());
        collector.add([(0, None), (2, molecule("C")), (5, molecule("N")), (4, molecule("O"))]);

        assert!(collector.is_over());
        assert_eq!(collector.molecules(), ["C", "CN", "O"]);
    }

    #[test]
    fn what_came_too_early_is_taken_when_more_is_wanted() {
        let mut collector = MoleculeCollector::new(4);
        collector.aim_at(1);

        collector.add([(0, molecule("C")), (1, molecule("N")), (3, molecule("O"))]);
        assert!(collector.is_over());
        assert_eq!((collector.molecules().len(), collector.early().collect::<Vec<_>>()), (1, vec![1, 3]));
        collector.aim_at(3);

        assert!(!collector.is_over());
        assert_eq!(collector.molecules(), ["C", "N"]);
        assert_eq!((collector.next(), collector.early().collect::<Vec<_>>()), (2, vec![3]));
    }

    #[test]
    fn a_run_expects_as_many_strings_as_the_share_of_valid_ones_asks_for() {
        let mut collector = MoleculeCollector::new(1_000);
        assert_eq!(collector.expected(), 1_008);

        collector.add((0..100).map(|n| (n, (n % 2 == 0).then(|| n.to_string()))));

        let expected = collector.expected();
        assert!((1_950..2_050).contains(&expected), "{expected}");
    }

    #[test]
    fn a_run_that_finds_nothing_grows_in_bounded_steps() {
        let mut collector = MoleculeCollector::new(10);

        collector.add((0..100).map(|n| (n, None)));

        assert!((101..200).contains(&collector.expected()), "{}", collector.expected());
    }

    #[test]
    fn a_model_that_repeats_itself_is_given_up() {
        let mut collector = MoleculeCollector::new(1_000);

        collector.add((0..2_001).map(|n| (n, molecule("C"))));

        assert!(collector.yields_nothing_new());
        assert_eq!(collector.molecules(), ["C"]);
    }
}
