//! Tree search results in the shape that clients of this API family read (`contract::EngineAnswer`).
//!
//! Nothing is recomputed or invented. A step becomes a node with the data of its edges. Where those clients need a
//! number that is unknown, the number is 9999. An offer that lacks one of their own required numbers is left out.

use std::collections::BTreeMap;

use contract::{
    COMMON_CHEMICALS, CommonOffer, Edge, EngineAnswer, EngineEdge, EngineHierarchy, EngineNode,
    EngineNodeData, EngineOffer, EngineRoute, PricedOffer, PricedRoute, PricingAnnotation, ReactionData,
    ReagentResults, RouteGraph, TreeSearchResult, UNKNOWN,
};
use uuid::Uuid;

/// Namespace UUID of the reactions' node ids. An id depends only on the ids of product and precursors.
const REACTION_NAMESPACE: Uuid = Uuid::from_u128(0x8f0e_3b52_6c1d_4a97_b1a4_27d0_55c9_e18b);

/// Converts a result for clients of the family.
pub fn engine_answer(result: TreeSearchResult) -> EngineAnswer {
    let has_routes = !result.route_hierarchy.is_empty();
    let mut route_hierarchy = EngineHierarchy::new();
    for (steps, groups) in result.route_hierarchy {
        for (key, variations) in groups {
            for route in variations.into_iter().flatten() {
                let backbone = route.graph.as_ref().and_then(|graph| graph.backbone.clone());
                let by_steps = route_hierarchy.entry(backbone.unwrap_or_else(|| key.clone())).or_default();
                by_steps.entry(steps.clone()).or_default().push(priced(route));
            }
        }
    }
    EngineAnswer {
        search_smiles: result.search_smiles,
        metadata: result.metadata,
        route_hierarchy,
        pricing_annotations: has_routes
            .then(|| result.pricing_annotations.into_iter().filter_map(offer).collect()),
        reagent_results: has_routes.then(|| reagents(result.reagent_results)),
    }
}

fn priced(route: RouteGraph) -> PricedRoute {
    let list = route.graph.as_ref().and_then(|graph| graph.shopping_list.as_ref());
    let price = list.and_then(|list| list.total_usd).unwrap_or_else(|| UNKNOWN.into());
    PricedRoute(engine_route(route), price)
}

/// Step of a route, identified by its product.
struct EngineStep<'a> {
    id: String,
    /// First edge of the step. Each edge of a step carries all that is known of the step.
    first: &'a Edge,
    /// All edges of the step.
    edges: Vec<&'a Edge>,
}

impl EngineStep<'_> {
    fn cosine(&self) -> f64 {
        self.first.evidence.as_ref().and_then(|evidence| evidence.precedent_cosine).unwrap_or_default()
    }
}

/// Converts a route to one with its reactions as nodes.
pub fn engine_route(route: RouteGraph) -> EngineRoute {
    let mut steps: BTreeMap<&str, EngineStep<'_>> = BTreeMap::new();
    for edge in &route.edges {
        let step = steps.entry(&edge.source).or_insert_with(|| EngineStep {
            id: String::new(),
            first: edge,
            edges: Vec::new(),
        });
        step.edges.push(edge);
    }
    for (product, step) in &mut steps {
        step.id = reaction_id(product, step.edges.iter().map(|edge| edge.target.as_str()));
    }
    let molecules = route
        .nodes
        .iter()
        .map(|node| EngineNode { id: node.id.clone(), data: EngineNodeData::Molecule(node.data.clone()) });
    // Ordered by product.
    let reactions = route.nodes.iter().filter_map(|node| {
        let step = steps.get(node.id.as_str())?;
        let reaction = reaction(step, similarity_to(&node.id, &steps) * step.cosine());
        let data = EngineNodeData::Reaction(Box::new(reaction));
        Some(EngineNode { id: step.id.clone(), data })
    });
    let edges = steps.iter().flat_map(|(product, step)| {
        let to = |source: &str, target: &str| EngineEdge { source: source.into(), target: target.into() };
        let taken = step.edges.iter().map(move |edge| to(&edge.target, &step.id));
        taken.chain([to(&step.id, product)])
    });
    EngineRoute {
        directed: true,
        multigraph: false,
        nodes: molecules.chain(reactions).collect(),
        edges: edges.collect(),
        graph: route.graph.clone(),
    }
}

fn reaction(step: &EngineStep<'_>, path_similarity: f64) -> ReactionData {
    let edge = step.first;
    let evidence = edge.evidence.as_ref();
    ReactionData {
        template_id: evidence.and_then(|evidence| evidence.template_id).unwrap_or_default(),
        rank: evidence.and_then(|evidence| evidence.rank).unwrap_or(1),
        cosine_sim: step.cosine(),
        path_cosine_dist: (1.0 - path_similarity).clamp(0.0, 1.0),
        plausibility: edge.plausibility,
        evidence: edge.evidence.clone(),
    }
}

/// Returns the smallest product of step similarities over the branches from the target down to `molecule`. A route
/// has no cycle, and is at most fifty steps deep.
fn similarity_to(molecule: &str, steps: &BTreeMap<&str, EngineStep<'_>>) -> f64 {
    let takes = |step: &EngineStep<'_>| step.edges.iter().any(|edge| edge.target == molecule);
    let above = steps.iter().filter(|(_, step)| takes(step));
    above.map(|(product, step)| similarity_to(product, steps) * step.cosine()).fold(1.0, f64::min)
}

fn reaction_id<'a>(product: &str, precursors: impl Iterator<Item = &'a str>) -> String {
    let mut precursors: Vec<&str> = precursors.collect();
    precursors.sort_unstable();
    Uuid::new_v5(&REACTION_NAMESPACE, format!("{product}<{}", precursors.join("+")).as_bytes()).to_string()
}

/// Renames the edges of the steps to the identifiers that they have in this shape.
fn reagents(results: ReagentResults) -> ReagentResults {
    let with_reaction = |edges: Vec<String>| {
        let ends: Vec<(&str, &str)> = edges.iter().filter_map(|edge| edge.split_once(':')).collect();
        let Some(&(product, _)) = ends.first() else { return edges };
        let id = reaction_id(product, ends.iter().map(|(_, precursor)| *precursor));
        let taken = ends.iter().map(|(_, precursor)| format!("{precursor}:{id}"));
        taken.chain([format!("{id}:{product}")]).collect()
    };
    let reactions = results.reaction_to_edges.into_iter();
    ReagentResults {
        reaction_to_edges: reactions.map(|(reaction, edges)| (reaction, with_reaction(edges))).collect(),
    }
}

/// Converts an offer, if it has the numbers that its clients need.
fn offer(offer: PricingAnnotation) -> Option<EngineOffer> {
    if offer.vendor_name == COMMON_CHEMICALS {
        return Some(EngineOffer::Common(CommonOffer {
            major_component_id: offer.major_component_id,
            full_canonical: offer.full_canonical,
            major_component: offer.major_component,
            minor_components: offer.minor_components,
            mw: offer.mw,
            vendor_name: offer.vendor_name,
        }));
    }
    Some(EngineOffer::Priced(PricedOffer {
        major_component_id: offer.major_component_id,
        full_canonical: offer.full_canonical,
        major_component: offer.major_component,
        minor_components: offer.minor_components,
        mw: offer.mw,
        vendor_name: offer.vendor_name,
        cs_id: offer.cs_id,
        cs_prefix: offer.cs_prefix,
        cs_url: offer.cs_url,
        pack: offer.pack?,
        uom: offer.uom?,
        price_usd: offer.price_usd?,
        normalised_usd: offer.normalised_usd?,
        api_timestamp: offer.api_timestamp,
        lead_time_days_to_US: whole_days(offer.lead_time_days_to_US),
        lead_time_days_to_CA: whole_days(offer.lead_time_days_to_CA),
        lead_time_days_to_GB: whole_days(offer.lead_time_days_to_GB),
        lead_time_days_to_FR: whole_days(offer.lead_time_days_to_FR),
        lead_time_days_to_CH: whole_days(offer.lead_time_days_to_CH),
        lead_time_days_to_DE: whole_days(offer.lead_time_days_to_DE),
        lead_time_days_to_CN: whole_days(offer.lead_time_days_to_CN),
        lead_time_days_to_AU: whole_days(offer.lead_time_days_to_AU),
    }))
}

fn whole_days(days: Option<f64>) -> u32 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "days, and saturating is what is wanted"
    )]
    days.map_or(UNKNOWN, |days| days.ceil() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two steps: the target from A and B, and A from C; only C is sold.
    const RESULT: &str = include_str!("../tests/golden/treesearch_result.json");

    fn answer(result: &str) -> serde_json::Value {
        let result: TreeSearchResult = serde_json::from_str(result).unwrap();
        serde_json::to_value(engine_answer(result)).unwrap()
    }

    #[test]
    fn an_answer_is_what_clients_of_the_family_read() {
        let expected: serde_json::Value =
            serde_json::from_str(include_str!("../tests/golden/engine_answer.json")).unwrap();

        assert_eq!(answer(RESULT), expected);
    }

    #[test]
    fn without_a_route_there_is_neither_offer_nor_reaction() {
        let empty = r#"{"search_smiles":"C","metadata":{"tree_search_elapsed":1,"routes_extracted_elapsed":0,
            "routes_validated_elapsed":0,"bblock_annotations_elapsed":0,"total_elapsed":1,"total_graph_nodes":1,
            "unvalidated_routes":0,"validated_routes":0,"total_bblocks":0},"route_hierarchy":{},
            "pricing_annotations":[],"reagent_results":{"reaction_to_edges":{}}}"#;

        let answer = answer(empty);

        assert_eq!(answer["route_hierarchy"], serde_json::json!({}));
        assert!(answer["pricing_annotations"].is_null() && answer["reagent_results"].is_null());
    }
}
