//! The files of the repository, for tests that read them as text.

#![allow(clippy::unwrap_used, reason = "a repository that cannot be read is a failed test")]

use std::{
    fs,
    path::{Path, PathBuf},
};

fn root() -> PathBuf {
    // One folder below the root lies every package that has such tests.
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The files under `folder`, by their paths from the repository's root, in no order; what is hidden or built is left out.
pub fn files(folder: &str) -> Vec<String> {
    let root = root();
    let mut files = Vec::new();
    let mut folders = vec![root.join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if name.starts_with('.') || ["target", "__pycache__"].contains(&name) {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push(path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    files
}

/// What a file holds.
pub fn text(file: &str) -> String {
    fs::read_to_string(root().join(file)).unwrap()
}
