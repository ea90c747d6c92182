//! The edit that a template makes to the atoms it matches, parsed once from its two sides.
//!
//! The rules are those of RDKit's `ChemicalReaction` (`ReactionRunner.cpp`). A mapped atom takes what the written
//! side states for it (element, aromaticity, charge, hydrogens, isotope) and keeps the rest. An unmapped atom is
//! added or, on the matched side, removed. Bonds between matched atoms are those that are written, and those that
//! neither side mentions. A script exists only for templates of which it can carry out every statement exactly;
//! chematic runs all others.

use std::hash::{Hash, Hasher};

use chematic::smarts::{AtomPrimitive, AtomQuery, BondPrimitive, BondQuery, QueryMolecule};

use super::script_stereo::ScriptStereo;
use crate::graph::refinement::mix;
use crate::templates::matching::masks::{AROMATIC_BOND, DOUBLE, SINGLE, TRIPLE};
use crate::templates::matching::query::{self, MAX_PATTERN, MaskPattern};

/// A template ready to be applied in one direction.
#[derive(Debug)]
pub(crate) struct Script {
    /// The side that is matched.
    pub query: MaskPattern,
    /// Atoms of the written side.
    pub atoms: Vec<ProductAtom>,
    /// Bonds of the written side: two of its atoms and one of [`SINGLE`], [`DOUBLE`], [`TRIPLE`], [`AROMATIC_BOND`].
    pub bonds: Vec<(u8, u8, u8)>,
    /// Written atom of each atom on the matched side; `None` if it is removed.
    pub becomes: Vec<Option<u8>>,
    /// Bonds of the matched side, as pairs of its atoms, the smaller first.
    pub matched_bonds: Vec<(u8, u8)>,
    pub stereo: ScriptStereo,
}

/// An atom of the written side, with the properties that it states.
#[derive(Debug)]
pub(crate) struct ProductAtom {
    /// Its atom on the matched side; `None` for an added atom.
    pub from: Option<u8>,
    /// Element, if the atom is added or changes its element.
    pub element: Option<u8>,
    pub aromatic: Option<bool>,
    pub charge: Option<i8>,
    pub hydrogens: Option<u8>,
    pub isotope: Option<u16>,
    /// Set if the atom has the same number of bonds on both sides of the template.
    pub degree_kept: bool,
    /// Digest of all of the above.
    digest: u64,
}

/// Returns the atomic numbers of the heavy atoms that `written` adds to `matched`, ascending; `None` if atoms are
/// removed, change their element, or have no stated element.
pub(crate) fn atoms_added(matched: &QueryMolecule, written: &QueryMolecule) -> Option<Vec<u8>> {
    let there =
        |side: &QueryMolecule, map: u16| side.atoms.iter().find(|atom| atom.atom_map == Some(map)).cloned();
    let element = |query: &AtomQuery| AtomStatement::of(query).and_then(|stated| stated.element);
    for atom in &matched.atoms {
        let becomes = there(written, atom.atom_map?)?;
        let (before, after) = (element(&atom.query), element(&becomes.query));
        if after.is_some() && before != after {
            return None;
        }
    }
    let new =
        written.atoms.iter().filter(|atom| atom.atom_map.is_none_or(|map| there(matched, map).is_none()));
    let mut added: Vec<u8> = new.map(|atom| element(&atom.query)).collect::<Option<_>>()?;
    added.sort_unstable();
    Some(added)
}

impl Script {
    /// Builds the script that turns `matched` into `written`; `None` if it cannot be followed exactly.
    pub fn new(matched: &QueryMolecule, written: &QueryMolecule) -> Option<Self> {
        let query = MaskPattern::new(matched).filter(|query| query.exact)?;
        if written.atoms.len() > MAX_PATTERN {
            return None;
        }
        let mut becomes = vec![None; matched.atoms.len()];
        let mut atoms = Vec::with_capacity(written.atoms.len());
        for (at, atom) in written.atoms.iter().enumerate() {
            let from = match atom.atom_map {
                Some(map) => position_of(matched, map)?,
                None => None,
            };
            let mut stated = AtomStatement::of(&atom.query)?;
            let degree_kept = from.is_some_and(|from| matched.adj[from].len() == written.adj[at].len());
            match from {
                Some(from) => {
                    if becomes[from].replace(u8::try_from(at).ok()?).is_some() {
                        return None;
                    }
                    let before = AtomStatement::of(&matched.atoms[from].query)?;
                    if stated.element == before.element {
                        stated.element = None;
                    } else if before.element.is_none() && stated.element.is_some() {
                        return None;
                    }
                }
                None => {
                    // An added atom must be fully stated; a symbol of its own (`[Si]`) is not an aromatic atom.
                    stated.element?;
                    if stated.by_symbol {
                        stated.aromatic.get_or_insert(false);
                    }
                    stated.aromatic?;
                }
            }
            atoms.push(ProductAtom {
                from: from.and_then(|from| u8::try_from(from).ok()),
                element: stated.element,
                aromatic: stated.aromatic,
                charge: stated.charge,
                hydrogens: stated.hydrogens,
                isotope: stated.isotope,
                degree_kept,
                digest: stated.digest(degree_kept),
            });
        }
        let mut bonds = Vec::with_capacity(written.bonds.len());
        for bond in &written.bonds {
            let order = order(&bond.query, atoms[bond.atom1].aromatic, atoms[bond.atom2].aromatic)?;
            bonds.push((u8::try_from(bond.atom1).ok()?, u8::try_from(bond.atom2).ok()?, order));
        }
        let matched_bonds = matched
            .bonds
            .iter()
            .map(|bond| {
                let (a, b) = (bond.atom1.min(bond.atom2), bond.atom1.max(bond.atom2));
                Some((u8::try_from(a).ok()?, u8::try_from(b).ok()?))
            })
            .collect::<Option<_>>()?;
        let stereo = ScriptStereo::new(matched, written, &becomes, &bonds)?;
        let script = Self { query, atoms, bonds, becomes, matched_bonds, stereo };
        script.adds_only_isolated_rings().then_some(script)
    }

    /// Returns a number that is equal for two matches that make the same edit to the same atoms.
    ///
    /// It is a sum over the statements for each atom and bond, independent of order, so that equivalent atoms of the
    /// template may be swapped. This does not hold where stereo is written, since swapping changes the stereo.
    pub fn signature(&self, images: &[u8]) -> u128 {
        if !self.stereo.is_empty() {
            return images.iter().fold(0, |sum: u128, &image| hash_pair(sum as u64, u64::from(image), 4));
        }
        let name = |atom: u8| match self.atoms[usize::from(atom)].from {
            Some(from) => u64::from(images[usize::from(from)]),
            None => 256 + u64::from(atom),
        };
        let mut sum = 0u128;
        for (from, becomes) in self.becomes.iter().enumerate() {
            let statement = becomes.map_or(u64::MAX, |atom| self.atoms[usize::from(atom)].digest);
            sum = sum.wrapping_add(hash_pair(u64::from(images[from]), statement, 1));
        }
        for &(a, b, order) in &self.bonds {
            let (a, b) = (name(a), name(b));
            sum = sum.wrapping_add(hash_pair(a.min(b) << 16 | a.max(b), u64::from(order), 2));
        }
        for &(a, b) in &self.matched_bonds {
            let (a, b) = (images[usize::from(a)], images[usize::from(b)]);
            sum = sum.wrapping_add(hash_pair(u64::from(a.min(b)) << 16 | u64::from(a.max(b)), 0, 3));
        }
        sum
    }

    /// Returns the bonds of the matched side: two of its atoms, and the orders allowed for the bond.
    pub fn matched_orders(&self) -> Vec<(u8, u8, u8)> {
        let steps = &self.query.steps;
        let bonds = steps.iter().flat_map(|step| {
            let links = step.parent.iter().chain(&step.closures);
            links.map(|&(other, orders)| (step.atom, steps[usize::from(other)].atom, orders))
        });
        bonds.collect()
    }

    /// Returns true if every added aromatic atom belongs to an isolated ring that is aromatic as written.
    ///
    /// This holds for six-membered rings of carbon and nitrogen, and for five-membered ones in which one atom
    /// contributes two electrons, with any substituents on single bonds. Others are left to aromaticity perception.
    fn adds_only_isolated_rings(&self) -> bool {
        let mut seen = vec![false; self.atoms.len()];
        (0..self.atoms.len())
            .all(|start| seen[start] || !self.adds_aromatic(start) || self.is_isolated_ring(start, &mut seen))
    }

    fn adds_aromatic(&self, atom: usize) -> bool {
        self.atoms[atom].from.is_none() && self.atoms[atom].aromatic == Some(true)
    }

    /// Returns true if the added aromatic atoms connected to `start` are one isolated ring; marks them as seen.
    fn is_isolated_ring(&self, start: usize, seen: &mut [bool]) -> bool {
        let mut ring = vec![start];
        seen[start] = true;
        let (mut at, mut donors) = (0, 0);
        while let Some(&atom) = ring.get(at) {
            at += 1;
            let (mut aromatic_bonds, mut single_bonds) = (0, 0);
            for &(a, b, order) in &self.bonds {
                let (a, b) = (usize::from(a), usize::from(b));
                if a != atom && b != atom {
                    continue;
                }
                let other = if a == atom { b } else { a };
                match order {
                    AROMATIC_BOND if !self.adds_aromatic(other) => return false,
                    AROMATIC_BOND => {
                        aromatic_bonds += 1;
                        if !std::mem::replace(&mut seen[other], true) {
                            ring.push(other);
                        }
                    }
                    SINGLE => single_bonds += 1,
                    _ => return false,
                }
            }
            let ProductAtom { element, charge, hydrogens, .. } = self.atoms[atom];
            match (element, single_bonds + i32::from(hydrogens.unwrap_or(0))) {
                (Some(6), _) | (Some(7), 0) => {}
                (Some(7), 1) | (Some(8 | 16), 0) => donors += 1,
                _ => return false,
            }
            if aromatic_bonds != 2 || charge.unwrap_or(0) != 0 {
                return false;
            }
        }
        matches!((ring.len(), donors), (6, 0) | (5, 1))
    }
}

/// Hashes two words and a kind into one number, practically at random.
fn hash_pair(a: u64, b: u64, kind: u64) -> u128 {
    let first = mix(mix(a, kind), b);
    u128::from(first) << 64 | u128::from(mix(mix(b, kind), a))
}

/// Finds the atom of `side` with this map number: `Some(None)` if there is none, `None` if there are several.
fn position_of(side: &QueryMolecule, map: u16) -> Option<Option<usize>> {
    let mut found = side.atoms.iter().enumerate().filter(|(_, atom)| atom.atom_map == Some(map));
    let first = found.next().map(|(at, _)| at);
    found.next().is_none().then_some(first)
}

/// The explicit statements of a template atom.
#[derive(Default)]
struct AtomStatement {
    element: Option<u8>,
    aromatic: Option<bool>,
    charge: Option<i8>,
    hydrogens: Option<u8>,
    isotope: Option<u16>,
    /// Set if the element is given by its symbol.
    by_symbol: bool,
}

impl AtomStatement {
    /// Collects the statements of an atom; `None` if it states alternatives, or the same property twice.
    fn of(query: &AtomQuery) -> Option<Self> {
        let mut statement = Self::default();
        statement.add(query)?;
        Some(statement)
    }

    fn digest(&self, degree_kept: bool) -> u64 {
        let mut hasher = std::hash::DefaultHasher::new();
        (self.element, self.aromatic, self.charge, self.hydrogens, self.isotope).hash(&mut hasher);
        degree_kept.hash(&mut hasher);
        hasher.finish()
    }

    fn add(&mut self, query: &AtomQuery) -> Option<()> {
        match query {
            AtomQuery::And(a, b) => {
                self.add(a)?;
                self.add(b)
            }
            AtomQuery::Primitive(primitive) => match primitive {
                AtomPrimitive::AtomicNum(number) => set(&mut self.element, *number),
                AtomPrimitive::Symbol(symbol) => {
                    self.by_symbol = true;
                    set(&mut self.element, query::element_of(symbol)?)
                }
                AtomPrimitive::Aromatic(aromatic) => set(&mut self.aromatic, *aromatic),
                AtomPrimitive::Charge(charge) => set(&mut self.charge, *charge),
                AtomPrimitive::HCount(count) => set(&mut self.hydrogens, *count),
                AtomPrimitive::Isotope(mass) => set(&mut self.isotope, *mass),
                // Conditions on the matched molecule alone.
                AtomPrimitive::Degree(_) | AtomPrimitive::Wildcard => Some(()),
                // Parsed separately.
                AtomPrimitive::Chirality(_) => Some(()),
                _ => None,
            },
            // A negated condition states nothing about the written atom.
            AtomQuery::Not(_) => Some(()),
            AtomQuery::Or(..) => None,
        }
    }
}

fn set<T: PartialEq>(slot: &mut Option<T>, value: T) -> Option<()> {
    match slot {
        Some(stated) if *stated != value => None,
        _ => {
            *slot = Some(value);
            Some(())
        }
    }
}

/// Returns the single order that a written bond states.
fn order(bond: &BondQuery, from: Option<bool>, to: Option<bool>) -> Option<u8> {
    if matches!(bond, BondQuery::Any) {
        return match (from, to) {
            (Some(false), _) | (_, Some(false)) => Some(SINGLE),
            (Some(true), Some(true)) => Some(AROMATIC_BOND),
            _ => None,
        };
    }
    if let BondQuery::Primitive(BondPrimitive::Up | BondPrimitive::Down) = bond {
        return Some(SINGLE);
    }
    match query::bond_mask(bond) {
        (order @ (SINGLE | DOUBLE | TRIPLE | AROMATIC_BOND), true) => Some(order),
        _ => None,
    }
}

/// Returns true if a condition states a configuration.
pub(crate) fn has_configuration(query: &AtomQuery) -> bool {
    match query {
        AtomQuery::Primitive(primitive) => matches!(primitive, AtomPrimitive::Chirality(_)),
        AtomQuery::And(a, b) | AtomQuery::Or(a, b) => has_configuration(a) || has_configuration(b),
        AtomQuery::Not(inner) => has_configuration(inner),
    }
}
