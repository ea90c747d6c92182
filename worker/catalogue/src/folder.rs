//! A folder of snapshots shared by the processes of a machine.
//!
//! One process builds a snapshot while the others wait on a file lock, which ends with the process. Then all of them
//! map the same file. A snapshot is written under a temporary name and renamed once it is on the disk. A damaged
//! snapshot is refused and rebuilt. Before a snapshot is built it may be fetched from the store of other machines; a
//! fetched file gets the same checks. If no folder is writable, every process keeps the snapshot in its own memory.

use std::fs::{self, DirBuilder, File};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::snapshot::{BuildError, Builder, FORMAT, Snapshot, SnapshotError, chemistry};

/// Identity of the content of a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SnapshotContent {
    /// Identifier of the database.
    pub database: u64,
    /// Catalogue version, as users count it.
    pub version: i64,
    /// Digest that distinguishes this content from other content of the same version.
    pub digest: u64,
}

impl SnapshotContent {
    /// File name of the snapshot, in any store. The same content in the same release has the same name and the same
    /// bytes.
    #[must_use]
    pub fn file_name(&self) -> String {
        let Self { database, version, digest } = self;
        // Releases with another file format or another numbering of molecules use other names.
        format!("{}{version}-{digest:016x}-{FORMAT}-{:016x}.{ENDING}", name_prefix(*database), chemistry())
    }
}

/// Common prefix of the names of all snapshots of a database.
#[must_use]
pub fn name_prefix(database: u64) -> String {
    format!("{database:016x}-")
}

/// Catalogue version in the name of a snapshot.
#[must_use]
pub fn version_in_name(name: &str) -> Option<i64> {
    name.strip_suffix(ENDING)?.split('-').nth(1)?.parse().ok()
}

const ENDING: &str = "snapshot";

/// A folder of snapshots.
#[derive(Debug, Clone)]
pub struct SnapshotFolder {
    path: PathBuf,
    cores: usize,
}

/// Result of an attempt to fetch a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FetchOutcome {
    /// The file was written, and appears to be complete.
    Written,
    /// There is no such file, or the store could not be reached.
    Nothing,
}

/// A usable snapshot.
#[derive(Debug)]
pub struct OpenedSnapshot {
    /// The snapshot.
    pub snapshot: Snapshot,
    /// Source of the snapshot.
    pub origin: SnapshotOrigin,
    /// Fault of the file that was found or fetched.
    pub refused: Option<SnapshotError>,
}

/// Source of a snapshot.
#[derive(Debug)]
pub enum SnapshotOrigin {
    /// The snapshot was already in the folder.
    Found,
    /// The snapshot was fetched from the store of other machines.
    Fetched,
    /// This process built the snapshot for all processes: its content, and its path.
    Made(SnapshotContent, PathBuf),
    /// This process built the snapshot for itself, because the folder cannot be used.
    Alone(io::Error),
}

impl SnapshotFolder {
    /// Uses the folder at `path`, which need not exist yet. Files are checked and built on `cores` cores.
    #[must_use]
    pub fn new(path: PathBuf, cores: usize) -> Self {
        Self { path, cores }
    }

    /// Maps the snapshot of the requested `content`. If it is missing, `fetch` may write it to a file; otherwise
    /// `make` builds it. The catalogue may have changed by then, so `make` returns the content that it used. A
    /// process that waited for another asks for the content again.
    ///
    /// # Errors
    /// Fails if `content` or `make` fails, or if no snapshot can be built from the catalogue.
    pub fn open_or_build<E: From<BuildError>>(
        &self,
        content: impl Fn() -> Result<SnapshotContent, E>,
        fetch: impl FnOnce(&SnapshotContent, &Path) -> FetchOutcome,
        make: impl FnOnce(Builder) -> Result<(SnapshotContent, Builder), E>,
    ) -> Result<OpenedSnapshot, E> {
        let wanted = content()?;
        if let Ok(Some(snapshot)) = self.open(wanted) {
            return Ok(OpenedSnapshot { snapshot, origin: SnapshotOrigin::Found, refused: None });
        }
        let lock = self.lock(wanted.database);
        let wanted = content()?;
        let mut refused = match self.open(wanted) {
            Ok(Some(snapshot)) => {
                return Ok(OpenedSnapshot { snapshot, origin: SnapshotOrigin::Found, refused: None });
            }
            Ok(None) => None,
            Err(error) => Some(error),
        };
        if lock.is_ok() {
            match self.fetch_snapshot(wanted, fetch) {
                Ok(Some(snapshot)) => {
                    return Ok(OpenedSnapshot { snapshot, origin: SnapshotOrigin::Fetched, refused });
                }
                Ok(None) => {}
                Err(error) => refused = Some(error),
            }
        }
        let (made, mut builder) = make(Builder::new(self.cores))?;
        let written = lock.and_then(|_lock| self.write(made, &mut builder));
        let (snapshot, origin) = match written {
            Ok(snapshot) => (snapshot?, SnapshotOrigin::Made(made, self.path.join(made.file_name()))),
            Err(error) => (self.in_memory(made, builder)?, SnapshotOrigin::Alone(error)),
        };
        Ok(OpenedSnapshot { snapshot, origin, refused })
    }

    /// Opens the snapshot of this content, if it is in the folder.
    fn open(&self, content: SnapshotContent) -> Result<Option<Snapshot>, SnapshotError> {
        let path = self.path.join(content.file_name());
        match self.own(&path) {
            Ok(()) => Snapshot::open(&path, self.cores).map(Some),
            Err(_) => Ok(None),
        }
    }

    /// Fetches the snapshot from elsewhere, if there is one. It is kept in the folder if it passes the checks.
    fn fetch_snapshot(
        &self,
        content: SnapshotContent,
        fetch: impl FnOnce(&SnapshotContent, &Path) -> FetchOutcome,
    ) -> Result<Option<Snapshot>, SnapshotError> {
        let path = self.path.join(content.file_name());
        let unfinished = path.with_extension("fetched");
        let placed = match fetch(&content, &unfinished) {
            FetchOutcome::Written => Snapshot::open(&unfinished, self.cores)
                .and_then(|snapshot| Ok(fs::rename(&unfinished, &path).map(|()| Some(snapshot))?)),
            FetchOutcome::Nothing => Ok(None),
        };
        match placed {
            Ok(Some(_)) => self.remove_others(content),
            // A partial file may be left.
            _ => drop(fs::remove_file(&unfinished)),
        }
        placed
    }

    /// Takes the lock of the process that builds a snapshot of this database.
    fn lock(&self, database: u64) -> io::Result<File> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.path)?;
        self.own(&self.path)?;
        let file = File::create(self.path.join(format!("{database:016x}.lock")))?;
        file.lock()?;
        Ok(file)
    }

    /// Checks that only this user can have written the path.
    fn own(&self, path: &Path) -> io::Result<()> {
        let (user, found) = (rustix::process::geteuid().as_raw(), fs::metadata(path)?);
        if found.uid() == user && found.mode() & 0o022 == 0 {
            return Ok(());
        }
        let others = format!("{} is another user's, or others may write to it", path.display());
        Err(io::Error::new(ErrorKind::PermissionDenied, others))
    }

    /// Writes a snapshot and maps it. The outer error is a fault of the folder, the inner one a fault of the content.
    fn write(
        &self,
        content: SnapshotContent,
        builder: &mut Builder,
    ) -> io::Result<Result<Snapshot, BuildError>> {
        let path = self.path.join(content.file_name());
        let unfinished = path.with_extension("unfinished");
        let file = BufWriter::with_capacity(1 << 20, File::create(&unfinished)?);
        let mut file = match builder.write(content.version, file) {
            Ok(file) => file,
            Err(BuildError::Io(error)) => {
                // The partial file takes disk space, which may have been what was missing.
                let _ = fs::remove_file(&unfinished);
                return Err(error);
            }
            Err(error) => return Ok(Err(error)),
        };
        file.flush()?;
        file.get_ref().sync_all()?;
        fs::rename(&unfinished, &path)?;
        File::open(&self.path)?.sync_all()?;
        self.remove_others(content);
        Ok(Ok(Snapshot::open(&path, self.cores).map_err(io::Error::other)?))
    }

    /// Removes the snapshots of earlier content of this database. A process that has one mapped keeps it.
    fn remove_others(&self, content: SnapshotContent) {
        let (own, of_database) = (content.file_name(), name_prefix(content.database));
        let files = fs::read_dir(&self.path).into_iter().flatten().flatten();
        for file in files {
            let name = file.file_name();
            let name = name.to_string_lossy();
            let is_older = || version_in_name(&name).is_some_and(|older| older <= content.version);
            if name.starts_with(&of_database) && name != own && is_older() {
                // Another process may have removed it first.
                let _ = fs::remove_file(file.path());
            }
        }
    }

    fn in_memory(&self, content: SnapshotContent, builder: Builder) -> Result<Snapshot, BuildError> {
        let bytes = builder.into_bytes(content.version)?;
        Ok(Snapshot::from_bytes(&bytes, self.cores).expect("folder: what was just written is sound"))
    }
}
