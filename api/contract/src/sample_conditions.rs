//! Conditions of a sample request: limits on each of its molecules, and the way in which they are drawn.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Country;

/// Maximum number of substructures that are required, and of those that are excluded.
pub const MAX_SUBSTRUCTURES: usize = 20;
/// Maximum number of molecules to resemble.
pub const MAX_SIMILAR_TO: usize = 20;
/// Maximum number of samples and sample batches whose molecules are excluded.
pub const MAX_EXCLUDED: usize = 100;
/// Maximum number of molecules in the excluded samples.
pub const MAX_EXCLUDED_MOLECULES: u64 = 1_000_000;
/// Maximum number of fragments to link.
pub const MAX_LINKED_FRAGMENTS: usize = 6;
/// Most reaction steps that a route of a sample's molecule may have.
pub const MAX_ROUTE_STEPS: u32 = 50;
/// Lowest and highest seconds of the search for a molecule's route.
pub const MAKEABLE_SECONDS: (f64, f64) = (0.01, 1.0);
/// Highest limit on the days until a building block arrives.
pub const MAX_LEAD_TIME_DAYS: f64 = 3650.0;
/// Seconds of the search for a molecule's route if the request names none.
pub const DEFAULT_MAKEABLE_SECONDS: f64 = 0.05;
/// Lowest and highest temperature.
pub const TEMPERATURES: (f64, f64) = (0.1, 2.0);
/// The largest seed: every integer up to it is exact in a JSON number.
pub const MAX_SEED: u64 = (1 << 53) - 1;

/// Conditions of a sample; each of them is optional, and together they hold for every molecule.
///
/// Absent fields are left out of stored jobs, which thus keep the shape of earlier versions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SampleConditions {
    /// An addition to the contract: SMILES of a scaffold with one or more attachment points. Every molecule contains it
    /// with a substituent at each point and none elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 1000, example = "[*:1]c1ccc2[nH]nc([*:2])c2c1")]
    pub scaffold: Option<String>,
    /// An addition to the contract: SMILES of fragments, at least two, with one attachment point each. Every molecule
    /// contains all of them and a linker between them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 6, nullable)]
    pub fragments: Vec<String>,
    /// An addition to the contract: SMARTS of substructures, all of which every molecule contains.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 20, nullable)]
    pub substructures_required: Vec<String>,
    /// An addition to the contract: SMARTS of substructures, none of which a molecule contains.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 20, nullable)]
    pub substructures_never: Vec<String>,
    /// An addition to the contract: SMILES of molecules to which the similarity bounds apply. The similarity of a
    /// molecule is the highest Tanimoto similarity to one of these (Morgan fingerprint, radius 2, 2048 bits).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 20, nullable)]
    pub similar_to: Vec<String>,
    /// An addition to the contract: lowest similarity to the molecules of `similar_to`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0.0, maximum = 1.0)]
    pub similarity_gte: Option<f64>,
    /// An addition to the contract: similarity to the molecules of `similar_to` that no molecule reaches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0.0, maximum = 1.0)]
    pub similarity_lt: Option<f64>,
    /// An addition to the contract: ranges of properties, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schema(nullable)]
    pub properties: BTreeMap<String, PropertyRange>,
    /// An addition to the contract: sets of structural alerts, none of which a molecule has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(nullable)]
    pub alerts: Vec<String>,
    /// An addition to the contract: temperature of drawing; null: that of the model. Above it, molecules are more
    /// unusual.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0.1, maximum = 2.0)]
    pub temperature: Option<f64>,
    /// An addition to the contract: total probability of the tokens that are drawn from, the most probable first;
    /// null: that of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(exclusive_minimum = 0.0, maximum = 1.0)]
    pub top_p: Option<f64>,
    /// An addition to the contract: random seed. The same request with the same seed gives the same molecules while
    /// the model stays the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 9_007_199_254_740_991_i64)]
    pub seed: Option<u64>,
    /// An addition to the contract: ids of samples and sample batches whose molecules are left out, together at most
    /// 1,000,000.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 100, nullable)]
    pub exclude: Vec<String>,
    /// An addition to the contract: limits on a route to each molecule. Every molecule has a validated route within
    /// them from building blocks that can be bought, or can itself be bought.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable)]
    pub synthesizable: Option<RouteLimits>,
}

impl SampleConditions {
    /// Returns true if there is no condition: ready molecules may serve the request.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Range of a property, with at least one end; both ends belong to it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PropertyRange {
    /// Lowest value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(example = 300.0)]
    pub gte: Option<f64>,
    /// Highest value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(example = 450.0)]
    pub lte: Option<f64>,
}

impl PropertyRange {
    /// Returns true if the value is in the range.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        self.gte.is_none_or(|least| value >= least) && self.lte.is_none_or(|most| value <= most)
    }
}

/// Limits on the route to a molecule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RouteLimits {
    /// Maximum number of reaction steps of the whole route; null: no limit besides five steps on any branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 50, example = 4)]
    pub max_steps: Option<u32>,
    /// Maximum USD of the building blocks for a mole of the molecule, at full yield in every step. A route of unknown
    /// price does not count. Null: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(exclusive_minimum = 0.0)]
    pub max_usd_per_mol: Option<f64>,
    /// ISO country code of the delivery region, as for a tree search; null: anywhere.
    #[schema(required = false, default = "US")]
    pub ships_to: Option<Country>,
    /// Maximum days until a building block arrives in the region; null: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0.0, maximum = 3650.0)]
    pub max_lead_time_days: Option<f64>,
    /// Seconds that the search for each molecule's route may take on one core.
    #[schema(required = false, default = 0.05, minimum = 0.01, maximum = 1.0)]
    pub max_seconds_each: f64,
}

impl Default for RouteLimits {
    fn default() -> Self {
        Self {
            max_steps: None,
            max_usd_per_mol: None,
            ships_to: Some(Country::Us),
            max_lead_time_days: None,
            max_seconds_each: DEFAULT_MAKEABLE_SECONDS,
        }
    }
}

/// Summary of a molecule's route.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MakeableRoute {
    /// Reaction steps of the whole route; 0 if the molecule itself can be bought.
    pub steps: u32,
    /// USD of the building blocks for a mole; `None` if one has no known price.
    pub usd_per_mol: Option<f64>,
    /// Number of different building blocks.
    pub building_blocks: u32,
    /// Probability, from 0 to 1, that every step gives its product.
    pub plausibility: f64,
}

/// Result of the search for a molecule's route within limits.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "result", rename_all = "snake_case")]
pub enum Makeability {
    /// The first validated route is within the limits.
    Makeable(MakeableRoute),
    /// No route was found within the limits.
    NoRoute,
    /// The query stopped first.
    NotReached,
}

/// Candidates that one condition refused, in a sample that could not be completed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConditionRefusals {
    /// The condition, by its place in the request: `properties.mw`, `substructures_required[1]`.
    pub condition: String,
    /// Number of candidates; each is counted for the first condition that refused it.
    pub count: u64,
}

/// Details of the molecules of a sample, in arrays of the same order and length as its structures.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct MoleculeDetails {
    /// Values of every property, by name.
    pub properties: BTreeMap<String, Vec<f64>>,
    /// Negative log-likelihoods of the structures under the model, in nats; null for one that the model cannot write.
    pub negative_log_likelihood: Vec<Option<f64>>,
    /// Routes to the molecules, in a sample with the condition `synthesizable`. Absent in others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub routes: Option<RouteDetails>,
}

/// Summaries of the routes to a sample's molecules, in arrays of the same order and length as its structures.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RouteDetails {
    /// Reaction steps of each route; 0 for a molecule that can itself be bought.
    pub steps: Vec<u32>,
    /// USD of the building blocks for a mole of each molecule, at full yield in every step; null where one has no
    /// known price.
    pub usd_per_mol: Vec<Option<f64>>,
    /// Number of different building blocks of each route.
    pub building_blocks: Vec<u32>,
    /// Probability, from 0 to 1, that every step of each route gives its product.
    pub plausibility: Vec<f64>,
}

impl FromIterator<MakeableRoute> for RouteDetails {
    fn from_iter<I: IntoIterator<Item = MakeableRoute>>(summaries: I) -> Self {
        let mut details = Self::default();
        for MakeableRoute { steps, usd_per_mol, building_blocks, plausibility } in summaries {
            details.steps.push(steps);
            details.usd_per_mol.push(usd_per_mol);
            details.building_blocks.push(building_blocks);
            details.plausibility.push(plausibility);
        }
        details
    }
}
