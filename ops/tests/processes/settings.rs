//! Settings of the processes: variables that the settings page names, and commands that the binaries accept.

use std::{fs, process::Command};

use crate::process::{binaries, binary, output, root};

/// Fails if a variable is not one of our settings.
pub fn assert_settings<'a>(variables: impl IntoIterator<Item = &'a str>) {
    let known = fs::read_to_string(root().join("ops/guide/settings.md")).unwrap();
    for name in variables {
        let standard = ["OTEL_", "PATH", "HOME"].iter().any(|start| name.starts_with(start));
        assert!(
            standard || known.contains(&format!("`{name}")),
            "ops/guide/settings.md has no setting `{name}`"
        );
    }
}

/// Fails if the binaries do not accept a command.
pub fn assert_command_accepted(command: &[&str]) {
    let mut help = binary(command[0]);
    help.args(&command[1..]).arg("--help");
    output(help);
}

/// Returns the seconds that `retort-api serve` may take to stop with these settings.
pub fn stop_seconds<'a>(variables: impl IntoIterator<Item = (&'a str, &'a str)>) -> u64 {
    let mut longest = Command::new(binaries().join("retort-api"));
    longest.arg("stop-seconds").env_clear().env("DATABASE_URL", "postgres://127.0.0.1/none").envs(variables);
    output(longest).trim().parse().expect("it prints seconds")
}
