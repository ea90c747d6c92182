//! YAML as JSON, by Python's parser: no crate of ours needs one.

use std::{
    io::Write as _,
    process::{Command, Stdio},
};

use serde_json::Value;

const READER: &str =
    "import json, sys, yaml; json.dump(list(yaml.safe_load_all(sys.stdin)), sys.stdout, default=str)";

/// Parses the documents of `text`; `None` if no YAML parser is installed, which is reported among the skipped tests.
pub fn documents(text: &str) -> Option<Vec<Value>> {
    let mut reader = Command::new("python3");
    reader.args(["-c", READER]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut reader = reader.spawn().ok().or_else(missing)?;
    reader.stdin.take().expect("it is a pipe").write_all(text.as_bytes()).expect("Python reads");
    let read = reader.wait_with_output().expect("Python ends");
    let words = String::from_utf8_lossy(&read.stderr);
    if words.contains("ModuleNotFoundError") {
        return missing();
    }
    assert!(read.status.success(), "{words}");
    Some(serde_json::from_slice(&read.stdout).expect("it is JSON"))
}

fn missing<T>() -> Option<T> {
    println!("skipped: Python's yaml is not installed");
    None
}

/// Returns the texts of an array; empty if there is no array.
pub fn texts(value: &Value) -> Vec<&str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Returns the keys of an object.
pub fn names(value: &Value) -> Vec<&str> {
    value.as_object().into_iter().flat_map(|object| object.keys()).map(String::as_str).collect()
}
