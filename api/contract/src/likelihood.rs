//! Bodies of likelihoods of given molecules. An extension of the contract.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::sample::ListObject;

/// Maximum number of molecules of one request.
pub const MAX_LIKELIHOODS: usize = 1000;

/// Body of `POST /generator/v1/likelihoods`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LikelihoodsRequest {
    /// SMILES of the molecules. An invalid one gets an error entry at its position.
    #[schema(min_items = 1, max_items = 1000)]
    pub smiles: Vec<String>,
    /// Model whose likelihoods are wanted; by default the one that a sample would use.
    #[schema(pattern = r"^\w+$", nullable = true)]
    pub model_id: Option<String>,
}

/// Likelihoods of molecules under a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Likelihoods {
    /// Resource type: `list`.
    #[schema(value_type = String, pattern = r"^\w+$")]
    pub object: ListObject,
    /// Identifier of the model.
    #[schema(pattern = r"^\w+$")]
    pub model_id: String,
    /// One item for each molecule, in the order of the request.
    pub items: Vec<MoleculeLikelihood>,
}

/// Likelihood of a molecule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct MoleculeLikelihood {
    /// Canonical SMILES, or the given text if it is invalid.
    pub smiles: String,
    /// Error, if there is no result: the fault in the SMILES and its position, or that the model has no token for a part
    /// of it.
    pub error: Option<String>,
    /// Negative log-likelihood of the canonical SMILES, in nats, at temperature 1.
    pub negative_log_likelihood: Option<f64>,
}
