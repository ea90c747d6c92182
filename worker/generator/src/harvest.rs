//! Molecules in the order of their strings' numbers, though strings end in any order.

use std::collections::{BTreeMap, HashSet};

/// Strings drawn for each molecule wanted, and in any case, before a size counts as unreachable.
const ATTEMPTS: (u64, u64) = (20, 2_000);
/// Strings without a single new molecule after which a size counts as unreachable.
const BARREN: u64 = 2_000;
/// Strings to begin beyond those that the share of valid ones so far asks for.
const SPARE: u64 = 8;

/// What a string came to: a molecule's canonical SMILES, or nothing.
pub(crate) type Molecule = Option<String>;

/// The first `size` distinct molecules of a run.
#[derive(Debug)]
pub(crate) struct Harvest {
    size: usize,
    /// How many of them are wanted now.
    aim: usize,
    molecules: Vec<String>,
    known: HashSet<String>,
    /// Strings that came before one with a lower number.
    early: BTreeMap<u64, Molecule>,
    /// Valid ones among them.
    early_valid: u64,
    /// Strings taken in order so far: the number of the string to take next.
    strings: u64,
    /// Valid ones among those.
    valid: u64,
    /// Strings since the last new molecule.
    since_new: u64,
}

/// What became of strings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// All of them.
    pub strings: u64,
    /// Those that are a molecule.
    pub valid: u64,
    /// Those that are a molecule that no string before them was, of the same sample.
    pub distinct: u64,
}

impl Tally {
    /// What came after `before`.
    pub(crate) fn since(self, before: Self) -> Self {
        Self {
            strings: self.strings - before.strings,
            valid: self.valid - before.valid,
            distinct: self.distinct - before.distinct,
        }
    }
}

impl Harvest {
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

    /// Wants `size` molecules in all, whatever it wanted before.
    pub(crate) fn grow(&mut self, size: usize) {
        self.size = size;
        self.aim_at(size);
    }

    /// Wants so many of its molecules now, and takes what has come beyond those that it wanted before.
    pub(crate) fn aim_at(&mut self, molecules: usize) {
        self.aim = molecules.min(self.size);
        self.add([]);
    }

    /// Adds what strings came to, by their numbers.
    pub(crate) fn add(&mut self, strings: impl IntoIterator<Item = (u64, Molecule)>) {
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

    fn take(&mut self, molecule: Molecule) {
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

    /// Strings that have come, in order or not.
    pub(crate) fn arrived(&self) -> u64 {
        self.strings + self.early.len() as u64
    }

    /// Strings that it will take in all, by what has come so far; at least one more than have come.
    pub(crate) fn expected(&self) -> u64 {
        let found = self.molecules.len() as u64 + self.early_valid;
        let missing = (self.aim as u64).saturating_sub(found);
        // As if one had been good before the first came: a share of nothing would ask for no end.
        let strings = missing * (self.arrived() + 1) / (found + 1);
        self.arrived() + strings.clamp(1, missing.saturating_mul(8).max(1)) + SPARE.min(missing / 8)
    }

    /// Whether no further string is wanted.
    pub(crate) fn is_over(&self) -> bool {
        self.is_complete() || self.is_barren()
    }

    /// Whether the model has had its chance.
    pub(crate) fn is_barren(&self) -> bool {
        self.since_new >= BARREN || self.strings >= ATTEMPTS.0 * self.size as u64 + ATTEMPTS.1
    }

    /// What became of the strings that were taken.
    pub(crate) fn tally(&self) -> Tally {
        Tally { strings: self.strings, valid: self.valid, distinct: self.molecules.len() as u64 }
    }

    /// The number of the string to take next: those below it have come.
    pub(crate) fn next(&self) -> u64 {
        self.strings
    }

    /// The numbers of the strings that have come before that one.
    pub(crate) fn early(&self) -> impl Iterator<Item = u64> {
        self.early.keys().copied()
    }

    /// The molecules found.
    pub(crate) fn molecules(&self) -> &[String] {
        &self.molecules
    }

    /// The same, for who wants no more.
    pub(crate) fn into_molecules(self) -> Vec<String> {
        self.molecules
    }

    /// Molecules that are wanted now and not found.
    pub(crate) fn missing(&self) -> usize {
        self.aim.saturating_sub(self.molecules.len())
    }

    /// Molecules wanted in all.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Whether it has the molecules that are wanted now.
    pub(crate) fn is_complete(&self) -> bool {
        self.molecules.len() >= self.aim
    }
}

#[cfg(test)]
mod tests {
    use super::Harvest;

    fn molecule(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn molecules_come_in_the_order_of_their_numbers() {
        let mut harvest = Harvest::new(3);

        harvest.add([(3, molecule("CN")), (1, molecule("C"))]);
        assert!(!harvest.is_over());
        harvest.add([(0, None), (2, molecule("C")), (5, molecule("N")), (4, molecule("O"))]);

        assert!(harvest.is_over());
        assert_eq!(harvest.molecules(), ["C", "CN", "O"]);
    }

    #[test]
    fn what_came_too_early_is_taken_when_more_is_wanted() {
        let mut harvest = Harvest::new(4);
        harvest.aim_at(1);

        harvest.add([(0, molecule("C")), (1, molecule("N")), (3, molecule("O"))]);
        assert!(harvest.is_over());
        assert_eq!((harvest.molecules().len(), harvest.early().collect::<Vec<_>>()), (1, vec![1, 3]));
        harvest.aim_at(3);

        assert!(!harvest.is_over());
        assert_eq!(harvest.molecules(), ["C", "N"]);
        assert_eq!((harvest.next(), harvest.early().collect::<Vec<_>>()), (2, vec![3]));
    }

    #[test]
    fn a_run_expects_as_many_strings_as_the_share_of_valid_ones_asks_for() {
        let mut harvest = Harvest::new(1_000);
        assert_eq!(harvest.expected(), 1_008);

        harvest.add((0..100).map(|n| (n, (n % 2 == 0).then(|| n.to_string()))));

        let expected = harvest.expected();
        assert!((1_950..2_050).contains(&expected), "{expected}");
    }

    #[test]
    fn a_run_that_finds_nothing_grows_in_bounded_steps() {
        let mut harvest = Harvest::new(10);

        harvest.add((0..100).map(|n| (n, None)));

        assert!((101..200).contains(&harvest.expected()), "{}", harvest.expected());
    }

    #[test]
    fn a_model_that_repeats_itself_is_given_up() {
        let mut harvest = Harvest::new(1_000);

        harvest.add((0..2_001).map(|n| (n, molecule("C"))));

        assert!(harvest.is_barren());
        assert_eq!(harvest.molecules(), ["C"]);
    }
}
