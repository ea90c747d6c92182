//! Ring perception as in RDKit: the symmetrised smallest set of smallest rings.
//!
//! A port of `findSSSR` and `symmetrizeSSSR` (RDKit's `FindRings.cpp`; Figueras, J. Chem. Inf. Comput. Sci. 1996, 36,
//! 986) with atoms and bonds as masks. If RDKit would fall back on its approximate search, or if the order of its
//! unstable sort would matter, the search declines and the general path decides.

use super::graph::{Graph, MAX_FAST_ATOMS, bit, members};
use super::systems::{Ring, RingSystems};

/// Maximum number of rings; more are left to the general path. RDKit's sort is stable up to this number.
const MAX_RINGS: usize = 16;

/// The rings of a graph, and the buffers of the search.
#[derive(Debug, Default)]
pub(super) struct Rings {
    pub all: Vec<Ring>,
    /// Atoms and bonds in rings.
    pub atoms: u128,
    pub bonds: u128,
    systems: RingSystems,
    extra: Vec<Ring>,
    found: Vec<Ring>,
    search: RingSearch,
    changed: Vec<u8>,
    /// Rings through degree-2 atoms, and the atoms that found each ring.
    seen: Vec<(Ring, u128)>,
    /// Pairs of degree-2 atoms that found the same ring.
    rivals: Vec<(u8, u8)>,
}

/// The buffers of a search from one atom.
#[derive(Debug, Default)]
struct RingSearch {
    queue: Vec<u8>,
    /// Path back to the start for every atom that was reached.
    paths: Vec<Path>,
}

/// A path from an atom back to the start of a search.
#[derive(Debug, Clone, Copy)]
struct Path {
    atoms: u128,
    bonds: u128,
    depth: u32,
    parent: u8,
}

/// The rest of a graph while rings are removed from it.
#[derive(Clone, Copy)]
struct RemainingGraph {
    bonds: u128,
    degrees: [u8; MAX_FAST_ATOMS],
}

impl Rings {
    /// Finds the rings of a connected graph; `None` for graphs left to the general path.
    pub fn find(&mut self, graph: &Graph) -> Option<()> {
        self.all.clear();
        self.extra.clear();
        (self.atoms, self.bonds) = (0, 0);
        let (atoms, bonds) = (graph.atoms.len(), graph.bonds.len());
        // The number of rings of a connected graph is the number of its bonds beyond a spanning tree.
        let expected = (bonds + 1).checked_sub(atoms)?;
        if expected == 0 {
            return Some(());
        }
        if expected > MAX_RINGS {
            return None;
        }
        if self.systems.find(graph, &mut self.all) {
            (self.atoms, self.bonds) = (self.systems.atoms, self.systems.bonds);
            return Some(());
        }
        self.all.clear();
        let mut rest = RemainingGraph { bonds: u128::MAX, degrees: [0; MAX_FAST_ATOMS] };
        for (degree, atom) in rest.degrees.iter_mut().zip(&graph.atoms) {
            *degree = atom.degree;
        }
        self.take_off(graph, &mut rest)?;
        if self.all.len() < expected {
            return None;
        }
        if self.all.len() > expected {
            if self.all.len() > MAX_RINGS {
                return None;
            }
            self.remove_extra();
            self.symmetrise();
        }
        for ring in &self.all {
            self.atoms |= ring.atoms;
            self.bonds |= ring.bonds;
        }
        Some(())
    }

    /// Returns the number of rings that an atom is in.
    pub fn of_atom(&self, atom: usize) -> usize {
        self.all.iter().filter(|ring| ring.atoms & bit(atom) != 0).count()
    }

    /// Returns the size of the smallest ring through a bond, 0 for none.
    pub fn smallest_through(&self, bond: usize) -> u32 {
        self.all.iter().filter(|ring| ring.bonds & bit(bond) != 0).map(Ring::size).min().unwrap_or(0)
    }

    /// Finds rings through degree-2 atoms, or else through one of degree 3, and removes those atoms, until none are
    /// left.
    fn take_off(&mut self, graph: &Graph, rest: &mut RemainingGraph) -> Option<()> {
        let count = graph.atoms.len();
        let mut done = 0_u128;
        self.changed.clear();
        self.changed.extend((0..count as u8).filter(|&at| rest.degrees[usize::from(at)] < 2));
        let mut n_done = 0;
        while n_done + 3 <= count {
            let mut next = 0;
            while let Some(&at) = self.changed.get(next) {
                next += 1;
                if done & bit(at) == 0 {
                    done |= bit(at);
                    n_done += 1;
                    trim(graph, at, &mut self.changed, rest);
                }
            }
            self.changed.clear();
            let twos = pick_twos(graph, rest);
            if twos != 0 {
                self.rings_of_twos(graph, twos, rest);
                for at in members(twos) {
                    done |= bit(at);
                    n_done += 1;
                    trim(graph, at as u8, &mut self.changed, rest);
                }
            } else if n_done + 3 <= count {
                let Some(three) = rest.degrees[..count].iter().position(|&degree| degree == 3) else { break };
                self.rings_of_three(graph, three as u8, rest);
                done |= bit(three);
                n_done += 1;
                trim(graph, three as u8, &mut self.changed, rest);
            }
        }
        Some(())
    }

    fn add(&mut self, ring: Ring) {
        if self.all.iter().all(|known| known.atoms != ring.atoms) {
            self.all.push(ring);
        }
    }

    fn rings_of_twos(&mut self, graph: &Graph, twos: u128, rest: &mut RemainingGraph) {
        self.seen.clear();
        self.rivals.clear();
        for at in members(twos) {
            self.found.clear();
            if self.systems.atoms & bit(at) != 0 {
                let bonds = rest.bonds & self.systems.bonds;
                smallest_rings(graph, at as u8, bonds, 0, &mut self.search, &mut self.found);
            }
            for place in 0..self.found.len() {
                let ring = self.found[place];
                let entry = match self.seen.iter().position(|(seen, _)| seen.atoms == ring.atoms) {
                    Some(entry) => entry,
                    None => {
                        self.seen.push((ring, 0));
                        self.seen.len() - 1
                    }
                };
                if self.all.iter().all(|known| known.atoms != ring.atoms) {
                    self.all.push(ring);
                } else {
                    for other in members(self.seen[entry].1) {
                        self.rivals.extend([(at as u8, other as u8), (other as u8, at as u8)]);
                    }
                }
                self.seen[entry].1 |= bit(at);
            }
            if self.found.is_empty() {
                let start = self.changed.len();
                self.changed.push(at as u8);
                let mut next = start;
                while let Some(&local) = self.changed.get(next) {
                    next += 1;
                    trim(graph, local, &mut self.changed, rest);
                }
                self.changed.truncate(start);
            }
        }
        if self.rivals.is_empty() {
            return;
        }
        self.seen.sort_unstable_by_key(|&(ring, _)| ring.atoms);
        for entry in 0..self.seen.len() {
            let finders = self.seen[entry].1;
            if finders.count_ones() < 2 {
                continue;
            }
            self.found.clear();
            for finder in members(finders) {
                let mut without = *rest;
                let start = self.changed.len();
                for &(one, other) in &self.rivals {
                    if usize::from(one) == finder {
                        trim(graph, other, &mut self.changed, &mut without);
                    }
                }
                self.changed.truncate(start);
                let bonds = without.bonds & self.systems.bonds;
                smallest_rings(graph, finder as u8, bonds, 0, &mut self.search, &mut self.found);
            }
            let least = self.found.iter().map(Ring::size).min();
            for place in 0..self.found.len() {
                if Some(self.found[place].size()) == least {
                    self.add(self.found[place]);
                }
            }
        }
    }

    fn rings_of_three(&mut self, graph: &Graph, at: u8, rest: &RemainingGraph) {
        self.found.clear();
        let bonds = rest.bonds & self.systems.bonds;
        smallest_rings(graph, at, bonds, 0, &mut self.search, &mut self.found);
        let (count, first, second) =
            (self.found.len(), self.found.first().copied(), self.found.get(1).copied());
        for place in 0..count {
            self.add(self.found[place]);
        }
        if count >= 3 {
            return;
        }
        let mut around = graph.atoms[usize::from(at)].edges().iter();
        let mut next = || around.find(|edge| rest.bonds & bit(edge.bond) != 0).map(|edge| bit(edge.to));
        let (Some(a), Some(b), Some(c)) = (next(), next(), next()) else { return };
        let forbidden = match (first, second) {
            (Some(first), Some(second)) => {
                let both = first.atoms & second.atoms;
                let Some(&shared) = [a, b, c].iter().find(|&&atom| both & atom != 0) else { return };
                [Some(shared), None]
            }
            (Some(first), None) => {
                let pair = if first.atoms & a == 0 {
                    (b, c)
                } else if first.atoms & b == 0 {
                    (a, c)
                } else if first.atoms & c == 0 {
                    (a, b)
                } else {
                    return;
                };
                [Some(pair.1), Some(pair.0)]
            }
            _ => return,
        };
        for forbidden in forbidden.into_iter().flatten() {
            self.found.clear();
            smallest_rings(graph, at, bonds, forbidden, &mut self.search, &mut self.found);
            for place in 0..self.found.len() {
                self.add(self.found[place]);
            }
        }
    }

    /// Keeps those rings, smallest first, that add new bonds (`removeExtraRings`).
    fn remove_extra(&mut self) {
        self.all.sort_by_key(Ring::size);
        let rings = &self.all;
        let mut available = [true; MAX_RINGS];
        let mut keep = [false; MAX_RINGS];
        let mut covered = 0_u128;
        for at in 0..rings.len() {
            if rings[at].bonds & !covered == 0 {
                available[at] = false;
            }
            if !available[at] {
                continue;
            }
            covered |= rings[at].bonds;
            keep[at] = true;
            let alike = |other: usize| rings[other].size() == rings[at].size();
            let mut consider = [false; MAX_RINGS];
            for other in at + 1..rings.len() {
                consider[other] = available[other] && alike(other);
            }
            loop {
                let mut best: Option<(u32, usize)> = None;
                for other in (at + 1..rings.len()).take_while(|&other| alike(other)) {
                    let overlap = (rings[other].bonds & covered).count_ones();
                    if consider[other] && available[other] && best.is_none_or(|(most, _)| overlap > most) {
                        best = Some((overlap, other));
                    }
                }
                let Some((_, best)) = best else { break };
                consider[best] = false;
                if rings[best].bonds & !covered != 0 {
                    keep[best] = true;
                    covered |= rings[best].bonds;
                }
                available[best] = false;
            }
        }
        let mut place = 0;
        let extra = &mut self.extra;
        self.all.retain(|&ring| {
            place += 1;
            if !keep[place - 1] {
                extra.push(ring);
            }
            keep[place - 1]
        });
    }

    /// Restores the extra rings that could replace one of the set (`symmetrizeSSSR`).
    fn symmetrise(&mut self) {
        let (mut once, mut twice) = (0_u128, 0_u128);
        for ring in &self.all {
            twice |= once & ring.bonds;
            once |= ring.bonds;
        }
        let unique = once & !twice;
        let chosen = self.all.len();
        for extra in &self.extra {
            let stands_for = |ring: &Ring| {
                ring.size() == extra.size()
                    && ring.bonds & extra.bonds != 0
                    && ring.bonds & unique & !extra.bonds == 0
            };
            if self.all[..chosen].iter().any(stands_for) {
                self.all.push(*extra);
            }
        }
    }
}

/// Removes an atom's bonds (`trimBonds`).
fn trim(graph: &Graph, at: u8, changed: &mut Vec<u8>, rest: &mut RemainingGraph) {
    for edge in graph.atoms[usize::from(at)].edges() {
        if rest.bonds & bit(edge.bond) == 0 {
            continue;
        }
        if rest.degrees[usize::from(edge.to)] <= 2 {
            changed.push(edge.to);
        }
        rest.bonds &= !bit(edge.bond);
        rest.degrees[usize::from(edge.to)] -= 1;
        rest.degrees[usize::from(at)] -= 1;
    }
}

/// Picks one atom of every chain of degree-2 atoms (`pickD2Nodes`).
fn pick_twos(graph: &Graph, rest: &RemainingGraph) -> u128 {
    let count = graph.atoms.len();
    let mut left = (0..count).filter(|&at| rest.degrees[at] == 2).fold(0, |set, at| set | bit(at));
    let mut picked = 0;
    while left != 0 {
        let root = left.trailing_zeros() as usize;
        picked |= bit(root);
        left &= !bit(root);
        let mut front = bit(root);
        while front != 0 {
            let at = front.trailing_zeros() as usize;
            front &= front - 1;
            for edge in graph.atoms[at].edges() {
                if rest.bonds & bit(edge.bond) != 0 && left & bit(edge.to) != 0 {
                    left &= !bit(edge.to);
                    front |= bit(edge.to);
                }
            }
        }
    }
    picked
}

/// Appends every smallest ring through `root` (`smallestRingsBfs`).
fn smallest_rings(
    graph: &Graph,
    root: u8,
    bonds: u128,
    forbidden: u128,
    search: &mut RingSearch,
    found: &mut Vec<Ring>,
) {
    let nowhere = Path { atoms: bit(root), bonds: 0, depth: 0, parent: u8::MAX };
    search.paths.resize(graph.atoms.len().max(search.paths.len()), nowhere);
    search.paths[usize::from(root)] = nowhere;
    search.queue.clear();
    search.queue.push(root);
    let mut finished = forbidden;
    let mut reached = 0_u128;
    let mut least = u32::MAX;
    let mut next = 0;
    while let Some(&at) = search.queue.get(next) {
        next += 1;
        finished |= bit(at);
        let path = search.paths[usize::from(at)];
        let depth = path.depth + 1;
        if depth > least {
            return;
        }
        for edge in graph.atoms[usize::from(at)].edges() {
            if bonds & bit(edge.bond) == 0 || finished & bit(edge.to) != 0 || path.parent == edge.to {
                continue;
            }
            let other = &mut search.paths[usize::from(edge.to)];
            if reached & bit(edge.to) == 0 {
                reached |= bit(edge.to);
                *other = Path {
                    atoms: path.atoms | bit(edge.to),
                    bonds: path.bonds | bit(edge.bond),
                    depth,
                    parent: at,
                };
                search.queue.push(edge.to);
            } else if other.atoms & path.atoms == bit(root) {
                let bonds = other.bonds | path.bonds | bit(edge.bond);
                let ring = Ring { atoms: other.atoms | path.atoms, bonds };
                if ring.size() > least {
                    return;
                }
                least = ring.size();
                found.push(ring);
            }
        }
    }
}
