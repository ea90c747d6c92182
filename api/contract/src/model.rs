//! Bodies of the generative models, an extension of the sampling API.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::ListObject;

/// A generative model that samples can be drawn from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Model {
    /// The id by which `model_id` names it.
    #[schema(pattern = r"^\w+$", example = "druglike_gru")]
    pub id: String,
    /// Resource type: `model`.
    #[schema(value_type = String, pattern = r"^\w+$", example = "model")]
    pub object: ModelObject,
    /// Molecules that are ready to be handed out at once.
    #[schema(minimum = 0)]
    pub molecules_ready: u64,
    /// Figures of the conditions that samples are drawn under, without the properties' distributions.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub summary: Map<String, Value>,
    /// What there is to know of how it was made: `created`, `architecture`, `training_data`, `licence`; what is not known is absent.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub metadata: Map<String, Value>,
    /// What it says of itself.
    #[serde(flatten)]
    pub card: ModelCard,
}

/// What a model's pack says of the model, for people to choose by.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct ModelCard {
    /// What people call it.
    pub name: Option<String>,
    /// Another one gives other molecules.
    pub version: Option<String>,
    /// One line.
    pub description: String,
    /// The day it was made.
    #[schema(value_type = Option<String>, format = Date)]
    pub created: Option<NaiveDate>,
    /// Kind and size of the network.
    pub architecture: Option<String>,
    /// What it learned from.
    pub training_data: Option<String>,
    /// SPDX expression of the weights' licence.
    pub licence: Option<String>,
    /// Figures by the conditions that they were measured under, such as `constrained_temperature_1`; those of what it learned from are
    /// called `training_set`.
    #[serde(deserialize_with = "readable")]
    pub metrics: BTreeMap<String, ModelMetrics>,
}

impl ModelCard {
    /// Where the figures of what a model learned from are, among those of what it writes.
    pub const TRAINING_SET: &str = "training_set";
}

/// What strings of a model were measured to be under some conditions; what is not known is absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ModelMetrics {
    /// Raw strings that were measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n_strings: Option<u64>,
    /// Molecules that were measured, of a training set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n_molecules: Option<u64>,
    /// Share of the raw strings that are molecules.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 1)]
    pub validity: Option<f64>,
    /// Share of distinct molecules among the valid strings.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 1)]
    pub uniqueness: Option<f64>,
    /// Share of the distinct molecules that the training data lacks.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 1)]
    pub novelty: Option<f64>,
    /// Likeness to known molecules: GuacaMol's score, the mean of that of nine properties.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 1)]
    pub kl_score: Option<f64>,
    /// How the distinct molecules' properties are distributed, by property: `bertz_complexity`, `crippen_logp`,
    /// `molecular_weight` (daltons), `polar_surface` (square ångströms), `hydrogen_bond_acceptors`,
    /// `hydrogen_bond_donors`, `rotatable_bonds`, `aliphatic_rings`, `aromatic_rings`, `heavy_atoms`. Those of `training_set` are
    /// `OpenChemLib`'s, which the console measures samples by: `molecular_weight`, `logp`, `polar_surface`, `acceptors`, `donors`,
    /// `rotatable`, `rings`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub properties: BTreeMap<String, PropertyDistribution>,
    /// Further figures, such as `internal_diversity`.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// How a property is distributed over molecules.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PropertyDistribution {
    /// The mean.
    pub mean: f64,
    /// The standard deviation.
    pub standard_deviation: f64,
    /// 5 % of the molecules are below it.
    pub p05: f64,
    /// 25 % of the molecules are below it.
    pub p25: f64,
    /// The median.
    pub p50: f64,
    /// 75 % of the molecules are below it.
    pub p75: f64,
    /// 95 % of the molecules are below it.
    pub p95: f64,
    /// How like the distribution is to that of known molecules: exp(-KL) of the two histograms.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 1)]
    pub likeness: Option<f64>,
    /// How many molecules there are from where to where.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub histogram: Option<PropertyHistogram>,
}

/// Bars of one width, the first of which begins at `start`; what lies beyond either end counts in the bar there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PropertyHistogram {
    /// Where the first bar begins.
    pub start: f64,
    /// How wide each bar is.
    #[schema(exclusive_minimum = 0.0)]
    pub width: f64,
    /// The molecules of each bar.
    pub counts: Vec<u64>,
}

/// Packs are made by anybody: conditions whose figures make no sense are left out, and the rest of the card stands.
fn readable<'de, D: Deserializer<'de>>(input: D) -> Result<BTreeMap<String, ModelMetrics>, D::Error> {
    let metrics = Map::<String, Value>::deserialize(input)?;
    Ok(metrics.into_iter().filter_map(|(name, of)| Some((name, serde_json::from_value(of).ok()?))).collect())
}

/// Models that live samplers have loaded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ModelList {
    /// The models, by id; may hold fewer than `limit` when fewer exist.
    pub data: Vec<Model>,
    /// True when further models can be fetched in the direction of travel.
    #[serde(default)]
    pub has_more: bool,
    /// Resource type.
    #[schema(value_type = String, pattern = r"^\w+$", default = "list")]
    pub object: ListObject,
}

/// Whether samples can be drawn from a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ModelStatus {
    /// How the model stands.
    pub status: ModelStanding,
}

/// How a model stands, in the words of this API family's clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ModelStanding {
    /// A live sampler serves it and has what it keeps ready: samples come at once.
    Online,
    /// A live sampler serves it and has nothing ready of it yet: the first samples are drawn while their callers wait.
    Idle,
    /// Samplers served it within the last day, and none that lives does.
    Offline,
}

/// The word `model`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ModelObject {
    /// The only value.
    #[default]
    Model,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_card_with_figures_that_make_no_sense_keeps_the_rest() {
        let good = json!({
            "validity": 0.97, "internal_diversity": 0.88, "properties": { "heavy_atoms": {
                "mean": 25.5, "standard_deviation": 6.0, "p05": 16.0, "p25": 21.0, "p50": 25.0, "p75": 30.0, "p95": 36.0
            } },
        });
        let card = json!({ "description": "d", "metrics": {
            "good": good, "worse": { "properties": { "heavy_atoms": 3 } }, "bad": "very",
        } });

        let read: ModelCard = serde_json::from_value(card).unwrap();

        assert_eq!(read.description, "d");
        assert_eq!(serde_json::to_value(read.metrics).unwrap(), json!({ "good": good }));
    }
}
