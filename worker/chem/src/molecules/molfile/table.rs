//! Atoms and bonds of a connection table, and the SMILES made of them.
//!
//! chematic reads stereo from wedges and flat coordinates. In space, the coordinates alone count and wedges are
//! ignored, as in RDKit (`AssignStereochemistryFrom3D`).

use std::collections::HashSet;

use chematic::core::{
    Atom, AtomIdx, BondIdx, BondOrder, Chirality, Element, Molecule as Graph, MoleculeBuilder,
    STEREO_H_SENTINEL,
    valence::{bond_order_sum, implicit_hcount},
};
use chematic::perception::{
    apply_ctab_local_parity_from_wedges_with_diagnostics, apply_ez_directions_from_2d_ex,
    apply_ez_directions_from_3d,
};

use super::{MolfileStructure, alias::Alias};
use crate::graph::index::index;

/// Height over the plane of a drawing from which a structure is one in space.
const FLAT: f64 = 1e-4;

/// Volume spanned by three unit vectors below which a centre is flat (RDKit, `Chirality.cpp`, `ZERO_VOLUME_TOL`).
const FLAT_VOLUME: f64 = 0.1;

/// An atom.
pub(super) struct TableAtom {
    pub(super) atom: Atom,
    pub(super) place: [f64; 3],
    /// Valence as the table states it; 0 means the element's default, 15 none.
    pub(super) valence: u8,
}

/// A bond between two atoms, by index.
pub(super) struct TableBond {
    pub(super) atoms: (usize, usize),
    pub(super) order: BondOrder,
    /// True for a double bond marked as neither E nor Z.
    pub(super) is_either: bool,
}

/// Atoms and bonds.
#[derive(Default)]
pub(super) struct ConnectionTable {
    pub(super) atoms: Vec<TableAtom>,
    pub(super) bonds: Vec<TableBond>,
    /// Stereocentres of a racemate or of one unknown enantiomer.
    pub(super) relative: Vec<usize>,
}

/// Returns the atom of a symbol, or the reason why it is none.
pub(super) fn atom_of(symbol: &str) -> Result<Atom, String> {
    let (element, isotope) = match symbol {
        "D" => ("H", Some(2)),
        "T" => ("H", Some(3)),
        symbol => (symbol, None),
    };
    let what = match symbol {
        "R" | "R#" => "an R-group",
        "A" | "Q" | "X" | "M" | "AH" | "QH" | "XH" | "MH" | "*" => "any of several atoms",
        "L" => "a list of atoms",
        _ => "no element",
    };
    let is_numbered = symbol.strip_prefix('R').is_some_and(|number| number.parse::<u8>().is_ok());
    let found = Element::from_symbol(element).filter(|_| what == "no element" && !is_numbered);
    let element = found.ok_or_else(|| {
        format!("`{}` is {}", super::shorten(symbol), if is_numbered { "an R-group" } else { what })
    })?;
    Ok(Atom { isotope, ..Atom::new(element) })
}

/// Order of a bond by its type and the direction of its wedge.
pub(super) fn bond_order(kind: usize, is_up: bool, is_down: bool) -> Result<BondOrder, String> {
    match kind {
        1 if is_up => Ok(BondOrder::Up),
        1 if is_down => Ok(BondOrder::Down),
        1 => Ok(BondOrder::Single),
        2 => Ok(BondOrder::Double),
        3 => Ok(BondOrder::Triple),
        4 => Ok(BondOrder::Aromatic),
        9 => Ok(BondOrder::Dative),
        kind => Err(format!("a bond of type {kind} is not read")),
    }
}

/// Fault of a group whose type (`SRU`) says that it is repeated; `None` for the others.
pub(super) fn polymer(kind: &str) -> Option<String> {
    let is_polymer = ["SRU", "MON", "MER", "COP", "CRO", "MOD", "GRA", "ANY"].contains(&kind);
    is_polymer.then(|| format!("a polymer (`{kind}`)"))
}

impl ConnectionTable {
    /// Replaces an atom by the group that its alias names.
    pub(super) fn expand(&mut self, at: usize, alias: &str) -> Result<(), String> {
        let shown = super::shorten(alias);
        let found = Alias::of(alias).ok_or_else(|| format!("the alias `{shown}` is not known"))?;
        let placeholder = &mut self.atoms[at];
        let group = match found {
            Alias::Element(element, hydrogens) => {
                let charge = placeholder.atom.charge;
                placeholder.atom = Atom { charge, hydrogen_count: hydrogens, ..Atom::new(element) };
                return Ok(());
            }
            Alias::Group(group) => group,
        };
        let bonds: Vec<&TableBond> =
            self.bonds.iter().filter(|bond| bond.atoms.0 == at || bond.atoms.1 == at).collect();
        let is_single =
            |bond: &TableBond| matches!(bond.order, BondOrder::Single | BondOrder::Up | BondOrder::Down);
        if !matches!(bonds[..], [bond] if is_single(bond)) {
            return Err(format!("the alias `{shown}` has not one single bond"));
        }
        let place = placeholder.place;
        let begin = self.atoms.len() - 1;
        let number = |atom: AtomIdx| if atom.0 == 0 { at } else { begin + atom.0 as usize };
        for (atom_at, atom) in group.atoms() {
            let atom = TableAtom { atom: atom.clone(), place, valence: 0 };
            if atom_at.0 == 0 { self.atoms[at] = atom } else { self.atoms.push(atom) }
        }
        for (_, bond) in group.bonds() {
            let atoms = (number(bond.atom1), number(bond.atom2));
            self.bonds.push(TableBond { atoms, order: bond.order, is_either: false });
        }
        Ok(())
    }

    /// Writes the structure; `None` if the atoms and bonds make no graph.
    pub(super) fn structure(self) -> Option<MolfileStructure> {
        let is_in_space = self.atoms.iter().any(|atom| atom.place[2].abs() > FLAT);
        let mut builder = MoleculeBuilder::new();
        for atom in &self.atoms {
            builder.add_atom(atom.atom.clone());
        }
        let mut either = HashSet::new();
        for bond in &self.bonds {
            let order = match bond.order {
                BondOrder::Up | BondOrder::Down if is_in_space => BondOrder::Single,
                order => order,
            };
            let added = builder.add_bond(index(bond.atoms.0), index(bond.atoms.1), order).ok()?;
            if bond.is_either {
                either.insert(added);
            }
        }
        let mut graph = builder.build();
        let aromatic: Vec<AtomIdx> = graph
            .bonds()
            .filter(|(_, bond)| bond.order == BondOrder::Aromatic)
            .flat_map(|(_, bond)| [bond.atom1, bond.atom2])
            .collect();
        aromatic.into_iter().for_each(|at| graph.set_atom_aromatic(at, true));
        for (at, atom) in self.atoms.iter().enumerate() {
            add_hydrogens(&mut graph, index(at), atom.valence);
        }
        let places: Vec<[f64; 3]> = self.atoms.iter().map(|atom| atom.place).collect();
        if is_in_space {
            set_parities_in_space(&mut graph, &places);
            set_directions_in_space(&mut graph, &places, &either);
        } else {
            set_stereo_of_drawing(&mut graph, &places, &either);
        }
        let is_centre = |at: &usize| graph.atom(index(*at)).chirality != Chirality::None;
        let has_unknown_configuration = self.relative.iter().any(is_centre);
        self.relative.into_iter().for_each(|at| graph.set_chirality(index(at), Chirality::None));
        let smiles = chematic::smiles::rdkit_canonical_smiles(&graph).ok()?;
        Some(MolfileStructure { smiles, has_unknown_configuration })
    }
}

fn set_stereo_of_drawing(graph: &mut Graph, places: &[[f64; 3]], either: &HashSet<BondIdx>) {
    let places: Vec<(f64, f64)> = places.iter().map(|&[x, y, _]| (x, y)).collect();
    apply_ctab_local_parity_from_wedges_with_diagnostics(graph, &places);
    // The wedges have been read. A wedge next to a double bond must not be taken for an E/Z direction.
    let wedges: Vec<BondIdx> = graph
        .bonds()
        .filter(|(_, bond)| matches!(bond.order, BondOrder::Up | BondOrder::Down))
        .map(|(at, _)| at)
        .collect();
    wedges.into_iter().for_each(|at| graph.set_bond_order(at, BondOrder::Single));
    apply_ez_directions_from_2d_ex(graph, &places, either);
}

/// Sets the directions beside double bonds, but not of one that is marked as neither E nor Z, nor of an imine with its
/// hydrogen, which is not kept.
fn set_directions_in_space(graph: &mut Graph, places: &[[f64; 3]], either: &HashSet<BondIdx>) {
    let places: Vec<(f64, f64, f64)> = places.iter().map(|&[x, y, z]| (x, y, z)).collect();
    let is_element = |at: AtomIdx, symbol: &str| graph.atom(at).element.symbol() == symbol;
    let is_imine_with_hydrogen = |at: AtomIdx| {
        is_element(at, "N") && graph.neighbors(at).any(|(neighbour, _)| is_element(neighbour, "H"))
    };
    let unspecified: Vec<BondIdx> = graph
        .bonds()
        .filter(|(_, bond)| bond.order == BondOrder::Double)
        .filter(|(at, bond)| {
            either.contains(at) || is_imine_with_hydrogen(bond.atom1) || is_imine_with_hydrogen(bond.atom2)
        })
        .map(|(at, _)| at)
        .collect();
    // Only double bonds get directions.
    unspecified.iter().for_each(|&at| graph.set_bond_order(at, BondOrder::Single));
    apply_ez_directions_from_3d(graph, &places);
    unspecified.iter().for_each(|&at| graph.set_bond_order(at, BondOrder::Double));
}

/// Sets the parity of every atom with three or four neighbours that do not lie in its plane. Parsing the SMILES
/// removes it from atoms that are no stereocentres. An amine has none, since it inverts; as in RDKit, this goes for
/// bridgeheads too.
///
/// The neighbours other than the first one go round counterclockwise for `@`, as seen from the first (OpenSMILES,
/// "Tetrahedral Centers"); a hydrogen or a lone pair without coordinates is the last neighbour.
fn set_parities_in_space(graph: &mut Graph, places: &[[f64; 3]]) {
    let atoms: Vec<AtomIdx> = graph.atoms().map(|(at, _)| at).collect();
    for at in atoms {
        let neighbours: Vec<AtomIdx> = graph.neighbors(at).map(|(neighbour, _)| neighbour).collect();
        let centre = places[at.0 as usize];
        let vectors: Vec<[f64; 3]> = neighbours
            .iter()
            .map(|neighbour| {
                unit(std::array::from_fn(|axis| places[neighbour.0 as usize][axis] - centre[axis]))
            })
            .collect();
        let atom = graph.atom(at);
        let has_fourth = implicit_hcount(graph, at) == 1
            || matches!(atom.element.symbol(), "S" | "Se" | "Te" | "P" | "As");
        let volume = match vectors[..] {
            _ if atom.aromatic => continue,
            [_, second, third, fourth] => -volume(second, third, fourth),
            [first, second, third] if has_fourth => volume(first, second, third),
            _ => continue,
        };
        if volume.abs() < FLAT_VOLUME {
            continue;
        }
        let mut order: Vec<u32> = neighbours.iter().map(|neighbour| neighbour.0).collect();
        if order.len() == 3 {
            order.push(STEREO_H_SENTINEL);
        }
        graph
            .set_chirality(at, if volume > 0.0 { Chirality::CounterClockwise } else { Chirality::Clockwise });
        graph.set_stereo_neighbor_order(at, order);
    }
}

/// Vector of length 1; zero for one without a direction.
fn unit(vector: [f64; 3]) -> [f64; 3] {
    let length = vector.iter().map(|part| part * part).sum::<f64>().sqrt();
    if length > 0.0 && length.is_finite() { vector.map(|part| part / length) } else { [0.0; 3] }
}

/// Signed volume of the parallelepiped of three vectors.
fn volume(a: [f64; 3], b: [f64; 3], c: [f64; 3]) -> f64 {
    let cross = |i: usize, j: usize| b[i] * c[j] - b[j] * c[i];
    a[0] * cross(1, 2) + a[1] * cross(2, 0) + a[2] * cross(0, 1)
}

/// Adds the hydrogens that a table leaves out: those of a stated valence, or those of an element that SMILES writes
/// in brackets, where no hydrogens would be implied.
fn add_hydrogens(graph: &mut Graph, at: AtomIdx, stated: u8) {
    let atom = graph.atom(at);
    if atom.aromatic || atom.hydrogen_count.is_some() {
        return;
    }
    let bonds = bond_order_sum(graph, at);
    let valence = match (stated, atom.charge, atom.element.symbol()) {
        (15, ..) => Some(0),
        (1..=14, ..) => Some(stated),
        (_, 0, "Li" | "Na" | "K") => Some(1),
        (_, 0, "Si") => Some(4),
        (_, 0, "Se") => [2, 4, 6].into_iter().find(|&valence| valence >= bonds),
        (_, 0, "Sn") => [2, 4].into_iter().find(|&valence| valence >= bonds),
        (_, 0, "As") => [3, 5].into_iter().find(|&valence| valence >= bonds),
        _ => None,
    };
    if let Some(hydrogens) = valence.and_then(|valence| valence.checked_sub(bonds)) {
        graph.set_hydrogen_count(at, Some(hydrogens));
    }
}
