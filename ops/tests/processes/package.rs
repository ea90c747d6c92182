//! Releases: archives of `ops/package`, started where there is no build, upgraded, rolled back, refused.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::{Value, json};
use tempfile::TempDir;
use test_support::free_port;

use crate::{
    client::ApiClient,
    postgres::{is_root, open_folder, programs},
    process::{binaries, is_installed, output, root},
};

const SAMPLES: &str = "/generator/v1/samples";

/// `PATH` of a machine without manually installed programs.
const PATH: &str = "/usr/sbin:/usr/bin:/sbin:/bin";

/// Packages the programs in a folder as a release in `out`; returns its archive, or `None` if a tool is missing.
pub fn package(programs: &Path, version: &str, out: &Path) -> Option<PathBuf> {
    if !["git", "objcopy", "python3", "zstd"].into_iter().all(is_installed) {
        return None;
    }
    let mut package = Command::new(root().join("ops/package"));
    package.arg("--binaries").arg(programs).arg("--out").arg(out);
    package.args(["--version", version, "--level", "3"]);
    output(package);
    Some(out.join(format!("retort-{version}-{}.tar.zst", std::env::consts::ARCH)))
}

/// Unpacks an archive beside itself.
pub fn unpack(archive: &Path) -> PathBuf {
    output(tar(archive));
    archive.with_extension("").with_extension("")
}

fn tar(archive: &Path) -> Command {
    let mut tar = Command::new("tar");
    tar.args(["--extract", "--directory"]).arg(archive.parent().unwrap()).arg("--file").arg(archive);
    tar
}

/// Builds `./up` of a release, with an empty environment.
fn up(release: &Path, data: &Path, options: &[&str]) -> Command {
    let mut up = Command::new(release.join("up"));
    up.arg("--data").arg(data).args(options).stdin(Stdio::null());
    up.env_clear().env("PATH", PATH).env("RESERVOIR_SIZE", "0");
    up
}

fn has_postgres() -> bool {
    let found = programs().is_some();
    if !found {
        println!("skipped: initdb and pg_ctl are not installed");
    }
    found
}

/// Returns true if this process may mount file systems.
fn can_mount() -> bool {
    let mut probe = Command::new("unshare");
    probe.args(["--mount", "--pid", "--fork", "mount", "-t", "proc", "proc", "/proc"]);
    let can = is_root() && probe.stderr(Stdio::null()).status().is_ok_and(|status| status.success());
    if !can {
        println!("skipped: only root makes file systems, and only where mounts are allowed");
    }
    can
}

/// Script that starts a release as an unprivileged user, in a root with only the system, the release and an empty
/// data folder; it plans a route and stops the release. $0 is the release, $1 an empty folder, $2 a port, $3 the
/// repository.
const BARE_MACHINE_SCRIPT: &str = r#"set -euo pipefail
PATH=/usr/local/bin:$PATH
for tool in cargo rustc cc gcc make pkg-config; do
    while read -r found; do mount --bind /dev/null "$(readlink -f "$found")"; done < <(type -ap "$tool" || true)
done
mount -t tmpfs tmpfs "$1"
mkdir "$1"/{data,dev,etc,proc,release,tmp,usr}
for folder in /bin /lib* /sbin; do
    if [ -L "$folder" ]; then cp -P "$folder" "$1"; else mkdir "$1$folder" && mount --bind "$folder" "$1$folder"; fi
done
chmod 1777 "$1/tmp"
chown 65534:65534 "$1/data"
for folder in dev etc usr; do mount --rbind "/$folder" "$1/$folder"; done
mount -t proc proc "$1/proc"
mount --bind "$0" "$1/release"
mount -o remount,ro,bind "$1/release"
exec env -i PATH=/usr/local/bin:/usr/bin:/bin XDG_DATA_HOME=/data RESERVOIR_SIZE=0 \
    /usr/sbin/chroot "$1" setpriv --reuid 65534 --regid 65534 --clear-groups bash -euo pipefail -c '
        for tool in cargo rustc cc gcc make; do if "$tool" --version; then exit 3; fi; done 2> /dev/null
        for place in "$1" /root /home; do if [ -e "$place" ]; then exit 3; fi; done
        cd /release
        ./up --detach --port "$0"
        /data/retort/bin/retort plan --max-seconds 10 "COc1cc2nc(N3CCN(C(=O)c4ccco4)CC3)nc(N)c2cc1OC"
        ./down' "$2" "$3""#;

#[test]
fn a_release_plans_a_route_where_there_is_neither_a_checkout_nor_a_compiler_nor_a_home() {
    if !has_postgres() || !can_mount() || !is_installed("curl") {
        return;
    }
    let folder = open_folder();
    let Some(archive) = package(&binaries(), "0.0.1", folder.path()) else { return };
    let release = unpack(&archive);
    let bare = folder.path().join("bare");
    fs::create_dir(&bare).unwrap();
    let mut check = Command::new("sha256sum");
    check.arg("--check").arg(archive.with_extension("zst.sha256")).current_dir(folder.path());
    output(check);

    let mut machine = Command::new("unshare");
    machine.args(["--mount", "--pid", "--fork", "--kill-child", "bash", "-c", BARE_MACHINE_SCRIPT]);
    machine.arg(&release).arg(&bare).arg(free_port().to_string()).arg(root()).stdin(Stdio::null());
    let found = output(machine);

    // Imatinib, which every first start plans, and prazosin.
    assert_eq!(found.matches(" validated route").count(), 2, "{found}");
    let components_list = fs::read(archive.with_extension("").with_extension("cdx.json")).unwrap();
    let components_list: Value = serde_json::from_slice(&components_list).unwrap();
    let named = |name: &str| {
        components_list["components"].as_array().unwrap().iter().find(|each| each["name"] == name)
    };
    for name in ["tokio", "candle-core", "openchemlib", "druglike_gru"] {
        let component = named(name).unwrap_or_else(|| panic!("the bill has no {name}"));
        assert!(component["licenses"][0]["expression"].is_string(), "{component}");
    }
    assert!(named("proptest").is_none(), "tests are no part of a release");
}

/// Installation that a release started; dropping it stops the installation.
struct RunningRelease<'a> {
    release: &'a Path,
    data: &'a Path,
    address: String,
}

impl<'a> RunningRelease<'a> {
    fn start(release: &'a Path, data: &'a Path, options: &[&str]) -> Self {
        let port = free_port().to_string();
        output(up(release, data, &[&["--detach", "--port", &port], options].concat()));
        Self { release, data, address: format!("http://127.0.0.1:{port}") }
    }

    /// Returns a client of the demo account.
    fn caller(&self) -> ApiClient {
        let mut token = Command::new(self.data.join("bin/retort"));
        token.arg("token").env_clear().env("PATH", PATH);
        ApiClient::new(&self.address, output(token).trim())
    }
}

impl Drop for RunningRelease<'_> {
    fn drop(&mut self) {
        let _ = Command::new(self.release.join("down")).arg("--data").arg(self.data).output();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upgrade_by_archive_keeps_all_data_and_can_be_rolled_back() {
    if !has_postgres() || !is_installed("curl") {
        return;
    }
    let folder = open_folder();
    let Some(archive) = package(&binaries(), "0.0.10", folder.path()) else { return };
    let newer = unpack(&archive);
    let before = std::env::var_os("RELEASED_BINARIES").map_or_else(|| newer.join("bin"), PathBuf::from);
    let older = unpack(&package(&before, "0.0.9", folder.path()).expect("the tools are there"));
    let data = folder.path().join("data");

    let started = RunningRelease::start(&older, &data, &[]);
    let sample = started.caller().create(SAMPLES, &json!({ "size": 3 })).await;
    drop(started);
    let path = format!("{SAMPLES}/{}", sample["id"].as_str().unwrap());

    let upgraded = RunningRelease::start(&newer, &data, &[]);
    assert_eq!(upgraded.caller().read(&path).await, sample);
    drop(upgraded);

    let words = refusal(up(&older, &data, &[]));
    assert!(words.contains("was last used by version 0.0.10 and this is 0.0.9"), "{words}");
    let rolled_back = RunningRelease::start(&older, &data, &["--roll-back"]);
    assert_eq!(rolled_back.caller().read(&path).await, sample);
    assert_eq!(fs::read_to_string(data.join("version")).unwrap(), "0.0.9\n");
}

/// Runs a command that must refuse; returns its single-line message.
fn refusal(mut command: Command) -> String {
    let refused = command.output().unwrap();
    let words = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success() && refused.stdout.is_empty(), "{words}");
    assert_eq!(words.trim().lines().count(), 1, "{words}");
    words
}

/// Packages a release whose programs are never started.
fn empty_release(folder: &TempDir) -> Option<PathBuf> {
    let programs = folder.path().join("programs");
    fs::create_dir(&programs).unwrap();
    for name in ["retort", "retort-api", "retort-worker"] {
        fs::copy("/bin/true", programs.join(name)).unwrap();
    }
    package(&programs, "1.2.3", folder.path())
}

#[test]
fn what_cannot_work_is_refused_in_one_line_before_anything_is_changed() {
    let folder = open_folder();
    let Some(archive) = empty_release(&folder) else { return };
    let release = unpack(&archive);
    let (description, data) = (release.join("RELEASE"), folder.path().join("data"));
    let packed = fs::read_to_string(&description).unwrap();
    let must_be_refused = |release: &Path, words: &str| {
        let found = refusal(up(release, &data, &[]));
        assert!(found.contains(words), "{found}");
    };
    let other = |name: &str, value: &str| {
        let lines = packed.lines().map(|line| match line.split_once('=') {
            Some((key, _)) if key == name => format!("{name}={value}\n"),
            _ => format!("{line}\n"),
        });
        fs::write(&description, lines.collect::<String>()).unwrap();
    };

    other("architecture", "pdp11");
    must_be_refused(&release, "this release is for pdp11 and this machine is ");
    other("glibc", "99.9");
    must_be_refused(&release, "this release needs glibc 99.9 or newer and this system has ");
    fs::write(&description, &packed).unwrap();
    fs::remove_file(release.join("bin/retort-api")).unwrap();
    must_be_refused(&release, "is not unpacked completely (1 of its files, first bin/retort-api): unpack");
    fs::remove_dir_all(&release).unwrap();
    let bytes = fs::read(&archive).unwrap();
    fs::write(&archive, &bytes[..bytes.len() / 2]).unwrap();
    assert!(!tar(&archive).output().unwrap().status.success());
    must_be_refused(&release, "is not unpacked completely (");
    assert!(!data.exists());

    fs::write(&archive, bytes).unwrap();
    unpack(&archive);
    fs::create_dir(&data).unwrap();
    fs::write(data.join("version"), "1.10.0\n").unwrap();
    must_be_refused(&release, "start version 1.10.0, or this one with --roll-back");
    assert_eq!(fs::read_dir(&data).unwrap().count(), 1);
}

/// Script that simulates a machine without PostgreSQL and sudo, for an unprivileged user: $0 is a command, $1 the
/// contents of /etc/os-release.
const NO_POSTGRES_SCRIPT: &str = r#"set -euo pipefail
for folder in /usr/lib/postgresql /usr/pgsql-*; do [ ! -d "$folder" ] || mount -t tmpfs tmpfs "$folder"; done
for tool in initdb sudo; do
    while read -r found; do mount --bind /dev/null "$(readlink -f "$found")"; done < <(type -ap "$tool" || true)
done
mount --bind "$1" /etc/os-release
exec env PATH=/usr/bin:/bin setpriv --reuid 65534 --regid 65534 --clear-groups "$0" --data "$2""#;

#[test]
fn a_missing_postgresql_that_cannot_be_installed_is_reported_with_advice() {
    if !can_mount() || !is_installed("apt-get") || !is_installed("curl") {
        return;
    }
    let folder = open_folder();
    let Some(archive) = empty_release(&folder) else { return };
    let release = unpack(&archive);
    let (system, data) = (folder.path().join("os-release"), folder.path().join("data"));

    for (id, words) in [
        (
            "debian",
            "postgresql must be installed, and this user is not root and has no sudo: run 'apt-get install ",
        ),
        (
            "fedora",
            "this needs postgres, and this system is neither Debian nor Ubuntu: install what is missing",
        ),
    ] {
        fs::write(&system, format!("ID={id}\n")).unwrap();
        let mut machine = Command::new("unshare");
        machine
            .args(["--mount", "bash", "-c", NO_POSTGRES_SCRIPT])
            .arg(release.join("up"))
            .arg(&system)
            .arg(&data);
        machine.stdin(Stdio::null()).env_clear().env("PATH", PATH);

        let found = refusal(machine);

        assert!(found.contains(words), "{found}");
        assert!(!data.exists());
    }
}
