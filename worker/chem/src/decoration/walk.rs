//! Writing of a molecule so that its string ends at a given atom, which the next symbol then continues.
//!
//! The walk is a depth-first search from that atom, written backwards: it begins with a leaf, and the other branches
//! of the way stand in brackets. All ring numbers are closed at the end. Attachment points are not written:
//! they are hydrogens, except the one that the string ends for (PromptSMILES, Thomas et al., J. Cheminform. 2024).

use std::{cmp::Reverse, fmt::Write};

use super::written::{Neighbour, Turn, WrittenMolecule};

/// A spanning tree of the atoms that are not points, from the atom that the string ends at.
struct Tree {
    /// Bond of each atom towards the end.
    parents: Vec<Option<usize>>,
    /// Bonds of each atom away from the end.
    children: Vec<Vec<usize>>,
    /// Distance of each atom from the end along the tree, plus 1; 0 if not reached.
    depths: Vec<usize>,
    /// Atoms in each atom's subtree.
    sizes: Vec<usize>,
}

impl Tree {
    /// Searches depth first, taking the neighbours of each atom in an order that `variant` chooses.
    fn new(molecule: &WrittenMolecule, end: usize, variant: usize) -> Self {
        let atoms = molecule.atoms.len();
        let mut tree = Self {
            parents: vec![None; atoms],
            children: vec![Vec::new(); atoms],
            depths: vec![0; atoms],
            sizes: vec![1; atoms],
        };
        tree.depths[end] = 1;
        // Bonds still to follow from each atom on the way, the next one last.
        let mut way = vec![(end, choices(molecule, end, variant))];
        while let Some((atom, bonds)) = way.last_mut() {
            let atom = *atom;
            let Some(bond) = bonds.pop() else {
                way.pop();
                if let Some((parent, _)) = way.last() {
                    tree.sizes[*parent] += tree.sizes[atom];
                }
                continue;
            };
            let next = molecule.other(bond, atom);
            if tree.depths[next] == 0 && !molecule.atoms[next].is_point() {
                tree.depths[next] = tree.depths[atom] + 1;
                tree.parents[next] = Some(bond);
                tree.children[atom].push(bond);
                way.push((next, choices(molecule, next, variant)));
            }
        }
        tree
    }

    /// Returns the atoms without children, the deepest first.
    fn leaves(&self) -> Vec<usize> {
        let is_leaf = |atom: &usize| self.depths[*atom] > 0 && self.children[*atom].is_empty();
        let mut leaves: Vec<usize> = (0..self.depths.len()).filter(is_leaf).collect();
        leaves.sort_by_key(|atom| Reverse(self.depths[*atom]));
        leaves
    }

    /// Returns true if the bond is in the tree.
    fn has(&self, molecule: &WrittenMolecule, bond: usize) -> bool {
        let (a, b) = molecule.bonds[bond].atoms;
        self.parents[a] == Some(bond) || self.parents[b] == Some(bond)
    }
}

/// Returns the bonds of an atom, the one to follow first last.
fn choices(molecule: &WrittenMolecule, atom: usize, variant: usize) -> Vec<usize> {
    let mut bonds: Vec<usize> = molecule.bonds_of(atom).collect();
    bonds.reverse();
    if variant > 0 {
        // Any fixed order that differs between variants: multiplicative hashing.
        let key = |bond: &usize| (bond * 31 + variant * 17 + 7).wrapping_mul(0x9E37_79B9) >> 7 & 0xFFFF;
        bonds.sort_by_key(key);
    }
    bonds
}

/// Text of a molecule being written.
struct Writer<'a> {
    molecule: &'a WrittenMolecule,
    tree: &'a Tree,
    /// Bond to the point that the string ends for, if any.
    point: Option<usize>,
    text: String,
    is_written: Vec<bool>,
    /// Bond of each ring number in use, from 1.
    rings: Vec<Option<usize>>,
}

/// Writes the molecule so that the string ends at the atom `end`, where the bond `point` would follow. A mark of that
/// bond is the last symbol.
///
/// Returns a string for each leaf of the tree that `variant` chooses, which it begins with; the longest way first.
pub(super) fn endings(
    molecule: &WrittenMolecule,
    end: usize,
    point: Option<usize>,
    variant: usize,
) -> Vec<String> {
    let tree = Tree::new(molecule, end, variant);
    tree.leaves().into_iter().map(|leaf| Writer::new(molecule, &tree, point).written_from(leaf)).collect()
}

impl<'a> Writer<'a> {
    fn new(molecule: &'a WrittenMolecule, tree: &'a Tree, point: Option<usize>) -> Self {
        let is_written = vec![false; molecule.atoms.len()];
        Self { molecule, tree, point, text: String::new(), is_written, rings: Vec::new() }
    }

    /// Writes the whole molecule, from an atom to the end of the tree.
    fn written_from(mut self, first: usize) -> String {
        let (mut atom, mut from) = (first, None);
        loop {
            let next = self.tree.parents[atom];
            self.write(atom, from, next.or(self.point));
            let Some(bond) = next else { break };
            (atom, from) = (self.molecule.other(bond, atom), Some(bond));
        }
        if let Some(point) = self.point {
            self.mark(atom, point);
        }
        self.text
    }

    /// Writes an atom with its branches. The bond `next` follows after them.
    fn write(&mut self, atom: usize, from: Option<usize>, next: Option<usize>) {
        let molecule = self.molecule;
        if let Some(bond) = from {
            self.mark(molecule.other(bond, atom), bond);
        }
        let mut branches: Vec<usize> = self.tree.children[atom].clone();
        branches.retain(|bond| Some(*bond) != from && Some(*bond) != next);
        // The largest last, so that it needs no brackets.
        branches.sort_by_key(|bond| self.tree.sizes[molecule.other(*bond, atom)]);
        let next = next.or_else(|| branches.pop());

        let ring_bonds = self.ring_bonds(atom);
        let hidden = |bond: &usize| {
            Some(*bond) != self.point && molecule.atoms[molecule.other(*bond, atom)].is_point()
        };
        let hidden: Vec<usize> = molecule.bonds_of(atom).filter(hidden).collect();
        let bonds = |bonds: &[usize]| bonds.iter().copied().map(Neighbour::Bond).collect::<Vec<_>>();
        let mut order: Vec<Neighbour> = from.map(Neighbour::Bond).into_iter().collect();
        order.extend((0..molecule.atoms[atom].hydrogens).map(|_| Neighbour::Hydrogen));
        order.extend([bonds(&hidden), bonds(&ring_bonds), bonds(&branches)].concat());
        order.extend(next.map(Neighbour::Bond));
        self.atom(atom, &order, hidden.len());
        self.is_written[atom] = true;
        self.ring_numbers(atom, &ring_bonds);

        for bond in branches {
            self.text.push('(');
            self.write(molecule.other(bond, atom), Some(bond), None);
            self.text.push(')');
        }
        // A branch's own continuation; on the way to the end, the caller continues.
        if let Some(bond) = next
            && self.tree.children[atom].contains(&bond)
        {
            self.write(molecule.other(bond, atom), Some(bond), None);
        }
    }

    /// Writes the symbol of an atom whose neighbours are written in this order; `hidden` of them as hydrogens.
    fn atom(&mut self, atom: usize, order: &[Neighbour], hidden: usize) {
        let it = &self.molecule.atoms[atom];
        let hydrogens = usize::from(it.hydrogens) + hidden;
        let turn = it.turn.filter(|_| hydrogens < 2);
        // An aromatic atom other than carbon has no implicit hydrogens.
        let states_hydrogen = hidden > 0 && it.name.starts_with(['n', 'b', 'p', 's', 'o']);
        if !it.is_in_brackets && !states_hydrogen {
            self.text.push_str(&it.name);
            return;
        }
        let mark = match turn.map(|turn| if is_even(&it.order, order) { turn } else { turn.mirrored() }) {
            Some(Turn::Counterclockwise) => "@",
            Some(Turn::Clockwise) => "@@",
            None => "",
        };
        let count = if hydrogens > 1 { hydrogens.to_string() } else { String::new() };
        let hydrogens = if hydrogens > 0 { "H" } else { "" };
        let _ = write!(self.text, "[{}{mark}{hydrogens}{count}{}]", it.name, it.charge);
    }

    /// Returns the atom's bonds that are not in the tree: those to close first, by number, then those to open.
    fn ring_bonds(&self, atom: usize) -> Vec<usize> {
        let molecule = self.molecule;
        let is_ring = |bond: &usize| {
            !self.tree.has(molecule, *bond) && !molecule.atoms[molecule.other(*bond, atom)].is_point()
        };
        let mut bonds: Vec<usize> = molecule.bonds_of(atom).filter(is_ring).collect();
        bonds.sort_by_key(|bond| {
            self.rings.iter().position(|ring| *ring == Some(*bond)).unwrap_or(usize::MAX)
        });
        bonds
    }

    fn ring_numbers(&mut self, atom: usize, bonds: &[usize]) {
        let mut closed = Vec::new();
        for bond in bonds {
            let place = match self.rings.iter().position(|ring| *ring == Some(*bond)) {
                Some(place) => {
                    closed.push(place);
                    place
                }
                None => {
                    self.mark(atom, *bond);
                    let free = self.rings.iter().position(Option::is_none);
                    let place = free.unwrap_or(self.rings.len());
                    self.rings.resize(self.rings.len().max(place + 1), None);
                    self.rings[place] = Some(*bond);
                    place
                }
            };
            let _ = if place < 9 {
                write!(self.text, "{}", place + 1)
            } else {
                write!(self.text, "%{}", place + 1)
            };
        }
        // Free only after the atom: a number that closes and opens at one atom would be unusual.
        for place in closed {
            self.rings[place] = None;
        }
    }

    /// Writes the mark of a bond, seen from `atom`.
    fn mark(&mut self, atom: usize, bond: usize) {
        let mark = self.molecule.bonds[bond].mark_from(atom);
        self.text.extend(mark.map(char::from));
    }
}

/// Returns true if an even number of swaps makes one order of the same neighbours from the other.
fn is_even(one: &[Neighbour], other: &[Neighbour]) -> bool {
    let places: Vec<usize> =
        one.iter().filter_map(|neighbour| other.iter().position(|it| it == neighbour)).collect();
    let swaps: usize =
        (0..places.len()).map(|n| places[..n].iter().filter(|place| **place > places[n]).count()).sum();
    swaps.is_multiple_of(2)
}
