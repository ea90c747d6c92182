//! `retort plan` and `retort batch` as users run them: files of targets, batches, the report, and the exit statuses
//! for scripts.

use std::{
    io::Write as _,
    process::{Command, Output, Stdio},
};

use serde_json::{Value, json};

use crate::{
    installation::{Installation, Role},
    searches::{CATALOGUE, TARGET},
};

/// Target without a route if common laboratory chemicals are excluded.
const UNSOLVABLE_TARGET: &str = "CC(=O)Oc1ccccc1C(=O)O";

async fn installation() -> Installation {
    let mut installation = Installation::new().await;
    installation.import_catalogue(CATALOGUE);
    installation.start_worker(Role::Search, &[]).await;
    installation.start_api().await;
    installation.account("owner");
    installation
}

/// Runs `retort` with these arguments and this standard input.
fn retort(installation: &Installation, arguments: &[&str], input: &str) -> Output {
    let mut command: Command = installation.retort_as("owner");
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Returns the rows of a table, keyed by column name.
fn rows(table: &[u8]) -> Vec<Value> {
    let mut reader = csv::Reader::from_reader(table);
    let names = reader.headers().unwrap().clone();
    let row = |row: csv::StringRecord| {
        let fields = names.iter().zip(&row).map(|(name, text)| (name.to_owned(), json!(text)));
        Value::Object(fields.collect())
    };
    reader.records().map(|record| row(record.unwrap())).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn targets_of_a_file_are_planned_and_failed_ones_reported() {
    let installation = installation().await;
    let file = format!("name,SMILES\nLidocaine,{TARGET}\nbroken,C1CC\nAspirin,{UNSOLVABLE_TARGET}\n");
    let plan = [
        "plan",
        "-i",
        "-",
        "--format",
        "csv",
        "--max-seconds",
        "2",
        "--never-vendor",
        "Common Lab Chemicals",
    ];

    let planned = retort(&installation, &plan, &file);
    let only_good = retort(&installation, &plan, &file.replace("broken,C1CC\n", ""));

    let found = rows(&planned.stdout);
    let column = |name: &str| found.iter().map(|row| row[name].as_str().unwrap()).collect::<Vec<_>>();
    assert_eq!((column("name"), column("solved")), (vec!["Lidocaine", "Aspirin"], vec!["true", "false"]));
    assert!(column("reactions")[0].ends_with(&format!(">>{TARGET}")), "{found:?}");
    let output = text(&planned.stderr);
    assert!(output.contains("left out: standard input, line 3: no target"), "{output}");
    assert!(output.contains("1 with a route, 1 without a route, 1 left out"), "{output}");
    assert_eq!((planned.status.code(), only_good.status.code()), (Some(7), Some(6)), "{output}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_is_planned_by_the_service_and_can_be_come_back_to() {
    let installation = installation().await;
    let folder = installation.folder();
    let (smiles, page) = (folder.join("targets.smi"), folder.join("routes.html"));
    std::fs::write(&smiles, format!("{TARGET} Lidocaine\nCCN(CC)CC(=O)OC ester of glycine\n")).unwrap();
    let files = ["-i", smiles.to_str().unwrap()];

    let made = retort(
        &installation,
        &[&["plan", "--batch", "--batch-name", "two", "--format", "json", "--max-seconds", "3"], &files[..]]
            .concat(),
        "",
    );
    let output = text(&made.stderr);
    let batch =
        output.split_whitespace().find(|word| word.starts_with("bat_")).unwrap_or_else(|| panic!("{output}"));
    let again = retort(
        &installation,
        &[&["plan", "--resume", batch, "--out", page.to_str().unwrap()], &files[..]].concat(),
        "",
    );
    let without_file = retort(&installation, &["plan", "--resume", batch, "--format", "json"], "");
    let listed = retort(&installation, &["batch", "list"], "");
    let shown = retort(&installation, &["batch", "show", batch], "");
    let deleted = retort(&installation, &["batch", "delete", batch], "");
    let gone = retort(&installation, &["plan", "--resume", batch], "");

    let planned: Value = serde_json::from_slice(&made.stdout).unwrap();
    let resumed: Value = serde_json::from_slice(&without_file.stdout).unwrap();
    for planned in [&planned, &resumed] {
        let names: Vec<&Value> = planned.as_array().unwrap().iter().map(|one| &one["name"]).collect();
        assert_eq!(names, [&json!("Lidocaine"), &json!("ester of glycine")], "{output}");
    }
    assert_eq!(planned[0]["asked"]["max_seconds"], 3.0);
    assert_eq!(planned[0]["answer"]["search_smiles"], TARGET);
    assert!(!planned[0]["answer"]["route_hierarchy"].as_object().unwrap().is_empty(), "{planned}");
    assert!(text(&again.stderr).contains("written to"), "{}", text(&again.stderr));
    assert!(std::fs::read_to_string(&page).unwrap().contains("<title>Routes to 2 targets</title>"));
    assert!(text(&listed.stdout).contains("2 targets  two"), "{}", text(&listed.stdout));
    assert!(text(&shown.stdout).contains("2 completed"), "{}", text(&shown.stdout));
    assert_eq!((deleted.status.code(), gone.status.code()), (Some(0), Some(4)));
    assert!(text(&gone.stderr).contains(&format!("there is no batch {batch}")), "{}", text(&gone.stderr));
}

#[tokio::test(flavor = "multi_thread")]
async fn one_target_is_written_in_every_format() {
    let installation = installation().await;
    let write = |format: &str| {
        let written = retort(&installation, &["plan", TARGET, "--max-seconds", "4", "--format", format], "");
        assert!(written.status.success(), "{}", text(&written.stderr));
        text(&written.stdout)
    };

    assert!(write("text").starts_with(&format!("{TARGET}\n")));
    let json: contract::TreeSearchResult = serde_json::from_str(&write("json")).unwrap();
    assert_eq!(json.search_smiles, TARGET);
    let aizynth: Value = serde_json::from_str(&write("aizynth")).unwrap();
    assert_eq!((&aizynth[0]["type"], &aizynth[0]["smiles"]), (&json!("mol"), &json!(TARGET)));
    let retrocast: Value = serde_json::from_str(&write("retrocast")).unwrap();
    assert_eq!(retrocast[TARGET][0]["route"]["target"]["inchikey"], "NNJVILVZKWQKPM-UHFFFAOYSA-N");
    assert_eq!(rows(write("csv").as_bytes())[0]["solved"], "true");
    assert!(write("html").starts_with("<!DOCTYPE html>"));
}
