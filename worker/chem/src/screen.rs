//! A matcher that costs nanoseconds, put in front of chematic's, which costs microseconds.
//!
//! What a template asks of an atom is lowered to one 64-bit mask: element, aromaticity, degree, hydrogens and
//! charge, each a group of bits. An atom of the molecule has one bit set in every group and fits when the mask
//! has all of them. Conditions that have no bit (rings, recursion, isotopes) are taken as fulfilled and stereo is
//! ignored, so the screen may say "perhaps" where chematic says no, but never "no" where chematic says yes. Where
//! every condition has its bits the screen is exact, and its matches are the pattern's.

use chematic::core::{BondOrder, Element, Molecule as Graph};
use chematic::smarts::{AtomPrimitive, AtomQuery, BondPrimitive, BondQuery, QueryMolecule};

use crate::index::index;

/// Elements with a bit of their own; all others share the bit after them.
const ELEMENTS: [u8; 16] = [1, 3, 5, 6, 7, 8, 9, 12, 14, 15, 16, 17, 30, 34, 35, 53];
const AROMATIC: u32 = 17;
const DEGREE: u32 = 19;
const HYDROGENS: u32 = 26;
const CHARGE: u32 = 31;
const GROUPS: [u64; 5] = [
    bits(0, AROMATIC),
    bits(AROMATIC, DEGREE),
    bits(DEGREE, HYDROGENS),
    bits(HYDROGENS, CHARGE),
    bits(CHARGE, 36),
];
const ANY_ATOM: u64 = bits(0, 36);

const SINGLE: u8 = 1;
const DOUBLE: u8 = 2;
const TRIPLE: u8 = 4;
const AROMATIC_BOND: u8 = 8;
const ANY_BOND: u8 = 31;

/// Assignments tried before the screen gives up and says "perhaps".
const MAX_STEPS: u32 = 5_000;

const fn bits(from: u32, to: u32) -> u64 {
    (1 << to) - (1 << from)
}

/// A molecule as the screen sees it: a feature word for each atom and its bonds.
#[derive(Debug)]
pub(crate) struct Target {
    features: Vec<u64>,
    /// Where each atom's neighbours start in `neighbours`, and one more for the end.
    starts: Vec<u16>,
    neighbours: Vec<(u8, u8)>,
}

impl Target {
    /// `None` where the screen cannot say anything: over 128 atoms, `*`, or hydrogens that are atoms.
    pub fn new(graph: &Graph) -> Option<Self> {
        let odd = |graph: &Graph| graph.atoms().any(|(_, atom)| atom.wildcard || atom.element == Element::H);
        if graph.atom_count() > 128 || odd(graph) {
            return None;
        }
        if chematic::perception::rdkit_parity_view_is_identity(graph) {
            return Some(Self::of_perceived(graph));
        }
        let view = chematic::perception::apply_aromaticity_rdkit_parity_shared(graph);
        view.as_ref().as_ref().ok().map(Self::of_perceived)
    }

    fn of_perceived(graph: &Graph) -> Self {
        let count = graph.atom_count();
        let mut target = Self {
            features: Vec::with_capacity(count),
            starts: vec![0],
            neighbours: Vec::with_capacity(2 * count),
        };
        for atom in 0..count {
            target.features.push(features(graph, atom));
            for &(neighbour, bond) in graph.neighbor_slice(index(atom)) {
                let order = match graph.bond(bond).order {
                    BondOrder::Double => DOUBLE,
                    BondOrder::Triple => TRIPLE,
                    BondOrder::Aromatic => AROMATIC_BOND,
                    BondOrder::Single | BondOrder::Up | BondOrder::Down => SINGLE,
                    _ => ANY_BOND,
                };
                target.neighbours.push((neighbour.0 as u8, order));
            }
            target.starts.push(u16::try_from(target.neighbours.len()).unwrap_or(u16::MAX));
        }
        target
    }

    fn around(&self, atom: u8) -> &[(u8, u8)] {
        let atom = usize::from(atom);
        &self.neighbours[usize::from(self.starts[atom])..usize::from(self.starts[atom + 1])]
    }
}

fn features(graph: &Graph, at: usize) -> u64 {
    let atom = graph.atom(index(at));
    let degree = u32::try_from(graph.degree(index(at))).unwrap_or(6).min(6);
    let hydrogens = u32::from(graph.implicit_hydrogen_count(index(at))).min(4);
    element_bit(atom.element.atomic_number())
        | 1 << (AROMATIC + u32::from(atom.aromatic))
        | 1 << (DEGREE + degree)
        | 1 << (HYDROGENS + hydrogens)
        | charge_bit(atom.charge)
}

fn element_bit(number: u8) -> u64 {
    1 << ELEMENTS.iter().position(|&element| element == number).unwrap_or(ELEMENTS.len())
}

/// The bit of a charge; what is beyond two either way shares the bit of two.
fn charge_bit(charge: i8) -> u64 {
    1 << (CHARGE + 2).saturating_add_signed(i32::from(charge.clamp(-2, 2)))
}

/// A pattern lowered to masks, in the order in which its atoms are matched.
#[derive(Debug)]
pub(crate) struct Screen {
    steps: Vec<Step>,
    /// The pattern's atom of each step.
    atoms: Vec<usize>,
    exact: bool,
}

/// The search for matches was given up: there are too many ways to try.
#[derive(Debug)]
pub(crate) struct TooManySteps;

#[derive(Debug)]
struct Step {
    mask: u64,
    /// The earlier step this atom is bonded to and the bonds allowed; none where a component starts.
    parent: Option<(u8, u8)>,
    /// Further earlier steps it is bonded to.
    closures: Vec<(u8, u8)>,
}

impl Screen {
    /// `None` for patterns too large to keep in the small types used here.
    pub fn new(query: &QueryMolecule) -> Option<Self> {
        let count = query.atoms.len();
        if count > MAX_PATTERN {
            return None;
        }
        let (masks, exact): (Vec<u64>, Vec<bool>) =
            query.atoms.iter().map(|atom| atom_mask(&atom.query)).unzip();
        let exact =
            exact.into_iter().all(|exact| exact) && query.bonds.iter().all(|bond| bond_mask(&bond.query).1);
        let mut atoms = Vec::with_capacity(count);
        let mut place: Vec<Option<u8>> = vec![None; count];
        let mut steps = Vec::with_capacity(count);
        while steps.len() < count {
            let (atom, parent) = next_atom(query, &masks, &place)?;
            let linked = |&(bond, other): &(usize, usize)| {
                place[other].map(|place| (place, bond_mask(&query.bonds[bond].query).0, bond))
            };
            let closures = query.adj[atom]
                .iter()
                .filter_map(linked)
                .filter(|&(_, _, bond)| Some(bond) != parent)
                .map(|(place, mask, _)| (place, mask))
                .collect();
            let parent = query.adj[atom]
                .iter()
                .filter_map(linked)
                .find(|&(_, _, bond)| Some(bond) == parent)
                .map(|(place, mask, _)| (place, mask));
            place[atom] = u8::try_from(steps.len()).ok();
            steps.push(Step { mask: masks[atom], parent, closures });
            atoms.push(atom);
        }
        Some(Self { steps, atoms, exact })
    }

    /// Whether the pattern may occur in `target`: false is certain.
    pub fn may_match(&self, target: &Target) -> bool {
        let mut found = false;
        let searched = self.search(target, &mut |_| {
            found = true;
            true
        });
        found || searched.is_err()
    }

    /// Whether what the screen finds are the pattern's matches, no more.
    pub fn is_exact(&self) -> bool {
        self.exact
    }

    /// Calls `visit` with every match until it says to stop: the atom of the target for each of the pattern's.
    pub fn matches(
        &self,
        target: &Target,
        visit: &mut dyn FnMut(&[usize]) -> bool,
    ) -> Result<(), TooManySteps> {
        let mut images = vec![0; self.atoms.len()];
        self.search(target, &mut |found| {
            for (&atom, &image) in self.atoms.iter().zip(found) {
                images[atom] = usize::from(image);
            }
            visit(&images)
        })
    }

    fn search(&self, target: &Target, found: &mut dyn FnMut(&[u8]) -> bool) -> Result<(), TooManySteps> {
        let mut candidates = [0u128; MAX_PATTERN];
        for (step, candidates) in self.steps.iter().zip(&mut candidates) {
            for (atom, features) in target.features.iter().enumerate() {
                *candidates |= u128::from(features & !step.mask == 0) << atom;
            }
            if *candidates == 0 {
                return Ok(());
            }
        }
        let images = [0; MAX_PATTERN];
        let mut matching = Matching { screen: self, target, candidates, images, used: 0, steps: 0, found };
        matching.extend(0);
        if matching.steps > MAX_STEPS { Err(TooManySteps) } else { Ok(()) }
    }
}

/// Largest pattern screened, in atoms.
const MAX_PATTERN: usize = 64;

/// The most specific atom that is bonded to one already placed, and that bond; else the most specific of all.
fn next_atom(query: &QueryMolecule, masks: &[u64], place: &[Option<u8>]) -> Option<(usize, Option<usize>)> {
    let bonded = (0..masks.len())
        .filter(|&atom| place[atom].is_none())
        .filter_map(|atom| {
            let bond = query.adj[atom].iter().find(|(_, other)| place[*other].is_some())?.0;
            Some((atom, Some(bond)))
        })
        .min_by_key(|&(atom, _)| masks[atom].count_ones());
    bonded.or_else(|| {
        let free = (0..masks.len()).filter(|&atom| place[atom].is_none());
        free.min_by_key(|&atom| masks[atom].count_ones()).map(|atom| (atom, None))
    })
}

struct Matching<'a> {
    screen: &'a Screen,
    target: &'a Target,
    candidates: [u128; MAX_PATTERN],
    images: [u8; MAX_PATTERN],
    used: u128,
    steps: u32,
    /// Called with each match; true ends the search.
    found: &'a mut dyn FnMut(&[u8]) -> bool,
}

impl Matching<'_> {
    /// Places the atoms from number `depth` on; true when the search is over.
    fn extend(&mut self, depth: usize) -> bool {
        let Some(step) = self.screen.steps.get(depth) else { return (self.found)(&self.images[..depth]) };
        self.steps += 1;
        if self.steps > MAX_STEPS {
            return true;
        }
        let free = self.candidates[depth] & !self.used;
        match step.parent {
            None => {
                let mut rest = free;
                while rest != 0 {
                    let atom = rest.trailing_zeros() as u8;
                    rest &= rest - 1;
                    if self.place(depth, step, atom) {
                        return true;
                    }
                }
                false
            }
            Some((parent, bonds)) => {
                let target = self.target;
                let around = target.around(self.images[usize::from(parent)]);
                around.iter().any(|&(atom, order)| {
                    order & bonds != 0 && free >> atom & 1 == 1 && self.place(depth, step, atom)
                })
            }
        }
    }

    fn place(&mut self, depth: usize, step: &Step, atom: u8) -> bool {
        let closed = step.closures.iter().all(|&(other, bonds)| {
            let image = self.images[usize::from(other)];
            self.target.around(atom).iter().any(|&(next, order)| next == image && order & bonds != 0)
        });
        if !closed {
            return false;
        }
        self.images[depth] = atom;
        self.used |= 1 << atom;
        let found = self.extend(depth + 1);
        self.used &= !(1 << atom);
        found
    }
}

/// The mask of a condition on an atom, and whether it says exactly what the condition says.
fn atom_mask(query: &AtomQuery) -> (u64, bool) {
    match query {
        AtomQuery::Primitive(primitive) => primitive_mask(primitive),
        AtomQuery::And(a, b) => {
            let ((a, a_exact), (b, b_exact)) = (atom_mask(a), atom_mask(b));
            (a & b, a_exact && b_exact)
        }
        AtomQuery::Or(a, b) => {
            let ((a, a_exact), (b, b_exact)) = (atom_mask(a), atom_mask(b));
            let differing = GROUPS.iter().filter(|&&group| (a ^ b) & group != 0).count();
            (a | b, a_exact && b_exact && differing <= 1)
        }
        AtomQuery::Not(inner) => {
            let (mask, exact) = atom_mask(inner);
            let mut limited = GROUPS.iter().filter(|&&group| mask & group != group);
            match (exact, limited.next(), limited.next()) {
                (true, Some(group), None) => (ANY_ATOM & !(mask & group), true),
                _ => (ANY_ATOM, false),
            }
        }
    }
}

fn primitive_mask(primitive: &AtomPrimitive) -> (u64, bool) {
    let only = |group: usize, bit: u64| (ANY_ATOM & !GROUPS[group]) | bit;
    match primitive {
        AtomPrimitive::AtomicNum(number) => (only(0, element_bit(*number)), ELEMENTS.contains(number)),
        AtomPrimitive::Symbol(symbol) => match element_of(symbol) {
            Some(number) => (only(0, element_bit(number)), ELEMENTS.contains(&number)),
            None => (ANY_ATOM, false),
        },
        AtomPrimitive::Aromatic(aromatic) => (only(1, 1 << (AROMATIC + u32::from(*aromatic))), true),
        AtomPrimitive::Degree(degree) => (only(2, 1 << (DEGREE + u32::from(*degree).min(6))), *degree < 6),
        AtomPrimitive::HCount(count) => (only(3, 1 << (HYDROGENS + u32::from(*count).min(4))), *count < 4),
        AtomPrimitive::Charge(charge) => (only(4, charge_bit(*charge)), charge.abs() < 2),
        AtomPrimitive::Wildcard => (ANY_ATOM, true),
        _ => (ANY_ATOM, false),
    }
}

fn element_of(symbol: &str) -> Option<u8> {
    let mut name = symbol.to_owned();
    name.get_mut(..1)?.make_ascii_uppercase();
    Element::from_symbol(&name).map(Element::atomic_number)
}

/// The mask of a condition on a bond, and whether it says exactly what the condition says.
fn bond_mask(query: &BondQuery) -> (u8, bool) {
    match query {
        BondQuery::Any => (SINGLE | AROMATIC_BOND, true),
        BondQuery::Primitive(primitive) => match primitive {
            BondPrimitive::Single => (SINGLE, true),
            BondPrimitive::Double => (DOUBLE, true),
            BondPrimitive::Triple => (TRIPLE, true),
            BondPrimitive::Aromatic => (AROMATIC_BOND, true),
            BondPrimitive::Up | BondPrimitive::Down => (SINGLE | AROMATIC_BOND, false),
            BondPrimitive::Any => (ANY_BOND, true),
            _ => (ANY_BOND, false),
        },
        BondQuery::And(a, b) => {
            let ((a, a_exact), (b, b_exact)) = (bond_mask(a), bond_mask(b));
            (a & b, a_exact && b_exact)
        }
        BondQuery::Or(a, b) => {
            let ((a, a_exact), (b, b_exact)) = (bond_mask(a), bond_mask(b));
            (a | b, a_exact && b_exact)
        }
        BondQuery::Not(inner) => match bond_mask(inner) {
            (mask, true) => (ANY_BOND & !mask, true),
            (_, false) => (ANY_BOND, false),
        },
    }
}
