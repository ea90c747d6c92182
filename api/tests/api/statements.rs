//! What the compiler believes of our SQL (the folder `.sqlx`) is what PostgreSQL says of it after the migrations of today.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;
use sqlx::{AssertSqlSafe, Executor as _, SqlSafeStr as _};

use crate::support::Service;

/// What to do when a test here fails.
const RENEW: &str = "run ./ops/prepare and commit .sqlx";

/// A file of `.sqlx`.
struct Stored {
    file: String,
    statement: String,
    described: Value,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn stored() -> Vec<Stored> {
    let files = fs::read_dir(root().join(".sqlx")).unwrap();
    files
        .map(|file| {
            let path = file.unwrap().path();
            let data: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
            Stored {
                file: path.file_name().unwrap().to_string_lossy().into_owned(),
                statement: data["query"].as_str().unwrap().to_owned(),
                described: data["describe"].clone(),
            }
        })
        .collect()
}

/// The text of every source, without what a string's lines may hold beside its words.
fn sources() -> String {
    let mut text = String::new();
    let mut folders: Vec<PathBuf> = ["api", "ops", "worker"].map(|folder| root().join(folder)).into();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                text.push_str(&words(&fs::read_to_string(&path).unwrap()));
            }
        }
    }
    text
}

/// `text` without white space and backslashes: a statement reads so in every kind of string.
fn words(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_whitespace() && *letter != '\\').collect()
}

#[tokio::test]
async fn every_statement_is_what_the_compiler_takes_it_for() {
    let service = Service::start_without_workers(&[]).await;
    let mut connection = service.pool.acquire().await.unwrap();
    let stored = stored();
    assert!(!stored.is_empty());

    let mut faults = Vec::new();
    for Stored { file, statement, described } in stored {
        let today = match connection.describe(AssertSqlSafe(statement.clone()).into_sql_str()).await {
            Ok(today) => serde_json::to_value(&today).unwrap(),
            Err(error) => {
                faults.push(format!("{file}: {error}\n{statement}"));
                continue;
            }
        };
        for part in ["columns", "parameters", "nullable"] {
            if today[part] != described[part] {
                let (is, was) = (&today[part], &described[part]);
                faults.push(format!("{file}: {part} are {is}, not {was}, in\n{statement}"));
            }
        }
    }

    assert!(faults.is_empty(), "{RENEW}:\n{}", faults.join("\n\n"));
}

#[test]
fn nothing_is_kept_of_statements_that_are_gone() {
    let sources = sources();

    let gone: Vec<_> = stored()
        .into_iter()
        .filter(|stored| !sources.contains(&words(&stored.statement)))
        .map(|stored| format!("{}: {}", stored.file, stored.statement))
        .collect();

    assert!(gone.is_empty(), "{RENEW}:\n{}", gone.join("\n\n"));
}
