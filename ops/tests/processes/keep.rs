//! `ops/keep`, which restarts processes that end, and the private PostgreSQL under it.

use std::process::{Command, Stdio};

use sqlx::{Connection as _, PgConnection};
use test_support::eventually;

use crate::{
    postgres::Server,
    process::{Process, root, signal},
};

/// Builds an `ops/keep` command with these arguments.
pub fn keep(arguments: &[&str]) -> Command {
    let mut command = Command::new(root().join("ops/keep"));
    command.args(arguments).current_dir(root()).stdin(Stdio::null());
    command
}

fn kept(folder: &tempfile::TempDir, arguments: &[&str]) -> Process {
    Process::start("keep", keep(arguments), folder.path().join("keep.log"))
}

#[test]
fn a_process_with_wrong_settings_is_not_restarted() {
    for code in [2, 78] {
        let folder = tempfile::tempdir().unwrap();

        let mut process = kept(&folder, &["sh", "-c", &format!("exit {code}")]);

        assert_eq!(process.wait().code(), Some(code), "{}", process.log());
        assert!(process.log().contains("its settings cannot be used"), "{}", process.log());
    }
}

#[tokio::test]
async fn a_stop_between_two_starts_ends_it() {
    let folder = tempfile::tempdir().unwrap();
    let begun = folder.path().join("begun");
    let script = format!("echo begun >> {}; exit 1", begun.display());
    let mut process = kept(&folder, &["sh", "-c", &script]);
    eventually("it waits", async || process.log().contains("starting it again in 4 s").then_some(())).await;

    process.terminate();

    assert!(process.wait().success());
    assert_eq!(std::fs::read_to_string(begun).unwrap().lines().count(), 3);
}

#[tokio::test]
async fn a_private_postgresql_that_is_killed_is_restarted_and_ends_when_stopped() {
    let Some(server) = Server::start_new() else {
        println!("skipped: initdb and pg_ctl are not installed");
        return;
    };
    server.stop();
    let folder = tempfile::tempdir().unwrap();
    let mut process = keep_postgres(&server, &folder);
    let url = format!("postgres://postgres@127.0.0.1:{}/postgres", server.port());
    let connect = async || PgConnection::connect(&url).await.ok();
    let mut connection = eventually("the server answers", connect).await;
    sqlx::query("create table kept (at int)").execute(&mut connection).await.unwrap();
    let first = server.id().unwrap();

    signal("KILL", first);
    let mut connection = eventually("another server answers", async || {
        let connection = connect().await?;
        (server.id() != Some(first)).then_some(connection)
    })
    .await;
    let rows: i64 = sqlx::query_scalar("select count(*) from kept").fetch_one(&mut connection).await.unwrap();

    assert_eq!(rows, 0);
    // The connection is still open, and a graceful shutdown would wait for it.
    process.terminate();
    assert!(process.wait().success());
    assert_eq!(server.id(), None);
}

/// Runs a cluster's server as `./ops/up` does.
pub fn keep_postgres(server: &Server, folder: &tempfile::TempDir) -> Process {
    let (data, port) = (server.data().display().to_string(), server.port().to_string());
    let script = root().join("ops/postgres").display().to_string();
    let command = keep(&["--stop-signal", "INT", &script, &data, &port]);
    Process::start("PostgreSQL", command, folder.path().join("postgres.log"))
}
