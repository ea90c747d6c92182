//! Repeated requests with their `Idempotency-Key`.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Answer, Service, add_account, answer};

const PLANS: &str = "/synth-batches/v1/plans";

impl Service {
    async fn send_keyed(&self, account: &str, path: &str, body: &Value, key: &str) -> Answer {
        let request = self.request_as(account, Method::POST, path).await;
        let request = request.header("idempotency-key", key).header("prefer", "respond-async");
        answer(request.header("content-type", "application/json").body(body.to_string())).await
    }
}

fn plan(smiles: &str) -> Value {
    json!({ "parameters": { "search_smiles": smiles, "engine": "toy_engine" } })
}

/// Lists the resources that can be created, with their tables.
fn creations() -> [(&'static str, Value, &'static str); 5] {
    let search_result: Value =
        serde_json::from_slice(include_bytes!("../golden/treesearch_result.json")).unwrap();
    let route = search_result["route_hierarchy"]["2"]["b0123456789abcdef"][0][0].clone();
    [
        (PLANS, plan("CCO"), "select count(*) from plans where batch_id is null"),
        (
            "/synth-batches/v1/batches",
            json!({ "smiles": ["C", "CC"], "parameters": { "engine": "toy_engine" } }),
            "select count(*) from batches",
        ),
        (
            "/generator/v1/samples",
            json!({ "size": 3, "model_id": "toy" }),
            "select count(*) from sample_orders where batch_id is null",
        ),
        (
            "/generator/v1/sample-batches",
            json!({ "size": 600, "model_id": "toy" }),
            "select count(*) from sample_batches",
        ),
        (
            "/synth/v1/routes",
            json!({ "parameters": { "search_smiles": "CC(=O)NC" }, "route": route }),
            "select count(*) from kept_routes",
        ),
    ]
}

#[tokio::test]
async fn a_request_repeated_with_its_key_creates_one_thing() {
    let service = Service::start_without_workers(&[]).await;
    for (path, body, count) in creations() {
        let key = format!("\"key of {}\"", path.replace('/', "-")).replace(' ', "_");
        let first = service.send_keyed(&service.account, path, &body, &key).await;
        // A key is the same with and without the quotes of a structured field.
        let again = service.send_keyed(&service.account, path, &body, key.trim_matches('"')).await;
        let mut other = body.clone();
        other["name"] = json!("another");
        if path.starts_with("/generator") {
            other = json!({ "size": 2, "model_id": "toy" });
        }
        let reused = service.send_keyed(&service.account, path, &other, &key).await;
        let counted: i64 = sqlx::query_scalar(count).fetch_one(&service.pool).await.unwrap();

        assert!(first.status / 100 == 2, "{path}: {first:?}");
        assert_eq!((again.status, &again.json()["id"]), (first.status, &first.json()["id"]), "{path}");
        assert_eq!((first.header("idempotent-replayed"), again.header("idempotent-replayed")), ("", "true"));
        assert_eq!(again.header("location"), first.header("location"), "{path}");
        let fault = [("header.idempotency-key".to_owned(), "idempotency_key_reused".to_owned())];
        assert_eq!((reused.status, reused.faults()), (422, fault.into()), "{path}");
        assert_eq!(counted, 1, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_at_once_with_one_key_create_one_thing() {
    let service = Service::start_without_workers(&[]).await;
    let body = plan("CCO");

    let sent = (0..10).map(|_| service.send_keyed(&service.account, PLANS, &body, "one"));
    let answers = futures::future::join_all(sent).await;

    let counted: i64 =
        sqlx::query_scalar("select count(*) from plans").fetch_one(&service.pool).await.unwrap();
    let jobs: i64 = sqlx::query_scalar("select count(*) from jobs").fetch_one(&service.pool).await.unwrap();
    assert_eq!((counted, jobs), (1, 1));
    let created =
        answers.iter().find(|answer| answer.status == 201).expect("one is created").json()["id"].clone();
    for answer in &answers {
        match answer.status {
            201 => assert_eq!(answer.json()["id"], created),
            409 => assert!(answer.text.contains("is in progress"), "{answer:?}"),
            _ => panic!("{answer:?}"),
        }
    }
}

#[tokio::test]
async fn a_key_is_its_accounts_and_one_that_is_none_is_a_fault_of_its_header() {
    let service = Service::start_without_workers(&[]).await;
    let other = add_account(&service.pool, "other@example.org").await;

    let mine = service.send_keyed(&service.account, PLANS, &plan("CCO"), "k").await;
    let theirs = service.send_keyed(&other, PLANS, &plan("CCO"), "k").await;
    let long = "k".repeat(256);
    let bad = ["", "\"\"", "two words", &long];

    assert_eq!((mine.status, theirs.status), (201, 201));
    assert_ne!(mine.json()["id"], theirs.json()["id"]);
    for key in bad {
        let refused = service.send_keyed(&service.account, PLANS, &plan("CCO"), key).await;
        let fault = [("header.idempotency-key".to_owned(), "string_pattern_mismatch".to_owned())];
        assert_eq!((refused.status, refused.faults()), (422, fault.into()), "{key}");
    }
}

#[tokio::test]
async fn a_request_that_failed_is_tried_again_with_its_key() {
    let service = Service::start_without_workers(&[("WAITING_TARGETS", "1")]).await;
    let first = service.send_keyed(&service.account, PLANS, &plan("C"), "first").await.json();

    let full = service.send_keyed(&service.account, PLANS, &plan("CC"), "second").await;
    let cancel = format!("{PLANS}/{}/cancel", first["id"].as_str().unwrap());
    assert_eq!(service.post(&cancel, "").await.status, 200);
    let again = service.send_keyed(&service.account, PLANS, &plan("CC"), "second").await;

    assert_eq!((full.status, again.status, again.header("idempotent-replayed")), (409, 201, ""));
}
