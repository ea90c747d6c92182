//! `retort top` and operator actions, with real processes.

use reqwest::{Method, StatusCode};
use serde_json::Value;
use test_support::eventually;

use crate::{
    installation::{Installation, Role, long_search},
    process::output,
};

#[tokio::test(flavor = "multi_thread")]
async fn top_shows_running_jobs_and_what_an_operator_paused_or_cancelled() {
    let mut installation = Installation::new().await;
    installation.start_worker(Role::Search, &[]).await;
    installation.start_api().await;
    let (caller, operator) =
        (installation.account("caller"), installation.account_with("operator", &["--operator"]));
    let searching = tokio::spawn({
        let caller = caller.clone();
        async move { caller.post("/synth/v1/treesearch", &long_search(100)).await.status() }
    });
    let id = installation.running_job(Role::Search).await;
    let act = async |path: &str| {
        operator.request(Method::POST, &format!("/operations/v1/{path}")).send().await.unwrap().status()
    };
    let top = |email: &str, option: &str| {
        let mut command = installation.retort_as(email);
        command.args(["top", option]);
        command
    };

    let before = output(top("operator", "--once"));
    assert_eq!(act("queues/search/pause").await, StatusCode::NO_CONTENT);
    assert_eq!(act(&format!("jobs/{id}/cancel")).await, StatusCode::NO_CONTENT);
    let status = searching.await.unwrap();
    let after: Value = eventually("the job has stopped", async || {
        let state: Value = serde_json::from_str(&output(top("operator", "--json"))).unwrap();
        (state["failures_total"] == 1).then_some(state)
    })
    .await;
    let refused = top("caller", "--once").output().unwrap();

    let line =
        |word: &str| before.lines().find(|line| line.starts_with(word)).unwrap_or_else(|| panic!("{before}"));
    assert!(line(&id).contains("running") && line(&id).contains("caller@example.org"), "{before}");
    assert!(line("search ").contains("open") && line("sample ").contains("no worker"), "{before}");
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(after["queues"][1]["paused"]["by"], "operator@example.org");
    assert_eq!(after["failures"][0]["id"], Value::from(id));
    assert!(!refused.status.success());
    let words = String::from_utf8_lossy(&refused.stderr);
    assert!(words.contains("lacks the scope operations"), "{words}");
    // The command line and the API share one audit log.
    let entries = installation.retort(&["journal"]);
    let acts: Vec<&str> = entries
        .lines()
        .filter(|line| line.split('\t').nth(1) == Some("operator@example.org"))
        .filter_map(|line| line.split('\t').nth(2))
        .collect();
    assert_eq!(acts, ["queue pause", "job cancel"], "{entries}");
}
