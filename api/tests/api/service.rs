//! Parts outside the contract: health, the OpenAPI document, the reference, headers, start-up.

use std::time::Duration;

use reqwest::Method;
use serde_json::json;

use crate::support::{Service, answer};

#[tokio::test]
async fn readiness_says_what_is_missing() {
    let service = Service::start_without_workers(&[]).await;
    let get = |path: &str| answer(service.http.get(format!("{}{path}", service.base)));

    let alive = get("/healthz").await;
    let unready = get("/readyz").await;
    let excluding = get("/readyz?exclude=searcher&exclude=sampler").await;
    let partly = get("/readyz?exclude=searcher").await;

    assert_eq!((alive.status, alive.json()), (200, json!({ "status": "alive" })));
    assert_eq!(unready.status, 503);
    assert_eq!(
        unready.json(),
        json!({
            "status": "not ready",
            "missing": ["sampler", "searcher"],
            "checks": {
                "database": "ok", "migrations": "ok",
                "sampler": "no live worker", "searcher": "no live worker",
            },
        })
    );
    let json = excluding.json();
    assert_eq!((excluding.status, &json["status"], &json["missing"]), (200, &json!("ready"), &json!([])));
    assert_eq!(json["checks"], unready.json()["checks"]);
    assert_eq!((partly.status, &partly.json()["missing"]), (503, &json!(["sampler"])));
    sqlx::query("delete from _sqlx_migrations where version = 4").execute(&service.pool).await.unwrap();
    let mut migrations = String::new();
    for _ in 0..100 {
        migrations = get("/readyz").await.json()["checks"]["migrations"].to_string();
        if migrations != "\"ok\"" {
            break;
        }
        // A readiness answer is cached for a second.
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(migrations, "\"1 not applied\"");
}

#[tokio::test]
async fn with_workers_it_is_ready() {
    let service = Service::start().await;

    let ready = answer(service.http.get(format!("{}/readyz", service.base))).await;

    assert_eq!((ready.status, ready.json()["missing"].clone()), (200, json!([])));
}

#[tokio::test]
async fn connections_that_the_database_drops_are_made_anew() {
    let service = Service::start().await;
    let (list, create) = (
        service.request(Method::GET, "/generator/v1/samples").await,
        service.request(Method::POST, "/generator/v1/samples").await.json(&json!({ "size": 1 })),
    );
    assert_eq!(answer(create.try_clone().unwrap()).await.status, 200);
    sqlx::query(
        "select pg_terminate_backend(pid) from pg_stat_activity \
         where datname = current_database() and pid <> pg_backend_pid()",
    )
    .execute(&service.pool)
    .await
    .unwrap();

    for request in [list, create] {
        let mut status = 503;
        for _ in 0..100 {
            // A connection that was used a moment ago is not tested before its next use.
            assert_eq!(status, 503);
            status = answer(request.try_clone().unwrap()).await.status;
            if status == 200 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        assert_eq!(status, 200, "{request:?}");
    }
}

#[tokio::test]
async fn while_the_database_is_away_answers_are_503_with_retry_after() {
    let service = Service::start_without_workers(&[]).await;
    let list = service.request(Method::GET, "/generator/v1/samples").await;
    service.pool.close().await;

    let list = answer(list).await;
    let ready = answer(service.http.get(format!("{}/readyz", service.base))).await;

    assert_eq!((list.status, list.header("retry-after")), (503, "1"));
    assert_eq!(ready.status, 503);
    assert_eq!(ready.json()["checks"]["database"], "cannot be reached");
}

#[tokio::test]
async fn every_answer_carries_its_request_id_and_hardening_headers() {
    let service = Service::start_without_workers(&[]).await;

    let own = service.get("/nowhere").await;
    let given = service.request(Method::GET, "/nowhere").await.header("x-request-id", "caller-1");
    let given = answer(given).await;
    let odd = service.request(Method::GET, "/nowhere").await.header("x-request-id", "a b");
    let odd = answer(odd).await;

    assert_eq!(own.header("x-request-id").len(), 26);
    assert_eq!(given.header("x-request-id"), "caller-1");
    assert_eq!(odd.header("x-request-id").len(), 26);
    assert_eq!(own.header("x-content-type-options"), "nosniff");
    assert_eq!(own.header("content-security-policy"), "default-src 'none'; frame-ancestors 'none'");
    assert_eq!(own.header("access-control-allow-origin"), "");
}

#[tokio::test]
async fn web_pages_may_call_from_the_origins_that_are_named_and_from_no_other() {
    let service = Service::start_without_workers(&[("CORS_ORIGINS", "https://app.test")]).await;
    let preflight = |path: &str, origin: &str| {
        let request = service.http.request(Method::OPTIONS, format!("{}{path}", service.base));
        let request = request.header("access-control-request-method", "POST");
        answer(request.header("access-control-request-headers", "authorization").header("origin", origin))
    };

    let named = preflight("/generator/v1/samples", "https://app.test").await;
    let token = preflight("/auth/token", "https://app.test").await;
    let other = preflight("/generator/v1/samples", "https://app.test.evil.test").await;
    let page = preflight("/auth/login", "https://app.test").await;

    for allowed in [named, token] {
        assert_eq!(allowed.header("access-control-allow-origin"), "https://app.test");
        assert_eq!(allowed.header("access-control-allow-credentials"), "");
    }
    for refused in [other, page] {
        assert_eq!(refused.header("access-control-allow-origin"), "");
    }
}

#[tokio::test]
async fn web_pages_elsewhere_send_and_read_the_headers_that_the_service_has() {
    let service = Service::start_without_workers(&[("CORS_ORIGINS", "https://app.test")]).await;
    let samples = format!("{}/generator/v1/samples", service.base);
    let preflight = service.http.request(Method::OPTIONS, &samples).header("origin", "https://app.test");
    let words = |text: &str| text.split(',').map(|word| word.trim().to_lowercase()).collect::<Vec<_>>();

    let may_send = answer(preflight.header("access-control-request-method", "POST")).await;
    let may_read = answer(
        service.request(Method::GET, "/generator/v1/samples").await.header("origin", "https://app.test"),
    )
    .await;

    let may_send = words(may_send.header("access-control-allow-headers"));
    for name in ["prefer", "idempotency-key", "last-event-id", "authorization", "content-type"] {
        assert!(may_send.contains(&name.to_owned()), "{name}: {may_send:?}");
    }
    let may_read = words(may_read.header("access-control-expose-headers"));
    for name in [
        "location",
        "content-location",
        "preference-applied",
        "ratelimit",
        "ratelimit-policy",
        "retry-after",
        "idempotent-replayed",
    ] {
        assert!(may_read.contains(&name.to_owned()), "{name}: {may_read:?}");
    }
}

#[tokio::test]
async fn the_document_is_served_with_the_address_of_the_installation() {
    let service = Service::start_without_workers(&[]).await;

    let document = answer(service.http.get(format!("{}/openapi.json", service.base))).await.json();

    assert_eq!(document["openapi"], "3.1.0");
    assert_eq!(document["servers"], json!([{ "url": "http://retort.test" }]));
}
