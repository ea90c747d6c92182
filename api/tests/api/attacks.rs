//! Attacks, one test each, over real HTTP. `api/identity/ATTACKS.md` is the table of them; a test here keeps
//! it complete.

mod accounts;
mod applications;
mod bearer;
mod browser;
mod codes;
mod devices;
mod issuers;
mod races;
mod redirects;
mod refresh;
mod resources;

use std::collections::BTreeSet;

/// Collects the names of the tests in this folder.
fn tests() -> BTreeSet<String> {
    let sources = [
        ("accounts", include_str!("attacks/accounts.rs")),
        ("applications", include_str!("attacks/applications.rs")),
        ("bearer", include_str!("attacks/bearer.rs")),
        ("browser", include_str!("attacks/browser.rs")),
        ("codes", include_str!("attacks/codes.rs")),
        ("devices", include_str!("attacks/devices.rs")),
        ("issuers", include_str!("attacks/issuers.rs")),
        ("races", include_str!("attacks/races.rs")),
        ("redirects", include_str!("attacks/redirects.rs")),
        ("refresh", include_str!("attacks/refresh.rs")),
        ("resources", include_str!("attacks/resources.rs")),
    ];
    let test = |file: &str, chunk: &str| {
        let (name, _) = chunk.split_once("async fn ")?.1.split_once('(')?;
        Some(format!("{file}::{name}"))
    };
    let mut tests = BTreeSet::new();
    for (file, source) in sources {
        tests.extend(source.split("#[tokio::test]").skip(1).filter_map(|chunk| test(file, chunk)));
    }
    tests
}

#[test]
fn the_table_names_every_attack_and_no_other() {
    let table = include_str!("../../identity/ATTACKS.md");

    let cells = table.lines().filter(|line| line.starts_with("| ")).filter_map(|line| line.split('`').nth(1));
    let named: Vec<_> = cells.filter(|cell| cell.contains("::")).map(str::to_owned).collect();

    assert_eq!(named.len(), named.iter().collect::<BTreeSet<_>>().len(), "an attack is named twice");
    assert_eq!(named.into_iter().collect::<BTreeSet<_>>(), tests());
}
