//! Bodies of the generative models, an extension of the sampling API.

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};
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
    /// What it says of itself.
    #[serde(flatten)]
    pub card: ModelCard,
}

/// What a model's pack says of the model, for people to choose by.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct ModelCard {
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
    /// Figures by the conditions that they were measured under: validity, uniqueness, novelty and so on.
    #[schema(value_type = Object)]
    pub metrics: Map<String, Value>,
}

/// All models that live samplers have loaded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ModelList {
    /// The models, by id.
    pub data: Vec<Model>,
    /// Resource type.
    #[schema(value_type = String, pattern = r"^\w+$", default = "list")]
    pub object: ListObject,
}

/// The word `model`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ModelObject {
    /// The only value.
    #[default]
    Model,
}
