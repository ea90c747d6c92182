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
    /// Id of the model, used as `model_id`.
    #[schema(pattern = r"^\w+$", example = "druglike_gru")]
    pub id: String,
    /// Resource type: `model`.
    #[schema(value_type = String, pattern = r"^\w+$", example = "model")]
    pub object: ModelObject,
    /// Molecules that can be handed out at once.
    #[schema(minimum = 0)]
    pub molecules_ready: u64,
    /// Figures by sampling condition, without the distributions of the properties.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub summary: Map<String, Value>,
    /// Known facts about how the model was made: `created`, `architecture`, `training_data`, `licence`. Unknown ones
    /// are absent.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub metadata: Map<String, Value>,
    /// Model card from the model's own files.
    #[serde(flatten)]
    pub card: ModelCard,
}

/// Description of a model in its pack, for people who choose one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct ModelCard {
    /// Display name.
    pub name: Option<String>,
    /// Version; another version gives other molecules.
    pub version: Option<String>,
    /// Description in one line.
    pub description: String,
    /// Day on which the model was made.
    #[schema(value_type = Option<String>, format = Date)]
    pub created: Option<NaiveDate>,
    /// Kind and size of the network.
    pub architecture: Option<String>,
    /// Training data.
    pub training_data: Option<String>,
    /// SPDX expression of the weights' licence.
    pub licence: Option<String>,
    /// Figures by the conditions that they were measured under, such as `constrained_temperature_1`. Those of the
    /// training data are under `training_set`.
    #[serde(deserialize_with = "readable")]
    pub metrics: BTreeMap<String, ModelMetrics>,
}

impl ModelCard {
    /// Key of the training data's figures among those of the model's output.
    pub const TRAINING_SET: &str = "training_set";
}

/// Measured figures of a model's strings under some conditions; unknown ones are absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ModelMetrics {
    /// Number of raw strings measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n_strings: Option<u64>,
    /// Number of molecules measured, for a training set.
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
    /// Similarity to known molecules: GuacaMol's score, the mean over nine properties.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 1)]
    pub kl_score: Option<f64>,
    /// Distribution of each property over the distinct molecules: `bertz_complexity`, `crippen_logp`,
    /// `molecular_weight` (daltons), `polar_surface` (square ångströms), `hydrogen_bond_acceptors`,
    /// `hydrogen_bond_donors`, `rotatable_bonds`, `aliphatic_rings`, `aromatic_rings`, `heavy_atoms`. Those of
    /// `training_set` are computed by `OpenChemLib`, which the console uses for samples: `molecular_weight`, `logp`,
    /// `polar_surface`, `acceptors`, `donors`, `rotatable`, `rings`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub properties: BTreeMap<String, PropertyDistribution>,
    /// Further figures, such as `internal_diversity`.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// Distribution of a property over molecules.
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
    /// Similarity of the distribution to that of known molecules: exp(-KL) of the two histograms.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 1)]
    pub likeness: Option<f64>,
    /// Histogram of the property.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub histogram: Option<PropertyHistogram>,
}

/// Bars of equal width, the first of which begins at `start`. Values beyond either end count in the outermost bar.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PropertyHistogram {
    /// Start of the first bar.
    pub start: f64,
    /// Width of each bar.
    #[schema(exclusive_minimum = 0.0)]
    pub width: f64,
    /// Number of molecules in each bar.
    pub counts: Vec<u64>,
}

/// Reads metrics leniently, since anybody can make a pack: conditions with senseless figures are left out, and the
/// rest of the card is kept.
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

/// Availability of a model for sampling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ModelStatus {
    /// Status of the model.
    pub status: ModelAvailability,
}

/// Status of a model, in the words of this API family's clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = ModelStanding)]
pub enum ModelAvailability {
    /// A live sampler serves the model and has its stock of molecules ready: samples come at once.
    Online,
    /// A live sampler serves the model but has no molecules ready: the first samples are drawn while their callers
    /// wait.
    Idle,
    /// No live sampler serves the model, but one did within the last day.
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
