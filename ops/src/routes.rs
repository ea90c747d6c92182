//! Routes as trees from the target to what is bought, for formats that other programs read.
//!
//! An answer has graphs, in which a molecule that a route needs twice is one node; here it stands twice, as those programs have it.

use std::collections::{BTreeMap, BTreeSet};

use contract::{Edge, NodeData, RouteGraph, RouteStanding, TreeSearchResult};

use crate::route_tree;

/// A validated way to make the target.
pub struct Route<'a> {
    /// The key that it shares with all routes that build the target from the same fragments.
    pub backbone: &'a str,
    /// How it stands beside the others, where the answer says that.
    pub standing: Option<&'a RouteStanding>,
    /// The root.
    pub target: Molecule<'a>,
}

/// A molecule of a route.
pub struct Molecule<'a> {
    /// What is known of it.
    pub data: &'a NodeData,
    /// The step that makes it; none where it is bought.
    pub made_by: Option<Step<'a>>,
}

/// A reaction that makes a molecule.
pub struct Step<'a> {
    /// What it rests on.
    pub edge: &'a Edge,
    /// What it is made from, in the order of the answer.
    pub precursors: Vec<Molecule<'a>>,
}

/// The routes of an answer, best first.
pub fn routes(result: &TreeSearchResult) -> Vec<Route<'_>> {
    let graphs = route_tree::routes(result).into_iter();
    graphs.filter_map(|(_, backbone, graph)| Route::of(backbone, graph)).collect()
}

impl<'a> Route<'a> {
    /// `None` for a graph without a molecule.
    fn of(backbone: &'a str, graph: &'a RouteGraph) -> Option<Self> {
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

    /// The distinct steps in the order in which they are done, each with its product.
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
    /// SMILES of what it is made from, joined by dots.
    pub fn reactants(&self) -> String {
        let smiles: Vec<&str> =
            self.precursors.iter().map(|precursor| precursor.data.smiles.as_str()).collect();
        smiles.join(".")
    }
}

/// A molecule and all that it is made from; a cycle, which no route has, ends where it closes.
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
