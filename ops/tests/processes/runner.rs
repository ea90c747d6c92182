//! `ops/run`, which runs the processes of a Procfile until one of them ends.

use std::{fs, process::Command};

use tempfile::TempDir;
use test_support::eventually;

use crate::process::{Process, root, signal};

/// Starts `ops/run` with a Procfile of these lines.
fn run(folder: &TempDir, lines: &str, arguments: &[&str]) -> Process {
    let procfile = folder.path().join("Procfile");
    fs::write(&procfile, lines).unwrap();
    let mut command = Command::new(root().join("ops/run"));
    command.arg(procfile).args(arguments).current_dir(folder.path());
    Process::start("runner", command, folder.path().join("run.log"))
}

#[tokio::test]
async fn every_process_has_its_port_and_its_name_before_each_line_and_all_end_with_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let lines = "api: echo $PORT; until [ -e stop ]; do sleep 0.05; done; printf 'the end'; exit 7\n\
                 unasked: echo $PORT\n\
                 worker: echo $PORT; echo fault >&2; exec sleep 600\n";
    let mut runner = run(&folder, lines, &["--formation", "api=1,worker=2", "--port", "9000"]);
    let begun = ["api.1 | 9000\n", "worker.1 | 9200\n", "worker.2 | 9201\n", "worker.2 | fault\n"];
    eventually("all have begun", async || begun.iter().all(|line| runner.log().contains(line)).then_some(()))
        .await;
    runner.assert_running();

    fs::write(folder.path().join("stop"), "").unwrap();

    assert_eq!(runner.wait().code(), Some(7));
    assert!(runner.log().contains("api.1 | the end"), "{}", runner.log());
    assert!(runner.log().contains("run | api.1 ended with code 7: ending all"), "{}", runner.log());
    assert!(!runner.log().contains("unasked"), "{}", runner.log());
}

#[tokio::test]
async fn a_stop_is_passed_on_and_late_processes_are_killed() {
    let folder = tempfile::tempdir().unwrap();
    let lines = "polite: trap 'echo goodbye; exit' TERM; echo ready; while true; do sleep 0.05; done\n\
                 deaf: trap '' TERM; echo $$; while true; do sleep 0.05; done\n";
    let mut runner = run(&folder, lines, &["--timeout", "1"]);
    let deaf = eventually("both have begun", async || {
        let log = runner.log();
        let number = log.split_once("deaf.1 | ")?.1.lines().next()?.parse::<u32>().ok()?;
        log.contains("polite.1 | ready").then_some(number)
    })
    .await;

    runner.terminate();

    assert!(runner.wait().success(), "{}", runner.log());
    assert!(runner.log().contains("polite.1 | goodbye"), "{}", runner.log());
    assert!(!fs::exists(format!("/proc/{deaf}")).unwrap(), "{}", runner.log());
}

#[tokio::test]
async fn a_process_that_is_frozen_ends_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut runner = run(&folder, "frozen: echo $$; exec sleep 600\n", &[]);
    let frozen = eventually("it has begun", async || {
        runner.log().split_once("frozen.1 | ")?.1.lines().next()?.parse::<u32>().ok()
    })
    .await;

    signal("STOP", frozen);
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;

    runner.assert_running();
    signal("CONT", frozen);
    runner.terminate();
    assert!(runner.wait().success());
}

#[test]
fn a_formation_that_names_no_process_is_refused() {
    let folder = tempfile::tempdir().unwrap();

    let mut runner = run(&folder, "api: exec sleep 600\n", &["--formation", "worker=1"]);

    assert_eq!(runner.wait().code(), Some(2));
}
