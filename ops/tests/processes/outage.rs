//! Database outages: at the start, long ones, and permanent ones.

use reqwest::StatusCode;
use serde_json::json;
use test_support::eventually;

use crate::{
    installation::{Installation, Role},
    keep::{keep, keep_postgres},
    process::{binary, signal},
};

const SAMPLES: &str = "/generator/v1/samples";

#[tokio::test(flavor = "multi_thread")]
async fn processes_that_start_before_their_database_wait_for_it() {
    let Some(mut installation) = Installation::with_own_postgres() else { return };
    installation.postgres().stop();
    installation.begin_api();
    installation.begin_worker(Role::Sample);

    let unready = installation.readiness(|body| body["checks"]["database"] == "cannot be reached").await;
    let anonymous = installation.anonymous_client();
    let alive = anonymous.get("/healthz").await.status();
    let refused = anonymous.get(SAMPLES).await;
    installation.postgres().start();
    installation.readiness(|body| body["missing"] == json!(["searcher"])).await;

    assert_eq!(unready["missing"], json!(["database", "migrations", "sampler", "searcher"]));
    assert_eq!((alive, refused.status()), (StatusCode::OK, StatusCode::SERVICE_UNAVAILABLE));
    assert!(refused.headers().contains_key("retry-after"));
    installation.assert_running();
    installation.account("owner").create(SAMPLES, &json!({ "size": 3 })).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn processes_that_start_before_the_schema_is_made_wait_for_it() {
    let mut installation = Installation::unmigrated().await;
    installation.begin_api();
    installation.begin_worker(Role::Sample);

    let unready = installation.readiness(|body| body["checks"]["database"] == "ok").await;
    installation.migrate();
    installation.readiness(|body| body["missing"] == json!(["searcher"])).await;

    let missing = unready["checks"]["migrations"].as_str().unwrap();
    assert!(missing.ends_with(" not applied"), "{missing}");
    installation.assert_running();
    installation.account("owner").create(SAMPLES, &json!({ "size": 3 })).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn processes_that_wait_end_when_stopped() {
    let mut installation = Installation::unmigrated().await;
    installation.begin_api();
    installation.begin_worker(Role::Search);
    installation.readiness(|body| body["checks"]["database"] == "ok").await;
    let worker = installation.worker(0);
    eventually("the worker waits", async || worker.log().contains("waiting: ").then_some(())).await;

    installation.api().terminate();
    installation.worker(0).terminate();

    assert!(installation.api().wait().success());
    assert!(installation.worker(0).wait().success());
}

#[tokio::test(flavor = "multi_thread")]
async fn permanent_faults_end_a_process_with_a_reason() {
    let installation = Installation::unmigrated().await;
    let url = installation.url();
    let (_, server) = url.rsplit_once('@').unwrap();
    let faults = [
        (format!("postgres://nobody_of_that_name@{server}"), "nobody_of_that_name"),
        (format!("{url}_gone"), "_gone\" does not exist"),
        ("postgres://[half an address".to_owned(), "error with configuration"),
    ];

    for (url, reason) in faults {
        for (name, role) in [("retort-api", "serve"), ("retort-worker", "sample")] {
            let mut command = binary(name);
            command.arg(role).env("DATABASE_URL", &url).env("HTTP_ADDR", "127.0.0.1:0");
            let ended = command.output().unwrap();
            let words = [ended.stdout, ended.stderr].concat();
            let words = String::from_utf8_lossy(&words);
            assert_eq!(ended.status.code(), Some(78), "{words}");
            assert!(words.contains(reason), "{words}");
        }
    }
}

/// The outage outlasts five failed starts; that many used to end the installation for good.
#[tokio::test(flavor = "multi_thread")]
async fn issue_16_an_installation_comes_back_by_itself_after_an_outage_in_which_its_api_died() {
    let Some(mut installation) = Installation::with_own_postgres() else { return };
    installation.postgres().stop();
    let folder = tempfile::tempdir().unwrap();
    let mut postgres = keep_postgres(installation.postgres(), &folder);
    let api = installation.command("retort-api");
    let mut command = keep(&[&api.get_program().to_string_lossy(), "serve"]);
    command.env("DATABASE_URL", installation.url()).env("HTTP_ADDR", installation.address());
    installation.begin_api_as(command);
    installation.begin_worker(Role::Sample);
    installation.readiness(|body| body["missing"] == json!(["searcher"])).await;
    let caller = installation.account("owner");

    postgres.terminate();
    postgres.wait();
    let mut last = 0;
    for _ in 0..5 {
        let api = installation.api();
        let next = eventually("the API is started again", async || {
            api.assert_running();
            // Right after its start, the child is still a copy of its keeper.
            api.children().into_iter().find(|id| *id != last && is_api(*id))
        })
        .await;
        signal("KILL", next);
        last = next;
    }
    installation.readiness(|body| body["checks"]["database"] == "cannot be reached").await;
    let postgres = keep_postgres(installation.postgres(), &folder);
    installation.readiness(|body| body["missing"] == json!(["searcher"])).await;

    installation.assert_running();
    caller.create(SAMPLES, &json!({ "size": 3 })).await;
    installation.api().terminate();
    assert!(installation.api().wait().success());
    drop(postgres);
}

fn is_api(id: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{id}/comm")).is_ok_and(|name| name.starts_with("retort-api"))
}
