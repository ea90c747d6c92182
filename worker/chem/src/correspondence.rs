//! Finding which atom of one graph is which atom of another spelling of the same molecule.
//!
//! chematic does not say in which order its canonical writer visits the atoms, so the product graph of a
//! template and the graph parsed from its canonical SMILES are put side by side: atoms are coloured by what
//! both spellings agree on, colours are refined by neighbourhood, and ties are broken one atom at a time, each
//! choice carried through to the end or undone. The result is an isomorphism, checked bond by bond, and one
//! that maps every stereocentre on a centre of the same handedness where there is such a one.

use chematic::core::{Atom, Chirality, Molecule as Graph};

use crate::index::index;

/// For every atom of `to`, the atom of `from` it is; `None` when the graphs are not the same molecule.
pub(crate) fn find(from: &Graph, to: &Graph) -> Option<Vec<usize>> {
    if from.atom_count() != to.atom_count() || from.bond_count() != to.bond_count() {
        return None;
    }
    // Charges and isotopes first; sanitisation may move charges (nitro groups), so they are tried without too.
    [Strictness::Charges, Strictness::Elements].into_iter().find_map(|strictness| {
        let colours = refine(from, to, initial(from, to, strictness))?;
        let mut search = Search { from, to, found: None, steps: 0 };
        search.extend(colours);
        search.found
    })
}

#[derive(Clone, Copy)]
enum Strictness {
    Charges,
    Elements,
}

/// Ties broken before the best answer so far is taken: molecules with symmetric parts need a dozen or two.
const MAX_STEPS: usize = 300;

/// Colours of the atoms of `from` and `to`; equal numbers mean "may be the same atom".
struct Colours {
    from: Vec<u64>,
    to: Vec<u64>,
}

fn initial(from: &Graph, to: &Graph, strictness: Strictness) -> Colours {
    let colour = |graph: &Graph| {
        (0..graph.atom_count())
            .map(|atom| atom_colour(graph.atom(index(atom)), graph.degree(index(atom)), strictness))
            .collect()
    };
    Colours { from: colour(from), to: colour(to) }
}

fn atom_colour(atom: &Atom, degree: usize, strictness: Strictness) -> u64 {
    let element = if atom.wildcard { 0 } else { u64::from(atom.element.atomic_number()) };
    let mut colour = mix(element, degree as u64);
    if let Strictness::Charges = strictness {
        colour = mix(colour, u64::from(atom.charge.cast_unsigned()));
        colour = mix(colour, u64::from(atom.isotope.unwrap_or(0)));
    }
    colour
}

/// Splits colours by the colours of neighbours until nothing changes; `None` when the two sides differ.
fn refine(from: &Graph, to: &Graph, mut colours: Colours) -> Option<Colours> {
    let mut classes = 0;
    loop {
        colours = Colours { from: round(from, &colours.from), to: round(to, &colours.to) };
        let (mut a, mut b) = (colours.from.clone(), colours.to.clone());
        a.sort_unstable();
        b.sort_unstable();
        if a != b {
            return None;
        }
        a.dedup();
        if a.len() == classes {
            return Some(colours);
        }
        classes = a.len();
    }
}

fn round(graph: &Graph, colours: &[u64]) -> Vec<u64> {
    (0..colours.len())
        .map(|atom| {
            let around = graph
                .neighbor_slice(index(atom))
                .iter()
                .fold(0u64, |sum, (neighbour, _)| sum.wrapping_add(mix(1, colours[neighbour.0 as usize])));
            mix(colours[atom], around)
        })
        .collect()
}

struct Search<'a> {
    from: &'a Graph,
    to: &'a Graph,
    found: Option<Vec<usize>>,
    steps: usize,
}

impl Search<'_> {
    /// Breaks ties until every atom has an image; true when the search is over.
    fn extend(&mut self, colours: Colours) -> bool {
        self.steps += 1;
        if self.steps > MAX_STEPS {
            return true;
        }
        let Some(tied) = tied_atom(&colours.to) else { return self.finish(&colours) };
        for candidate in (0..colours.from.len()).filter(|&atom| colours.from[atom] == colours.to[tied]) {
            let mut split = Colours { from: colours.from.clone(), to: colours.to.clone() };
            split.to[tied] = mix(split.to[tied], u64::MAX);
            split.from[candidate] = split.to[tied];
            if let Some(refined) = refine(self.from, self.to, split)
                && self.extend(refined)
            {
                return true;
            }
        }
        false
    }

    /// Keeps the first isomorphism, and stops at one that keeps handedness too.
    fn finish(&mut self, colours: &Colours) -> bool {
        let mut order: Vec<_> =
            colours.from.iter().enumerate().map(|(atom, &colour)| (colour, atom)).collect();
        order.sort_unstable();
        let image = |colour: &u64| {
            let place = order.binary_search_by_key(colour, |&(colour, _)| colour).ok()?;
            Some(order[place].1)
        };
        let Some(images) = colours.to.iter().map(image).collect::<Option<Vec<_>>>() else { return false };
        let bonded = self.to.bonds().all(|(_, bond)| {
            let (a, b) = (images[bond.atom1.0 as usize], images[bond.atom2.0 as usize]);
            self.from.bond_between(index(a), index(b)).is_some()
        });
        if !bonded {
            return false;
        }
        let same_hands = (0..images.len()).all(|atom| self.same_hand(atom, &images) != Some(false));
        if same_hands || self.found.is_none() {
            self.found = Some(images);
        }
        same_hands
    }

    /// Whether a centre of `to` and its image have the same handedness; `None` where either states none.
    fn same_hand(&self, atom: usize, images: &[usize]) -> Option<bool> {
        let sign = |graph: &Graph, atom: usize| match graph.atom(index(atom)).chirality {
            Chirality::Clockwise => Some(true),
            Chirality::CounterClockwise => Some(false),
            _ => None,
        };
        let (to, from) = (sign(self.to, atom)?, sign(self.from, images[atom])?);
        let around_to = self.to.stereo_neighbor_order(index(atom))?;
        let around_from = self.from.stereo_neighbor_order(index(images[atom]))?;
        let mut swapped: Vec<u32> = around_to
            .iter()
            .map(|&neighbour| match images.get(neighbour as usize) {
                Some(&image) => index(image).0,
                None => neighbour,
            })
            .collect();
        let mut odd = false;
        for (place, neighbour) in around_from.iter().enumerate() {
            let other = place + swapped.get(place..)?.iter().position(|other| other == neighbour)?;
            if other != place {
                swapped.swap(place, other);
                odd = !odd;
            }
        }
        Some((to == from) != odd)
    }
}

/// The first atom that shares its colour with another.
fn tied_atom(colours: &[u64]) -> Option<usize> {
    let mut sorted = colours.to_vec();
    sorted.sort_unstable();
    let shared = |colour: u64| {
        let first = sorted.partition_point(|&other| other < colour);
        sorted.get(first + 1) == Some(&colour)
    };
    colours.iter().position(|&colour| shared(colour))
}

/// A mixing step of the splitmix generator: spreads both numbers over all bits.
fn mix(a: u64, b: u64) -> u64 {
    let mut z =
        a.rotate_left(23).wrapping_add(b.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_add(0x2545_f491);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
