//! Sample batches: many molecules in one request. Samplers that make their chunks are tested in
//! `worker/tests/worker/async_sample.rs` and in `ops/tests/processes/sample_batches.rs`.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Service, add_account, answer, complete_async_sample, join_one_organisation};

const BATCHES: &str = "/generator/v1/sample-batches";
const SAMPLES: &str = "/generator/v1/samples";

impl Service {
    /// Stores a batch and returns its id.
    async fn sample_batch(&self, size: u32) -> String {
        let answer =
            self.post(BATCHES, &json!({ "size": size, "model_id": "druglike_gru" }).to_string()).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()["id"].as_str().unwrap().to_owned()
    }

    /// Returns the chunk at this position of a batch.
    async fn chunk(&self, batch: &str, position: i32) -> String {
        sqlx::query_scalar("select id from sample_orders where batch_id = $1 and place = $2")
            .bind(batch)
            .bind(position)
            .fetch_one(&self.pool)
            .await
            .unwrap()
    }

    async fn complete(&self, chunk: &str) {
        complete_async_sample(&mut self.pool.acquire().await.unwrap(), chunk).await.unwrap();
    }

    /// Returns the status of a batch, and its numbers of completed and failed chunks.
    async fn batch_status(&self, batch: &str) -> Value {
        let batch = self.get(&format!("{BATCHES}/{batch}")).await.json();
        json!([batch["status"], batch["completed_chunks"], batch["failed_chunks"]])
    }
}

#[tokio::test]
async fn a_batch_is_stored_in_chunks_which_are_samples() {
    let service = Service::start_without_workers(&[]).await;

    let created = service.post(BATCHES, r#"{"size": 1200, "model_id": "druglike_gru"}"#).await;

    assert_eq!(created.status, 200, "{created:?}");
    let batch = created.json();
    let expected = json!({
        "id": batch["id"], "object": "sample_batch", "model_id": "druglike_gru", "size": 1200, "chunk_count": 3,
        "chunks_created": true, "status": "pending", "completed_chunks": 0, "failed_chunks": 0,
        "created_at": batch["created_at"],
    });
    assert_eq!(batch, expected);
    let id = batch["id"].as_str().unwrap();
    let chunk = service.chunk(id, 1).await;
    let pending = service.get(&format!("{SAMPLES}/{chunk}")).await.json();
    assert_eq!((&pending["status"], &pending["batch_id"]), (&json!("pending"), &json!(id)));

    service.complete(&chunk).await;

    assert_eq!(service.batch_status(id).await, json!(["processing", 1, 0]));
    let made = service.get(&format!("{SAMPLES}/{chunk}")).await.json();
    assert_eq!((&made["status"], &made["batch_id"]), (&json!("completed"), &json!(id)));
    assert_eq!(made["smiles"].as_array().unwrap().len(), 500);
    assert_eq!(service.get(SAMPLES).await.json()["data"][0]["id"], json!(chunk));
    let deleted = answer(service.request(Method::DELETE, &format!("{SAMPLES}/{chunk}")).await).await;
    assert_eq!((deleted.status, deleted.faults()), (409, vec![(String::new(), "conflict".to_owned())]));
}

#[tokio::test]
async fn chunks_are_paged_the_last_first_with_their_structures() {
    let service = Service::start_without_workers(&[]).await;
    let batch = service.sample_batch(2_001).await;
    let mut chunks = Vec::new();
    for position in 0..5 {
        chunks.push(service.chunk(&batch, position).await);
    }
    service.complete(&chunks[4]).await;
    let page = async |query: &str| {
        let page = service.get(&format!("{BATCHES}/{batch}/samples{query}")).await.json();
        let at = |sample: &Value| chunks.iter().position(|chunk| sample["id"] == *chunk).unwrap();
        (page["data"].as_array().unwrap().iter().map(at).collect::<Vec<_>>(), page["has_more"] == true)
    };

    assert_eq!(page("").await, (vec![4, 3, 2, 1, 0], false));
    assert_eq!(page("?limit=2").await, (vec![4, 3], true));
    assert_eq!(page(&format!("?limit=3&next-page={}", chunks[3])).await, (vec![2, 1, 0], false));
    assert_eq!(page(&format!("?limit=2&prev-page={}", chunks[1])).await, (vec![3, 2], true));
    assert_eq!(page(&format!("?limit=2&prev-page={}", chunks[2])).await, (vec![4, 3], false));
    let first = service.get(&format!("{BATCHES}/{batch}/samples?limit=2")).await.json();
    assert_eq!(
        (&first["data"][0]["status"], &first["data"][0]["smiles"]),
        (&json!("completed"), &json!(["[1CH4]"]))
    );
    assert_eq!((&first["data"][1]["status"], &first["data"][1]["smiles"]), (&json!("pending"), &json!([])));
    let other = service.sample_batch(1).await;
    let elsewhere = service.get(&format!("{BATCHES}/{other}/samples?next-page={}", chunks[0])).await;
    assert_eq!((elsewhere.status, elsewhere.text.as_str()), (400, "null"));
}

#[tokio::test]
async fn a_batch_that_is_cancelled_keeps_what_is_made_and_the_rest_has_failed() {
    let service = Service::start_without_workers(&[]).await;
    let batch = service.sample_batch(1_500).await;
    service.complete(&service.chunk(&batch, 0).await).await;

    let cancelled = service.post(&format!("{BATCHES}/{batch}/cancel"), "").await;

    assert_eq!((cancelled.status, &cancelled.json()["status"]), (200, &json!("failed")));
    assert_eq!(service.batch_status(&batch).await, json!(["failed", 1, 2]));
    let chunk = service.get(&format!("{SAMPLES}/{}", service.chunk(&batch, 1).await)).await.json();
    assert_eq!((&chunk["status"], &chunk["error"]), (&json!("failed"), &json!("cancelled")));
}

#[tokio::test]
async fn a_batch_that_is_deleted_is_gone_with_its_samples_and_claims() {
    let service = Service::start_without_workers(&[]).await;
    let (batch, other) = (service.sample_batch(1_000).await, service.sample_batch(500).await);
    let chunk = service.chunk(&batch, 0).await;
    service.complete(&chunk).await;
    service.complete(&service.chunk(&other, 0).await).await;
    sqlx::query("insert into sample_claims select number, 'a' from sample_batches")
        .execute(&service.pool)
        .await
        .unwrap();

    let gone = answer(service.request(Method::DELETE, &format!("{BATCHES}/{batch}")).await).await;

    assert_eq!(
        (gone.status, gone.json()),
        (200, json!({ "id": batch, "object": "sample_batch", "deleted": true }))
    );
    for path in
        [format!("{BATCHES}/{batch}"), format!("{BATCHES}/{batch}/samples"), format!("{SAMPLES}/{chunk}")]
    {
        assert_eq!(service.get(&path).await.status, 404, "{path}");
    }
    let left: (i64, i64, i64) = sqlx::query_as(
        "select (select count(*) from samples), (select count(*) from sample_orders), (select count(*) from sample_claims)",
    )
    .fetch_one(&service.pool)
    .await
    .unwrap();
    assert_eq!(left, (1, 1, 1));
}

#[tokio::test]
async fn batches_are_listed_for_their_readers_and_changed_by_their_owner() {
    let service = Service::start_without_workers(&[]).await;
    let colleague = add_account(&service.pool, "colleague@example.org").await;
    let stranger = add_account(&service.pool, "other@example.org").await;
    join_one_organisation(&service.pool, &[&service.account, &colleague]).await;
    let mut batches = Vec::new();
    for size in 1..4 {
        batches.push(service.sample_batch(size).await);
        // Ids sort by their milliseconds.
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    }
    let list = async |account: &str, query: &str| {
        let page =
            answer(service.request_as(account, Method::GET, &format!("{BATCHES}{query}")).await).await.json();
        let sizes: Vec<_> =
            page["data"].as_array().unwrap().iter().map(|batch| batch["size"].clone()).collect();
        (sizes, page["has_more"] == true)
    };

    assert_eq!(list(&colleague, "?limit=2").await, (vec![json!(3), json!(2)], true));
    assert_eq!(list(&colleague, &format!("?next-page={}", batches[1])).await, (vec![json!(1)], false));
    let back = format!("?limit=1&prev-page={}", batches[0]);
    assert_eq!(list(&colleague, &back).await, (vec![json!(2)], true));
    assert_eq!(list(&stranger, "").await, (Vec::new(), false));
    let path = format!("{BATCHES}/{}", batches[0]);
    for (method, path) in [(Method::DELETE, path.clone()), (Method::POST, format!("{path}/cancel"))] {
        let by_colleague = answer(service.request_as(&colleague, method.clone(), &path).await).await;
        let by_stranger = answer(service.request_as(&stranger, method.clone(), &path).await).await;
        assert_eq!((by_colleague.status, by_stranger.status), (403, 404), "{method}");
    }
    let both = format!("{BATCHES}?next-page={}&prev-page={}", batches[0], batches[1]);
    assert_eq!(service.get(&both).await.status, 400);
    assert_eq!(service.get(&format!("{BATCHES}?next-page=sbt_none")).await.status, 400);
}

#[tokio::test]
async fn a_batch_has_up_to_a_hundred_thousand_molecules() {
    let service = Service::start_without_workers(&[]).await;

    let most = service.post(BATCHES, r#"{"size": 100000}"#).await;
    let too_many = service.post(BATCHES, r#"{"size": 100001, "model_id": "a-b", "x": 1}"#).await;
    let none = service.post(BATCHES, r#"{"size": 0}"#).await;

    let most = most.json();
    assert_eq!((&most["chunk_count"], &most["model_id"]), (&json!(200), &Value::Null));
    let faults = [
        ("body.size", "less_than_equal"),
        ("body.model_id", "string_pattern_mismatch"),
        ("body.x", "extra_forbidden"),
    ];
    assert_eq!(too_many.faults(), faults.map(|(at, kind)| (at.to_owned(), kind.to_owned())));
    assert_eq!(none.faults(), [("body.size".to_owned(), "greater_than_equal".to_owned())]);
}

#[tokio::test]
async fn an_account_has_only_so_many_molecules_that_wait() {
    let service = Service::start_without_workers(&[("WAITING_MOLECULES", "1500")]).await;
    let create_batch = async |size: u32| {
        service.post(BATCHES, &json!({ "size": size, "model_id": "druglike_gru" }).to_string()).await
    };
    let first = service.sample_batch(1000).await;

    let too_many = create_batch(501).await;
    let as_many = create_batch(500).await;
    let one_more = create_batch(1).await;

    assert_eq!((too_many.status, too_many.faults()), (409, [(String::new(), "conflict".to_owned())].into()));
    let reason = "1501 molecules of this account's samples would be waiting, and the limit is 1500";
    assert!(too_many.text.contains(reason), "{too_many:?}");
    assert_eq!((as_many.status, one_more.status), (200, 409));
    assert_eq!(service.post(&format!("{BATCHES}/{first}/cancel"), "").await.status, 200);
    assert_eq!(create_batch(1000).await.status, 200);
}
