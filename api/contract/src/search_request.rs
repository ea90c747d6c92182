//! Request body of a tree search.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::constraints::{AtomPair, OwnBlock, ProtectingGroups};

/// The largest `max_depth`.
pub const MAX_DEPTH_LIMIT: u32 = 50;
/// Largest amount of target for a shopping list, millimoles: a kilomole.
pub const MAX_AMOUNT_MMOL: f64 = 1e6;

/// Body of `POST /synth/v1/treesearch`; only `search_smiles` is required.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TreeSearchRequest {
    /// SMILES of the target molecule: one component, at most 1,000 characters and 200 heavy atoms. Atom map numbers
    /// serve only to name atoms and are not part of the molecule.
    #[schema(min_length = 1, max_length = 1000, example = "CC(=O)Nc1ccc(O)cc1")]
    pub search_smiles: String,
    /// Stop as soon as one validated route without doubt is found, instead of using the full time budget. If the time
    /// ends before, the best doubtful one is returned.
    #[serde(default = "default_true")]
    #[schema(default = true)]
    pub early_exit_first_solution: bool,
    /// Maximum wall-clock seconds to search; over 0, at most 120 unless the operator says otherwise.
    #[serde(default = "default_max_seconds")]
    #[schema(default = 4.0, exclusive_minimum = 0.0, maximum = 120.0)]
    pub max_seconds: f64,
    /// Maximum number of reaction steps (tree depth).
    #[serde(default = "default_max_depth")]
    #[schema(default = 5, minimum = 1, maximum = 50)]
    pub max_depth: u32,
    /// Exclude the zero-step solution where the target is itself a purchasable building block.
    #[serde(default = "default_true")]
    #[schema(default = true)]
    pub mask_trivial_solution: bool,
    /// Exclude building blocks whose molecular weight (daltons) is at or above this value; null: no limit.
    #[serde(default)]
    pub mask_bblocks_mw_gte: Option<f64>,
    /// Exclude building blocks priced at or above this normalised USD-per-gram cost; null: no limit.
    #[serde(default = "default_usd_mask")]
    #[schema(default = 10000.0)]
    pub mask_usd_pricing_gte: Option<f64>,
    /// ISO country code; scopes pricing and lead-time annotations to that delivery region; null: no region.
    #[serde(default = "default_ships_to")]
    #[schema(default = "US")]
    pub ships_to: Option<Country>,
    /// Exclude building blocks whose lead time (days) to the `ships_to` region is at or above this value.
    #[serde(default)]
    pub mask_lead_times_gte: Option<f64>,
    /// Maximum number of distinct route backbones returned.
    #[serde(default = "default_max_backbone_groups")]
    #[schema(default = 5, minimum = 1)]
    pub max_backbone_groups: u32,
    /// Maximum number of building-block variations kept per backbone.
    #[serde(default = "default_max_backbone_group_size")]
    #[schema(default = 10, minimum = 1)]
    pub max_backbone_group_size: u32,
    /// Keep the cheapest building-block variations first when a group is truncated.
    #[serde(default)]
    #[schema(default = false)]
    pub limit_backbone_group_size_by_cost: bool,
    /// An addition to the contract: amount of target for shopping lists, millimoles; over 0, at most 1,000,000.
    // Default values are left out, here and below: workers of the previous release do not know these fields.
    #[serde(default = "default_amount_mmol", skip_serializing_if = "is_default_amount")]
    #[schema(default = 1.0, exclusive_minimum = 0.0, maximum = 1_000_000.0)]
    pub amount_mmol: f64,
    /// An addition to the contract: expected yield of each step, as a fraction, for shopping lists; over 0, at most
    /// 1.
    #[serde(default = "default_step_yield", skip_serializing_if = "is_default_yield")]
    #[schema(default = 0.8, exclusive_minimum = 0.0, maximum = 1.0)]
    pub step_yield: f64,
    /// An addition to the contract: names of the only vendors whose offers count, besides common laboratory
    /// chemicals; null: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 100)]
    pub vendors_only: Option<Vec<String>>,
    /// An addition to the contract: names of vendors whose offers do not count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 100, nullable)]
    pub vendors_never: Vec<String>,
    /// An addition to the contract: names of vendors that shopping lists use first, whatever others charge: one's own
    /// stock.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 100, nullable)]
    pub vendors_first: Vec<String>,
    /// An addition to the contract: bonds of the target that every route must break, each by the atom map numbers of
    /// its atoms.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 100, nullable)]
    pub bonds_to_break: Vec<AtomPair>,
    /// An addition to the contract: bonds of the target that no step may break.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 100, nullable)]
    pub bonds_to_keep: Vec<AtomPair>,
    /// An addition to the contract: SMARTS or SMILES of fragments to keep: no step may break a bond between two atoms
    /// of a match in the target.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 20, nullable)]
    pub fragments_to_keep: Vec<String>,
    /// An addition to the contract: SMILES of molecules that no route may contain, in any tautomeric or charged form;
    /// the target may be one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 1000, nullable)]
    pub molecules_never: Vec<String>,
    /// An addition to the contract: SMARTS of substructures that no molecule of a route except the target may
    /// contain.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 100, nullable)]
    pub substructures_never: Vec<String>,
    /// An addition to the contract: SMILES of building blocks, all of which every route must use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 16, nullable)]
    pub building_blocks_required: Vec<String>,
    /// An addition to the contract: building blocks that the caller has. They are in stock for this search regardless
    /// of the masks, under the vendor `Own` and negative integers, and are not ordered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 1000, nullable)]
    pub building_blocks_own: Vec<OwnBlock>,
    /// An addition to the contract: the only reaction classes that steps may have, named as `reaction_class` of an
    /// edge.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 300, nullable)]
    pub reaction_classes_only: Vec<String>,
    /// An addition to the contract: reaction classes that no step may have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 300, nullable)]
    pub reaction_classes_never: Vec<String>,
    /// An addition to the contract: reaction classes, each of which must occur in every route.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 16, nullable)]
    pub reaction_classes_required: Vec<String>,
    /// An addition to the contract: templates that no step may use, named as `template` of an edge.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 1000, nullable)]
    pub templates_never: Vec<String>,
    /// An addition to the contract: maximum number of reaction steps of a whole route, where a molecule that is
    /// needed twice is made once; null: no limit besides `max_depth`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    pub max_steps: Option<u32>,
    /// An addition to the contract: permission for steps to be protections and deprotections, by their class.
    #[serde(default, skip_serializing_if = "ProtectingGroups::is_default")]
    #[schema(default = "allowed")]
    pub protecting_groups: ProtectingGroups,
}

impl TreeSearchRequest {
    /// Returns the stored form of the request without its lists of names, bonds, patterns and molecules; `None` where
    /// all are empty.
    #[must_use]
    pub fn without_lists(&self) -> Option<Value> {
        let mut request = serde_json::to_value(self).ok()?;
        let members = request.as_object_mut()?;
        let before = members.len();
        members.retain(|_, value| !value.is_array());
        (members.len() < before).then_some(request)
    }

    /// Reads a stored request for display. Values of a later release that are not known here are skipped. Workers
    /// parse strictly instead, since they would otherwise search for something else.
    #[must_use]
    pub fn stored(value: Value) -> Self {
        if let Ok(request) = serde_json::from_value(value.clone()) {
            return request;
        }
        let Value::Object(members) = value else { return Self::new("") };
        let mut known = Map::from_iter([("search_smiles".to_owned(), Value::from(""))]);
        for (name, value) in members {
            let before = known.insert(name.clone(), value);
            if serde_json::from_value::<Self>(Value::Object(known.clone())).is_err() {
                match before {
                    Some(before) => known.insert(name, before),
                    None => known.remove(&name),
                };
            }
        }
        serde_json::from_value(Value::Object(known)).unwrap_or_else(|_| Self::new(""))
    }

    /// Builds a request for the target `search_smiles` with every other field at its default.
    #[must_use]
    pub fn new(search_smiles: impl Into<String>) -> Self {
        Self {
            search_smiles: search_smiles.into(),
            early_exit_first_solution: true,
            max_seconds: default_max_seconds(),
            max_depth: default_max_depth(),
            mask_trivial_solution: true,
            mask_bblocks_mw_gte: None,
            mask_usd_pricing_gte: default_usd_mask(),
            ships_to: default_ships_to(),
            mask_lead_times_gte: None,
            max_backbone_groups: default_max_backbone_groups(),
            max_backbone_group_size: default_max_backbone_group_size(),
            limit_backbone_group_size_by_cost: false,
            amount_mmol: default_amount_mmol(),
            step_yield: default_step_yield(),
            vendors_only: None,
            vendors_never: Vec::new(),
            vendors_first: Vec::new(),
            bonds_to_break: Vec::new(),
            bonds_to_keep: Vec::new(),
            fragments_to_keep: Vec::new(),
            molecules_never: Vec::new(),
            substructures_never: Vec::new(),
            building_blocks_required: Vec::new(),
            building_blocks_own: Vec::new(),
            reaction_classes_only: Vec::new(),
            reaction_classes_never: Vec::new(),
            reaction_classes_required: Vec::new(),
            templates_never: Vec::new(),
            max_steps: None,
            protecting_groups: ProtectingGroups::Allowed,
        }
    }
}

const fn default_true() -> bool {
    true
}

const fn default_max_seconds() -> f64 {
    4.0
}

const fn default_max_depth() -> u32 {
    5
}

#[expect(clippy::unnecessary_wraps, reason = "serde's default has the field's type")]
const fn default_usd_mask() -> Option<f64> {
    Some(10_000.0)
}

#[expect(clippy::unnecessary_wraps, reason = "serde's default has the field's type")]
const fn default_ships_to() -> Option<Country> {
    Some(Country::Us)
}

const fn default_max_backbone_groups() -> u32 {
    5
}

const fn default_max_backbone_group_size() -> u32 {
    10
}

const fn default_amount_mmol() -> f64 {
    1.0
}

fn is_default_amount(amount_mmol: &f64) -> bool {
    *amount_mmol == default_amount_mmol()
}

const fn default_step_yield() -> f64 {
    0.8
}

fn is_default_yield(step_yield: &f64) -> bool {
    *step_yield == default_step_yield()
}

/// A country with lead times in the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum Country {
    /// United States.
    Us,
    /// Canada.
    Ca,
    /// United Kingdom.
    Gb,
    /// France.
    Fr,
    /// Switzerland.
    Ch,
    /// Germany.
    De,
    /// China.
    Cn,
    /// Australia.
    Au,
}

impl Country {
    /// Every country, in the order of the contract's lead-time fields.
    pub const ALL: [Self; 8] =
        [Self::Us, Self::Ca, Self::Gb, Self::Fr, Self::Ch, Self::De, Self::Cn, Self::Au];

    /// Returns the ISO 3166-1 alpha-2 code.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Us => "US",
            Self::Ca => "CA",
            Self::Gb => "GB",
            Self::Fr => "FR",
            Self::Ch => "CH",
            Self::De => "DE",
            Self::Cn => "CN",
            Self::Au => "AU",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_alone_makes_a_request_with_the_defaults_of_the_contract() {
        let request: TreeSearchRequest = serde_json::from_str(r#"{"search_smiles":"CCO"}"#).unwrap();

        assert_eq!(request, TreeSearchRequest::new("CCO"));
    }

    #[test]
    fn a_stored_request_of_a_later_release_is_read_as_far_as_it_is_known() {
        let later = serde_json::json!({
            "search_smiles": "CCO", "max_seconds": 9.0, "max_depth": "deep", "solvents_never": ["DMF"], "ships_to": "MARS"
        });
        let known = TreeSearchRequest { max_seconds: 9.0, ..TreeSearchRequest::new("CCO") };

        assert_eq!(TreeSearchRequest::stored(later), known);
        assert_eq!(TreeSearchRequest::stored(Value::Null), TreeSearchRequest::new(""));
        assert_eq!(TreeSearchRequest::stored(serde_json::to_value(&known).unwrap()), known);
    }

    #[test]
    fn a_request_without_its_lists_has_all_else() {
        let short = TreeSearchRequest { max_depth: 7, ..TreeSearchRequest::new("CCO") };
        let vendors = TreeSearchRequest { vendors_only: Some(vec!["A".to_owned()]), ..short.clone() };
        let templates = TreeSearchRequest { templates_never: vec!["t".to_owned()], ..short.clone() };

        assert_eq!(short.without_lists(), None);
        assert_eq!(vendors.without_lists().map(TreeSearchRequest::stored), Some(short.clone()));
        assert_eq!(templates.without_lists().map(TreeSearchRequest::stored), Some(short));
    }

    #[test]
    fn null_lifts_a_mask_that_has_a_default() {
        let body = r#"{"search_smiles":"CCO","mask_usd_pricing_gte":null,"ships_to":null}"#;

        let request: TreeSearchRequest = serde_json::from_str(body).unwrap();

        assert_eq!((request.mask_usd_pricing_gte, request.ships_to), (None, None));
    }
}
