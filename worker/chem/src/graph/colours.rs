//! Distinguishing graphs by colours, and the conditions under which colours suffice.
//!
//! Atoms are coloured by their properties and [refined](super::refinement) by their neighbourhoods until no class
//! splits further. Graphs with the same stable colours can still differ, as some cages do. The conditions for
//! equality are known (Arvind, Köbler, Rattan and Verbitsky, "Graph isomorphism, color refinement, and compactness",
//! 2017). If they do not hold, the atoms of a class get a colour of their own, one after the other, as in canonical
//! labelling (McKay, 1981).

use chematic::core::ez_markers::EzFact;
use chematic::core::{BondIdx, BondOrder, Chirality, Molecule as Graph, STEREO_H_SENTINEL};

use super::index::index;
use super::refinement::{mix, refine};
use super::rings;

/// Limit of individualised atoms, beyond which a molecule counts as too symmetric for colours.
const MAX_INDIVIDUALISATIONS: u32 = 200;

/// A coloured graph.
#[derive(Debug, Clone)]
pub(crate) struct ColouredGraph {
    of: Vec<u64>,
    /// Start of each atom's neighbours, and one more entry for the end.
    starts: Vec<u32>,
    /// Neighbours, each with the contribution of its bond.
    around: Vec<(u32, u64)>,
}

/// Classes of atoms with the same colour, in the order of their colours.
struct ColourClasses {
    of: Vec<u32>,
    sizes: Vec<u32>,
    /// One atom of each class.
    members: Vec<u32>,
}

impl ColouredGraph {
    /// Colours atoms by element, charge, hydrogens, aromaticity, isotope and degree, and bonds by their order and the
    /// size of their smallest ring. Without ring sizes, refinement cannot distinguish decalin from bicyclopentyl.
    pub fn new(graph: &Graph) -> Self {
        Self::with(graph, |_, word| word, |_| None)
    }

    /// Colours a graph, with `atom_word` replacing the properties of an atom and `bond_word` the order of a bond.
    pub fn with(
        graph: &Graph,
        atom_word: impl Fn(usize, u64) -> u64,
        bond_word: impl Fn(BondIdx) -> Option<u64>,
    ) -> Self {
        let count = graph.atom_count();
        let rings = rings::smallest_rings(graph);
        let mut colours =
            Self { of: Vec::with_capacity(count), starts: vec![0], around: Vec::with_capacity(2 * count) };
        for at in 0..count {
            let atom = graph.atom(index(at));
            let element = if atom.wildcard { 0 } else { u64::from(atom.element.atomic_number()) };
            let word = element
                | u64::from(atom.charge.cast_unsigned()) << 8
                | u64::from(graph.implicit_hydrogen_count(index(at))) << 16
                | u64::from(atom.aromatic) << 24
                | u64::from(atom.isotope.unwrap_or(0)) << 32
                | (graph.degree(index(at)) as u64) << 48;
            colours.of.push(mix(atom_word(at, word), 3));
            for &(neighbour, bond) in graph.neighbor_slice(index(at)) {
                let order = bond_word(bond).unwrap_or_else(|| match graph.bond(bond).order {
                    BondOrder::Aromatic => 9,
                    // The two ends of a dative bond differ.
                    BondOrder::Dative => 10 + u64::from(graph.bond(bond).atom1.0 as usize == at),
                    order => u64::from(order.order_int()),
                });
                colours.around.push((neighbour.0, order << 8 | u64::from(rings[bond.0 as usize])));
            }
            colours.starts.push(u32::try_from(colours.around.len()).unwrap_or(u32::MAX));
        }
        colours.refine();
        colours
    }

    /// Returns the colour of an atom.
    pub fn class(&self, atom: usize) -> u64 {
        self.of[atom]
    }

    /// Adds stereo to the colours: the chirality of each stated tetrahedral centre whose four neighbours differ, and
    /// the configuration of each of `double_bonds` whose ends' neighbours differ. Refines and repeats until all are
    /// added; returns false if some cannot be.
    pub fn add_stereo(&mut self, graph: &Graph, double_bonds: &[EzFact]) -> bool {
        let mut centres: Vec<usize> =
            (0..self.of.len()).filter(|&at| graph.atom(index(at)).chirality != Chirality::None).collect();
        let mut double_bonds = double_bonds.to_vec();
        let mut settled: Vec<(usize, u64)> = Vec::new();
        while !centres.is_empty() || !double_bonds.is_empty() {
            settled.clear();
            centres.retain(|&centre| match self.chirality(graph, centre) {
                Some(hand) => {
                    settled.push((centre, 7 + u64::from(hand)));
                    false
                }
                None => true,
            });
            double_bonds.retain(|double| match self.is_cis(graph, double) {
                Some(cis) => {
                    settled.extend(double.ends.iter().map(|end| (end.atom.0 as usize, 15 + u64::from(cis))));
                    false
                }
                None => true,
            });
            if settled.is_empty() {
                return false;
            }
            for &(atom, word) in &settled {
                self.of[atom] = mix(self.of[atom], word);
            }
            self.refine();
        }
        true
    }

    /// Returns a digest that is equal for equal graphs, and only for them (up to a chance of 2^-64 per pair). `None`
    /// if the graph is too symmetric.
    pub fn digest(&self) -> Option<(u64, u64)> {
        let mut trials = 0;
        self.settle(&mut trials)
    }

    /// Returns true if two of the atom's neighbours, hydrogens aside, have the same colour.
    pub fn has_like_neighbours(&self, atom: usize) -> bool {
        let around = self.around(atom);
        around.iter().enumerate().any(|(place, &(a, _))| {
            around[place + 1..].iter().any(|&(b, _)| self.of[a as usize] == self.of[b as usize])
        })
    }

    fn settle(&self, trials: &mut u32) -> Option<(u64, u64)> {
        let Some(members) = self.cells().and_then(|cells| self.unclear(&cells)) else {
            return Some(self.sum());
        };
        let mut least: Option<(u64, u64)> = None;
        for atom in members {
            *trials += 1;
            if *trials > MAX_INDIVIDUALISATIONS {
                return None;
            }
            let mut trial = self.clone();
            trial.of[atom] = mix(trial.of[atom], 11);
            trial.refine();
            let digest = trial.settle(trials)?;
            least = Some(least.map_or(digest, |least| least.min(digest)));
        }
        least
    }

    fn sum(&self) -> (u64, u64) {
        let mut sorted = self.of.clone();
        sorted.sort_unstable();
        let fold = |seed: u64| sorted.iter().fold(mix(seed, 0), |hash, &colour| mix(hash, colour));
        (fold(1), fold(2))
    }

    fn around(&self, atom: usize) -> &[(u32, u64)] {
        &self.around[self.starts[atom] as usize..self.starts[atom + 1] as usize]
    }

    /// Splits colours by the colours of neighbours until their number is stable.
    fn refine(&mut self) {
        let Self { of, starts, around } = self;
        refine(of, |at, of| {
            let around = &around[starts[at] as usize..starts[at + 1] as usize];
            around
                .iter()
                .fold(0_u64, |sum, &(neighbour, bond)| sum.wrapping_add(mix(of[neighbour as usize], bond)))
        });
    }

    /// Returns the classes, or `None` if every atom has its own colour.
    fn cells(&self) -> Option<ColourClasses> {
        let mut order: Vec<u32> = (0u32..).take(self.of.len()).collect();
        order.sort_unstable_by_key(|&atom| self.of[atom as usize]);
        let mut cells = ColourClasses { of: vec![0; self.of.len()], sizes: Vec::new(), members: Vec::new() };
        for like in order.chunk_by(|&a, &b| self.of[a as usize] == self.of[b as usize]) {
            for &atom in like {
                cells.of[atom as usize] = cells.sizes.len() as u32;
            }
            cells.sizes.push(like.len() as u32);
            cells.members.push(like[0]);
        }
        (cells.sizes.len() < self.of.len()).then_some(cells)
    }

    /// Returns the atoms of a class that colours alone cannot distinguish, or `None` if colours suffice.
    ///
    /// They do under four conditions. (A) The bonds within a class join all of its atoms or pair them. (B) The bonds
    /// between two classes join all atoms of one to all of the other or are stars. Classes joined by stars (C) form a
    /// tree whose classes grow from the smallest outwards, with (D) at most one paired class, which is among the
    /// smallest. Bonds of one kind count; two kinds between the same classes are left unclear.
    fn unclear(&self, cells: &ColourClasses) -> Option<Vec<usize>> {
        let count = cells.sizes.len();
        let mut paired = vec![false; count];
        let mut stars: Vec<(u32, u32)> = Vec::new();
        let mut unclear = vec![false; count];
        for cell in 0..count {
            let size = cells.sizes[cell];
            if size == 1 {
                continue;
            }
            let around = self.around(cells.members[cell] as usize);
            for (place, &(neighbour, bond)) in around.iter().enumerate() {
                let other = cells.of[neighbour as usize] as usize;
                let like = |&&(to, _): &&(u32, u64)| cells.of[to as usize] as usize == other;
                if cells.sizes[other] == 1 || around[..place].iter().any(|link| like(&link)) {
                    continue;
                }
                let links = around.iter().filter(like).count() as u32;
                let one_kind = around.iter().filter(like).all(|&(_, kind)| kind == bond);
                if !one_kind {
                    unclear[cell] = true;
                } else if other == cell {
                    paired[cell] = links + 1 < size && links == 1;
                    unclear[cell] |= links + 1 < size && links != 1;
                } else if links < cells.sizes[other] {
                    // The number of bonds is the same from both classes.
                    let back = links * size / cells.sizes[other];
                    unclear[cell] |= links != 1 && back != 1;
                    if cell < other {
                        stars.push((cell as u32, other as u32));
                    }
                }
            }
        }
        let mut seen = vec![false; count];
        for start in 0..count {
            if seen[start] || cells.sizes[start] == 1 {
                continue;
            }
            let tree = connected_classes(start as u32, &stars, &mut seen);
            let bonds = stars.iter().filter(|(a, _)| tree.contains(a)).count();
            let root =
                tree.iter().copied().min_by_key(|&cell| (cells.sizes[cell as usize], !paired[cell as usize]));
            let root = root.unwrap_or(start as u32);
            let pairs = tree.iter().filter(|&&cell| paired[cell as usize]).count();
            let clear = bonds + 1 == tree.len()
                && tree.iter().all(|&cell| !unclear[cell as usize])
                && (pairs == 0 || pairs == 1 && paired[root as usize])
                && sizes_grow_outwards(root, None, &stars, &cells.sizes);
            if !clear {
                return Some((0..self.of.len()).filter(|&atom| cells.of[atom] == root).collect());
            }
        }
        None
    }

    /// Returns true if the neighbours of greater colour at the two ends of a double bond are on the same side. `None`
    /// if an end has two neighbours of the same colour, or more than two.
    fn is_cis(&self, graph: &Graph, double: &EzFact) -> Option<bool> {
        let mut cis = true;
        for end in double.ends {
            let reference = graph.bond(end.reference).other(end.atom)?;
            let colour = self.of[reference.0 as usize];
            let mut others = graph
                .neighbor_slice(end.atom)
                .iter()
                .filter(|&&(atom, bond)| bond != double.double && atom != reference)
                .map(|&(atom, _)| self.of[atom.0 as usize]);
            let other = others.next();
            if other == Some(colour) || others.next().is_some() {
                return None;
            }
            cis ^= end.up ^ other.is_some_and(|other| other > colour);
        }
        Some(cis)
    }

    /// Returns the chirality of a tetrahedral centre with its neighbours in the order of their colours. `None` if two
    /// have the same colour, or the centre is not tetrahedral.
    fn chirality(&self, graph: &Graph, centre: usize) -> Option<bool> {
        let clockwise = match graph.atom(index(centre)).chirality {
            Chirality::Clockwise => true,
            Chirality::CounterClockwise => false,
            _ => return None,
        };
        let order = graph.stereo_neighbor_order(index(centre))?;
        let colour = |&neighbour: &u32| match neighbour {
            STEREO_H_SENTINEL => Some(0),
            atom => self.of.get(atom as usize).copied(),
        };
        let colours: Vec<u64> = order.iter().map(colour).collect::<Option<_>>()?;
        let mut odd = false;
        for (place, colour) in colours.iter().enumerate() {
            for other in &colours[place + 1..] {
                if other == colour {
                    return None;
                }
                odd ^= other < colour;
            }
        }
        Some(clockwise ^ odd)
    }
}

/// Returns the classes that stars connect with `start`, and marks them as seen.
fn connected_classes(start: u32, stars: &[(u32, u32)], seen: &mut [bool]) -> Vec<u32> {
    let mut tree = vec![start];
    seen[start as usize] = true;
    let mut next = 0;
    while let Some(&at) = tree.get(next) {
        next += 1;
        for &(a, b) in stars {
            let other = if a == at { b } else { a };
            if (a == at || b == at) && !std::mem::replace(&mut seen[other as usize], true) {
                tree.push(other);
            }
        }
    }
    tree
}

/// Returns true if class sizes do not decrease from `at` outwards.
fn sizes_grow_outwards(at: u32, from: Option<u32>, stars: &[(u32, u32)], sizes: &[u32]) -> bool {
    stars.iter().all(|&(a, b)| {
        let other = if a == at { b } else { a };
        (a != at && b != at)
            || Some(other) == from
            || sizes[at as usize] <= sizes[other as usize]
                && sizes_grow_outwards(other, Some(at), stars, sizes)
    })
}
