//! Plans: searches in the background.

use reqwest::Method;
use serde_json::{Value, json};
use test_support::{eventually, until};

use crate::{
    lists::pages_go_both_ways_for_colleagues,
    support::{Answer, Service, add_account, answer, complete_plan, join_one_organisation},
};

const PLANS: &str = "/synth-batches/v1/plans";

fn body(depth: u32) -> String {
    json!({ "parameters": { "search_smiles": "CNC(C)=O", "max_depth": depth, "engine": "toy_engine" }, "name": "mine" })
        .to_string()
}

impl Service {
    /// Waits until the plan has ended, and returns it.
    async fn ended(&self, id: &str) -> Value {
        eventually("the plan has ended", async || {
            let plan = self.get(&format!("{PLANS}/{id}")).await.json();
            Some(plan).filter(|plan| !["pending", "processing"].contains(&plan["status"].as_str().unwrap()))
        })
        .await
    }

    /// Waits until a worker has claimed the plan.
    async fn begun(&self, id: &str) {
        until("the plan has begun", async || {
            self.get(&format!("{PLANS}/{id}")).await.json()["status"] == "processing"
        })
        .await;
    }
}

fn id(answer: &Answer) -> String {
    assert_eq!(answer.status, 201, "{answer:?}");
    answer.json()["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_plan_is_pending_first_and_has_its_result_in_the_end() {
    let service = Service::start().await;

    let created = service.post(PLANS, &body(2)).await;
    let plan = service.ended(&id(&created)).await;

    let created = created.json();
    assert_eq!((&created["object"], &created["status"]), (&json!("plan"), &json!("pending")));
    for field in ["batch_id", "description", "result", "error"] {
        assert_eq!(created[field], Value::Null, "{field}");
    }
    assert_eq!((&plan["status"], &plan["name"]), (&json!("completed"), &json!("mine")));
    let expected: Value = serde_json::from_str(include_str!("../golden/engine_answer.json")).unwrap();
    assert_eq!(plan["result"], expected);
    let parameters = json!({
        "search_smiles": "CNC(C)=O", "early_exit_first_solution": true, "max_seconds": 4.0, "max_depth": 2,
        "mask_trivial_solution": true, "mask_bblocks_mw_gte": null, "mask_usd_pricing_gte": 10000.0, "ships_to": "US",
        "mask_lead_times_gte": null, "max_backbone_groups": 5, "max_backbone_group_size": 10,
        "limit_backbone_group_size_by_cost": false, "engine": "toy_engine",
    });
    assert_eq!(plan["parameters"], parameters);
}

#[tokio::test]
async fn a_plan_that_has_no_answer_says_why() {
    let service = Service::start().await;

    let plan = service.ended(&id(&service.post(PLANS, &body(48)).await)).await;

    assert_eq!((&plan["status"], &plan["result"]), (&json!("failed"), &Value::Null));
    assert_eq!(plan["error"], "not a molecule that can be searched: too strange");
}

#[tokio::test]
async fn a_plan_is_stored_while_no_searcher_runs_and_waits() {
    let service = Service::start_without_workers(&[]).await;

    let created = service.post(PLANS, &body(2)).await;

    let plan = service.get(&format!("{PLANS}/{}", id(&created))).await.json();
    assert_eq!(plan["status"], "pending");
    let jobs: i64 = sqlx::query_scalar("select count(*) from jobs join plans on plans.job_id = jobs.id")
        .fetch_one(&service.pool)
        .await
        .unwrap();
    assert_eq!(jobs, 1);
}

#[tokio::test]
async fn a_plan_is_cancelled_whether_it_waits_or_is_being_made() {
    let service = Service::start().await;
    let running = id(&service.post(PLANS, &body(47)).await);
    service.begun(&running).await;

    let cancelled = service.post(&format!("{PLANS}/{running}/cancel"), "").await;
    let again = service.post(&format!("{PLANS}/{running}/cancel"), "").await;

    assert_eq!((cancelled.status, &cancelled.json()["status"]), (200, &json!("cancelled")));
    assert_eq!((again.status, &again.json()["status"]), (200, &json!("cancelled")));
    for _ in 0..400 {
        let open: i64 = sqlx::query_scalar("select count(*) from jobs where finished_at is null")
            .fetch_one(&service.pool)
            .await
            .unwrap();
        if open == 0 {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(25)).await;
    }
    panic!("the job goes on");
}

#[tokio::test]
async fn a_plan_is_deleted_with_its_job() {
    let service = Service::start_without_workers(&[]).await;
    let plan = id(&service.post(PLANS, &body(2)).await);

    let gone = answer(service.request(Method::DELETE, &format!("{PLANS}/{plan}")).await).await;

    assert_eq!((gone.status, gone.json()), (200, json!({ "id": plan, "object": "plan", "deleted": true })));
    assert_eq!(service.get(&format!("{PLANS}/{plan}")).await.status, 404);
    let open: i64 = sqlx::query_scalar("select count(*) from jobs where finished_at is null")
        .fetch_one(&service.pool)
        .await
        .unwrap();
    assert_eq!(open, 0);
}

#[tokio::test]
async fn members_of_an_organisation_read_each_others_plans_and_nobody_else_does() {
    let service = Service::start_without_workers(&[]).await;
    let (colleague, stranger) = (
        add_account(&service.pool, "colleague@example.org").await,
        add_account(&service.pool, "other@example.org").await,
    );
    join_one_organisation(&service.pool, &[&service.account, &colleague]).await;
    let plan = id(&service.post(PLANS, &body(2)).await);
    let request = async |account: &str, method: Method, path: &str| {
        answer(service.request_as(account, method, &format!("{PLANS}/{plan}{path}")).await).await.status
    };

    assert_eq!(request(&colleague, Method::GET, "").await, 200);
    assert_eq!(request(&colleague, Method::DELETE, "").await, 403);
    assert_eq!(request(&colleague, Method::POST, "/cancel").await, 403);
    assert_eq!(request(&stranger, Method::GET, "").await, 404);
    assert_eq!(request(&stranger, Method::DELETE, "").await, 404);
    assert_eq!(service.get(&format!("{PLANS}/{plan}")).await.json()["status"], "pending");
}

#[tokio::test]
async fn every_fault_of_a_plan_has_its_place() {
    let service = Service::start().await;

    let faulty = json!({
        "parameters": { "search_smiles": "C1CC", "max_depth": 0, "engine": "no-word", "x": 1 },
        "name": "n".repeat(256), "description": "\u{0}", "smiles": [],
    });
    let answer = service.post(PLANS, &faulty.to_string()).await;
    let without = service.post(PLANS, r#"{"parameters": 1}"#).await;
    let unknown = json!({ "parameters": { "search_smiles": "C", "engine": "no_engine" } });
    let unknown = service.post(PLANS, &unknown.to_string()).await;

    let faults = [
        ("parameters.search_smiles", "smiles_invalid"),
        ("parameters.max_depth", "greater_than_equal"),
        ("parameters.engine", "string_pattern_mismatch"),
        ("parameters.x", "extra_forbidden"),
        ("name", "string_too_long"),
        ("description", "string_pattern_mismatch"),
        ("smiles", "extra_forbidden"),
    ];
    let faults = faults.map(|(field, kind)| (format!("body.{field}"), kind.to_owned()));
    assert_eq!((answer.status, answer.faults()), (422, faults.into()));
    assert_eq!(without.faults(), [("body.parameters".to_owned(), "dict_type".to_owned())]);
    assert_eq!((unknown.status, unknown.text.as_str()), (400, "null"));
}

#[tokio::test]
async fn a_request_without_an_engine_gets_an_available_one() {
    let service = Service::start().await;

    let created = service.post(PLANS, r#"{"parameters": {"search_smiles": "C", "max_depth": 2}}"#).await;

    assert_eq!(created.json()["parameters"]["engine"], "toy_engine");
}

#[tokio::test]
async fn plans_without_a_batch_are_listed_for_their_readers_the_newest_first() {
    let service = Service::start_without_workers(&[]).await;
    let batch = json!({ "smiles": ["C"], "parameters": { "engine": "toy_engine" } });
    assert_eq!(service.post("/synth-batches/v1/batches", &batch.to_string()).await.status, 200);
    let mut plans = Vec::new();
    for _ in 0..3 {
        plans.push(id(&service.post(PLANS, &body(2)).await));
    }
    let of_batch: String = sqlx::query_scalar("select id from plans where batch_id is not null")
        .fetch_one(&service.pool)
        .await
        .unwrap();
    complete_plan(&mut service.pool.acquire().await.unwrap(), &plans[0]).await.unwrap();

    pages_go_both_ways_for_colleagues(&service, PLANS, &plans).await;

    assert_eq!(service.get(&format!("{PLANS}?starting_after={of_batch}")).await.status, 400);
    let all = service.get(PLANS).await.json();
    let oldest = &all["items"][2];
    assert_eq!((&oldest["status"], &oldest["result"]), (&json!("completed"), &Value::Null));
    assert_eq!(oldest["figures"]["routes"], 2);
}
