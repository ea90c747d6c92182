//! What the documents name is there: every file in backticks of every `.md` is a file of the repository, wherever it moves.

#![allow(clippy::unwrap_used, reason = "a repository that cannot be read is a failed test")]

use std::{
    fs,
    path::{Path, PathBuf},
};

/// What a name in backticks ends in that has to be a file.
const ENDINGS: [&str; 4] = [".rs", ".sql", ".py", ".sh"];

/// What a name begins with that has to be a file or a folder.
const TOPS: [&str; 4] = ["api/", "worker/", "ops/", "migrations/"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The files and folders under `folder`, without what is built or hidden.
fn paths(folder: &Path, all: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if name.starts_with('.') || name == "target" || name == "__pycache__" {
            continue;
        }
        all.push(path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned());
        if path.is_dir() {
            paths(&path, all);
        }
    }
}

/// What stands in backticks within a line, blocks of code left out.
fn names(text: &str) -> Vec<&str> {
    let prose = text.split("```").step_by(2);
    prose.flat_map(str::lines).flat_map(|line| line.split('`').skip(1).step_by(2)).collect()
}

fn is_path(name: &str) -> bool {
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-/".contains(&byte));
    plain
        && (ENDINGS.iter().any(|ending| name.ends_with(ending))
            || TOPS.iter().any(|top| name.starts_with(top)))
}

#[test]
fn documents_name_only_files_that_are_there() {
    let mut all = Vec::new();
    paths(&root(), &mut all);
    let is_there = |name: &str| {
        let name = name.trim_end_matches('/').trim_start_matches("./");
        all.iter().any(|path| path == name || path.ends_with(&format!("/{name}")))
    };

    let documents = all.iter().filter(|path| path.ends_with(".md"));
    let mut missing = Vec::new();
    for document in documents {
        let text = fs::read_to_string(root().join(document)).unwrap();
        let named = names(&text).into_iter().filter(|name| is_path(name) && !is_there(name));
        missing.extend(named.map(|name| format!("{document}: {name}")));
    }

    assert_eq!(missing, Vec::<String>::new());
}

#[test]
fn names_are_read_out_of_prose_alone() {
    let text = "See `a/b.rs` and `word`.\n```sh\n`c.rs`\n```\n`ops/up` `api/{x}.rs`";

    let found: Vec<_> = names(text).into_iter().filter(|name| is_path(name)).collect();

    assert_eq!(found, ["a/b.rs", "ops/up"]);
}
