//! Conversion of a search result to the contract's types.

use std::{collections::BTreeSet, time::Duration};

use catalogue_tables::Offers;
use contract::{
    CompactResult, Hierarchy, Metadata, ReagentResults, RefusedSteps, RouteSummary, SearchReport,
    TreeSearchRequest,
};
use synth::{PublishedRoute, Route, SearchResult, SharedGraph};

use crate::{
    constraints::report_of,
    rounding::{cents, rounded},
    route_parts::RouteParts,
    shopping::ShoppingListBuilder,
};

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
) -> CompactResult {
    let mut totals: Vec<f64> = plan.routes().map(|route| route.total).collect();
    totals.sort_by(f64::total_cmp);
    let (shared, shopping_list) =
        (SharedGraph::of(plan), ShoppingListBuilder::new(request, &annotation.first, &annotation.offers));
    let (mut parts, mut route_hierarchy) = (RouteParts::default(), Hierarchy::new());
    for group in &plan.groups {
        let mut compact = |route| {
            let standing = RouteSummary {
                backbone: Some(group.skeleton.clone()),
                ..standing(route, &totals, &shopping_list)
            };
            parts.add(route, Some(&shared), standing)
        };
        let variations = group.variations.iter();
        let variations = variations.map(|routes| routes.iter().map(&mut compact).collect()).collect();
        route_hierarchy.entry(group.steps.to_string()).or_default().insert(group.key.clone(), variations);
    }
    CompactResult {
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
        molecules: parts.molecules,
        steps: parts.steps,
        route_hierarchy,
        pricing_annotations: annotation.offers.annotations,
        reagent_results: ReagentResults { reaction_to_edges: parts.reactions },
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
    let mut parts = RouteParts::default();
    let compact = parts.add(route, None, standing);
    contract::FoundRoute {
        route: compact.expanded(&parts.molecules, &parts.steps),
        backbone: found.key,
        steps: found.steps,
    }
}

#[cfg(test)]
mod tests {
    use contract::RouteGraph;

    use super::*;
    use crate::{route_parts::id, toy::plan};

    #[test]
    fn a_molecule_has_the_same_id_in_every_route_and_a_depth_of_its_own() {
        let answer =
            result(&TreeSearchRequest::new("CCOCC"), &plan(), OfferAnnotation::default(), Duration::ZERO)
                .expanded();

        let bought = &answer.route_hierarchy["1"]["b1"][0][0];
        let made = &answer.route_hierarchy["2"]["b2"][0][0];
        assert_eq!(bought.nodes[1].id, made.nodes[1].id);
        assert_eq!(bought.nodes[1].data.building_block_idx, Some(5));
        assert_eq!(made.nodes[1].data.building_block_idx, None);
        assert_eq!(made.nodes.iter().map(|node| node.data.depth).collect::<Vec<_>>(), [0, 1, 2, 2]);
        assert!(made.nodes.iter().all(|node| node.data.in_solution_path));
    }

    #[test]
    fn what_routes_share_stands_once() {
        let answer =
            result(&TreeSearchRequest::new("CCOCC"), &plan(), OfferAnnotation::default(), Duration::ZERO);

        assert_eq!(CompactResult::of(answer.clone().expanded()), answer);
    }

    #[test]
    fn edges_run_from_product_to_precursor_each_once() {
        let answer =
            result(&TreeSearchRequest::new("CCOCC"), &plan(), OfferAnnotation::default(), Duration::ZERO)
                .expanded();

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
            result(&TreeSearchRequest::new("CCOCC"), &plan(), OfferAnnotation::default(), Duration::ZERO)
                .expanded();

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
            result(&TreeSearchRequest::new("CCOCC"), &plan(), OfferAnnotation::default(), Duration::ZERO)
                .expanded();

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
            result(&TreeSearchRequest::new("CCOCC"), &plan(), OfferAnnotation::default(), Duration::ZERO)
                .expanded();

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
            result(&TreeSearchRequest::new("CCOCC"), &empty, OfferAnnotation::default(), Duration::ZERO)
                .expanded();

        assert!(answer.route_hierarchy.is_empty());
        assert!(answer.reagent_results.reaction_to_edges.is_empty());
        assert_eq!(answer.metadata.total_bblocks, 0);
    }
}
