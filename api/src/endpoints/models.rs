//! Generative models: list, retrieve, status; the version. Extensions of the contract.

use std::collections::BTreeMap;

use axum::{Json, extract::State, http::Uri};
use contract::{
    Listed, Model, ModelAvailability, ModelCard, ModelList, ModelMetrics, ModelStatus, StoredSampleJob,
    Version, scope,
};
use http_errors::ApiError;
use queue::{Client, Job, LiveModel};
use serde_json::{Map, Value};
use sqlx::{PgExecutor, PgPool};

use super::{
    PathId,
    paging::{self, PageRequest},
    require_empty_query,
};
use crate::{access::Caller, examples::example, jobs::live_models, operation::Operation};

/// Rules for reading models.
pub const READ: Operation = Operation::short(Some(scope::MODELS_READ));

/// Description of the 404 answer.
pub(super) const NO_MODEL: &str = "No live sampler has a model of this id.";

/// Default number of models on a page.
const DEFAULT_PAGE: i64 = 25;

/// Returns models that samples can be drawn from.
#[utoipa::path(
    get, path = "/generator/v1/models", tag = "models", operation_id = "list_models",
    description = "Lists the models that samples can be drawn from, by id. An extension.",
    summary = "List models",
    params(
        ("limit" = Option<i32>, Query, description = "Maximum number of items in `data`.", minimum = 1, maximum = 100),
        ("next-page" = Option<String>, Query, min_length = 1, max_length = 255, pattern = r"^\w+$",
            description = "Id of a model: returns the models after it."),
        ("prev-page" = Option<String>, Query, min_length = 1, max_length = 255, pattern = r"^\w+$",
            description = "Id of a model: returns the page of models before it."),
    ),
    responses((status = 200, description = "One page of models.", body = ModelList, example = json!(example!("model_list")))),
)]
pub async fn list(
    State(pool): State<PgPool>,
    State(queue): State<Client>,
    _: Caller,
    uri: Uri,
) -> Result<Json<ModelList>, ApiError> {
    let page_request = PageRequest::of(&uri, paging::sampling(DEFAULT_PAGE))?;
    let found = page(models(&pool, &queue).await?, &page_request).ok_or(ApiError::BadReference)?;
    let Listed { data, has_more, object } = page_request.listed(found);
    Ok(Json(ModelList { data, has_more, object }))
}

/// Returns the requested models, the nearest to the cursor first; `None` if the cursor is not a model.
fn page(mut models: Vec<Model>, page_request: &PageRequest) -> Option<Vec<Model>> {
    if page_request.is_newer() {
        models.reverse();
    }
    let first = match &page_request.from {
        Some(from) => models.iter().position(|model| model.id == *from)? + 1,
        None => 0,
    };
    let count = usize::try_from(page_request.count).unwrap_or_default();
    Some(models.into_iter().skip(first).take(count).collect())
}

/// Returns a model.
#[utoipa::path(
    get, path = "/generator/v1/models/{model_id}", tag = "models", operation_id = "retrieve_model",
    description = "Returns a model's card and the number of its molecules that are ready. An extension.",
    summary = "Retrieve a model",
    params(("model_id" = String, Path, min_length = 1, max_length = 255, pattern = r"^\w+$",
        description = "Id of the model.")),
    responses(
        (status = 200, description = "The model.", body = Model, example = json!(example!("model"))),
        (status = 404, description = NO_MODEL),
    ),
)]
pub async fn retrieve(
    State(pool): State<PgPool>,
    State(queue): State<Client>,
    _: Caller,
    PathId(id): PathId,
) -> Result<Json<Model>, ApiError> {
    models(&pool, &queue).await?.into_iter().find(|model| model.id == id).map(Json).ok_or(ApiError::NotFound)
}

/// Returns the status of a model.
#[utoipa::path(
    get, path = "/generator/v1/models/{model_id}/status", tag = "models", operation_id = "retrieve_model_status",
    description = "Returns whether samples can be drawn from a model, and whether molecules are ready. A model \
        is known for a day after samplers last served it. An extension.",
    summary = "Retrieve a model's status",
    params(("model_id" = String, Path, min_length = 1, max_length = 255, pattern = r"^\w+$",
        description = "Id of the model.")),
    responses(
        (status = 200, description = "The status of the model.", body = ModelStatus, example = json!(example!("model_status"))),
        (status = 404, description = "No sampler has had a model of this id within the last day."),
    ),
)]
pub async fn status(
    State(pool): State<PgPool>,
    _: Caller,
    PathId(id): PathId,
) -> Result<Json<ModelStatus>, ApiError> {
    let target = ready_target(&pool, &id).await?;
    let status = match target {
        Some(target) if target == 0 || molecules_ready(&pool, &id).await? > 0 => ModelAvailability::Online,
        Some(_) => ModelAvailability::Idle,
        None if was_offered(&pool, &id).await? => ModelAvailability::Offline,
        None => return Err(ApiError::NotFound),
    };
    Ok(Json(ModelStatus { status }))
}

/// Returns the version of the service.
#[utoipa::path(
    get, path = "/generator/v1/version-backend", tag = "models", operation_id = "version_of_generator",
    description = "Returns the version of the service. An extension.",
    summary = "Retrieve the version",
    responses((status = 200, description = "The version.", body = Version, example = json!({ "version": env!("CARGO_PKG_VERSION") }))),
)]
pub async fn version(_: Caller, uri: Uri) -> Result<Json<Version>, ApiError> {
    require_empty_query(&uri)?;
    Ok(Json(Version { version: env!("CARGO_PKG_VERSION") }))
}

/// Returns the models that live samplers have loaded.
async fn models(pool: &PgPool, queue: &Client) -> Result<Vec<Model>, ApiError> {
    let mut ready = ready(pool).await?;
    let live = live_models(queue, StoredSampleJob::QUEUE).await?;
    Ok(live.into_iter().map(|live| model(ready.remove(&live.model_id), live)).collect())
}

fn model(ready: Option<i64>, LiveModel { model_id, card, .. }: LiveModel) -> Model {
    let card: ModelCard = serde_json::from_value(card).unwrap_or_else(|fault| {
        tracing::warn!(model.id = %model_id, "the card of the model cannot be read: {fault}");
        ModelCard::default()
    });
    let molecules_ready = ready.unwrap_or(0).unsigned_abs();
    let (summary, metadata) = (summary(&card), metadata(&card));
    Model { id: model_id, object: Default::default(), molecules_ready, summary, metadata, card }
}

/// Returns the figures of the first sampling conditions, under which samples are drawn.
fn summary(card: &ModelCard) -> Map<String, Value> {
    let mut conditions = card.metrics.iter().filter(|(name, _)| *name != ModelCard::TRAINING_SET);
    let figures = conditions.next().map(|(_, figures)| figures.clone()).unwrap_or_default();
    members(&ModelMetrics { properties: BTreeMap::new(), ..figures })
}

/// Returns the provenance of the model.
fn metadata(card: &ModelCard) -> Map<String, Value> {
    let mut made = members(card);
    made.retain(|name, value| {
        ["created", "architecture", "training_data", "licence"].contains(&name.as_str()) && !value.is_null()
    });
    made
}

fn members(body: &impl serde::Serialize) -> Map<String, Value> {
    match serde_json::to_value(body) {
        Ok(Value::Object(members)) => members,
        _ => Map::new(),
    }
}

/// Returns the number of molecules in the reservoir, by model.
pub(super) async fn ready(database: impl PgExecutor<'_>) -> Result<BTreeMap<String, i64>, sqlx::Error> {
    let rows = sqlx::query!(
        r#"select model_id, sum(molecules) as "molecules!" from reservoir_blocks group by model_id"#
    )
    .fetch_all(database)
    .await?;
    Ok(rows.into_iter().map(|row| (row.model_id, row.molecules)).collect())
}

/// Returns the number of molecules that live samplers of the model keep ready; `None` if no sampler serves it.
async fn ready_target(pool: &PgPool, id: &str) -> Result<Option<i64>, sqlx::Error> {
    let targets = queue::operations::ready_targets(pool).await?;
    Ok(targets.into_iter().find(|(model, _)| model == id).map(|(_, target)| target.unwrap_or(0)))
}

/// Returns the number of the model's molecules in the reservoir.
async fn molecules_ready(pool: &PgPool, id: &str) -> Result<i64, sqlx::Error> {
    Ok(ready(pool).await?.remove(id).unwrap_or(0))
}

/// Returns true if a sampler offered the model within the last day on which any ran.
async fn was_offered(pool: &PgPool, id: &str) -> Result<bool, sqlx::Error> {
    let row = sqlx::query!("select model_id from reservoir_models where model_id = $1", id)
        .fetch_optional(pool)
        .await?;
    Ok(row.is_some())
}
