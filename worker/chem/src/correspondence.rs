//! Finding which atom of one graph is which atom of another spelling of the same molecule.
//!
//! chematic does not say in which order its canonical writer visits the atoms, so the product graph of a
//! template and the graph parsed from its canonical SMILES are put side by side: atoms are coloured by what
//! both spellings agree on, colours are refined by neighbourhood, and ties are broken one atom at a time, each
//! choice carried through to the end or undone. The result is an isomorphism, checked bond by bond.

use chematic::core::{Atom, Molecule as Graph};

use crate::index::index;

/// For every atom of `to`, the atom of `from` it is; `None` when the graphs are not the same molecule.
pub(crate) fn find(from: &Graph, to: &Graph) -> Option<Vec<usize>> {
    if from.atom_count() != to.atom_count() || from.bond_count() != to.bond_count() {
        return None;
    }
    // Charges and isotopes first; sanitisation may move charges (nitro groups), so they are tried without too.
    [Strictness::Charges, Strictness::Elements].into_iter().find_map(|strictness| {
        let colours = refine(from, to, initial(from, to, strictness))?;
        let mut search = Search { from, to, image: vec![None; to.atom_count()], steps: 0 };
        search.extend(colours).then_some(())?;
        search.image.into_iter().collect()
    })
}

#[derive(Clone, Copy)]
enum Strictness {
    Charges,
    Elements,
}

/// Most assignments tried before giving up; a molecule needs as many as it has atoms.
const MAX_STEPS: usize = 20_000;

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
    image: Vec<Option<usize>>,
    steps: usize,
}

impl Search<'_> {
    /// Assigns every atom of `to`, breaking ties in the smallest class first.
    fn extend(&mut self, colours: Colours) -> bool {
        self.steps += 1;
        if self.steps > MAX_STEPS {
            return false;
        }
        let Some(tied) = tied_atom(&colours.to) else {
            for (atom, colour) in colours.to.iter().enumerate() {
                self.image[atom] = colours.from.iter().position(|other| other == colour);
            }
            return self.is_isomorphism();
        };
        let candidates: Vec<usize> =
            (0..colours.from.len()).filter(|&atom| colours.from[atom] == colours.to[tied]).collect();
        for candidate in candidates {
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

    fn is_isomorphism(&self) -> bool {
        self.to.bonds().all(|(_, bond)| {
            match (self.image[bond.atom1.0 as usize], self.image[bond.atom2.0 as usize]) {
                (Some(a), Some(b)) => self.from.bond_between(index(a), index(b)).is_some(),
                _ => false,
            }
        })
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
