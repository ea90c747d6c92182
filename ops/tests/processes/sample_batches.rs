//! Asynchronous samples, end to end: real samplers draw them, even if processes die meanwhile, and only after all
//! interactive work.

use std::collections::HashSet;

use reqwest::Method;
use serde_json::{Value, json};
use test_support::eventually;

use crate::{
    client::{ApiClient, good},
    installation::{Installation, Role},
    process::output,
};

const BATCHES: &str = "/generator/v1/sample-batches";
const SAMPLES: &str = "/generator/v1/samples";

/// Setting that keeps the reservoir empty, so that every interactive sample has to be drawn.
const EMPTY_RESERVOIR: [(&str, &str); 1] = [("RESERVOIR_SIZE", "0")];

/// Waits until the sample or batch has `status`; returns it.
async fn standing(caller: &ApiClient, path: &str, status: &str) -> Value {
    eventually(&format!("{path} is {status}"), async || {
        let found = caller.read(path).await;
        (found["status"] == status).then_some(found)
    })
    .await
}

/// Requests an asynchronous sample and returns its address.
async fn request_async_sample(caller: &ApiClient, size: u32) -> String {
    let request = caller.request(Method::POST, SAMPLES).header("prefer", "respond-async");
    let answer = request.json(&json!({ "size": size })).send().await.unwrap();
    assert_eq!(answer.status(), 202);
    answer.headers()["location"].to_str().unwrap().to_owned()
}

async fn batch(caller: &ApiClient, size: u32) -> String {
    let batch = caller.create(BATCHES, &json!({ "size": size })).await;
    format!("{BATCHES}/{}", batch["id"].as_str().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_asynchronous_sample_outlives_killed_processes() {
    let mut installation = Installation::new().await;
    installation.start_api().await;
    let caller = installation.account("owner");
    let path = request_async_sample(&caller, 40).await;

    installation.kill_all();
    installation.start_worker(Role::Sample, &EMPTY_RESERVOIR).await;
    installation.start_api().await;

    let sample = standing(&caller, &path, "completed").await;
    let smiles: HashSet<&str> =
        sample["smiles"].as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
    assert_eq!(smiles.len(), 40, "distinct structures");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_is_made_through_a_kill_by_two_samplers_and_no_molecule_of_it_twice() {
    let mut installation = Installation::new().await;
    installation.start_worker(Role::Sample, &EMPTY_RESERVOIR).await;
    installation.start_worker(Role::Sample, &EMPTY_RESERVOIR).await;
    installation.start_api().await;
    let caller = installation.account("owner");
    let path = batch(&caller, 3_100).await;
    eventually("some of it is made", async || {
        (caller.read(&path).await["completed_chunks"].as_i64() > Some(0)).then_some(())
    })
    .await;

    installation.kill_all();
    installation.start_worker(Role::Sample, &EMPTY_RESERVOIR).await;
    installation.start_worker(Role::Sample, &EMPTY_RESERVOIR).await;
    installation.start_api().await;

    let made = standing(&caller, &path, "completed").await;
    assert_eq!((&made["chunk_count"], &made["completed_chunks"]), (&json!(7), &json!(7)));
    let chunks = caller.read(&format!("{path}/samples?limit=100")).await;
    let chunks = chunks["data"].as_array().unwrap();
    let molecules = || chunks.iter().flat_map(|chunk| chunk["smiles"].as_array().unwrap());
    assert_eq!(
        (molecules().count(), molecules().map(Value::to_string).collect::<HashSet<_>>().len()),
        (3_100, 3_100)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_line_writes_a_batch_and_what_is_there_of_a_cancelled_one() {
    let mut installation = Installation::new().await;
    installation.start_worker(Role::Sample, &EMPTY_RESERVOIR).await;
    installation.start_api().await;
    let caller = installation.account("owner");
    let retort = |arguments: &[&str]| {
        let mut command = installation.retort_as("owner");
        command.arg("sample").args(arguments);
        command
    };

    let csv = output(retort(&["--batch", "--size", "501", "--seed", "5", "--details", "--format", "csv"]));
    let batches = caller.read(BATCHES).await;
    let id = batches["data"][0]["id"].as_str().unwrap();
    let again = output(retort(&["--from-batch", id, "--format", "csv"]));
    let cancelled = batch(&caller, 100_000).await;
    good(caller.post(&format!("{cancelled}/cancel"), &Value::Null).await).await;
    let cancelled = cancelled.rsplit('/').next().unwrap();
    let rest = retort(&["--from-batch", cancelled]).output().unwrap();
    let run = |arguments: &[&str]| {
        let done = installation.retort_as("owner").args(arguments).output().unwrap();
        (done.status.code(), [done.stdout, done.stderr].map(|text| String::from_utf8(text).unwrap()).concat())
    };
    let batch = |arguments: &[&str]| run(&[&["batch"], arguments].concat());
    let (listed, shown) = (batch(&["list"]), batch(&["show", cancelled]));
    let resumed = batch(&["resume", cancelled]);
    let planned = run(&["plan", "--resume", cancelled]);
    let unknown = ["show", "cancel", "delete"].map(|act| batch(&[act, "sbt_nothing"]));
    let unread = retort(&["--from-batch", "sbt_nothing"]).output().unwrap();

    let molecules: HashSet<&str> = csv.lines().skip(1).filter_map(|line| line.split(',').next()).collect();
    assert_eq!((csv.lines().count(), molecules.len()), (502, 501));
    assert!(csv.starts_with("smiles,model_id,sample_id,"), "{csv}");
    assert_eq!(again, csv);
    let at = |id: &str| listed.1.find(id).unwrap_or_else(|| panic!("{listed:?}"));
    assert!(at(cancelled) < at(id) && listed.1.contains("  100000 molecules"), "{listed:?}");
    let (_, counts) = shown.1.split_once("\nchunks: ").unwrap_or_else(|| panic!("{shown:?}"));
    assert!(counts.trim().ends_with(" failed"), "{shown:?}");
    assert!(resumed.0 == Some(2) && resumed.1.contains("cannot be resumed"), "{resumed:?}");
    assert!(planned.0 == Some(2) && planned.1.contains("retort sample --from-batch"), "{planned:?}");
    for (status, said) in unknown {
        assert!(status == Some(4) && said.contains("there is no batch sbt_nothing"), "{said}");
    }
    assert!(String::from_utf8_lossy(&unread.stderr).contains("there is no batch sbt_nothing"), "{unread:?}");
    assert_eq!(rest.status.code(), Some(7), "some molecules are missing");
    assert!(
        String::from_utf8_lossy(&rest.stderr).contains("of the 200 chunks failed: cancelled"),
        "{rest:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sample_does_not_wait_for_a_batch_which_can_be_deleted_while_it_runs() {
    let mut installation = Installation::new().await;
    installation.start_worker(Role::Sample, &EMPTY_RESERVOIR).await;
    installation.start_api().await;
    let (many, one) = (installation.account("many"), installation.account("one"));
    let path = batch(&many, 100_000).await;
    standing(&many, &path, "processing").await;

    let waited = one.create(SAMPLES, &json!({ "size": 20 })).await;
    let requests = request_async_sample(&one, 20).await;
    standing(&one, &requests, "completed").await;
    let under_way = many.read(&path).await;
    let gone = good(many.request(Method::DELETE, &path).send().await.unwrap()).await;

    assert_eq!(waited["smiles"].as_array().unwrap().len(), 20);
    assert_eq!(under_way["status"], "processing", "the others did not wait for it: {under_way}");
    assert_eq!(gone["deleted"], true);
    assert_eq!(many.get(&path).await.status(), 404);
    let mut connection = installation.connection().await;
    eventually("nothing of it is left", async || {
        let left: i64 = sqlx::query_scalar(
            "select (select count(*) from jobs where queue = 'order' and finished_at is null)
                + (select count(*) from sample_orders where batch_id is not null) + (select count(*) from sample_claims)",
        )
        .fetch_one(&mut connection)
        .await
        .unwrap();
        (left == 0).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopping_sampler_hands_its_asynchronous_sample_over_at_once() {
    let mut installation = Installation::new().await;
    installation.start_worker(Role::Sample, &EMPTY_RESERVOIR).await;
    installation.start_api().await;
    let caller = installation.account("owner");
    let path = batch(&caller, 100_000).await;
    standing(&caller, &path, "processing").await;

    installation.end_workers();

    let (failed, spent): (i64, i64) = sqlx::query_as(
        "select (select count(*) from sample_orders where status = 'failed'),
            (select count(*) from jobs where queue = 'order' and finished_at is null and attempts > 0)",
    )
    .fetch_one(&mut installation.connection().await)
    .await
    .unwrap();
    assert_eq!((failed, spent), (0, 0));
    let cancelled = good(caller.post(&format!("{path}/cancel"), &Value::Null).await).await;
    assert_eq!(cancelled["status"], "failed");
}
