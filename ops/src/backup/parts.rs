//! The files of a backup: written with a checksum, and verified against it.

use std::{
    fmt::Write as _,
    fs::{self, File, OpenOptions},
    io::{self, Read, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
};

use anyhow::{Context as _, anyhow};
use indicatif::ProgressBar;
use sha2::{Digest as _, Sha256};

use super::manifest::{BackupPart, Manifest};
use crate::{failure::Failure, terminal};

/// Bytes per read.
const BLOCK: usize = 1 << 20;

/// Writes the content of `source` to the file `path` of the backup in `folder`, synced to disk and readable only by
/// its owner.
pub fn write(folder: &Path, path: &str, source: impl Read, bar: &ProgressBar) -> Result<BackupPart, Failure> {
    let file = folder.join(path);
    let doing = || format!("writing {}", file.display());
    if let Some(parent) = file.parent() {
        fs::create_dir_all(parent).with_context(doing)?;
    }
    let mut to =
        OpenOptions::new().create_new(true).write(true).mode(0o600).open(&file).with_context(doing)?;
    let (bytes, sha256) = copy(source, |block| {
        bar.inc(block.len() as u64);
        to.write_all(block)
    })
    .with_context(doing)?;
    to.sync_all().with_context(doing)?;
    Ok(BackupPart { path: path.to_owned(), bytes, sha256 })
}

/// Reads every part of the backup in `folder` and compares it with the manifest.
///
/// # Errors
/// Fails at the first part that is missing or differs in length or checksum.
pub fn verify(folder: &Path, manifest: &Manifest) -> Result<(), Failure> {
    let bar = terminal::bytes_bar(manifest.parts.iter().map(|part| part.bytes).sum(), "checking the backup");
    for part in &manifest.parts {
        let file = folder.join(&part.path);
        let damaged = |how: String| anyhow!("the backup is damaged: {} {how}", file.display());
        let opened = File::open(&file).map_err(|error| damaged(format!("cannot be read ({error})")))?;
        let length = opened.metadata().map_err(|error| damaged(error.to_string()))?.len();
        if length != part.bytes {
            return Err(damaged(format!("has {length} bytes instead of {}", part.bytes)).into());
        }
        let (_, sha256) = copy(opened, |block| {
            bar.inc(block.len() as u64);
            Ok(())
        })
        .map_err(|error| damaged(format!("cannot be read ({error})")))?;
        if sha256 != part.sha256 {
            return Err(damaged("is not what was written (another checksum)".to_owned()).into());
        }
    }
    bar.finish_and_clear();
    Ok(())
}

/// Passes the content of `source` to `take`, block by block; returns its length and its SHA-256.
fn copy(mut source: impl Read, mut take: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<(u64, String)> {
    let (mut hash, mut bytes, mut block) = (Sha256::new(), 0, vec![0; BLOCK]);
    loop {
        let length = match source.read(&mut block) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        hash.update(&block[..length]);
        take(&block[..length])?;
        bytes += length as u64;
    }
    let digits = hash.finalize().iter().fold(String::new(), |mut digits, byte| {
        write!(digits, "{byte:02x}").expect("a string can be written to");
        digits
    });
    Ok((bytes, digits))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use chrono::DateTime;

    use super::*;

    #[test]
    fn a_part_that_is_cut_short_or_changed_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let part = write(folder.path(), "models/a/b", &b"the backup"[..], &ProgressBar::hidden()).unwrap();
        assert_eq!(part.bytes, 10);
        assert_eq!(part.sha256.len(), 64);
        let mut manifest = Manifest::new(1, DateTime::UNIX_EPOCH, "17".to_owned(), BTreeMap::new());
        manifest.parts = vec![part];
        verify(folder.path(), &manifest).unwrap();

        for (bytes, fault) in
            [(&b"the back"[..], "has 8 bytes instead of 10"), (b"the bookup", "another checksum")]
        {
            fs::write(folder.path().join("models/a/b"), bytes).unwrap();
            let found = verify(folder.path(), &manifest).unwrap_err().to_string();
            assert!(found.contains(fault), "{found}");
        }
        fs::remove_file(folder.path().join("models/a/b")).unwrap();
        assert!(verify(folder.path(), &manifest).unwrap_err().to_string().contains("cannot be read"));
    }
}
