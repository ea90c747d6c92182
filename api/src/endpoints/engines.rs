//! Engines, libraries and the version for asynchronous searches. Extensions of the contract.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{Json, extract::State, http::Uri};
use contract::{Engine, Library, StoredPlanJob, Version, scope};
use http_errors::ApiError;
use parking_lot::RwLock;
use queue::{Client, Job};
use sqlx::PgPool;

use super::{MAX_ID, require_empty_query};
use crate::{
    access::Caller,
    examples::example,
    fields::{FieldFault, InputValue, nullable, word},
    jobs::live_models,
    operation::Operation,
};

/// Rules for reading engines and libraries.
pub const READ: Operation = Operation::short(Some(scope::PLANS_READ));
/// Rules for reading the version.
pub const VERSION: Operation = Operation::short(None);

/// Lifetime of a count of waiting plans: a hundred thousand take a while to count.
const COUNT_TTL: Duration = Duration::from_secs(5);

/// Engines by the names that clients use. Clones share them.
#[derive(Debug, Clone)]
pub struct Engines {
    aliases: Arc<BTreeMap<String, String>>,
    /// Last count of waiting plans by engine, and its time.
    counted: Arc<RwLock<Option<(Instant, QueueLengths)>>>,
}

/// Numbers of waiting and running plans, by engine.
type QueueLengths = Arc<BTreeMap<String, i64>>;

impl Engines {
    /// Sets up the engines with the operator's aliases.
    pub fn new(aliases: BTreeMap<String, String>) -> Self {
        Self { aliases: aliases.into(), counted: Arc::default() }
    }

    /// Returns the number of plans that wait for each engine, at most some seconds old.
    async fn queue_lengths(&self, pool: &PgPool) -> Result<QueueLengths, sqlx::Error> {
        if let Some((counted_at, lengths)) = &*self.counted.read()
            && counted_at.elapsed() < COUNT_TTL
        {
            return Ok(lengths.clone());
        }
        let lengths = Arc::new(queue_lengths(pool).await?);
        *self.counted.write() = Some((Instant::now(), lengths.clone()));
        Ok(lengths)
    }

    /// Resolves `name`, an engine or an alias, to the engine.
    pub fn called<'a>(&'a self, name: &'a str) -> &'a str {
        self.aliases.get(name).map_or(name, String::as_str)
    }

    /// Returns the engine for a plan that asks for `named`; without a name, the first live one.
    pub async fn chosen(&self, queue: &Client, named: Option<String>) -> Result<String, ApiError> {
        let live = live(queue).await?;
        let Some(named) = named else {
            let none = ApiError::Unavailable {
                retry_after: queue::WORKER_START_TIME,
                reason: "No searcher is running that would say which engines there are; name one by `engine`",
            };
            return live.into_iter().next().ok_or(none);
        };
        let named = self.called(&named).to_owned();
        // While no searcher runs, the engines are unknown.
        if live.is_empty() || live.contains(&named) { Ok(named) } else { Err(ApiError::BadReference) }
    }
}

/// Parses the name of an engine, or null.
pub(super) fn engine(input: &InputValue<'_>) -> Result<Option<String>, FieldFault> {
    nullable(word(1, Some(MAX_ID)))(input)
}

/// Returns the engines that live searchers serve, by name.
async fn live(queue: &Client) -> Result<Vec<String>, ApiError> {
    let live = live_models(queue, StoredPlanJob::QUEUE).await?;
    Ok(live.into_iter().map(|engine| engine.model_id).collect())
}

/// Returns the engines that can make plans.
#[utoipa::path(
    get, path = "/synth-batches/v1/engines", tag = "plans", operation_id = "list_engines",
    description = "Lists the retrosynthesis models that live searchers serve, and the number of plans that wait \
        for each. The numbers are at most five seconds old. An extension.",
    summary = "List engines",
    responses((status = 200, description = "The engines.", body = Vec<Engine>, example = json!(example!("engine_list")))),
)]
pub async fn list(
    State(pool): State<PgPool>,
    State(queue): State<Client>,
    State(engines): State<Engines>,
    _: Caller,
    uri: Uri,
) -> Result<Json<Vec<Engine>>, ApiError> {
    require_empty_query(&uri)?;
    let lengths = engines.queue_lengths(&pool).await?;
    let live = live(&queue).await?;
    let engine = |name: &str, of: &str| Engine {
        name: name.to_owned(),
        queue_length: lengths.get(of).copied().unwrap_or_default(),
    };
    let aliases =
        engines.aliases.iter().filter(|(_, of)| live.contains(of)).map(|(name, of)| engine(name, of));
    Ok(Json(live.iter().map(|name| engine(name, name)).chain(aliases).collect()))
}

/// Returns the vendors whose offers the account's searches may use.
#[utoipa::path(
    get, path = "/synth-batches/v1/libraries", tag = "plans", operation_id = "list_libraries",
    description = "Lists the vendors whose offers the account's searches may use, by name. An extension.",
    summary = "List libraries",
    responses((status = 200, description = "The libraries.", body = Vec<Library>, example = json!(example!("library_list")))),
)]
pub async fn libraries(
    State(pool): State<PgPool>,
    caller: Caller,
    uri: Uri,
) -> Result<Json<Vec<Library>>, ApiError> {
    require_empty_query(&uri)?;
    let names = visible_vendors(&pool, &caller.account_id).await?;
    Ok(Json(names.into_iter().map(|name| Library { name }).collect()))
}

/// Returns the version of the service.
#[utoipa::path(
    get, path = "/synth-batches/v1/version-backend", tag = "plans", operation_id = "version_of_plans",
    description = "Returns the version of the service. An extension.",
    summary = "Retrieve the version",
    responses((status = 200, description = "The version.", body = Version, example = json!({ "version": env!("CARGO_PKG_VERSION") }))),
)]
pub async fn version(_: Caller, uri: Uri) -> Result<Json<Version>, ApiError> {
    require_empty_query(&uri)?;
    Ok(Json(Version { version: env!("CARGO_PKG_VERSION") }))
}

async fn queue_lengths(pool: &PgPool) -> Result<BTreeMap<String, i64>, sqlx::Error> {
    let rows = sqlx::query!(
        r#"select engine, count(*) as "plans!" from plans
        where status = 'pending' and same_as is null group by engine"#
    )
    .fetch_all(pool)
    .await?;
    Ok(rows.into_iter().map(|row| (row.engine, row.plans)).collect())
}

/// Returns the vendors that everybody sees and those shown to the account's organisation.
async fn visible_vendors(pool: &PgPool, account_id: &str) -> Result<Vec<String>, sqlx::Error> {
    sqlx::query_scalar!(
        "select name from vendors
        where not is_private or id in (select shown from vendors_shown_to($1) shown) order by name",
        account_id
    )
    .fetch_all(pool)
    .await
}
