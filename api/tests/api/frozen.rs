//! Frozen or half-open database, simulated by a proxy: every request is answered by its deadline.

use std::time::{Duration, Instant};

use futures::future::join_all;
use reqwest::Method;
use test_support::{Proxy, ProxyMode, until};

use crate::support::{Answer, Service, answer, claims};

/// Request timeout in these tests.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(3);

/// Tolerance beyond a deadline for the answer's transfer on a busy machine.
const TRANSFER_TOLERANCE: Duration = Duration::from_secs(1);

/// Service with a second API process whose connection to the database can be frozen.
struct FrozenDatabaseFixture {
    service: Service,
    proxy: Proxy,
    base: String,
    token: String,
}

impl FrozenDatabaseFixture {
    async fn set() -> Self {
        let mut service = Service::start_without_workers(&[]).await;
        let proxy = Proxy::start(service.database_url()).await;
        let settings = [
            ("DATABASE_URL", proxy.url.as_str()),
            ("REQUEST_SECONDS", "3"),
            ("SEARCH_SLACK_SECONDS", "3"),
            ("RATE_LOGIN_PER_MINUTE", "0"),
        ];
        let base = service.another_with(&settings).await;
        let token = service.token(claims(&service.account)).await;
        Self { service, proxy, base, token }
    }

    fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        self.service.http.request(method, format!("{}{path}", self.base)).bearer_auth(&self.token)
    }

    async fn list(&self) -> Answer {
        answer(self.request(Method::GET, "/generator/v1/samples")).await
    }

    /// Repeats the request until a list is returned.
    async fn wait_until_listed(&self) {
        until("lists are answered", async || self.list().await.status == 200).await;
    }
}

fn assert_unavailable(answer: &Answer) {
    assert_eq!(answer.status, 503, "{answer:?}");
    assert_eq!(answer.header("retry-after"), "1");
    assert_eq!(answer.faults(), [(String::new(), "unavailable".to_owned())]);
}

#[tokio::test(flavor = "multi_thread")]
async fn while_the_database_is_frozen_nobody_waits_for_another_and_after_it_all_is_well() {
    let stage = FrozenDatabaseFixture::set().await;
    stage.wait_until_listed().await;
    // Clears the caches of accounts and revocations, so that every request must query the database.
    sqlx::query("select pg_notify('retort_identity', 'revocations'), pg_notify('retort_identity', $1)")
        .bind(&stage.service.account)
        .execute(&stage.service.pool)
        .await
        .unwrap();

    stage.proxy.set(ProxyMode::Frozen);
    for _ in 0..2 {
        let started = Instant::now();
        let answers = join_all((0..50).map(|_| stage.list())).await;

        assert!(started.elapsed() < REQUEST_TIMEOUT + TRANSFER_TOLERANCE, "{:?}", started.elapsed());
        answers.iter().for_each(assert_unavailable);
    }

    stage.proxy.set(ProxyMode::Open);
    stage.wait_until_listed().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn while_the_database_is_frozen_logins_and_probes_are_answered_in_their_own_shapes() {
    let stage = FrozenDatabaseFixture::set().await;
    stage.wait_until_listed().await;
    stage.proxy.set(ProxyMode::Frozen);
    let form = "grant_type=refresh_token&client_id=retort-cli&refresh_token=0123456789012345678901234567890123456789012";

    let started = Instant::now();
    let (token, page, ready) = tokio::join!(
        answer(
            stage
                .service
                .http
                .post(format!("{}/auth/token", stage.base))
                .header("content-type", "application/x-www-form-urlencoded")
                .body(form)
        ),
        answer(stage.request(
            Method::GET,
            "/auth/authorize?response_type=code&client_id=retort-cli&redirect_uri=http://127.0.0.1:1/"
        )),
        answer(stage.request(Method::GET, "/readyz")),
    );

    assert!(started.elapsed() < REQUEST_TIMEOUT + TRANSFER_TOLERANCE, "{:?}", started.elapsed());
    assert_eq!((token.status, token.header("retry-after")), (503, "1"), "{token:?}");
    assert_eq!(token.json()["error"], "server_error");
    assert_eq!((page.status, page.header("retry-after")), (503, "1"), "{page:?}");
    assert!(page.text.contains("<html"), "{page:?}");
    assert_eq!(ready.status, 503);
    assert_eq!(ready.json()["checks"]["database"], "cannot be reached");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_is_answered_at_its_deadline_though_its_outcome_cannot_be_read() {
    let stage = FrozenDatabaseFixture::set().await;
    // A worker that is alive and takes no job.
    sqlx::query("insert into live_workers (name, queue, slots, last_seen) values ('w', 'search', 1, now() + interval '1 hour')")
        .execute(&stage.service.pool)
        .await
        .unwrap();
    let search = answer(
        stage
            .request(Method::POST, "/synth/v1/treesearch")
            .header("content-type", "application/json")
            .body(r#"{"search_smiles":"CCO","max_seconds":1}"#),
    );
    let frozen = async {
        let submitted = async || -> bool {
            sqlx::query_scalar("select exists (select from jobs)")
                .fetch_one(&stage.service.pool)
                .await
                .unwrap()
        };
        while !submitted().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        stage.proxy.set(ProxyMode::Frozen);
    };

    let started = Instant::now();
    let (search, ()) = tokio::join!(search, frozen);

    // The limit is `max_seconds` plus slack, not the longest search allowed.
    assert!(started.elapsed() < Duration::from_secs(1 + 3) + TRANSFER_TOLERANCE, "{:?}", started.elapsed());
    assert_eq!(search.status, 504, "{search:?}");
    assert_eq!(search.faults(), [(String::new(), "deadline_passed".to_owned())]);
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_are_half_open_are_replaced() {
    let stage = FrozenDatabaseFixture::set().await;
    stage.wait_until_listed().await;

    stage.proxy.lose_connections();

    stage.wait_until_listed().await;
}
