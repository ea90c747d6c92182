//! Reaction templates, applied backwards (retrosynthesis) and forwards (validation).
//!
//! A template is written product side first, `product>>precursors`, as rdchiral extracts them. Both sides are
//! grouped in parentheses when applied: without that, a ring-opening disconnection is matched and split as if
//! its two halves were separate molecules.

mod apply;
mod demand;
mod draft;
mod duplicates;
mod fast;
mod forward;
mod graph;
mod index;
mod judge;
mod matcher;
mod outcomes;
mod parts;
mod query;
mod script;
mod script_stereo;
mod site;
mod target;
#[cfg(test)]
mod tests;
mod text;
mod valence;

pub(crate) use draft::Draft;
pub use index::TemplateIndex;
pub(crate) use matcher::{Atom, Target, matches};
pub use outcomes::OutcomeIndex;
pub(crate) use query::{AROMATIC_BOND, Query, SINGLE};
pub use site::{Match, Matches, Site};

use std::sync::{Arc, OnceLock};

use chematic::rxn::transform::{self, PreparedReaction, RdkitProfileOutcome, TracedProduct};

use crate::error::TemplateError;
use crate::molecule::Molecule;
use crate::prepared::PreparedMolecule;
use demand::Demand;
use script::Script;

/// A retro template: a pattern of the product and what its precursors look like.
pub struct Template {
    text: text::Sides,
    /// What the product has to look like; none where the pattern is too large to screen.
    screen: Option<Arc<Screen>>,
    /// Whether the product side states stereo.
    states_stereo: bool,
    /// How it is applied on the graph, where it can be.
    script: Option<Script>,
    /// The same for the other direction.
    forward_script: Option<Script>,
    atoms_added: Option<Vec<u8>>,
    backward: OnceLock<Engine>,
    forward: OnceLock<Vec<(usize, Engine)>>,
}

/// One way to make the product: the precursors, in the order of their keys.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The molecules needed, in the order of their keys.
    pub precursors: Vec<Precursor>,
    /// Where the template does that, as far as it is known: matches that make the same edit are looked at once.
    pub sites: Vec<Site>,
}

/// A molecule that a template makes of others.
#[derive(Debug, Clone)]
pub struct Precursor {
    /// The molecule, its atoms in no particular order.
    pub molecule: Molecule,
    /// For each atom of [`Self::molecule`], the atom it was before; `None` for an atom the template adds.
    pub sources: Arc<[Option<u32>]>,
}

impl Template {
    /// Parses a retro template, `product>>precursors`, its sides grouped in parentheses or not.
    ///
    /// # Errors
    /// Fails when there are not two sides of SMARTS.
    pub fn parse(smarts: &str) -> Result<Self, TemplateError> {
        let (text, product, precursors) = text::Sides::parse(smarts)?;
        let states_stereo = text.product.iter().any(|side| side.contains(['@', '/', '\\']));
        let demand = || Demand::new(&product, &precursors).filter(|_| states_stereo);
        Ok(Self {
            screen: Query::new(&product).map(|query| Arc::new(Screen { query, demand: demand() })),
            script: Script::new(&product, &precursors),
            forward_script: Script::new(&precursors, &product),
            atoms_added: script::atoms_added(&product, &precursors),
            states_stereo,
            text,
            backward: OnceLock::new(),
            forward: OnceLock::new(),
        })
    }

    /// Applies the template to a product.
    ///
    /// Outcomes are unique and come in the order of their precursors' keys; there are none where the template
    /// does not match. Outcomes whose molecules do not sanitise are left out. An outcome in which a precursor is
    /// the product itself is kept: whether that is of use is the caller's question.
    ///
    /// Stereo is not lost in silence. An outcome in which a stereocentre or double bond whose configuration the
    /// product states is gone, or no longer stated, is left out, unless the template states stereo on its product
    /// side. RDKit ignores that stereo when it matches, so that whether such a template makes this product or
    /// another isomer is known only once it has been [run forwards](Self::forward); what certainly makes
    /// another is left out.
    #[must_use]
    pub fn apply(&self, product: &PreparedMolecule) -> Vec<Outcome> {
        self.apply_while(product, &mut || true)
    }

    /// [Applies](Self::apply) the template, asking after every match whether to `go_on`; once told not to, it gives
    /// what it has or nothing.
    #[must_use]
    pub fn apply_while(&self, product: &PreparedMolecule, go_on: &mut dyn FnMut() -> bool) -> Vec<Outcome> {
        apply::apply(self, product, go_on)
    }

    /// Whether the template may match: false is certain, and costs tens of nanoseconds.
    #[must_use]
    pub fn may_match(&self, product: &PreparedMolecule) -> bool {
        let (Some(screen), Some(target)) = (&self.screen, product.target()) else { return true };
        matcher::may_match_where(&screen.query, target, &mut |images| screen.accepts(product, target, images))
    }

    /// Atomic numbers of the heavy atoms that the precursors have and the product has not, ascending; `None` where only
    /// applying the template tells, since it takes atoms away or makes others of them.
    #[must_use]
    pub fn atoms_added(&self) -> Option<&[u8]> {
        self.atoms_added.as_deref()
    }

    /// Runs the template forwards on precursors.
    ///
    /// Every assignment of the precursors to the template's precursor side is tried; the result holds the
    /// canonical SMILES of every product molecule, sorted and unique.
    #[must_use]
    pub fn forward(&self, precursors: &[Molecule]) -> Vec<String> {
        let mut products: Vec<String> = self
            .forward_traced(precursors)
            .iter()
            .map(|product| product.molecule.canonical_smiles())
            .collect();
        products.sort_unstable();
        products
    }

    /// [Runs](Self::forward) the template forwards without writing the products down: they come in the order of
    /// their keys, each with the atoms it is made of, the precursors' atoms numbered in a row.
    #[must_use]
    pub fn forward_traced(&self, precursors: &[Molecule]) -> Vec<Precursor> {
        forward::forward(self, precursors)
    }

    fn backward(&self) -> &Engine {
        self.backward.get_or_init(|| Engine::new(self.text.backward()))
    }
}

/// What a product has to look like for a template to be of use; the same for many templates.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Screen {
    query: Query,
    demand: Option<Demand>,
}

impl Screen {
    /// Whether a match of the query is one that the template can use: false is certain.
    fn accepts(&self, product: &PreparedMolecule, target: &Target, images: &[u8]) -> bool {
        self.demand.as_ref().is_none_or(|demand| demand.may_be_met(product, target, images))
    }
}

/// A reaction of chematic's.
///
/// The prepared form refuses some templates (`@` in an atom that only SMARTS can express) that the function
/// taking text accepts, so those keep their text; chematic caches what it makes of it.
enum Engine {
    Prepared(Box<PreparedReaction>),
    Text(String),
}

impl Engine {
    fn new(text: String) -> Self {
        match PreparedReaction::new(&text) {
            Ok(prepared) => Self::Prepared(Box::new(prepared)),
            Err(_) => Self::Text(text),
        }
    }

    fn run(&self, reactants: &[&Molecule]) -> Vec<Vec<TracedProduct>> {
        let graphs: Vec<_> = reactants.iter().map(|molecule| molecule.graph()).collect();
        let limits = transform::ReactionTransformLimits { max_matches: 1000 };
        let outcome = match self {
            Self::Prepared(prepared) => prepared.run_reactants_traced_rdkit_2026_03_6(&graphs, &limits),
            Self::Text(text) => transform::run_reactants_traced_rdkit_2026_03_6(text, &graphs, &limits),
        };
        match outcome {
            Ok(RdkitProfileOutcome::Report(report)) => report.products,
            Ok(RdkitProfileOutcome::Unsupported(_)) | Err(_) => Vec::new(),
        }
    }
}
