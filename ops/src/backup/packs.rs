//! Model packs that were imported or trained here: those of the last models folder, to which new packs go. Packs that
//! ship with the release are not backed up.

use std::{
    collections::BTreeMap,
    fs::{self, File, Permissions},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use model_tools::ModelsFolder;

use super::manifest::{BackupPart, MODELS, Manifest};
use super::parts;
use crate::{failure::Failure, terminal};

/// Result of restoring the packs of a backup.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct RestoredPacks {
    /// Added to the models.
    pub new: Vec<String>,
    /// Already there, and identical.
    pub same: Vec<String>,
    /// Not restored: a folder of this name holds a different pack, which stays.
    pub other: Vec<String>,
}

/// Copies the packs to the backup in `folder` and returns their names.
pub fn take(
    models: &ModelsFolder,
    folder: &Path,
    into: &mut Vec<BackupPart>,
) -> Result<Vec<String>, Failure> {
    let bar = terminal::bytes_spinner("copying the models");
    let mut names = Vec::new();
    for pack in models.own_packs()? {
        let name = pack.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for file in files(&pack)? {
            let doing = || format!("reading {}", file.display());
            let within = file.strip_prefix(&pack).expect("packs: a file lies in its pack");
            let path = Path::new(MODELS).join(&name).join(within);
            let source = File::open(&file).with_context(doing)?;
            into.push(parts::write(folder, &path.to_string_lossy(), source, &bar)?);
        }
        names.push(name);
    }
    bar.finish_and_clear();
    Ok(names)
}

/// Copies the packs of the backup in `folder` to the models; existing packs stay.
pub fn place(models: &ModelsFolder, folder: &Path, manifest: &Manifest) -> Result<RestoredPacks, Failure> {
    let mut packs: BTreeMap<&str, Vec<&BackupPart>> = BTreeMap::new();
    for part in &manifest.parts {
        let within = part.path.strip_prefix(MODELS).and_then(|path| path.strip_prefix('/'));
        if let Some((name, _)) = within.and_then(|path| path.split_once('/')) {
            packs.entry(name).or_default().push(part);
        }
    }
    let mut placed = RestoredPacks::default();
    for (name, parts) in packs {
        let target = models.own().join(name);
        let prefix = Path::new(MODELS).join(name);
        let there = |part: &&BackupPart| {
            let within = Path::new(&part.path).strip_prefix(&prefix).expect("packs: parts are of the pack");
            is_same(&folder.join(&part.path), &target.join(within))
        };
        let outcome = if target.symlink_metadata().is_err() {
            copy(&folder.join(&prefix), &target)?;
            &mut placed.new
        } else if parts.iter().all(there) {
            &mut placed.same
        } else {
            &mut placed.other
        };
        outcome.push(name.to_owned());
    }
    Ok(placed)
}

/// Copies a pack; workers see it once it is complete.
fn copy(from: &Path, target: &Path) -> Result<(), Failure> {
    let doing = || format!("writing {}", target.display());
    let among = target.parent().expect("packs: a pack lies in a folder");
    fs::create_dir_all(among).with_context(doing)?;
    let draft = tempfile::Builder::new().prefix(".import-").tempdir_in(among).with_context(doing)?;
    for file in files(from)? {
        let within = file.strip_prefix(from).expect("packs: a file lies in its pack");
        let to = draft.path().join(within);
        fs::create_dir_all(to.parent().unwrap_or(among)).with_context(doing)?;
        fs::copy(&file, &to).with_context(doing)?;
        // A backup is readable only by its owner, but the workers may run as another user.
        fs::set_permissions(&to, Permissions::from_mode(0o644)).with_context(doing)?;
        File::open(&to).and_then(|file| file.sync_all()).with_context(doing)?;
    }
    fs::set_permissions(draft.path(), Permissions::from_mode(0o755)).with_context(doing)?;
    fs::rename(draft.path(), target).with_context(doing)?;
    // The folder has moved, so there is nothing left to clean up.
    let _ = draft.keep();
    Ok(())
}

fn is_same(one: &Path, other: &Path) -> bool {
    matches!((fs::read(one), fs::read(other)), (Ok(one), Ok(other)) if one == other)
}

/// All files of a folder and its subfolders, sorted.
fn files(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let doing = || format!("reading {}", folder.display());
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).with_context(doing)? {
        let path = entry.with_context(doing)?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;

    #[test]
    fn packs_come_back_where_they_are_gone_and_nothing_is_written_over() {
        let (models, backup) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let folder = ModelsFolder::new(vec![PathBuf::from("/shipped"), models.path().to_owned()]).unwrap();
        let write = |name: &str, text: &str| {
            let file = models.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        write("gone/config.json", "1");
        write("kept/config.json", "2");
        write("changed/deep/config.json", "3");
        write(".import-torn/config.json", "4");
        let mut manifest = Manifest::new(1, DateTime::UNIX_EPOCH, "17".to_owned(), BTreeMap::new());

        let taken = take(&folder, backup.path(), &mut manifest.parts).unwrap();
        fs::remove_dir_all(models.path().join("gone")).unwrap();
        write("changed/deep/config.json", "other");
        let placed = place(&folder, backup.path(), &manifest).unwrap();

        assert_eq!(taken, ["changed", "gone", "kept"]);
        assert_eq!((placed.new, placed.same), (vec!["gone".to_owned()], vec!["kept".to_owned()]));
        assert_eq!(placed.other, ["changed"]);
        let text = |name: &str| fs::read_to_string(models.path().join(name)).unwrap();
        assert_eq!(
            (text("gone/config.json"), text("changed/deep/config.json")),
            ("1".into(), "other".into())
        );
    }
}
