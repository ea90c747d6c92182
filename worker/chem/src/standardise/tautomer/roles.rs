//! The role of every atom in tautomerism.

use chematic::core::{AtomIdx, BondIdx, BondOrder, Chirality, Molecule as Graph};

use crate::graph::index::index;

/// The role of an atom in the pairing of sp2 atoms by double bonds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Not in a system: its bonds are the same in every tautomer.
    Fixed,
    /// Has a double bond in every tautomer.
    Covered,
    /// Has a double bond or an additional hydrogen.
    Site,
}

/// The systems of a molecule: connected atoms that are not fixed.
#[derive(Debug)]
pub(super) struct Roles {
    pub of: Vec<Role>,
    /// Set for each site that has its hydrogen in this tautomer.
    exposed: Vec<bool>,
    /// System of each atom.
    system: Vec<u16>,
    /// Number of sites of each system, and number of those with their hydrogen.
    systems: Vec<(u16, u16)>,
}

const NONE: u16 = u16::MAX;

impl Roles {
    /// Assigns the roles; `None` for a graph with atoms whose pairing is unknown (aromatic metals, carbanions).
    pub fn new(graph: &Graph) -> Option<Self> {
        let count = graph.atom_count();
        let mut roles = Self {
            of: Vec::with_capacity(count),
            exposed: Vec::with_capacity(count),
            system: vec![NONE; count],
            systems: Vec::new(),
        };
        for at in 0..count {
            let (role, exposed) = alone(graph, index(at))?;
            roles.of.push(role);
            roles.exposed.push(exposed);
        }
        roles.unpair_from_fixed(graph);
        roles.add_carbon_sites(graph);
        roles.find_systems(graph);
        Some(roles)
    }

    /// Returns true if any hydrogen may move.
    pub fn has_mobile(&self) -> bool {
        self.systems.iter().any(|&(sites, exposed)| exposed > 0 && exposed < sites)
    }

    /// Returns true if hydrogens move in an atom's system.
    pub fn is_mobile(&self, at: usize) -> bool {
        self.systems
            .get(usize::from(self.system[at]))
            .is_some_and(|&(sites, exposed)| exposed > 0 && exposed < sites)
    }

    /// Returns the number of mobile hydrogens of an atom's system.
    pub fn mobile_of(&self, at: usize) -> u16 {
        if self.is_mobile(at) { self.systems[usize::from(self.system[at])].1 } else { 0 }
    }

    /// Returns the number of hydrogens that an atom has in every tautomer.
    pub fn hydrogens(&self, graph: &Graph, at: usize) -> u8 {
        let all = graph.implicit_hydrogen_count(index(at));
        if self.is_mobile(at) && self.is_exposed(at) { all - 1 } else { all }
    }

    /// Returns true if an atom is a site with its hydrogen.
    pub fn is_exposed(&self, at: usize) -> bool {
        self.of[at] == Role::Site && self.exposed[at]
    }

    /// Returns true if one of these atoms is a site.
    pub fn has_site(&self, atoms: [usize; 2]) -> bool {
        atoms.iter().any(|&at| self.of[at] == Role::Site)
    }

    /// Returns true if the bond belongs to a system: single or double, depending on the tautomer.
    pub fn is_shared(&self, graph: &Graph, bond: BondIdx) -> bool {
        let bond = graph.bond(bond);
        let is_fixed = |atom: AtomIdx| self.of[atom.0 as usize] == Role::Fixed;
        !is_fixed(bond.atom1)
            && !is_fixed(bond.atom2)
            && matches!(
                bond.order,
                BondOrder::Single | BondOrder::Double | BondOrder::Aromatic | BondOrder::Up | BondOrder::Down
            )
    }

    /// Fixes the atoms that are double-bonded to a fixed atom, since they keep that bond.
    fn unpair_from_fixed(&mut self, graph: &Graph) {
        for (_, bond) in graph.bonds().filter(|(_, bond)| bond.order == BondOrder::Double) {
            let ends = [bond.atom1, bond.atom2].map(|atom| atom.0 as usize);
            if ends.iter().any(|&end| self.of[end] == Role::Fixed) {
                for end in ends {
                    self.of[end] = Role::Fixed;
                }
            }
        }
    }

    /// Turns the carbons between two carbonyl groups, or in the enols of such, into sites.
    fn add_carbon_sites(&mut self, graph: &Graph) {
        let is_carbonyl = |at: AtomIdx| {
            graph.atom(at).element.atomic_number() == 6
                && self.of[at.0 as usize] == Role::Covered
                && graph.neighbor_slice(at).iter().any(|&(next, _)| {
                    matches!(graph.atom(next).element.atomic_number(), 8 | 16)
                        && self.of[next.0 as usize] == Role::Site
                        && graph.degree(next) == 1
                })
        };
        let carbonyls: Vec<bool> = (0..graph.atom_count()).map(|at| is_carbonyl(index(at))).collect();
        if carbonyls.iter().filter(|&&carbonyl| carbonyl).count() < 2 {
            return;
        }
        for at in 0..graph.atom_count() {
            let atom = graph.atom(index(at));
            let around = graph.neighbor_slice(index(at));
            if atom.element.atomic_number() != 6
                || atom.charge != 0
                || around.iter().filter(|(next, _)| carbonyls[next.0 as usize]).count() < 2
            {
                continue;
            }
            let is_saturated = !atom.aromatic
                && around.iter().all(|&(_, bond)| graph.bond(bond).order.order_int() == 1)
                && graph.implicit_hydrogen_count(index(at)) > 0
                && atom.chirality == Chirality::None;
            if is_saturated || self.of[at] == Role::Covered {
                self.exposed[at] = is_saturated;
                self.of[at] = Role::Site;
            }
        }
    }

    fn find_systems(&mut self, graph: &Graph) {
        let mut stack = Vec::new();
        for first in 0..graph.atom_count() {
            if self.of[first] == Role::Fixed || self.system[first] != NONE {
                continue;
            }
            let number = self.systems.len() as u16;
            let (mut sites, mut exposed) = (0, 0);
            self.system[first] = number;
            stack.push(first);
            while let Some(at) = stack.pop() {
                sites += u16::from(self.of[at] == Role::Site);
                exposed += u16::from(self.is_exposed(at));
                for &(next, bond) in graph.neighbor_slice(index(at)) {
                    let next = next.0 as usize;
                    if self.system[next] == NONE && self.is_shared(graph, bond) {
                        self.system[next] = number;
                        stack.push(next);
                    }
                }
            }
            self.systems.push((sites, exposed));
        }
    }
}

/// Returns an atom's role by its own bonds alone, and true if it is a site with its hydrogen; `None` if the bonds do
/// not decide.
fn alone(graph: &Graph, at: AtomIdx) -> Option<(Role, bool)> {
    const FIXED: Option<(Role, bool)> = Some((Role::Fixed, false));
    const COVERED: Option<(Role, bool)> = Some((Role::Covered, false));
    const SITE: Option<(Role, bool)> = Some((Role::Site, false));
    let atom = graph.atom(at);
    let number = atom.element.atomic_number();
    if atom.wildcard || number == 1 {
        return FIXED;
    }
    let around = graph.neighbor_slice(at);
    let more: u8 = around.iter().map(|&(_, bond)| graph.bond(bond).order.order_int().saturating_sub(1)).sum();
    let bonds = around.len() + usize::from(graph.implicit_hydrogen_count(at));
    let has_hydrogen = bonds > around.len();
    if atom.aromatic {
        return match (number, atom.charge) {
            (6, 0) => COVERED,
            (7, 0) if has_hydrogen => Some((Role::Site, true)),
            (7, 0) if around.len() == 2 => SITE,
            (7, 0) | (5 | 8 | 16 | 34 | 52, 0) => FIXED,
            (15, 0) if around.len() == 2 => COVERED,
            (7 | 8 | 16, 1) => COVERED,
            _ => None,
        };
    }
    let usual = match number {
        7 => 3,
        8 | 16 | 34 => 2,
        _ => 0,
    };
    match (number, atom.charge, more) {
        (6, 0, 1) => COVERED,
        (7 | 8 | 16 | 34, 0, 0) if has_hydrogen && bonds == usual => Some((Role::Site, true)),
        (7 | 8 | 16 | 34, 0, 1) if bonds + 1 == usual => SITE,
        _ => FIXED,
    }
}
