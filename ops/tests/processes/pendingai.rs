//! The public Python client of this API family, the package `pendingai`, unmodified but for its address: the test that nobody here wrote.
//!
//! Its releases are looked for in the folders that `PENDINGAI` names, separated by colons, each one that `pip install --target` made.
//! A token is ours, and has none of the claims that its operator's have, which alone its own login reads.

use std::{path::Path, process::Command};

use crate::{
    installation::{Installation, Role},
    process::{output, root},
    searches::CATALOGUE,
};

#[tokio::test(flavor = "multi_thread")]
async fn the_public_client_of_the_family_works_unmodified() {
    let folders = std::env::var("PENDINGAI").unwrap_or_default();
    let folders: Vec<&str> = folders.split(':').filter(|folder| Path::new(folder).is_dir()).collect();
    if folders.is_empty() {
        println!("skipped: PENDINGAI names no folder that holds the package `pendingai`");
        return;
    }
    let mut installation = Installation::new().await;
    installation.set("GZIP_BODY", "standard");
    installation.set("ENGINE_ALIASES", "thieme=uspto_retro");
    installation.import_catalogue(CATALOGUE);
    installation.start_worker(Role::Search, &[]).await;
    installation.start_api().await;
    let caller = installation.account("owner");

    for folder in folders {
        let mut python = Command::new("python3");
        python
            .arg(root().join("ops/tests/processes/pendingai/client.py"))
            .arg(format!("http://{}/", installation.address()))
            .env("PYTHONPATH", folder)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            // It keeps its session at home.
            .env("HOME", installation.folder())
            .env("RETORT_TOKEN", caller.token());
        let told = output(python);
        assert!(told.contains("all of it works"), "{folder}: {told}");
    }
}
