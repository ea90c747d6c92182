//! Routes as trees from the target to the bought building blocks, for formats of other programs.
//!
//! An answer holds graphs, in which a molecule that a route needs twice is one node. Here it occurs twice, as those
//! programs expect.

use std::collections::{BTreeMap, BTreeSet};

use contract::{Edge, NodeData, RouteGraph, RouteStanding, TreeSearchResult};

use crate::route_tree;

/// A validated route to the target.
pub struct Route<'a> {
    /// Backbone key, shared by all routes that build the target from the same fragments.
    pub backbone: &'a str,
    /// Rank and figures of the route, if the answer has them.
    pub standing: Option<&'a RouteStanding>,
    /// Root of the tree.
    pub target: Molecule<'a>,
}

/// A molecule of a route.
pub struct Molecule<'a> {
    /// Data of the molecule.
    pub data: &'a NodeData,
    /// Step that makes the molecule; `None` if it is bought.
    pub made_by: Option<Step<'a>>,
}

/// A reaction that makes a molecule.
pub struct Step<'a> {
    /// Data of the step.
    pub edge: &'a Edge,
    /// Precursors in the order of the answer.
    pub precursors: Vec<Molecule<'a>>,
}

/// Returns the routes of an answer, best first.
pub fn routes(result: &TreeSearchResult) -> Vec<Route<'_>> {
    let graphs = route_tree::routes(result).into_iter();
    graphs.filter_map(|(_, backbone, graph)| Route::from_graph(backbone, graph)).collect()
}

impl<'a> Route<'a> {
    /// Builds a route; `None` for a graph without a molecule.
    fn from_graph(backbone: &'a str, graph: &'a RouteGraph) -> Option<Self> {
        let nodes: BTreeMap<&str, &NodeData> =
            graph.nodes.iter().map(|node| (node.id.as_str(), &node.data)).collect();
        let mut leaving: BTreeMap<&str, Vec<&Edge>> = BTreeMap::new();
        for edge in &graph.edges {
            leaving.entry(&edge.source).or_default().push(edge);
        }
        let root = graph.nodes.iter().min_by_key(|node| node.data.depth)?;
        let target = molecule(&root.id, &nodes, &leaving, &mut BTreeSet::new())?;
        Some(Self { backbone, standing: graph.graph.as_ref(), target })
    }

    /// Returns the distinct steps in synthesis order, each with its product.
    pub fn steps(&self) -> Vec<(&Step<'a>, &Molecule<'a>)> {
        let mut steps = Vec::new();
        self.target.collect_steps(&mut steps);
        let mut seen = BTreeSet::new();
        steps.retain(|(_, product)| seen.insert(product.data.smiles.as_str()));
        steps
    }
}

impl<'a> Molecule<'a> {
    fn collect_steps<'b>(&'b self, steps: &mut Vec<(&'b Step<'a>, &'b Self)>) {
        let Some(step) = &self.made_by else { return };
        step.precursors.iter().for_each(|precursor| precursor.collect_steps(steps));
        steps.push((step, self));
    }
}

impl Step<'_> {
    /// Returns the SMILES of the precursors, joined by dots.
    pub fn reactants(&self) -> String {
        let smiles: Vec<&str> =
            self.precursors.iter().map(|precursor| precursor.data.smiles.as_str()).collect();
        smiles.join(".")
    }
}

/// Builds a molecule with all of its precursors. A cycle, which no route has, ends where it closes.
fn molecule<'a>(
    id: &'a str,
    nodes: &BTreeMap<&str, &'a NodeData>,
    leaving: &BTreeMap<&str, Vec<&'a Edge>>,
    above: &mut BTreeSet<&'a str>,
) -> Option<Molecule<'a>> {
    let data = nodes.get(id)?;
    let edges = leaving.get(id).filter(|_| above.insert(id));
    let made_by = edges.map(|edges| {
        let precursors = edges.iter().filter_map(|edge| molecule(&edge.target, nodes, leaving, above));
        let step = Step { edge: edges[0], precursors: precursors.collect() };
        above.remove(id);
        step
    });
    Some(Molecule { data, made_by })
}
