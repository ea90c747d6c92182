//! Properties for comparing sets of molecules: nine descriptors, and scaffolds.
//!
//! The descriptors are those of GuacaMol's distribution benchmark (Brown et al., J. Chem. Inf. Model. 2019), as RDKit
//! computes them; the scaffold is that of Bemis and Murcko (J. Med. Chem. 1996).

use chematic::{
    chem as functions,
    core::{BondIdx, BondOrder, Chirality},
    smiles,
};

use super::property::{Properties, Property};
use crate::molecules::molecule::Molecule;

/// Nine descriptors of a molecule.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(missing_docs, reason = "each is what its name says, as RDKit computes it")]
pub struct Descriptors {
    /// Bertz complexity index.
    pub complexity: f64,
    /// Crippen logP.
    pub log_p: f64,
    pub molecular_weight: f64,
    /// Polar surface area in square ångström.
    pub polar_surface: f64,
    pub hydrogen_bond_acceptors: u32,
    pub hydrogen_bond_donors: u32,
    pub rotatable_bonds: u32,
    pub aliphatic_rings: u32,
    pub aromatic_rings: u32,
}

impl Descriptors {
    /// Computes the descriptors, which takes some tens of microseconds.
    #[must_use]
    pub fn of(molecule: &Molecule) -> Self {
        let properties = Properties::new(molecule);
        // Counts are whole numbers.
        let count = |property| properties.value(property) as u32;
        Self {
            complexity: functions::bertz_ct(properties.graph()),
            log_p: properties.value(Property::LogP),
            molecular_weight: properties.value(Property::Weight),
            polar_surface: properties.value(Property::PolarSurface),
            hydrogen_bond_acceptors: count(Property::Acceptors),
            hydrogen_bond_donors: count(Property::Donors),
            rotatable_bonds: count(Property::RotatableBonds),
            aliphatic_rings: functions::num_aliphatic_rings(properties.graph()) as u32,
            aromatic_rings: functions::rdkit_aromatic_ring_count(properties.graph()) as u32,
        }
    }
}

/// Returns the rings of a molecule and their linkers, as canonical SMILES without stereo; `None` if there is no ring.
#[must_use]
pub fn scaffold(molecule: &Molecule) -> Option<String> {
    let mut graph = molecule.canonical_graph();
    let centres: Vec<_> = graph.atoms().map(|(atom, _)| atom).collect();
    for atom in centres {
        graph.set_chirality(atom, Chirality::None);
        graph.clear_stereo_neighbor_order(atom);
    }
    let marked: Vec<BondIdx> = graph
        .bonds()
        .filter(|(_, bond)| matches!(bond.order, BondOrder::Up | BondOrder::Down))
        .map(|(bond, _)| bond)
        .collect();
    for bond in marked {
        graph.set_bond_order(bond, BondOrder::Single);
    }
    let rings = functions::murcko_scaffold(&graph);
    if rings.atom_count() == 0 {
        return None;
    }
    smiles::rdkit_canonical_smiles(&rings).ok()
}

#[cfg(test)]
mod tests {
    use super::{Descriptors, scaffold};
    use crate::Molecule;

    fn molecule(smiles: &str) -> Molecule {
        smiles.parse().unwrap()
    }

    // Expected values are from RDKit 2026.09.1.
    #[test]
    fn descriptors_are_those_of_rdkit() {
        let ibuprofen = Descriptors::of(&molecule("CC(C)Cc1ccc(cc1)[C@@H](C)C(=O)O"));

        assert!((ibuprofen.complexity - 324.8941).abs() < 1e-3, "{ibuprofen:?}");
        assert!((ibuprofen.log_p - 3.0732).abs() < 1e-4);
        assert!((ibuprofen.molecular_weight - 206.285).abs() < 1e-3);
        assert!((ibuprofen.polar_surface - 37.30).abs() < 1e-3);
        let counts = (
            ibuprofen.hydrogen_bond_acceptors,
            ibuprofen.hydrogen_bond_donors,
            ibuprofen.rotatable_bonds,
            ibuprofen.aliphatic_rings,
            ibuprofen.aromatic_rings,
        );
        assert_eq!(counts, (1, 1, 4, 0, 1));
    }

    #[test]
    fn a_scaffold_is_rings_and_links_without_stereo() {
        for (smiles, wanted) in [
            ("CC(C)Cc1ccc(cc1)[C@@H](C)C(=O)O", Some("c1ccccc1")),
            ("O=C(/C=C1\\NC(C)(C)Cc2ccccc21)Nc1ccccc1C", Some("O=C(C=C1NCCc2ccccc21)Nc1ccccc1")),
            ("C[C@H]1CC[C@@H](Cc2ccncc2)CC1", Some("c1cc(CC2CCCCC2)ccn1")),
            ("CCCO", None),
        ] {
            assert_eq!(scaffold(&molecule(smiles)).as_deref(), wanted, "{smiles}");
        }
    }
}
