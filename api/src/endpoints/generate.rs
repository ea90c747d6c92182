//! Structures only: the older short form of creating a sample. An extension of the contract.
//!
//! The result is a sample like any other, stored and listed; only the response is shorter.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Path, State, rejection::PathRejection},
    http::Uri,
    response::{IntoResponse, Response},
};
use contract::{Generated, SampleRequest};
use http_errors::{ApiError, query_pairs};
use sqlx::PgPool;

use super::{
    models::NO_MODEL,
    named_path_id,
    samples::{self, make, with_quota},
};
use crate::{
    access::Caller,
    examples::example,
    fields::{Faults, Fields, integer},
    jobs::Jobs,
    limits::RateLimits,
    operation::Operation,
};

/// Rules for both: those for creating a sample.
pub const GENERATE: Operation = samples::CREATE;

/// Largest number of structures, and the default.
const MAX_STRUCTURES: i64 = 1_000;
const DEFAULT_SIZE: i64 = 100;

/// Generates structures.
#[utoipa::path(
    post, path = "/generator/v1/generate", tag = "samples", operation_id = "generate",
    description = "Creates a sample and returns its structures alone. An extension.",
    summary = "Generate structures",
    params(("samples" = Option<i32>, Query, description = "Number of structures.", minimum = 1, maximum = 1_000)),
    responses(
        (status = 200, description = "The structures.", body = Generated, example = json!(example!("generated"))),
        (status = 504),
    ),
)]
pub async fn generate(
    State(pool): State<PgPool>,
    State(jobs): State<Jobs>,
    State(limits): State<Arc<RateLimits>>,
    caller: Caller,
    uri: Uri,
) -> Result<Response, ApiError> {
    let mut faults = Faults::default();
    let size = parse_size(&uri, &mut faults);
    let size = faults.settle(size)?;
    let sample_request = SampleRequest::new(size, None);
    let made = with_quota(&limits, &caller, size, make(&pool, &jobs, &caller, sample_request)).await;
    Ok(made
        .map_or_else(|refusal| refusal, |sample| Json(Generated { smiles: sample.smiles }).into_response()))
}

/// Generates structures with a model.
#[utoipa::path(
    post, path = "/generator/v1/generate/{model_id}", tag = "samples", operation_id = "generate_by_model",
    description = "Creates a sample with a model and returns its structures alone. An extension.",
    summary = "Generate structures with a model",
    params(
        ("model_id" = String, Path, min_length = 1, max_length = 255, pattern = r"^\w+$",
            description = "Id of the model."),
        ("samples" = Option<i32>, Query, description = "Number of structures.", minimum = 1, maximum = 1_000),
    ),
    responses(
        (status = 200, description = "The structures.", body = Generated, example = json!(example!("generated"))),
        (status = 404, description = NO_MODEL),
        (status = 504),
    ),
)]
pub async fn generate_by_model(
    State(pool): State<PgPool>,
    State(jobs): State<Jobs>,
    State(limits): State<Arc<RateLimits>>,
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
    uri: Uri,
) -> Result<Response, ApiError> {
    let mut faults = Faults::default();
    let model_id = named_path_id("model_id", path, &mut faults);
    let size = parse_size(&uri, &mut faults);
    let (model_id, size) = faults.settle(model_id.zip(size))?;
    let sample_request = SampleRequest::new(size, Some(model_id));
    let making = async {
        // Here the path names the model.
        make(&pool, &jobs, &caller, sample_request).await.map_err(|error| match error {
            ApiError::BadReference => ApiError::NotFound,
            error => error,
        })
    };
    let made = with_quota(&limits, &caller, size, making).await;
    Ok(made
        .map_or_else(|refusal| refusal, |sample| Json(Generated { smiles: sample.smiles }).into_response()))
}

fn parse_size(uri: &Uri, faults: &mut Faults) -> Option<u32> {
    let mut query = Fields::query(query_pairs(uri), faults);
    let size = query.optional("samples", DEFAULT_SIZE, integer(1, Some(MAX_STRUCTURES)));
    query.finish();
    u32::try_from(size?).ok()
}
