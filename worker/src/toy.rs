//! Toy search result, small enough to check by hand, and offers for its building blocks.

use std::{sync::Arc, time::Duration};

use contract::PricingAnnotation;
use petgraph::graph::DiGraph;
use synth::{
    BackboneGroup, ComponentRole, Counts, PrecedentSimilarity, ReactionClass, RecordedReactions, Route,
    RouteNode, RouteStep, SearchResult, Timings, Warning,
};

pub(crate) fn molecule(smiles: &str, depth: u32, building_block: Option<i32>) -> RouteNode {
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

pub(crate) fn step() -> RouteStep {
    RouteStep {
        template: 0,
        template_hash: "t".to_owned(),
        rank: Some(2),
        probability: 0.9,
        plausibility: 0.75,
        precedent: Some(PrecedentSimilarity { tanimoto: 0.5, cosine: 0.75 }),
        records: Arc::new(RecordedReactions {
            reactions: 12,
            patents: vec!["US01234567".to_owned()],
            agents: vec![(ComponentRole::Solvent, Arc::from("THF"), 9)],
        }),
        class: ReactionClass::default(),
        stereo_source: None,
        warnings: vec![Warning::CompetingProduct],
    }
}

/// Builds a route from these molecules; an edge `(product, precursor, times)` means that `product` takes `times` of
/// `precursor`.
pub(crate) fn route(molecules: Vec<RouteNode>, edges: &[(u32, u32, u32)], total: f64) -> Route {
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

/// Search result with two routes to `CCOCC`: from two bought `CCO`, and from two `CCO` each made from `C` and `CO`.
pub(crate) fn plan() -> SearchResult {
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
        skeleton: "[CH3:1]".to_owned(),
        variations: vec![vec![route]],
    };
    SearchResult {
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
        constraints: Vec::new(),
    }
}

/// Offer of a pack of `pack` grams at `usd` USD; a price of 0 means no price.
pub(crate) fn offer(block: i32, vendor: &str, pack: f64, usd: f64, days: Option<f64>) -> PricingAnnotation {
    PricingAnnotation {
        major_component_id: block,
        mw: 10.0,
        vendor_name: vendor.to_owned(),
        cs_id: format!("{vendor}-{block}"),
        pack: Some(pack),
        uom: Some("g".to_owned()),
        price_usd: (usd > 0.0).then_some(usd),
        normalised_usd: (usd > 0.0).then_some(usd / pack),
        lead_time_days_to_US: days,
        ..PricingAnnotation::default()
    }
}
