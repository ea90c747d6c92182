//! Whether the process lives, and whether it can serve.

use std::sync::Arc;

use axum::{Json, extract::State};
use contract::{StoredSampleJob, StoredTreeSearchJob};
use queue::Job;
use serde_json::{Value, json};

use crate::{app::App, database, error::Readiness};

/// `GET /healthz`: the process answers, so it lives.
pub async fn alive() -> Json<Value> {
    Json(json!({ "status": "alive" }))
}

/// `GET /readyz`: the database is reachable, its schema current, and each queue has a live worker.
pub async fn ready(State(app): State<Arc<App>>) -> Readiness {
    let (migrations, workers, notes) =
        tokio::join!(database::pending_migrations(&app.pool), app.queue.live_workers(), app.issuers.states());
    let database = migrations.as_ref().err().map(|_| "cannot be reached".to_owned());
    let migrations = match migrations {
        Ok(pending) if pending.is_empty() => None,
        Ok(pending) => Some(format!("{} not applied", pending.len())),
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
