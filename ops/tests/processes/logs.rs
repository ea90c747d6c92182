//! `ops/rotate`, which keeps log files small while processes write to them.

use std::{
    fs::{self, File},
    io::Write as _,
    process::{Command, Stdio},
};

use test_support::eventually;

use crate::process::{Process, root};

#[tokio::test]
async fn a_log_that_grows_is_put_aside_while_it_is_written_to_and_nothing_of_it_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("retort.log");
    let older = |number: u32| folder.path().join(format!("retort.log.{number}"));
    let mut writer = File::options().create(true).append(true).open(&log).unwrap();
    let mut command = Command::new(root().join("ops/rotate"));
    command.args(["--every", "0.05"]).arg(&log).env("LOG_MB", "1").stdin(Stdio::null());
    let mut rotate = Process::start("rotate", command, folder.path().join("rotate.log"));

    // Seven times more than a megabyte, so the oldest file is deleted.
    let part = |number: u32| format!("part {number} {}\n", "x".repeat(80)).repeat(13_000);
    for number in 0..7 {
        writer.write_all(part(number).as_bytes()).unwrap();
        eventually("the log is put aside", async || {
            rotate.assert_running();
            (fs::metadata(&log).unwrap().len() == 0).then_some(())
        })
        .await;
    }
    writer.write_all(b"the end\n").unwrap();
    rotate.terminate();

    assert!(rotate.wait().success());
    assert_eq!(fs::read_to_string(&log).unwrap(), "the end\n");
    for number in 1..=5 {
        assert!(fs::read_to_string(older(number)).unwrap() == part(7 - number), "{number}");
    }
    assert!(!older(6).exists());
}

#[test]
fn a_size_that_is_none_ends_it_as_settings_that_cannot_be_used_do() {
    let mut command = Command::new(root().join("ops/rotate"));

    let ended = command.arg("retort.log").env("LOG_MB", "many").output().unwrap();

    assert_eq!(ended.status.code(), Some(2));
}
