//! Tests of the Python client (`api/clients/python`) against a running service: the client's own tests, run by
//! pytest.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use serde_json::json;

use crate::{
    installation::Installation,
    process::{output, root},
    searches::{CATALOGUE, TARGET},
};

#[tokio::test(flavor = "multi_thread")]
async fn the_python_client_passes_its_tests_against_a_running_service() {
    if !python_has("httpx, pydantic, pytest") {
        println!(
            "skipped: python3 has no httpx, pydantic and pytest: pip install 'api/clients/python[test]'"
        );
        return;
    }
    let mut installation = start_installation().await;

    let words = run_pytest(&installation, Path::new("python3"), &[]);

    assert!(!words.contains("describes no running service"), "it asked the service: {words}");
    installation.assert_running();
}

/// Each package has its own environment, because their dependencies conflict and take gigabytes.
#[tokio::test(flavor = "multi_thread")]
async fn the_plug_ins_work_inside_the_programs_that_they_are_for() {
    let Some(folders) = std::env::var_os("PLUGINS") else {
        println!("skipped: PLUGINS names no virtual environments with AiZynthFinder, MolScore or REINVENT");
        return;
    };
    let mut installation = start_installation().await;

    for folder in std::env::split_paths(&folders) {
        let plug_ins = ["aizynthfinder", "molscore", "reinvent", "syntheseus"]
            .map(|name| format!("tests/test_{name}.py"));
        let words = run_pytest(&installation, &folder.join("bin/python"), &plug_ins);

        assert!(words.contains(" passed"), "{}: {words}", folder.display());
        assert!(!words.contains("describes no running service"), "it asked the service: {words}");
    }
    installation.assert_running();
}

/// Starts a service that searches.
async fn start_installation() -> Installation {
    let mut installation = Installation::new().await;
    installation.lift_rate_limits();
    installation.import_catalogue(CATALOGUE);
    installation.start_all().await;
    installation
}

/// Runs these test files, or all, with this Python; returns the output.
fn run_pytest(installation: &Installation, python: &Path, files: &[String]) -> String {
    let mut pytest = Command::new(python);
    pytest
        .args(["-m", "pytest", "-q"])
        .args(files)
        .current_dir(root().join("api/clients/python"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("RETORT_TEST_INSTALLATION", installation_json(installation).to_string());
    output(pytest)
}

/// Describes the installation for `tests/conftest.py`, which calls it an `Installation`.
fn installation_json(installation: &Installation) -> serde_json::Value {
    let (rationed, reader, person) = ("rationed@example.org", "reader@example.org", "person@example.org");
    let token = installation.account("owner").token().to_owned();
    let rationed_token = installation.account("rationed").token().to_owned();
    installation.retort(&["account", "ration", rationed, "reads", "1"]);
    installation.account("reader");
    installation.retort(&["account", "scopes", reader, "generator_api.samples:read"]);
    let mut login = installation.retort_as("reader");
    login.args(["account", "login", reader]);
    output(login);
    let mut reader_token = installation.retort_as("reader");
    reader_token.arg("token");
    let command = installation.retort_as("owner");
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    json!({
        "url": format!("http://{}", installation.address()),
        "token": token,
        "reader_token": output(reader_token).trim(),
        "rationed_token": rationed_token,
        "email": person,
        "password": installation.retort(&["account", "add", person, "--generate"]).trim(),
        "target": TARGET,
        "command": words.map(|word| word.to_str().expect("paths of tests are UTF-8")).collect::<Vec<_>>(),
    })
}

fn python_has(modules: &str) -> bool {
    let import = format!("import {modules}");
    let found = Command::new("python3").args(["-c", &import]).stderr(Stdio::null()).status();
    found.is_ok_and(|status| status.success())
}
