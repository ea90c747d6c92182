//! Batches: many targets in one request. Workers that make their plans are tested in `ops/tests/processes/plans.rs`.

use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    lists::pages_go_both_ways_for_colleagues,
    support::{Service, answer, complete_plan},
};

const BATCHES: &str = "/synth-batches/v1/batches";

impl Service {
    /// Stores a batch and returns its id.
    async fn batch(&self, smiles: &[&str]) -> String {
        let body = json!({ "smiles": smiles, "parameters": { "engine": "toy_engine", "max_depth": 2 }, "name": "ours" });
        let answer = self.post(BATCHES, &body.to_string()).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()["id"].as_str().unwrap().to_owned()
    }

    /// Returns the targets of a batch's plans, as the query selects them, with the paging fields.
    async fn targets(&self, batch: &str, query: &str) -> (Vec<String>, Value, Value) {
        let page = self.get(&format!("{BATCHES}/{batch}/plans{query}")).await.json();
        let items = page["items"].as_array().unwrap().iter();
        let targets = items.map(|plan| plan["parameters"]["search_smiles"].as_str().unwrap().to_owned());
        (targets.collect(), page["has_next"].clone(), page["has_previous"].clone())
    }

    /// Returns the id of the plan of a batch for this target; the last one if there are several.
    async fn plan_for(&self, batch: &str, smiles: &str) -> String {
        sqlx::query_scalar(
            "select id from plans where batch_id = $1 and search_smiles = $2 order by place desc",
        )
        .bind(batch)
        .bind(smiles)
        .fetch_one(&self.pool)
        .await
        .unwrap()
    }

    async fn progress(&self, batch: &str) -> Vec<i64> {
        let progress = self.get(&format!("{BATCHES}/{batch}")).await.json()["progress"].clone();
        ["pending", "processing", "completed", "failed", "cancelled"]
            .map(|stands| progress[stands].as_i64().unwrap())
            .into()
    }
}

#[tokio::test]
async fn a_batch_has_a_plan_for_each_target_the_last_one_first() {
    let service = Service::start_without_workers(&[]).await;

    let batch = service.batch(&["C", "CC", "CCC", "CCCC"]).await;

    let stored = service.get(&format!("{BATCHES}/{batch}")).await.json();
    assert_eq!(
        (&stored["object"], &stored["name"], &stored["plan_count"]),
        (&json!("batch"), &json!("ours"), &json!(4))
    );
    assert_eq!((&stored["plans_created"], &stored["description"]), (&json!(true), &Value::Null));
    assert_eq!(service.progress(&batch).await, [4, 0, 0, 0, 0]);
    let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
    let (first, has_next, has_previous) = service.targets(&batch, "?limit=3").await;
    assert_eq!((first, has_next, has_previous), (texts(&["CCCC", "CCC", "CC"]), json!(true), json!(false)));
    let after = service.plan_for(&batch, "CC").await;
    let (rest, has_next, has_previous) = service.targets(&batch, &format!("?starting_after={after}")).await;
    assert_eq!((rest, has_next, has_previous), (texts(&["C"]), json!(false), json!(true)));
    let before = service.plan_for(&batch, "C").await;
    let (back, has_next, has_previous) =
        service.targets(&batch, &format!("?limit=2&ending_before={before}")).await;
    assert_eq!((back, has_next, has_previous), (texts(&["CCC", "CC"]), json!(true), json!(true)));
}

#[tokio::test]
async fn targets_keep_their_names_where_they_have_some() {
    let service = Service::start_without_workers(&[]).await;
    let parameters = json!({ "engine": "toy_engine" });
    let store = async |names: Value| {
        let body = json!({ "smiles": ["C", "CC", "C"], "names": names, "parameters": parameters });
        service.post(BATCHES, &body.to_string()).await
    };

    let stored = store(json!(["EXP-1", null, "the same; \"quoted\""])).await;
    let unnamed = store(Value::Null).await;
    let (few, long) = (store(json!(["EXP-1"])).await, store(json!(["a", "b", "c".repeat(256)])).await);

    let names = async |batch: &Value| {
        let path = format!("{BATCHES}/{}/plans", batch["id"].as_str().unwrap());
        let page = service.get(&path).await.json();
        page["items"].as_array().unwrap().iter().map(|plan| plan["name"].clone()).collect::<Vec<_>>()
    };
    let last_first = [json!("the same; \"quoted\""), Value::Null, json!("EXP-1")];
    assert_eq!(names(&stored.json()).await, last_first);
    assert_eq!(names(&unnamed.json()).await, [Value::Null, Value::Null, Value::Null]);
    let fault = |location: &str, kind: &str| vec![(location.to_owned(), kind.to_owned())];
    assert_eq!((few.status, few.faults()), (422, fault("body.names", "wrong_length")));
    assert_eq!((long.status, long.faults()), (422, fault("body.names.2", "string_too_long")));
}

#[tokio::test]
async fn the_same_molecule_is_one_plan_to_be_made_and_has_one_result() {
    let service = Service::start_without_workers(&[]).await;
    let batch = service.batch(&["OCC", "CCN", "CCO", "C(C)O"]).await;
    let (made, same) = (service.plan_for(&batch, "OCC").await, service.plan_for(&batch, "C(C)O").await);

    complete_plan(&mut service.pool.acquire().await.unwrap(), &made).await.unwrap();

    let to_be_made: i64 = sqlx::query_scalar("select count(*) from plans where same_as is null")
        .fetch_one(&service.pool)
        .await
        .unwrap();
    assert_eq!(to_be_made, 2);
    assert_eq!(service.progress(&batch).await, [1, 0, 3, 0, 0]);
    let plan = service.get(&format!("{BATCHES}/{batch}/plans/{same}")).await.json();
    assert_eq!(
        (&plan["status"], &plan["parameters"]["search_smiles"]),
        (&json!("completed"), &json!("C(C)O"))
    );
    assert_eq!(plan["result"]["search_smiles"], "CNC(C)=O");
    let alone = service.get(&format!("/synth-batches/v1/plans/{same}")).await.json();
    assert_eq!(alone, plan);
}

#[tokio::test]
async fn a_list_shows_what_its_plans_came_to_without_their_results() {
    let service = Service::start_without_workers(&[]).await;
    let batch = service.batch(&["OCC", "CCN", "CCO"]).await;
    let made = service.plan_for(&batch, "OCC").await;

    complete_plan(&mut service.pool.acquire().await.unwrap(), &made).await.unwrap();

    let page = service.get(&format!("{BATCHES}/{batch}/plans")).await.json();
    let figures = json!({
        "routes": 2, "steps": 2, "price_usd": 31.5, "lead_time_days": 4.0, "plausibility": 0.9 * 0.8,
    });
    let shown: Vec<_> = page["items"].as_array().unwrap().iter().map(|plan| &plan["figures"]).collect();
    assert_eq!(shown, [&figures, &Value::Null, &figures]);
    assert_eq!(page["items"][0]["result"], Value::Null);
    assert_eq!(service.get(&format!("/synth-batches/v1/plans/{made}")).await.json()["figures"], figures);
}

#[tokio::test]
async fn what_is_left_of_a_batch_is_cancelled_and_resumed() {
    let service = Service::start_without_workers(&[]).await;
    let batch = service.batch(&["OCC", "CCN", "CCO"]).await;
    let made = service.plan_for(&batch, "OCC").await;
    complete_plan(&mut service.pool.acquire().await.unwrap(), &made).await.unwrap();

    let cancelled = service.post(&format!("{BATCHES}/{batch}/cancel"), "").await;
    let stands = service.progress(&batch).await;
    let resumed = service.post(&format!("{BATCHES}/{batch}/resume"), "").await;

    assert_eq!((cancelled.status, resumed.status), (200, 200));
    assert_eq!(stands, [0, 0, 2, 0, 1]);
    assert_eq!(cancelled.json()["progress"]["seconds_left"], 0.0);
    assert_eq!(service.progress(&batch).await, [1, 0, 2, 0, 0]);
}

#[tokio::test]
async fn a_batch_that_is_deleted_is_seen_by_nobody_from_then_on() {
    let service = Service::start_without_workers(&[]).await;
    let batch = service.batch(&["C", "CC"]).await;
    let plan = service.plan_for(&batch, "C").await;

    let gone = answer(service.request(Method::DELETE, &format!("{BATCHES}/{batch}")).await).await;

    assert_eq!((gone.status, gone.json()), (200, json!({ "id": batch, "object": "batch", "deleted": true })));
    for path in ["", "/plans", &format!("/plans/{plan}")] {
        assert_eq!(service.get(&format!("{BATCHES}/{batch}{path}")).await.status, 404, "{path}");
    }
    assert_eq!(service.get(&format!("/synth-batches/v1/plans/{plan}")).await.status, 404);
    assert_eq!(service.get(BATCHES).await.json()["items"], json!([]));
}

#[tokio::test]
async fn batches_are_listed_for_their_readers_the_newest_first() {
    let service = Service::start_without_workers(&[]).await;
    let mut batches = Vec::new();
    for _ in 0..3 {
        batches.push(service.batch(&["C"]).await);
    }

    let colleague = pages_go_both_ways_for_colleagues(&service, BATCHES, &batches).await;

    let delete = service.request_as(&colleague, Method::DELETE, &format!("{BATCHES}/{}", batches[0])).await;
    assert_eq!(answer(delete).await.status, 403);
}

#[tokio::test]
async fn an_invalid_target_is_reported_at_its_position() {
    let service = Service::start_without_workers(&[]).await;

    let faulty = json!({ "smiles": ["CCO", "C1CC", "C.C", 1], "parameters": { "search_smiles": "C", "max_depth": 0 } });
    let faulty = service.post(BATCHES, &faulty.to_string()).await;
    let empty = service.post(BATCHES, r#"{"smiles": [], "parameters": {}}"#).await;
    let missing = service.post(BATCHES, "{}").await;

    let faults = [
        ("smiles.1", "smiles_invalid"),
        ("smiles.2", "smiles_invalid"),
        ("smiles.3", "string_type"),
        ("parameters.max_depth", "greater_than_equal"),
        ("parameters.search_smiles", "extra_forbidden"),
    ];
    let faults = faults.map(|(field, kind)| (format!("body.{field}"), kind.to_owned()));
    assert_eq!((faulty.status, faulty.faults()), (422, faults.into()));
    assert_eq!(empty.faults(), [("body.smiles".to_owned(), "too_short".to_owned())]);
    let missing_ones = ["smiles", "parameters"].map(|field| (format!("body.{field}"), "missing".to_owned()));
    assert_eq!(missing.faults(), missing_ones);
}

#[tokio::test]
async fn a_batch_may_have_a_hundred_thousand_targets_and_five_mebibytes() {
    let service = Service::start_without_workers(&[]).await;
    let parameters = json!({ "engine": "toy_engine" });
    let many = |count: usize| json!({ "smiles": vec!["C"; count], "parameters": parameters }).to_string();
    let large =
        |bytes: usize| format!(r#"{{"smiles": ["C"], "parameters": {{}}, "name": "{}"}}"#, "n".repeat(bytes));

    let most = service.post(BATCHES, &many(100_000)).await;
    let too_many = service.post(BATCHES, &many(100_001)).await;
    let not_too_large = service.post(BATCHES, &large(5_000_000)).await;
    let too_large = service.post(BATCHES, &large(6_000_000)).await;

    assert_eq!((most.status, &most.json()["plan_count"]), (200, &json!(100_000)));
    assert_eq!(too_many.faults(), [("body.smiles".to_owned(), "too_long".to_owned())]);
    assert_eq!(not_too_large.faults(), [("body.name".to_owned(), "string_too_long".to_owned())]);
    assert_eq!(too_large.status, 413);
    assert_eq!(too_large.json()["detail"][0]["msg"], "The body is larger than 5 MiB");
}

#[tokio::test]
async fn an_account_has_only_so_many_targets_that_wait() {
    let service = Service::start_without_workers(&[("WAITING_TARGETS", "6")]).await;
    let submit = async |smiles: &[&str]| {
        let body = json!({ "smiles": smiles, "parameters": { "engine": "toy_engine" } });
        service.post(BATCHES, &body.to_string()).await
    };
    let first = service.batch(&["C", "CC", "CC"]).await;

    let too_many = submit(&["CCC", "CCCC", "CCCCC", "CCCCCC"]).await;
    let as_many = submit(&["CCC", "CCCC", "CCCC"]).await;
    let one_more = submit(&["N"]).await;

    assert_eq!((too_many.status, too_many.faults()), (409, [(String::new(), "conflict".to_owned())].into()));
    assert!(
        too_many
            .text
            .contains("7 targets of this account's plans and batches would be waiting, and the limit is 6"),
        "{too_many:?}"
    );
    assert_eq!((as_many.status, one_more.status), (200, 409));
    let cancel = format!("{BATCHES}/{first}/cancel");
    assert_eq!(service.post(&cancel, "").await.status, 200);
    assert_eq!(submit(&["N", "O"]).await.status, 200);
    // Cancelled targets are resumed only within the quota.
    let resumed = service.post(&format!("{BATCHES}/{first}/resume"), "").await;
    assert_eq!((resumed.status, service.progress(&first).await), (409, vec![0, 0, 0, 0, 3]));
}
