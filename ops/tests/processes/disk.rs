//! Full disk: requests are refused, no answered result is lost, and the service recovers by itself once there is
//! space.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use reqwest::StatusCode;
use serde_json::{Value, json};
use sqlx::Executor as _;
use test_support::eventually;

use crate::{
    client::ApiClient,
    installation::{Installation, Role},
    keep::keep_postgres,
    process::output,
};

const SAMPLES: &str = "/generator/v1/samples";

/// Responses that callers received.
#[derive(Debug, Default)]
struct Responses {
    /// Samples that were answered with 200, by id.
    samples: Mutex<BTreeMap<String, Value>>,
    /// Number of responses of each other status.
    others: Mutex<BTreeMap<u16, usize>>,
    is_over: AtomicBool,
}

impl Responses {
    fn good(&self) -> usize {
        self.samples.lock().unwrap().len()
    }

    fn bad(&self) -> usize {
        self.others.lock().unwrap().values().sum()
    }

    /// Requests samples until the test is over.
    async fn request(self: Arc<Self>, caller: ApiClient) {
        while !self.is_over.load(Ordering::Relaxed) {
            let answer = caller.post(SAMPLES, &json!({ "size": 200 })).await;
            let status = answer.status();
            let body: Value = answer.json().await.expect("every answer is JSON");
            if status == StatusCode::OK {
                self.samples.lock().unwrap().insert(body["id"].as_str().unwrap().to_owned(), body);
            } else {
                // A full disk is not an internal error: a caller is asked to retry later, or its time is up.
                let expected = [StatusCode::SERVICE_UNAVAILABLE, StatusCode::GATEWAY_TIMEOUT];
                assert!(expected.contains(&status), "{status}: {body}");
                assert!(body["detail"].is_array(), "{status}: {body}");
                *self.others.lock().unwrap().entry(status.as_u16()).or_default() += 1;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_loses_nothing_that_was_answered_and_room_mends_all() {
    let Some(mut installation) = Installation::with_postgres_on_a_disk_of(250) else { return };
    installation.postgres().stop();
    let folder = tempfile::tempdir().unwrap();
    let mut postgres = keep_postgres(installation.postgres(), &folder);
    installation.set("RATE_SAMPLES_CREATE_PER_MINUTE", "0");
    installation.set("SAMPLE_DEADLINE_SECONDS", "5");
    installation.begin_api();
    installation.begin_worker(Role::Sample);
    installation.readiness(|body| body["missing"] == json!(["searcher"])).await;
    let caller = installation.account("owner");
    let seen = Arc::new(Responses::default());
    let callers: Vec<_> = (0..4).map(|_| tokio::spawn(seen.clone().request(caller.clone()))).collect();
    eventually("samples are answered", async || (seen.good() >= 10).then_some(())).await;

    // The tables cannot grow.
    installation.postgres().volume().fill_except(256);
    eventually("requests are refused", async || (seen.bad() >= 10).then_some(())).await;
    // The write-ahead log cannot grow either, and PostgreSQL stops without it.
    let first = installation.postgres().id();
    eventually("the server gives up", async || {
        let url = installation.url();
        let connection = <sqlx::PgConnection as sqlx::Connection>::connect(&url).await;
        if let Ok(mut connection) = connection {
            let _ = connection.execute("select pg_switch_wal()").await;
            let _ = connection.execute("create table more as select generate_series(1, 100000)").await;
        }
        let log = std::fs::read_to_string(folder.path().join("postgres.log")).unwrap_or_default();
        (log.contains("PANIC") || installation.postgres().id() != first).then_some(())
    })
    .await;
    let refused = seen.bad();
    eventually("requests are refused", async || (seen.bad() >= refused + 4).then_some(())).await;

    installation.postgres().volume().release_space();
    let (room, before) = (Instant::now(), seen.good());
    eventually("samples are answered again", async || (seen.good() >= before + 4).then_some(())).await;
    println!("answered again {:.1} s after there was room; {:?}", room.elapsed().as_secs_f64(), seen.others);
    seen.is_over.store(true, Ordering::Relaxed);
    for caller in callers {
        caller.await.unwrap();
    }

    installation.assert_running();
    postgres.assert_running();
    let samples = seen.samples.lock().unwrap().clone();
    for (id, sample) in &samples {
        assert_eq!(caller.read(&format!("{SAMPLES}/{id}")).await, *sample);
    }
    let port = installation.postgres().port().to_string();
    let mut check = installation.postgres().program("pg_amcheck");
    check.args(["-h", "127.0.0.1", "-p", &port, "-U", "postgres", "-d", "postgres"]);
    check.args(["--install-missing", "--heapallindexed", "--parent-check"]);
    assert_eq!(output(check), "");
}
