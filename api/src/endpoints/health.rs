//! Liveness and readiness of the process.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{
    Json,
    extract::State,
    http::{StatusCode, Uri, header},
    response::{IntoResponse, Response},
};
use contract::{StoredSampleJob, StoredTreeSearchJob};
use database::SingleFlight;
use http_errors::{ApiError, query_pairs};
use identity::Identity;
use parking_lot::RwLock;
use queue::Job;
use schema::Missing;
use serde_json::{Value, json};
use sqlx::PgPool;

/// Answer of `/readyz`: ready only if no check fails.
#[derive(Debug, Clone)]
pub struct Readiness {
    /// Each check with its fault; `None` is good.
    pub checks: Vec<(&'static str, Option<String>)>,
    /// Facts worth knowing that do not affect readiness.
    pub notes: Vec<(String, String)>,
}

impl Readiness {
    /// Reports a process that cannot serve yet, because of `missing` if that is known.
    #[must_use]
    pub fn waiting(missing: Option<&Missing>) -> Self {
        let unknown = || Some("unknown".to_owned());
        let (database, migrations) = match missing {
            None => (unknown(), unknown()),
            Some(Missing::Database(_)) => (unavailable(), unknown()),
            Some(Missing::Migrations(count)) => (None, not_applied(*count)),
        };
        let checks = [
            ("database", database),
            ("migrations", migrations),
            ("sampler", unknown()),
            ("searcher", unknown()),
        ];
        Self { checks: checks.into(), notes: Vec::new() }
    }

    /// Turns the `excluded` checks into notes, which do not affect readiness.
    #[must_use]
    pub fn without(self, excluded: &[String]) -> Self {
        let Self { checks, mut notes } = self;
        let (noted, checks): (Vec<_>, Vec<_>) =
            checks.into_iter().partition(|(name, _)| excluded.iter().any(|excluded| excluded == *name));
        notes.extend(noted.into_iter().map(|(name, fault)| (name.to_owned(), state(fault.as_deref()))));
        Self { checks, notes }
    }

    /// Reports a process that was told to stop but still answers for a while.
    #[must_use]
    pub fn stopping() -> Self {
        Self { checks: vec![("process", Some("stopping".to_owned()))], notes: Vec::new() }
    }
}

/// Describes the result of a check in a word.
fn state(fault: Option<&str>) -> String {
    fault.unwrap_or("ok").to_owned()
}

fn unavailable() -> Option<String> {
    Some("cannot be reached".to_owned())
}

fn not_applied(count: usize) -> Option<String> {
    (count > 0).then(|| format!("{count} not applied"))
}

impl IntoResponse for Readiness {
    fn into_response(self) -> Response {
        let ready = self.checks.iter().all(|(_, fault)| fault.is_none());
        let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
        let missing: Vec<_> =
            self.checks.iter().filter(|(_, fault)| fault.is_some()).map(|(name, _)| *name).collect();
        let checks: serde_json::Map<_, _> = self
            .checks
            .iter()
            .map(|(name, fault)| ((*name).to_owned(), json!(state(fault.as_deref()))))
            .chain(self.notes.iter().map(|(name, state)| (name.clone(), json!(state))))
            .collect();
        let body = json!({
            "status": if ready { "ready" } else { "not ready" }, "missing": missing, "checks": checks
        });
        (status, [(header::CACHE_CONTROL, "no-store")], Json(body)).into_response()
    }
}

/// `GET /healthz`: the process answers, so it lives.
pub async fn alive() -> Json<Value> {
    Json(json!({ "status": "alive" }))
}

/// Cached readiness: however many clients ask, the database is queried once a second.
#[derive(Debug, Clone, Default)]
pub struct ReadinessCache(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    latest: RwLock<Option<(Instant, Readiness)>>,
    running_check: SingleFlight<Readiness>,
}

/// Lifetime of a cached answer.
const CACHE_TTL: Duration = Duration::from_secs(1);

/// Timeout of each check.
const CHECK_TIMEOUT: Duration = Duration::from_secs(2);

/// `GET /readyz`: the database is reachable, its schema current, and each queue has a live worker.
///
/// The checks in `?exclude=sampler&exclude=searcher` are reported but do not count, in the syntax of Kubernetes' own
/// server. A load balancer that goes by this answer must not remove all processes because a worker is missing.
pub async fn ready(
    State(pool): State<PgPool>,
    State(queue): State<queue::Client>,
    State(identity): State<Arc<Identity>>,
    State(cache): State<ReadinessCache>,
    uri: Uri,
) -> Result<Readiness, ApiError> {
    let asked = query_pairs(&uri).into_iter();
    let excluded: Vec<String> = asked.filter(|(name, _)| name == "exclude").map(|(_, check)| check).collect();
    Ok(current(pool, queue, identity, cache).await?.without(&excluded))
}

/// Returns the cached readiness, or checks it now.
async fn current(
    pool: PgPool,
    queue: queue::Client,
    identity: Arc<Identity>,
    ReadinessCache(cache): ReadinessCache,
) -> Result<Readiness, ApiError> {
    if let Some((found_at, readiness)) = &*cache.latest.read()
        && found_at.elapsed() < CACHE_TTL
    {
        return Ok(readiness.clone());
    }
    let shared = cache.clone();
    let running_check = cache.running_check.join(|| async move {
        let readiness = check(&pool, &queue, &identity).await;
        let now = (Instant::now(), readiness.clone());
        *shared.latest.write() = Some(now);
        readiness
    });
    running_check.await.ok_or(ApiError::Internal)
}

async fn check(pool: &PgPool, queue: &queue::Client, identity: &Identity) -> Readiness {
    let (migrations, workers, notes) = tokio::join!(
        database::within(CHECK_TIMEOUT, schema::pending(pool)),
        database::within(CHECK_TIMEOUT, queue.live_workers()),
        tokio::time::timeout(CHECK_TIMEOUT, identity.issuer_states()),
    );
    // The check continues in the background, and the next answer has its result.
    let notes = notes.unwrap_or_else(|_| vec![("issuers".to_owned(), "do not answer".to_owned())]);
    let database = migrations.as_ref().err().and_then(|_| unavailable());
    let migrations = match migrations {
        Ok(pending) => not_applied(pending.len()),
        Err(_) => Some("unknown".to_owned()),
    };
    let worker = |queue: &str| match &workers {
        Ok(workers) if workers.get(queue).is_some_and(|slots| *slots > 0) => None,
        Ok(_) => Some("no live worker".to_owned()),
        Err(_) => Some("unknown".to_owned()),
    };
    Readiness {
        notes,
        checks: vec![
            ("database", database),
            ("migrations", migrations),
            ("sampler", worker(StoredSampleJob::QUEUE)),
            ("searcher", worker(StoredTreeSearchJob::QUEUE)),
        ],
    }
}
