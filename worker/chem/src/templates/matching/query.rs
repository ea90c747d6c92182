//! A template side lowered to bit masks, in the order in which its atoms are matched.
//!
//! The conditions of a template atom become one 64-bit mask: element, aromaticity, degree, hydrogens, charge and
//! isotope, each a group of bits. An atom of a molecule has one bit set in every group, and fits if the mask contains
//! all of them. If the mask expresses the pattern exactly, a match of masks is a match. If it does not (rings,
//! recursion, rare elements), the mask allows more than the pattern and serves only as a screen: it may say "perhaps"
//! where the pattern says no, but never "no" where the pattern says yes. Stereo is ignored, as RDKit ignores it when
//! it matches templates.

use chematic::core::Element;
use chematic::smarts::{AtomPrimitive, AtomQuery, BondPrimitive, BondQuery, QueryMolecule};

use super::masks::{
    ANY_ATOM, ANY_BOND, AROMATIC, AROMATIC_BOND, DEGREE, DOUBLE, ELEMENTS, END, GROUPS, HYDROGENS, ISOTOPE,
    SINGLE, TRIPLE, charge_bit, element_bit,
};

/// Maximum number of atoms of a pattern.
pub(crate) const MAX_PATTERN: usize = 64;

/// A pattern lowered to masks.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct MaskPattern {
    pub steps: Vec<Step>,
    /// Set if a match of the masks is a match of the pattern.
    pub exact: bool,
}

/// One atom of a pattern, matched after the atoms to which it is attached.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Step {
    /// Index of the pattern atom, in the order of the text.
    pub atom: u8,
    pub mask: u64,
    /// Earlier step to which the atom is bonded, and the allowed bonds; `None` at the start of a component.
    pub parent: Option<(u8, u8)>,
    /// Further earlier steps to which it is bonded, and the allowed bonds.
    pub closures: Vec<(u8, u8)>,
}

impl MaskPattern {
    /// Lowers a pattern; `None` for patterns too large for the small types used here.
    pub fn new(query: &QueryMolecule) -> Option<Self> {
        let count = query.atoms.len();
        if count > MAX_PATTERN {
            return None;
        }
        let masks: Vec<(u64, bool)> = query.atoms.iter().map(|atom| atom_mask(&atom.query)).collect();
        let bonds: Vec<(u8, bool)> = query.bonds.iter().map(|bond| bond_mask(&bond.query)).collect();
        let exact = masks.iter().all(|mask| mask.1) && bonds.iter().all(|mask| mask.1);
        let mut place: Vec<Option<u8>> = vec![None; count];
        let mut steps = Vec::with_capacity(count);
        while steps.len() < count {
            let (atom, parent) = next_atom(query, &masks, &place)?;
            let linked =
                |&(bond, other): &(usize, usize)| place[other].map(|place| (place, bonds[bond].0, bond));
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
            steps.push(Step { atom: u8::try_from(atom).ok()?, mask: masks[atom].0, parent, closures });
        }
        Some(Self { steps, exact })
    }
}

impl MaskPattern {
    /// Returns true if an atom of the pattern may be aromatic.
    pub fn may_be_aromatic(&self, atom: u8) -> bool {
        self.steps.iter().any(|step| step.atom == atom && step.mask >> (AROMATIC + 1) & 1 == 1)
    }
}

/// Returns the most specific atom that is bonded to an already placed one, with that bond; otherwise the most
/// specific of all.
fn next_atom(
    query: &QueryMolecule,
    masks: &[(u64, bool)],
    place: &[Option<u8>],
) -> Option<(usize, Option<usize>)> {
    let bonded = (0..masks.len())
        .filter(|&atom| place[atom].is_none())
        .filter_map(|atom| {
            let bond = query.adj[atom].iter().find(|(_, other)| place[*other].is_some())?.0;
            Some((atom, Some(bond)))
        })
        .min_by_key(|&(atom, _)| permissiveness(masks[atom].0));
    bonded.or_else(|| {
        let free = (0..masks.len()).filter(|&atom| place[atom].is_none());
        free.min_by_key(|&atom| permissiveness(masks[atom].0)).map(|atom| (atom, None))
    })
}

/// Returns how much a mask allows. Heteroatoms count as rarer than any carbon.
fn permissiveness(mask: u64) -> u32 {
    mask.count_ones() + if mask & element_bit(6) == 0 { 0 } else { END }
}

/// Returns the mask of an atom condition, and true if it expresses the condition exactly.
pub(crate) fn atom_mask(query: &AtomQuery) -> (u64, bool) {
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
        AtomPrimitive::Charge(charge) => (only(4, charge_bit(*charge)), charge.abs() < 3),
        AtomPrimitive::Isotope(mass) => (only(5, 1 << (ISOTOPE + u32::from(*mass != 0))), *mass == 0),
        AtomPrimitive::Wildcard | AtomPrimitive::Chirality(_) => (ANY_ATOM, true),
        _ => (ANY_ATOM, false),
    }
}

/// Returns the atomic number of a symbol, in upper or lower case.
pub(crate) fn element_of(symbol: &str) -> Option<u8> {
    let mut name = symbol.to_owned();
    name.get_mut(..1)?.make_ascii_uppercase();
    Element::from_symbol(&name).map(Element::atomic_number)
}

/// Returns the mask of a bond condition, and true if it expresses the condition exactly.
pub(crate) fn bond_mask(query: &BondQuery) -> (u8, bool) {
    match query {
        BondQuery::Any => (SINGLE | AROMATIC_BOND, true),
        BondQuery::Primitive(primitive) => match primitive {
            BondPrimitive::Single => (SINGLE, true),
            BondPrimitive::Double => (DOUBLE, true),
            BondPrimitive::Triple => (TRIPLE, true),
            BondPrimitive::Aromatic => (AROMATIC_BOND, true),
            // RDKit treats them as the default bond, as if no bond were written.
            BondPrimitive::Up | BondPrimitive::Down => (SINGLE | AROMATIC_BOND, true),
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
