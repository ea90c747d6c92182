//! A route as it is read out of a search graph: for each molecule, how it is got.

use chem::Key;

use crate::graph::Graph;
use crate::graph::nodes::{MoleculeId, ReactionId};
use crate::route::RouteGraph;

/// The steps of a route as keys of product and precursors, ascending: the same for the same route.
pub type Signature = Vec<(Key, Vec<Key>)>;

/// A route as choices in the graph.
#[derive(Debug, Clone, PartialEq)]
pub struct Choices {
    /// The molecules in the order in which they were chosen, from the target downwards.
    pub route: RouteGraph<Chosen>,
    /// Sum of step costs, a step that is needed twice counted twice.
    pub cost: f64,
}

/// A molecule of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chosen {
    pub molecule: MoleculeId,
    /// What makes it; `None` if it is bought.
    pub reaction: Option<ReactionId>,
}

/// Why what was put together is no route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dropped {
    /// It would make one molecule in two ways.
    Inconsistent,
    /// Constraints refuse it as a whole.
    Unwanted,
    /// It came before, by steps that take other atoms of the target apart.
    Known,
}

impl Choices {
    /// The route that buys `target`.
    pub fn bought(target: MoleculeId) -> Self {
        Self { route: RouteGraph::bought(Chosen { molecule: target, reaction: None }), cost: 0.0 }
    }

    /// About how much memory it takes.
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + self.route.bytes()
    }

    /// The molecules that are made, each with its reaction, the target first; none for a target that is bought.
    pub fn made(&self) -> impl Iterator<Item = (MoleculeId, ReactionId)> {
        self.route.molecules().filter_map(|chosen| Some((chosen.molecule, chosen.reaction?)))
    }

    /// The reaction that makes `molecule`, `None` if it is bought.
    pub fn reaction(&self, graph: &Graph, molecule: MoleculeId) -> Option<ReactionId> {
        self.route.molecules().find(|chosen| graph.are_alike(chosen.molecule, molecule))?.reaction
    }

    /// What it is, whatever atoms of the target its steps take apart.
    pub fn signature(&self, graph: &Graph) -> Signature {
        let step = |(product, reaction)| (graph.molecule(product).key, precursor_keys(graph, reaction));
        let mut steps: Vec<_> = self.made().map(step).collect();
        steps.sort_unstable();
        steps
    }
}

fn precursor_keys(graph: &Graph, reaction: ReactionId) -> Vec<Key> {
    graph.reaction(reaction).precursors.iter().map(|&id| graph.molecule(id).key).collect()
}

impl Chosen {
    /// Whether the other node, which stands for the same molecule, is got in the same way.
    pub fn is_as(self, other: Self, graph: &Graph) -> bool {
        match (self.reaction, other.reaction) {
            (Some(a), Some(b)) => a == b || precursor_keys(graph, a) == precursor_keys(graph, b),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        }
    }
}
