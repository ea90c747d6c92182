//! The molecules that one match gives, before anybody has asked whether they are molecules.
//!
//! Atoms come in the order of the template's written side, then those that hang on them, walked outwards. What
//! hangs only on atoms that go, goes with them, as in RDKit.

use super::script::Script;
use crate::templates::matching::masks::Atom;
use crate::templates::matching::target::Target;

/// No atom.
const NONE: u16 = u16::MAX;
/// Not matched.
const UNMATCHED: u8 = u8::MAX;

/// The graph that the edit of one match gives; it may have several components.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    pub atoms: Vec<Atom>,
    /// For each atom, the atom of the target it is.
    pub sources: Vec<Option<u8>>,
    /// Where each atom's neighbours start in `links`, and one more for the end.
    pub starts: Vec<u16>,
    /// Neighbour and order, atom after atom.
    pub links: Vec<(u16, u8)>,
    /// The component each atom belongs to, numbered in the order of their first atoms.
    pub components: Vec<u16>,
    /// Whether an atom that was not matched loses a neighbour.
    pub tears: bool,
    bonds: Vec<(u16, u16, u8)>,
    queue: Vec<u8>,
    /// For each atom of the target, the atom of the draft it is.
    places: Vec<u16>,
    matched: Vec<u8>,
}

impl Draft {
    /// Writes down what the script makes of the target when its atoms are placed on `images`.
    ///
    /// Whatever was in the draft before is gone, but for its memory.
    pub(crate) fn fill(&mut self, script: &Script, target: &Target, images: &[u8]) {
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
        self.carry(target);
        self.connect(script, target);
        self.index();
        self.split();
    }

    /// The neighbours of an atom.
    pub fn around(&self, atom: usize) -> &[(u16, u8)] {
        &self.links[usize::from(self.starts[atom])..usize::from(self.starts[atom + 1])]
    }

    /// The atom of the draft that an atom of the target is.
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
        self.tears = false;
    }

    /// Walks outwards from the matched atoms that stay.
    fn carry(&mut self, target: &Target) {
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

    fn connect(&mut self, script: &Script, target: &Target) {
        self.bonds.extend(script.bonds.iter().map(|&(a, b, order)| (u16::from(a), u16::from(b), order)));
        let written = self.bonds.len();
        for place in 0..self.sources.len() {
            let Some(source) = self.sources[place] else { continue };
            for &(next, order) in target.around(source) {
                let other = self.places[usize::from(next)];
                let (a, b) = (self.matched[usize::from(source)], self.matched[usize::from(next)]);
                if other == NONE {
                    self.tears |= a == UNMATCHED;
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
        // Filled from the front of each atom's range, which moves its start to its end...
        for &(a, b, order) in &self.bonds {
            for (atom, other) in [(a, b), (b, a)] {
                let slot = &mut self.starts[usize::from(atom)];
                self.links[usize::from(*slot)] = (other, order);
                *slot += 1;
            }
        }
        // ...so every start is now where the next one was.
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
