//! Molecular properties with public names.

use std::cell::OnceCell;
use std::fmt;

use chematic::chem as functions;
use chematic::core::Molecule as Graph;

use super::sa_score::sa_score;
use crate::molecules::molecule::Molecule;
use crate::molecules::ring_set::RingSet;

/// A property of a molecule, as RDKit defines it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Property {
    /// Average molecular weight in daltons (`Descriptors.MolWt`).
    Weight,
    /// Logarithm of the octanol-water partition coefficient by Wildman and Crippen (`Crippen.MolLogP`).
    LogP,
    /// Topological polar surface area of nitrogen and oxygen in square ångström (`CalcTPSA`).
    PolarSurface,
    /// Number of hydrogen bond donors (`Lipinski.NumHDonors`).
    Donors,
    /// Number of hydrogen bond acceptors (`Lipinski.NumHAcceptors`).
    Acceptors,
    /// Number of rotatable bonds, by the strict definition (`CalcNumRotatableBonds`).
    RotatableBonds,
    /// Number of rings (`CalcNumRings`).
    Rings,
    /// Fraction of carbons with four neighbours (`CalcFractionCSP3`).
    Fsp3,
    /// Quantitative estimate of drug-likeness (`QED.qed`).
    Qed,
    /// Synthetic accessibility by Ertl and Schuffenhauer, from 1, easy, to 10, hard (`sascorer`).
    SaScore,
    /// Number of atoms other than hydrogen and `*`.
    HeavyAtoms,
    /// Sum of the formal charges.
    FormalCharge,
}

impl Property {
    /// All properties.
    pub const ALL: [Self; 12] = [
        Self::Weight,
        Self::LogP,
        Self::PolarSurface,
        Self::Donors,
        Self::Acceptors,
        Self::RotatableBonds,
        Self::Rings,
        Self::Fsp3,
        Self::Qed,
        Self::SaScore,
        Self::HeavyAtoms,
        Self::FormalCharge,
    ];

    /// Returns the public name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Weight => "mw",
            Self::LogP => "clogp",
            Self::PolarSurface => "tpsa",
            Self::Donors => "hbd",
            Self::Acceptors => "hba",
            Self::RotatableBonds => "rotatable_bonds",
            Self::Rings => "rings",
            Self::Fsp3 => "fsp3",
            Self::Qed => "qed",
            Self::SaScore => "sa_score",
            Self::HeavyAtoms => "heavy_atoms",
            Self::FormalCharge => "formal_charge",
        }
    }

    /// Returns the property of this public name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|property| property.name() == name)
    }

    /// Returns the unit; `None` for numbers without one.
    #[must_use]
    pub const fn unit(self) -> Option<&'static str> {
        match self {
            Self::Weight => Some("Da"),
            Self::PolarSurface => Some("Å²"),
            _ => None,
        }
    }

    /// Computes the property of a molecule. [`Properties`] computes several in less time.
    ///
    /// ```
    /// use chem::{Molecule, Property};
    ///
    /// let aspirin: Molecule = "CC(=O)Oc1ccccc1C(=O)O".parse()?;
    /// assert_eq!(Property::Acceptors.of(&aspirin), 3.0);
    /// assert!((Property::Qed.of(&aspirin) - 0.5501).abs() < 1e-4);
    /// # Ok::<(), chem::SmilesError>(())
    /// ```
    #[must_use]
    pub fn of(self, molecule: &Molecule) -> f64 {
        Properties::new(molecule).value(self)
    }
}

/// The properties of one molecule, which share what they have in common: the graph, and what chematic keeps with it.
pub struct Properties {
    graph: Graph,
    heavy_atoms: usize,
    rings: OnceCell<RingSet>,
}

impl Properties {
    /// Prepares a molecule.
    #[must_use]
    pub fn new(molecule: &Molecule) -> Self {
        // chematic keeps more with a graph than the graph itself takes, so the molecule's own stays as it is.
        let graph =
            if molecule.is_perceived() { molecule.graph().clone() } else { molecule.canonical_graph() };
        Self { graph, heavy_atoms: molecule.heavy_atoms(), rings: OnceCell::new() }
    }

    /// Returns the perceived graph.
    pub(super) fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Computes a property, as a finite number.
    #[must_use]
    pub fn value(&self, property: Property) -> f64 {
        let graph = &self.graph;
        match property {
            Property::Weight => functions::rdkit_molecular_weight(graph),
            Property::LogP => functions::logp_crippen(graph),
            Property::PolarSurface => functions::rdkit_tpsa(graph),
            Property::Donors => functions::hbd_count(graph) as f64,
            Property::Acceptors => functions::rdkit_hba_count(graph) as f64,
            Property::RotatableBonds => functions::rotatable_bond_count(graph) as f64,
            Property::Rings => functions::rdkit_num_rings(graph) as f64,
            Property::Fsp3 => functions::fsp3(graph),
            Property::Qed => functions::qed(graph),
            Property::SaScore => sa_score(graph, self.rings.get_or_init(|| RingSet::of(graph))),
            Property::HeavyAtoms => self.heavy_atoms as f64,
            Property::FormalCharge => f64::from(functions::formal_charge_sum(graph)),
        }
    }
}

impl fmt::Debug for Properties {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Properties({} heavy atoms)", self.heavy_atoms)
    }
}

impl fmt::Display for Property {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::Property;

    #[test]
    fn a_property_is_found_by_its_public_name_alone() {
        for property in Property::ALL {
            assert_eq!(Property::from_name(property.name()), Some(property));
        }
        assert_eq!(Property::from_name("MW"), None);
        assert_eq!(Property::from_name(""), None);
    }
}
