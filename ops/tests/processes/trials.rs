//! The trials of `./ops/bench trials` in their short form: what callers notice when the service is flooded, its database away, a
//! process of it dead. Counts are judged here, latencies only told.

use std::process::{Command, Stdio};

use crate::process::{binaries, output, root};

/// Those that end in counts. What is left is for `./ops/bench`: filling a large reservoir, and minutes without a database,
/// which `outage` has in short.
const TRIALS: [&str; 8] =
    ["flood-searches", "flood-samples", "overload", "dead-api", "frozen", "stopped", "unreachable", "faults"];

#[test]
fn nobody_is_refused_while_his_share_is_free_nor_answered_without_a_search_nor_late() {
    let mut version = Command::new("python3");
    version.args(["-c", "import sys, multiprocessing; sys.exit(sys.version_info < (3, 11))"]);
    if !version.stderr(Stdio::null()).status().is_ok_and(|status| status.success()) {
        println!("skipped: no python3 of 3.11 or later to run ops/load/trials.py");
        return;
    }
    let records = tempfile::tempdir().unwrap();
    let mut trials = Command::new("python3");
    trials.current_dir(root()).arg("ops/load/trials.py").args(["--short", "--check"]).args(TRIALS);
    trials.arg("--binaries").arg(binaries()).arg("--out").arg(records.path().join("trials.jsonl"));

    println!("{}", output(trials));
}
