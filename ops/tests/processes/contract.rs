//! Conformance of the running service to its OpenAPI document, tested by schemathesis, which knows only the document.
//!
//! `SCHEMATHESIS_EXAMPLES` sets the number of requests of each kind per operation.

use std::process::Command;

use serde_json::json;

use crate::{
    client::ApiClient,
    installation::Installation,
    process::{is_installed, root},
};

/// Default number of examples, which takes tens of seconds; a thousand take an hour.
const DEFAULT_EXAMPLES: &str = "5";

/// Paths that only operators may use.
const OPERATOR_PATHS: &str = "^/operations/";

#[tokio::test(flavor = "multi_thread")]
async fn schemathesis_finds_no_answer_that_the_document_does_not_have() {
    if !is_installed("schemathesis") {
        return;
    }
    let mut installation = Installation::new().await;
    installation.lift_rate_limits();
    installation.set("JOBS_IN_FLIGHT", "0");
    installation.set("MAX_SECONDS_LIMIT", "0.2");
    // A search may wait behind others, however busy the machine is.
    installation.set("SEARCH_SLACK_SECONDS", "60");
    // Of these blocks molecules of samples can be made.
    installation.import_demo_catalogue();
    installation.start_all().await;
    let caller = installation.account("owner");
    let sample = caller.create("/generator/v1/samples", &json!({ "size": 2 })).await;

    let output = |caller: &ApiClient, which: [&str; 2]| {
        let mut command = schemathesis(&installation, caller);
        command
            .args(which)
            .env("RETORT_ENGINE", "uspto_retro")
            .env("RETORT_MODEL", sample["model_id"].as_str().unwrap());
        command.env("RETORT_SAMPLE", sample["id"].as_str().unwrap());
        let output = command.output().unwrap();
        let words = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{words}{}", String::from_utf8_lossy(&output.stderr));
        words
    };
    // Streams are excluded: they accept a header, and schemathesis would then require that all other headers are
    // refused.
    let words = output(&caller, ["--exclude-path-regex", &format!("{OPERATOR_PATHS}|/events$")]);
    assert!(words.contains("Tested: 45"), "it looked at every operation: {words}");
    // Runs last, because an operator's actions stop what other accounts could do.
    let words = output(
        &installation.account_with("operator", &["--operator"]),
        ["--include-path-regex", OPERATOR_PATHS],
    );
    assert!(words.contains("Tested: 5"), "it looked at every operation: {words}");
    installation.assert_running();
}

/// Builds a schemathesis run against the installation with the token of `caller`.
fn schemathesis(installation: &Installation, caller: &ApiClient) -> Command {
    let settings = root().join("ops/tests/processes/schemathesis");
    let examples = std::env::var("SCHEMATHESIS_EXAMPLES").unwrap_or_else(|_| DEFAULT_EXAMPLES.to_owned());
    let mut command = Command::new("schemathesis");
    command
        .arg("--config-file")
        .arg(settings.join("schemathesis.toml"))
        .args(["run", &format!("http://{}/openapi.json", installation.address())])
        .args(["--header", &format!("Authorization: Bearer {}", caller.token())])
        .args(["--checks", "all", "--max-examples", &examples, "--continue-on-failure", "--no-color"])
        // The default limit is ten seconds, which ten thousand molecules may take beside other tests.
        .args(["--max-response-time", "60"])
        .env("SCHEMATHESIS_HOOKS", settings.join("hooks.py"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        // schemathesis keeps files in its working directory.
        .current_dir(installation.folder());
    command
}
