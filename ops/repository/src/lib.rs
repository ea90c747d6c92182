//! Files of the repository as text, for the tests of this package that keep its rules. It links nothing, so that they are built in a second.

use std::{
    fs,
    path::{Path, PathBuf},
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The files under `folder`, by their paths from the repository's root, in no order, without hidden and built ones.
///
/// # Panics
/// Panics where a folder cannot be read.
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

/// The text of a file, which is named by its path from the root.
///
/// # Panics
/// Panics where it cannot be read.
#[must_use]
pub fn text(file: &str) -> String {
    fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}
