//! The location of the conformance vectors, and their loading.

#![allow(dead_code, reason = "each test binary uses its part")]

use std::io::Read;
use std::path::PathBuf;

/// Reads the lines of a gzipped vector file; `None` (with a message) if the vectors are not on this machine.
///
/// `RETORT_SHARED` names the folder that has `data/chem`; without it, `shared` beside the repository is tried.
pub fn vectors(file: &str) -> Option<Vec<String>> {
    let folder = match std::env::var_os("RETORT_SHARED") {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
    };
    let path = folder.join("data/chem").join(file);
    let Ok(bytes) = std::fs::read(&path) else {
        println!("skipped: no {} (set RETORT_SHARED to the folder that has data/chem)", path.display());
        return None;
    };
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap();
    Some(text.lines().map(str::to_owned).collect())
}

/// Returns all cases in the ignored, complete run; otherwise every `step`-th case.
pub fn every<T>(cases: Vec<T>, step: usize) -> Vec<T> {
    let complete = std::env::var_os("RETORT_COMPLETE").is_some();
    cases.into_iter().step_by(if complete { 1 } else { step }).collect()
}

/// Fails with the first ten cases if there are any.
pub fn expect_none(what: &str, of: usize, wrong: &[String]) {
    println!("{what}: {} of {of} agree", of - wrong.len());
    let shown: Vec<_> = wrong.iter().take(10).collect();
    assert!(wrong.is_empty(), "{} of {of} {what} differ from RDKit:\n{shown:#?}", wrong.len());
}
