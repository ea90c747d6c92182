//! Failures from which the service recovers.

use std::time::Duration;

use reqwest::StatusCode;
use serde_json::{Value, json};
use test_support::eventually;

use crate::{
    client::good,
    installation::{Installation, Role, long_search},
};

const SEARCH: &str = "/synth/v1/treesearch";
const SAMPLES: &str = "/generator/v1/samples";

/// Returns a search that ends at once: it stops at depth 1, and its molecule has few disconnections.
fn short_search() -> Value {
    json!({ "search_smiles": "CCO", "max_depth": 1, "max_seconds": 1 })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_whose_worker_is_killed_is_finished_by_another() {
    let mut installation = Installation::new().await;
    // A job counts as lost after its worker has been silent for a while; the caller must wait that long.
    installation.set("SEARCH_SLACK_SECONDS", "90");
    let first = installation.start_worker(Role::Search, &[]).await;
    installation.start_api().await;
    let caller = installation.account("owner");

    let request = tokio::spawn(async move { good(caller.post(SEARCH, &long_search(20)).await).await });
    let job = installation.running_job(Role::Search).await;
    installation.start_worker(Role::Search, &[]).await;
    installation.worker(first).kill();
    let answer = request.await.unwrap();

    assert!(answer["metadata"]["total_graph_nodes"].as_u64().unwrap() > 1);
    let attempts: i32 = sqlx::query_scalar("select attempts from jobs where id = $1")
        .bind(job)
        .fetch_one(&mut installation.connection().await)
        .await
        .unwrap();
    assert_eq!(attempts, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn both_sides_recover_alone_when_postgres_is_stopped_and_started() {
    let Some(mut installation) = Installation::with_own_postgres() else { return };
    installation.start_all().await;
    let caller = installation.account("owner");
    caller.create(SAMPLES, &json!({ "size": 3 })).await;
    caller.create(SEARCH, &short_search()).await;

    installation.postgres().stop();
    let refused = caller.post(SAMPLES, &json!({ "size": 3 })).await;
    tokio::time::sleep(Duration::from_secs(4)).await;
    installation.postgres().start();

    assert!(refused.status().is_server_error(), "without a database: {}", refused.status());
    installation.assert_running();
    eventually("the installation is ready again", async || {
        let ready = caller.get("/readyz").await;
        (ready.status() == StatusCode::OK).then_some(())
    })
    .await;
    caller.create(SAMPLES, &json!({ "size": 3 })).await;
    caller.create(SEARCH, &short_search()).await;
    installation.assert_running();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sample_that_was_answered_survives_the_death_of_everything() {
    let Some(mut installation) = Installation::with_own_postgres() else { return };
    installation.start_worker(Role::Sample, &[]).await;
    installation.start_api().await;
    let caller = installation.account("owner");

    let sample = caller.create(SAMPLES, &json!({ "size": 50 })).await;
    installation.postgres().crash();
    installation.kill_all();
    installation.postgres().start();
    installation.start_api().await;

    let path = format!("{SAMPLES}/{}", sample["id"].as_str().unwrap());
    assert_eq!(caller.read(&path).await, sample);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_that_hangs_up_cancels_its_job_and_frees_the_worker() {
    let mut installation = Installation::new().await;
    installation.start_worker(Role::Search, &[("WORKER_SLOTS", "1")]).await;
    installation.start_api().await;
    let caller = installation.account("owner");

    let request = tokio::spawn({
        let caller = caller.clone();
        async move { caller.post(SEARCH, &long_search(110)).await }
    });
    let job = installation.running_job(Role::Search).await;
    request.abort();
    let mut connection = installation.connection().await;
    eventually("the job is cancelled", async || {
        let cancelled: bool = sqlx::query_scalar("select cancelled_at is not null from jobs where id = $1")
            .bind(&job)
            .fetch_one(&mut connection)
            .await
            .unwrap();
        cancelled.then_some(())
    })
    .await;

    // If the job still held the only slot, this request would time out.
    caller.create(SEARCH, &short_search()).await;
    let answered: bool = sqlx::query_scalar("select coalesce(outcome ? 'Ok', false) from jobs where id = $1")
        .bind(&job)
        .fetch_one(&mut connection)
        .await
        .unwrap();
    assert!(!answered, "nobody waits for an answer, so there is none");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queue_that_is_full_for_the_deadline_answers_503_with_the_time_to_come_back() {
    let mut installation = Installation::new().await;
    installation.start_worker(Role::Search, &[("WORKER_SLOTS", "1")]).await;
    installation.start_api().await;
    let caller = installation.account("owner");

    let running = tokio::spawn({
        let caller = caller.clone();
        async move { caller.post(SEARCH, &long_search(100)).await }
    });
    installation.running_job(Role::Search).await;
    let refused = caller.post(SEARCH, &long_search(4)).await;

    assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
    let seconds = refused.headers()["retry-after"].to_str().unwrap().parse::<u64>().unwrap();
    assert!(seconds > 0);
    running.abort();
}
