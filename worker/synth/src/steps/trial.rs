//! Steps judged for the moment: what is found out of them is taken back when the trial ends, and known again in the next one.
//!
//! Routes are read out of a graph that is still growing, and the search may not notice: a step that was found to be dear, or was refused,
//! would have it turn elsewhere.

use rustc_hash::FxHashMap;

use crate::graph::Graph;
use crate::graph::nodes::{Judgement, ReactionId};

/// What trials found out.
#[derive(Debug, Default)]
pub struct Trial {
    known: FxHashMap<ReactionId, Known>,
    /// What the steps were that this trial has touched.
    before: FxHashMap<ReactionId, Judgement>,
}

/// What a trial made of a step.
#[derive(Debug, Clone, Copy)]
struct Known {
    /// How many proposals it had.
    proposals: usize,
    before: Judgement,
    after: Judgement,
}

impl Trial {
    /// Judges the steps as the trials before did, but for those that have changed since.
    pub fn begin(&mut self, graph: &mut Graph) {
        let before = &mut self.before;
        self.known.retain(|&id, known| {
            let step = graph.reaction_mut(id);
            let is_as_it_was = step.judgement() == known.before && step.proposals.len() == known.proposals;
            if is_as_it_was {
                before.insert(id, known.before);
                step.judge_as(known.after);
            }
            is_as_it_was
        });
    }

    /// Remembers a step that is about to be judged.
    pub fn touch(&mut self, graph: &Graph, id: ReactionId) {
        self.before.entry(id).or_insert_with(|| graph.reaction(id).judgement());
    }

    /// Takes all of it back: the graph is as it was.
    pub fn end(&mut self, graph: &mut Graph) {
        for (id, before) in self.before.drain() {
            let step = graph.reaction_mut(id);
            let known = Known { proposals: step.proposals.len(), before, after: step.judgement() };
            self.known.insert(id, known);
            step.judge_as(before);
        }
        // What was marked meanwhile is as it was.
        while graph.take_stale().is_some() {}
    }
}
