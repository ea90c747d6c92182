//! Generative models: list, retrieve. An extension of the contract.

use std::collections::BTreeMap;

use axum::{
    Json,
    extract::{Path, State, rejection::PathRejection},
    http::Uri,
};
use contract::{Model, ModelCard, ModelList, StoredSampleJob};
use edge::ApiError;
use queue::{Client, Job, LiveModel, QueueError};
use sqlx::{PgExecutor, PgPool};

use super::{nothing_asked, path_id};
use crate::access::Caller;

/// Returns the models that samples can be drawn from.
#[utoipa::path(
    get, path = "/generator/v1/models", tag = "models", operation_id = "list_models",
    description = "The models that samples can be drawn from, by id. An extension.",
    summary = "List models",
    responses((status = 200, description = "The models.", body = ModelList)),
)]
pub async fn list(
    State(pool): State<PgPool>,
    State(queue): State<Client>,
    _: Caller,
    uri: Uri,
) -> Result<Json<ModelList>, ApiError> {
    nothing_asked(&uri)?;
    Ok(Json(ModelList { data: models(&pool, &queue).await?, object: Default::default() }))
}

/// Returns a model.
#[utoipa::path(
    get, path = "/generator/v1/models/{model_id}", tag = "models", operation_id = "retrieve_model",
    description = "What a model is and how many of its molecules are ready. An extension.",
    summary = "Retrieve a model",
    params(("model_id" = String, Path, min_length = 1, max_length = 255, pattern = r"^\w+$",
        description = "Id of the model.")),
    responses((status = 200, description = "The model.", body = Model)),
)]
pub async fn retrieve(
    State(pool): State<PgPool>,
    State(queue): State<Client>,
    _: Caller,
    path: Result<Path<String>, PathRejection>,
    uri: Uri,
) -> Result<Json<Model>, ApiError> {
    let id = path_id("model_id", path, &uri)?;
    models(&pool, &queue).await?.into_iter().find(|model| model.id == id).map(Json).ok_or(ApiError::NotFound)
}

/// What live samplers have loaded.
async fn models(pool: &PgPool, queue: &Client) -> Result<Vec<Model>, ApiError> {
    let mut ready = ready(pool).await?;
    let live = live_models(queue, StoredSampleJob::QUEUE).await?;
    Ok(live.into_iter().map(|live| model(ready.remove(&live.model_id), live)).collect())
}

/// The models that the live workers of a queue have loaded.
pub(super) async fn live_models(queue: &Client, of: &str) -> Result<Vec<LiveModel>, ApiError> {
    queue.live_models(of).await.map_err(|error| match error {
        QueueError::Database(error) => error.into(),
        error => ApiError::internal(&error),
    })
}

fn model(ready: Option<i64>, LiveModel { model_id, card, .. }: LiveModel) -> Model {
    let card = serde_json::from_value(card).unwrap_or_else(|fault| {
        tracing::warn!(model.id = %model_id, "the card of the model cannot be read: {fault}");
        ModelCard::default()
    });
    let molecules_ready = ready.unwrap_or(0).unsigned_abs();
    Model { id: model_id, object: Default::default(), molecules_ready, card }
}

/// Molecules in the reservoir, by model.
pub(super) async fn ready(database: impl PgExecutor<'_>) -> Result<BTreeMap<String, i64>, sqlx::Error> {
    let rows = sqlx::query!(
        r#"select model_id, sum(molecules) as "molecules!" from reservoir_blocks group by model_id"#
    )
    .fetch_all(database)
    .await?;
    Ok(rows.into_iter().map(|row| (row.model_id, row.molecules)).collect())
}
