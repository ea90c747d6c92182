//! Telling molecules apart without writing them down.
//!
//! Atoms are coloured by what they are and refined by their neighbourhoods until nothing splits any more
//! (Weisfeiler and Lehman, 1968), with the size of the smallest ring through every bond among the colours, since
//! refinement alone takes decalin for bicyclopentyl. Then every stated stereocentre whose neighbours have four
//! colours is given its handedness in the order of those colours, and refinement goes on. A molecule whose stated
//! stereo this does not settle (a centre between like neighbours, a double bond) is told by its canonical SMILES;
//! whether that is so depends on the graph alone, never on the order of its atoms.

use chematic::core::{BondOrder, Chirality, Molecule as Graph, STEREO_H_SENTINEL};

use crate::index::index;

/// A number that two molecules share if they are the same, and only then (but for a chance of 2^-64 a pair).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(u128);

impl Key {
    /// The key of a text that says the same of a molecule.
    pub(crate) fn of_text(text: &str) -> Self {
        // Longer than any list of colours begins, so that a text is never taken for one.
        let fold = |seed: u64| {
            text.as_bytes().chunks(8).fold(mix(seed, u64::MAX), |hash, chunk| {
                let mut word = [0; 8];
                word[..chunk.len()].copy_from_slice(chunk);
                mix(hash, u64::from_le_bytes(word))
            })
        };
        Self(u128::from(fold(1)) << 64 | u128::from(fold(2)))
    }

    fn of_colours(colours: &[u64]) -> Self {
        let mut sorted = colours.to_vec();
        sorted.sort_unstable();
        let fold = |seed: u64| sorted.iter().fold(mix(seed, 0), |hash, &colour| mix(hash, colour));
        Self(u128::from(fold(1)) << 64 | u128::from(fold(2)))
    }
}

/// The key of a graph whose aromaticity is perceived and whose stereo marks all mean something; `None` where its
/// stereo has to be told by the canonical SMILES.
pub(crate) fn of_graph(graph: &Graph) -> Option<Key> {
    let directed = |order| matches!(order, BondOrder::Up | BondOrder::Down);
    if graph.bonds().any(|(at, bond)| directed(bond.order) || graph.bond_direction(at).is_some()) {
        return None;
    }
    let mut centres: Vec<usize> =
        (0..graph.atom_count()).filter(|&at| graph.atom(index(at)).chirality != Chirality::None).collect();
    let mut colours = Colours::new(graph);
    colours.refine();
    while !centres.is_empty() {
        let settled: Vec<(usize, bool)> =
            centres.iter().filter_map(|&centre| Some((centre, colours.hand(graph, centre)?))).collect();
        if settled.is_empty() {
            return None;
        }
        for &(centre, hand) in &settled {
            colours.of[centre] = mix(colours.of[centre], 7 + u64::from(hand));
        }
        centres.retain(|centre| settled.iter().all(|(other, _)| other != centre));
        colours.refine();
    }
    Some(Key::of_colours(&colours.of))
}

/// A neighbour as refinement sees it: its place and what the bond to it adds.
type Neighbour = (u32, u64);

struct Colours {
    of: Vec<u64>,
    /// Where each atom's neighbours start, and one more for the end.
    starts: Vec<u32>,
    around: Vec<Neighbour>,
}

impl Colours {
    fn new(graph: &Graph) -> Self {
        let count = graph.atom_count();
        let rings = smallest_rings(graph);
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
            colours.of.push(mix(word, 3));
            for &(neighbour, bond) in graph.neighbor_slice(index(at)) {
                let order = match graph.bond(bond).order {
                    BondOrder::Aromatic => 9,
                    // A dative bond looks different from its ends.
                    BondOrder::Dative => 10 + u64::from(graph.bond(bond).atom1.0 as usize == at),
                    order => u64::from(order.order_int()),
                };
                colours.around.push((neighbour.0, order << 8 | u64::from(rings[bond.0 as usize])));
            }
            colours.starts.push(u32::try_from(colours.around.len()).unwrap_or(u32::MAX));
        }
        colours
    }

    /// Splits colours by the colours of neighbours until their number stays.
    fn refine(&mut self) {
        let mut classes = 0;
        loop {
            let now = self.classes();
            if now == classes {
                return;
            }
            classes = now;
            let next = (0..self.of.len()).map(|at| {
                let around = &self.around[self.starts[at] as usize..self.starts[at + 1] as usize];
                let sum = around.iter().fold(0_u64, |sum, &(neighbour, bond)| {
                    sum.wrapping_add(mix(self.of[neighbour as usize], bond))
                });
                mix(self.of[at], sum)
            });
            self.of = next.collect();
        }
    }

    fn classes(&self) -> usize {
        let mut sorted = self.of.clone();
        sorted.sort_unstable();
        sorted.dedup();
        sorted.len()
    }

    /// The handedness of a tetrahedral centre with its neighbours in the order of their colours; `None` where two
    /// have the same, or the centre is of another kind.
    fn hand(&self, graph: &Graph, centre: usize) -> Option<bool> {
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

/// The size of the smallest ring through every bond, 0 for a bond in none; sizes beyond 255 count as 255.
pub(crate) fn smallest_rings(graph: &Graph) -> Vec<u8> {
    let mut rings = vec![0; graph.bond_count()];
    let cyclic = ring_bonds(graph);
    let mut distance = vec![u32::MAX; graph.atom_count()];
    let mut queue = Vec::with_capacity(graph.atom_count());
    for (at, bond) in graph.bonds().filter(|(at, _)| cyclic[at.0 as usize]) {
        // The way back from one end to the other without this bond.
        distance.fill(u32::MAX);
        distance[bond.atom1.0 as usize] = 0;
        queue.clear();
        queue.push(bond.atom1);
        let mut next = 0;
        'search: while let Some(&from) = queue.get(next) {
            next += 1;
            for &(to, along) in graph.neighbor_slice(from) {
                if along == at || !cyclic[along.0 as usize] || distance[to.0 as usize] != u32::MAX {
                    continue;
                }
                distance[to.0 as usize] = distance[from.0 as usize] + 1;
                if to == bond.atom2 {
                    break 'search;
                }
                queue.push(to);
            }
        }
        let around = distance[bond.atom2.0 as usize].saturating_add(1);
        rings[at.0 as usize] = u8::try_from(around).unwrap_or(u8::MAX);
    }
    rings
}

/// Which bonds are in a ring: those that are no bridges (Tarjan, 1974), without recursion.
pub(crate) fn ring_bonds(graph: &Graph) -> Vec<bool> {
    let mut cyclic = vec![true; graph.bond_count()];
    let mut entered = vec![0_u32; graph.atom_count()];
    let mut lowest = vec![0_u32; graph.atom_count()];
    let mut clock = 0;
    // The atom, the bond that led to it, and how many of its neighbours have been looked at.
    let mut path: Vec<(usize, Option<u32>, usize)> = Vec::new();
    for start in 0..graph.atom_count() {
        if entered[start] != 0 {
            continue;
        }
        path.push((start, None, 0));
        while let Some((at, by, looked)) = path.last_mut() {
            let (at, by) = (*at, *by);
            if entered[at] == 0 {
                clock += 1;
                (entered[at], lowest[at]) = (clock, clock);
            }
            let Some(&(to, bond)) = graph.neighbor_slice(index(at)).get(*looked) else {
                path.pop();
                if let (Some(bond), Some(&(above, _, _))) = (by, path.last()) {
                    lowest[above] = lowest[above].min(lowest[at]);
                    cyclic[bond as usize] = lowest[at] <= entered[above];
                }
                continue;
            };
            *looked += 1;
            let to = to.0 as usize;
            if Some(bond.0) == by {
                continue;
            }
            if entered[to] == 0 {
                path.push((to, Some(bond.0), 0));
            } else {
                lowest[at] = lowest[at].min(entered[to]);
            }
        }
    }
    cyclic
}

/// A mixing step of the splitmix generator: spreads both numbers over all bits.
fn mix(a: u64, b: u64) -> u64 {
    let mut z =
        a.rotate_left(23).wrapping_add(b.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_add(0x2545_f491);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
