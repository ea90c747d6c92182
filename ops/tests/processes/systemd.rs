//! Units of `ops/systemd`, as systemd itself parses them.

use std::{
    collections::BTreeSet,
    fs,
    process::{Command, Stdio},
};

use crate::process::{binaries, is_installed, output, root};

#[test]
fn the_units_are_ones_that_systemd_takes() {
    if !is_installed("systemd-analyze") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut verify = Command::new("systemd-analyze");
    verify.args(["verify", "--man=no"]);
    let units = root().join("ops/systemd");
    let shared = "retort-.service.d/hardening.conf";
    fs::create_dir(folder.path().join("retort-.service.d")).unwrap();
    fs::copy(units.join(shared), folder.path().join(shared)).unwrap();
    for entry in fs::read_dir(units).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if !(name.ends_with(".service") || name.ends_with(".target")) {
            continue;
        }
        let unit = fs::read_to_string(&path).unwrap();
        // The binaries are in cargo's output folder.
        let unit = unit.replace("/usr/local/bin", binaries().to_str().unwrap());
        fs::write(folder.path().join(name), unit).unwrap();
        verify.arg(folder.path().join(name));
    }

    let found = verify.stdin(Stdio::null()).output().unwrap();

    let words = String::from_utf8_lossy(&found.stderr);
    // Faults in this machine's own units are ignored.
    let ours: Vec<&str> = words.lines().filter(|line| line.contains("retort")).collect();
    assert!(ours.is_empty() && found.status.success(), "{words}");
}

#[test]
fn the_settings_of_the_units_are_settings_of_the_processes() {
    let settings = fs::read_to_string(root().join("ops/systemd/retort.env")).unwrap();
    let named = settings
        .lines()
        .map(|line| line.trim_start_matches(['#', ' ']))
        .filter_map(|line| line.split_once('='));
    let named: BTreeSet<&str> = named.map(|(name, _)| name).filter(|name| !name.contains(' ')).collect();
    assert!(named.contains("DATABASE_URL"));

    let known = fs::read_to_string(root().join("ops/guide/settings.md")).unwrap();
    for name in named.iter().filter(|name| !name.starts_with("OTEL_")) {
        assert!(known.contains(&format!("`{name}")), "ops/guide/settings.md has no setting `{name}`");
    }
    // A unit's stop timeout must exceed the time that the process needs.
    let mut longest = Command::new(binaries().join("retort-api"));
    longest.arg("stop-seconds").env_clear().env("DATABASE_URL", "postgres://127.0.0.1/none");
    let longest: u32 = output(longest).trim().parse().unwrap();
    let unit = fs::read_to_string(root().join("ops/systemd/retort-api.service")).unwrap();
    let granted = unit.lines().find_map(|line| line.strip_prefix("TimeoutStopSec=")).unwrap();
    assert!(granted.parse::<u32>().unwrap() > longest, "{granted} of {longest}");
}
