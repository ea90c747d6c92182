//! Processes of the service, started from cargo's output folder, with their logs kept.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use test_support::WAIT_TIMEOUT;

/// Builds a command that runs one of the workspace's binaries in the repository's root.
pub fn binary(name: &str) -> Command {
    binary_of(&binaries(), name)
}

/// Returns the folder of the workspace's binaries.
pub fn binaries() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_retort")).parent().expect("a binary lies in a folder").to_owned()
}

/// Same as `binary`, for a binary in `folder`.
pub fn binary_of(folder: &Path, name: &str) -> Command {
    let beside = folder.join(name);
    assert!(
        beside.exists(),
        "{} is not built: run `cargo build --release -p api -p worker -p ops`, or ./ops/test, which does",
        beside.display()
    );
    let mut command = Command::new(beside);
    command.current_dir(root()).stdin(Stdio::null());
    // The test's environment must not reach the service.
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("OTEL_")
            || text.starts_with("RETORT_")
            || text.starts_with("DATABASE_")
            || text == "RUST_LOG"
        {
            command.env_remove(name);
        }
    }
    command
}

/// Returns the repository's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("ops lies in the root").to_owned()
}

/// Runs a command to its end and returns its standard output; if the command fails, the panic shows its output.
pub fn output(mut command: Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(
        output.status.success(),
        "{command:?} ended with {}:\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("commands write UTF-8")
}

/// A running process; dropping it kills it.
#[derive(Debug)]
pub struct Process {
    name: String,
    child: Child,
    log: PathBuf,
}

impl Process {
    /// Starts `command`; its standard output and error go to `log`.
    pub fn start(name: &str, mut command: Command, log: PathBuf) -> Self {
        let file = File::create(&log).expect("a log can be made");
        command.stdout(file.try_clone().expect("a file can be shared")).stderr(file);
        let child = command.spawn().unwrap_or_else(|error| panic!("{name}: {error}"));
        Self { name: name.to_owned(), child, log }
    }

    /// Returns the output of the process so far.
    pub fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Fails with the process's log if the process has ended.
    pub fn assert_running(&mut self) {
        if let Some(status) = self.child.try_wait().expect("a child can be waited for") {
            panic!("{} ended with {status}:\n{}", self.name, self.log());
        }
    }

    /// Sends SIGKILL, so the process cannot clean up.
    pub fn kill(&mut self) {
        self.child.kill().expect("a child can be killed");
        self.child.wait().expect("a child can be waited for");
    }

    /// Sends SIGTERM and returns at once.
    pub fn terminate(&self) {
        signal("TERM", self.child.id());
    }

    /// Returns the process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns the live child processes.
    pub fn children(&self) -> Vec<u32> {
        let mut command = Command::new("ps");
        command.args(["-o", "pid=", "--ppid", &self.child.id().to_string()]);
        let found = command.output().expect("ps (procps) can be run");
        String::from_utf8_lossy(&found.stdout).split_whitespace().filter_map(|id| id.parse().ok()).collect()
    }

    /// Waits until the process ends.
    pub fn wait(&mut self) -> ExitStatus {
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("a child can be waited for") {
                return status;
            }
            assert!(begun.elapsed() < WAIT_TIMEOUT, "{} does not end:\n{}", self.name, self.log());
            thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // A process that keeps another one running would leave it behind.
        let left = self.children();
        let _ = self.child.kill();
        let _ = self.child.wait();
        for id in left {
            let _ = Command::new("kill").args(["-KILL", &id.to_string()]).stderr(Stdio::null()).status();
        }
        if thread::panicking() {
            println!("---- log of {} ----\n{}", self.name, self.log());
        }
    }
}

/// Sends a signal to a process, which may have ended.
pub fn signal(name: &str, id: u32) {
    let _ = Command::new("kill").args(["-s", name, &id.to_string()]).stderr(Stdio::null()).status();
}

/// Returns true if a program is installed; a missing one is reported among the skipped tests.
pub fn is_installed(program: &str) -> bool {
    let found = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    let found = found.is_ok_and(|status| status.success());
    if !found {
        println!("skipped: {program} is not installed");
    }
    found
}
