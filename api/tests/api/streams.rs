//! Event streams of tree searches and plans.

use std::time::Duration;

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use test_support::{EventReader, ReceivedEvent};

use crate::support::{Service, add_account, answer, claims, join_one_organisation};

const SEARCH: &str = "/synth/v1/treesearch";
const PLANS: &str = "/synth-batches/v1/plans";

/// `max_depth` of a search that publishes progress before it answers, and of one that runs until it is cancelled.
const PROGRESS_DEPTH: u32 = 43;
const ENDLESS: u32 = 47;

fn body(depth: u32) -> Value {
    json!({ "search_smiles": "CCO", "max_depth": depth, "max_seconds": 60 })
}

fn names(events: &[ReceivedEvent]) -> Vec<&str> {
    events.iter().map(|(_, name, _)| name.as_str()).collect()
}

impl Service {
    async fn submission(&self, body: &Value) -> RequestBuilder {
        self.request(Method::POST, SEARCH).await.header("accept", "text/event-stream").json(body)
    }

    async fn stream(&self, body: &Value) -> EventReader {
        EventReader::of(self.request(Method::POST, SEARCH).await.json(body)).await
    }

    async fn open_stream(&self, path: &str) -> EventReader {
        EventReader::of(self.request(Method::GET, path).await).await
    }
}

#[tokio::test]
async fn a_stream_publishes_routes_and_ends_with_the_same_answer_as_a_request() {
    let service = Service::start().await;
    let plain = service.post(SEARCH, &body(PROGRESS_DEPTH).to_string()).await;

    let request = service.request(Method::POST, SEARCH).await.header("accept-encoding", "gzip");
    let reader = EventReader::of(request.json(&body(PROGRESS_DEPTH))).await;

    let headers = ["cache-control", "x-accel-buffering", "content-encoding"].map(|name| reader.header(name));
    assert_eq!(headers, ["no-store", "no", ""]);
    let location = reader.location();
    assert!(location.starts_with(SEARCH) && location.ends_with("/events"), "{location}");
    let events = reader.rest().await;
    assert_eq!(names(&events), ["progress", "route", "answer"]);
    assert!(events.is_sorted_by(|one, next| one.0 < next.0), "{events:?}");
    assert_eq!(events[0].2["expansions"], 310);
    assert_eq!(events[2].2, plain.json());
    // All events can be read again.
    assert_eq!(service.open_stream(&location).await.rest().await, events);
}

#[tokio::test]
async fn a_stream_keeps_its_view_where_it_resumes() {
    let service = Service::start().await;
    let search = format!("{SEARCH}?view=compact");
    let plain = service.post(&search, &body(PROGRESS_DEPTH).to_string()).await;

    let reader =
        EventReader::of(service.request(Method::POST, &search).await.json(&body(PROGRESS_DEPTH))).await;

    let location = reader.location();
    assert!(location.ends_with("/events?view=compact"), "{location}");
    let events = reader.rest().await;
    assert_eq!(events[2].2, plain.json());
    assert!(events[2].2["molecules"].is_array(), "{}", events[2].2);
    assert_eq!(service.open_stream(&location).await.rest().await, events);
    let full = service.open_stream(location.trim_end_matches("?view=compact")).await.rest().await;
    assert_eq!(full[2].2, service.post(SEARCH, &body(PROGRESS_DEPTH).to_string()).await.json());
}

#[tokio::test]
async fn a_searcher_that_knows_no_streams_answers_all_the_same() {
    let service = Service::start().await;

    let events = service.stream(&body(2)).await.rest().await;

    assert_eq!(names(&events), ["answer"]);
    assert_eq!(events[0].2["route_hierarchy"], json!({}));
}

#[tokio::test]
async fn faults_before_a_streamed_search_are_ordinary_errors() {
    let service = Service::start().await;

    let invalid = answer(service.submission(&json!({ "search_smiles": "C1CC", "x": 1 })).await).await;
    let unknown =
        service.http.post(format!("{}{SEARCH}", service.base)).header("accept", "text/event-stream");
    let unknown = answer(unknown.json(&body(2))).await;
    let anything = service.request(Method::POST, SEARCH).await.header("accept", "*/*").json(&body(2));
    let anything = answer(anything).await;

    let faults = [("body.search_smiles", "smiles_invalid"), ("body.x", "extra_forbidden")];
    assert_eq!(invalid.faults(), faults.map(|(loc, kind)| (loc.to_owned(), kind.to_owned())));
    assert_eq!((invalid.status, unknown.status), (422, 401));
    assert_eq!((anything.status, anything.header("content-type")), (200, "application/json"));
}

#[tokio::test]
async fn a_search_without_an_answer_ends_with_what_the_error_would_have_been() {
    let service = Service::start().await;
    let refused = service.post(SEARCH, &body(48).to_string()).await;

    let events = service.stream(&body(48)).await.rest().await;
    let nonsense = service.stream(&body(49)).await.rest().await;

    assert_eq!(names(&events), ["problem"]);
    assert_eq!(events[0].2, json!({ "status": 422, "detail": refused.json()["detail"] }));
    assert_eq!((names(&nonsense), &nonsense[0].2["status"]), (vec!["problem"], &json!(500)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_stream_resumes_at_another_process_and_a_left_one_cancels() {
    let mut service = Service::start().await;
    let other = service.another().await;
    let mut reader = service.stream(&body(ENDLESS)).await;
    let location = reader.location();
    let (first, second) = (reader.next().await.unwrap(), reader.next().await.unwrap());
    drop(reader);

    let token = service.token(claims(&service.account)).await;
    let watched = async |last: i64| {
        let request = service.http.get(format!("{other}{location}")).bearer_auth(&token);
        EventReader::of(request.header("last-event-id", last)).await
    };
    let mut again = watched(first.0).await;

    assert_eq!(again.next().await.unwrap(), second);
    // Longer than a disconnected client has to reconnect.
    tokio::time::sleep(Duration::from_secs(10)).await;
    service.until_count("select count(*) from jobs where finished_at is null and cancelled_at is null and holder is not null", 1).await;
    drop(again);
    service.until_count("select count(*) from jobs where cancelled_at is not null", 1).await;
    let after = watched(second.0).await.rest().await;
    assert_eq!((names(&after), &after[0].2["status"]), (vec!["problem"], &json!(503)));
}

#[tokio::test]
async fn a_stream_belongs_to_its_caller_and_resumes_at_a_number() {
    let service = Service::start().await;
    let stranger = add_account(&service.pool, "other@example.org").await;
    let reader = service.stream(&body(PROGRESS_DEPTH)).await;
    let location = reader.location();
    reader.rest().await;
    let plain = service.post(SEARCH, &body(PROGRESS_DEPTH).to_string()).await;
    assert_eq!(plain.status, 200);
    let plain: String = sqlx::query_scalar("select id from jobs order by id desc limit 1")
        .fetch_one(&service.pool)
        .await
        .unwrap();

    let others = answer(service.request_as(&stranger, Method::GET, &location).await).await;
    let unknown = service.get(&format!("{SEARCH}/nothing/events")).await;
    let unwatched = service.get(&format!("{SEARCH}/{plain}/events")).await;
    let faulty = answer(service.request(Method::GET, &location).await.header("last-event-id", "x")).await;
    let empty =
        EventReader::of(service.request(Method::GET, &location).await.header("last-event-id", "")).await;
    let whole = EventReader::of(service.request(Method::GET, &location).await).await;

    assert_eq!([others.status, unknown.status, unwatched.status], [404, 404, 404]);
    assert_eq!(faulty.faults(), [("header.last-event-id".to_owned(), "int_parsing".to_owned())]);
    assert_eq!(names(&empty.rest().await), names(&whole.rest().await));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_holds_no_place_and_costs_one_request() {
    let settings = [("REQUESTS_AT_ONCE", "1"), ("RATE_TREESEARCH_PER_MINUTE", "1")];
    let service = Service::start_with(&settings).await;
    let mut reader = service.stream(&body(ENDLESS)).await;
    assert_eq!(reader.next().await.unwrap().1, "progress");

    let listed = service.get("/generator/v1/samples").await;
    let another = answer(service.submission(&body(2)).await).await;

    assert_eq!((listed.status, another.status), (200, 429));
    assert_eq!(another.header("content-type"), "application/json");
}

#[tokio::test]
async fn seconds_that_a_stream_did_not_use_are_given_back() {
    let service = Service::start_with(&[("RATE_SEARCH_SECONDS_PER_MINUTE", "60")]).await;

    for _ in 0..3 {
        assert_eq!(service.stream(&body(PROGRESS_DEPTH)).await.rest().await.len(), 3);
        // The refund happens while the last event is sent.
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plans_stream_ends_with_the_plan_and_the_plan_goes_on_without_it() {
    let service = Service::start().await;
    let plan = |depth: u32| json!({ "parameters": { "search_smiles": "CCO", "max_depth": depth, "engine": "toy_engine" } });
    let create = async |depth| {
        let created = service.post(PLANS, &plan(depth).to_string()).await;
        created.json()["id"].as_str().unwrap().to_owned()
    };
    let (done, endless) = (create(2).await, create(ENDLESS).await);
    let stream_of = async |id: &str| service.open_stream(&format!("{PLANS}/{id}/events")).await;

    let mut endless_events = stream_of(&endless).await;
    let received = [endless_events.next().await.unwrap(), endless_events.next().await.unwrap()];
    drop(endless_events);
    let events = stream_of(&done).await.rest().await;

    assert_eq!(names(&received), ["progress", "route"]);
    // Reactions are nodes, as in a plan's result.
    let nodes = received[1].2["route"]["nodes"].as_array().unwrap();
    assert!(nodes.iter().any(|node| node["data"]["template_id"].is_number()), "{nodes:?}");
    assert_eq!(events.last().unwrap().1, "answer");
    assert_eq!(events.last().unwrap().2, service.get(&format!("{PLANS}/{done}")).await.json());
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(service.get(&format!("{PLANS}/{endless}")).await.json()["status"], "processing");
    service.post(&format!("{PLANS}/{endless}/cancel"), "").await;
    let cancelled = stream_of(&endless).await.rest().await;
    assert_eq!(cancelled.last().unwrap().2["status"], "cancelled");
    let unknown = service.get(&format!("{PLANS}/pln_nothing/events")).await;
    assert_eq!(unknown.status, 404);
}

/// Runs a search to its end and returns its id.
async fn searched(service: &Service, body: &Value) -> String {
    let reader = service.stream(body).await;
    let location = reader.location();
    assert_eq!(names(&reader.rest().await).last(), Some(&"answer"));
    location.split('/').rev().nth(1).unwrap().to_owned()
}

#[tokio::test]
async fn a_finished_search_is_stored_as_a_plan_without_a_second_search() {
    let service = Service::start().await;
    let id = searched(&service, &body(PROGRESS_DEPTH)).await;
    let plan = json!({ "parameters": body(PROGRESS_DEPTH), "name": "mine", "search_id": id });

    let stored = service.post(PLANS, &plan.to_string()).await;
    let again = service.post(PLANS, &plan.to_string()).await;

    assert_eq!((stored.status, again.status), (201, 201), "{stored:?}");
    let stored = stored.json();
    assert_eq!((&stored["status"], &stored["name"]), (&json!("completed"), &json!("mine")));
    assert_eq!(stored["result"]["search_smiles"], "CCO");
    assert_eq!(stored["parameters"]["max_depth"], PROGRESS_DEPTH);
    assert_eq!(again.json(), stored);
    assert_eq!(service.get(&format!("{PLANS}/{}", stored["id"].as_str().unwrap())).await.json(), stored);
    let jobs: i64 = sqlx::query_scalar("select count(*) from jobs").fetch_one(&service.pool).await.unwrap();
    assert_eq!(jobs, 1, "nothing was searched for again");
}

#[tokio::test]
async fn a_search_that_is_not_there_or_was_for_something_else_is_no_plan() {
    let service = Service::start().await;
    let stranger = add_account(&service.pool, "other@example.org").await;
    let id = searched(&service, &body(PROGRESS_DEPTH)).await;
    let store = async |account: &str, target: &str, id: &str| {
        let plan = json!({ "parameters": { "search_smiles": target }, "search_id": id });
        let request = service.request_as(account, Method::POST, PLANS).await.json(&plan);
        answer(request).await.status
    };

    assert_eq!(store(&service.account, "CCO", "01JD6XQ1V3M4C5T6Y7Z8A9B0CE").await, 400);
    assert_eq!(store(&service.account, "CCN", &id).await, 400);
    assert_eq!(store(&stranger, "CCO", &id).await, 400);
    assert_eq!(store(&service.account, "CCO", "a-b").await, 422);
    assert_eq!(store(&service.account, "OCC", &id).await, 201, "the same molecule, written otherwise");
}

#[tokio::test]
async fn a_plan_of_a_search_has_the_parameters_that_were_searched_with() {
    let service = Service::start().await;
    let id = searched(&service, &body(PROGRESS_DEPTH)).await;
    let claimed =
        json!({ "search_smiles": "CCO", "max_depth": 2, "max_seconds": 1, "templates_never": ["t"] });

    let stored =
        service.post(PLANS, &json!({ "parameters": claimed, "search_id": id }).to_string()).await.json();

    assert_eq!(stored["status"], "completed", "{stored}");
    assert_eq!(stored["parameters"]["max_depth"], PROGRESS_DEPTH);
    assert_eq!(stored["parameters"]["max_seconds"], 60.0);
    assert_eq!(stored["parameters"]["templates_never"], Value::Null);
}

impl Service {
    /// Creates a plan that does not end by itself; returns the path of its stream.
    async fn endless_plan(&self) -> String {
        let plan =
            json!({ "parameters": { "search_smiles": "CCO", "max_depth": ENDLESS, "engine": "toy_engine" } });
        let created = self.post(PLANS, &plan.to_string()).await;
        format!("{PLANS}/{}/events", created.json()["id"].as_str().unwrap())
    }

    /// Counts the database transactions during a hundred progress notifications of the plan.
    async fn transactions_of_notifications(&self) -> i64 {
        let count =
            "select xact_commit + xact_rollback from pg_stat_database where datname = current_database()";
        let count = async || sqlx::query_scalar::<_, i64>(count).fetch_one(&self.pool).await.unwrap();
        let before = count().await;
        for _ in 0..100 {
            sqlx::query("select pg_notify('job_event', job_id) from plans")
                .execute(&self.pool)
                .await
                .unwrap();
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        // PostgreSQL connections report their statistics within a second of their next statement.
        tokio::time::sleep(Duration::from_secs(2)).await;
        count().await - before
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sixteen_streams_of_a_plan_cost_what_one_costs_and_there_is_no_seventeenth() {
    let service = Service::start().await;
    let path = service.endless_plan().await;
    let mut streams = vec![service.open_stream(&path).await];
    let received = [streams[0].next().await.unwrap(), streams[0].next().await.unwrap()];
    let one = service.transactions_of_notifications().await;

    while streams.len() < 16 {
        let mut stream = service.open_stream(&path).await;
        assert_eq!([stream.next().await.unwrap(), stream.next().await.unwrap()], received);
        streams.push(stream);
    }
    let sixteen = service.transactions_of_notifications().await;
    let refused = service.get(&path).await;
    let another = add_account(&service.pool, "other@example.org").await;
    join_one_organisation(&service.pool, &[&service.account, &another]).await;
    let theirs = EventReader::of(service.request_as(&another, Method::GET, &path).await).await;
    drop(streams.split_off(8));

    assert!(sixteen < 3 * one, "{one} {sixteen}");
    assert_eq!((refused.status, refused.header("retry-after")), (429, "5"));
    assert_eq!(refused.json()["detail"][0]["type"], "too_many_in_flight");
    assert_eq!(theirs.location(), path);
    let again = async || service.get("/synth-batches/v1/plans/x/events").await.status;
    while again().await == 429 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    service.post(&path.replace("/events", "/cancel"), "").await;
    for stream in streams {
        assert_eq!(stream.rest().await.last().unwrap().1, "answer");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_has_sixteen_streams_at_all_processes_together() {
    let mut service = Service::start().await;
    let other = service.another().await;
    let path = service.endless_plan().await;
    let token = service.token(claims(&service.account)).await;
    let at_other = async || {
        let request = service.http.get(format!("{other}{path}")).bearer_auth(&token);
        request.send().await.unwrap()
    };
    let mut streams = Vec::new();
    for _ in 0..4 {
        streams.push((service.open_stream(&path).await, at_other().await));
    }
    // A process that died renews nothing.
    let rows =
        "insert into open_streams (account_id, until) select $1, now() + '1 hour' from generate_series(1, 8)";
    sqlx::query(rows).bind(&service.account).execute(&service.pool).await.unwrap();
    let here = async || service.get("/synth-batches/v1/plans/x/events").await.status;

    assert_eq!((here().await, at_other().await.status().as_u16()), (429, 429));
    let lapse = "update open_streams set until = now() where until > now() + '1 minute'";
    sqlx::query(lapse).execute(&service.pool).await.unwrap();
    assert_eq!(here().await, 404);
    drop(streams);
    service.until_count("select 1 + count(*) from open_streams", 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_disabled_account_has_open_ends() {
    let service = Service::start().await;
    let (mate, path) = (add_account(&service.pool, "mate@example.org").await, service.endless_plan().await);
    join_one_organisation(&service.pool, &[&service.account, &mate]).await;
    let mut search = service.stream(&body(ENDLESS)).await;
    let mut theirs = EventReader::of(service.request_as(&mate, Method::GET, &path).await).await;
    let mut own = service.open_stream(&path).await;
    for stream in [&mut search, &mut theirs, &mut own] {
        stream.next().await.unwrap();
    }
    let disable = async |email| {
        let mut transaction = service.pool.begin().await.unwrap();
        let account = identity::tables::accounts::named(&mut transaction, email).await.unwrap().unwrap();
        let cancelled = account.disable(&mut transaction).await.unwrap();
        transaction.commit().await.unwrap();
        cancelled
    };

    let nothing = disable("mate@example.org").await;
    let end = theirs.rest().await.pop().unwrap();
    assert_eq!((end.1.as_str(), &end.2["status"]), ("problem", &json!(401)));
    assert_eq!((nothing.plans, nothing.requests), (0, 0));
    service.until_count("select count(*) from plans where status = 'pending'", 1).await;

    let cancelled = disable("demo@example.org").await;
    assert_eq!((cancelled.plans, cancelled.requests), (1, 1));
    service.until_count("select count(*) from plans where status = 'cancelled'", 1).await;
    service.until_count("select 1 - count(*) from jobs where finished_at is null", 1).await;
    for stream in [search, own] {
        let end = stream.rest().await.pop().unwrap();
        assert_eq!((end.1.as_str(), &end.2["status"]), ("problem", &json!(401)));
    }
}
