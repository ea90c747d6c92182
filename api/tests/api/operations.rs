//! Tests of `/operations/v1`.

use std::sync::Arc;

use contract::scope;
use reqwest::Method;
use serde_json::{Value, json};
use test_support::eventually;

use crate::support::{Answer, Service, add_operator, answer, claims};

const STATE: &str = "/operations/v1/state";
const SAMPLES: &str = "/generator/v1/samples";

/// Service with an operator account.
struct OperatorFixture {
    service: Arc<Service>,
    token: String,
}

impl OperatorFixture {
    async fn set(settings: &[(&str, &str)]) -> Self {
        let service = Service::start_with(settings).await;
        let operator = add_operator(&service.pool, "ada@example.org").await;
        let mut claims = claims(&operator);
        claims["scope"] = json!(scope::OPERATIONS);
        let token = service.token(claims).await;
        Self { service: Arc::new(service), token }
    }

    async fn call(&self, method: Method, path: &str) -> Answer {
        let request = self.service.http.request(method, format!("{}{path}", self.service.base));
        answer(request.bearer_auth(&self.token)).await
    }

    async fn state(&self) -> Value {
        let state = self.call(Method::GET, STATE).await;
        assert_eq!(state.status, 200, "{state:?}");
        state.json()
    }

    async fn act(&self, path: &str) -> Answer {
        self.call(Method::POST, &format!("/operations/v1/{path}")).await
    }

    /// Polls until the state satisfies `is_it`.
    async fn until(&self, is_it: impl Fn(&Value) -> bool) -> Value {
        eventually("the state is what was waited for", async || Some(self.state().await).filter(&is_it)).await
    }

    /// Starts a request of the service's own account; resolves with its answer.
    fn begin(&self, path: &'static str, body: Value) -> tokio::task::JoinHandle<Answer> {
        let service = Arc::clone(&self.service);
        tokio::spawn(async move { service.post(path, &body.to_string()).await })
    }

    /// Starts a search that runs until it is cancelled.
    fn begin_search(&self) -> tokio::task::JoinHandle<Answer> {
        let body = json!({ "search_smiles": "CCO", "max_seconds": 60, "max_depth": 47 });
        self.begin("/synth/v1/treesearch", body)
    }

    /// Returns the audit log without its times.
    async fn audit_log(&self) -> Vec<(String, String, String)> {
        sqlx::query_as("select operator, act, subject from journal order by id")
            .fetch_all(&self.service.pool)
            .await
            .unwrap()
    }
}

fn running(state: &Value) -> Option<String> {
    let jobs = state["jobs"].as_array().unwrap();
    let running = jobs.iter().find(|job| job["state"] == "running")?;
    Some(running["id"].as_str().unwrap().to_owned())
}

fn line(act: &str, subject: &str) -> (String, String, String) {
    ("ada@example.org".to_owned(), act.to_owned(), subject.to_owned())
}

#[tokio::test]
async fn the_state_tells_of_queues_workers_jobs_reservoirs_and_the_catalogue() {
    let stage = OperatorFixture::set(&[]).await;
    sqlx::raw_sql(
        "insert into reservoir_blocks (model_id, model_version, smiles, molecules)
         values ('druglike_gru', 'v', 'C', 300), ('gone', 'v', 'C', 5);
         update live_workers set ready_target = 1000 where queue = 'sample';
         update catalogue_version set version = 7, building_blocks = 12, offers = 34, imported_at = '2026-01-02T03:04:05Z'",
    )
    .execute(&stage.service.pool)
    .await
    .unwrap();
    let search = stage.begin_search();
    let state = stage.until(|state| running(state).is_some()).await;

    let queue = |name: &str, busy: i64| json!({ "queue": name, "waiting": 0, "busy": busy, "slots": 4, "oldest_wait_seconds": 0.0, "paused": null });
    let queues = [("sample", 0), ("search", 1), ("plan", 0), ("look", 0), ("order", 0), ("likelihood", 0)];
    assert_eq!(state["queues"], json!(queues.map(|(name, count)| queue(name, count))));
    let [_, _, _, _, sampler, searcher] = &state["workers"].as_array().unwrap()[..] else {
        panic!("{state}")
    };
    assert_eq!(
        (&sampler["queue"], &sampler["slots"], &sampler["live"]),
        (&json!("sample"), &json!(4), &json!(true))
    );
    assert_eq!(sampler["models"], json!(["druglike_gru", "poor_model", "slow_model", "stingy_model"]));
    let job = &state["jobs"][0];
    assert_eq!(searcher["holds"], json!([job["id"]]));
    assert_eq!(job["worker"], searcher["name"]);
    assert_eq!((&job["account"], &job["queue"]), (&json!("demo@example.org"), &json!("search")));
    assert_eq!((&job["attempts"], &job["kind"]), (&json!(1), &json!("first_route")));
    assert!(job["deadline"].as_str() > state["at"].as_str(), "{job}");
    assert_eq!((&state["jobs_total"], &state["failures"]), (&json!(1), &json!([])));
    let reservoir = |model: &str, ready: i64, target: Value| json!({ "model_id": model, "ready": ready, "target": target });
    assert_eq!(
        state["reservoirs"],
        json!([
            reservoir("druglike_gru", 300, json!(1000)),
            reservoir("gone", 5, json!(null)),
            reservoir("poor_model", 0, json!(1000)),
            reservoir("slow_model", 0, json!(1000)),
            reservoir("stingy_model", 0, json!(1000)),
        ])
    );
    let catalogue =
        json!({ "version": 7, "building_blocks": 12, "offers": 34, "imported_at": "2026-01-02T03:04:05Z" });
    assert_eq!(state["catalogue"], catalogue);
    search.abort();
}

#[tokio::test]
async fn only_who_has_the_scope_sees_anything_or_does_anything() {
    let stage = OperatorFixture::set(&[]).await;
    let paths = [
        (Method::GET, STATE),
        (Method::POST, "/operations/v1/queues/search/pause"),
        (Method::POST, "/operations/v1/queues/search/resume"),
        (Method::POST, "/operations/v1/jobs/01JD6XQ1V3M4C5T6Y7Z8A9B0CE/cancel"),
        (Method::POST, "/operations/v1/jobs/01JD6XQ1V3M4C5T6Y7Z8A9B0CE/retry"),
    ];
    // A token that claims more scopes than its account has.
    let mut claimed = claims(&stage.service.account);
    claimed["scope"] = json!(scope::OPERATIONS);
    let claimed = stage.service.token(claimed).await;

    for (method, path) in paths {
        let address = format!("{}{path}", stage.service.base);
        let refused = answer(stage.service.http.request(method.clone(), &address)).await;
        let ordinary = answer(stage.service.request(method.clone(), path).await).await;
        let claiming = answer(stage.service.http.request(method, &address).bearer_auth(&claimed)).await;

        assert_eq!((refused.status, ordinary.status, claiming.status), (401, 403, 403), "{path}");
        let lacks = [("header.authorization".to_owned(), "insufficient_scope".to_owned())];
        assert_eq!(ordinary.faults(), lacks, "{path}");
    }
    assert_eq!(stage.audit_log().await, []);
}

#[tokio::test]
async fn unknown_things_are_404_and_invalid_ones_422() {
    let stage = OperatorFixture::set(&[]).await;

    for path in ["queues/toy/pause", "queues/toy/resume", "jobs/none/cancel", "jobs/none/retry"] {
        let absent = stage.act(path).await;
        assert_eq!((absent.status, &*absent.text), (404, "null"), "{path}");
    }
    for (path, part) in [("queues/to-y/pause", "queue"), ("jobs/no-ne/retry", "job_id")] {
        let wrong = stage.act(&format!("{path}?x=1")).await;
        let locations: Vec<String> = wrong.faults().into_iter().map(|(location, _)| location).collect();
        assert_eq!(
            (wrong.status, locations),
            (422, vec![format!("path.{part}"), "query.x".to_owned()]),
            "{path}"
        );
    }
    assert_eq!(stage.call(Method::GET, &format!("{STATE}?x=1")).await.status, 422);
    assert_eq!(stage.call(Method::GET, "/operations/v1/queues/search/pause").await.status, 405);
    assert_eq!(stage.audit_log().await, []);
}

#[tokio::test]
async fn a_paused_queue_refuses_with_its_reason_until_it_is_resumed() {
    let stage = OperatorFixture::set(&[]).await;

    for _ in 0..2 {
        assert_eq!(stage.act("queues/sample/pause").await.status, 204);
    }
    let refused = stage.service.post(SAMPLES, r#"{"size": 2}"#).await;
    let state = stage.state().await;
    for _ in 0..2 {
        assert_eq!(stage.act("queues/sample/resume").await.status, 204);
    }
    let taken = stage.service.post(SAMPLES, r#"{"size": 2}"#).await;

    assert_eq!((refused.status, refused.header("retry-after")), (503, "60"), "{refused:?}");
    assert_eq!(refused.json()["detail"][0]["msg"], "The queue for this operation is paused by an operator");
    assert_eq!(state["queues"][0]["paused"]["by"], "ada@example.org");
    assert_eq!(state["queues"][1]["paused"], json!(null));
    assert_eq!(taken.status, 200, "{taken:?}");
    assert_eq!(stage.state().await["queues"][0]["paused"], json!(null));
    // An action without effect is not logged.
    assert_eq!(stage.audit_log().await, [line("queue pause", "sample"), line("queue resume", "sample")]);
}

#[tokio::test]
async fn a_cancelled_job_fails_for_its_caller_and_can_be_retried() {
    let stage = OperatorFixture::set(&[]).await;
    let search = stage.begin_search();
    let id = running(&stage.until(|state| running(state).is_some()).await).unwrap();

    let too_early = stage.act(&format!("jobs/{id}/retry")).await;
    let cancelled = stage.act(&format!("jobs/{id}/cancel")).await;
    let response = search.await.unwrap();
    let failed = stage.until(|state| state["failures_total"] == 1).await;
    let twice = stage.act(&format!("jobs/{id}/cancel")).await;
    let retried = stage.act(&format!("jobs/{id}/retry")).await;
    let again = stage.until(|state| running(state).is_some()).await;

    assert_eq!((too_early.status, &too_early.json()["detail"][0]["type"]), (409, &json!("conflict")));
    assert_eq!(too_early.json()["detail"][0]["msg"], "The job runs; it cannot be retried");
    assert_eq!((cancelled.status, &*cancelled.text), (204, ""));
    assert_eq!((response.status, response.header("retry-after")), (503, "60"), "{response:?}");
    assert_eq!(response.json()["detail"][0]["msg"], "An operator cancelled the request");
    let failure = &failed["failures"][0];
    assert_eq!((&failure["id"], &failure["problem"]), (&json!(id), &json!("cancelled_by_operator")));
    assert_eq!(failure["account"], "demo@example.org");
    assert_eq!(failure["error"], "cancelled by an operator: ada@example.org");
    assert_eq!((twice.status, retried.status), (409, 204));
    assert_eq!(running(&again), Some(id.clone()));
    assert_eq!((&again["jobs"][0]["attempts"], &again["failures_total"]), (&json!(1), &json!(0)));
    assert_eq!(stage.audit_log().await, [line("job cancel", &id), line("job retry", &id)]);
    stage.act(&format!("jobs/{id}/cancel")).await;
}

#[tokio::test]
async fn a_sample_that_a_retry_makes_is_its_accounts() {
    let stage = OperatorFixture::set(&[("SAMPLE_DEADLINE_SECONDS", "8")]).await;
    // With this model the mock sampler runs until the job's first deadline, then it stores the sample.
    let refused = stage.begin(SAMPLES, json!({ "size": 2, "model_id": "slow_model" }));
    let id = running(&stage.until(|state| running(state).is_some()).await).unwrap();
    stage.act(&format!("jobs/{id}/cancel")).await;
    assert_eq!(refused.await.unwrap().status, 503);
    stage.until(|state| state["failures_total"] == 1).await;

    let retried = stage.act(&format!("jobs/{id}/retry")).await;
    stage.until(|state| state["jobs_total"] == 0).await;

    assert_eq!(retried.status, 204, "{retried:?}");
    let list = stage.service.get(SAMPLES).await.json();
    assert_eq!(list["data"][0]["model_id"], "slow_model", "{list}");
    let done = stage.act(&format!("jobs/{id}/retry")).await;
    assert_eq!(done.json()["detail"][0]["msg"], "The job is done; it cannot be retried");
}
