//! What the processes can be told: by variables that the README names, and by commands that the binaries take.

use std::{fs, process::Command};

use crate::process::{binaries, binary, output, root};

/// Fails at a variable that is no setting of ours.
pub fn must_be_settings<'a>(variables: impl IntoIterator<Item = &'a str>) {
    let known = fs::read_to_string(root().join("README.md")).unwrap();
    for name in variables {
        let standard = ["OTEL_", "PATH", "HOME"].iter().any(|start| name.starts_with(start));
        assert!(standard || known.contains(&format!("`{name}")), "README.md has no setting `{name}`");
    }
}

/// Fails at a command that the binaries do not take.
pub fn must_be_taken(command: &[&str]) {
    let mut help = binary(command[0]);
    help.args(&command[1..]).arg("--help");
    output(help);
}

/// Seconds that `retort-api serve` may take to stop with these settings.
pub fn stop_seconds<'a>(variables: impl IntoIterator<Item = (&'a str, &'a str)>) -> u64 {
    let mut longest = Command::new(binaries().join("retort-api"));
    longest.arg("stop-seconds").env_clear().env("DATABASE_URL", "postgres://127.0.0.1/none").envs(variables);
    output(longest).trim().parse().expect("it prints seconds")
}
