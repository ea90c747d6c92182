//! A name of a public type means one thing.

use std::collections::BTreeMap;

use repository::{files, text};

/// Types that two crates have in a form of their own: as the contract says it, and as the computation needs it.
const IN_TWO_FORMS: [&str; 3] = ["PrecursorSet", "ProtectingGroups", "RouteGraph"];

/// Returns the names of the public types that `source` declares at the top level.
fn public_types(source: &str) -> impl Iterator<Item = &str> {
    source.lines().filter_map(|line| {
        let item = line.strip_prefix("pub ")?;
        let name =
            ["struct ", "enum ", "trait ", "type "].iter().find_map(|keyword| item.strip_prefix(keyword))?;
        name.split(|letter: char| !letter.is_alphanumeric()).next()
    })
}

#[test]
fn no_two_public_types_have_one_name() {
    let mut declared: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in files("") {
        if file.ends_with(".rs") && file.contains("/src/") {
            for name in public_types(&text(&file)) {
                declared.entry(name.to_owned()).or_default().push(file.clone());
            }
        }
    }
    for name in IN_TWO_FORMS {
        assert_eq!(declared.remove(name).map(|files| files.len()), Some(2), "{name}");
    }
    declared.retain(|_, files| files.len() > 1);
    assert!(declared.is_empty(), "{declared:#?}");
}

#[test]
fn types_of_modules_and_private_ones_do_not_count() {
    let source = "pub struct One<T>(T);\npub(crate) struct Two;\nenum Three {}\n    pub type Four = u8;\npub enum Five {}\n";
    assert_eq!(public_types(source).collect::<Vec<_>>(), ["One", "Five"]);
}
