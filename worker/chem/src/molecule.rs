//! A parsed and sanitised molecule.

use std::str::FromStr;
use std::sync::Arc;

use chematic::core::{Element, Molecule as Graph};
use chematic::smiles::{RdkitSmilesError, SmilesError as ParserError};

use crate::correspondence;
use crate::error::SmilesError;
use crate::fingerprint::Fingerprint;
use crate::index::index;
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
    /// Whether the graph was parsed from the canonical string itself.
    is_canonical: bool,
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
        let graph = chematic::smiles::parse(smiles).map_err(|error| parser_error(error, &syntax))?;
        let canonical = chematic::smiles::rdkit_canonical_smiles(&graph)
            .map_err(|error| sanitiser_error(&graph, error, &syntax))?;
        if syntax.has_hydrogen_atoms {
            // RDKit merges most hydrogen atoms into their neighbours; the canonical string shows which.
            return Self::from_canonical(canonical);
        }
        let is_canonical = canonical == smiles;
        Ok(Self::new(graph, canonical, is_canonical))
    }

    /// The molecule of a string that is already canonical, without canonicalising it again.
    pub(crate) fn from_canonical(canonical: String) -> Result<Self, SmilesError> {
        let graph =
            chematic::smiles::parse(&canonical).map_err(|error| parser_error(error, &Syntax::default()))?;
        Ok(Self::new(graph, canonical, true))
    }

    fn new(graph: Graph, canonical: String, is_canonical: bool) -> Self {
        let heavy_atoms =
            graph.atoms().filter(|(_, atom)| !atom.wildcard && atom.element != Element::H).count();
        Self(Arc::new(Inner { graph, canonical, heavy_atoms, is_canonical }))
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
    ///
    /// Atoms of a part are numbered by its canonical SMILES.
    #[must_use]
    pub fn components(&self) -> Vec<Self> {
        // chematic's own splitting forgets stereo, so the canonical string is split instead.
        let parts: Vec<Self> = self
            .0
            .canonical
            .split('.')
            .filter_map(|part| Self::from_canonical(part.to_owned()).ok())
            .collect();
        if parts.len() == 1 {
            return vec![self.clone()];
        }
        if self.0.is_canonical {
            return parts;
        }
        let whole = chematic::smiles::parse(&self.0.canonical).ok();
        let Some(order) = whole.and_then(|whole| correspondence::find(&self.0.graph, &whole)) else {
            return parts;
        };
        let mut start = 0;
        let mut placed: Vec<(Option<usize>, Self)> = parts
            .into_iter()
            .map(|part| {
                let atoms = start..start + part.atoms();
                start = atoms.end;
                (order.get(atoms).and_then(|atoms| atoms.iter().min().copied()), part)
            })
            .collect();
        placed.sort_by_key(|&(first, _)| first);
        placed.into_iter().map(|(_, part)| part).collect()
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

    /// Whether atom indices are positions in the canonical string.
    pub(crate) fn is_canonical(&self) -> bool {
        self.0.is_canonical
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

/// What chematic's parser found that the check of the form let through.
fn parser_error(error: ParserError, syntax: &Syntax) -> SmilesError {
    match error {
        ParserError::InvalidValence { element, atom, valence, .. } => match syntax.atoms.get(atom) {
            Some(&at) => SmilesError::Valence { element: element.to_owned(), bonds: valence, at },
            None => SmilesError::Refused { reason: format!("{element} with {valence} bonds"), at: None },
        },
        other => SmilesError::Refused { reason: other.to_string(), at: None },
    }
}

fn sanitiser_error(graph: &Graph, error: RdkitSmilesError, syntax: &Syntax) -> SmilesError {
    let reason = match error {
        RdkitSmilesError::Sanitization(reason) => reason,
        RdkitSmilesError::Unsupported(reason) => return SmilesError::Unsupported { reason, at: None },
    };
    let problems = chematic::smiles::rdkit_detect_chemistry_problems(graph).unwrap_or_default();
    let found = problems.first().and_then(|problem| {
        let atom = *problem.atoms.first()?;
        let at = *syntax.atoms.get(atom)?;
        Some(match problem.kind.as_str() {
            "KekulizeException" => SmilesError::Kekule { at },
            "AtomKekulizeException" => SmilesError::AromaticOutsideRing { at },
            _ => match bonds_in(&problem.message) {
                Some(bonds) => SmilesError::Valence { element: element_name(graph, atom), bonds, at },
                None => SmilesError::Refused { reason: problem.message.clone(), at: Some(at) },
            },
        })
    });
    found.unwrap_or(SmilesError::Refused { reason, at: None })
}

/// The 5 of "Explicit valence for atom # 1 C, 5, is greater than permitted".
fn bonds_in(message: &str) -> Option<u32> {
    message.split(", ").nth(1)?.parse().ok()
}

fn element_name(graph: &Graph, atom: usize) -> String {
    graph.atom(index(atom)).element.symbol().to_owned()
}
