//! Routes of a search result merged into one graph, each molecule once.
//!
//! It answers two questions, and only one of them is about paths. A route needs all precursors of a step, so whether
//! a molecule can be avoided depends on whole routes: it is *essential* if every route has it. What a molecule is
//! needed *for* depends on the paths that lead to it from the target in a flow graph: the nearest molecule on all of
//! them is its immediate dominator (Cooper, Harvey and Kennedy, "A simple, fast dominance algorithm", 2001). A
//! dominator is also on the paths of every route, since those are paths of this graph. The graph may have cycles
//! where one route makes A of B and another B of A.

use petgraph::algo::dominators::{Dominators, simple_fast};
use petgraph::graph::{DiGraph, NodeIndex};
use rustc_hash::FxHashMap;

use crate::search_result::SearchResult;

/// Routes of a search result in one graph.
#[derive(Debug)]
pub struct SharedGraph<'a> {
    /// Graph of molecules, each with its SMILES and the number of routes that have it. Edges run from product to
    /// precursor.
    graph: DiGraph<(&'a str, usize), ()>,
    places: FxHashMap<&'a str, NodeIndex>,
    routes: usize,
    /// Immediate dominators; `None` without a route.
    dominators: Option<Dominators<NodeIndex>>,
}

impl<'a> SharedGraph<'a> {
    /// Builds the graph of these routes.
    #[must_use]
    pub fn of(plan: &'a SearchResult) -> Self {
        let mut graph = DiGraph::new();
        let mut places = FxHashMap::default();
        let mut routes = 0;
        let mut target = None;
        for route in plan.routes() {
            let own: Vec<NodeIndex> = route
                .molecules()
                .map(|molecule| {
                    let smiles = molecule.smiles.as_str();
                    let place = *places.entry(smiles).or_insert_with(|| graph.add_node((smiles, 0)));
                    graph[place].1 += 1;
                    place
                })
                .collect();
            for (product, precursor) in route.graph.edges() {
                graph.update_edge(own[product.index()], own[precursor.index()], ());
            }
            target = Some(own[route.graph.target().index()]);
            routes += 1;
        }
        let dominators = target.map(|target| simple_fast(&graph, target));
        Self { graph, places, routes, dominators }
    }

    /// Returns true if every route has the molecule of this SMILES.
    #[must_use]
    pub fn is_essential(&self, smiles: &str) -> bool {
        self.places.get(smiles).is_some_and(|&place| self.graph[place].1 == self.routes)
    }

    /// Returns the nearest molecule that every use of this one leads to, in all routes; `None` for the target.
    #[must_use]
    pub fn only_for(&self, smiles: &str) -> Option<&'a str> {
        let nearest = self.dominators.as_ref()?.immediate_dominator(*self.places.get(smiles)?)?;
        Some(self.graph[nearest].0)
    }
}

#[cfg(test)]
mod tests {
    use crate::route::RouteGraph;
    use crate::search_result::{BackboneGroup, Counts, Route, RouteNode, Timings};

    use super::*;

    /// Search result of routes written as their edges: `AB` makes `A` of `B`.
    fn plan(routes: &[&[&str]]) -> SearchResult {
        let route = |edges: &&[&str]| {
            let mut graph = DiGraph::new();
            let mut places: FxHashMap<char, NodeIndex> = FxHashMap::default();
            for edge in *edges {
                let ends: Vec<NodeIndex> = edge
                    .chars()
                    .map(|name| *places.entry(name).or_insert_with(|| graph.add_node(molecule(name))))
                    .collect();
                graph.add_edge(ends[0], ends[1], 1);
            }
            let graph = RouteGraph::new(graph).unwrap();
            Route { graph, cost: 0.0, total: 0.0, usd_per_mol: None, lead_time_days: None }
        };
        let variations = vec![routes.iter().map(route).collect()];
        SearchResult {
            target: "T".to_owned(),
            groups: vec![BackboneGroup { steps: 1, key: String::new(), skeleton: String::new(), variations }],
            counts: Counts::default(),
            timings: Timings::default(),
            exhausted: false,
            stopped_by: Vec::new(),
            constraints: Vec::new(),
        }
    }

    fn molecule(name: char) -> RouteNode {
        RouteNode {
            smiles: name.to_string(),
            mw: 0.0,
            building_block: None,
            closest_building_block: 0.0,
            depth: 0,
            expanded: false,
            step: None,
        }
    }

    #[test]
    fn what_two_branches_of_one_route_need_goes_into_the_molecule_where_they_meet() {
        let plan = plan(&[&["TM", "MA", "MB", "AX", "BX"]]);

        let shared = SharedGraph::of(&plan);

        assert_eq!(
            ["T", "M", "A", "X"].map(|name| shared.only_for(name)),
            [None, Some("T"), Some("M"), Some("M")]
        );
    }

    #[test]
    fn what_one_route_avoids_is_not_essential_and_what_another_uses_elsewhere_is_not_for_one_molecule_only() {
        // One route makes A of B, the other B of A, and both need X.
        let plan = plan(&[&["TA", "AB", "BX"], &["TB", "BA", "AX", "AY"]]);

        let shared = SharedGraph::of(&plan);

        assert_eq!(
            ["T", "A", "B", "X", "Y"].map(|name| shared.is_essential(name)),
            [true, true, true, true, false]
        );
        assert_eq!(
            ["A", "B", "X", "Y"].map(|name| shared.only_for(name)),
            [Some("T"), Some("T"), Some("T"), Some("A")]
        );
    }

    #[test]
    fn a_plan_without_routes_shares_nothing() {
        let plan = plan(&[]);

        let shared = SharedGraph::of(&plan);

        assert_eq!((shared.is_essential("T"), shared.only_for("T")), (false, None));
    }
}
