//! Bounded reading of untrusted files.

use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

use serde_json::Value;

/// Maximum size of a JSON file or model card.
pub const MAX_JSON_BYTES: u64 = 64 << 20;
/// Maximum size of a weights file: no model for these engines comes near it.
pub const MAX_WEIGHTS_BYTES: u64 = 4 << 30;

/// Reason why a file cannot be read, before its contents are known.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file is missing, is no regular file, or cannot be read.
    #[error("{}: {cause}", file.display())]
    Unreadable { file: PathBuf, cause: io::Error },
    /// The file is larger than anything that belongs there.
    #[error("{}: larger than the {limit} bytes that it may have", file.display())]
    TooLarge { file: PathBuf, limit: u64 },
    /// The file is not JSON.
    #[error("{}: {cause}", file.display())]
    Json { file: PathBuf, cause: serde_json::Error },
}

/// Reads a whole file of at most `limit` bytes.
pub fn bytes(file: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
    let unreadable = |cause| ReadError::Unreadable { file: file.to_owned(), cause };
    let opened = open(file)?;
    let mut bytes = Vec::new();
    // The length from the file system is not trusted: the file may grow, or may not be a regular file.
    opened.take(limit + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > limit {
        return Err(ReadError::TooLarge { file: file.to_owned(), limit });
    }
    Ok(bytes)
}

/// Reads a JSON file of reasonable size.
pub fn json(file: &Path) -> Result<Value, ReadError> {
    serde_json::from_slice(&bytes(file, MAX_JSON_BYTES)?)
        .map_err(|cause| ReadError::Json { file: file.to_owned(), cause })
}

/// Opens a regular file; a pipe or a device could block a reader for ever.
pub fn open(file: &Path) -> Result<File, ReadError> {
    let unreadable = |cause| ReadError::Unreadable { file: file.to_owned(), cause };
    let metadata = file.metadata().map_err(unreadable)?;
    if !metadata.is_file() {
        return Err(unreadable(io::Error::other("is not a file")));
    }
    File::open(file).map_err(unreadable)
}

/// Reads the first `N` bytes of a file, or fewer if it is shorter.
pub fn beginning<const N: usize>(file: &Path) -> Result<Vec<u8>, ReadError> {
    let mut bytes = Vec::new();
    open(file)?
        .take(N as u64)
        .read_to_end(&mut bytes)
        .map_err(|cause| ReadError::Unreadable { file: file.to_owned(), cause })?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_is_too_large_is_not_read() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "12345").unwrap();

        assert_eq!(bytes(file.path(), 5).unwrap(), b"12345");
        let fault = bytes(file.path(), 4).unwrap_err().to_string();

        assert!(fault.ends_with("larger than the 4 bytes that it may have"), "{fault}");
    }

    #[test]
    fn what_is_no_file_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        for path in [folder.path(), Path::new("/dev/zero")] {
            assert!(bytes(path, 4).unwrap_err().to_string().ends_with("is not a file"));
        }
    }
}
