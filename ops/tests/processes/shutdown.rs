//! SIGTERM: running work is finished, then the process ends.

use std::process::Command;

use reqwest::StatusCode;
use serde_json::json;

use crate::{
    client::good,
    installation::{Installation, Role, long_search},
    process::{Process, binaries, output, root},
};

const SEARCH: &str = "/synth/v1/treesearch";
const SAMPLES: &str = "/generator/v1/samples";

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_finishes_its_job_before_it_ends() {
    let mut installation = Installation::new().await;
    let worker = installation.start_worker(Role::Search, &[]).await;
    installation.start_api().await;
    let caller = installation.account("owner");

    let request = tokio::spawn(async move { good(caller.post(SEARCH, &long_search(5)).await).await });
    installation.running_job(Role::Search).await;
    installation.worker(worker).terminate();

    request.await.unwrap();
    assert!(installation.worker(worker).wait().success());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_api_answers_the_request_in_flight_before_it_ends() {
    let mut installation = Installation::new().await;
    installation.start_worker(Role::Search, &[]).await;
    installation.start_api().await;
    let caller = installation.account("owner");

    let request = tokio::spawn(async move { good(caller.post(SEARCH, &long_search(5)).await).await });
    installation.running_job(Role::Search).await;
    installation.api().terminate();

    request.await.unwrap();
    assert!(installation.api().wait().success());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopping_api_is_not_ready_and_serves_until_its_delay_is_over() {
    let mut installation = Installation::new().await;
    // Longer than this test; other tests cover the end of the delay.
    installation.set("SHUTDOWN_DELAY_SECONDS", "600");
    installation.start_all().await;
    let caller = installation.account("owner");
    installation.readiness(|body| body["status"] == "ready").await;

    installation.api().terminate();
    let unready = installation.readiness(|body| body["status"] != "ready").await;

    assert_eq!(unready["missing"], json!(["process"]));
    assert_eq!(caller.get("/healthz").await.status(), StatusCode::OK);
    caller.create(SAMPLES, &json!({ "size": 3 })).await;
}

/// The grace period is shorter than the search: a worker stopped together with the API would give its job back.
#[tokio::test(flavor = "multi_thread")]
async fn a_stop_of_everything_answers_what_was_accepted_before_it_ends_the_workers() {
    let mut installation = Installation::new().await;
    let mut runner = under_runner(&mut installation);
    installation.readiness(|body| body["missing"] == json!(["sampler"])).await;
    let caller = installation.account("owner");

    let request = tokio::spawn(async move { good(caller.post(SEARCH, &long_search(6)).await).await });
    installation.running_job(Role::Search).await;
    let mut stop = Command::new("bash");
    stop.args(["-c", ". ops/lib.sh && stop_processes \"$0\" 100", &runner.id().to_string()])
        .current_dir(root());
    output(stop);

    let answer = request.await.unwrap();
    assert!(answer["metadata"]["total_graph_nodes"].as_u64().unwrap() > 1);
    runner.wait();
}

/// Starts an API and a searcher as `./ops/up` does.
fn under_runner(installation: &mut Installation) -> Process {
    let path = std::env::join_paths(
        std::iter::once(binaries()).chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    let keep = root().join("ops/keep");
    let procfile = installation.folder().join("Procfile");
    let lines = format!(
        "api: exec '{0}' retort-api serve\nsearcher: exec '{0}' retort-worker search\n",
        keep.display()
    );
    std::fs::write(&procfile, lines).unwrap();
    let mut run = Command::new(root().join("ops/run"));
    run.arg(&procfile)
        .args(["--timeout", "100"])
        .current_dir(root())
        .env("PATH", path.unwrap())
        .env("DATABASE_URL", installation.url())
        .env("HTTP_ADDR", installation.address())
        .env("WORKER_GRACE_SECONDS", "1");
    installation.start("runner", run)
}
