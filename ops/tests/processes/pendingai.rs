//! The public Python client of this API family, the package `pendingai`, unmodified except for its address: a test
//! that was not written for this project.
//!
//! `PENDINGAI` names the folders of its releases, separated by colons, each made by `pip install --target`. The
//! tokens are ours. They lack the claims of the operator's own tokens, which only the client's own login reads.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    client::ApiClient,
    installation::{Installation, Role},
    process::{output, root},
    searches::{CATALOGUE, TARGET},
};

/// Returns the folders that hold releases.
fn releases() -> Vec<PathBuf> {
    let folders = std::env::var("PENDINGAI").unwrap_or_default();
    let folders: Vec<PathBuf> =
        folders.split(':').filter(|folder| Path::new(folder).is_dir()).map(PathBuf::from).collect();
    if folders.is_empty() {
        println!("skipped: PENDINGAI names no folder that holds the package `pendingai`");
    }
    folders
}

/// Starts an installation with the settings that these clients need.
async fn installation(roles: &[Role]) -> Installation {
    let mut installation = Installation::new().await;
    installation.set("GZIP_BODY", "standard");
    installation.set("ENGINE_ALIASES", "thieme=uspto_retro");
    installation.import_catalogue(CATALOGUE);
    for role in roles {
        installation.start_worker(*role, &[]).await;
    }
    installation.start_api().await;
    installation
}

/// Builds a run of a script in this folder with a release of the package.
fn python(script: &str, release: &Path, installation: &Installation, caller: &ApiClient) -> Command {
    let mut python = Command::new("python3");
    python
        .arg(root().join("ops/tests/processes/pendingai").join(script))
        .env("PYTHONPATH", release)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        // The client keeps its session in the home folder.
        .env("HOME", installation.folder())
        .env("RETORT_URL", format!("http://{}/", installation.address()))
        .env("RETORT_TOKEN", caller.token());
    python
}

#[tokio::test(flavor = "multi_thread")]
async fn the_public_client_of_the_family_works_unmodified() {
    let releases = releases();
    if releases.is_empty() {
        return;
    }
    let installation = installation(&[Role::Search, Role::Sample]).await;
    let caller = installation.account("owner");

    for release in releases {
        for script in ["client.py", "generator.py"] {
            let mut python = python(script, &release, &installation, &caller);
            python.arg(format!("http://{}/", installation.address()));
            let printed = output(python);
            assert!(printed.contains("all of it works"), "{}, {script}: {printed}", release.display());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_line_of_the_public_client_works_unmodified() {
    let releases = releases();
    if releases.is_empty() {
        return;
    }
    let installation = installation(&[Role::Search, Role::Sample]).await;
    let caller = installation.account("owner");

    for release in releases {
        let run = |arguments: &[&str]| {
            let mut command = python("command.py", &release, &installation, &caller);
            // At every start the client asks the package index for a newer release; it works without an answer.
            command
                .env("HTTPS_PROXY", "http://127.0.0.1:9")
                .env("NO_PROXY", "127.0.0.1")
                .env("COLUMNS", "200");
            output({
                command.args(arguments);
                command
            })
        };
        the_generators_commands_work(&run, installation.folder());

        assert!(run(&["synth", "version"]).contains(env!("CARGO_PKG_VERSION")));
        assert!(run(&["synth", "list-libraries"]).contains("First"));
        let found = run(&["synth", "search", TARGET, "--max-seconds", "20"]);
        assert!(found.contains("oute"), "{found}");
    }
}

fn the_generators_commands_work(run: &impl Fn(&[&str]) -> String, folder: &Path) {
    let file = folder.join("molecules.smi");
    let path = file.to_str().unwrap();
    let lines = || std::fs::read_to_string(&file).unwrap().lines().map(str::to_owned).collect::<Vec<_>>();

    assert!(run(&["generator", "version"]).contains(env!("CARGO_PKG_VERSION")));
    let models = run(&["generator", "list-models"]);
    assert!(models.contains("leadlike_gru") && models.contains("online"), "{models}");

    run(&["generator", "sample", "-n", "40", "-m", "leadlike_gru", "-o", path, "--force"]);
    assert!(lines().len() >= 40);

    let created = run(&["generator", "create-batch", "-n", "700", "-m", "leadlike_gru"]);
    let batch = created
        .split_whitespace()
        .find(|word| word.starts_with("sbt_"))
        .unwrap_or_else(|| panic!("{created}"));
    assert!(run(&["generator", "list-batches"]).contains(batch));
    while !run(&["generator", "batch", batch]).contains("2/2 chunk(s) completed") {
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
    let exported = run(&["generator", "export-batch", batch, "-o", path, "--force"]);
    assert!(exported.contains("700 unique"), "{exported}");
    assert_eq!(lines().len(), 700);
    assert!(run(&["generator", "delete-batch", batch, "--force"]).contains("Deleted"));
}
