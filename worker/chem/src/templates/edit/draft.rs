//! The molecular graph that one match gives, before it is validated.
//!
//! Atoms come in the order of the template's written side, followed by the atoms attached to them, walked outwards.
//! Atoms attached only to removed atoms are removed too, as in RDKit.

use super::script::Script;
use crate::templates::matching::masks::Atom;
use crate::templates::matching::target::MatchTarget;

/// Marks the absence of an atom.
const NONE: u16 = u16::MAX;
/// Marks an unmatched atom.
const UNMATCHED: u8 = u8::MAX;

/// The graph that the edit of one match gives; may have several components.
#[derive(Debug, Default)]
pub(crate) struct DraftGraph {
    pub atoms: Vec<Atom>,
    /// Target atom of each draft atom.
    pub sources: Vec<Option<u8>>,
    /// Start of each atom's neighbours in `links`, plus the end.
    pub starts: Vec<u16>,
    /// Neighbour and bond order, atom after atom.
    pub links: Vec<(u16, u8)>,
    /// Component of each atom, numbered in the order of their first atoms.
    pub components: Vec<u16>,
    /// Set if an unmatched atom loses a neighbour.
    pub has_torn_bonds: bool,
    bonds: Vec<(u16, u16, u8)>,
    queue: Vec<u8>,
    /// Draft atom of each target atom.
    places: Vec<u16>,
    matched: Vec<u8>,
}

impl DraftGraph {
    /// Fills the draft with the result of the script on the target, with the script's atoms placed on `images`.
    ///
    /// The previous content is replaced; its memory is reused.
    pub(crate) fn fill(&mut self, script: &Script, target: &MatchTarget, images: &[u8]) {
        self.clear(target.atoms.len());
        for (atom, &image) in (0u8..).zip(images) {
            self.matched[usize::from(image)] = atom;
        }
        for (at, written) in script.atoms.iter().enumerate() {
            let source = written.from.map(|from| images[usize::from(from)]);
            self.atoms.push(source.map_or_else(Atom::default, |source| target.atoms[usize::from(source)]));
            self.sources.push(source);
            if let Some(source) = source {
                self.places[usize::from(source)] = at as u16;
                self.queue.push(source);
            }
        }
        self.add_attached_atoms(target);
        self.connect(script, target);
        self.index();
        self.split();
    }

    /// Returns the neighbours of an atom.
    pub fn around(&self, atom: usize) -> &[(u16, u8)] {
        &self.links[usize::from(self.starts[atom])..usize::from(self.starts[atom + 1])]
    }

    /// Returns the draft atom of a target atom.
    pub fn place(&self, source: u8) -> Option<usize> {
        let place = self.places[usize::from(source)];
        (place != NONE).then_some(usize::from(place))
    }

    fn clear(&mut self, target: usize) {
        self.atoms.clear();
        self.sources.clear();
        self.starts.clear();
        self.links.clear();
        self.components.clear();
        self.bonds.clear();
        self.queue.clear();
        self.places.clear();
        self.places.resize(target, NONE);
        self.matched.clear();
        self.matched.resize(target, UNMATCHED);
        self.has_torn_bonds = false;
    }

    /// Walks outwards from the matched atoms that stay and adds the attached atoms.
    fn add_attached_atoms(&mut self, target: &MatchTarget) {
        let mut at = 0;
        while let Some(&atom) = self.queue.get(at) {
            at += 1;
            for &(next, _) in target.around(atom) {
                let next_at = usize::from(next);
                if self.matched[next_at] == UNMATCHED && self.places[next_at] == NONE {
                    self.places[next_at] = self.atoms.len() as u16;
                    self.atoms.push(target.atoms[next_at]);
                    self.sources.push(Some(next));
                    self.queue.push(next);
                }
            }
        }
    }

    fn connect(&mut self, script: &Script, target: &MatchTarget) {
        self.bonds.extend(script.bonds.iter().map(|&(a, b, order)| (u16::from(a), u16::from(b), order)));
        let written = self.bonds.len();
        for place in 0..self.sources.len() {
            let Some(source) = self.sources[place] else { continue };
            for &(next, order) in target.around(source) {
                let other = self.places[usize::from(next)];
                let (a, b) = (self.matched[usize::from(source)], self.matched[usize::from(next)]);
                if other == NONE {
                    self.has_torn_bonds |= a == UNMATCHED;
                    continue;
                }
                if next < source {
                    continue;
                }
                if a != UNMATCHED && b != UNMATCHED {
                    let ends = (place as u16, other);
                    let is_written =
                        self.bonds[..written].iter().any(|&(a, b, _)| (a, b) == ends || (b, a) == ends);
                    if is_written || script.matched_bonds.contains(&(a.min(b), a.max(b))) {
                        continue;
                    }
                }
                self.bonds.push((place as u16, other, order));
            }
        }
    }

    fn index(&mut self) {
        let count = self.atoms.len();
        self.starts.resize(count + 1, 0);
        for &(a, b, _) in &self.bonds {
            self.starts[usize::from(a) + 1] += 1;
            self.starts[usize::from(b) + 1] += 1;
        }
        for atom in 0..count {
            self.starts[atom + 1] += self.starts[atom];
        }
        self.links.resize(2 * self.bonds.len(), (0, 0));
        // Each atom's range is filled from its front, which moves its start to its end...
        for &(a, b, order) in &self.bonds {
            for (atom, other) in [(a, b), (b, a)] {
                let slot = &mut self.starts[usize::from(atom)];
                self.links[usize::from(*slot)] = (other, order);
                *slot += 1;
            }
        }
        // ...so every start now equals the next atom's old start.
        for atom in (0..count).rev() {
            self.starts[atom + 1] = self.starts[atom];
        }
        self.starts[0] = 0;
    }

    fn split(&mut self) {
        self.components.resize(self.atoms.len(), NONE);
        let mut stack: Vec<u16> = Vec::with_capacity(self.atoms.len());
        let mut next = 0;
        for first in 0..self.atoms.len() {
            if self.components[first] != NONE {
                continue;
            }
            self.components[first] = next;
            stack.push(first as u16);
            while let Some(atom) = stack.pop() {
                let atom = usize::from(atom);
                for link in usize::from(self.starts[atom])..usize::from(self.starts[atom + 1]) {
                    let other = self.links[link].0;
                    if self.components[usize::from(other)] == NONE {
                        self.components[usize::from(other)] = next;
                        stack.push(other);
                    }
                }
            }
            next += 1;
        }
    }
}
