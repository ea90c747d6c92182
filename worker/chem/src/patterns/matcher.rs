//! The search for patterns in a molecule.

use super::atom_set::AtomSet;
use super::condition::{Condition, ConditionId};
use super::library::{MAX_PATTERN, PatternId, PatternLibrary, SetPattern, Step};
use super::target::PatternTarget;

/// Maximum number of assignments tried for a pattern: some milliseconds.
const MAX_ASSIGNMENTS: u32 = 100_000;

/// A molecule, and the sets of its atoms that meet the conditions of a library, as far as they have been asked for.
#[derive(Debug)]
pub(crate) struct PatternMatcher<'a> {
    library: &'a PatternLibrary,
    target: &'a PatternTarget,
    /// Set of each condition, if known.
    sets: Vec<Option<AtomSet>>,
}

/// Candidates of the steps of a pattern.
type Candidates = Vec<AtomSet>;

impl<'a> PatternMatcher<'a> {
    pub fn new(library: &'a PatternLibrary, target: &'a PatternTarget) -> Self {
        Self { library, target, sets: vec![None; library.conditions.all.len()] }
    }

    /// Returns true if the pattern occurs.
    pub fn occurs(&mut self, pattern: PatternId) -> bool {
        let library = self.library;
        let pattern = &library.patterns[pattern.0 as usize];
        let Some(candidates) = self.candidates(pattern, &pattern.anywhere) else { return false };
        Search::new(self.target, &pattern.anywhere, &candidates).run(0)
    }

    /// Returns the atoms that the pattern's first atom matches.
    pub fn roots(&mut self, pattern: PatternId) -> AtomSet {
        let library = self.library;
        let pattern = &library.patterns[pattern.0 as usize];
        let Some(mut candidates) = self.candidates(pattern, &pattern.from_root) else {
            return AtomSet::EMPTY;
        };
        let firsts = candidates[0];
        // One atom, or two that are bonded, are no more than their candidates.
        if let [_] | [_, Step { parent: Some(_), .. }] = pattern.from_root[..] {
            return firsts;
        }
        let is_root = |&atom: &u8| {
            candidates[0] = AtomSet::single(atom);
            Search::new(self.target, &pattern.from_root, &candidates).run(0)
        };
        firsts.iter().filter(is_root).fold(AtomSet::EMPTY, |roots, atom| roots.or(AtomSet::single(atom)))
    }

    /// Returns the candidates of each step; `None` if a step has none.
    fn candidates(&mut self, pattern: &SetPattern, steps: &[Step]) -> Option<Candidates> {
        // Most patterns fail at an atom by itself.
        for step in steps {
            if self.set(pattern.atoms[usize::from(step.atom)][0]).is_empty() {
                return None;
            }
        }
        let mut candidates = Vec::with_capacity(steps.len());
        for step in steps {
            let mut atoms = self.all();
            for &condition in &pattern.atoms[usize::from(step.atom)] {
                atoms = atoms.and(self.set(condition));
                if atoms.is_empty() {
                    return None;
                }
            }
            candidates.push(atoms);
        }
        Some(candidates)
    }

    fn all(&self) -> AtomSet {
        AtomSet::of(&self.target.atoms, |_| true)
    }

    /// Returns the atoms that meet a condition.
    fn set(&mut self, id: ConditionId) -> AtomSet {
        if let Some(known) = self.sets[id as usize] {
            return known;
        }
        let set = self.evaluate(self.library.conditions.all[id as usize]);
        self.sets[id as usize] = Some(set);
        set
    }

    fn evaluate(&mut self, condition: Condition) -> AtomSet {
        let atoms = &self.target.atoms;
        match condition {
            Condition::Any => self.all(),
            Condition::Element(element) => AtomSet::of(atoms, |atom| atom.element == element),
            Condition::Aromatic => AtomSet::of(atoms, |atom| atom.aromatic),
            Condition::Charge(charge) => AtomSet::of(atoms, |atom| atom.charge == charge),
            Condition::Hydrogens(count) => AtomSet::of(atoms, |atom| atom.hydrogens == count),
            Condition::Degree(count) => AtomSet::of(atoms, |atom| atom.degree == count),
            Condition::Neighbours(count) => {
                AtomSet::of(atoms, |atom| atom.degree.saturating_add(atom.hydrogens) == count)
            }
            Condition::Valence(valence) => AtomSet::of(atoms, |atom| atom.valence == valence),
            Condition::Rings(count) => AtomSet::of(atoms, |atom| atom.rings == count),
            Condition::SmallestRing(size) => AtomSet::of(atoms, |atom| atom.smallest_ring == size),
            Condition::RingBonds(count) => AtomSet::of(atoms, |atom| atom.ring_bonds == count),
            Condition::Isotope(mass) => AtomSet::of(atoms, |atom| atom.isotope == mass),
            Condition::And(a, b) => match self.set(a) {
                AtomSet::EMPTY => AtomSet::EMPTY,
                set => set.and(self.set(b)),
            },
            Condition::Or(a, b) => self.set(a).or(self.set(b)),
            Condition::Not(a) => self.all().without(self.set(a)),
            Condition::Root(pattern) => self.roots(PatternId(pattern)),
            Condition::Bonded(from, bonds, to) => {
                let (from, to) = (self.set(from), self.set(to));
                if to.is_empty() {
                    return AtomSet::EMPTY;
                }
                let is_bonded = |&atom: &u8| {
                    let around = self.target.around(atom);
                    around.iter().any(|&(next, kind)| kind & bonds != 0 && to.contains(next))
                };
                from.iter().filter(is_bonded).fold(AtomSet::EMPTY, |set, atom| set.or(AtomSet::single(atom)))
            }
        }
    }
}

/// Backtracking over the candidates of a pattern's steps.
struct Search<'a> {
    target: &'a PatternTarget,
    steps: &'a [Step],
    candidates: &'a [AtomSet],
    /// Atom of each step.
    images: [u8; MAX_PATTERN],
    used: AtomSet,
    left: u32,
}

impl<'a> Search<'a> {
    fn new(target: &'a PatternTarget, steps: &'a [Step], candidates: &'a [AtomSet]) -> Self {
        let (images, used) = ([0; MAX_PATTERN], AtomSet::EMPTY);
        Self { target, steps, candidates, images, used, left: MAX_ASSIGNMENTS }
    }

    /// Returns true if the steps from `depth` on can be placed.
    fn run(&mut self, depth: usize) -> bool {
        let Some(step) = self.steps.get(depth) else { return true };
        let candidates = self.candidates[depth];
        match step.parent {
            Some((parent, bonds)) => {
                let target = self.target;
                let around = target.around(self.images[usize::from(parent)]);
                around.iter().any(|&(atom, kind)| {
                    kind & bonds != 0 && candidates.contains(atom) && self.place(depth, atom)
                })
            }
            None => candidates.iter().any(|atom| self.place(depth, atom)),
        }
    }

    fn place(&mut self, depth: usize, atom: u8) -> bool {
        if self.used.contains(atom) || self.left == 0 {
            return false;
        }
        self.left -= 1;
        let closes = self.steps[depth].closures.iter().all(|&(other, bonds)| {
            let image = self.images[usize::from(other)];
            self.target.around(atom).iter().any(|&(next, kind)| next == image && kind & bonds != 0)
        });
        if !closes {
            return false;
        }
        let before = self.used;
        self.images[depth] = atom;
        self.used = before.or(AtomSet::single(atom));
        let found = self.run(depth + 1);
        self.used = before;
        found
    }
}
