//! No import cycles between files: the imports of a package have one direction, so that a file can be read after the
//! files that it imports.

use std::collections::{BTreeMap, BTreeSet};

use repository::text;

const PACKAGES: [&str; 20] = [
    "api",
    "api/contract",
    "api/database",
    "api/http_errors",
    "api/identity",
    "api/queue",
    "api/schema",
    "ops",
    "ops/repository",
    "ops/telemetry",
    "ops/test_support",
    "worker",
    "worker/catalogue",
    "worker/catalogue_tables",
    "worker/chem",
    "worker/chem_fast",
    "worker/generator",
    "worker/model_tools",
    "worker/reactivity",
    "worker/synth",
];

type Module = Vec<String>;

/// Files of a package's library, each with the files that it imports.
fn imports(package: &str) -> BTreeMap<String, BTreeSet<String>> {
    let root = format!("{package}/src/");
    let sources = repository::files(&root).into_iter().filter(|file| file.ends_with(".rs"));
    let files: BTreeMap<String, String> =
        sources.map(|file| (file[root.len()..].to_owned(), text(&file))).collect();
    let modules: BTreeMap<Module, &String> = files.keys().map(|file| (module(file), file)).collect();
    files
        .iter()
        .map(|(file, text)| {
            let named = paths(text).into_iter().filter_map(|path| resolve(&module(file), &path, &modules));
            (file.clone(), named.filter(|other| other != file).collect())
        })
        .collect()
}

/// Module of a file: `a/b.rs` is `a::b`, and the root has no name.
fn module(file: &str) -> Module {
    let mut names: Module = file.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if names.last().is_some_and(|name| ["lib", "main"].contains(&name.as_str())) {
        names.pop();
    }
    names
}

/// All paths that begin at the root or at a parent, with braces expanded. Tests within files may import anything.
fn paths(text: &str) -> Vec<Vec<String>> {
    let code = text.split("#[cfg(test)]").next().unwrap();
    let code: String =
        code.lines().map(|line| line.split("//").next().unwrap()).collect::<Vec<_>>().join("\n");
    let mut found = Vec::new();
    for start in ["crate::", "super::"] {
        for (at, _) in code.match_indices(start) {
            let is_whole =
                !code[..at].ends_with(|before: char| before.is_alphanumeric() || "_:".contains(before));
            if is_whole {
                expand_braces(
                    &mut code[at..].chars().filter(|letter| !letter.is_whitespace()).peekable(),
                    &[],
                    &mut found,
                );
            }
        }
    }
    found
}

/// Parses a path into one path for each name in its braces.
fn expand_braces(
    letters: &mut std::iter::Peekable<impl Iterator<Item = char>>,
    before: &[String],
    found: &mut Vec<Vec<String>>,
) {
    let mut path = before.to_vec();
    let mut name = String::new();
    while let Some(&letter) = letters.peek() {
        match letter {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => name.push(letter),
            ':' if !name.is_empty() => path.push(std::mem::take(&mut name)),
            ':' => {}
            '{' if name.is_empty() => {
                letters.next();
                while letters.peek().is_some_and(|&letter| letter != '}') {
                    expand_braces(letters, &path, found);
                    // Skips a comma or a star.
                    letters.next_if(|&letter| letter != '}');
                }
                letters.next();
                return;
            }
            _ => break,
        }
        letters.next();
    }
    path.push(name);
    found.push(path);
}

/// File of the longest module that the path names.
fn resolve(here: &Module, path: &[String], modules: &BTreeMap<Module, &String>) -> Option<String> {
    let mut base = if path[0] == "crate" { Vec::new() } else { here.clone() };
    let supers = path.iter().take_while(|name| *name == "super").count();
    base.truncate(base.len().saturating_sub(supers));
    let rest = &path[supers.max(1)..];
    let named = (0..=rest.len()).rev().map(|count| [&base[..], &rest[..count]].concat());
    // The root and a parent that only re-export their children do not count as imported files.
    named
        .filter(|module| *module != base || supers > 0 && !base.is_empty())
        .find_map(|module| modules.get(&module))
        .map(|file| (*file).clone())
}

/// Remaining files after repeatedly removing those without imports and those that no remaining file imports.
fn cycles(mut imports: BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    loop {
        let before = imports.len();
        let left: BTreeSet<String> = imports.keys().cloned().collect();
        imports.retain(|file, others| {
            others.retain(|other| left.contains(other) && other != file);
            !others.is_empty()
        });
        let imported: BTreeSet<String> = imports.values().flatten().cloned().collect();
        imports.retain(|file, _| imported.contains(file));
        if imports.len() == before {
            return imports.into_keys().collect();
        }
    }
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    for package in PACKAGES {
        assert_eq!(cycles(imports(package)), [""; 0], "in {package}");
    }
}

#[test]
fn a_module_with_children_is_a_file_beside_their_folder() {
    let older: Vec<String> =
        repository::files("").into_iter().filter(|file| file.ends_with("/mod.rs")).collect();

    assert_eq!(older, [""; 0], "`a/mod.rs` becomes `a.rs`");
}

#[test]
fn a_circle_is_found() {
    let file = |name: &str, others: &[&str]| {
        (name.to_owned(), others.iter().map(|other| (*other).to_owned()).collect::<BTreeSet<_>>())
    };
    let files = [file("a", &["b"]), file("b", &["c"]), file("c", &["b", "d"]), file("d", &[])];

    assert_eq!(cycles(files.into()), ["b", "c"]);
    assert_eq!(
        paths("use crate::{\n    a::{self, B},\n    c,\n};\nfn f() { super::d::e(); } // crate::no"),
        [vec!["crate", "a", "self"], vec!["crate", "a", "B"], vec!["crate", "c"], vec!["super", "d", "e"]]
    );
}
