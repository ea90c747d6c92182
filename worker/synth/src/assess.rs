//! What speaks against a step, beside its template's improbability.
//!
//! A step is assessed when the search turns to what it needs, or when a route with it is validated, whichever comes
//! first: most steps never are. Until then it costs what its template says, which is never more.

use chem::Fingerprint;
use rustc_hash::FxHashMap;

use crate::compatibility::{Groups, conflicts};
use crate::graph::{Graph, MoleculeId, ReactionId};
use crate::model::RetroModel;

/// The cost of a functional group that asks for protection: as much as a template's being a third as probable.
const CONFLICT_COST: f64 = 1.1;
/// Conflicts beyond this many cost nothing more.
const MAX_CONFLICTS: usize = 3;

/// What is known of a step beside its templates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Assessment {
    /// Probability that it works, 1 where the model has no filter.
    pub feasibility: f32,
    /// Functional groups that it would harm.
    pub conflicts: u8,
}

impl Assessment {
    /// What it adds to the cost of the step.
    pub fn cost(self) -> f64 {
        -f64::from(self.feasibility.max(f32::MIN_POSITIVE)).ln() + CONFLICT_COST * f64::from(self.conflicts)
    }
}

/// Assesses steps; remembers what it found out about molecules.
pub struct Assessor<'a> {
    model: &'a RetroModel,
    known: FxHashMap<MoleculeId, (Fingerprint, Groups)>,
}

impl<'a> Assessor<'a> {
    pub fn new(model: &'a RetroModel) -> Self {
        Self { model, known: FxHashMap::default() }
    }

    /// Assesses a step that has not been assessed; its cost and what depends on it are stale then.
    pub fn assess(&mut self, graph: &mut Graph, id: ReactionId) -> Assessment {
        let reaction = graph.reaction(id);
        let (product, groups) = self.facts(graph, reaction.product);
        let precursors: Vec<_> =
            reaction.precursors.iter().map(|&precursor| self.facts(graph, precursor)).collect();
        let fingerprints: Vec<Fingerprint> = precursors.iter().map(|facts| facts.0).collect();
        let conflicts = conflicts(groups, precursors.iter().map(|facts| facts.1)).len().min(MAX_CONFLICTS);
        let assessment = Assessment {
            feasibility: self.model.feasibility(&product, &fingerprints),
            conflicts: conflicts as u8,
        };
        graph.reaction_mut(id).assessment = Some(assessment);
        graph.mark_reaction(id);
        assessment
    }

    fn facts(&mut self, graph: &Graph, id: MoleculeId) -> (Fingerprint, Groups) {
        *self.known.entry(id).or_insert_with(|| {
            let molecule = &graph.molecule(id).molecule;
            (molecule.fingerprint(), Groups::of(molecule))
        })
    }
}
