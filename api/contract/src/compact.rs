//! A search result in which each molecule and each step stands once.
//!
//! In the contract's shape a route repeats all data of its molecules, and an edge all evidence of its step: some 10 KB a
//! route. Here a route names its molecules and steps by their indices. Nothing is lost: [`CompactResult::expanded`]
//! gives the contract's shape back.

use std::collections::{BTreeMap, HashMap, VecDeque};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error as _, IgnoredAny},
    ser::Error as _,
};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::{
    Edge, Metadata, Node, NodeData, NodeNecessity, PricingAnnotation, ReagentResults, RouteGraph,
    RouteSummary, StepEvidence, TreeSearchResult, treesearch::Hierarchy,
};

/// Media type of a compact result.
pub const COMPACT_RESULT: &str = "application/vnd.retort.compact+json";

/// Result of a tree search in which each molecule and each step stands once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CompactResult {
    /// Canonical SMILES of the target.
    pub search_smiles: String,
    /// Timings in seconds, and counts.
    pub metadata: Metadata,
    /// The distinct molecules of all routes. One that some routes buy and others make stands twice.
    pub molecules: Vec<CompactMolecule>,
    /// The distinct steps of all routes.
    pub steps: Vec<CompactStep>,
    /// Routes by the number of reaction steps of the longest branch, and by backbone, as in `TreeSearchResult`.
    #[schema(value_type = BTreeMap<String, BTreeMap<String, Vec<Vec<CompactRoute>>>>)]
    pub route_hierarchy: Hierarchy<CompactRoute>,
    /// Vendor offers for the building blocks used.
    pub pricing_annotations: Vec<PricingAnnotation>,
    /// The distinct reaction steps.
    pub reagent_results: ReagentResults,
}

/// A molecule of a compact result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CompactMolecule {
    /// Id of its nodes.
    pub id: String,
    /// Data of the molecule, without what depends on the route: `depth` is 0.
    pub data: NodeData,
    /// Importance of the molecule in the routes of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standing: Option<NodeNecessity>,
}

/// A step of a compact result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CompactStep {
    /// Id of the product.
    pub product: String,
    /// Ids of the precursors, each once.
    pub precursors: Vec<String>,
    /// Estimated probability, from 0 to 1, that a chemist would run the step as written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 1)]
    pub plausibility: Option<f64>,
    /// Evidence for the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<StepEvidence>,
}

/// A route of a compact result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CompactRoute {
    /// Comparison of the route with the others of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graph: Option<RouteSummary>,
    /// Indices of its molecules in `molecules`, the target first.
    pub molecules: Vec<u32>,
    /// Indices of its steps in `steps`, in the order of their products in `molecules`.
    pub steps: Vec<u32>,
}

/// Items without repeats, with the indices of those of the same name.
struct Distinct<T> {
    items: Vec<T>,
    indices: HashMap<String, Vec<u32>>,
}

impl<T: PartialEq> Distinct<T> {
    fn new() -> Self {
        Self { items: Vec::new(), indices: HashMap::new() }
    }

    /// Returns the index of the item, which is added if it is new. Equal items have the same name.
    fn index(&mut self, name: &str, item: T) -> u32 {
        let same_name = self.indices.entry(name.to_owned()).or_default();
        if let Some(&index) = same_name.iter().find(|&&index| self.items.get(index as usize) == Some(&item)) {
            return index;
        }
        let index = u32::try_from(self.items.len()).unwrap_or(u32::MAX);
        same_name.push(index);
        self.items.push(item);
        index
    }
}

impl CompactResult {
    /// Converts a result in the contract's shape.
    #[must_use]
    pub fn of(result: TreeSearchResult) -> Self {
        let (mut molecules, mut steps) = (Distinct::new(), Distinct::new());
        let route_hierarchy =
            each_route(result.route_hierarchy, |route| compact_route(route, &mut molecules, &mut steps));
        Self {
            search_smiles: result.search_smiles,
            metadata: result.metadata,
            molecules: molecules.items,
            steps: steps.items,
            route_hierarchy,
            pricing_annotations: result.pricing_annotations,
            reagent_results: result.reagent_results,
        }
    }

    /// Converts to the contract's shape. Indices without a molecule or step are left out.
    #[must_use]
    pub fn expanded(self) -> TreeSearchResult {
        let (molecules, steps) = (&self.molecules, &self.steps);
        TreeSearchResult {
            search_smiles: self.search_smiles,
            metadata: self.metadata,
            route_hierarchy: each_route(self.route_hierarchy, |route| route.expanded(molecules, steps)),
            pricing_annotations: self.pricing_annotations,
            reagent_results: self.reagent_results,
        }
    }
}

/// Converts each route of a hierarchy.
fn each_route<A, B>(hierarchy: Hierarchy<A>, mut convert: impl FnMut(A) -> B) -> Hierarchy<B> {
    let mut converted = Hierarchy::new();
    for (steps, groups) in hierarchy {
        let of_steps = converted.entry(steps).or_insert_with(BTreeMap::new);
        for (key, variations) in groups {
            let variations = variations.into_iter();
            let variations = variations.map(|routes| routes.into_iter().map(&mut convert).collect());
            of_steps.insert(key, variations.collect());
        }
    }
    converted
}

fn compact_route(
    route: RouteGraph,
    molecules: &mut Distinct<CompactMolecule>,
    steps: &mut Distinct<CompactStep>,
) -> CompactRoute {
    let mut made: HashMap<String, CompactStep> = HashMap::new();
    for Edge { source, target, plausibility, evidence } in route.edges {
        let step = made.entry(source).or_insert_with_key(|product| CompactStep {
            product: product.clone(),
            precursors: Vec::new(),
            plausibility,
            evidence,
        });
        step.precursors.push(target);
    }
    let mut compact = CompactRoute { graph: route.graph, molecules: Vec::new(), steps: Vec::new() };
    for Node { id, data, standing } in route.nodes {
        if let Some(step) = made.remove(&id) {
            compact.steps.push(steps.index(&id, step));
        }
        let name = id.clone();
        let molecule = CompactMolecule { id, data: NodeData { depth: 0, ..data }, standing };
        compact.molecules.push(molecules.index(&name, molecule));
    }
    compact
}

impl CompactRoute {
    /// Converts to the contract's shape, with these molecules and steps of its result. Indices without a molecule or
    /// step are left out.
    #[must_use]
    pub fn expanded(self, molecules: &[CompactMolecule], steps: &[CompactStep]) -> RouteGraph {
        let molecules: Vec<&CompactMolecule> =
            self.molecules.iter().filter_map(|&index| molecules.get(index as usize)).collect();
        let steps: Vec<&CompactStep> =
            self.steps.iter().filter_map(|&index| steps.get(index as usize)).collect();
        let depths = depths(&molecules, &steps);
        let nodes = molecules.into_iter().map(|molecule| Node {
            id: molecule.id.clone(),
            data: NodeData {
                depth: depths.get(molecule.id.as_str()).copied().unwrap_or_default(),
                ..molecule.data.clone()
            },
            standing: molecule.standing.clone(),
        });
        let edges = steps.iter().flat_map(|step| {
            step.precursors.iter().map(|precursor| Edge {
                source: step.product.clone(),
                target: precursor.clone(),
                plausibility: step.plausibility,
                evidence: step.evidence.clone(),
            })
        });
        RouteGraph {
            directed: true,
            multigraph: false,
            graph: self.graph,
            nodes: nodes.collect(),
            edges: edges.collect(),
        }
    }
}

/// Returns the fewest steps from the target to each molecule, by id.
fn depths<'a>(molecules: &[&'a CompactMolecule], steps: &[&'a CompactStep]) -> HashMap<&'a str, u32> {
    let made: HashMap<&str, &CompactStep> = steps.iter().map(|&step| (step.product.as_str(), step)).collect();
    let mut depths: HashMap<&str, u32> = HashMap::new();
    let mut next: VecDeque<(&str, u32)> =
        molecules.first().map(|target| (target.id.as_str(), 0)).into_iter().collect();
    while let Some((id, depth)) = next.pop_front() {
        if depths.contains_key(id) {
            continue;
        }
        depths.insert(id, depth);
        let precursors = made.get(id).into_iter().flat_map(|step| &step.precursors);
        next.extend(precursors.map(|precursor| (precursor.as_str(), depth + 1)));
    }
    depths
}

/// Result of a tree search as a worker stores it: compact if the caller can read that, else in the contract's shape.
#[derive(Debug, Clone, PartialEq)]
pub enum StoredSearchResult {
    /// Compact.
    Compact(CompactResult),
    /// In the contract's shape.
    Full(TreeSearchResult),
}

impl StoredSearchResult {
    /// Converts to the compact shape.
    #[must_use]
    pub fn compact(self) -> CompactResult {
        match self {
            Self::Compact(result) => result,
            Self::Full(result) => CompactResult::of(result),
        }
    }
}

impl StoredSearchResult {
    /// Serialises the result. This crate is compiled for speed, unlike those that call it.
    ///
    /// # Errors
    /// Fails if a number is not finite.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        match self {
            Self::Compact(result) => serde_json::to_string(result),
            Self::Full(result) => serde_json::to_string(result),
        }
    }

    /// Reads either shape; only a compact one has `molecules`.
    fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        #[derive(Deserialize)]
        struct Shape {
            molecules: Option<IgnoredAny>,
        }

        match serde_json::from_str::<Shape>(text)?.molecules {
            Some(IgnoredAny) => serde_json::from_str(text).map(Self::Compact),
            None => serde_json::from_str(text).map(Self::Full),
        }
    }
}

impl Serialize for StoredSearchResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = self.to_json().and_then(RawValue::from_string).map_err(S::Error::custom)?;
        text.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for StoredSearchResult {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Box::<RawValue>::deserialize(deserializer)?;
        Self::from_json(text.get()).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the API's documentation: one step.
    fn example() -> TreeSearchResult {
        serde_json::from_str(include_str!("../../src/examples/tree_search.json")).unwrap()
    }

    #[test]
    fn a_compact_result_gives_the_contracts_shape_back() {
        let recorded = serde_json::from_str(include_str!("../../tests/data/imatinib_routes.json")).unwrap();
        for result in [example(), recorded] {
            let compact = CompactResult::of(result.clone());

            assert_eq!(compact.clone().expanded(), result);
            for stored in [StoredSearchResult::Compact(compact), StoredSearchResult::Full(result.clone())] {
                let text = serde_json::to_string(&stored).unwrap();
                let read: StoredSearchResult = serde_json::from_str(&text).unwrap();
                assert_eq!(read, stored);
                assert_eq!(read.compact().expanded(), result);
            }
        }
    }

    #[test]
    fn what_routes_share_stands_once() {
        let mut result = example();
        let variations = result.route_hierarchy.values_mut().flat_map(BTreeMap::values_mut).next().unwrap();
        variations.push(variations[0].clone());

        let compact = CompactResult::of(result);

        assert_eq!((compact.molecules.len(), compact.steps.len()), (3, 1));
    }

    #[test]
    fn an_index_of_nothing_is_left_out() {
        let mut compact = CompactResult::of(example());
        compact.molecules.truncate(1);
        compact.steps.clear();

        let expanded = compact.expanded();

        let route = expanded.route_hierarchy.values().flat_map(BTreeMap::values).flatten().flatten().next();
        assert_eq!(route.map(|route| (route.nodes.len(), route.edges.len())), Some((1, 0)));
    }
}
