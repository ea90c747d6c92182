//! References in the documents: every file in backticks of every `.md` exists in the repository.

use std::collections::BTreeSet;

use repository::{files, text};

/// Endings of names that must be files.
const ENDINGS: [&str; 4] = [".rs", ".sql", ".py", ".sh"];

/// Beginnings of names that must be files or folders.
const FOLDERS: [&str; 4] = ["api/", "worker/", "ops/", "migrations/"];

/// Names in backticks within a line, code blocks excluded.
fn names(text: &str) -> Vec<&str> {
    let prose = text.split("```").step_by(2);
    prose.flat_map(str::lines).flat_map(|line| line.split('`').skip(1).step_by(2)).collect()
}

fn is_path(name: &str) -> bool {
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-/".contains(&byte));
    plain
        && (ENDINGS.iter().any(|ending| name.ends_with(ending))
            || FOLDERS.iter().any(|top| name.starts_with(top)))
}

#[test]
fn documents_name_only_files_that_are_there() {
    let all = files("");
    let is_there = |name: &str| {
        let name = format!("/{}/", name.trim_end_matches('/').trim_start_matches("./"));
        all.iter().any(|path| format!("/{path}/").contains(&name))
    };

    let documents = all.iter().filter(|path| path.ends_with(".md"));
    let mut missing = Vec::new();
    for document in documents {
        let text = text(document);
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

#[test]
fn every_measurement_that_the_help_names_is_one_and_the_help_names_all() {
    let script = text("ops/bench");
    let (help, rest) = script.split_once("\nUSAGE\n").unwrap();
    let (_, measured) = rest.rsplit_once("\ncase $what in\n").unwrap();
    let words = |text: &str, indent: &str, ends: &[char]| {
        let lines = text.lines().filter_map(|line| line.strip_prefix(indent));
        let words = lines.map(|line| line.split(ends).next().unwrap_or_default());
        let words =
            words.filter(|word| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase()));
        words.map(str::to_owned).collect::<BTreeSet<_>>()
    };

    let named = words(help, "  ", &[' ']);
    let known = words(measured, "    ", &[')']);

    assert!(named.contains("constraints"));
    assert_eq!(named, known);
}

#[test]
fn every_dependency_that_we_name_has_its_purpose() {
    let manifest = text("Cargo.toml");
    let (_, rest) = manifest.split_once("\n[workspace.dependencies]\n").unwrap();
    let (dependencies, _) = rest.split_once("\n[").unwrap();
    let named = dependencies
        .lines()
        .filter(|line| !line.contains("{ path = "))
        .filter_map(|line| line.split_once(" = "));
    let page = text("ops/decisions/dependencies.md");
    let explained: BTreeSet<_> = names(&page).into_iter().collect();

    let (mut missing, mut known): (Vec<_>, usize) = (Vec::new(), 0);
    for (name, _) in named.filter(|(name, _)| !name.starts_with('#')) {
        known += 1;
        if !explained.contains(name) {
            missing.push(name);
        }
    }

    assert!(known > 50, "{known} dependencies were read");
    assert_eq!(missing, [""; 0], "ops/decisions/dependencies.md");
}

#[test]
fn documents_are_no_longer_than_an_afternoon_allows() {
    let most = |path: &str| match path {
        "README.md" => Some(8_000),
        "ARCHITECTURE.md" => Some(14_000),
        "CONTRIBUTING.md" => Some(9_000),
        "ops/guide/settings.md" => None,
        _ if path.starts_with("api/guide/") || path.starts_with("ops/guide/") => Some(6_000),
        _ => None,
    };

    let documents = files("").into_iter().filter(|path| path.ends_with(".md"));
    let long: Vec<_> = documents
        .filter_map(|path| Some((text(&path).len(), most(&path)?, path)))
        .filter(|(bytes, most, _)| bytes > most)
        .collect();

    assert_eq!(long, []);
}

#[test]
fn links_between_the_pages_of_documents_lead_somewhere() {
    let all: BTreeSet<_> = files("").into_iter().collect();
    let mut broken = Vec::new();
    for document in all.iter().filter(|path| path.ends_with(".md")) {
        let text = text(document);
        let prose: String = text.split("```").step_by(2).collect();
        for target in
            prose.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target)
        {
            let path = target.split('#').next().unwrap_or_default();
            if path.is_empty() || !path.ends_with(".md") || path.contains("://") {
                continue;
            }
            let mut parts: Vec<_> = document.split('/').collect();
            parts.pop();
            for part in path.split('/') {
                match part {
                    ".." => drop(parts.pop()),
                    "." => {}
                    part => parts.push(part),
                }
            }
            if !all.contains(&parts.join("/")) {
                broken.push(format!("{document}: {target}"));
            }
        }
    }
    assert_eq!(broken, Vec::<String>::new());
}
