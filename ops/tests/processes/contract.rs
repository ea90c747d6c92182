//! The OpenAPI document holds for the running service, by somebody who knows nothing but the document: schemathesis.
//!
//! `SCHEMATHESIS_EXAMPLES` says how many requests of each kind it makes of an operation.

use std::process::Command;

use serde_json::json;

use crate::{
    installation::Installation,
    process::{is_installed, root},
    searches::CATALOGUE,
};

/// Tens of seconds; a thousand take an hour.
const EXAMPLES: &str = "5";

#[tokio::test(flavor = "multi_thread")]
async fn schemathesis_finds_no_answer_that_the_document_does_not_have() {
    if !is_installed("schemathesis") {
        return;
    }
    let mut installation = Installation::new().await;
    for ration in ["SAMPLES_CREATE", "MOLECULES", "SAMPLES_READ", "TREESEARCH", "SEARCH_SECONDS"] {
        installation.set(&format!("RATE_{ration}_PER_MINUTE"), "0");
    }
    installation.set("JOBS_IN_FLIGHT", "0");
    installation.set("MAX_SECONDS_LIMIT", "0.2");
    installation.import_catalogue(CATALOGUE);
    installation.start_all().await;
    let caller = installation.account("owner");
    let sample = caller.create("/generator/v1/samples", &json!({ "size": 2 })).await;

    let settings = root().join("ops/tests/processes/schemathesis");
    let examples = std::env::var("SCHEMATHESIS_EXAMPLES").unwrap_or_else(|_| EXAMPLES.to_owned());
    let mut command = Command::new("schemathesis");
    command
        .arg("--config-file")
        .arg(settings.join("schemathesis.toml"))
        .args(["run", &format!("http://{}/openapi.json", installation.address())])
        .args(["--header", &format!("Authorization: Bearer {}", caller.token())])
        .args(["--checks", "all", "--max-examples", &examples, "--continue-on-failure", "--no-color"])
        .env("SCHEMATHESIS_HOOKS", settings.join("hooks.py"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("RETORT_MODEL", sample["model_id"].as_str().unwrap())
        .env("RETORT_SAMPLE", sample["id"].as_str().unwrap())
        // It keeps files where it runs.
        .current_dir(installation.folder());
    let told = command.output().unwrap();

    let words = String::from_utf8_lossy(&told.stdout);
    assert!(told.status.success(), "{words}{}", String::from_utf8_lossy(&told.stderr));
    assert!(words.contains("Tested: 7"), "it looked at every operation: {words}");
    installation.must_live();
}
