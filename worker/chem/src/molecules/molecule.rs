//! Parsed and sanitised molecules.

use std::borrow::Cow;
use std::str::FromStr;
use std::sync::{Arc, OnceLock};

use chem_fast::{CanonicalResult, Limits, canonicalise, is_kekulised_with_written_double_bond};
use chematic::core::{BondOrder, Chirality, Element, Molecule as Graph};
use chematic::smiles::{RdkitSmilesError, SmilesError as ParserError};

use super::key::{self, MoleculeKey, TautomerKey, TautomerSkeleton};
use crate::error::SmilesError;
use crate::graph::correspondence;
use crate::graph::index::index;
use crate::smiles::extension::ExtendedSmiles;
use crate::smiles::syntax::{self, Syntax};
use crate::smiles::tokens;

/// A molecule that RDKit would accept: parsed, sanitised, immutable.
///
/// Clones are cheap and share computed values. Atom indices are positions in the parsed string, without the hydrogens
/// that RDKit would merge into their neighbours. For a molecule made by a template, they are the template's.
#[derive(Clone)]
pub struct Molecule(Arc<Inner>);

struct Inner {
    graph: OnceLock<Graph>,
    /// String that the graph is parsed from on demand; empty if the graph is known.
    written: Box<str>,
    form: GraphState,
    heavy_atoms: usize,
    /// Known if the molecule was parsed by the fast path.
    has_radicals: Option<bool>,
    canonical: OnceLock<String>,
    numbers: IdentityKeys,
}

/// Identity keys, each computed on demand: `key` here, the others by the tautomer code.
#[derive(Default)]
pub(crate) struct IdentityKeys {
    key: OnceLock<MoleculeKey>,
    pub(crate) tautomer_key: OnceLock<TautomerKey>,
    pub(crate) skeleton: OnceLock<TautomerSkeleton>,
}

/// State of a molecule's graph.
#[derive(Clone, Copy, PartialEq, Eq)]
enum GraphState {
    /// As in the input: aromatic rings may have alternating double bonds, and stereo marks may be meaningless.
    Written,
    /// As perceived by RDKit, with the atoms in any order.
    Perceived,
    /// Parsed from the canonical string.
    Canonical,
}

impl Molecule {
    /// Bytes of a molecule without its graph and its string.
    pub(super) const BASE_BYTES: usize = size_of::<Inner>() + 2 * size_of::<usize>();

    /// Parses and sanitises `smiles`.
    ///
    /// Accepts nothing that RDKit refuses, never panics and never hangs. A ChemAxon extension (`C[C@H](F)Cl |&1:1|`) may
    /// follow: configurations that it calls relative, racemic or unknown are left out.
    ///
    /// ```
    /// use chem::{Limits, Molecule};
    ///
    /// let paracetamol = Molecule::parse("Oc1ccc(NC(C)=O)cc1", Limits::DEFAULT)?;
    /// assert_eq!(paracetamol.as_canonical(), "CC(=O)Nc1ccc(O)cc1");
    /// assert_eq!(paracetamol.heavy_atoms(), 11);
    ///
    /// let fault = Molecule::parse("CC(C)(C)(C)C", Limits::DEFAULT).unwrap_err();
    /// assert_eq!(fault.to_string(), "C with 5 bonds at byte 1");
    /// # Ok::<(), chem::SmilesError>(())
    /// ```
    ///
    /// # Errors
    /// Fails on an invalid molecule; the error says what is wrong and, if known, at which byte.
    pub fn parse(smiles: &str, limits: Limits) -> Result<Self, SmilesError> {
        match canonicalise(smiles, limits) {
            Some(found) => Ok(Self::from_fast_path(smiles, found)),
            None => Self::parse_general(smiles, limits),
        }
    }

    /// Parses any SMILES by the general path, which supports every molecule and reports faults.
    pub(crate) fn parse_general(smiles: &str, limits: Limits) -> Result<Self, SmilesError> {
        if let Some(extended) = ExtendedSmiles::read(smiles)? {
            let written = Self::parse(extended.smiles, limits)?;
            return match extended.resolved() {
                Cow::Borrowed(_) => Ok(written),
                Cow::Owned(resolved) => Self::parse(&resolved, limits),
            };
        }
        let syntax = syntax::check(smiles, limits)?;
        let graph = chematic::smiles::parse(smiles).map_err(|error| parser_error(error, &syntax))?;
        let canonical = chematic::smiles::rdkit_canonical_smiles(&graph)
            .map_err(|error| sanitiser_error(&graph, error, &syntax))?;
        if let Some(place) = doubtful_aromatic(&graph).filter(|_| !is_readable_by_rdkit(&canonical)) {
            return Err(SmilesError::Kekule { at: syntax.atoms[place] });
        }
        if syntax.has_hydrogen_atoms {
            // RDKit merges most hydrogen atoms into their neighbours; the canonical string shows which ones.
            return Self::from_canonical(canonical);
        }
        let form = if canonical == smiles { GraphState::Canonical } else { GraphState::Written };
        Ok(Self::new(graph, form, canonical.into()))
    }

    /// Parses a string that [`Self::canonical_smiles`] wrote, without checking it again.
    ///
    /// # Errors
    /// Fails if the string is not SMILES. A string that is not canonical is not noticed.
    pub fn trusted(canonical: &str) -> Result<Self, SmilesError> {
        Self::from_canonical(canonical.to_owned())
    }

    /// Parses a string that is already canonical, without canonicalising it again.
    pub(crate) fn from_canonical(canonical: String) -> Result<Self, SmilesError> {
        let graph =
            chematic::smiles::parse(&canonical).map_err(|error| parser_error(error, &Syntax::default()))?;
        Ok(Self::new(graph, GraphState::Canonical, canonical.into()))
    }

    /// Builds the molecule that the fast path found in `smiles`; its graph is parsed on demand.
    fn from_fast_path(smiles: &str, found: CanonicalResult) -> Self {
        let form = if found.canonical == smiles { GraphState::Canonical } else { GraphState::Written };
        Self(Arc::new(Inner {
            graph: OnceLock::new(),
            written: smiles.into(),
            form,
            heavy_atoms: found.heavy_atoms,
            has_radicals: Some(found.has_radicals),
            canonical: found.canonical.into(),
            numbers: IdentityKeys::default(),
        }))
    }

    /// Builds a molecule from a graph that is as RDKit would perceive it, and its key.
    pub(crate) fn from_perceived(graph: &Graph, key: MoleculeKey) -> Self {
        // Searches keep hundreds of thousands of these, and a clone drops the spare capacity left from building the
        // graph.
        let molecule = Self::new(graph.clone(), GraphState::Perceived, OnceLock::new());
        // Cannot fail: the molecule is new, so the key is not set yet.
        let _ = molecule.0.numbers.key.set(key);
        molecule
    }

    fn new(graph: Graph, form: GraphState, canonical: OnceLock<String>) -> Self {
        let heavy_atoms =
            graph.atoms().filter(|(_, atom)| !atom.wildcard && atom.element != Element::H).count();
        let (graph, written) = (graph.into(), Box::default());
        let (has_radicals, numbers) = (None, IdentityKeys::default());
        Self(Arc::new(Inner { graph, written, form, heavy_atoms, has_radicals, canonical, numbers }))
    }

    /// Returns the identity key of this molecule: equal exactly if the canonical SMILES are equal.
    ///
    /// Costs a tenth of the canonical SMILES, unless the molecule has stereo that only the canonical SMILES can
    /// settle.
    #[must_use]
    pub fn key(&self) -> MoleculeKey {
        *self.0.numbers.key.get_or_init(|| {
            let by_text = || MoleculeKey::of_text(self.as_canonical());
            match self.0.form {
                GraphState::Canonical | GraphState::Perceived => {
                    key::of_graph(self.graph()).unwrap_or_else(by_text)
                }
                GraphState::Written => {
                    Self::trusted(self.as_canonical()).map_or_else(|_| by_text(), |molecule| molecule.key())
                }
            }
        })
    }

    /// Returns, for each atom of `other`, the corresponding atom of this molecule.
    ///
    /// `None` if the molecules differ.
    #[must_use]
    pub fn correspondence(&self, other: &Self) -> Option<Vec<u32>> {
        if Arc::ptr_eq(&self.0, &other.0) {
            return Some((0u32..).take(self.atoms()).collect());
        }
        let atoms = correspondence::find(self.graph(), other.graph())?;
        Some(atoms.into_iter().map(|atom| index(atom).0).collect())
    }

    /// Returns the canonical SMILES, identical to RDKit's.
    #[must_use]
    pub fn canonical_smiles(&self) -> String {
        self.as_canonical().to_owned()
    }

    /// Returns the canonical SMILES without copying.
    #[must_use]
    pub fn as_canonical(&self) -> &str {
        // A graph as perceived by RDKit can always be written; if not, an empty string is better than a wrong one.
        // chematic caches more for a graph that it has written than the graph itself takes, so it writes a copy.
        self.0.canonical.get_or_init(|| {
            chematic::smiles::rdkit_canonical_smiles(&self.graph().clone()).unwrap_or_default()
        })
    }

    /// Returns true if the molecule is its own mirror image, judged by its stated centres.
    #[must_use]
    pub fn is_achiral(&self) -> bool {
        if !self.as_canonical().contains('@') {
            return true;
        }
        let mirrored: String = mirror(self.as_canonical());
        Self::parse(&mirrored, Limits::DEFAULT)
            .is_ok_and(|mirrored| mirrored.as_canonical() == self.as_canonical())
    }

    /// Returns the molecule without the configuration of these atoms; `None` if it cannot be written.
    #[must_use]
    pub fn without_centres(&self, atoms: &[u32]) -> Option<Self> {
        let mut graph = self.graph().clone();
        for &atom in atoms {
            graph.set_chirality(index(atom as usize), Chirality::None);
            graph.clear_stereo_neighbor_order(index(atom as usize));
        }
        Self::from_canonical(chematic::smiles::rdkit_canonical_smiles(&graph).ok()?).ok()
    }

    /// Returns the average molecular weight in daltons, hydrogens included.
    #[must_use]
    pub fn molecular_weight(&self) -> f64 {
        chematic::chem::rdkit_molecular_weight(self.graph())
    }

    /// Returns the number of atoms other than hydrogen and `*`.
    #[must_use]
    pub fn heavy_atoms(&self) -> usize {
        self.0.heavy_atoms
    }

    /// Returns true if an atom has an unpaired electron; `None` unless the fast path determined it.
    pub(crate) fn known_radicals(&self) -> Option<bool> {
        self.0.has_radicals
    }

    /// Returns the number of atoms of the graph: heavy atoms and the hydrogens that RDKit keeps as atoms.
    #[must_use]
    pub fn atoms(&self) -> usize {
        self.graph().atom_count()
    }

    /// Returns the connected components, each as a molecule, in the order of their first atoms.
    ///
    /// Atoms of a component are numbered by its canonical SMILES.
    #[must_use]
    pub fn components(&self) -> Vec<Self> {
        // chematic's own splitting loses stereo, so the canonical string is split instead.
        let parts: Vec<Self> = self
            .as_canonical()
            .split('.')
            .filter_map(|part| Self::from_canonical(part.to_owned()).ok())
            .collect();
        if parts.len() == 1 {
            return vec![self.clone()];
        }
        if self.is_canonical() {
            return parts;
        }
        let whole = chematic::smiles::parse(self.as_canonical()).ok();
        let Some(order) = whole.and_then(|whole| correspondence::find(self.graph(), &whole)) else {
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

    /// Returns true if any atom has a charge.
    pub(crate) fn is_charged(&self) -> bool {
        match self.0.canonical.get() {
            Some(canonical) => tokens::states_charge(canonical),
            None => self.graph().atoms().any(|(_, atom)| atom.charge != 0),
        }
    }

    /// Returns true if any atom is of a stated isotope.
    #[must_use]
    pub fn has_isotopes(&self) -> bool {
        match self.0.canonical.get() {
            Some(canonical) => tokens::states_isotope(canonical),
            None => self.graph().atoms().any(|(_, atom)| atom.isotope.is_some()),
        }
    }

    /// Returns true if the graph is as RDKit perceives it.
    pub(crate) fn is_perceived(&self) -> bool {
        self.0.form != GraphState::Written
    }

    /// Returns the molecule with its graph as RDKit perceives it.
    ///
    /// # Errors
    /// Fails if the canonical string cannot be read, which does not happen.
    pub(crate) fn perceived(&self) -> Result<Self, SmilesError> {
        if self.is_perceived() { Ok(self.clone()) } else { Self::trusted(self.as_canonical()) }
    }

    /// Returns true if atom indices are positions in the canonical string.
    pub(crate) fn is_canonical(&self) -> bool {
        self.0.form == GraphState::Canonical
    }

    /// Returns the graph of the canonical SMILES, with the atoms in its order.
    pub(crate) fn canonical_graph(&self) -> Graph {
        chematic::smiles::parse(self.as_canonical()).expect("molecule: its canonical SMILES parses")
    }

    /// Returns the identity keys computed so far.
    pub(crate) fn numbers(&self) -> &IdentityKeys {
        &self.0.numbers
    }

    /// Returns chematic's graph.
    pub(crate) fn graph(&self) -> &Graph {
        // The fast path accepts a subset of what chematic's parser accepts.
        self.0.graph.get_or_init(|| {
            chematic::smiles::parse(&self.0.written)
                .expect("molecule: the long way reads what the short way read")
        })
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
        write!(formatter, "Molecule({})", self.as_canonical())
    }
}

/// Returns the SMILES with every tetrahedral mark inverted.
fn mirror(smiles: &str) -> String {
    let mut mirrored = String::with_capacity(smiles.len() + 8);
    let mut characters = smiles.chars().peekable();
    while let Some(character) = characters.next() {
        mirrored.push(character);
        if character == '@' && characters.next_if_eq(&'@').is_none() {
            mirrored.push('@');
        }
    }
    mirrored
}

/// Converts an error of chematic's parser that the syntax check did not catch.
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

/// Finds an aromatic atom, neither carbon nor nitrogen, that is written with a double or triple bond. RDKit counts
/// its bonds only if other bonds of it are aromatic too. It then cannot always read its own output (`Cb1=CC=CC=C1`).
fn doubtful_aromatic(graph: &Graph) -> Option<usize> {
    let is_multiple = |bond| matches!(graph.bond(bond).order, BondOrder::Double | BondOrder::Triple);
    graph.atoms().position(|(at, atom)| {
        atom.aromatic
            && !is_kekulised_with_written_double_bond(atom.element.atomic_number())
            && graph.neighbor_slice(at).iter().any(|&(_, bond)| is_multiple(bond))
    })
}

/// Returns true if RDKit can parse the SMILES that it wrote for such a molecule.
fn is_readable_by_rdkit(canonical: &str) -> bool {
    chematic::smiles::parse(canonical)
        .is_ok_and(|graph| chematic::smiles::rdkit_canonical_smiles(&graph).is_ok())
}

/// Parses the bond count, such as the 5 of "Explicit valence for atom # 1 C, 5, is greater than permitted".
fn bonds_in(message: &str) -> Option<u32> {
    message.split(", ").nth(1)?.parse().ok()
}

fn element_name(graph: &Graph, atom: usize) -> String {
    graph.atom(index(atom)).element.symbol().to_owned()
}
