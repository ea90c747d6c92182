//! Answers of `POST /synth/v1/{engine}/treesearch`, and of plans: the result of a tree search in the shape that
//! clients of this API family read. Reactions are nodes, routes carry their price, and unknown values are numbers
//! too.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{AllOfBuilder, ArrayBuilder, ObjectBuilder, Ref, RefOr, Schema, Type, schema::ArrayItems},
};

use crate::{Metadata, NodeData, ReagentResults, RouteSummary, StepEvidence};

/// Placeholder for an unknown number of days or USD, where clients read a number.
pub const UNKNOWN: u32 = 9999;

/// Vendor name of common laboratory chemicals, whose offers have no price.
pub const COMMON_CHEMICALS: &str = "Common Lab Chemicals";

/// Routes with their prices, keyed by backbone, then by the number of steps of the longest branch.
pub type EngineHierarchy = BTreeMap<String, BTreeMap<String, Vec<PricedRoute>>>;

/// Every validated route found, as `route_hierarchy[backbone][steps]`, with offers for the building blocks used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct EngineAnswer {
    /// Canonical SMILES of the target.
    pub search_smiles: String,
    /// Timings in seconds, and counts.
    pub metadata: Metadata,
    /// `route_hierarchy[backbone][steps]`: `backbone` is the target's SMILES, in which the atom map number of each
    /// atom is the fragment that it ends up in. `steps` is the number of reaction steps of the longest branch. Each
    /// array holds pairs of a route and its price, the best route first.
    #[schema(value_type = BTreeMap<String, BTreeMap<String, Vec<PricedRoute>>>)]
    pub route_hierarchy: EngineHierarchy,
    /// Vendor offers for the building blocks used; null where there is no route.
    pub pricing_annotations: Option<Vec<EngineOffer>>,
    /// The distinct reaction steps; null where there is no route.
    pub reagent_results: Option<ReagentResults>,
}

/// A route, and the price in USD of the packs that make the requested amount of target; 9999 where a building block
/// has no known price.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PricedRoute(pub EngineRoute, pub f64);

impl PartialSchema for PricedRoute {
    /// Describes a pair, for which the derived schema would be an array of objects.
    fn schema() -> RefOr<Schema> {
        let route = AllOfBuilder::new().item(Ref::from_schema_name(EngineRoute::name()));
        let price = ObjectBuilder::new().schema_type(Type::Number);
        let pair = ArrayBuilder::new()
            .prefix_items([Schema::from(route.build()), Schema::from(price.build())])
            .items(ArrayItems::False)
            .min_items(Some(2))
            .max_items(Some(2))
            .description(Some(
                "A route, and USD for the packs that make the amount of target asked for; 9999 where a building block has no known price.",
            ));
        RefOr::T(pair.build().into())
    }
}

impl ToSchema for PricedRoute {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((EngineRoute::name().into(), EngineRoute::schema()));
        EngineRoute::schemas(schemas);
    }
}

/// A route of molecules and reactions, as `NetworkX` node-link data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct EngineRoute {
    /// Always true: edges run from precursor to reaction, and from reaction to product.
    pub directed: bool,
    /// Always false.
    pub multigraph: bool,
    /// Comparison of the route with the others of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graph: Option<RouteSummary>,
    /// The molecules, the target first, and after them the reactions.
    pub nodes: Vec<EngineNode>,
    /// Edges from precursor to reaction and from reaction to product.
    pub edges: Vec<EngineEdge>,
}

/// A molecule or a reaction of a route.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct EngineNode {
    /// UUID, stable within a response: a molecule or a reaction has the same id in every route.
    pub id: String,
    /// Data of the molecule or reaction.
    pub data: EngineNodeData,
}

/// Data of a node; a node with a `template_id` is a reaction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum EngineNodeData {
    /// Data of a molecule.
    Molecule(NodeData),
    /// Data of a reaction.
    Reaction(Box<ReactionData>),
}

/// Data of a reaction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ReactionData {
    /// Row of the template in the model's files.
    pub template_id: u32,
    /// Rank of the template among those that match the product, from 1, the most probable.
    pub rank: u32,
    /// Cosine similarity (Morgan, radius 2, folded to 512 bits) of the product to the nearest recorded product of the template; 0
    /// where none is recorded.
    #[schema(minimum = 0, maximum = 1)]
    pub cosine_sim: f64,
    /// 1 minus the product of the similarities of the steps from the target to this step, along the branch where that
    /// value is smallest.
    #[schema(minimum = 0, maximum = 1)]
    pub path_cosine_dist: f64,
    /// Probability, from 0 to 1, that the step's precursors give its product rather than something else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 1)]
    pub plausibility: Option<f64>,
    /// Evidence for the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<StepEvidence>,
}

/// An edge from a precursor to a reaction, or from a reaction to its product.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct EngineEdge {
    /// Node id.
    pub source: String,
    /// Node id.
    pub target: String,
}

/// A vendor offer for a building block. Offers without a price, a pack or a price per gram are left out, except those
/// of common laboratory chemicals.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum EngineOffer {
    /// An offer with a price.
    Priced(PricedOffer),
    /// A common laboratory chemical.
    Common(CommonOffer),
}

/// A common laboratory chemical without a price.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CommonOffer {
    /// The catalogue's integer for the major component, `building_block_idx` of its nodes.
    pub major_component_id: i32,
    /// Canonical SMILES of the full entry, components separated by dots.
    pub full_canonical: String,
    /// SMILES of the building block.
    pub major_component: String,
    /// SMILES of the other components of the entry; empty if there are none.
    pub minor_components: String,
    /// Molecular weight of the full entry, daltons.
    pub mw: f64,
    /// Always `Common Lab Chemicals`.
    pub vendor_name: String,
}

/// An offer with its price. Lead times are in days, rounded up; 9999 stands for an unknown one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[expect(non_snake_case, reason = "the family's field names end in ISO country codes")]
pub struct PricedOffer {
    /// The catalogue's integer for the major component, `building_block_idx` of its nodes.
    pub major_component_id: i32,
    /// Canonical SMILES of the full entry, components separated by dots.
    pub full_canonical: String,
    /// SMILES of the building block.
    pub major_component: String,
    /// SMILES of the other components of the entry; empty if there are none.
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
    pub pack: f64,
    /// Unit of measure of the pack.
    pub uom: String,
    /// Price of the pack in USD.
    pub price_usd: f64,
    /// USD per gram of the major component.
    pub normalised_usd: f64,
    /// Time at which the offer was recorded.
    pub api_timestamp: DateTime<Utc>,
    /// Days to the United States.
    pub lead_time_days_to_US: u32,
    /// Days to Canada.
    pub lead_time_days_to_CA: u32,
    /// Days to the United Kingdom.
    pub lead_time_days_to_GB: u32,
    /// Days to France.
    pub lead_time_days_to_FR: u32,
    /// Days to Switzerland.
    pub lead_time_days_to_CH: u32,
    /// Days to Germany.
    pub lead_time_days_to_DE: u32,
    /// Days to China.
    pub lead_time_days_to_CN: u32,
    /// Days to Australia.
    pub lead_time_days_to_AU: u32,
}
