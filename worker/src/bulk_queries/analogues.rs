//! Analogues of a route: the same steps with another building block.

use std::collections::{HashMap, HashSet};

use catalogue::{Stock, StockView};
use chem::{Fingerprint, Molecule};
use contract::{Analogue, Edge, Node, NodeData, RouteFigures, RouteGraph};
use petgraph::{algo::toposort, graph::NodeIndex};
use synth::{BatchLimits, Budget, KnownStep, Planner};

use super::{BulkAnswer, BulkItem, answer_each, molecule};
use crate::{
    rounding::rounded,
    route_parts::{evidence, id},
};

/// Runs `route` with each of the molecules in place of the block `replaced`.
pub(crate) fn analogues(
    planner: &Planner,
    stock: &StockView,
    texts: &[String],
    (route, replaced): (&RouteGraph, &str),
    allowance: &BatchLimits,
) -> BulkAnswer<Analogue> {
    let rework = BlockReplacement::of(planner, route, replaced);
    let mut answer = answer_each(planner, texts, allowance, |other, budget| match &rework {
        Ok(rework) => rework.with(planner, stock, other, budget),
        Err(reason) => Some(Analogue::nothing(other.canonical_smiles(), reason.clone())),
    });
    compare(&mut answer.items, stock, planner.cores());
    answer
}

impl BulkItem for Analogue {
    fn nothing(smiles: String, error: String) -> Self {
        Self { smiles, error: Some(error), in_stock: false, target: None, plausibility: None, route: None }
    }
}

/// Steps to repeat when one block of a route is replaced.
struct BlockReplacement<'a> {
    route: &'a RouteGraph,
    /// Canonical SMILES of the route's molecules.
    names: Vec<String>,
    block: usize,
    /// Steps that depend on the block, each after the steps that make its precursors.
    steps: Vec<ChangedStep>,
}

/// Step with a changed precursor.
struct ChangedStep {
    product: usize,
    precursors: Vec<usize>,
    step: KnownStep,
}

impl<'a> BlockReplacement<'a> {
    /// Finds the steps of `route` that depend on the block `replaced`.
    ///
    /// # Errors
    /// Returns which step cannot be run.
    fn of(planner: &Planner, route: &'a RouteGraph, replaced: &str) -> Result<Self, String> {
        let molecules: Vec<Molecule> =
            route.nodes.iter().map(|node| molecule(&node.data.smiles)).collect::<Result<_, _>>()?;
        let names: Vec<String> = molecules.iter().map(Molecule::canonical_smiles).collect();
        let replaced = molecule(replaced)?.canonical_smiles();
        let block = names.iter().position(|name| *name == replaced).ok_or("the block is not in the route")?;
        let graph = route.molecules();
        let order = toposort(&graph, None).map_err(|_| "a molecule of the route is made of itself")?;
        let mut changed = HashSet::from([block]);
        let mut steps = Vec::new();
        for &product in order.iter().rev() {
            let precursors: Vec<usize> = graph.neighbors(product).map(NodeIndex::index).collect();
            let product = product.index();
            if !precursors.iter().any(|precursor| changed.contains(precursor)) {
                continue;
            }
            changed.insert(product);
            let taken: Vec<Molecule> = precursors.iter().map(|&at| molecules[at].clone()).collect();
            let step = template_of(route, &route.nodes[product].id)
                .and_then(|template| planner.known_step(template, &molecules[product], &taken))
                .ok_or_else(|| format!("the engine does not know the step to {}", names[product]))?;
            steps.push(ChangedStep { product, precursors, step });
        }
        Ok(Self { route, names, block, steps })
    }

    /// Runs the route with `other` in place of the block; `None` if the budget is spent first.
    fn with(
        &self,
        planner: &Planner,
        stock: &StockView,
        other: &Molecule,
        budget: &Budget,
    ) -> Option<Analogue> {
        let refuse = |reason: String| Some(Analogue::nothing(other.canonical_smiles(), reason));
        let mut names = self.names.clone();
        let mut molecules: Vec<Option<Molecule>> = vec![None; names.len()];
        let mut edges: HashMap<usize, Edge> = HashMap::new();
        names[self.block] = other.canonical_smiles();
        molecules[self.block] = Some(other.clone());
        for ChangedStep { product, precursors, step } in &self.steps {
            let others: Vec<Option<&Molecule>> =
                precursors.iter().map(|&at| molecules[at].as_ref()).collect();
            let smiles: Vec<&str> = precursors.iter().map(|&at| names[at].as_str()).collect();
            let made = match planner.run_forwards(step, &step.precursors_with(&others), budget)? {
                Ok(made) => made,
                Err(reason) => return refuse(format!("the step to {}: {reason}", self.names[*product])),
            };
            let edge = Edge {
                source: String::new(),
                target: String::new(),
                plausibility: Some(rounded(f64::from(made.step.plausibility))),
                evidence: Some(evidence(&made.step, &smiles)),
            };
            edges.insert(*product, edge);
            names[*product] = made.product.canonical_smiles();
            molecules[*product] = Some(made.product);
        }
        let mut seen = HashSet::new();
        if let Some(twice) = names.iter().find(|name| !seen.insert(name.as_str())) {
            return refuse(format!("{twice} is in the route already"));
        }
        let route = self.written(stock, &names, &molecules, &edges);
        Some(Analogue {
            smiles: other.canonical_smiles(),
            error: None,
            in_stock: route.nodes[self.block].data.is_building_block,
            target: Some(names.swap_remove(0)),
            plausibility: RouteFigures::of(&route).plausibility.map(rounded),
            route: Some(route),
        })
    }

    fn written(
        &self,
        stock: &StockView,
        names: &[String],
        molecules: &[Option<Molecule>],
        steps: &HashMap<usize, Edge>,
    ) -> RouteGraph {
        let nodes = self.route.nodes.iter().zip(names).zip(molecules).enumerate();
        let nodes = nodes.map(|(at, ((node, name), molecule))| {
            let data = match molecule {
                None => node.data.clone(),
                Some(molecule) => {
                    let block = if at == self.block { stock.find(molecule) } else { None };
                    NodeData {
                        smiles: name.clone(),
                        mw: molecule.molecular_weight(),
                        is_building_block: block.is_some(),
                        building_block_idx: block.map(|block| stock.id(block)),
                        closest_building_block: if block.is_some() { 1.0 } else { 0.0 },
                        ..node.data
                    }
                }
            };
            Node { id: id(name), data, standing: None }
        });
        let places: HashMap<&str, usize> =
            self.route.nodes.iter().zip(0..).map(|(node, at)| (node.id.as_str(), at)).collect();
        let edges = self.route.edges.iter().map(|edge| {
            let (product, precursor) = (places[edge.source.as_str()], places[edge.target.as_str()]);
            let known = steps.get(&product).unwrap_or(edge);
            Edge { source: id(&names[product]), target: id(&names[precursor]), ..known.clone() }
        });
        RouteGraph {
            directed: true,
            multigraph: false,
            graph: None,
            nodes: nodes.collect(),
            edges: edges.collect(),
        }
    }
}

/// Returns the hash of the template that makes the molecule of this node, as its edges state.
fn template_of<'a>(route: &'a RouteGraph, product: &str) -> Option<&'a str> {
    let mut edges = route.edges.iter().filter(|edge| edge.source == product);
    edges.find_map(|edge| Some(edge.evidence.as_ref()?.template.as_str()))
}

/// Adds the similarity to the nearest block to all molecules that are not blocks, in one pass.
fn compare(items: &mut [Analogue], stock: &StockView, cores: usize) {
    let nodes = items.iter_mut().filter_map(|item| item.route.as_mut()).flat_map(|route| &mut route.nodes);
    let unknown = nodes
        .map(|node| &mut node.data)
        .filter(|data| !data.is_building_block && data.closest_building_block == 0.0)
        .filter_map(|data| Some((molecule(&data.smiles).ok()?.fingerprint(), data)));
    let (fingerprints, unknown): (Vec<Fingerprint>, Vec<&mut NodeData>) = unknown.unzip();
    for (data, nearest) in unknown.into_iter().zip(stock.nearest(&fingerprints, cores)) {
        data.closest_building_block = nearest.map_or(0.0, |(_, similarity)| f64::from(similarity));
    }
}
