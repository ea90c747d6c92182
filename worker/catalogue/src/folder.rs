//! Snapshots in a folder that the processes of a machine share.
//!
//! One process makes a snapshot while the others wait for it (a lock on a file, which ends with the process), and then all of them
//! map the same file. It is written under another name, and renamed when it lies on the disk; one that is damaged is refused and
//! made anew. Before one is made it may be fetched from where other machines put theirs; what comes from there is checked as all else
//! is. Where there is no folder to write to, every process has the snapshot in its own memory.

use std::fs::{self, DirBuilder, File};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::snapshot::{BuildError, Builder, FORMAT, Snapshot, SnapshotError, chemistry};

/// What a snapshot is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Content {
    /// Which database.
    pub database: u64,
    /// Which version of the catalogue, as people count them.
    pub version: i64,
    /// What tells this content from any other of the same version.
    pub digest: u64,
}

impl Content {
    /// What its snapshot is called, wherever it lies: the same content in the same release has the same name, and the same bytes.
    #[must_use]
    pub fn file_name(&self) -> String {
        let Self { database, version, digest } = self;
        // Releases that read other files or number molecules otherwise keep out of each other's way.
        format!("{}{version}-{digest:016x}-{FORMAT}-{:016x}.{ENDING}", names_of(*database), chemistry())
    }
}

/// What the names of all snapshots of a database begin with.
#[must_use]
pub fn names_of(database: u64) -> String {
    format!("{database:016x}-")
}

/// The version in the name of a snapshot.
#[must_use]
pub fn version_of(name: &str) -> Option<i64> {
    name.strip_suffix(ENDING)?.split('-').nth(1)?.parse().ok()
}

const ENDING: &str = "snapshot";

/// A folder of snapshots.
#[derive(Debug, Clone)]
pub struct Folder {
    path: PathBuf,
    cores: usize,
}

/// Whether a file was fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fetched {
    /// It was written, whole as far as anybody knows.
    Written,
    /// There is none, or nobody could ask.
    Nothing,
}

/// A snapshot that can be used.
#[derive(Debug)]
pub struct Opened {
    /// The snapshot.
    pub snapshot: Snapshot,
    /// Where it comes from.
    pub origin: Origin,
    /// What was wrong with the file that was there, or that was fetched.
    pub refused: Option<SnapshotError>,
}

/// Where a snapshot comes from.
#[derive(Debug)]
pub enum Origin {
    /// It lay in the folder.
    Found,
    /// It was fetched from where another machine put it.
    Fetched,
    /// This process made it for all: of this content, and there it lies.
    Made(Content, PathBuf),
    /// This process made it for itself, since the folder cannot be used.
    Alone(io::Error),
}

impl Folder {
    /// The folder at `path`, which need not be there yet; files are checked and made on `cores` cores.
    #[must_use]
    pub fn new(path: PathBuf, cores: usize) -> Self {
        Self { path, cores }
    }

    /// Maps the snapshot of the `content` that is asked for; else has `fetch` write it to a file, if it can; else makes it. What there
    /// is to make it of may have changed by then, so that `make` says what it was; a process that waited for another asks anew.
    ///
    /// # Errors
    /// Fails where `content` and `make` do, or where no snapshot can be made of what there is.
    pub fn open_or_make<E: From<BuildError>>(
        &self,
        content: impl Fn() -> Result<Content, E>,
        fetch: impl FnOnce(&Content, &Path) -> Fetched,
        make: impl FnOnce(Builder) -> Result<(Content, Builder), E>,
    ) -> Result<Opened, E> {
        let wanted = content()?;
        if let Ok(Some(snapshot)) = self.open(wanted) {
            return Ok(Opened { snapshot, origin: Origin::Found, refused: None });
        }
        let lock = self.lock(wanted.database);
        let wanted = content()?;
        let mut refused = match self.open(wanted) {
            Ok(Some(snapshot)) => return Ok(Opened { snapshot, origin: Origin::Found, refused: None }),
            Ok(None) => None,
            Err(error) => Some(error),
        };
        if lock.is_ok() {
            match self.take(wanted, fetch) {
                Ok(Some(snapshot)) => return Ok(Opened { snapshot, origin: Origin::Fetched, refused }),
                Ok(None) => {}
                Err(error) => refused = Some(error),
            }
        }
        let (made, mut builder) = make(Builder::new(self.cores))?;
        let written = lock.and_then(|_lock| self.write(made, &mut builder));
        let (snapshot, origin) = match written {
            Ok(snapshot) => (snapshot?, Origin::Made(made, self.path.join(made.file_name()))),
            Err(error) => (self.in_memory(made, builder)?, Origin::Alone(error)),
        };
        Ok(Opened { snapshot, origin, refused })
    }

    /// The snapshot of this content, if it lies there.
    fn open(&self, content: Content) -> Result<Option<Snapshot>, SnapshotError> {
        let path = self.path.join(content.file_name());
        match self.own(&path) {
            Ok(()) => Snapshot::open(&path, self.cores).map(Some),
            Err(_) => Ok(None),
        }
    }

    /// The snapshot that is fetched from elsewhere, if there is one; it lies in the folder when it was found sound.
    fn take(
        &self,
        content: Content,
        fetch: impl FnOnce(&Content, &Path) -> Fetched,
    ) -> Result<Option<Snapshot>, SnapshotError> {
        let path = self.path.join(content.file_name());
        let unfinished = path.with_extension("fetched");
        let placed = match fetch(&content, &unfinished) {
            Fetched::Written => Snapshot::open(&unfinished, self.cores)
                .and_then(|snapshot| Ok(fs::rename(&unfinished, &path).map(|()| Some(snapshot))?)),
            Fetched::Nothing => Ok(None),
        };
        match placed {
            Ok(Some(_)) => self.remove_others(content),
            // A part of it may be there.
            _ => drop(fs::remove_file(&unfinished)),
        }
        placed
    }

    /// Held by the process that makes a snapshot of this database.
    fn lock(&self, database: u64) -> io::Result<File> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.path)?;
        self.own(&self.path)?;
        let file = File::create(self.path.join(format!("{database:016x}.lock")))?;
        file.lock()?;
        Ok(file)
    }

    /// Whether nobody but this user can have written what is mapped.
    fn own(&self, path: &Path) -> io::Result<()> {
        let (user, found) = (rustix::process::geteuid().as_raw(), fs::metadata(path)?);
        if found.uid() == user && found.mode() & 0o022 == 0 {
            return Ok(());
        }
        let others = format!("{} is another user's, or others may write to it", path.display());
        Err(io::Error::new(ErrorKind::PermissionDenied, others))
    }

    /// Writes a snapshot and maps it. What is wrong with the folder is an outer fault, what is wrong with the content an inner one.
    fn write(&self, content: Content, builder: &mut Builder) -> io::Result<Result<Snapshot, BuildError>> {
        let path = self.path.join(content.file_name());
        let unfinished = path.with_extension("unfinished");
        let file = BufWriter::with_capacity(1 << 20, File::create(&unfinished)?);
        let mut file = match builder.write(content.version, file) {
            Ok(file) => file,
            Err(BuildError::Io(error)) => {
                // What there is of it takes room that may have been what it lacked.
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

    /// Removes the snapshots of what this database held before. Who has one mapped keeps it.
    fn remove_others(&self, content: Content) {
        let (own, of_database) = (content.file_name(), names_of(content.database));
        let files = fs::read_dir(&self.path).into_iter().flatten().flatten();
        for file in files {
            let name = file.file_name();
            let name = name.to_string_lossy();
            let is_older = || version_of(&name).is_some_and(|older| older <= content.version);
            if name.starts_with(&of_database) && name != own && is_older() {
                // Another process may have been quicker.
                let _ = fs::remove_file(file.path());
            }
        }
    }

    fn in_memory(&self, content: Content, builder: Builder) -> Result<Snapshot, BuildError> {
        let bytes = builder.into_bytes(content.version)?;
        Ok(Snapshot::from_bytes(&bytes, self.cores).expect("folder: what was just written is sound"))
    }
}
