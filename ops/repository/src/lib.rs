//! Text files of the repository, for the tests of this package that enforce its rules. The package has no
//! dependencies, so that they build in a second.

mod settings;

use std::{
    fs,
    path::{Path, PathBuf},
};

pub use settings::{Setting, settings};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Files under `folder` as paths from the repository's root, in no order, without hidden files and build outputs.
///
/// # Panics
/// Panics if a folder cannot be read.
#[must_use]
pub fn files(folder: &str) -> Vec<String> {
    let root = root();
    let mut files = Vec::new();
    let mut folders = vec![root.join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
            let path = entry.expect("a folder can be listed").path();
            let name = path.file_name().and_then(|name| name.to_str()).expect("names are text");
            if name.starts_with('.') || ["target", "__pycache__"].contains(&name) {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else {
                let inside = path.strip_prefix(&root).expect("it lies in the root");
                files.push(inside.to_str().expect("names are text").to_owned());
            }
        }
    }
    files
}

/// Text of a file, given by its path from the root.
///
/// # Panics
/// Panics if the file cannot be read.
#[must_use]
pub fn text(file: &str) -> String {
    fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}
