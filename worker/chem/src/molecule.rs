//! A parsed and sanitised molecule.

use std::str::FromStr;
use std::sync::Arc;

use chematic::core::{Element, Molecule as Graph};
use chematic::smiles::RdkitSmilesError;

use crate::error::SmilesError;
use crate::fingerprint::Fingerprint;
use crate::syntax::{self, Syntax};

/// How large a string and molecule may be; checked before any parser runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Longest string, in bytes.
    pub max_bytes: usize,
    /// Most heavy atoms, over all components.
    pub max_heavy_atoms: usize,
}

impl Limits {
    /// What a search target may be.
    pub const TARGET: Self = Self { max_bytes: 1000, max_heavy_atoms: 200 };
    /// What any molecule may be, catalogue entries included.
    pub const DEFAULT: Self = Self { max_bytes: 2000, max_heavy_atoms: 300 };
}

/// A molecule that RDKit would accept: parsed, sanitised, immutable.
///
/// Clones are cheap and share what has been computed. Atom indices are positions in the string it was parsed
/// from, hydrogens that RDKit would merge into their neighbours left out.
#[derive(Clone)]
pub struct Molecule(Arc<Inner>);

struct Inner {
    graph: Graph,
    canonical: String,
    heavy_atoms: usize,
}

impl Molecule {
    /// Parses and sanitises `smiles`.
    ///
    /// Accepts nothing that RDKit refuses, never panics and never hangs.
    ///
    /// # Errors
    /// Says what is wrong and, where it can, at which byte.
    pub fn parse(smiles: &str, limits: Limits) -> Result<Self, SmilesError> {
        let syntax = syntax::check(smiles, limits)?;
        let graph = chematic::smiles::parse(smiles).map_err(|error| parser_error(&error, &syntax))?;
        let canonical = chematic::smiles::rdkit_canonical_smiles(&graph)
            .map_err(|error| sanitiser_error(&graph, error, &syntax))?;
        if syntax.has_hydrogen_atoms {
            // RDKit merges most hydrogen atoms into their neighbours; the canonical string shows which.
            return Self::from_canonical(canonical);
        }
        Ok(Self::new(graph, canonical))
    }

    /// The molecule of a string that is already canonical, without canonicalising it again.
    pub(crate) fn from_canonical(canonical: String) -> Result<Self, SmilesError> {
        let graph =
            chematic::smiles::parse(&canonical).map_err(|error| parser_error(&error, &Syntax::default()))?;
        Ok(Self::new(graph, canonical))
    }

    fn new(graph: Graph, canonical: String) -> Self {
        let heavy_atoms =
            graph.atoms().filter(|(_, atom)| !atom.wildcard && atom.element != Element::H).count();
        Self(Arc::new(Inner { graph, canonical, heavy_atoms }))
    }

    /// The canonical SMILES, identical to RDKit's.
    #[must_use]
    pub fn canonical_smiles(&self) -> String {
        self.0.canonical.clone()
    }

    /// The canonical SMILES without a copy.
    #[must_use]
    pub fn as_canonical(&self) -> &str {
        &self.0.canonical
    }

    /// The average molecular weight in daltons, hydrogens included.
    #[must_use]
    pub fn molecular_weight(&self) -> f64 {
        chematic::chem::rdkit_molecular_weight(&self.0.graph)
    }

    /// The number of atoms that are not hydrogen (nor `*`).
    #[must_use]
    pub fn heavy_atoms(&self) -> usize {
        self.0.heavy_atoms
    }

    /// The number of atoms of the graph: heavy atoms and the hydrogens that RDKit keeps as atoms.
    #[must_use]
    pub fn atoms(&self) -> usize {
        self.0.graph.atom_count()
    }

    /// The connected parts, each a molecule of its own, in the order of their first atoms.
    #[must_use]
    pub fn components(&self) -> Vec<Self> {
        let fragments = self.0.graph.fragments();
        if fragments.len() <= 1 {
            return vec![self.clone()];
        }
        fragments
            .into_iter()
            .filter_map(|graph| {
                let canonical = chematic::smiles::rdkit_canonical_smiles(&graph).ok()?;
                Some(Self::new(graph, canonical))
            })
            .collect()
    }

    /// The Morgan fingerprint: radius 2, 2,048 bits, no chirality, the bits RDKit sets.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        // A sanitised molecule always has one; should chematic decline, no bits is the honest answer.
        match chematic::fp::rdkit_morgan_ecfp4_bitvec(&self.0.graph) {
            Ok(bits) => Fingerprint::from_on_bits((0..Fingerprint::BITS).filter(|&bit| bits.get(bit.into()))),
            Err(_) => Fingerprint::from_on_bits([]),
        }
    }

    /// The graph as chematic has it.
    pub(crate) fn graph(&self) -> &Graph {
        &self.0.graph
    }
}

impl FromStr for Molecule {
    type Err = SmilesError;

    fn from_str(smiles: &str) -> Result<Self, SmilesError> {
        Self::parse(smiles, Limits::DEFAULT)
    }
}

impl std::fmt::Debug for Molecule {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Molecule({})", self.0.canonical)
    }
}

fn parser_error(error: &chematic::smiles::SmilesError, _syntax: &Syntax) -> SmilesError {
    SmilesError::Refused { reason: error.to_string(), at: None }
}

fn sanitiser_error(_graph: &Graph, error: RdkitSmilesError, _syntax: &Syntax) -> SmilesError {
    match error {
        RdkitSmilesError::Sanitization(reason) => SmilesError::Refused { reason, at: None },
        RdkitSmilesError::Unsupported(reason) => SmilesError::Unsupported { reason, at: None },
    }
}
