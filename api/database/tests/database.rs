//! Tests on real connections to a real PostgreSQL, through a proxy that can freeze and cut them.

#![allow(clippy::unwrap_used, reason = "a test that cannot set up its stage has failed")]

use std::time::Duration;

use database::{ConnectionLimits, ListenerEvent};
use sqlx::PgPool;
use test_support::{Proxy, ProxyMode};
use tokio::sync::mpsc;

const TERMS: ConnectionLimits =
    ConnectionLimits { process: "a test", statement: Some(Duration::from_secs(60)), idle_transaction: None };

async fn proxy() -> Proxy {
    let url = std::env::var("TEST_DATABASE_URL")
        .expect("TEST_DATABASE_URL names no PostgreSQL server for tests; ./ops/test starts one");
    Proxy::start(&url).await
}

async fn pool(url: &str, connections: u32) -> PgPool {
    let options = database::options(url, TERMS).unwrap();
    database::pool("test", options, connections, Duration::from_secs(10)).await.unwrap()
}

async fn one(pool: &PgPool) -> Result<i32, sqlx::Error> {
    sqlx::query_scalar("select 1").fetch_one(pool).await
}

/// Returns the payload of a notification, or `None` for a new connection.
fn payload_of(event: ListenerEvent<'_>) -> Option<String> {
    match event {
        ListenerEvent::Connected => None,
        ListenerEvent::Notification { payload, .. } => Some(payload.to_owned()),
    }
}

#[tokio::test]
async fn a_listener_whose_connection_is_half_open_is_replaced() {
    let proxy = proxy().await;
    let (pool, direct) = (pool(&proxy.url, 1).await, proxy.url.clone());
    let (event, mut events) = mpsc::unbounded_channel();
    let _listener = database::listen_with_ping_interval(
        Duration::from_millis(100),
        &pool.clone().into(),
        &["half_open"],
        move |what| {
            event.send(payload_of(what)).unwrap();
        },
    );
    assert_eq!(events.recv().await, Some(None), "it connects");

    // No byte of its connection arrives any more, not even its close.
    proxy.lose_connections();
    assert_eq!(events.recv().await, Some(None), "it connects anew");

    let other = self::pool(&direct, 1).await;
    sqlx::query("select pg_notify('half_open', 'again')").execute(&other).await.unwrap();
    assert_eq!(events.recv().await, Some(Some("again".to_owned())));
}

#[tokio::test]
async fn a_listener_in_silence_keeps_its_connection_and_loses_nothing() {
    let proxy = proxy().await;
    let pool = pool(&proxy.url, 1).await;
    let (event, mut events) = mpsc::unbounded_channel();
    let _listener = database::listen_with_ping_interval(
        Duration::from_millis(100),
        &pool.clone().into(),
        &["silence"],
        move |what| {
            event.send(payload_of(what)).unwrap();
        },
    );
    assert_eq!(events.recv().await, Some(None));

    // Sent before, during and after a ping.
    for number in 0..30 {
        sqlx::query("select pg_notify('silence', $1)").bind(number.to_string()).execute(&pool).await.unwrap();
        tokio::time::sleep(Duration::from_millis(number % 4 * 55)).await;
    }

    for number in 0..30 {
        assert_eq!(events.recv().await, Some(Some(number.to_string())));
    }
}

#[tokio::test]
async fn queries_that_were_given_up_leave_the_pool_whole() {
    let proxy = proxy().await;
    let pool = pool(&proxy.url, 2).await;
    assert_eq!(one(&pool).await.unwrap(), 1);

    proxy.set(ProxyMode::Frozen);
    let given_up = futures::future::join_all(
        (0..6).map(|_| database::within::<_, sqlx::Error>(Duration::from_millis(200), one(&pool))),
    )
    .await;
    assert!(given_up.iter().all(Result::is_err));
    // Old connections never come back, and new ones work at once.
    proxy.lose_connections();
    proxy.set(ProxyMode::Open);

    let both = tokio::join!(one(&pool), one(&pool));
    assert_eq!((both.0.unwrap(), both.1.unwrap()), (1, 1));
}

#[tokio::test]
async fn a_query_that_was_given_up_is_not_answered_with_another_ones_rows() {
    let proxy = proxy().await;
    let pool = pool(&proxy.url, 1).await;

    let slow = sqlx::query_scalar::<_, i32>("select 2 from pg_sleep(0.3)").fetch_one(&pool);
    assert!(database::within::<_, sqlx::Error>(Duration::from_millis(50), slow).await.is_err());

    assert_eq!(one(&pool).await.unwrap(), 1);
}

#[tokio::test]
async fn the_server_ends_a_statement_that_takes_too_long() {
    let proxy = proxy().await;
    let terms = ConnectionLimits { statement: Some(Duration::from_millis(100)), ..TERMS };
    let options = database::options(&proxy.url, terms).unwrap();
    let pool = database::pool("test", options, 1, Duration::from_secs(10)).await.unwrap();

    let ended = sqlx::query("select pg_sleep(60)").execute(&pool).await.unwrap_err();

    // "query_canceled"
    assert_eq!(ended.as_database_error().unwrap().code().as_deref(), Some("57014"));
    let name: String =
        sqlx::query_scalar("select current_setting('application_name')").fetch_one(&pool).await.unwrap();
    assert_eq!(name, "a test");
}
