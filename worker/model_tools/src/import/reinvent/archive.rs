//! The zip that `torch.save` writes: `NAME/data.pkl`, `NAME/data/KEY` for every storage, `NAME/byteorder`.
//!
//! torch stores members without compression. Compressed members are refused, so nothing can decompress to more than
//! the file's length.

use std::{
    fs::File,
    io::{self, Read, Seek},
    path::Path,
};

use zip::{ZipArchive, result::ZipError};

use crate::read::{self, ReadError};

/// Maximum length of a prior's pickle: a hundred times the usual length.
const MAX_PICKLE_BYTES: u64 = 16 << 20;

/// An open archive.
#[derive(Debug)]
pub struct Archive<R = File> {
    zip: ZipArchive<R>,
    /// Prefix of the names of all members.
    prefix: String,
}

/// Reason why an archive cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The file cannot be opened.
    #[error(transparent)]
    File(#[from] ReadError),
    /// The file is truncated, or is no zip.
    #[error("not a readable zip archive: {0}")]
    Zip(ZipError),
    /// The archive has no pickle where `torch.save` writes one.
    #[error("no `data.pkl` in the archive: it was not written by torch.save")]
    NoPickle,
    /// A member is too long, or does not have the expected length.
    #[error("`{member}` in the archive has {found} bytes, wanted {wanted}")]
    Length {
        /// Name of the member.
        member: String,
        /// Actual length.
        found: u64,
        /// Expected length.
        wanted: String,
    },
    /// A member cannot be read.
    #[error("`{member}` in the archive: {cause}")]
    Member {
        /// Name of the member.
        member: String,
        /// Cause.
        cause: io::Error,
    },
    /// The numbers have the other byte order.
    #[error("written in `{0}` byte order, wanted `little`")]
    ByteOrder(String),
}

impl Archive {
    /// Opens the archive.
    pub fn open(file: &Path) -> Result<Self, ArchiveError> {
        Self::of(read::open(file)?)
    }
}

impl<R: Read + Seek> Archive<R> {
    /// Opens the archive in a reader.
    pub fn of(file: R) -> Result<Self, ArchiveError> {
        let zip = ZipArchive::new(file).map_err(ArchiveError::Zip)?;
        let is_pickle = |name: &&[u8]| *name == b"data.pkl" || name.ends_with(b"/data.pkl");
        let pickle = zip.file_names_raw().find(is_pickle).and_then(|name| std::str::from_utf8(name).ok());
        let prefix = pickle.and_then(|name| name.strip_suffix("data.pkl")).ok_or(ArchiveError::NoPickle)?;
        let mut archive = Self { prefix: prefix.to_owned(), zip };
        let order = archive.zip.index_for_name(&format!("{}byteorder", archive.prefix));
        if order.is_some() {
            let order = archive.member("byteorder", 16, None)?;
            if order != b"little" {
                return Err(ArchiveError::ByteOrder(String::from_utf8_lossy(&order).into_owned()));
            }
        }
        Ok(archive)
    }

    /// Reads the pickle.
    pub fn pickle(&mut self) -> Result<Vec<u8>, ArchiveError> {
        self.member("data.pkl", MAX_PICKLE_BYTES, None)
    }

    /// Reads the numbers of a storage, which must have `bytes` bytes.
    pub fn storage(&mut self, key: &str, bytes: u64) -> Result<Vec<u8>, ArchiveError> {
        self.member(&format!("data/{key}"), bytes, Some(bytes))
    }

    fn member(&mut self, name: &str, limit: u64, exactly: Option<u64>) -> Result<Vec<u8>, ArchiveError> {
        let member = format!("{}{name}", self.prefix);
        let entry = match self.zip.by_name(&member) {
            Ok(entry) => entry,
            Err(fault) => return Err(ArchiveError::Member { member, cause: fault.into() }),
        };
        let found = entry.size();
        if found > limit || exactly.is_some_and(|exactly| exactly != found) {
            let wanted = exactly.map_or_else(|| format!("at most {limit}"), |exactly| exactly.to_string());
            return Err(ArchiveError::Length { member, found, wanted });
        }
        let mut bytes = Vec::new();
        match entry.take(limit + 1).read_to_end(&mut bytes) {
            Ok(read) if read as u64 == found => Ok(bytes),
            Ok(read) => Err(ArchiveError::Length { member, found: read as u64, wanted: found.to_string() }),
            Err(cause) => Err(ArchiveError::Member { member, cause }),
        }
    }
}
