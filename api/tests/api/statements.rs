//! SQL metadata of the compiler (the folder `.sqlx`), compared with PostgreSQL after today's migrations.

use repository::{files, text};
use serde_json::Value;
use sqlx::{AssertSqlSafe, Executor as _, Row as _, SqlSafeStr as _};

use crate::support::Service;

/// Advice when a test here fails.
const RENEW_HINT: &str = "run ./ops/prepare and commit .sqlx";

/// Tables that may be scanned in full. They have one row, or a row for each thing that an operator made or that runs
/// now. Rate-limit rows are deleted every minute.
const FULL_SCAN_TABLES: [&str; 13] = [
    "accounts",
    "applications",
    // The queue's table, with a row for each waiting or claimed job: a sweep each minute asks who holds some.
    "apalis.jobs",
    "catalogue_version",
    "live_callers",
    "live_workers",
    "paused_queues",
    "rate_limits",
    "reservoir_models",
    "script_token_mark",
    "signing_keys",
    "sweep_clock",
    "vendors",
];

/// Statements that may scan the whole catalogue, by a text unique to each: the end of an import, a snapshot, an
/// operator's view of it.
const CATALOGUE_SCAN_STATEMENTS: [&str; 4] = [
    "update catalogue_version set version",
    "lead_time_days_to_us, lead_time_days_to_ca",
    "select id, smiles, mw, morgan_bits from building_blocks",
    "as \"priced!\"",
];

/// File of `.sqlx`.
struct SqlxFile {
    file: String,
    statement: String,
    described: Value,
}

fn stored() -> Vec<SqlxFile> {
    let stored = files(".sqlx").into_iter().map(|file| {
        let data: Value = serde_json::from_str(&text(&file)).unwrap();
        let statement = data["query"].as_str().unwrap().to_owned();
        SqlxFile { file, statement, described: data["describe"].clone() }
    });
    stored.collect()
}

/// Returns the text of all sources, normalised by `words`.
fn sources() -> String {
    let sources = ["api", "ops", "worker"].into_iter().flat_map(files);
    sources.filter(|file| file.ends_with(".rs")).map(|file| words(&text(&file))).collect()
}

/// Removes white space and backslashes, so that a statement has the same form in every kind of string.
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
    for SqlxFile { file, statement, described } in stored {
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

    assert!(faults.is_empty(), "{RENEW_HINT}:\n{}", faults.join("\n\n"));
}

/// Returns the tables that a query plan of PostgreSQL scans in full.
fn fully_scanned_tables(plan: &Value) -> Vec<String> {
    let word = |name: &str| plan[name].as_str().unwrap_or_default();
    let own = (plan["Node Type"] == "Seq Scan").then(|| match (word("Schema"), word("Relation Name")) {
        ("public", table) => table.to_owned(),
        (schema, table) => format!("{schema}.{table}"),
    });
    let below = plan["Plans"].as_array().into_iter().flatten().flat_map(fully_scanned_tables);
    own.into_iter().chain(below).collect()
}

/// With 10⁸ samples a full scan takes minutes. The query plans for empty tables do not show which index could serve,
/// unless full scans are made more expensive than anything else.
#[tokio::test]
async fn no_statement_reads_a_table_that_grows_from_end_to_end() {
    let service = Service::start_without_workers(&[]).await;
    let mut connection = service.pool.acquire().await.unwrap();
    let settings = "set enable_seqscan = off; set plan_cache_mode = force_generic_plan";
    connection.execute(settings).await.unwrap();

    let (mut faults, mut checked) = (Vec::new(), 0);
    for SqlxFile { file, statement, described } in stored() {
        let words = statement.trim_start();
        if !["select", "insert", "update", "delete", "with"].iter().any(|word| words.starts_with(word)) {
            continue;
        }
        let nulls = described["parameters"]["Left"].as_array().map_or(0, Vec::len);
        let given = if nulls == 0 { String::new() } else { format!("({})", vec!["null"; nulls].join(", ")) };
        let prepare = AssertSqlSafe(format!("prepare asked as {statement}"));
        connection.execute(sqlx::raw_sql(prepare)).await.unwrap_or_else(|error| panic!("{file}: {error}"));
        let explain = AssertSqlSafe(format!("explain (format json, verbose) execute asked{given}"));
        let row = connection.fetch_one(sqlx::raw_sql(explain)).await.unwrap();
        connection.execute("deallocate asked").await.unwrap();
        let plans: Value = row.get(0);
        checked += 1;
        for table in fully_scanned_tables(&plans[0]["Plan"]) {
            let is_known = table.starts_with("pg_catalog.")
                || FULL_SCAN_TABLES.contains(&table.as_str())
                || CATALOGUE_SCAN_STATEMENTS.iter().any(|part| statement.contains(part));
            if !is_known {
                faults.push(format!("{table} is read whole by\n{statement}"));
            }
        }
    }

    assert!(checked > 250, "{checked} statements were looked at");
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}

#[test]
fn nothing_is_kept_of_statements_that_are_gone() {
    let sources = sources();

    let gone: Vec<_> = stored()
        .into_iter()
        .filter(|stored| !sources.contains(&words(&stored.statement)))
        .map(|stored| format!("{}: {}", stored.file, stored.statement))
        .collect();

    assert!(gone.is_empty(), "{RENEW_HINT}:\n{}", gone.join("\n\n"));
}
