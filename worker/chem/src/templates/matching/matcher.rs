//! The search for every match of a pattern in a molecule: candidate sets, then backtracking.
//!
//! Sets of atoms are words of 128 bits: one for a molecule of at most 128 atoms, two for larger ones, so the common
//! case does not pay for the rare one. The number of assignments tried is bounded, so that a cage of equivalent atoms
//! cannot stall a search.

use std::ops::ControlFlow;

use super::query::{MAX_PATTERN, MaskPattern, Step};
use super::target::MatchTarget;

/// Maximum number of assignments tried in matching: some milliseconds.
const MAX_ASSIGNMENTS: u32 = 100_000;

/// Maximum number of assignments tried in a screen; beyond it the answer is "perhaps".
const MAX_SCREEN_ASSIGNMENTS: u32 = 5_000;

/// Returns true if the pattern may occur in `target` with a match that `accept` allows. False is certain. True is
/// certain if the pattern is exact and the search stays within bounds.
pub(crate) fn may_match_where(
    query: &MaskPattern,
    target: &MatchTarget,
    accept: &mut dyn FnMut(&[u8]) -> bool,
) -> bool {
    if target.features.len() <= 128 {
        candidates::<1>(query, target).is_some_and(|sets| may_match_among(query, target, sets, accept))
    } else {
        candidates::<2>(query, target).is_some_and(|sets| may_match_among(query, target, sets, accept))
    }
}

/// Like [`may_match_where`], from given candidates.
pub(crate) fn may_match_among<const W: usize>(
    query: &MaskPattern,
    target: &MatchTarget,
    candidates: Candidates<W>,
    accept: &mut dyn FnMut(&[u8]) -> bool,
) -> bool {
    let mut found = false;
    let assignments = run(query, target, candidates, MAX_SCREEN_ASSIGNMENTS, &mut |images| {
        found = accept(images);
        if found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    found || assignments > MAX_SCREEN_ASSIGNMENTS
}

/// Calls `visit` with every match: the target atom for each atom of the pattern, in the order of its text.
///
/// Ends when `visit` breaks or too many assignments have been tried.
pub(crate) fn matches(
    query: &MaskPattern,
    target: &MatchTarget,
    visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
) {
    if target.features.len() <= 128 {
        if let Some(sets) = candidates::<1>(query, target) {
            run(query, target, sets, MAX_ASSIGNMENTS, visit);
        }
    } else if let Some(sets) = candidates::<2>(query, target) {
        run(query, target, sets, MAX_ASSIGNMENTS, visit);
    }
}

/// Like [`matches`], from given candidates and with the lower limit of a screen, [`MAX_SCREEN_ASSIGNMENTS`].
pub(crate) fn matches_among<const W: usize>(
    query: &MaskPattern,
    target: &MatchTarget,
    candidates: Candidates<W>,
    visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
) {
    run(query, target, candidates, MAX_SCREEN_ASSIGNMENTS, visit);
}

/// A set of atoms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AtomSet<const W: usize>([u128; W]);

/// Candidate atoms of each step of a pattern.
pub(crate) type Candidates<const W: usize> = [AtomSet<W>; MAX_PATTERN];

impl<const W: usize> AtomSet<W> {
    pub const EMPTY: Self = Self([0; W]);

    pub fn insert(&mut self, atom: u8) {
        self.0[usize::from(atom >> 7) % W] |= 1 << (atom & 127);
    }

    /// Adds all atoms of `other`.
    pub fn union_with(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(word, other)| *word |= other);
    }

    /// Keeps only the atoms of `other`.
    pub fn intersect_with(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(word, other)| *word &= other);
    }

    fn contains(&self, atom: u8) -> bool {
        self.0[usize::from(atom >> 7) % W] >> (atom & 127) & 1 == 1
    }

    fn flip(&mut self, atom: u8) {
        self.0[usize::from(atom >> 7) % W] ^= 1 << (atom & 127);
    }
}

/// Returns the atoms that fit each step by itself; `None` if some step has none.
fn candidates<const W: usize>(query: &MaskPattern, target: &MatchTarget) -> Option<Candidates<W>> {
    let mut candidates = [AtomSet::<W>::EMPTY; MAX_PATTERN];
    for (index, step) in query.steps.iter().enumerate() {
        // Equal masks share their candidates.
        if let Some(same) = query.steps[..index].iter().position(|earlier| earlier.mask == step.mask) {
            candidates[index] = candidates[same];
            continue;
        }
        let mut any = 0;
        for (word, atoms) in candidates[index].0.iter_mut().zip(target.features.chunks(128)) {
            for (atom, features) in atoms.iter().enumerate() {
                *word |= u128::from(features & !step.mask == 0) << atom;
            }
            any |= *word;
        }
        if any == 0 {
            return None;
        }
    }
    Some(candidates)
}

/// Runs the search and returns the number of assignments tried.
fn run<const W: usize>(
    query: &MaskPattern,
    target: &MatchTarget,
    candidates: Candidates<W>,
    max_assignments: u32,
    visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
) -> u32 {
    let mut matching = Matching {
        query,
        target,
        candidates,
        images: [0; MAX_PATTERN],
        by_atom: [0; MAX_PATTERN],
        used: AtomSet::EMPTY,
        assignments: 0,
        max_assignments,
        visit,
    };
    let _ = matching.extend(0);
    matching.assignments
}

struct Matching<'a, const W: usize> {
    query: &'a MaskPattern,
    target: &'a MatchTarget,
    candidates: Candidates<W>,
    /// Target atom of each step.
    images: [u8; MAX_PATTERN],
    /// Target atom of each pattern atom.
    by_atom: [u8; MAX_PATTERN],
    used: AtomSet<W>,
    assignments: u32,
    max_assignments: u32,
    visit: &'a mut dyn FnMut(&[u8]) -> ControlFlow<()>,
}

impl<const W: usize> Matching<'_, W> {
    fn extend(&mut self, depth: usize) -> ControlFlow<()> {
        let query = self.query;
        let Some(step) = query.steps.get(depth) else {
            return (self.visit)(&self.by_atom[..query.steps.len()]);
        };
        self.assignments += 1;
        if self.assignments > self.max_assignments {
            return ControlFlow::Break(());
        }
        match step.parent {
            None => {
                for word in 0..W {
                    let mut rest = self.candidates[depth].0[word] & !self.used.0[word];
                    while rest != 0 {
                        let atom = (rest.trailing_zeros() as u8) | (word as u8) << 7;
                        rest &= rest - 1;
                        self.assign(depth, step, atom)?;
                    }
                }
            }
            Some((parent, bonds)) => {
                let target = self.target;
                for &(atom, order) in target.around(self.images[usize::from(parent)]) {
                    if order & bonds != 0
                        && self.candidates[depth].contains(atom)
                        && !self.used.contains(atom)
                    {
                        self.assign(depth, step, atom)?;
                    }
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn assign(&mut self, depth: usize, step: &Step, atom: u8) -> ControlFlow<()> {
        let closures_match = step.closures.iter().all(|&(other, bonds)| {
            let image = self.images[usize::from(other)];
            self.target.around(atom).iter().any(|&(next, order)| next == image && order & bonds != 0)
        });
        if !closures_match {
            return ControlFlow::Continue(());
        }
        self.images[depth] = atom;
        self.by_atom[usize::from(step.atom)] = atom;
        self.used.flip(atom);
        let flow = self.extend(depth + 1);
        self.used.flip(atom);
        flow
    }
}
