//! What the compiler believes of our SQL (the folder `.sqlx`) is what PostgreSQL says of it after the migrations of today.

use repository::{files, text};
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

fn stored() -> Vec<Stored> {
    let stored = files(".sqlx").into_iter().map(|file| {
        let data: Value = serde_json::from_str(&text(&file)).unwrap();
        let statement = data["query"].as_str().unwrap().to_owned();
        Stored { file, statement, described: data["describe"].clone() }
    });
    stored.collect()
}

/// The text of every source, without what a string's lines may hold beside its words.
fn sources() -> String {
    let sources = ["api", "ops", "worker"].into_iter().flat_map(files);
    sources.filter(|file| file.ends_with(".rs")).map(|file| words(&text(&file))).collect()
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
