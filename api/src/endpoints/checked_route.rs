//! Validation of routes that callers send.

use std::collections::HashSet;

use chem::{Limits, MappedMolecule};
use contract::{Edge, Location, MAX_KEPT_NODES, RouteGraph, RouteSummary, StepEvidence};
use petgraph::{
    algo::is_cyclic_directed,
    graph::NodeIndex,
    visit::{Dfs, Walker},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{
    body_validation::CancelFlag,
    endpoints::treesearch::check_graph,
    fields::{FieldFault, InputValue},
};

/// Largest number of characters of a text, and of items of a list, in data that a caller sends back.
pub const MAX_LENGTH: usize = 10_000;

/// Parses a value in the shape of a tree search's answer; unknown fields are refused.
pub fn exactly<T: DeserializeOwned + Serialize>(input: &InputValue<'_>) -> Result<T, FieldFault> {
    let InputValue::Object(raw) = input else {
        return Err(FieldFault::new("dict_type", "Input should be a valid dictionary"));
    };
    let unreadable = |error: serde_json::Error| {
        FieldFault::new(
            "value_error",
            format!("Input should have the form of a tree search's answer: {error}"),
        )
    };
    let value: T = serde_json::from_str(raw).map_err(unreadable)?;
    let given = serde_json::from_str(raw).map_err(unreadable)?;
    if let Some((place, kind)) = oversized_value(&given) {
        let fault = FieldFault::new(
            kind,
            format!("Texts should have at most {MAX_LENGTH} characters, lists as many items"),
        );
        return Err(place.into_iter().rev().fold(fault, FieldFault::within));
    }
    let read = serde_json::to_value(&value).map_err(unreadable)?;
    match unknown_field(&given, &read) {
        None => Ok(value),
        Some(place) => {
            let msg = "Unknown field, or a field that belongs with it is missing";
            Err(place.into_iter().rev().fold(FieldFault::new("extra_forbidden", msg), FieldFault::within))
        }
    }
}

/// Returns the place in `given` of a text or list that is too long.
fn oversized_value(given: &Value) -> Option<(Vec<Location>, &'static str)> {
    let inside = |part: Location, value: &Value| {
        let (place, kind) = oversized_value(value)?;
        Some(([part].into_iter().chain(place).collect(), kind))
    };
    match given {
        Value::String(text) if text.chars().nth(MAX_LENGTH).is_some() => {
            Some((Vec::new(), "string_too_long"))
        }
        Value::Array(items) if items.len() > MAX_LENGTH => Some((Vec::new(), "too_long")),
        Value::Array(items) => items.iter().enumerate().find_map(|(at, item)| inside(at.into(), item)),
        Value::Object(members) => {
            members.iter().find_map(|(name, value)| inside(name.as_str().into(), value))
        }
        _ => None,
    }
}

/// Returns the place in `given` of a field that was lost in `read`, which was parsed from it.
fn unknown_field(given: &Value, read: &Value) -> Option<Vec<Location>> {
    let inside = |part: Location, given: &Value, read: &Value| {
        unknown_field(given, read).map(|within| [part].into_iter().chain(within).collect())
    };
    match (given, read) {
        (Value::Object(given), Value::Object(read)) => given.iter().find_map(|(name, given)| {
            match read.get(name) {
                Some(read) => inside(name.as_str().into(), given, read),
                // Null and absence mean the same.
                None if given.is_null() => None,
                None => Some(vec![name.as_str().into()]),
            }
        }),
        (Value::Array(given), Value::Array(read)) => {
            let mut items = given.iter().zip(read).enumerate();
            items.find_map(|(at, (given, read))| inside(at.into(), given, read))
        }
        _ => None,
    }
}

/// Parses a route to the molecule with the canonical SMILES `target`, or to any molecule if that is `None`. Parsing
/// ends when `stop` is set.
pub fn route_to(
    target: Option<&str>,
    input: &InputValue<'_>,
    stop: &CancelFlag,
) -> Result<RouteGraph, FieldFault> {
    let route: RouteGraph = exactly(input)?;
    let refused =
        |reason: &str| FieldFault::new("graph_invalid", format!("Input should be a route: {reason}"));
    check_graph(&route).map_err(refused)?;
    if route.nodes.len() > MAX_KEPT_NODES {
        return Err(refused("it has more than 1,000 molecules"));
    }
    let mut seen = HashSet::with_capacity(route.nodes.len());
    for (at, node) in route.nodes.iter().enumerate() {
        if stop.is_set() {
            return Err(refused("nobody waits for it any more"));
        }
        let fault = |kind, msg: String| {
            FieldFault::new(kind, msg).within("smiles").within("data").within(at).within("nodes")
        };
        let mapped = MappedMolecule::of_one(&node.data.smiles, Limits::TARGET)
            .map_err(|error| fault("smiles_invalid", format!("Input should be a valid SMILES: {error}")))?;
        let molecule = mapped.molecule().canonical_smiles();
        if at == 0 && target.is_some_and(|target| target != molecule) {
            return Err(fault("graph_invalid", "The first molecule should be the target".to_owned()));
        }
        if !seen.insert(molecule) {
            return Err(fault("graph_invalid", "Each molecule should stand in the route once".to_owned()));
        }
    }
    check_connectivity(&route).map_err(refused)?;
    check_numbers(&route).map_err(|name| {
        FieldFault::new(
            "value_error",
            format!("Input should have all numbers in their ranges: `{name}` is out of range"),
        )
    })?;
    Ok(route)
}

/// Refuses a graph that does not lead from the target down to its building blocks.
fn check_connectivity(route: &RouteGraph) -> Result<(), &'static str> {
    let graph = route.molecules();
    if is_cyclic_directed(&graph) {
        return Err("a molecule is made of itself");
    }
    if Dfs::new(&graph, NodeIndex::new(0)).iter(&graph).count() < route.nodes.len() {
        return Err("a molecule is in no step of the target's");
    }
    let is_made = |at| graph.neighbors(at).next().is_some();
    if graph.node_indices().zip(&route.nodes).any(|(at, node)| node.data.is_building_block && is_made(at)) {
        return Err("a molecule is both bought and made");
    }
    Ok(())
}

/// Fails with the name of a number that is out of range.
fn check_numbers(route: &RouteGraph) -> Result<(), &'static str> {
    let share = |name, value: Option<f64>| match value {
        Some(value) if !(0.0..=1.0).contains(&value) => Err(name),
        _ => Ok(()),
    };
    if let Some(RouteSummary { rank, score, convergence, shopping_list, .. }) = &route.graph {
        share("score", Some(*score))?;
        if *rank == 0 {
            return Err("rank");
        }
        if *convergence < 1.0 {
            return Err("convergence");
        }
        let orders = shopping_list.iter().flat_map(|list| &list.vendors);
        if orders.flat_map(|order| &order.items).any(|packs| packs.count == 0) {
            return Err("count");
        }
    }
    for Edge { plausibility, evidence, .. } in &route.edges {
        share("plausibility", *plausibility)?;
        if let Some(StepEvidence { probability, precedent_similarity, precedent_cosine, rank, .. }) = evidence
        {
            share("probability", Some(*probability))?;
            share("precedent_similarity", *precedent_similarity)?;
            share("precedent_cosine", *precedent_cosine)?;
            if *rank == Some(0) {
                return Err("rank");
            }
        }
    }
    Ok(())
}
