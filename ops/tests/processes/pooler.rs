//! An installation behind PgBouncer in transaction mode, with the settings of `ops/pgbouncer.ini`.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use reqwest::{Method, StatusCode};
use serde_json::json;
use sqlx::{Connection as _, PgConnection, postgres::PgConnectOptions};
use test_support::{EventReader, eventually, free_port};
use tokio::task::JoinSet;

use crate::{
    installation::{Installation, Role, long_search},
    postgres::is_root,
    process::{Process, root},
};

const SEARCH: &str = "/synth/v1/treesearch";
const SAMPLES: &str = "/generator/v1/samples";

/// First version of PgBouncer that keeps prepared statements apart in transaction mode.
const MIN_VERSION: (u32, u32) = (1, 21);

/// A PgBouncer in front of the server of TEST_DATABASE_URL.
struct Pooler {
    folder: PathBuf,
    port: u16,
}

impl Pooler {
    /// Prepares the settings; `None` if no PgBouncer is installed or it is too old.
    fn in_front_of(url: &str, folder: &Path) -> Option<Self> {
        let version = Command::new("pgbouncer").arg("--version").output();
        let version =
            version.map(|found| String::from_utf8_lossy(&found.stdout).into_owned()).unwrap_or_default();
        let first = version.lines().next().unwrap_or_default().trim_start_matches("PgBouncer ");
        let mut parts = first.split('.').filter_map(|part| part.parse().ok());
        if (parts.next().unwrap_or(0), parts.next().unwrap_or(0)) < MIN_VERSION {
            println!("skipped: PgBouncer {}.{} or newer is not installed", MIN_VERSION.0, MIN_VERSION.1);
            return None;
        }
        let options: PgConnectOptions = url.parse().unwrap();
        let (port, user) = (free_port(), options.get_username());
        let folder = folder.join("pgbouncer");
        fs::create_dir(&folder).unwrap();
        for (folder, mode) in [(folder.parent().unwrap(), 0o755), (&folder, 0o777)] {
            fs::set_permissions(folder, fs::Permissions::from_mode(mode)).unwrap();
        }
        // The documented settings, with other addresses and a server that needs no password.
        let settings = fs::read_to_string(root().join("ops/pgbouncer.ini")).unwrap();
        let server = format!("* = host={} port={}", options.get_host(), options.get_port());
        let settings = settings
            .replace("retort = host=127.0.0.1 port=5432 dbname=retort", &server)
            .replace("6432", &port.to_string())
            .replace("scram-sha-256", "trust")
            // Fewer connections than the processes use.
            .replace("default_pool_size = 20", "default_pool_size = 4")
            .replace("/etc/pgbouncer/userlist.txt", &folder.join("users").display().to_string());
        fs::write(folder.join("pgbouncer.ini"), format!("{settings}unix_socket_dir =\n")).unwrap();
        fs::write(folder.join("users"), format!("\"{user}\" \"\"\n")).unwrap();
        Some(Self { folder, port })
    }

    /// Returns the pooler's address for the database at `url`.
    fn url(&self, url: &str) -> String {
        let options: PgConnectOptions = url.parse().unwrap();
        let (user, database) = (options.get_username(), options.get_database().unwrap());
        format!("postgres://{user}@127.0.0.1:{}/{database}", self.port)
    }

    fn start(&self) -> Process {
        let mut command = Command::new("pgbouncer");
        if is_root() {
            command.args(["-u", "postgres"]);
        }
        command.arg(self.folder.join("pgbouncer.ini"));
        Process::start("pgbouncer", command, self.folder.join("log"))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_installation_works_behind_pgbouncer_in_transaction_mode() {
    let mut installation = Installation::new().await;
    let direct = installation.url();
    let Some(pooler) = Pooler::in_front_of(&direct, installation.folder()) else { return };
    let mut bouncer = pooler.start();
    installation.set("DATABASE_URL", &pooler.url(&direct));
    installation.set("DATABASE_DIRECT_URL", &direct);
    installation.start_all().await;
    let caller = installation.account("owner");
    let search = json!({ "search_smiles": "CCO", "max_depth": 1, "max_seconds": 1 });

    let sample = caller.create(SAMPLES, &json!({ "size": 3 })).await;
    // More concurrent requests than the pooler has connections, so statements run on connections where other clients
    // prepared theirs.
    let mut several = JoinSet::new();
    for _ in 0..12 {
        let (caller, sample) = (caller.clone(), sample.clone());
        several.spawn(async move {
            let path = format!("{SAMPLES}/{}", sample["id"].as_str().unwrap());
            assert_eq!(caller.read(&path).await, sample);
            assert_eq!(caller.read(SAMPLES).await["data"].as_array().unwrap().len(), 1);
        });
    }
    several.join_all().await;
    caller.create(SEARCH, &search).await;
    // Its progress events arrive through the listener.
    let events = EventReader::of(caller.request(Method::POST, SEARCH).json(&search)).await.rest().await;
    assert_eq!(events.last().unwrap().1, "answer", "{events:?}");

    // Listeners bypass the pooler: the API listens for jobs and accounts, the sampler for samples, asynchronous
    // samples and likelihoods, the searcher for searches, plans, bulk queries and the catalogue.
    let mut connection = PgConnection::connect(&direct).await.unwrap();
    let listening: i64 = sqlx::query_scalar(
        "select count(*) from pg_stat_activity where datname = current_database() and query ilike 'listen%'",
    )
    .fetch_one(&mut connection)
    .await
    .unwrap();
    assert_eq!(listening, 9);
    let usage = queue::connection_usage(&mut connection).await.unwrap();
    // The sampler's listener for bulk queries opens with its first one.
    assert_eq!((usage.processes, usage.connections), (3, 10));

    let request = tokio::spawn({
        let caller = caller.clone();
        async move { caller.post(SEARCH, &long_search(110)).await }
    });
    let job = installation.running_job(Role::Search).await;
    request.abort();
    eventually("who hangs up cancels its job", async || {
        let cancelled: bool = sqlx::query_scalar("select cancelled_at is not null from jobs where id = $1")
            .bind(&job)
            .fetch_one(&mut connection)
            .await
            .unwrap();
        cancelled.then_some(())
    })
    .await;

    bouncer.kill();
    bouncer = pooler.start();
    for (path, body) in [(SAMPLES, json!({ "size": 3 })), (SEARCH, search)] {
        // Connections of the old pooler are found broken one by one.
        eventually("the installation works again", async || {
            let answer = caller.post(path, &body).await;
            (answer.status() == StatusCode::OK).then_some(())
        })
        .await;
    }
    installation.assert_running();
    bouncer.assert_running();
}

#[tokio::test(flavor = "multi_thread")]
async fn too_many_connections_are_warned_about() {
    let mut installation = Installation::new().await;
    installation.set("DATABASE_CONNECTIONS", "5000");
    installation.start_api().await;
    let log = installation.api().log();
    let mut doctor = installation.command("retort");
    doctor.args(["--api", &format!("http://{}", installation.address()), "doctor"]);
    let found = String::from_utf8(doctor.output().unwrap().stdout).unwrap();

    let output = "1 process may open 5000 connections, and PostgreSQL has room for ";
    assert_eq!(log.matches("connections may run out: ").count(), 1, "{log}");
    assert!(log.contains(output), "{log}");
    assert!(found.contains(&format!("FAULT  connections: {output}")), "{found}");

    // Behind a pooler, only the listeners' connections reach the server directly.
    installation.set("DATABASE_DIRECT_URL", &format!("{}?sslmode=disable", installation.url()));
    installation.api().kill();
    installation.start_api().await;
    eventually("nothing is short", async || {
        let mut connection = installation.connection().await;
        let usage = queue::connection_usage(&mut connection).await.unwrap();
        (usage.processes == 1 && usage.connections == 2 && usage.fits()).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_has_the_configured_number_of_threads() {
    let mut installation = Installation::new().await;
    installation.set("SAMPLER_MODELS", "druglike_gru");
    installation.set("RETORT_THREADS", "3");
    let sampler = installation.start_worker(Role::Sample, &[]).await;
    let searcher = installation.start_worker(Role::Search, &[]).await;
    installation.begin_api();
    let named = |id: u32, name: &str| {
        let tasks = fs::read_dir(format!("/proc/{id}/task")).unwrap();
        let names = tasks.filter_map(|task| fs::read_to_string(task.ok()?.path().join("comm")).ok());
        names.filter(|found| found.starts_with(name)).count()
    };

    assert_eq!(named(installation.worker(sampler).id(), "sampler-"), 3);
    // The search's own thread is the third.
    assert_eq!(named(installation.worker(searcher).id(), "search-helper-"), 2);
    let slots: i32 = sqlx::query_scalar("select slots from live_workers where queue = 'search'")
        .fetch_one(&mut installation.connection().await)
        .await
        .unwrap();
    assert_eq!(slots, 3);

    installation.set("RETORT_THREADS", "none");
    installation.api().kill();
    assert_eq!(installation.begin_api().wait().code(), Some(78));
    assert!(installation.api().log().contains("RETORT_THREADS is `none`"));
    let worker = installation.begin_worker(Role::Search);
    assert_eq!(worker.wait().code(), Some(2));
    assert!(
        worker.log().contains("RETORT_THREADS") || worker.log().contains("--threads"),
        "{}",
        worker.log()
    );
}
