//! Conversion of a search result to the contract's types.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use catalogue_tables::Offers;
use contract::{
    Conditions, Edge, Metadata, Node, NodeData, NodeNecessity, ReagentResults, RefusedSteps, RouteGraph,
    RouteHierarchy, RouteSummary, SearchReport, StepEvidence, TreeSearchRequest, TreeSearchResult,
};
use synth::{ComponentRole, PublishedRoute, Route, RouteNode, RouteStep, SearchResult, SharedGraph};
use uuid::Uuid;

use crate::{
    constraints::report_of,
    rounding::{cents, rounded},
    shopping::ShoppingListBuilder,
};

/// Namespace UUID of the node ids. A molecule's id depends only on its canonical SMILES.
const MOLECULE_NAMESPACE: Uuid = Uuid::from_u128(0x2d5c_0a6e_41d2_4f0b_9c55_6a5e_7e1f_30c4);

/// Offers for the building blocks of a search result.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OfferAnnotation {
    /// Offers in the order of the answer.
    pub offers: Offers,
    /// Names of the preferred vendors of shopping lists.
    pub first: Vec<String>,
    /// Time of the database lookup.
    pub elapsed: Duration,
}

/// Builds the answer to `request`; `total` is the time since the worker started the job.
#[must_use]
pub fn result(
    request: &TreeSearchRequest,
    plan: &SearchResult,
    annotation: OfferAnnotation,
    total: Duration,
) -> TreeSearchResult {
    let mut totals: Vec<f64> = plan.routes().map(|route| route.total).collect();
    totals.sort_by(f64::total_cmp);
    let (shared, shopping_list) =
        (SharedGraph::of(plan), ShoppingListBuilder::new(request, &annotation.first, &annotation.offers));
    let mut route_hierarchy = RouteHierarchy::new();
    for group in &plan.groups {
        let graphs = |routes: &Vec<Route>| {
            let standing = |route| RouteSummary {
                backbone: Some(group.skeleton.clone()),
                ..standing(route, &totals, &shopping_list)
            };
            routes.iter().map(|route| graph(route, Some(&shared), standing(route))).collect()
        };
        let variations = group.variations.iter().map(graphs).collect();
        route_hierarchy.entry(group.steps.to_string()).or_default().insert(group.key.clone(), variations);
    }
    TreeSearchResult {
        search_smiles: plan.target.clone(),
        metadata: Metadata {
            tree_search_elapsed: plan.timings.search.as_secs_f64(),
            routes_extracted_elapsed: plan.timings.extraction.as_secs_f64(),
            routes_validated_elapsed: plan.timings.validation.as_secs_f64(),
            bblock_annotations_elapsed: annotation.elapsed.as_secs_f64(),
            total_elapsed: total.as_secs_f64(),
            total_graph_nodes: plan.counts.graph_nodes(),
            unvalidated_routes: plan.counts.unvalidated_routes,
            validated_routes: plan.counts.validated_routes,
            total_bblocks: building_blocks(plan).len() as u64,
            search: Some(report(plan)),
        },
        route_hierarchy,
        pricing_annotations: annotation.offers.annotations,
        reagent_results: ReagentResults { reaction_to_edges: reactions(plan) },
    }
}

/// Returns the catalogue ids of the building blocks that the routes buy, ascending.
pub(crate) fn building_blocks(plan: &SearchResult) -> Vec<i32> {
    let used: BTreeSet<i32> =
        plan.routes().flat_map(Route::molecules).filter_map(|node| node.building_block).collect();
    used.into_iter().collect()
}

fn report(plan: &SearchResult) -> SearchReport {
    let refusals = plan.counts.refusals;
    SearchReport {
        expanded_molecules: plan.counts.expanded_molecules,
        doubtful_routes: plan.routes().filter(|route| route.is_doubtful()).count() as u64,
        exhausted: plan.exhausted,
        refused_steps: RefusedSteps {
            unsound: refusals.unsound,
            product_not_regained: refusals.product_not_regained,
            competing_site: refusals.competing_site,
        },
        stopped_by: plan.stopped_by.clone(),
        constraints: plan.constraints.iter().map(report_of).collect(),
    }
}

/// Computes a route's rank among all routes of its answer, and its shopping list; `totals` are those of all routes,
/// ascending.
fn standing(route: &Route, totals: &[f64], shopping_list: &ShoppingListBuilder<'_>) -> RouteSummary {
    let better = totals.partition_point(|&total| total < route.total);
    RouteSummary {
        rank: u32::try_from(better + 1).unwrap_or(u32::MAX),
        shopping_list: Some(shopping_list.list(route)),
        ..standing_without_others(route)
    }
}

/// Computes the standing of a route without comparison: as if it were the only one.
fn standing_without_others(route: &Route) -> RouteSummary {
    let longest = route.graph.longest_branch();
    RouteSummary {
        rank: 1,
        score: rounded(1.0 / (1.0 + route.total)),
        cost_usd_per_mol: route.usd_per_mol.map(cents),
        lead_time_days: route.lead_time_days,
        convergence: rounded(route.steps().count().max(1) as f64 / f64::from(longest.max(1))),
        shopping_list: None,
        backbone: None,
    }
}

/// Converts a route found before its answer is complete. Fields that depend on other routes or on offers are left
/// out.
pub(crate) fn found(found: PublishedRoute) -> contract::FoundRoute {
    let route = &found.route;
    let standing =
        RouteSummary { rank: found.rank, backbone: Some(found.skeleton), ..standing_without_others(route) };
    contract::FoundRoute { route: graph(route, None, standing), backbone: found.key, steps: found.steps }
}

fn graph(route: &Route, shared: Option<&SharedGraph<'_>>, standing: RouteSummary) -> RouteGraph {
    let ids: Vec<String> = route.molecules().map(|molecule| id(&molecule.smiles)).collect();
    let edges = route.steps().flat_map(|(product, step)| {
        let precursors: Vec<&str> =
            route.precursors(product).map(|molecule| molecule.smiles.as_str()).collect();
        let evidence = evidence(step, &precursors);
        let ids = &ids;
        route.graph.precursors(product).map(move |(precursor, _)| Edge {
            source: ids[product.index()].clone(),
            target: ids[precursor.index()].clone(),
            plausibility: Some(rounded(f64::from(step.plausibility))),
            evidence: Some(evidence.clone()),
        })
    });
    RouteGraph {
        directed: true,
        multigraph: false,
        graph: Some(standing),
        nodes: route.molecules().zip(&ids).map(|(molecule, id)| node(molecule, id, shared)).collect(),
        edges: edges.collect(),
    }
}

fn node(node: &RouteNode, own_id: &str, shared: Option<&SharedGraph<'_>>) -> Node {
    Node {
        id: own_id.to_owned(),
        data: NodeData {
            smiles: node.smiles.clone(),
            mw: node.mw,
            is_building_block: node.building_block.is_some(),
            building_block_idx: node.building_block,
            closest_building_block: f64::from(node.closest_building_block),
            depth: node.depth,
            expanded: node.expanded,
            in_solution_path: true,
        },
        standing: shared.map(|shared| NodeNecessity {
            essential: shared.is_essential(&node.smiles),
            only_for: shared.only_for(&node.smiles).map(id),
        }),
    }
}

/// Converts the evidence of a step from these precursors.
pub(crate) fn evidence(step: &RouteStep, precursors: &[&str]) -> StepEvidence {
    StepEvidence {
        reaction_class: step.class.name.to_owned(),
        reaction_category: step.class.category.to_string(),
        template: step.template_hash.clone(),
        probability: rounded(f64::from(step.probability)),
        precedents: step.records.reactions,
        patents: step.records.patents.clone(),
        conditions: conditions(step, precursors),
        precedent_similarity: step.precedent.map(|near| rounded(f64::from(near.tanimoto))),
        precedent_cosine: step.precedent.map(|near| rounded(f64::from(near.cosine))),
        template_id: Some(step.template),
        rank: step.rank,
        needs: step.stereo_source.map(|source| source.to_string()),
        warnings: step.warnings.iter().map(ToString::to_string).collect(),
    }
}

fn conditions(step: &RouteStep, precursors: &[&str]) -> Conditions {
    let mut conditions = Conditions::default();
    for (role, name, count) in step.records.conditions(step.class, precursors) {
        let agents = match role {
            ComponentRole::Reagent => &mut conditions.reagents,
            ComponentRole::Catalyst => &mut conditions.catalysts,
            ComponentRole::Solvent => &mut conditions.solvents,
        };
        agents.insert(name.to_owned(), count);
    }
    conditions
}

/// Returns the distinct steps as `precursor.precursor>>product`, each with the identifiers of its edges.
fn reactions(plan: &SearchResult) -> BTreeMap<String, Vec<String>> {
    let mut reactions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for route in plan.routes() {
        for (product, _) in route.steps() {
            let smiles = |place| route.graph.molecule(place).smiles.as_str();
            let precursors: Vec<&str> =
                route.precursors(product).map(|molecule| molecule.smiles.as_str()).collect();
            let reaction = format!("{}>>{}", precursors.join("."), smiles(product));
            let source = id(smiles(product));
            let edges = route.graph.precursors(product);
            reactions
                .entry(reaction)
                .or_default()
                .extend(edges.map(|(precursor, _)| format!("{source}:{}", id(smiles(precursor)))));
        }
    }
    reactions.into_iter().map(|(reaction, edges)| (reaction, edges.into_iter().collect())).collect()
}

/// Returns the node id of a molecule.
pub(crate) fn id(smiles: &str) -> String {
    Uuid::new_v5(&MOLECULE_NAMESPACE, smiles.as_bytes()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toy::plan;

    #[test]
    fn a_molecule_has_the_same_id_in_every_route_and_a_depth_of_its_own() {
        let answer =
            result(&TreeSearchRequest::new("CCOCC"), &plan(), OfferAnnotation::default(), Duration::ZERO);

        let bought = &answer.route_hierarchy["1"]["b1"][0][0];
        let made = &answer.route_hierarchy["2"]["b2"][0][0];
        assert_eq!(bought.nodes[1].id, made.nodes[1].id);
        assert_eq!(bought.nodes[1].data.building_block_idx, Some(5));
        assert_eq!(made.nodes[1].data.building_block_idx, None);
        assert_eq!(made.nodes.iter().map(|node| node.data.depth).collect::<Vec<_>>(), [0, 1, 2, 2]);
        assert!(made.nodes.iter().all(|node| node.data.in_solution_path));
    }

    #[test]
    fn edges_run_from_product_to_precursor_each_once() {
        let answer =
            result(&TreeSearchRequest::new("CCOCC"), &plan(), OfferAnnotation::default(), Duration::ZERO);

        let made = &answer.route_hierarchy["2"]["b2"][0][0];
        let place = |id: &str| made.nodes.iter().position(|node| node.id == id).unwrap();
        let edges: Vec<_> =
            made.edges.iter().map(|edge| (place(&edge.source), place(&edge.target))).collect();
        assert_eq!(edges, [(0, 1), (1, 2), (1, 3)]);
        assert!(made.edges.iter().all(|edge| edge.plausibility == Some(0.75)));
        assert!(made.directed && !made.multigraph);
    }

    #[test]
    fn a_route_says_where_it_stands_and_its_edges_what_they_rest_on() {
        let answer =
            result(&TreeSearchRequest::new("CCOCC"), &plan(), OfferAnnotation::default(), Duration::ZERO);

        let bought = &answer.route_hierarchy["1"]["b1"][0][0];
        let made = &answer.route_hierarchy["2"]["b2"][0][0];
        let standing = |rank, score, cost_usd_per_mol, lead_time_days| RouteSummary {
            rank,
            score,
            cost_usd_per_mol,
            lead_time_days,
            convergence: 1.0,
            shopping_list: None,
            backbone: Some("[CH3:1]".to_owned()),
        };
        let without_list =
            |graph: &RouteGraph| RouteSummary { shopping_list: None, ..graph.graph.clone().unwrap() };
        assert_eq!(without_list(bought), standing(1, 0.5, Some(12.35), Some(3.0)));
        assert_eq!(without_list(made), standing(2, 0.25, None, None));
        let edge = serde_json::to_value(&made.edges[0]).unwrap();
        assert_eq!((&edge["precedents"], &edge["precedent_similarity"]), (&12.into(), &0.5.into()));
        assert_eq!(edge["patents"], serde_json::json!(["US01234567"]));
        assert_eq!(edge["conditions"]["solvents"], serde_json::json!({ "THF": 9 }));
        assert_eq!(edge["warnings"], serde_json::json!(["the same precursors may give another product"]));
    }

    #[test]
    fn a_molecule_that_no_route_avoids_is_essential_and_others_say_what_they_are_for() {
        let answer =
            result(&TreeSearchRequest::new("CCOCC"), &plan(), OfferAnnotation::default(), Duration::ZERO);

        let standings = |route: &RouteGraph| -> Vec<_> {
            let standings = route.nodes.iter().filter_map(|node| node.standing.clone());
            standings.map(|standing| (standing.essential, standing.only_for)).collect()
        };
        let (target, alcohol) = (Some(id("CCOCC")), Some(id("CCO")));
        let shared = [(true, None), (true, target)];
        assert_eq!(standings(&answer.route_hierarchy["1"]["b1"][0][0]), shared);
        let made = [&shared[..], &[(false, alcohol.clone()), (false, alcohol)]].concat();
        assert_eq!(standings(&answer.route_hierarchy["2"]["b2"][0][0]), made);
        let target = serde_json::to_value(&answer.route_hierarchy["1"]["b1"][0][0].nodes[0]).unwrap();
        assert_eq!((&target["essential"], &target["only_for"]), (&true.into(), &serde_json::Value::Null));
    }

    #[test]
    fn a_reaction_is_listed_once_with_its_edges_in_order() {
        let answer =
            result(&TreeSearchRequest::new("CCOCC"), &plan(), OfferAnnotation::default(), Duration::ZERO);

        let edge = |from: &str, to: &str| format!("{}:{}", id(from), id(to));
        let mut made = vec![edge("CCO", "C"), edge("CCO", "CO")];
        made.sort();
        let expected =
            [("C.CO>>CCO".to_owned(), made), ("CCO.CCO>>CCOCC".to_owned(), vec![edge("CCOCC", "CCO")])];
        assert_eq!(answer.reagent_results.reaction_to_edges.into_iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn metadata_counts_what_is_there() {
        let metadata = result(
            &TreeSearchRequest::new("CCOCC"),
            &plan(),
            OfferAnnotation::default(),
            Duration::from_secs(2),
        )
        .metadata;

        assert_eq!((metadata.total_graph_nodes, metadata.total_bblocks), (7, 3));
        assert_eq!((metadata.validated_routes, metadata.unvalidated_routes), (2, 1));
        assert_eq!((metadata.tree_search_elapsed, metadata.total_elapsed), (1.5, 2.0));
    }

    #[test]
    fn a_plan_without_routes_is_an_answer() {
        let empty = SearchResult { groups: Vec::new(), ..plan() };

        let answer =
            result(&TreeSearchRequest::new("CCOCC"), &empty, OfferAnnotation::default(), Duration::ZERO);

        assert!(answer.route_hierarchy.is_empty());
        assert!(answer.reagent_results.reaction_to_edges.is_empty());
        assert_eq!(answer.metadata.total_bblocks, 0);
    }
}
