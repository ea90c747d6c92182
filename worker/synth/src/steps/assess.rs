//! What speaks against a step, beside its template's improbability.
//!
//! A step is assessed when the search turns to what it needs, or when a route with it is validated, whichever comes
//! first: most steps never are. Until then it costs what its template says, which is never more. A proposal that no
//! chemist would sign (the crate `reactivity`) is passed over; a step whose proposals are all of that kind is refused.
//! What remains costs what the forward judge finds it to be, by itself; what else the flask could give counts when
//! routes are put in order ([`crate::routes::rank`]).

use crate::graph::Graph;
use crate::graph::nodes::{Assessment, ReactionId, Verdict};
use crate::model::RetroModel;

/// Assesses the proposal that stands for a step, and says how many are refused before it; the step's cost and what
/// depends on it are stale then.
pub fn assess(model: &RetroModel, graph: &mut Graph, id: ReactionId) -> u64 {
    let refused = skip_unsound(graph, id);
    let reaction = graph.reaction(id);
    let found = &reaction.proposal().found;
    let product = graph.molecule(reaction.product).expansion.as_ref();
    let plausibility = product.map_or(1.0, |product| found.plausibility_alone(product, model));
    graph.reaction_mut(id).assessment = Some(Assessment { plausibility });
    graph.mark_reaction(id);
    refused
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
