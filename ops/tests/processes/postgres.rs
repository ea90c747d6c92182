//! Databases: a database in the shared PostgreSQL, or a separate PostgreSQL for tests that break it.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use tempfile::TempDir;
use test_support::free_port;

use crate::process::output;

/// A database for one test.
#[derive(Debug)]
pub enum Database {
    /// A database in the server of TEST_DATABASE_URL.
    Shared(test_support::TestDatabase),
    /// A separate server.
    Own(Server),
}

impl Database {
    /// Creates an empty database in the server of TEST_DATABASE_URL.
    pub async fn shared() -> Self {
        Self::Shared(test_support::TestDatabase::empty().await)
    }

    /// Returns the address that processes get as DATABASE_URL.
    pub fn url(&self) -> String {
        match self {
            Self::Shared(database) => database.url(),
            Self::Own(server) => format!("postgres://postgres@127.0.0.1:{}/postgres", server.port),
        }
    }
}

/// A PostgreSQL that a test may stop and crash.
#[derive(Debug)]
pub struct Server {
    volume: Option<Volume>,
    folder: TempDir,
    bin: PathBuf,
    port: u16,
}

impl Server {
    /// Creates and starts a server; `None` if PostgreSQL's programs are not installed.
    pub fn start_new() -> Option<Self> {
        Self::start_on(None, tempfile::tempdir().expect("a folder can be made"))
    }

    /// Same as `start_new`, on a disk of `megabytes`; `None` if that is not possible either.
    pub fn start_on_a_disk_of(megabytes: u32) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder can be made");
        Self::start_on(Some(Volume::mount(folder.path(), megabytes)?), folder)
    }

    fn start_on(volume: Option<Volume>, folder: TempDir) -> Option<Self> {
        let bin = programs()?;
        let server = Self { volume, folder, bin, port: free_port() };
        fs::set_permissions(server.folder.path(), fs::Permissions::from_mode(0o755))
            .expect("a folder of ours");
        let data = server.data();
        fs::create_dir(&data).expect("a folder can be made");
        if is_root() {
            let mut chown = Command::new("chown");
            chown.arg("postgres").arg(&data);
            output(chown);
        }
        let mut initdb = server.program("initdb");
        initdb.arg("-D").arg(&data).args([
            "-U",
            "postgres",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--locale=C",
            "--no-sync",
        ]);
        output(initdb);
        server.start();
        Some(server)
    }

    /// Starts the server; the port stays the same.
    pub fn start(&self) {
        // fsync stays on, because some tests are about the state after a crash.
        let options = format!(
            "-p {} -k {} -c listen_addresses=127.0.0.1 -c max_connections=100",
            self.port,
            self.data().display()
        );
        let log = self.data().join("server.log");
        let mut start = self.program("pg_ctl");
        start.arg("-D").arg(self.data()).arg("-l").arg(log).args(["-w", "-t", "60", "-o", &options, "start"]);
        // The server keeps inherited files open, so reading a pipe of ours would never end.
        start.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        let status = start.status().expect("pg_ctl runs");
        let log = fs::read_to_string(self.data().join("server.log")).unwrap_or_default();
        assert!(status.success(), "PostgreSQL does not start:\n{log}");
    }

    /// Stops the server even if clients are connected.
    pub fn stop(&self) {
        self.end("fast");
    }

    /// Ends the server like a crash: nothing more is written.
    pub fn crash(&self) {
        self.end("immediate");
    }

    fn end(&self, mode: &str) {
        let mut stop = self.program("pg_ctl");
        stop.arg("-D").arg(self.data()).args(["-w", "-t", "60", "-m", mode, "stop"]);
        output(stop);
    }

    /// Returns the server's own disk.
    pub fn volume(&self) -> &Volume {
        self.volume.as_ref().expect("this server has a disk of its own")
    }

    /// Returns the cluster's data folder.
    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Returns the port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the process id of the server's first process, if it runs.
    pub fn id(&self) -> Option<u32> {
        fs::read_to_string(self.data().join("postmaster.pid")).ok()?.lines().next()?.trim().parse().ok()
    }

    /// Requires a password for connections as `role`, from the next start on.
    pub fn require_password_for(&self, role: &str) {
        let rules = self.data().join("pg_hba.conf");
        let others = fs::read_to_string(&rules).expect("a cluster has rules");
        fs::write(rules, format!("host all {role} all scram-sha-256\n{others}"))
            .expect("rules can be written");
    }

    /// Builds a command for one of PostgreSQL's programs, as another user, because PostgreSQL refuses to run as root.
    pub fn program(&self, name: &str) -> Command {
        let program = self.bin.join(name);
        let mut command = if is_root() {
            let mut command = Command::new("runuser");
            command.args(["-u", "postgres", "--"]).arg(program);
            command
        } else {
            Command::new(program)
        };
        command.current_dir("/");
        command
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let mut stop = self.program("pg_ctl");
        stop.arg("-D").arg(self.data()).args(["-w", "-m", "immediate", "stop"]);
        let _ = stop.output();
    }
}

/// A small file system in memory.
#[derive(Debug)]
pub struct Volume {
    path: PathBuf,
}

impl Volume {
    /// Mounts a volume at `path`; `None` if this process may not mount.
    fn mount(path: &Path, megabytes: u32) -> Option<Self> {
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={megabytes}m,mode=755"), "tmpfs"]).arg(path);
        let mounted = mount.stderr(std::process::Stdio::null()).status();
        mounted.is_ok_and(|status| status.success()).then(|| Self { path: path.to_owned() })
    }

    /// Fills the volume except for `kilobytes`, until [`Volume::release_space`].
    pub fn fill_except(&self, kilobytes: u64) {
        let mut df = Command::new("df");
        df.args(["--output=avail", "--block-size=1K"]).arg(&self.path);
        let free: u64 =
            output(df).lines().last().unwrap_or_default().trim().parse().expect("df says a number");
        let ballast = vec![0; usize::try_from((free - kilobytes) * 1024).expect("it is in memory")];
        fs::write(self.ballast(), ballast).expect("there is as much room");
    }

    /// Removes the filling.
    pub fn release_space(&self) {
        fs::remove_file(self.ballast()).expect("it was filled");
    }

    fn ballast(&self) -> PathBuf {
        self.path.join("ballast")
    }
}

impl Drop for Volume {
    fn drop(&mut self) {
        // A lazy unmount, because the server's last process may still be ending.
        let _ = Command::new("umount").arg("--lazy").arg(&self.path).status();
    }
}

/// Returns the folder of `initdb` and `pg_ctl`: the newest version from Debian's packages, else from `PATH`.
pub fn programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let newest = versions
        .filter_map(|entry| entry.file_name().to_string_lossy().parse::<u32>().ok())
        .filter(|version| Path::new(&format!("/usr/lib/postgresql/{version}/bin/initdb")).exists())
        .max();
    if let Some(version) = newest {
        return Some(format!("/usr/lib/postgresql/{version}/bin").into());
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).find(|folder| folder.join("initdb").exists())
}

/// Creates a folder that PostgreSQL's user can enter.
pub fn open_folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder can be made");
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("a folder of ours");
    folder
}

pub fn is_root() -> bool {
    let mut id = Command::new("id");
    id.arg("-u");
    output(id).trim() == "0"
}
