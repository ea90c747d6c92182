//! Asynchronous samples, and the short form of interactive ones.

use std::time::Duration;

use contract::scope;
use reqwest::Method;
use serde_json::{Value, json};
use test_support::eventually;

use crate::support::{
    Answer, Service, add_account, answer, claims, complete_async_sample, join_one_organisation,
};

const SAMPLES: &str = "/generator/v1/samples";

impl Service {
    /// Requests a sample with these preferences.
    async fn create_async(&self, body: &str, prefer: &str) -> Answer {
        let request = self.request(Method::POST, SAMPLES).await.header("prefer", prefer);
        answer(request.header("content-type", "application/json").body(body.to_owned())).await
    }

    /// Polls the sample until it has this status, and returns it.
    pub async fn wait_for_status(&self, id: &str, status: &str) -> Value {
        eventually(status, async || {
            let sample = self.get(&format!("{SAMPLES}/{id}")).await;
            assert_eq!(sample.status, 200, "{sample:?}");
            Some(sample.json()).filter(|sample| sample["status"] == status)
        })
        .await
    }
}

fn id(sample: &Answer) -> String {
    sample.json()["id"].as_str().unwrap_or_else(|| panic!("no sample: {sample:?}")).to_owned()
}

#[tokio::test]
async fn an_asynchronous_sample_has_its_location_at_once() {
    let service = Service::start_without_workers(&[]).await;

    let pending = service
        .create_async(r#"{"size": 3, "model_id": "druglike_gru"}"#, "return=minimal, Respond-Async")
        .await;

    assert_eq!(pending.status, 202, "{pending:?}");
    let id = id(&pending);
    assert_eq!(pending.header("location"), format!("{SAMPLES}/{id}"));
    assert_eq!(pending.header("preference-applied"), "respond-async");
    let sample = pending.json();
    let expected = json!({
        "id": id, "object": "sample", "model_id": "druglike_gru", "smiles": [], "created_at": sample["created_at"],
        "status": "pending", "batch_id": null, "error": null,
    });
    assert_eq!(sample, expected);
    assert_eq!(service.get(&format!("{SAMPLES}/{id}")).await.json(), expected);
    // A list holds only completed samples.
    assert_eq!(service.get(SAMPLES).await.json()["data"], json!([]));

    complete_async_sample(&mut service.pool.acquire().await.unwrap(), &id).await.unwrap();

    let made = service.get(&format!("{SAMPLES}/{id}")).await.json();
    assert_eq!(
        (&made["status"], &made["smiles"]),
        (&json!("completed"), &json!(["[1CH4]", "[2CH4]", "[3CH4]"]))
    );
    assert_eq!(service.get(SAMPLES).await.json()["data"][0]["id"], json!(id));
}

#[tokio::test]
async fn a_sample_that_is_waited_for_says_that_it_is_completed_and_nothing_else_is_new() {
    let service = Service::start().await;

    let waited = service.create_async(r#"{"size": 2}"#, "wait=5, handling=lenient").await;

    assert_eq!(
        (waited.status, waited.header("location"), waited.header("preference-applied")),
        (200, "", "")
    );
    let sample = waited.json();
    let expected = json!({
        "id": sample["id"], "object": "sample", "model_id": "druglike_gru", "smiles": ["[1CH4]", "[2CH4]"],
        "created_at": sample["created_at"], "status": "completed", "batch_id": null, "error": null,
    });
    assert_eq!(sample, expected);
    let orders: i64 =
        sqlx::query_scalar("select count(*) from sample_orders").fetch_one(&service.pool).await.unwrap();
    assert_eq!(orders, 0);
}

#[tokio::test]
async fn asynchronous_samples_are_made_and_a_failed_one_has_a_reason() {
    let service = Service::start().await;

    let good = service.create_async(r#"{"size": 2}"#, "respond-async").await;
    let poor = service.create_async(r#"{"size": 2, "model_id": "poor_model"}"#, "respond-async").await;
    let slow = service.create_async(r#"{"size": 2, "model_id": "slow_model"}"#, "respond-async").await;

    let made = service.wait_for_status(&id(&good), "completed").await;
    assert_eq!((&made["model_id"], &made["smiles"]), (&json!("druglike_gru"), &json!(["[1CH4]", "[2CH4]"])));
    let failed = service.wait_for_status(&id(&poor), "failed").await;
    assert_eq!(
        (&failed["error"], &failed["smiles"]),
        (&json!("model `poor_model` gave 1 distinct valid molecules of the 2 wanted"), &json!([]))
    );
    service.wait_for_status(&id(&slow), "processing").await;
}

#[tokio::test]
async fn a_caller_that_waits_has_the_sample_if_it_is_made_by_then() {
    let service = Service::start().await;

    let soon = service.create_async(r#"{"size": 2}"#, "respond-async, wait=20").await;
    let late =
        service.create_async(r#"{"size": 2, "model_id": "slow_model"}"#, "respond-async, wait=1").await;

    assert_eq!((soon.status, &soon.json()["status"]), (200, &json!("completed")));
    assert_eq!(soon.header("preference-applied"), "");
    assert_eq!((late.status, &late.json()["status"]), (202, &json!("processing")));
}

#[tokio::test]
async fn an_asynchronous_sample_is_accepted_without_samplers_and_an_unknown_model_is_400() {
    let resting = Service::start_without_workers(&[("DEFAULT_MODEL", "leadlike_gru,druglike_gru")]).await;
    let running = Service::start().await;

    let whatever = resting.create_async(r#"{"size": 1}"#, "respond-async").await;
    let named = resting.create_async(r#"{"size": 1, "model_id": "no_such"}"#, "respond-async").await;
    let unknown = running.create_async(r#"{"size": 1, "model_id": "no_such"}"#, "respond-async").await;
    let faulty = running.create_async(r#"{"size": 10001, "x": 1}"#, "respond-async").await;

    assert_eq!((whatever.status, &whatever.json()["model_id"]), (202, &json!("leadlike_gru")));
    assert_eq!((named.status, &named.json()["model_id"]), (202, &json!("no_such")));
    assert_eq!((unknown.status, unknown.text.as_str()), (400, "null"));
    let faults = [("body.size", "less_than_equal"), ("body.x", "extra_forbidden")];
    assert_eq!(
        (faulty.status, faulty.faults()),
        (422, faults.map(|(at, kind)| (at.to_owned(), kind.to_owned())).into())
    );
}

#[tokio::test]
async fn deleting_a_pending_sample_cancels_it_and_only_its_owner_can() {
    let service = Service::start().await;
    let colleague = add_account(&service.pool, "colleague@example.org").await;
    let stranger = add_account(&service.pool, "other@example.org").await;
    join_one_organisation(&service.pool, &[&service.account, &colleague]).await;
    let id = id(&service.create_async(r#"{"size": 2, "model_id": "slow_model"}"#, "respond-async").await);
    let path = format!("{SAMPLES}/{id}");
    service.wait_for_status(&id, "processing").await;
    let as_ = async |account: &str, method: Method| {
        answer(service.request_as(account, method, &path).await).await.status
    };

    assert_eq!(as_(&colleague, Method::GET).await, 200);
    assert_eq!(as_(&colleague, Method::DELETE).await, 403);
    assert_eq!((as_(&stranger, Method::GET).await, as_(&stranger, Method::DELETE).await), (404, 404));
    assert_eq!(as_(&service.account, Method::DELETE).await, 204);

    assert_eq!(
        (as_(&service.account, Method::GET).await, as_(&service.account, Method::DELETE).await),
        (404, 404)
    );
    for _ in 0..500 {
        let ended: bool =
            sqlx::query_scalar("select bool_and(finished_at is not null) from jobs where queue = 'order'")
                .fetch_one(&service.pool)
                .await
                .unwrap();
        if ended {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the job goes on");
}

#[tokio::test]
async fn an_ordered_sample_is_deleted_like_any_other() {
    let service = Service::start().await;
    let id = id(&service.create_async(r#"{"size": 2}"#, "respond-async").await);
    service.wait_for_status(&id, "completed").await;
    let path = format!("{SAMPLES}/{id}");

    let gone = answer(service.request(Method::DELETE, &path).await).await;

    assert_eq!((gone.status, service.get(&path).await.status), (204, 404));
    assert_eq!(service.get(SAMPLES).await.json()["data"], json!([]));
    let left: (i64, i64) =
        sqlx::query_as("select (select count(*) from samples), (select count(*) from sample_orders)")
            .fetch_one(&service.pool)
            .await
            .unwrap();
    assert_eq!(left, (0, 0));
}

#[tokio::test]
async fn an_asynchronous_sample_counts_against_the_quota_of_molecules() {
    let service = Service::start_with(&[("RATE_MOLECULES_PER_MINUTE", "5")]).await;

    let first = service.create_async(r#"{"size": 5}"#, "respond-async").await;
    let second = service.create_async(r#"{"size": 5}"#, "respond-async").await;

    // A worker may complete the first one before it is answered: then it is a 200.
    assert!(matches!(first.status, 200 | 202), "{first:?}");
    assert_eq!(second.status, 429);
    assert_eq!(second.header("ratelimit-policy"), "\"molecules\";q=5;w=60");
}

#[tokio::test]
async fn the_short_form_gives_structures_alone_and_stores_a_sample() {
    let service = Service::start().await;
    let post = async |path: &str| answer(service.request(Method::POST, path).await).await;

    let default = post("/generator/v1/generate?samples=2").await;
    let named = post("/generator/v1/generate/druglike_gru").await;
    let unknown = post("/generator/v1/generate/no_such?samples=1").await;
    let faulty = post("/generator/v1/generate/no-such?samples=1001&x=1").await;

    assert_eq!((default.status, default.json()), (200, json!({ "smiles": ["[1CH4]", "[2CH4]"] })));
    assert_eq!((named.status, named.json()["smiles"].as_array().unwrap().len()), (200, 100));
    assert_eq!((unknown.status, unknown.text.as_str()), (404, "null"));
    let faults = [
        ("path.model_id", "string_pattern_mismatch"),
        ("query.samples", "less_than_equal"),
        ("query.x", "extra_forbidden"),
    ];
    assert_eq!(
        (faulty.status, faulty.faults()),
        (422, faults.map(|(at, kind)| (at.to_owned(), kind.to_owned())).into())
    );
    let stored = service.get(SAMPLES).await.json();
    let sizes: Vec<_> =
        stored["data"].as_array().unwrap().iter().map(|item| item["num_smiles"].clone()).collect();
    assert_eq!(sizes, [100, 2]);
}

#[tokio::test]
async fn ordering_generating_and_batches_need_the_scopes_of_samples() {
    let service = Service::start_without_workers(&[]).await;
    let call = async |method: Method, path: &str, scopes: &str| {
        let mut claims = claims(&service.account);
        claims["scope"] = json!(scopes);
        let token = service.token(claims).await;
        let request = service.http.request(method, format!("{}{path}", service.base)).bearer_auth(token);
        answer(request.header("content-type", "application/json").body("{}")).await.status
    };
    let (read, create, delete) = (scope::SAMPLES_READ, scope::SAMPLES_CREATE, scope::SAMPLES_DELETE);
    let (batches, batch) = ("/generator/v1/sample-batches", "/generator/v1/sample-batches/sbt_none");
    let cases = [
        (Method::POST, "/generator/v1/generate", create, 503),
        (Method::POST, batches, create, 422),
        (Method::GET, batches, read, 200),
        (Method::GET, batch, read, 404),
        (Method::DELETE, batch, delete, 404),
        (Method::GET, "/generator/v1/version-backend", scope::MODELS_READ, 200),
        (Method::GET, "/generator/v1/models/none/status", scope::MODELS_READ, 404),
    ];
    for (method, path, scope, status) in cases {
        assert_eq!(call(method.clone(), path, scope).await, status, "{method} {path}");
        assert_eq!(call(method.clone(), path, "email").await, 403, "{method} {path}");
    }
}
