//! Collection of molecules in the order of their string numbers, although strings end in any order.

use std::collections::{BTreeMap, HashSet};

/// Strings started in addition to those that the share of accepted strings suggests.
const SPARE: u64 = 8;
/// Maximum strings expected beyond those that have arrived, if few were accepted.
const MAX_SEARCH_AHEAD: u64 = 1_024;

/// Result of a string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StringResult {
    /// A molecule that satisfies all conditions, as canonical SMILES.
    Accepted(String),
    /// A valid molecule, refused by the constraint with this index.
    Refused(usize),
    /// Not a valid molecule.
    Invalid,
}

/// Limits after which a size counts as unreachable.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AttemptLimits {
    /// Strings since the last new molecule.
    fruitless: u64,
    /// Known molecules since the last new one.
    repeats: u64,
    /// All strings, per molecule wanted and as a constant.
    strings: Option<(u64, u64)>,
}

impl AttemptLimits {
    /// Limits for a draw as the pack says.
    pub(crate) const PLAIN: Self = Self { fruitless: 2_000, repeats: 2_000, strings: Some((20, 2_000)) };
    /// Limits for a draw under conditions: it goes on while at least one string in some hundred thousand satisfies
    /// them.
    pub(crate) const CONDITIONED: Self = Self { fruitless: 500_000, repeats: 2_000, strings: None };
}

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
    /// Number of accepted results in `early`.
    early_accepted: u64,
    /// Number of strings taken in order so far, which is the number of the string to take next.
    strings: u64,
    /// Valid strings among those taken.
    valid: u64,
    /// Valid strings refused, by the index of the constraint.
    refused: Vec<u64>,
    limits: AttemptLimits,
    /// Strings taken since the last new molecule.
    since_new: u64,
    /// Known molecules taken since the last new one.
    repeats: u64,
}

/// Counts of generated strings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StringCounts {
    /// All strings.
    pub strings: u64,
    /// Strings that are valid molecules.
    pub valid: u64,
    /// Valid molecules that a condition of the sample refused.
    pub refused: u64,
    /// Valid molecules that satisfy all conditions and did not occur before in the same sample.
    pub distinct: u64,
}

impl StringCounts {
    /// Returns the counts since `before`.
    pub(crate) fn since(self, before: Self) -> Self {
        Self {
            strings: self.strings - before.strings,
            valid: self.valid - before.valid,
            refused: self.refused - before.refused,
            distinct: self.distinct - before.distinct,
        }
    }

    /// Returns the number of valid molecules that satisfy all conditions and occurred before in the same sample.
    #[must_use]
    pub fn duplicates(self) -> u64 {
        self.valid - self.refused - self.distinct
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
            early_accepted: 0,
            strings: 0,
            valid: 0,
            refused: Vec::new(),
            limits: AttemptLimits::PLAIN,
            since_new: 0,
            repeats: 0,
        }
    }

    /// Sets the total to `size` molecules, whatever it was before.
    pub(crate) fn grow(&mut self, size: usize) {
        self.size = size;
        self.aim_at(size);
    }

    /// Sets the limits after which the size counts as unreachable.
    pub(crate) fn limit(&mut self, limits: AttemptLimits) {
        self.limits = limits;
    }

    /// Sets the number of molecules wanted now, and takes results that arrived beyond the previous number.
    pub(crate) fn aim_at(&mut self, molecules: usize) {
        self.aim = molecules.min(self.size);
        self.add([]);
    }

    /// Adds the results of strings, by their numbers.
    pub(crate) fn add(&mut self, strings: impl IntoIterator<Item = (u64, StringResult)>) {
        for (number, result) in strings {
            self.early_accepted += u64::from(matches!(result, StringResult::Accepted(_)));
            self.early.insert(number, result);
        }
        while !self.is_over()
            && let Some(result) = self.early.remove(&self.strings)
        {
            self.take(result);
        }
    }

    fn take(&mut self, result: StringResult) {
        self.strings += 1;
        self.since_new += 1;
        self.valid += u64::from(result != StringResult::Invalid);
        match result {
            StringResult::Accepted(molecule) => {
                self.early_accepted -= 1;
                self.repeats += 1;
                if !self.known.contains(&molecule) {
                    self.known.insert(molecule.clone());
                    self.molecules.push(molecule);
                    (self.since_new, self.repeats) = (0, 0);
                }
            }
            StringResult::Refused(constraint) => {
                self.refused.resize(self.refused.len().max(constraint + 1), 0);
                self.refused[constraint] += 1;
            }
            StringResult::Invalid => {}
        }
    }

    /// Returns the number of strings that have arrived, in order or not.
    pub(crate) fn arrived(&self) -> u64 {
        self.strings + self.early.len() as u64
    }

    /// Estimates the total number of strings needed, from the results so far; at least one more than have arrived.
    pub(crate) fn expected(&self) -> u64 {
        let found = self.molecules.len() as u64 + self.early_accepted;
        let missing = (self.aim as u64).saturating_sub(found);
        // One extra success is assumed; otherwise a share of zero would ask for infinitely many strings.
        let strings = missing * (self.arrived() + 1) / (found + 1);
        let most = missing.saturating_mul(8).max(MAX_SEARCH_AHEAD.min(self.arrived() / 2)).max(1);
        self.arrived() + strings.clamp(1, most) + SPARE.min(missing / 8)
    }

    /// Returns true if no further string is needed.
    pub(crate) fn is_over(&self) -> bool {
        self.is_complete() || self.yields_nothing_new()
    }

    /// Returns true if a limit of attempts is reached.
    pub(crate) fn yields_nothing_new(&self) -> bool {
        let AttemptLimits { fruitless, repeats, strings } = self.limits;
        let is_spent = |(each, more)| self.strings >= each * self.size as u64 + more;
        self.since_new >= fruitless || self.repeats >= repeats || strings.is_some_and(is_spent)
    }

    /// Returns the number of valid strings refused, by the index of the constraint.
    pub(crate) fn refused(&self) -> &[u64] {
        &self.refused
    }

    /// Returns the counts of the strings taken.
    pub(crate) fn tally(&self) -> StringCounts {
        StringCounts {
            strings: self.strings,
            valid: self.valid,
            refused: self.refused.iter().sum(),
            distinct: self.molecules.len() as u64,
        }
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
    use super::{AttemptLimits, MoleculeCollector, StringResult};

    fn molecule(text: &str) -> StringResult {
        StringResult::Accepted(text.to_owned())
    }

    #[test]
    fn molecules_come_in_the_order_of_their_numbers() {
        let mut collector = MoleculeCollector::new(3);

        collector.add([(3, molecule("CN")), (1, molecule("C"))]);
        assert!(!collector.is_over());
        collector.add([
            (0, StringResult::Invalid),
            (2, molecule("C")),
            (5, molecule("N")),
            (4, molecule("O")),
        ]);

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

        let result =
            |n: u64| if n.is_multiple_of(2) { molecule(&n.to_string()) } else { StringResult::Refused(0) };
        collector.add((0..100).map(|n| (n, result(n))));

        let expected = collector.expected();
        assert!((1_950..2_050).contains(&expected), "{expected}");
    }

    #[test]
    fn a_run_that_finds_nothing_grows_in_bounded_steps() {
        let mut collector = MoleculeCollector::new(10);

        collector.add((0..100).map(|n| (n, StringResult::Invalid)));

        assert!((101..200).contains(&collector.expected()), "{}", collector.expected());
    }

    #[test]
    fn a_model_that_repeats_itself_is_given_up() {
        let mut collector = MoleculeCollector::new(1_000);

        collector.add((0..2_001).map(|n| (n, molecule("C"))));

        assert!(collector.yields_nothing_new());
        assert_eq!(collector.molecules(), ["C"]);
    }

    #[test]
    fn a_draw_under_conditions_goes_on_while_few_are_accepted_and_ends_when_all_repeat() {
        let mut collector = MoleculeCollector::new(1_000);
        collector.limit(AttemptLimits::CONDITIONED);

        collector.add((0..100_000).map(|n| (n, StringResult::Refused(n as usize % 2))));
        assert!(!collector.is_over());
        assert_eq!(collector.refused(), [50_000, 50_000]);
        collector.add((100_000..102_001).map(|n| (n, molecule("C"))));

        assert!(collector.yields_nothing_new());
        assert_eq!(collector.molecules(), ["C"]);
    }
}
