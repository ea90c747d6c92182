//! A route extracted from a search graph: the choice of source for each molecule.

use chem::MoleculeKey;

use crate::graph::Graph;
use crate::graph::nodes::{MoleculeId, ReactionId};
use crate::route::RouteGraph;

/// Steps of a route as keys of product and precursors, ascending. Equal for the same route.
pub type Signature = Vec<(MoleculeKey, Vec<MoleculeKey>)>;

/// A route as choices in the graph.
#[derive(Debug, Clone, PartialEq)]
pub struct RouteChoices {
    /// Molecules in the order in which they were chosen, from the target downwards.
    pub route: RouteGraph<ChosenMolecule>,
    /// Sum of step costs. A step that is needed twice counts twice.
    pub cost: f64,
}

/// Molecule of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChosenMolecule {
    pub molecule: MoleculeId,
    /// Reaction that makes it; `None` if it is bought.
    pub reaction: Option<ReactionId>,
}

/// Reason for dropping a candidate route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DropReason {
    /// Two different ways to make one molecule, or two forms of it.
    Inconsistent,
    /// Refused as a whole by constraints.
    Unwanted,
    /// Duplicate of an earlier route whose steps take other atoms of the target apart.
    Known,
}

impl RouteChoices {
    /// Creates the route that buys `target`.
    pub fn bought(target: MoleculeId) -> Self {
        Self { route: RouteGraph::bought(ChosenMolecule { molecule: target, reaction: None }), cost: 0.0 }
    }

    /// Approximate memory in bytes.
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + self.route.bytes()
    }

    /// Molecules that are made, each with its reaction, the target first. Empty for a target that is bought.
    pub fn made(&self) -> impl Iterator<Item = (MoleculeId, ReactionId)> {
        self.route.molecules().filter_map(|chosen| Some((chosen.molecule, chosen.reaction?)))
    }

    /// Reaction that makes `molecule`; `None` if it is bought.
    pub fn reaction(&self, graph: &Graph, molecule: MoleculeId) -> Option<ReactionId> {
        self.route.molecules().find(|chosen| graph.are_same_molecule(chosen.molecule, molecule))?.reaction
    }

    /// Signature of the route, regardless of which target atoms its steps take apart.
    pub fn signature(&self, graph: &Graph) -> Signature {
        let step = |(product, reaction)| (graph.molecule(product).key, precursor_keys(graph, reaction));
        let mut steps: Vec<_> = self.made().map(step).collect();
        steps.sort_unstable();
        steps
    }
}

fn precursor_keys(graph: &Graph, reaction: ReactionId) -> Vec<MoleculeKey> {
    graph.reaction(reaction).precursors.iter().map(|&id| graph.molecule(id).key).collect()
}

impl ChosenMolecule {
    /// Returns true if the other node, which stands for the same molecule, has the same source.
    pub fn has_same_source(self, other: Self, graph: &Graph) -> bool {
        match (self.reaction, other.reaction) {
            (Some(a), Some(b)) => a == b || precursor_keys(graph, a) == precursor_keys(graph, b),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        }
    }
}
