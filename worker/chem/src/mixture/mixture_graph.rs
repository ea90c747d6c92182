//! Graph of the molecules in a reaction mixture, with the circular environments of the atoms.

use crate::graph::refinement::{mix, round};
use crate::templates::edit::draft::DraftGraph;
use crate::templates::matching::masks::{AROMATIC_BOND, Atom, SINGLE};
use crate::templates::matching::target::MatchTarget;

/// Number of radii of environments: 0, 1, 2 and 3 bonds.
pub(crate) const RADII: usize = 4;
/// Refinement rounds, enough to distinguish almost all different constitutions.
const ROUNDS: usize = 6;
/// Largest ring that is distinguished from a chain.
const LARGEST_RING: u8 = 8;

/// Graph of one or more molecules.
#[derive(Debug, Default)]
pub(crate) struct MixtureGraph {
    atoms: Vec<Atom>,
    /// Start of each atom's neighbours in `links`, and one more entry for the end.
    starts: Vec<u16>,
    /// Neighbours and bond orders, atom after atom.
    links: Vec<(u16, u8)>,
    /// Environments of each atom.
    environments: Vec<[u64; RADII]>,
}

impl MixtureGraph {
    pub fn of_target(target: &MatchTarget) -> Self {
        let links = target.neighbours.iter().map(|&(next, order)| (u16::from(next), order)).collect();
        Self { atoms: target.atoms.clone(), starts: target.starts.clone(), links, ..Self::default() }
            .with_environments()
    }

    /// Takes the largest component of a draft. Also returns, for each of its atoms, the corresponding atom of the
    /// target.
    pub fn of_draft(draft: &DraftGraph) -> (Self, Vec<Option<usize>>) {
        let mut sizes = vec![0_usize; draft.atoms.len()];
        draft.components.iter().for_each(|&component| sizes[usize::from(component)] += 1);
        let largest = (0..sizes.len()).rev().max_by_key(|&component| sizes[component]).unwrap_or(0);
        let mut place = vec![0_u16; draft.atoms.len()];
        let (mut sketch, mut sources) = (Self { starts: vec![0], ..Self::default() }, Vec::new());
        let here = (0..draft.atoms.len()).filter(|&at| usize::from(draft.components[at]) == largest);
        for at in here.clone() {
            place[at] = sketch.atoms.len() as u16;
            sketch.atoms.push(draft.atoms[at]);
            sources.push(draft.sources[at].map(usize::from));
        }
        for at in here {
            let links = draft.around(at).iter().map(|&(next, order)| (place[usize::from(next)], order));
            sketch.links.extend(links);
            sketch.starts.push(sketch.links.len() as u16);
        }
        (sketch.with_environments(), sources)
    }

    /// Returns the number of atoms.
    pub fn len(&self) -> usize {
        self.atoms.len()
    }

    pub fn around(&self, atom: usize) -> &[(u16, u8)] {
        &self.links[usize::from(self.starts[atom])..usize::from(self.starts[atom + 1])]
    }

    /// Returns the order of the bond between two atoms, 0 if there is none.
    pub fn order(&self, a: usize, b: usize) -> u8 {
        self.around(a).iter().find(|&&(next, _)| usize::from(next) == b).map_or(0, |&(_, order)| order)
    }

    pub fn element(&self, atom: usize) -> u64 {
        u64::from(self.atoms[atom].element)
    }

    /// Returns a hash of the atom and everything up to `radius` bonds away.
    pub fn environment(&self, atom: usize, radius: usize) -> u64 {
        self.environments[atom][radius]
    }

    /// Returns true if the atom is a heteroatom, charged, or at a multiple bond.
    pub fn is_marked(&self, atom: usize) -> bool {
        let own = self.atoms[atom];
        let is_multiple = |&(_, order): &(u16, u8)| order & (SINGLE | AROMATIC_BOND) == 0;
        own.element != 6 || own.charge != 0 || self.around(atom).iter().any(is_multiple)
    }

    /// Calls `visit` with every other atom up to `reach` bonds away and its distance, nearest first.
    pub fn walk(&self, from: usize, reach: u8, visit: &mut dyn FnMut(usize, u8)) {
        let mut distance = vec![u8::MAX; self.len()];
        distance[from] = 0;
        let mut queue = vec![from];
        let mut at = 0;
        while let Some(&atom) = queue.get(at) {
            at += 1;
            if distance[atom] == reach {
                break;
            }
            for &(next, _) in self.around(atom) {
                let next = usize::from(next);
                if distance[next] == u8::MAX {
                    distance[next] = distance[atom] + 1;
                    visit(next, distance[next]);
                    queue.push(next);
                }
            }
        }
    }

    /// Returns the size of the smallest ring that contains the bond, 0 if there is none or it is too large.
    pub fn ring_closed(&self, a: usize, b: usize) -> u8 {
        let mut distance = [u8::MAX; 256];
        if self.len() > distance.len() {
            return 0;
        }
        distance[a] = 0;
        let mut queue = Vec::with_capacity(32);
        queue.push(a);
        let mut at = 0;
        while let Some(&atom) = queue.get(at) {
            at += 1;
            if distance[atom] + 1 == LARGEST_RING {
                break;
            }
            for &(next, _) in self.around(atom) {
                let next = usize::from(next);
                if (atom, next) == (a, b) || distance[next] != u8::MAX {
                    continue;
                }
                distance[next] = distance[atom] + 1;
                if next == b {
                    return distance[next] + 1;
                }
                queue.push(next);
            }
        }
        0
    }

    /// Returns a hash that graphs of one constitution share, tautomers included, and seldom others.
    ///
    /// It is refined from elements, degrees and the hydrogens of carbon. Bond orders are ignored; hydrogens of other
    /// atoms only count in total.
    pub fn constitution(&self) -> u64 {
        let mut protons = 0_i64;
        let mut colours: Vec<u64> = (0..self.len())
            .map(|at| {
                let atom = self.atoms[at];
                protons += i64::from(atom.hydrogens) - i64::from(atom.charge);
                let hydrogens = if atom.element == 6 { u64::from(atom.hydrogens) } else { 15 };
                mix(
                    u64::from(atom.element)
                        | hydrogens << 8
                        | (self.around(at).len() as u64) << 16
                        | u64::from(atom.isotope) << 24,
                    2,
                )
            })
            .collect();
        let mut next = colours.clone();
        for _ in 0..ROUNDS {
            round(&mut colours, &mut next, |at, colours| {
                let around = self.around(at).iter();
                around.fold(0_u64, |sum, &(next, _)| sum.wrapping_add(colours[usize::from(next)]))
            });
        }
        mix(
            colours.iter().fold(0_u64, |sum, &colour| sum.wrapping_add(mix(colour, 3))),
            protons.cast_unsigned(),
        )
    }

    fn with_environments(mut self) -> Self {
        self.environments = (0..self.len())
            .map(|at| {
                let atom = self.atoms[at];
                let word = u64::from(atom.element)
                    | u64::from(atom.charge.cast_unsigned()) << 8
                    | u64::from(atom.hydrogens) << 16
                    | u64::from(atom.aromatic) << 24
                    | (self.around(at).len() as u64) << 32
                    | u64::from(self.smallest_ring(at)) << 40;
                [mix(word, 1), 0, 0, 0]
            })
            .collect();
        for radius in 1..RADII {
            for at in 0..self.len() {
                let mut sum = 0_u64;
                for &(next, order) in self.around(at) {
                    sum = sum.wrapping_add(mix(
                        self.environments[usize::from(next)][radius - 1],
                        u64::from(order),
                    ));
                }
                self.environments[at][radius] = mix(self.environments[at][radius - 1], sum);
            }
        }
        self
    }

    /// Returns 3 or 4 if the atom is in a ring of that size, 5 for a larger ring, 0 for none that counts.
    fn smallest_ring(&self, atom: usize) -> u8 {
        let around = self.around(atom);
        let beside = |a: usize, b: usize| self.around(a).iter().any(|&(next, _)| usize::from(next) == b);
        let mut smallest = 0;
        for (at, &(first, _)) in around.iter().enumerate() {
            for &(second, _) in &around[at + 1..] {
                let (first, second) = (usize::from(first), usize::from(second));
                if beside(first, second) {
                    return 3;
                }
                let shared = self
                    .around(first)
                    .iter()
                    .any(|&(next, _)| usize::from(next) != atom && beside(usize::from(next), second));
                if shared {
                    smallest = 4;
                }
            }
        }
        smallest
    }
}
