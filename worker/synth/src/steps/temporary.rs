//! Temporary assessment of steps: all results are reverted when the trial ends, and restored when the next one
//! begins.
//!
//! Routes are extracted from a graph that is still growing, and the search must not be affected: a step that turns
//! out to be expensive or refused would redirect it.

use rustc_hash::FxHashMap;

use crate::graph::Graph;
use crate::graph::nodes::{ReactionId, ReactionState};

/// Results of all trials so far.
#[derive(Debug, Default)]
pub struct TemporaryAssessment {
    known: FxHashMap<ReactionId, TrialOutcome>,
    /// State, before the trial, of the steps that it has touched.
    before: FxHashMap<ReactionId, ReactionState>,
}

/// Result of a trial for one step.
#[derive(Debug, Clone, Copy)]
struct TrialOutcome {
    /// Number of proposals of the step at that time.
    proposals: usize,
    before: ReactionState,
    after: ReactionState,
}

impl TemporaryAssessment {
    /// Restores the results of earlier trials, except for steps that have changed since.
    pub fn begin(&mut self, graph: &mut Graph) {
        let before = &mut self.before;
        self.known.retain(|&id, known| {
            let step = graph.reaction_mut(id);
            let is_as_it_was = step.state() == known.before && step.proposals.len() == known.proposals;
            if is_as_it_was {
                before.insert(id, known.before);
                step.restore_state(known.after);
            }
            is_as_it_was
        });
    }

    /// Saves the state of a step that is about to be assessed.
    pub fn touch(&mut self, graph: &Graph, id: ReactionId) {
        self.before.entry(id).or_insert_with(|| graph.reaction(id).state());
    }

    /// Reverts all changes: the graph is as it was before.
    pub fn end(&mut self, graph: &mut Graph) {
        for (id, before) in self.before.drain() {
            let step = graph.reaction_mut(id);
            let known = TrialOutcome { proposals: step.proposals.len(), before, after: step.state() };
            self.known.insert(id, known);
            step.restore_state(before);
        }
        // Clears the stale marks: every marked node is as it was before.
        while graph.take_stale().is_some() {}
    }
}
