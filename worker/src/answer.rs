//! A plan, as the contract writes it.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use contract::{
    Conditions, Edge, Metadata, Node, NodeData, NodeStanding, PricingAnnotation, ReagentResults,
    RefusedSteps, RouteGraph, RouteHierarchy, RouteStanding, SearchReport, StepEvidence, TreeSearchRequest,
    TreeSearchResult,
};
use synth::{Plan, Records, Role, Route, RouteNode, SharedGraph, Step};
use uuid::Uuid;

use crate::{
    rounding::{cents, rounded},
    shopping::Shop,
};

/// Namespace of the node ids, made for this purpose: a molecule's id hangs on its canonical SMILES alone.
const MOLECULES: Uuid = Uuid::from_u128(0x2d5c_0a6e_41d2_4f0b_9c55_6a5e_7e1f_30c4);

/// The offers for the building blocks of a plan.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Annotation {
    /// In the order in which they are answered.
    pub offers: Vec<PricingAnnotation>,
    /// Names of the vendors from whom shopping lists take what they have.
    pub first: Vec<String>,
    /// What looking them up took.
    pub elapsed: Duration,
}

/// The answer to `request`; `total` is the time from the worker's start on the job.
#[must_use]
pub fn result(
    request: &TreeSearchRequest,
    plan: &Plan,
    annotation: Annotation,
    total: Duration,
) -> TreeSearchResult {
    let mut totals: Vec<f64> = plan.routes().map(|route| route.total).collect();
    totals.sort_by(f64::total_cmp);
    let (shared, shop) = (SharedGraph::of(plan), Shop::new(request, &annotation.first, &annotation.offers));
    let mut route_hierarchy = RouteHierarchy::new();
    for group in &plan.groups {
        let graphs = |routes: &Vec<Route>| {
            let standing = |route| standing(route, &totals, &shop);
            routes.iter().map(|route| graph(route, &shared, standing(route))).collect()
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
        pricing_annotations: annotation.offers,
        reagent_results: ReagentResults { reaction_to_edges: reactions(plan) },
    }
}

/// The catalogue's integers for the building blocks that the plan's routes buy, ascending.
pub(crate) fn building_blocks(plan: &Plan) -> Vec<i32> {
    let used: BTreeSet<i32> =
        plan.routes().flat_map(Route::molecules).filter_map(|node| node.building_block).collect();
    used.into_iter().collect()
}

fn report(plan: &Plan) -> SearchReport {
    let refusals = plan.counts.refusals;
    SearchReport {
        expanded_molecules: plan.counts.expanded_molecules,
        exhausted: plan.exhausted,
        refused_steps: RefusedSteps {
            unsound: refusals.unsound,
            product_not_regained: refusals.product_not_regained,
            competing_site: refusals.competing_site,
        },
        stopped_by: plan.stopped_by.clone(),
    }
}

/// Where a route stands among all of its answer, and what to order for it; `totals` are theirs, ascending.
fn standing(route: &Route, totals: &[f64], shop: &Shop<'_>) -> RouteStanding {
    let longest = route.graph.longest_branch();
    let better = totals.partition_point(|&total| total < route.total);
    RouteStanding {
        rank: u32::try_from(better + 1).unwrap_or(u32::MAX),
        score: rounded(1.0 / (1.0 + route.total)),
        cost_usd_per_mol: route.usd_per_mol.map(cents),
        lead_time_days: route.lead_time_days,
        convergence: rounded(route.steps().count().max(1) as f64 / f64::from(longest.max(1))),
        shopping_list: Some(shop.list(route)),
    }
}

fn graph(route: &Route, shared: &SharedGraph<'_>, standing: RouteStanding) -> RouteGraph {
    let ids: Vec<String> = route.molecules().map(|molecule| id(&molecule.smiles)).collect();
    let edges = route.graph.edges().map(|(product, precursor)| {
        let step = route.graph.molecule(product).step.as_ref();
        Edge {
            source: ids[product.index()].clone(),
            target: ids[precursor.index()].clone(),
            plausibility: step.map(|step| rounded(f64::from(step.plausibility))),
            evidence: step.map(evidence),
        }
    });
    RouteGraph {
        directed: true,
        multigraph: false,
        graph: Some(standing),
        nodes: route.molecules().zip(&ids).map(|(molecule, id)| node(molecule, id, shared)).collect(),
        edges: edges.collect(),
    }
}

fn node(node: &RouteNode, own_id: &str, shared: &SharedGraph<'_>) -> Node {
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
        standing: Some(NodeStanding {
            essential: shared.is_essential(&node.smiles),
            only_for: shared.only_for(&node.smiles).map(id),
        }),
    }
}

fn evidence(step: &Step) -> StepEvidence {
    StepEvidence {
        reaction_class: step.class.name.to_owned(),
        reaction_category: step.class.category.to_string(),
        template: step.template_hash.clone(),
        probability: rounded(f64::from(step.probability)),
        precedents: step.records.reactions,
        patents: step.records.patents.clone(),
        conditions: conditions(&step.records),
        precedent_similarity: step.precedent.map(|similarity| rounded(f64::from(similarity))),
        warnings: step.warnings.iter().map(ToString::to_string).collect(),
    }
}

fn conditions(records: &Records) -> Conditions {
    let mut conditions = Conditions::default();
    for (role, name, count) in &records.agents {
        let agents = match role {
            Role::Reagent => &mut conditions.reagents,
            Role::Catalyst => &mut conditions.catalysts,
            Role::Solvent => &mut conditions.solvents,
        };
        agents.insert(name.to_string(), *count);
    }
    conditions
}

/// The distinct steps as `precursor.precursor>>product`, each with the identifiers of its edges.
fn reactions(plan: &Plan) -> BTreeMap<String, Vec<String>> {
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

fn id(smiles: &str) -> String {
    Uuid::new_v5(&MOLECULES, smiles.as_bytes()).to_string()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use petgraph::graph::DiGraph;
    use synth::{BackboneGroup, Counts, ReactionClass, Timings, Warning};

    use super::*;

    fn molecule(smiles: &str, depth: u32, building_block: Option<i32>) -> RouteNode {
        RouteNode {
            smiles: smiles.to_owned(),
            mw: 10.0,
            building_block,
            closest_building_block: if building_block.is_some() { 1.0 } else { 0.5 },
            depth,
            expanded: building_block.is_none(),
            step: building_block.is_none().then(step),
        }
    }

    fn step() -> Step {
        Step {
            template: 0,
            template_hash: "t".to_owned(),
            probability: 0.9,
            plausibility: 0.75,
            precedent: Some(0.5),
            records: Arc::new(Records {
                reactions: 12,
                patents: vec!["US01234567".to_owned()],
                agents: vec![(Role::Solvent, Arc::from("THF"), 9)],
            }),
            class: ReactionClass::default(),
            warnings: vec![Warning::CompetingProduct],
        }
    }

    /// A route of these molecules, in which `product` takes `times` of `precursor`: `(product, precursor, times)`.
    fn route(molecules: Vec<RouteNode>, edges: &[(u32, u32, u32)], total: f64) -> Route {
        let mut graph = DiGraph::new();
        for molecule in molecules {
            graph.add_node(molecule);
        }
        for &(product, precursor, times) in edges {
            graph.add_edge(product.into(), precursor.into(), times);
        }
        let graph = synth::RouteGraph::new(graph).unwrap();
        Route { graph, cost: total, total, usd_per_mol: None, lead_time_days: None }
    }

    /// `CCOCC` from two `CCO`, each of which is made from `C` and `CO`; and `CCOCC` from bought `CCO`.
    fn plan() -> Plan {
        let made = route(
            vec![
                molecule("CCOCC", 0, None),
                molecule("CCO", 1, None),
                molecule("C", 2, Some(7)),
                molecule("CO", 2, Some(3)),
            ],
            &[(0, 1, 2), (1, 2, 1), (1, 3, 1)],
            3.0,
        );
        let bought = Route {
            usd_per_mol: Some(12.345),
            lead_time_days: Some(3.0),
            ..route(vec![molecule("CCOCC", 0, None), molecule("CCO", 1, Some(5))], &[(0, 1, 2)], 1.0)
        };
        let group = |steps, key: &str, route| BackboneGroup {
            steps,
            key: key.to_owned(),
            variations: vec![vec![route]],
        };
        Plan {
            target: "CCOCC".to_owned(),
            groups: vec![group(1, "b1", bought), group(2, "b2", made)],
            counts: Counts {
                molecules: 4,
                reactions: 3,
                unvalidated_routes: 1,
                validated_routes: 2,
                ..Counts::default()
            },
            timings: Timings { search: Duration::from_millis(1500), ..Timings::default() },
            exhausted: true,
            stopped_by: Vec::new(),
        }
    }

    #[test]
    fn a_molecule_has_the_same_id_in_every_route_and_a_depth_of_its_own() {
        let answer = result(&TreeSearchRequest::new("CCOCC"), &plan(), Annotation::default(), Duration::ZERO);

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
        let answer = result(&TreeSearchRequest::new("CCOCC"), &plan(), Annotation::default(), Duration::ZERO);

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
        let answer = result(&TreeSearchRequest::new("CCOCC"), &plan(), Annotation::default(), Duration::ZERO);

        let bought = &answer.route_hierarchy["1"]["b1"][0][0];
        let made = &answer.route_hierarchy["2"]["b2"][0][0];
        let standing = |rank, score, cost_usd_per_mol, lead_time_days| RouteStanding {
            rank,
            score,
            cost_usd_per_mol,
            lead_time_days,
            convergence: 1.0,
            shopping_list: None,
        };
        let without_list =
            |graph: &RouteGraph| RouteStanding { shopping_list: None, ..graph.graph.clone().unwrap() };
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
        let answer = result(&TreeSearchRequest::new("CCOCC"), &plan(), Annotation::default(), Duration::ZERO);

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
        let answer = result(&TreeSearchRequest::new("CCOCC"), &plan(), Annotation::default(), Duration::ZERO);

        let edge = |from: &str, to: &str| format!("{}:{}", id(from), id(to));
        let mut made = vec![edge("CCO", "C"), edge("CCO", "CO")];
        made.sort();
        let expected =
            [("C.CO>>CCO".to_owned(), made), ("CCO.CCO>>CCOCC".to_owned(), vec![edge("CCOCC", "CCO")])];
        assert_eq!(answer.reagent_results.reaction_to_edges.into_iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn metadata_counts_what_is_there() {
        let metadata =
            result(&TreeSearchRequest::new("CCOCC"), &plan(), Annotation::default(), Duration::from_secs(2))
                .metadata;

        assert_eq!((metadata.total_graph_nodes, metadata.total_bblocks), (7, 3));
        assert_eq!((metadata.validated_routes, metadata.unvalidated_routes), (2, 1));
        assert_eq!((metadata.tree_search_elapsed, metadata.total_elapsed), (1.5, 2.0));
    }

    #[test]
    fn a_plan_without_routes_is_an_answer() {
        let empty = Plan { groups: Vec::new(), ..plan() };

        let answer = result(&TreeSearchRequest::new("CCOCC"), &empty, Annotation::default(), Duration::ZERO);

        assert!(answer.route_hierarchy.is_empty());
        assert!(answer.reagent_results.reaction_to_edges.is_empty());
        assert_eq!(answer.metadata.total_bblocks, 0);
    }

    fn offer(block: i32, vendor: &str, pack: f64, usd: f64, days: Option<f64>) -> PricingAnnotation {
        PricingAnnotation {
            major_component_id: block,
            full_canonical: String::new(),
            major_component: String::new(),
            minor_components: String::new(),
            mw: 10.0,
            vendor_name: vendor.to_owned(),
            cs_id: format!("{vendor}-{block}"),
            cs_prefix: String::new(),
            cs_url: String::new(),
            pack: Some(pack),
            uom: Some("g".to_owned()),
            price_usd: (usd > 0.0).then_some(usd),
            normalised_usd: (usd > 0.0).then_some(usd / pack),
            api_timestamp: chrono::DateTime::UNIX_EPOCH,
            lead_time_days_to_US: days,
            lead_time_days_to_CA: None,
            lead_time_days_to_GB: None,
            lead_time_days_to_FR: None,
            lead_time_days_to_CH: None,
            lead_time_days_to_DE: None,
            lead_time_days_to_CN: None,
            lead_time_days_to_AU: None,
        }
    }

    /// The shopping list of the route in two steps, at half of each step's product and for 100 mmol: 4 g of block 3 and of 7 each, since
    /// two of each make the target, at 10 g/mol.
    fn shopping_list(offers: Vec<PricingAnnotation>, lead_limit: Option<f64>) -> contract::ShoppingList {
        let request = TreeSearchRequest {
            amount_mmol: 50.0,
            step_yield: 0.5,
            mask_lead_times_gte: lead_limit,
            ..TreeSearchRequest::new("CCOCC")
        };
        let answer =
            result(&request, &plan(), Annotation { offers, ..Annotation::default() }, Duration::ZERO);
        let made = answer.route_hierarchy["2"]["b2"][0][0].graph.clone().unwrap();
        made.shopping_list.unwrap()
    }

    #[test]
    fn a_route_comes_with_the_cheapest_packs_that_make_what_was_asked_for() {
        let offers = vec![
            offer(3, "A", 1.0, 3.0, Some(2.0)),
            offer(3, "A", 5.0, 13.0, Some(2.0)),
            offer(3, "B", 3.0, 8.0, Some(9.0)),
            offer(7, "B", 10.0, 1.0, Some(9.0)),
        ];

        let list = shopping_list(offers.clone(), None);
        let quick = shopping_list(offers, Some(5.0));

        let items = |list: &contract::ShoppingList| -> Vec<_> {
            let of = |order: &contract::VendorOrder| order.items.clone();
            let items = list.vendors.iter().flat_map(of);
            items
                .map(|item| (item.cs_id, item.pack.unwrap(), item.count, item.usd, item.grams_needed))
                .collect()
        };
        let expected = [
            ("A-3".to_owned(), 1.0, 1, 3.0, 4.0),
            ("B-3".to_owned(), 3.0, 1, 8.0, 4.0),
            ("B-7".to_owned(), 10.0, 1, 1.0, 4.0),
        ];
        assert_eq!(items(&list), expected);
        assert_eq!((list.total_usd, list.lead_time_days), (Some(12.0), Some(9.0)));
        // Who cannot wait buys the dearer packs, and the other block from nobody.
        assert_eq!(items(&quick), [("A-3".to_owned(), 1.0, 4, 12.0, 4.0)]);
        assert_eq!((quick.total_usd, quick.without_price.len()), (None, 1));
    }

    #[test]
    fn what_has_no_price_is_named_and_makes_no_total() {
        let list = shopping_list(vec![offer(3, "A", 1.0, 0.0, None), offer(7, "B", 10.0, 1.0, None)], None);

        let [unpriced] = &list.without_price[..] else { panic!("{list:?}") };
        assert_eq!((unpriced.building_block_idx, &*unpriced.vendors), (3, &["A".to_owned()][..]));
        assert_eq!((list.total_usd, list.lead_time_days), (None, None));
        assert_eq!(list.vendors[0].total_usd, 1.0);
    }

    #[test]
    fn what_every_laboratory_has_is_not_ordered() {
        let offers = vec![
            offer(3, "Common Lab Chemicals", 1.0, 0.0, None),
            offer(3, "A", 1.0, 3.0, Some(2.0)),
            offer(7, "B", 10.0, 1.0, Some(9.0)),
        ];

        let list = shopping_list(offers, None);

        assert_eq!((list.total_usd, list.lead_time_days), (Some(1.0), Some(9.0)));
        assert_eq!(list.without_price[0].building_block_idx, 3);
    }
}
