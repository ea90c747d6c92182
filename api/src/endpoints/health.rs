//! Whether the process lives, and whether it can serve.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{
    Json,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use contract::{StoredSampleJob, StoredTreeSearchJob};
use identity::Identity;
use queue::Job;
use schema::Missing;
use serde_json::{Value, json};
use sqlx::PgPool;
use tokio::sync::Mutex;

/// The answer of `/readyz`: ready only when nothing is missing.
#[derive(Debug, Clone)]
pub struct Readiness {
    /// Each check with what it found; `None` is good.
    pub checks: Vec<(&'static str, Option<String>)>,
    /// What is worth knowing and keeps nobody from serving.
    pub notes: Vec<(String, String)>,
}

impl Readiness {
    /// Of a process that cannot serve yet, for want of what `missing` says if that is known.
    #[must_use]
    pub fn waiting(missing: Option<&Missing>) -> Self {
        let unknown = || Some("unknown".to_owned());
        let (database, migrations) = match missing {
            None => (unknown(), unknown()),
            Some(Missing::Database(_)) => (away(), unknown()),
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

    /// Of a process that was told to stop, and answers for a while.
    #[must_use]
    pub fn stopping() -> Self {
        Self { checks: vec![("process", Some("stopping".to_owned()))], notes: Vec::new() }
    }
}

fn away() -> Option<String> {
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
            .map(|(name, fault)| ((*name).to_owned(), json!(fault.as_deref().unwrap_or("ok"))))
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

/// What was found a moment ago: however many ask, the database is asked once a second.
#[derive(Debug, Clone, Default)]
pub struct Recent(Arc<Mutex<Option<(Instant, Readiness)>>>);

/// How long an answer is good.
const RECENT: Duration = Duration::from_secs(1);

/// `GET /readyz`: the database is reachable, its schema current, and each queue has a live worker.
pub async fn ready(
    State(pool): State<PgPool>,
    State(queue): State<queue::Client>,
    State(identity): State<Arc<Identity>>,
    State(Recent(recent)): State<Recent>,
) -> Readiness {
    let mut recent = recent.lock().await;
    if let Some((found_at, readiness)) = &*recent
        && found_at.elapsed() < RECENT
    {
        return readiness.clone();
    }
    let readiness = look(&pool, &queue, &identity).await;
    *recent = Some((Instant::now(), readiness.clone()));
    readiness
}

async fn look(pool: &PgPool, queue: &queue::Client, identity: &Identity) -> Readiness {
    let (migrations, workers, notes) =
        tokio::join!(schema::pending(pool), queue.live_workers(), identity.issuer_states());
    let database = migrations.as_ref().err().and_then(|_| away());
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
