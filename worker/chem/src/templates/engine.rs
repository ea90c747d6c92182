//! The general path: chematic runs the template.

use chematic::rxn::transform::{self, PreparedReaction, RdkitProfileOutcome, TracedProduct};

use crate::molecules::molecule::Molecule;

/// A chematic reaction.
///
/// The prepared form refuses some templates (`@` in an atom that only SMARTS can express) that the function taking
/// text accepts. Those templates keep their text; chematic caches the parsed form.
pub(crate) enum TemplateEngine {
    Prepared(Box<PreparedReaction>),
    Text(String),
}

impl TemplateEngine {
    pub fn new(text: String) -> Self {
        match PreparedReaction::new(&text) {
            Ok(prepared) => Self::Prepared(Box::new(prepared)),
            Err(_) => Self::Text(text),
        }
    }

    pub fn run(&self, reactants: &[&Molecule]) -> Vec<Vec<TracedProduct>> {
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
