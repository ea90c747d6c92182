//! Background searches, end to end: real searchers run them, even if processes die meanwhile, and only after all
//! interactive work.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::{Value, json};
use test_support::eventually;

use crate::{
    client::{ApiClient, good},
    installation::{Installation, Role, long_search},
    searches::{CATALOGUE, TARGET, installation},
};

const PLANS: &str = "/synth-batches/v1/plans";
const BATCHES: &str = "/synth-batches/v1/batches";

/// Stores a plan and returns its id.
async fn plan(caller: &ApiClient, parameters: &Value) -> String {
    let answer = caller.post(PLANS, &json!({ "parameters": parameters })).await;
    assert_eq!(answer.status(), 201);
    answer.json::<Value>().await.unwrap()["id"].as_str().unwrap().to_owned()
}

/// Waits until the plan has `status`; returns the plan.
async fn wait_for_status(caller: &ApiClient, id: &str, status: &str) -> Value {
    eventually(&format!("the plan is {status}"), async || {
        let plan = caller.read(&format!("{PLANS}/{id}")).await;
        assert!(plan["status"] != "failed" || status == "failed", "{plan}");
        (plan["status"] == status).then_some(plan)
    })
    .await
}

async fn progress(caller: &ApiClient, batch: &str) -> Value {
    caller.read(&format!("{BATCHES}/{batch}")).await["progress"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_finds_what_a_search_finds_that_is_waited_for() {
    let installation = installation().await;
    let caller = installation.account("owner");
    let body = json!({ "search_smiles": TARGET, "max_seconds": 20 });

    let waited_for = caller.create("/synth/v1/uspto_retro/treesearch", &body).await;
    let id = plan(&caller, &body).await;
    let planned = wait_for_status(&caller, &id, "completed").await;
    assert!(planned["figures"]["routes"].as_u64() > Some(0), "{}", planned["figures"]);

    let routes = |answer: &Value| -> BTreeSet<String> {
        let backbones = answer["route_hierarchy"].as_object().unwrap().values();
        let pairs = backbones.flat_map(|steps| steps.as_object().unwrap().values());
        pairs.flat_map(|pairs| pairs.as_array().unwrap()).map(|pair| pair[0]["nodes"].to_string()).collect()
    };
    assert!(!routes(&waited_for).is_empty(), "{waited_for}");
    assert_eq!(routes(&planned["result"]), routes(&waited_for));
    let nodes = planned["result"]["route_hierarchy"].as_object().unwrap();
    let backbone = nodes.keys().next().unwrap();
    assert_eq!(backbone.matches(':').count(), 17, "every atom of the target is numbered: {backbone}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_outlives_every_process_that_is_killed_while_it_is_made() {
    let mut installation = installation().await;
    let caller = installation.account("owner");
    let id = plan(&caller, &long_search(4)).await;
    wait_for_status(&caller, &id, "processing").await;

    installation.kill_all();
    installation.start_worker(Role::Search, &[]).await;
    installation.start_api().await;

    let plan = wait_for_status(&caller, &id, "completed").await;
    assert!(plan["result"]["metadata"]["total_graph_nodes"].as_u64().unwrap() > 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_pauses_for_an_interactive_search_and_loses_no_time() {
    let mut installation = Installation::new().await;
    installation.import_catalogue(CATALOGUE);
    // On a single core, each of the two searches would get half of it.
    installation.start_worker(Role::Search, &[("RETORT_THREADS", "1")]).await;
    installation.start_api().await;
    let caller = installation.account("owner");
    let id = plan(&caller, &long_search(10)).await;
    wait_for_status(&caller, &id, "processing").await;

    caller.create("/synth/v1/treesearch", &long_search(6)).await;

    let plan = wait_for_status(&caller, &id, "completed").await;
    let metadata = &plan["result"]["metadata"];
    let seconds = |stage: &str| metadata[stage].as_f64().unwrap();
    let stages = ["tree_search_elapsed", "routes_extracted_elapsed", "routes_validated_elapsed"];
    let own: f64 = stages.map(seconds).iter().sum();
    assert!(seconds("total_elapsed") - own > 3.0, "it stood aside: {metadata}");
    // A search for all routes reserves a quarter of its time for extracting routes; here there are none.
    assert!(own > 7.0, "it had the time that it asked for: {metadata}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopping_searcher_hands_its_plan_over_at_once() {
    let mut installation = installation().await;
    let caller = installation.account("owner");
    let id = plan(&caller, &long_search(60)).await;
    wait_for_status(&caller, &id, "processing").await;

    installation.end_workers();

    wait_for_status(&caller, &id, "pending").await;
    let attempts: i32 = sqlx::query_scalar("select attempts from jobs where queue = 'plan'")
        .fetch_one(&mut installation.connection().await)
        .await
        .unwrap();
    assert_eq!(attempts, 0);
    let cancelled = good(caller.post(&format!("{PLANS}/{id}/cancel"), &Value::Null).await).await;
    assert_eq!(cancelled["status"], "cancelled");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_is_made_through_a_kill_and_identical_targets_once() {
    let mut installation = installation().await;
    let caller = installation.account("owner");
    let many: Vec<String> = (1..40).map(|length| format!("{}O", "C".repeat(length))).collect();
    let smiles: Vec<&str> = many.iter().map(String::as_str).chain(["OCC", "C(O)C"]).collect();
    let body = json!({ "smiles": smiles, "parameters": { "max_seconds": 0.5, "engine": "uspto_retro" } });

    let batch = caller.create(BATCHES, &body).await["id"].as_str().unwrap().to_owned();
    eventually("some of it is done", async || {
        (progress(&caller, &batch).await["completed"].as_i64() > Some(2)).then_some(())
    })
    .await;
    installation.kill_all();
    installation.start_worker(Role::Search, &[]).await;
    installation.start_api().await;

    eventually("all of it is done", async || {
        (progress(&caller, &batch).await["completed"].as_u64() == Some(smiles.len() as u64)).then_some(())
    })
    .await;
    let made: (i64, i64) = sqlx::query_as("select count(*), count(result) from plans where batch_id = $1")
        .bind(&batch)
        .fetch_one(&mut installation.connection().await)
        .await
        .unwrap();
    assert_eq!(made, (41, 39));
    assert_eq!(progress(&caller, &batch).await["seconds_left"], 0.0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_batch_has_few_jobs_and_can_be_cancelled_resumed_and_deleted_while_it_runs() {
    let installation = installation().await;
    let caller = installation.account("owner");
    let isotope = |number: usize| format!("[{}CH3]{}O", number % 900 + 1, "C".repeat(number / 900 + 1));
    let smiles: Vec<String> = (0..4_500).map(isotope).collect();
    let body =
        json!({ "smiles": smiles, "parameters": { "max_seconds": 0.2, "early_exit_first_solution": false } });
    let batch = caller.create(BATCHES, &body).await["id"].as_str().unwrap().to_owned();
    let begun = async || {
        let done = progress(&caller, &batch).await["completed"].as_i64();
        eventually("some more of it is done", async || {
            (progress(&caller, &batch).await["completed"].as_i64() > done).then_some(())
        })
        .await;
    };
    let mut connection = installation.connection().await;
    let mut jobs = async || -> i64 {
        sqlx::query_scalar("select count(*) from jobs where queue = 'plan' and finished_at is null")
            .fetch_one(&mut connection)
            .await
            .unwrap()
    };

    begun().await;
    let in_flight = jobs().await;
    let cancelled = good(caller.post(&format!("{BATCHES}/{batch}/cancel"), &Value::Null).await).await;
    eventually("no job is left", async || (jobs().await == 0).then_some(())).await;
    good(caller.post(&format!("{BATCHES}/{batch}/resume"), &Value::Null).await).await;
    begun().await;
    let gone =
        good(caller.request(Method::DELETE, &format!("{BATCHES}/{batch}")).send().await.unwrap()).await;

    assert!((1..1_000).contains(&in_flight), "{in_flight}");
    assert_eq!(
        (&cancelled["progress"]["pending"], &cancelled["progress"]["processing"]),
        (&json!(0), &json!(0))
    );
    assert_eq!(gone["deleted"], true);
    eventually("no job is left", async || (jobs().await == 0).then_some(())).await;
    assert_eq!(caller.get(&format!("{BATCHES}/{batch}")).await.status(), 404);
}
