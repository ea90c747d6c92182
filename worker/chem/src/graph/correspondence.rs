//! Atom correspondence between two representations of the same molecule.
//!
//! chematic does not report the order in which its canonical writer visits the atoms. So the product graph of a
//! template is compared with the graph parsed from its canonical SMILES. Atoms are coloured by the properties that
//! both share, and colours are refined by neighbourhood. Ties are broken one atom at a time, with backtracking. The
//! result is an isomorphism, checked bond by bond. If there is one that maps every stereocentre on a centre of the
//! same chirality, it is chosen.

use chematic::core::{BondOrder, Chirality, Molecule as Graph};

use super::index::index;
use super::refinement::{mix, refine};

/// Returns, for every atom of `to`, the corresponding atom of `from`; `None` if the graphs are not the same molecule.
pub(crate) fn find(from: &Graph, to: &Graph) -> Option<Vec<usize>> {
    if from.atom_count() != to.atom_count() || from.bond_count() != to.bond_count() {
        return None;
    }
    // A product graph is not sanitised: it may differ in charges (nitro groups), and aromatic rings may have
    // alternating double bonds. So all properties are compared first, and fewer if that fails.
    use Strictness::{BondOrders, Elements, Everything, Hydrogens};
    [Everything, Hydrogens, BondOrders, Elements].into_iter().find_map(|strictness| {
        let pair = Pair { from, to, strictness };
        let colours = pair.refined(pair.initial())?;
        let mut search = CorrespondenceSearch { pair, found: None, steps: 0 };
        search.extend(colours);
        search.found
    })
}

/// Properties that must agree between the two representations.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Strictness {
    /// Elements, charges, isotopes, hydrogens, aromaticity and bond orders.
    Everything,
    /// All of these but aromaticity and bond orders.
    Hydrogens,
    /// Elements, aromaticity and bond orders, so that an acid corresponds to its anion.
    BondOrders,
    /// Only elements and connectivity.
    Elements,
}

/// Maximum number of ties broken before the best result so far is taken. Molecules with symmetric parts need a dozen
/// or two.
const MAX_STEPS: usize = 300;

#[derive(Clone, Copy)]
struct Pair<'a> {
    from: &'a Graph,
    to: &'a Graph,
    strictness: Strictness,
}

impl Pair<'_> {
    /// Returns the number of atoms of each side.
    fn len(&self) -> usize {
        self.from.atom_count()
    }

    /// Returns initial colours of the atoms, those of `from`, then those of `to`. Equal colours mean that two atoms
    /// may correspond.
    fn initial(&self) -> Vec<u64> {
        let colours = |graph| (0..self.len()).map(move |atom| self.atom_colour(graph, atom));
        colours(self.from).chain(colours(self.to)).collect()
    }

    fn atom_colour(&self, graph: &Graph, at: usize) -> u64 {
        let atom = graph.atom(index(at));
        let element = if atom.wildcard { 0 } else { u64::from(atom.element.atomic_number()) };
        let mut colour = mix(element, graph.degree(index(at)) as u64);
        if matches!(self.strictness, Strictness::Everything | Strictness::Hydrogens) {
            colour = mix(colour, u64::from(atom.charge.cast_unsigned()));
            colour = mix(colour, u64::from(atom.isotope.unwrap_or(0)));
            colour = mix(colour, u64::from(graph.implicit_hydrogen_count(index(at))));
        }
        if matches!(self.strictness, Strictness::Everything | Strictness::BondOrders) {
            colour = mix(colour, u64::from(atom.aromatic));
        }
        colour
    }

    /// Splits colours by the colours of neighbours until nothing changes; `None` if the two sides differ.
    fn refined(&self, mut colours: Vec<u64>) -> Option<Vec<u64>> {
        let order = |graph: &Graph, bond| match (self.strictness, graph.bond(bond).order) {
            (Strictness::Everything | Strictness::BondOrders, BondOrder::Aromatic) => 9,
            (Strictness::Everything | Strictness::BondOrders, order) => u64::from(order.order_int()),
            _ => 1,
        };
        refine(&mut colours, |at, colours| {
            let (graph, first) = if at < self.len() { (self.from, 0) } else { (self.to, self.len()) };
            graph.neighbor_slice(index(at - first)).iter().fold(0_u64, |sum, &(neighbour, bond)| {
                sum.wrapping_add(mix(colours[first + neighbour.0 as usize], order(graph, bond)))
            })
        });
        let (mut from, mut to) = (colours[..self.len()].to_vec(), colours[self.len()..].to_vec());
        from.sort_unstable();
        to.sort_unstable();
        (from == to).then_some(colours)
    }
}

struct CorrespondenceSearch<'a> {
    pair: Pair<'a>,
    found: Option<Vec<usize>>,
    steps: usize,
}

impl CorrespondenceSearch<'_> {
    /// Breaks ties until every atom has an image; returns true when the search is over.
    fn extend(&mut self, colours: Vec<u64>) -> bool {
        self.steps += 1;
        if self.steps > MAX_STEPS {
            return true;
        }
        let (from, to) = colours.split_at(self.pair.len());
        let Some(tied) = tied_atom(to) else { return self.finish(from, to) };
        for candidate in (0..from.len()).filter(|&atom| from[atom] == to[tied]) {
            let mut split = colours.clone();
            split[candidate] = mix(to[tied], u64::MAX);
            split[from.len() + tied] = split[candidate];
            if let Some(refined) = self.pair.refined(split)
                && self.extend(refined)
            {
                return true;
            }
        }
        false
    }

    /// Keeps the first isomorphism, and returns true for one that also keeps chirality.
    fn finish(&mut self, from: &[u64], to: &[u64]) -> bool {
        let mut order: Vec<_> = from.iter().enumerate().map(|(atom, &colour)| (colour, atom)).collect();
        order.sort_unstable();
        let image = |colour: &u64| {
            let place = order.binary_search_by_key(colour, |&(colour, _)| colour).ok()?;
            Some(order[place].1)
        };
        let Some(images) = to.iter().map(image).collect::<Option<Vec<_>>>() else { return false };
        let bonded = self.pair.to.bonds().all(|(_, bond)| {
            let (a, b) = (images[bond.atom1.0 as usize], images[bond.atom2.0 as usize]);
            self.pair.from.bond_between(index(a), index(b)).is_some()
        });
        if !bonded {
            return false;
        }
        let same_hands = (0..images.len()).all(|atom| self.same_chirality(atom, &images) != Some(false));
        if same_hands || self.found.is_none() {
            self.found = Some(images);
        }
        same_hands
    }

    /// Returns true if a centre of `to` and its image have the same chirality; `None` if either states none.
    fn same_chirality(&self, atom: usize, images: &[usize]) -> Option<bool> {
        let sign = |graph: &Graph, atom: usize| match graph.atom(index(atom)).chirality {
            Chirality::Clockwise => Some(true),
            Chirality::CounterClockwise => Some(false),
            _ => None,
        };
        let (to, from) = (sign(self.pair.to, atom)?, sign(self.pair.from, images[atom])?);
        let around_to = self.pair.to.stereo_neighbor_order(index(atom))?;
        let around_from = self.pair.from.stereo_neighbor_order(index(images[atom]))?;
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

/// Returns the first atom that shares its colour with another.
fn tied_atom(colours: &[u64]) -> Option<usize> {
    let mut sorted = colours.to_vec();
    sorted.sort_unstable();
    let shared = |colour: u64| {
        let first = sorted.partition_point(|&other| other < colour);
        sorted.get(first + 1) == Some(&colour)
    };
    colours.iter().position(|&colour| shared(colour))
}
