//! Releases side by side, the database's roles, and migrations during work.

use std::path::PathBuf;

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection};
use test_support::eventually;

use crate::{
    client::ApiClient,
    installation::{Installation, Role, long_search},
    process::{Process, binaries, output, root},
};

const SEARCH: &str = "/synth/v1/treesearch";
const SAMPLES: &str = "/generator/v1/samples";
const PLANS: &str = "/synth-batches/v1/plans";
const BATCHES: &str = "/synth-batches/v1/batches";
const BULK_QUERY: &str = "/synth/v1/building-blocks";

fn short_search() -> Value {
    json!({ "search_smiles": "CCO", "max_depth": 1, "max_seconds": 1 })
}

/// Possible changes of a later release: columns that this one does not know.
const LATER_SCHEMA: &str = "
    alter table jobs add column later text;
    alter table samples add column later text;
    alter table live_workers add column later text not null default '';
    alter table accounts add column later text;
    insert into _sqlx_migrations (version, description, success, checksum, execution_time)
    values (9999, 'later', true, '\\x00', 0)";

#[tokio::test(flavor = "multi_thread")]
async fn processes_start_again_beside_the_schema_of_a_later_release() {
    let mut installation = Installation::new().await;
    installation.connection().await.execute(LATER_SCHEMA).await.unwrap();

    installation.start_all().await;
    let caller = installation.account("owner");
    let sample = caller.create(SAMPLES, &json!({ "size": 3 })).await;
    caller.create(SEARCH, &short_search()).await;
    installation.migrate();

    assert_eq!(sample["smiles"].as_array().unwrap().len(), 3);
    assert_eq!(caller.get("/readyz").await.status(), StatusCode::OK);
}

/// Returns the folder of the previous release's binaries.
fn previous_release() -> Option<PathBuf> {
    let folder = std::env::var_os("RELEASED_BINARIES").map(PathBuf::from);
    if folder.is_none() {
        println!("skipped: RELEASED_BINARIES names no folder with the binaries of a release");
    }
    folder
}

#[tokio::test(flavor = "multi_thread")]
async fn the_release_before_works_with_todays_schema() {
    let Some(folder) = previous_release() else { return };
    let mut installation = Installation::new().await;
    installation.set_binaries(folder);

    installation.start_all().await;
    let caller = installation.account("owner");
    let sample = caller.create(SAMPLES, &json!({ "size": 3 })).await;
    caller.create(SEARCH, &short_search()).await;

    assert_eq!(sample["smiles"].as_array().unwrap().len(), 3);
    installation.assert_running();
}

#[tokio::test(flavor = "multi_thread")]
async fn releases_work_side_by_side_through_a_migration() {
    let Some(folder) = previous_release() else { return };
    let mut installation = Installation::unmigrated().await;
    installation.set_binaries(folder);
    installation.migrate();
    installation.start_all().await;
    let caller = installation.account("owner");
    let call = async |caller: &ApiClient| {
        let sample = caller.create(SAMPLES, &json!({ "size": 3 })).await;
        assert_eq!(sample["smiles"].as_array().unwrap().len(), 3);
        let found = caller.create(SEARCH, &short_search()).await;
        assert_eq!(found["search_smiles"], "CCO");
    };
    call(&caller).await;

    installation.set_binaries(binaries());
    installation.migrate();
    // The old processes run on the new schema.
    call(&caller).await;
    // The new workers process jobs that the old API stores.
    installation.end_workers();
    installation.start_worker(Role::Sample, &[]).await;
    installation.start_worker(Role::Search, &[]).await;
    call(&caller).await;
    // The new API's jobs are processed by old workers.
    installation.end_workers();
    installation.set_binaries(previous_release().unwrap());
    installation.start_worker(Role::Sample, &[]).await;
    installation.start_worker(Role::Search, &[]).await;
    installation.api().kill();
    installation.set_binaries(binaries());
    installation.start_api().await;
    let caller = installation.logged_in("owner");
    call(&caller).await;
    // Jobs that old workers do not know wait for a new worker, or are refused at once.
    let (planned, sized) = (json!({ "parameters": plan_parameters() }), json!({ "size": 3 }));
    let plan = create(&caller, PLANS, &[], &planned, StatusCode::CREATED).await;
    let asynchronous = [("prefer", "respond-async")];
    let async_sample = create(&caller, SAMPLES, &asynchronous, &sized, StatusCode::ACCEPTED).await;
    let response = caller.post(BULK_QUERY, &json!({ "smiles": ["CCO"] })).await;
    let is_refused = response.status() == StatusCode::SERVICE_UNAVAILABLE
        && response.headers().contains_key("retry-after");
    assert!(is_refused || response.status() == StatusCode::OK, "{response:?}");

    installation.assert_running();
    // The new workers process them.
    installation.start_worker(Role::Sample, &[]).await;
    installation.start_worker(Role::Search, &[]).await;
    for path in [format!("{PLANS}/{plan}"), format!("{SAMPLES}/{async_sample}")] {
        eventually(&format!("{path} is completed"), async || {
            let found = caller.read(&path).await;
            (found["status"] == "completed").then_some(())
        })
        .await;
    }
    let response = caller.create(BULK_QUERY, &json!({ "smiles": ["CCO"] })).await;
    assert_eq!(response["items"][0]["smiles"], "CCO");

    installation.assert_running();
}

/// Number of plans in the batch, each of which takes seconds: starting the processes below takes as long as several
/// plans.
const PLAN_COUNT: u64 = 40;

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_is_made_by_releases_that_follow_each_other_forwards_and_back() {
    let Some(before) = previous_release() else { return };
    let mut installation = Installation::unmigrated().await;
    installation.set_binaries(before.clone());
    installation.migrate();
    installation.start_worker(Role::Search, &[]).await;
    installation.start_api().await;
    let caller = installation.account("owner");
    let mut parameters = long_search(3);
    let target = parameters.as_object_mut().unwrap().remove("search_smiles").unwrap();
    parameters["engine"] = json!("uspto_retro");
    let smiles: Vec<_> = (0..PLAN_COUNT as usize)
        .map(|length| format!("{}{}", "C".repeat(length), target.as_str().unwrap()))
        .collect();
    let body = json!({ "smiles": smiles, "parameters": parameters });
    let batch = format!("{BATCHES}/{}", create(&caller, BATCHES, &[], &body, StatusCode::OK).await);
    // An access token has the scopes that existed when it was issued.
    let completed = async |installation: &Installation| {
        let progress = installation.logged_in("owner").read(&batch).await["progress"].clone();
        progress["completed"].as_u64().unwrap()
    };
    let goes_on = async |installation: &Installation, stage: &str| {
        let had = completed(installation).await;
        assert!(had < PLAN_COUNT, "{stage}: there is nothing left to be made");
        eventually(stage, async || (completed(installation).await > had).then_some(())).await;
    };

    goes_on(&installation, "the release before").await;
    installation.set_binaries(binaries());
    installation.migrate();
    goes_on(&installation, "the release before, on today's schema").await;
    for (workers, api, stage) in [
        (binaries(), before.clone(), "today's workers, the API of before"),
        (binaries(), binaries(), "today's"),
        (before.clone(), binaries(), "the workers of before, today's API"),
        (before.clone(), before, "the release before, rolled back to"),
        (binaries(), binaries(), "today's once more"),
    ] {
        installation.end_workers();
        installation.set_binaries(workers);
        installation.start_worker(Role::Search, &[]).await;
        installation.api().kill();
        installation.set_binaries(api);
        installation.start_api().await;
        goes_on(&installation, stage).await;
    }

    eventually("all are made", async || (completed(&installation).await == PLAN_COUNT).then_some(())).await;
    let counted = "select count(*) from plans where status = 'completed' and result is not null";
    let counted: i64 =
        sqlx::query_scalar(counted).fetch_one(&mut installation.connection().await).await.unwrap();
    assert_eq!(counted.unsigned_abs(), PLAN_COUNT);
    installation.assert_running();
}

fn plan_parameters() -> Value {
    json!({ "search_smiles": "CCO", "max_depth": 1, "max_seconds": 1, "engine": "uspto_retro" })
}

/// Posts a request that creates a resource and must answer `status`; returns the resource's id.
async fn create(
    caller: &ApiClient,
    path: &str,
    headers: &[(&'static str, &str)],
    body: &Value,
    status: StatusCode,
) -> String {
    let request = headers
        .iter()
        .fold(caller.request(Method::POST, path), |request, (name, value)| request.header(*name, *value));
    let answer = request.json(body).send().await.unwrap();
    let (answered, created) = (answer.status(), answer.text().await.unwrap());
    assert_eq!(answered, status, "{created}");
    serde_json::from_str::<Value>(&created).unwrap()["id"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_migration_that_waits_for_a_lock_lets_others_through() {
    let installation = Installation::new().await;
    let mut reader = installation.connection().await;
    // Applying this migration again changes nothing, but needs an exclusive lock on the table.
    reader.execute("delete from _sqlx_migrations where version = 14").await.unwrap();
    reader.execute("begin; select count(*) from samples").await.unwrap();

    let mut command = installation.command("retort-api");
    command.arg("migrate");
    let folder = tempfile::tempdir().unwrap();
    let mut migration = Process::start("migrate", command, folder.path().join("migrate.log"));
    eventually("the migration lets go", async || {
        migration.assert_running();
        migration.log().contains("others hold what has to be locked").then_some(())
    })
    .await;
    let other: i64 = sqlx::query_scalar("select count(*) from samples")
        .fetch_one(&mut installation.connection().await)
        .await
        .unwrap();
    reader.execute("commit").await.unwrap();

    assert_eq!(other, 0);
    assert!(migration.wait().success(), "{}", migration.log());
    let applied: bool = sqlx::query_scalar("select success from _sqlx_migrations where version = 14")
        .fetch_one(&mut reader)
        .await
        .unwrap();
    assert!(applied);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_service_needs_no_right_to_change_the_schema() {
    let Some(mut installation) = Installation::unmigrated_with_own_postgres() else { return };
    let server = installation.postgres();
    for role in ["retort_owner", "retort_service"] {
        server.require_password_for(role);
    }
    server.stop();
    server.start();
    let port = server.port().to_string();
    // Runs twice, because the script must also accept a database that has the roles.
    for _ in 0..2 {
        let mut psql = server.program("psql");
        psql.args(["-q", "-h", "127.0.0.1", "-p", &port, "-U", "postgres", "-d", "postgres"])
            .args(["-v", "owner_password=of the owner", "-v", "service_password=of the service", "-f", "-"])
            .stdin(std::fs::File::open(root().join("ops/roles.sql")).unwrap());
        output(psql);
    }
    let url = |role: &str, password: &str| {
        format!("postgres://{role}:{}@127.0.0.1:{port}/postgres", password.replace(' ', "%20"))
    };
    let service = url("retort_service", "of the service");
    installation.set("DATABASE_URL", &service);
    installation.set("MIGRATION_DATABASE_URL", &url("retort_owner", "of the owner"));

    installation.migrate();
    installation.start_all().await;
    let caller = installation.account("owner");
    let sample = caller.create(SAMPLES, &json!({ "size": 3 })).await;
    caller.create(SEARCH, &short_search()).await;
    let path = format!("{SAMPLES}/{}", sample["id"].as_str().unwrap());
    assert_eq!(caller.read(&path).await, sample);

    let mut connection = PgConnection::connect(&service).await.unwrap();
    for statement in [
        "create table mine (id int)",
        "create table apalis.mine (id int)",
        "create schema mine",
        "alter table samples add column mine text",
        "drop trigger job_finished on jobs",
        "create or replace function apalis.get_jobs(text, text, integer) returns setof apalis.jobs language sql as ''",
        "truncate journal",
    ] {
        let refused = connection.execute(AssertSqlSafe(statement)).await.unwrap_err();
        let code = refused.as_database_error().unwrap().code().unwrap().into_owned();
        assert_eq!(code, "42501", "{statement}");
    }
    installation.set("DATABASE_URL", &url("retort_service", "a guess"));
    assert_eq!(installation.begin_worker(Role::Search).wait().code(), Some(78));
    // The next API uses the same port.
    installation.api().kill();
    assert_eq!(installation.begin_api().wait().code(), Some(78));
}
