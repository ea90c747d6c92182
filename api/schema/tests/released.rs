//! Tests that released migrations never change: a binary rejects a database whose migrations differ from its own.

use std::fmt::Write;

/// A line for each migration: its version and the checksum that databases keep of it.
const RELEASED: &str = include_str!("../../../migrations/released.txt");

#[test]
fn a_released_migration_never_changes() {
    let released: Vec<&str> = RELEASED.lines().filter(|line| !line.starts_with('#')).collect();

    let ours: Vec<String> = schema::MIGRATIONS
        .iter()
        .map(|migration| {
            let line = format!("{:04} ", migration.version);
            migration.checksum.iter().fold(line, |mut line, byte| {
                write!(line, "{byte:02x}").expect("a string can be written to");
                line
            })
        })
        .collect();

    for line in &released {
        assert!(ours.iter().any(|ours| ours == line), "this migration is gone or another: {line}");
    }
    let new: Vec<&String> = ours.iter().filter(|line| !released.contains(&line.as_str())).collect();
    assert!(new.is_empty(), "a new migration is released with its line in migrations/released.txt: {new:#?}");
}
