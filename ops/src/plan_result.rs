//! Conversion of a plan's answer, which has the shape that other clients of this API family read, into the tree
//! search's answer.
//!
//! Placeholder numbers of the plan's answer become unknown values again. Routes are grouped by the backbone itself,
//! because the plan's answer does not contain its key.

use std::collections::BTreeMap;

use contract::{
    CommonOffer, Edge, EngineAnswer, EngineEdge, EngineNodeData, EngineOffer, EngineRoute, Node, PricedOffer,
    PricingAnnotation, ReagentResults, RouteGraph, RouteHierarchy, TreeSearchResult, UNKNOWN,
};

/// Converts a plan's answer into a tree search's answer.
pub fn tree_search_result(answer: EngineAnswer) -> TreeSearchResult {
    let mut route_hierarchy = RouteHierarchy::new();
    for (backbone, by_steps) in answer.route_hierarchy {
        for (steps, routes) in by_steps {
            let groups = route_hierarchy.entry(steps).or_default();
            let variations = groups.entry(backbone.clone()).or_default();
            variations.extend(routes.into_iter().map(|priced| vec![without_reactions(priced.0)]));
        }
    }
    TreeSearchResult {
        search_smiles: answer.search_smiles,
        metadata: answer.metadata,
        route_hierarchy,
        pricing_annotations: answer.pricing_annotations.into_iter().flatten().map(offer).collect(),
        reagent_results: answer.reagent_results.map(reagents).unwrap_or_default(),
    }
}

/// Converts a route to molecule nodes only: the data of a reaction moves to its edges from product to precursor.
fn without_reactions(route: EngineRoute) -> RouteGraph {
    let (mut nodes, mut reactions) = (Vec::new(), BTreeMap::new());
    for node in route.nodes {
        match node.data {
            EngineNodeData::Molecule(data) => nodes.push(Node { id: node.id, data, standing: None }),
            EngineNodeData::Reaction(reaction) => {
                reactions.insert(node.id, reaction);
            }
        }
    }
    let to_product = |edge: &&EngineEdge| reactions.contains_key(&edge.source);
    let products: BTreeMap<&str, &str> =
        route.edges.iter().filter(to_product).map(|edge| (&*edge.source, &*edge.target)).collect();
    let edges = route.edges.iter().filter_map(|edge| {
        let reaction = reactions.get(&edge.target)?;
        Some(Edge {
            source: (*products.get(edge.target.as_str())?).to_owned(),
            target: edge.source.clone(),
            plausibility: reaction.plausibility,
            evidence: reaction.evidence.clone(),
        })
    });
    RouteGraph { directed: true, multigraph: false, edges: edges.collect(), graph: route.graph, nodes }
}

/// Maps the steps to the ids of the edges from product to precursor.
fn reagents(results: ReagentResults) -> ReagentResults {
    let without_reaction = |edges: Vec<String>| {
        let ends: Vec<(&str, &str)> = edges.iter().filter_map(|edge| edge.split_once(':')).collect();
        let Some((&(_, product), taken)) = ends.split_last() else { return edges };
        taken.iter().map(|(precursor, _)| format!("{product}:{precursor}")).collect()
    };
    let reactions = results.reaction_to_edges.into_iter();
    ReagentResults {
        reaction_to_edges: reactions.map(|(reaction, edges)| (reaction, without_reaction(edges))).collect(),
    }
}

fn offer(offer: EngineOffer) -> PricingAnnotation {
    match offer {
        EngineOffer::Priced(offer) => priced(offer),
        EngineOffer::Common(offer) => common(offer),
    }
}

fn priced(offer: PricedOffer) -> PricingAnnotation {
    PricingAnnotation {
        major_component_id: offer.major_component_id,
        full_canonical: offer.full_canonical,
        major_component: offer.major_component,
        minor_components: offer.minor_components,
        mw: offer.mw,
        vendor_name: offer.vendor_name,
        cs_id: offer.cs_id,
        cs_prefix: offer.cs_prefix,
        cs_url: offer.cs_url,
        pack: Some(offer.pack),
        uom: Some(offer.uom),
        price_usd: Some(offer.price_usd),
        normalised_usd: Some(offer.normalised_usd),
        api_timestamp: offer.api_timestamp,
        lead_time_days_to_US: days(offer.lead_time_days_to_US),
        lead_time_days_to_CA: days(offer.lead_time_days_to_CA),
        lead_time_days_to_GB: days(offer.lead_time_days_to_GB),
        lead_time_days_to_FR: days(offer.lead_time_days_to_FR),
        lead_time_days_to_CH: days(offer.lead_time_days_to_CH),
        lead_time_days_to_DE: days(offer.lead_time_days_to_DE),
        lead_time_days_to_CN: days(offer.lead_time_days_to_CN),
        lead_time_days_to_AU: days(offer.lead_time_days_to_AU),
        ..PricingAnnotation::default()
    }
}

/// Converts the offer of a common laboratory chemical, which has no catalogue entry, no price and no lead time.
fn common(offer: CommonOffer) -> PricingAnnotation {
    PricingAnnotation {
        major_component_id: offer.major_component_id,
        full_canonical: offer.full_canonical,
        major_component: offer.major_component,
        minor_components: offer.minor_components,
        mw: offer.mw,
        vendor_name: offer.vendor_name,
        ..PricingAnnotation::default()
    }
}

fn days(days: u32) -> Option<f64> {
    (days != UNKNOWN).then(|| days.into())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Returns a plan's answer for `T` made from `A` and `B`.
    fn answer() -> EngineAnswer {
        let molecule = |id: &str, depth: u32| {
            json!({ "id": id, "data": { "smiles": id.to_uppercase(), "mw": 1.0, "is_building_block": depth > 0,
                "building_block_idx": null, "closest_building_block": 1.0, "depth": depth, "expanded": true, "in_solution_path": true } })
        };
        let route = json!({
            "directed": true, "multigraph": false,
            "nodes": [molecule("t", 0), molecule("a", 1), molecule("b", 1),
                { "id": "r", "data": { "template_id": 3, "rank": 1, "cosine_sim": 0.5, "path_cosine_dist": 0.5, "plausibility": 0.9 } }],
            "edges": [{ "source": "a", "target": "r" }, { "source": "b", "target": "r" }, { "source": "r", "target": "t" }],
        });
        serde_json::from_value(json!({
            "search_smiles": "T", "metadata": contract::Metadata::default(),
            "route_hierarchy": { "[CH3:1]": { "1": [[route, 9999.0]] } },
            "pricing_annotations": [
                { "major_component_id": 1, "full_canonical": "A", "major_component": "A", "minor_components": "", "mw": 1.0,
                    "vendor_name": "Common Lab Chemicals" },
            ],
            "reagent_results": { "reaction_to_edges": { "A.B>>T": ["a:r", "b:r", "r:t"] } },
        }))
        .unwrap()
    }

    #[test]
    fn a_plans_answer_becomes_that_of_the_search_again() {
        let result = tree_search_result(answer());

        let graph = &result.route_hierarchy["1"]["[CH3:1]"][0][0];
        let edges: Vec<(&str, &str)> =
            graph.edges.iter().map(|edge| (&*edge.source, &*edge.target)).collect();
        assert_eq!((edges, graph.nodes.len()), (vec![("t", "a"), ("t", "b")], 3));
        assert_eq!(graph.edges[0].plausibility, Some(0.9));
        assert_eq!(result.reagent_results.reaction_to_edges["A.B>>T"], ["t:a", "t:b"]);
        assert_eq!(result.pricing_annotations[0].normalised_usd, None);
        assert_eq!((days(UNKNOWN), days(3)), (None, Some(3.0)));
    }

    #[test]
    fn an_answer_without_a_route_is_one() {
        let empty = EngineAnswer {
            route_hierarchy: BTreeMap::new(),
            pricing_annotations: None,
            reagent_results: None,
            ..answer()
        };

        let result = tree_search_result(empty);

        assert!(result.route_hierarchy.is_empty() && result.pricing_annotations.is_empty());
    }
}
