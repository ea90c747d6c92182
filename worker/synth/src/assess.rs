//! What speaks against a step, beside its template's improbability.
//!
//! A step is assessed when the search turns to what it needs, or when a route with it is validated, whichever comes
//! first: most steps never are. Until then it costs what its template says, which is never more. A proposal that no
//! chemist would sign (the crate `reactivity`) is passed over; a step whose proposals are all of that kind is refused.

use chem::Fingerprint;
use rustc_hash::FxHashMap;

use crate::graph::{Graph, MoleculeId, ReactionId, Verdict};
use crate::model::RetroModel;

/// What is known of a step beside its templates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Assessment {
    /// Probability that it works, 1 where the model has no filter.
    pub feasibility: f32,
}

impl Assessment {
    /// What it adds to the cost of the step.
    pub fn cost(self) -> f64 {
        -f64::from(self.feasibility.max(f32::MIN_POSITIVE)).ln()
    }
}

/// Assesses steps; remembers what it found out about molecules.
pub struct Assessor<'a> {
    model: &'a RetroModel,
    known: FxHashMap<MoleculeId, Fingerprint>,
}

impl<'a> Assessor<'a> {
    pub fn new(model: &'a RetroModel) -> Self {
        Self { model, known: FxHashMap::default() }
    }

    /// Assesses a step that has not been assessed, and says how many of its proposals are refused; its cost and what
    /// depends on it are stale then.
    pub fn assess(&mut self, graph: &mut Graph, id: ReactionId) -> u64 {
        let reaction = graph.reaction(id);
        let product = self.fingerprint(graph, reaction.product);
        let precursors: Vec<Fingerprint> =
            reaction.precursors.iter().map(|&precursor| self.fingerprint(graph, precursor)).collect();
        let feasibility = self.model.feasibility(&product, &precursors);
        graph.reaction_mut(id).assessment = Some(Assessment { feasibility });
        let refused = skip_unsound(graph, id);
        graph.mark_reaction(id);
        refused
    }

    fn fingerprint(&mut self, graph: &Graph, id: MoleculeId) -> Fingerprint {
        *self.known.entry(id).or_insert_with(|| graph.molecule(id).molecule.fingerprint())
    }
}

/// Passes over proposals that no chemist would sign until there is one that a chemist might, and says how many they
/// were.
pub fn skip_unsound(graph: &mut Graph, id: ReactionId) -> u64 {
    let reaction = graph.reaction(id);
    let Some(product) = &graph.molecule(reaction.product).expansion else { return 0 };
    let open = reaction.proposals.iter().skip(reaction.current);
    let refused = open.take_while(|proposal| proposal.found.soundness(product).is_err()).count();
    let reaction = graph.reaction_mut(id);
    reaction.current += refused;
    if reaction.current >= reaction.proposals.len() {
        reaction.verdict = Verdict::Refused;
    }
    refused as u64
}
