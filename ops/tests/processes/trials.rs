//! Short form of the trials of `./ops/bench trials`: effects on callers when the service is flooded, its database is
//! unreachable or one of its processes is dead. Counts are asserted, latencies are only reported.

use std::process::{Child, Command, Stdio};

use crate::process::{binaries, root};

/// Trials that end in counts. The trials of a row run one after the other, and rows run concurrently: a flood needs
/// the machine for itself, but trials of an unreachable database mostly wait. The others run in `./ops/bench` only:
/// filling a large reservoir, and minutes without a database, of which `outage` has a short form.
const FLOODS: [&[&str]; 1] = [&["overload", "flood-searches", "flood-samples"]];
const OUTAGES: [&[&str]; 2] = [&["dead-api", "frozen"], &["stopped", "unreachable", "faults"]];

#[test]
fn no_account_is_refused_within_its_share_or_answered_without_a_search() {
    must_meet_their_goals(&FLOODS);
}

#[test]
fn nobody_is_late_or_without_an_answer_for_a_process_or_a_database_that_is_away() {
    must_meet_their_goals(&OUTAGES);
}

/// Runs the first trial of each row, and all of them if `RETORT_COMPLETE` is set: nothing else runs beside them.
fn must_meet_their_goals(rows: &[&[&str]]) {
    let rows: Vec<&[&str]> = match std::env::var_os("RETORT_COMPLETE") {
        Some(_) => rows.to_vec(),
        None => rows.iter().map(|names| &names[..1]).collect(),
    };
    let mut version = Command::new("python3");
    version.args(["-c", "import sys, multiprocessing; sys.exit(sys.version_info < (3, 11))"]);
    if !version.stderr(Stdio::null()).status().is_ok_and(|status| status.success()) {
        println!("skipped: no python3 of 3.11 or later to run ops/load/trials.py");
        return;
    }
    let records = tempfile::tempdir().unwrap();
    let begin = |(number, names): (usize, &&[&str])| {
        let mut trials = Command::new("python3");
        trials.current_dir(root()).arg("ops/load/trials.py").args(["--short", "--check"]).args(*names);
        trials
            .arg("--binaries")
            .arg(binaries())
            .arg("--out")
            .arg(records.path().join(format!("{number}.jsonl")));
        trials.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let begun: Vec<Child> = rows.iter().enumerate().map(begin).collect();

    let ended: Vec<_> = begun.into_iter().map(|child| child.wait_with_output().unwrap()).collect();

    for (output, names) in ended.iter().zip(&rows) {
        let printed = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
        println!("{}", printed[0]);
        assert!(
            output.status.success(),
            "{names:?} ended with {}:\n{}{}",
            output.status,
            printed[0],
            printed[1]
        );
    }
}
