//! `ops/security.md` has every entry of the lists that it covers and names only existing tests.

use std::collections::BTreeSet;

use repository::{files, text};

/// Tests of all packages as `FILE::TEST`; those of a folder's `main.rs` and `lib.rs` carry the folder's name.
fn tests() -> BTreeSet<String> {
    let mut tests = BTreeSet::new();
    for path in files("").iter().filter(|path| path.ends_with(".rs")) {
        let mut parts = path.trim_end_matches(".rs").rsplit('/');
        let file = match parts.next() {
            Some("main" | "lib") => parts.next().unwrap_or_default(),
            name => name.unwrap_or_default(),
        };
        let source = text(path);
        let marked = source.split("::test").skip(1).chain(source.split("#[test]").skip(1));
        let names = marked.filter_map(|rest| Some(rest.split_once("fn ")?.1.split_once('(')?.0));
        tests.extend(names.map(|name| format!("{file}::{name}")));
    }
    tests
}

#[test]
fn every_entry_of_the_lists_is_there_with_tests_that_there_are() {
    let document = text("ops/security.md");
    let tests = tests();
    let (mut entries, mut missing, mut without) = (BTreeSet::new(), Vec::new(), Vec::new());
    for line in document.lines().filter(|line| line.starts_with("| API") || line.starts_with("| V")) {
        let entry = line.trim_start_matches("| ").split(' ').next().unwrap_or_default();
        let named: Vec<_> = line.split('`').skip(1).step_by(2).filter(|name| name.contains("::")).collect();
        missing.extend(named.iter().filter(|name| !tests.contains(**name)).map(|name| (*name).to_owned()));
        if named.is_empty() && !line.contains("| Does not apply: ") {
            without.push(entry.to_owned());
        }
        entries.insert(entry.to_owned());
    }

    let api = (1..=10).map(|number| format!("API{number}"));
    let expected: BTreeSet<_> = api.chain((1..=17).map(|chapter| format!("V{chapter}"))).collect();
    assert_eq!(entries, expected);
    assert_eq!(missing, [""; 0], "ops/security.md names tests that there are not");
    assert_eq!(without, [""; 0], "an entry without a test says why");
}
