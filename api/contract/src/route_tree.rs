//! Routes as trees from the target to the bought building blocks, for formats of other programs.
//!
//! An answer holds graphs, in which a molecule that a route needs twice is one node. Here it occurs twice, as those
//! programs expect.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Edge, NodeData, RouteGraph, RouteSummary, TreeSearchResult};

/// A route to the target.
pub struct RouteTree<'a> {
    /// Key of the backbone, shared by all routes that build the target from the same fragments; empty if the route is
    /// kept alone.
    pub backbone: &'a str,
    /// Rank and figures of the route, if the answer has them.
    pub standing: Option<&'a RouteSummary>,
    /// Root of the tree.
    pub target: TreeMolecule<'a>,
}

/// A molecule of a route.
pub struct TreeMolecule<'a> {
    /// Data of the molecule.
    pub data: &'a NodeData,
    /// Step that makes the molecule; `None` if it is bought.
    pub made_by: Option<TreeStep<'a>>,
}

/// A reaction that makes a molecule.
pub struct TreeStep<'a> {
    /// Data of the step.
    pub edge: &'a Edge,
    /// Precursors in the order of the answer.
    pub precursors: Vec<TreeMolecule<'a>>,
}

impl TreeSearchResult {
    /// Returns the routes, best first, each with its number of steps and its backbone.
    #[must_use]
    pub fn ranked_routes(&self) -> Vec<(&str, &str, &RouteGraph)> {
        let groups = self.route_hierarchy.iter().flat_map(|(steps, backbones)| {
            backbones.iter().flat_map(move |(backbone, variations)| {
                variations.iter().flatten().map(move |graph| (steps.as_str(), backbone.as_str(), graph))
            })
        });
        let mut routes: Vec<_> = groups.collect();
        // Answers of earlier versions have no ranks and keep their order.
        routes.sort_by_key(|(.., graph)| graph.graph.as_ref().map(|standing| standing.rank));
        routes
    }

    /// Returns the routes as trees, best first.
    #[must_use]
    pub fn route_trees(&self) -> Vec<RouteTree<'_>> {
        let graphs = self.ranked_routes().into_iter();
        graphs.filter_map(|(_, backbone, graph)| RouteTree::from_graph(backbone, graph)).collect()
    }
}

impl<'a> RouteTree<'a> {
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
    #[must_use]
    pub fn steps(&self) -> Vec<(&TreeStep<'a>, &TreeMolecule<'a>)> {
        let mut steps = Vec::new();
        self.target.collect_steps(&mut steps);
        let mut seen = BTreeSet::new();
        steps.retain(|(_, product)| seen.insert(product.data.smiles.as_str()));
        steps
    }
}

impl<'a> TreeMolecule<'a> {
    fn collect_steps<'b>(&'b self, steps: &mut Vec<(&'b TreeStep<'a>, &'b Self)>) {
        let Some(step) = &self.made_by else { return };
        step.precursors.iter().for_each(|precursor| precursor.collect_steps(steps));
        steps.push((step, self));
    }
}

impl TreeStep<'_> {
    /// Returns the SMILES of the precursors, joined by dots.
    #[must_use]
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
) -> Option<TreeMolecule<'a>> {
    let data = nodes.get(id)?;
    let edges = leaving.get(id).filter(|_| above.insert(id));
    let made_by = edges.and_then(|edges| {
        let precursors = edges.iter().filter_map(|edge| molecule(&edge.target, nodes, leaving, above));
        let step = TreeStep { edge: edges.first()?, precursors: precursors.collect() };
        above.remove(id);
        Some(step)
    });
    Some(TreeMolecule { data, made_by })
}
