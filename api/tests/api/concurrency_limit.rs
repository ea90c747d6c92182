//! More simultaneous requests than the concurrency limit.

use std::{sync::Arc, time::Duration};

use contract::scope;
use reqwest::Method;
use serde_json::json;
use tokio::{io::AsyncWriteExt, net::TcpStream, task::JoinHandle, time::timeout};

use crate::support::{Answer, Service, add_operator, answer, claims};

const SAMPLES: &str = "/generator/v1/samples";

/// Setting for a service with one permit.
const ONE: [(&str, &str); 1] = [("REQUESTS_AT_ONCE", "1")];

fn list(service: &Arc<Service>) -> JoinHandle<Answer> {
    let service = Arc::clone(service);
    tokio::spawn(async move { service.get(SAMPLES).await })
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_without_a_permit_are_refused_and_operators_and_running_ones_answered() {
    let service = Arc::new(Service::start_without_workers(&ONE).await);
    assert_eq!(service.get(SAMPLES).await.status, 200);
    let operator = add_operator(&service.pool, "ada@example.org").await;
    let mut claims = claims(&operator);
    claims["scope"] = json!(scope::OPERATIONS);
    let token = service.token(claims).await;
    let mut lock = service.pool.begin().await.unwrap();
    sqlx::query("lock table samples in access exclusive mode").execute(&mut *lock).await.unwrap();

    let first = list(&service);
    service
        .until_count(
            "select count(*) from pg_locks join pg_class on pg_class.oid = relation
         where relname = 'samples' and not granted",
            1,
        )
        .await;
    let second = service.get(SAMPLES).await;
    let state = service.http.get(format!("{}/operations/v1/state", service.base)).bearer_auth(token);
    let state = answer(state).await;
    lock.commit().await.unwrap();

    assert_eq!((second.status, second.header("retry-after")), (503, "1"));
    assert_eq!(second.faults(), [(String::new(), "unavailable".to_owned())]);
    assert_eq!(state.status, 200);
    assert_eq!(first.await.unwrap().status, 200);
    assert_eq!(service.get(SAMPLES).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_that_wait_or_send_slowly_hold_no_permit() {
    let service = Arc::new(Service::start_with(&ONE).await);
    let searching = Arc::clone(&service);
    let search = tokio::spawn(async move {
        // This search is answered only when it is cancelled.
        let body = json!({ "search_smiles": "CCO", "max_depth": 47, "max_seconds": 60 });
        searching.post("/synth/v1/treesearch", &body.to_string()).await
    });
    service.until_count("select count(*) from jobs where holder is not null", 1).await;
    let mut slow = TcpStream::connect(service.base.trim_start_matches("http://")).await.unwrap();
    let token = service.token(claims(&service.account)).await;
    let half = format!(
        "POST {SAMPLES} HTTP/1.1\r\nhost: retort\r\nauthorization: Bearer {token}\r\n\
         content-type: application/json\r\ncontent-length: 100\r\n\r\n{{"
    );
    slow.write_all(half.as_bytes()).await.unwrap();
    // The account's rate limit shows that the request was admitted.
    service.until_count("select count(*) from rate_limits where ration = 'samples-create'", 1).await;

    let listed = service.get(SAMPLES).await;

    assert_eq!(listed.status, 200);
    search.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_route_that_is_sent_slowly_or_checked_has_nobodys_place() {
    let service = Arc::new(Service::start_without_workers(&ONE).await);
    let token = service.token(claims(&service.account)).await;
    let mut slow = Vec::new();
    for line in ["POST /synth/v1/routes", "PATCH /synth/v1/routes/rte_1", "POST /synth/v1/analogues"] {
        let half = format!(
            "{line} HTTP/1.1\r\nhost: retort\r\nauthorization: Bearer {token}\r\n\
             content-type: application/json\r\ncontent-length: 1000\r\n\r\n{{"
        );
        // A connection that arrives during another's admission is refused, and tries again.
        loop {
            let mut stream = TcpStream::connect(service.base.trim_start_matches("http://")).await.unwrap();
            stream.write_all(half.as_bytes()).await.unwrap();
            if timeout(Duration::from_millis(500), stream.readable()).await.is_err() {
                slow.push(stream);
                break;
            }
        }
    }
    // Targets that take seconds to parse, twenty times.
    let smiles: Vec<String> =
        (0..3_000).map(|n| format!("C{}c1ccc(cc1)-c1ccccc1N", "C".repeat(n % 100))).collect();
    let body = Arc::new(json!({ "smiles": smiles, "parameters": { "engine": "toy_engine" } }).to_string());
    // Each has a connection of its own: one whose body was still being sent when its request was refused is of no use to others.
    let large: Vec<_> = (0..20)
        .map(|_| {
            let (base, token, body) = (service.base.clone(), token.clone(), Arc::clone(&body));
            tokio::spawn(async move {
                let http = reqwest::Client::builder().pool_max_idle_per_host(0).build().unwrap();
                let batch = || http.post(format!("{base}/synth-batches/v1/batches")).bearer_auth(&token);
                loop {
                    let request =
                        batch().header("content-type", "application/json").body(String::clone(&body));
                    if request.send().await.is_ok_and(|answer| answer.status() != 503) {
                        break;
                    }
                }
            })
        })
        .collect();
    // The account's rate limits show that requests were admitted; each holds a permit for the milliseconds that this
    // takes.
    service.until_count("select count(*) from rate_limits where ration in ('reads', 'treesearch')", 2).await;

    let mut read = 0;
    for _ in 0..200 {
        match service.get(SAMPLES).await.status {
            200 => read += 1,
            status => assert_eq!(status, 503),
        }
        if read == 10 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(read, 10, "they have the place as long as they are sent or checked");
    large.iter().for_each(JoinHandle::abort);
}

#[tokio::test]
async fn a_place_is_free_again_when_its_request_was_answered_whatever_the_answer() {
    let service = Service::start_with(&ONE).await;
    for _ in 0..3 {
        let statuses = [
            service.get(SAMPLES).await.status,
            service.get("/generator/v1/samples/smp_nothing").await.status,
            service.post(SAMPLES, "{").await.status,
            service.post(SAMPLES, r#"{"size": 3}"#).await.status,
            answer(service.http.request(Method::GET, format!("{}{SAMPLES}", service.base))).await.status,
        ];

        assert_eq!(statuses, [200, 404, 422, 200, 401]);
    }
}
