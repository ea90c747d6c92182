//! Answer of a tree search.

use std::collections::{BTreeMap, HashMap};

use chrono::{DateTime, Utc};
use petgraph::graph::{DiGraph, NodeIndex};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{constraints::ConstraintReport, search_request::Country, shopping::ShoppingList};

/// Routes by number of steps of the longest branch, then by backbone; each value holds one array of routes per distinct
/// set of building blocks, best first.
pub type Hierarchy<R> = BTreeMap<String, BTreeMap<String, Vec<Vec<R>>>>;

/// Every validated route found, with offers for the building blocks used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TreeSearchResult {
    /// Canonical SMILES of the target.
    #[schema(required = false)]
    pub search_smiles: String,
    /// Timings in seconds, and counts.
    pub metadata: Metadata,
    /// `route_hierarchy[steps][backbone]`: `steps` is the number of reaction steps of the longest branch. `backbone`
    /// is `b` and 16 hexadecimal digits, the same for the same backbone in every search.
    #[schema(value_type = BTreeMap<String, BTreeMap<String, Vec<Vec<RouteGraph>>>>)]
    pub route_hierarchy: Hierarchy<RouteGraph>,
    /// Vendor offers for the building blocks used.
    pub pricing_annotations: Vec<PricingAnnotation>,
    /// The distinct reaction steps.
    pub reagent_results: ReagentResults,
}

/// Elapsed seconds of each stage, and counts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Metadata {
    /// Seconds spent searching.
    pub tree_search_elapsed: f64,
    /// Seconds spent extracting routes.
    pub routes_extracted_elapsed: f64,
    /// Seconds spent validating routes.
    pub routes_validated_elapsed: f64,
    /// Seconds spent annotating building blocks with offers.
    pub bblock_annotations_elapsed: f64,
    /// Seconds from the worker's start on the job to its answer.
    pub total_elapsed: f64,
    /// Nodes of the search graph, molecules and reactions.
    pub total_graph_nodes: u64,
    /// Candidate routes that were extracted and failed validation.
    pub unvalidated_routes: u64,
    /// Routes that passed validation.
    pub validated_routes: u64,
    /// Distinct building blocks in the routes returned.
    pub total_bblocks: u64,
    /// Explanation of the result. Absent in answers of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchReport>,
}

/// Work done by a search, and reasons for its end.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SearchReport {
    /// Number of molecules that templates were tried on.
    pub expanded_molecules: u64,
    /// Doubtful routes of the answer: with a step of a plausibility under 0.65. The `warnings` of such steps say so.
    #[serde(default)]
    pub doubtful_routes: u64,
    /// True if the search ended because nothing was left to try, false if it ran out of time.
    pub exhausted: bool,
    /// Proposed steps that were rejected, by reason.
    pub refused_steps: RefusedSteps,
    /// Missing molecules where there is no route: those that the cheapest attempt could neither make nor buy,
    /// canonical SMILES.
    pub stopped_by: Vec<String>,
    /// Effect of each constraint of the request. Absent where it had none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<ConstraintReport>,
}

/// Proposed steps that were rejected, by reason.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RefusedSteps {
    /// A chemist would not run them: something else in the reaction mixture reacts first, there is no leaving group or
    /// no activation, or hardly anything speaks for them.
    pub unsound: u64,
    /// Run forwards, the template does not give their product.
    pub product_not_regained: u64,
    /// Run forwards, the template gives other products as well.
    pub competing_site: u64,
}

/// A route as `NetworkX` node-link data: `networkx.node_link_graph(graph, edges="edges")` reads it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RouteGraph {
    /// Always true: edges run from product to precursor.
    pub directed: bool,
    /// Always false.
    pub multigraph: bool,
    /// Comparison of the route with the others of the answer. Absent in answers of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graph: Option<RouteSummary>,
    /// The molecules, the target first.
    pub nodes: Vec<Node>,
    /// Edges from product to precursor.
    pub edges: Vec<Edge>,
}

impl RouteGraph {
    /// Returns the graph of its molecules in their order, with an edge from each to its precursors. Edges to unknown
    /// molecules are left out.
    #[must_use]
    pub fn molecules(&self) -> DiGraph<(), ()> {
        let mut graph = DiGraph::with_capacity(self.nodes.len(), self.edges.len());
        let places: HashMap<&str, NodeIndex> =
            self.nodes.iter().map(|node| (node.id.as_str(), graph.add_node(()))).collect();
        for edge in &self.edges {
            if let (Some(&product), Some(&precursor)) =
                (places.get(edge.source.as_str()), places.get(edge.target.as_str()))
            {
                graph.update_edge(product, precursor, ());
            }
        }
        graph
    }
}

/// Comparison of a route with the others of its answer: attributes of the graph, as `NetworkX` keeps them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = RouteStanding)]
pub struct RouteSummary {
    /// Rank among all routes of the answer, whatever their backbone; 1 is best.
    #[schema(minimum = 1)]
    pub rank: u32,
    /// Score that decides the rank, from 0 to 1, higher is better. It combines probability, plausibility, precedents,
    /// convergence and price. Comparable within an answer.
    #[schema(minimum = 0, maximum = 1)]
    pub score: f64,
    /// USD of building blocks for a mole of the target, at full yield in every step, by the best offer of each in the
    /// requested region. Common laboratory chemicals (`Common Lab Chemicals`) that no vendor prices cost nothing;
    /// null where another block has no known price.
    pub cost_usd_per_mol: Option<f64>,
    /// Days until the last building block arrives, by the fastest offer of each; null where one is not known.
    pub lead_time_days: Option<f64>,
    /// Steps of the whole route divided by steps of its longest branch: 1 for a linear route, more for a convergent
    /// one.
    #[schema(minimum = 1)]
    pub convergence: f64,
    /// Shopping list for the requested amount. Absent in answers of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shopping_list: Option<ShoppingList>,
    /// Common part of the routes of a backbone: the target's SMILES, in which the atom map number of each atom is the
    /// backbone fragment that it ends up in. Atoms in no fragment have no number. Absent in answers of earlier
    /// versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backbone: Option<String>,
}

/// A molecule of a route.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Node {
    /// UUID, stable within a response: the same molecule has the same id in every route.
    pub id: String,
    /// Data of the molecule.
    pub data: NodeData,
    /// Importance of the molecule in the routes of the answer. Absent in answers of earlier versions.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub standing: Option<NodeNecessity>,
}

/// Importance of a molecule in the routes of its answer: attributes of the node, the same in every route that
/// contains it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = NodeStanding)]
pub struct NodeNecessity {
    /// True if every route of the answer contains the molecule, bought or made.
    pub essential: bool,
    /// Node id of the nearest molecule that lies on every path from this one to the target, in all routes. This
    /// molecule serves only to make that one: once that one is available, this one is not needed. Null for the
    /// target.
    pub only_for: Option<String>,
}

/// Data of a molecule of a route.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct NodeData {
    /// Canonical SMILES.
    pub smiles: String,
    /// Average molecular weight, daltons.
    pub mw: f64,
    /// True if the route buys the molecule.
    pub is_building_block: bool,
    /// Catalogue's integer for the molecule, equal to `major_component_id` of its offers; null if it is not bought.
    pub building_block_idx: Option<i32>,
    /// Tanimoto similarity (Morgan, radius 2, 2048 bits) to the nearest allowed building block; 1.0 for a building
    /// block.
    pub closest_building_block: f64,
    /// Number of reaction steps from the target; 0 for the target.
    pub depth: u32,
    /// True if the search expanded the molecule.
    pub expanded: bool,
    /// True if the molecule lies on a solved route; always true in a returned route.
    pub in_solution_path: bool,
}

/// An edge from a product to one of its precursors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Edge {
    /// Node id of the product.
    pub source: String,
    /// Node id of the precursor.
    pub target: String,
    /// Estimated probability, from 0 to 1, that a chemist would run the step as written: by the plausibility model beside
    /// competing products, and the evidence of the template. The same on all edges of a step. Absent in answers of earlier
    /// versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 1)]
    pub plausibility: Option<f64>,
    /// Evidence for the step; the same on all edges of a step. Absent in answers of earlier versions.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<StepEvidence>,
}

/// Evidence for a step: attributes of its edges.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StepEvidence {
    /// Common name of the reaction, such as `amide coupling` or `Boc removal`.
    pub reaction_class: String,
    /// Category of the reaction, one of the ten of `NameRxn` or `other`.
    pub reaction_category: String,
    /// Hash of the template that proposes the step, as in the model's `templates.csv.gz`.
    pub template: String,
    /// Probability, from 0 to 1, that the network assigns to the templates that propose the step, among all that
    /// match the product.
    #[schema(minimum = 0, maximum = 1)]
    pub probability: f64,
    /// Number of recorded reactions of the template; 0 for a template that was written by hand and has no record.
    pub precedents: u32,
    /// Numbers of up to three patents with such a reaction, the oldest first.
    pub patents: Vec<String>,
    /// Conditions of the step, from the template's recorded reactions.
    pub conditions: Conditions,
    /// Tanimoto similarity of the product to the nearest recorded product of the template, from 0 to 1; null where none
    /// is recorded.
    #[schema(minimum = 0, maximum = 1)]
    pub precedent_similarity: Option<f64>,
    /// Cosine similarity of the same two fingerprints. Absent in answers of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 1)]
    pub precedent_cosine: Option<f64>,
    /// Row of the template in the model's files. Absent in answers of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template_id: Option<u32>,
    /// Rank of the template among those that match the product, from 1, the most probable. Absent in answers of
    /// earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    pub rank: Option<u32>,
    /// Means by which the step gives the configuration of its product, where neither the precursors nor the template
    /// determine it: `chiral auxiliary` (which a precursor bears), `chiral catalyst`, `enzyme`, `resolution of the racemate,
    /// half of which is lost` or `separation of the stereoisomers, half of which are lost`. Absent where it needs none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needs: Option<String>,
    /// Arguments against the step that were not enough to reject it.
    pub warnings: Vec<String>,
}

/// Conditions of a step: the commonest agents of recorded reactions by name, each with the number of reactions that
/// used it, without those of the work-up; 0 for an agent that the reaction class needs, that no record names, and that
/// textbooks give.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Conditions {
    /// Bases, acids, reductants, oxidants, coupling agents.
    pub reagents: BTreeMap<String, u32>,
    /// Metals, ligands, phase transfer catalysts.
    pub catalysts: BTreeMap<String, u32>,
    /// Solvents.
    pub solvents: BTreeMap<String, u32>,
}

/// The distinct reaction steps of the routes returned.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReagentResults {
    /// Map from `precursor.precursor>>product` to the identifiers `SOURCE_ID:TARGET_ID` of its edges.
    pub reaction_to_edges: BTreeMap<String, Vec<String>>,
}

/// One vendor offer for a building block.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[expect(non_snake_case, reason = "the contract's field names end in ISO country codes")]
pub struct PricingAnnotation {
    /// The catalogue's integer for the major component.
    pub major_component_id: i32,
    /// Canonical SMILES of the full entry, components separated by dots.
    pub full_canonical: String,
    /// SMILES of the building block.
    pub major_component: String,
    /// SMILES of the other components of the entry (counter-ions, solvates); empty if there are none.
    pub minor_components: String,
    /// Molecular weight of the full entry, daltons.
    pub mw: f64,
    /// Vendor.
    pub vendor_name: String,
    /// Catalogue entry identifier.
    pub cs_id: String,
    /// Catalogue prefix of the vendor.
    pub cs_prefix: String,
    /// URL of the catalogue entry.
    pub cs_url: String,
    /// Pack size, in `uom`.
    pub pack: Option<f64>,
    /// Unit of measure of the pack.
    pub uom: Option<String>,
    /// Price of the pack in USD.
    pub price_usd: Option<f64>,
    /// USD per gram of the major component; null where it is not known.
    pub normalised_usd: Option<f64>,
    /// Time at which the offer was recorded.
    pub api_timestamp: DateTime<Utc>,
    /// Days to the United States; null where the vendor does not ship there.
    pub lead_time_days_to_US: Option<f64>,
    /// Days to Canada.
    pub lead_time_days_to_CA: Option<f64>,
    /// Days to the United Kingdom.
    pub lead_time_days_to_GB: Option<f64>,
    /// Days to France.
    pub lead_time_days_to_FR: Option<f64>,
    /// Days to Switzerland.
    pub lead_time_days_to_CH: Option<f64>,
    /// Days to Germany.
    pub lead_time_days_to_DE: Option<f64>,
    /// Days to China.
    pub lead_time_days_to_CN: Option<f64>,
    /// Days to Australia.
    pub lead_time_days_to_AU: Option<f64>,
    /// Amount of the entry in stock, in `amount_in_stock_uom`; absent where its vendor does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0)]
    pub amount_in_stock: Option<f64>,
    /// Unit of `amount_in_stock`; present together with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount_in_stock_uom: Option<String>,
    /// Location of the stock; absent where its vendor does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
}

impl PricingAnnotation {
    /// Returns the lead time in days to `country`.
    #[must_use]
    pub const fn lead_time_days_to(&self, country: Country) -> Option<f64> {
        match country {
            Country::Us => self.lead_time_days_to_US,
            Country::Ca => self.lead_time_days_to_CA,
            Country::Gb => self.lead_time_days_to_GB,
            Country::Fr => self.lead_time_days_to_FR,
            Country::Ch => self.lead_time_days_to_CH,
            Country::De => self.lead_time_days_to_DE,
            Country::Cn => self.lead_time_days_to_CN,
            Country::Au => self.lead_time_days_to_AU,
        }
    }
}
