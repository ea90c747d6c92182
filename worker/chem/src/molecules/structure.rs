//! A molecule as flat arrays, for code that reads its atoms and bonds.
//!
//! The decision that matters: the arrays hold what RDKit perceives (aromaticity, hydrogens, tetrahedral centres), and
//! nothing of how the molecule was written.

use chem_fast::implicit_hydrogens;
use chematic::core::{BondOrder, Chirality, Molecule as Graph, STEREO_H_SENTINEL};

use super::molecule::Molecule;
use crate::graph::colours::ColouredGraph;
use crate::graph::index::index;
use crate::graph::rings;

/// The atoms and bonds of a molecule.
///
/// Atoms of a molecule made by a template are numbered as [`Precursor::sources`](crate::Precursor) numbers them.
/// Atoms of any other molecule are numbered in the order of its canonical SMILES.
#[derive(Debug, Clone, Default)]
pub struct Structure {
    atoms: Vec<Atom>,
    starts: Vec<u32>,
    bonds: Vec<Bond>,
}

/// An atom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Atom {
    /// Atomic number; 0 for `*`.
    pub element: u8,
    /// Formal charge.
    pub charge: i8,
    /// Hydrogens that are not atoms of the graph.
    pub hydrogens: u8,
    /// Set if the atom is in an aromatic ring system.
    pub aromatic: bool,
    /// Symmetry class: equal for atoms of one molecule that differ in stereo alone.
    pub class: u64,
    /// Stated configuration, if any.
    pub centre: Option<Centre>,
}

/// A stated tetrahedral configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Centre {
    /// Set if, seen from the first neighbour, the others run clockwise.
    pub clockwise: bool,
    /// Neighbours in order; [`Centre::HYDROGEN`] stands for a hydrogen that is not an atom of the graph.
    pub order: Vec<u32>,
}

/// A bond, seen from one of its atoms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bond {
    /// The atom at the other end.
    pub to: u32,
    /// Bond order.
    pub order: Order,
    /// Size of the smallest ring through the bond; 0 outside rings, 255 for 255 and more.
    pub ring: u8,
}

/// The order of a bond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "each is what its name says")]
pub enum Order {
    Single,
    Aromatic,
    Double,
    Triple,
}

impl Centre {
    /// Placeholder for a hydrogen in [`Centre::order`].
    pub const HYDROGEN: u32 = u32::MAX;
}

impl Molecule {
    /// Returns true if an atom has an unpaired electron: fewer bonds than its element and charge make, and no
    /// hydrogens to fill them, as RDKit's `assignRadicals` counts them. Among aromatic atoms only carbons are
    /// counted.
    #[must_use]
    pub fn has_radicals(&self) -> bool {
        // An atom outside brackets gets its missing hydrogens, so only bracket atoms can be radicals.
        let looked_for = || self.as_canonical().contains('[') && Structure::of(self).has_radicals();
        self.known_radicals().unwrap_or_else(looked_for)
    }
}

impl Structure {
    fn has_radicals(&self) -> bool {
        (0..).zip(&self.atoms).any(|(at, atom)| {
            let halves = |bond: &Bond| match bond.order {
                Order::Single => 2,
                Order::Aromatic => 3,
                Order::Double => 4,
                Order::Triple => 6,
            };
            let bonds: i16 = self.bonds(at).iter().map(halves).sum();
            let (bonds, known) = (bonds / 2 + i16::from(atom.hydrogens), !atom.aromatic || atom.element == 6);
            known && implicit_hydrogens(atom.element, atom.charge, bonds) > 0
        })
    }

    /// Builds the structure of `molecule`.
    #[must_use]
    pub fn of(molecule: &Molecule) -> Self {
        if molecule.is_perceived() {
            return Self::of_graph(molecule.graph());
        }
        match Molecule::trusted(molecule.as_canonical()) {
            Ok(canonical) => Self::of_graph(canonical.graph()),
            // Our parser reads everything that our canonicaliser writes.
            Err(_) => Self::default(),
        }
    }

    fn of_graph(graph: &Graph) -> Self {
        let rings = rings::smallest_rings(graph);
        let colours = ColouredGraph::new(graph);
        let mut structure = Self { starts: vec![0], ..Self::default() };
        for at in 0..graph.atom_count() {
            let atom = graph.atom(index(at));
            let centre = match atom.chirality {
                sign @ (Chirality::Clockwise | Chirality::CounterClockwise) => {
                    graph.stereo_neighbor_order(index(at)).map(|order| Centre {
                        clockwise: sign == Chirality::Clockwise,
                        order: order
                            .iter()
                            .map(|&next| if next == STEREO_H_SENTINEL { Centre::HYDROGEN } else { next })
                            .collect(),
                    })
                }
                _ => None,
            };
            structure.atoms.push(Atom {
                element: if atom.wildcard { 0 } else { atom.element.atomic_number() },
                charge: atom.charge,
                hydrogens: graph.implicit_hydrogen_count(index(at)),
                aromatic: atom.aromatic,
                class: colours.class(at),
                centre,
            });
            for &(to, bond) in graph.neighbor_slice(index(at)) {
                let order = match graph.bond(bond).order {
                    BondOrder::Double => Order::Double,
                    BondOrder::Triple | BondOrder::Quadruple => Order::Triple,
                    BondOrder::Aromatic => Order::Aromatic,
                    _ => Order::Single,
                };
                structure.bonds.push(Bond { to: to.0, order, ring: rings[bond.0 as usize] });
            }
            structure.starts.push(structure.bonds.len() as u32);
        }
        structure
    }

    /// Number of atoms.
    #[must_use]
    pub fn len(&self) -> usize {
        self.atoms.len()
    }

    /// Returns true if there are no atoms.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.atoms.is_empty()
    }

    /// Returns the atom with this number.
    ///
    /// # Panics
    /// Panics if there is no such atom.
    #[must_use]
    pub fn atom(&self, atom: u32) -> &Atom {
        &self.atoms[atom as usize]
    }

    /// Returns the bonds of an atom.
    ///
    /// # Panics
    /// Panics if there is no such atom.
    #[must_use]
    pub fn bonds(&self, atom: u32) -> &[Bond] {
        &self.bonds[self.starts[atom as usize] as usize..self.starts[atom as usize + 1] as usize]
    }

    /// Appends the atoms of another molecule. They are not bonded to the existing ones and share no symmetry class
    /// with them.
    pub fn append(&mut self, other: &Self) {
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        let (atoms, bonds) = (self.atoms.len() as u32, self.bonds.len() as u32);
        let shifted = |atom: u32| if atom == Centre::HYDROGEN { atom } else { atom + atoms };
        self.atoms.extend(other.atoms.iter().map(|atom| {
            let centre = atom.centre.as_ref().map(|centre| Centre {
                clockwise: centre.clockwise,
                order: centre.order.iter().copied().map(shifted).collect(),
            });
            Atom { centre, ..atom.clone() }
        }));
        self.bonds.extend(other.bonds.iter().map(|bond| Bond { to: bond.to + atoms, ..*bond }));
        self.starts.extend(other.starts.iter().skip(1).map(|start| start + bonds));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn structure(smiles: &str) -> Structure {
        Structure::of(&smiles.parse().unwrap())
    }

    #[test]
    fn atoms_and_bonds_are_those_that_rdkit_perceives() {
        let pyridone = structure("OC1=NC=CC=C1");

        // RDKit writes it Oc1ccccn1.
        let oxygen = pyridone.atom(0);
        assert_eq!((oxygen.element, oxygen.hydrogens, oxygen.aromatic), (8, 1, false));
        let ring: Vec<_> = pyridone.bonds(1).iter().map(|bond| (bond.order, bond.ring)).collect();
        assert_eq!(ring, [(Order::Single, 0), (Order::Aromatic, 6), (Order::Aromatic, 6)]);
    }

    #[test]
    fn atoms_alike_by_symmetry_are_of_one_class() {
        let piperazine = structure("CN1CCNCC1");

        let class = |atom| piperazine.atom(atom).class;
        assert_eq!(class(2), class(6));
        assert_ne!(class(2), class(3));
    }

    #[test]
    fn an_appended_molecule_keeps_its_bonds_and_centres() {
        let mut flask = structure("CO");
        flask.append(&structure("C[C@H](F)Cl"));

        assert_eq!(flask.len(), 6);
        let to: Vec<u32> = flask.bonds(3).iter().map(|bond| bond.to).collect();
        assert_eq!(to, [2, 4, 5]);
        let centre = flask.atom(3).centre.clone().unwrap();
        assert_eq!(centre.order, [2, Centre::HYDROGEN, 4, 5]);
    }
}
