//! Kekulisation: assigns single and double bonds to aromatic systems.
//!
//! A port of `MolOps::Kekulize` with atom numbers as ranks (RDKit's `Kekulize.cpp`), in the form that sanitising
//! uses. Without dummy atoms there is nothing to permute. The first arrangement found is used, since later perception
//! in RDKit may depend on it.

use std::collections::VecDeque;

use super::graph::{BondKind, Direction, Graph, MAX_NEIGHBOURS, Strictness, bit, members};
use super::rings::Rings;
use super::valence::valences;

/// Maximum number of backtracks in one system before it fails.
const MAX_BACKTRACKS: usize = 100;

/// The remaining candidate partners of an atom.
#[derive(Debug, Clone, Copy, Default)]
struct Options {
    left: [u8; MAX_NEIGHBOURS],
    count: u8,
}

/// The buffers of the search.
#[derive(Debug, Default)]
pub(super) struct Kekuliser {
    stack: VecDeque<u8>,
    /// Atoms visited, in order. An atom can appear more than once after backtracking.
    visited: Vec<u8>,
    times: Vec<u16>,
    options: Vec<Options>,
    /// Atoms with remaining options.
    open: u128,
    choices: Vec<u8>,
    /// Atoms whose one explicit hydrogen became an implied one.
    pub opened: u128,
}

impl Kekuliser {
    /// Assigns an order to every bond between the `aromatic` atoms and removes their aromatic flags; `None` if RDKit
    /// refuses.
    pub fn kekulise(&mut self, graph: &mut Graph, rings: &Rings, aromatic: u128) -> Option<()> {
        self.opened = 0;
        if aromatic == 0 {
            return Some(());
        }
        let mut left = (0..rings.all.len()).fold(0_u32, |set, ring| set | 1 << ring);
        while left != 0 {
            // Rings that share bonds form one system.
            let first = left.trailing_zeros() as usize;
            left &= left - 1;
            let (mut atoms, mut bonds) = (rings.all[first].atoms, rings.all[first].bonds);
            loop {
                let joins = |&ring: &usize| left >> ring & 1 != 0 && rings.all[ring].bonds & bonds != 0;
                let Some(ring) = (0..rings.all.len()).find(joins) else { break };
                left &= !(1 << ring);
                atoms |= rings.all[ring].atoms;
                bonds |= rings.all[ring].bonds;
            }
            if atoms & aromatic != 0 {
                self.system(graph, atoms, aromatic)?;
            }
        }
        self.opened = unmark(graph, rings, aromatic)?;
        Some(())
    }

    fn system(&mut self, graph: &mut Graph, atoms: u128, aromatic: u128) -> Option<()> {
        let plain = atoms & !aromatic;
        let mut candidates = 0_u128;
        let mut single = 0_u128;
        for at in members(atoms & !plain) {
            let (bonds, candidate) = wants_double_bond(graph, at)?;
            single |= bonds;
            if candidate {
                candidates |= bit(at);
            }
        }
        for bond in members(single) {
            graph.bonds[bond].kind = BondKind::Single;
        }
        self.assign(graph, atoms, plain, candidates)
    }

    /// Walks the system and assigns a double bond to each candidate (`kekulizeWorker`).
    fn assign(&mut self, graph: &mut Graph, atoms: u128, plain: u128, mut candidates: u128) -> Option<()> {
        self.stack.clear();
        self.visited.clear();
        self.choices.clear();
        self.times.clear();
        self.times.resize(graph.atoms.len(), 0);
        self.options.resize(graph.atoms.len().max(self.options.len()), Options::default());
        self.open = 0;
        for at in members(plain) {
            self.visit(at as u8);
        }
        let mut doubled = 0_u128;
        let mut taken_back = 0;
        let size = atoms.count_ones() as usize;
        while self.visited.len() < size || !self.stack.is_empty() {
            let at = match self.stack.pop_front() {
                Some(at) => at,
                None => members(atoms).find(|&at| self.times[at] == 0)? as u8,
            };
            self.visit(at);
            let candidate = candidates & bit(at) != 0;
            let stored = self.open & bit(at) != 0;
            let mut options = if stored { self.options[usize::from(at)] } else { Options::default() };
            if !stored {
                let mut around = [(0_u8, 0_u8); MAX_NEIGHBOURS];
                let mut count = 0;
                for edge in graph.atoms[usize::from(at)].edges() {
                    if atoms & bit(edge.to) != 0 && self.times[usize::from(edge.to)] == 0 {
                        around[count] = (edge.to, edge.bond);
                        count += 1;
                    }
                }
                if count > 1 {
                    around[..count].sort_unstable();
                }
                let before = self.stack.len();
                for &(to, bond) in &around[..count] {
                    if !self.stack.iter().take(before).any(|&waiting| waiting == to) {
                        self.stack.push_back(to);
                    }
                    if candidate && candidates & bit(to) != 0 && graph.bonds[usize::from(bond)].aromatic {
                        options.left[usize::from(options.count)] = to;
                        options.count += 1;
                    }
                }
            }
            if !candidate {
                continue;
            }
            if options.count > 0 {
                let partner = options.left[0];
                options.left.rotate_left(1);
                options.count -= 1;
                let bond = graph.bond_between(at, partner)?;
                graph.bonds[usize::from(bond)].kind = BondKind::Double;
                graph.bonds[usize::from(bond)].direction = Direction::None;
                candidates &= !(bit(at) | bit(partner));
                doubled |= bit(bond);
                self.options[usize::from(at)] = options;
                if stored && options.count == 0 {
                    self.open &= !bit(at);
                    self.choices.pop();
                } else if !stored && options.count > 0 {
                    self.open |= bit(at);
                    self.choices.push(at);
                }
            } else {
                let &last = self.choices.last()?;
                if taken_back == MAX_BACKTRACKS {
                    return None;
                }
                taken_back += 1;
                self.take_back(graph, last, &mut doubled, &mut candidates)?;
            }
        }
        Some(())
    }

    fn visit(&mut self, at: u8) {
        self.visited.push(at);
        self.times[usize::from(at)] += 1;
    }

    /// Backtracks to the last choice (`backTrack`).
    fn take_back(
        &mut self,
        graph: &mut Graph,
        choice: u8,
        doubled: &mut u128,
        candidates: &mut u128,
    ) -> Option<()> {
        let first = self.visited.iter().position(|&at| at == choice)?;
        let last = self.visited.iter().rposition(|&at| at == choice)?;
        for &at in self.visited[last..].iter().rev() {
            self.stack.push_front(at);
        }
        for &at in &self.visited[first..] {
            self.times[usize::from(at)] -= 1;
        }
        self.visited.truncate(first);
        for at in members(*doubled) {
            let bond = &mut graph.bonds[at];
            if self.times[usize::from(bond.begin)] == 0 && self.times[usize::from(bond.end)] == 0 {
                *doubled &= !bit(at);
                bond.kind = BondKind::Single;
                *candidates |= bit(bond.begin) | bit(bond.end);
            }
        }
        Some(())
    }
}

/// Returns the aromatic bonds of an aromatic atom, and true if one of them must be double (`markDbondCands`).
fn wants_double_bond(graph: &Graph, at: usize) -> Option<(u128, bool)> {
    let atom = &graph.atoms[at];
    let mut single = 0;
    let mut orders = i16::from(atom.total_hydrogens());
    for edge in atom.edges() {
        let bond = &graph.bonds[usize::from(edge.bond)];
        if bond.aromatic && bond.kind != BondKind::Triple {
            orders += 1;
            single |= bit(edge.bond);
        } else {
            orders += i16::from(bond.kind.twice().div_ceil(2));
        }
    }
    let list = valences(atom.number)?;
    let charge = match (atom.number, i16::from(atom.charge)) {
        (5, charge) => -charge,
        (6, charge) => -charge.abs(),
        (_, charge) => charge,
    };
    let mut wanted = i16::from(list[0]) + charge;
    let total = i16::from(atom.total_valence());
    for &more in &list[1..] {
        if total > wanted {
            wanted = i16::from(more) + charge;
        }
    }
    let degree = i16::from(atom.degree) + i16::from(atom.implied());
    if total == 5
        && orders == 4
        && wanted == 3
        && degree == 3
        && charge == 0
        && atom.total_hydrogens() == 0
        && matches!(atom.number, 7 | 15 | 33)
    {
        wanted = 5;
    }
    let candidate = degree < wanted && (wanted == orders + 1 || (atom.closed && wanted == orders + 2));
    Some((single, candidate))
}

/// Removes the aromatic flags. Returns the atoms whose one explicit hydrogen becomes implied.
fn unmark(graph: &mut Graph, rings: &Rings, aromatic: u128) -> Option<u128> {
    if aromatic & !rings.atoms != 0 {
        return None;
    }
    for bond in &mut graph.bonds {
        bond.aromatic = false;
    }
    let mut opened = 0;
    for at in members(aromatic) {
        let atom = &mut graph.atoms[at];
        atom.aromatic = false;
        if matches!(atom.number, 7 | 15) && atom.charge == 0 && atom.hydrogens == 1 {
            let before = atom.total_valence();
            atom.closed = false;
            atom.hydrogens = 0;
            graph.update(at, Strictness::Lenient)?;
            if graph.atoms[at].total_valence() != before {
                return None;
            }
            opened |= bit(at);
        }
    }
    Some(opened)
}
