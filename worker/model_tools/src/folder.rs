//! The folders of the models, with one pack per subfolder. Names that begin with a dot are ignored.

use std::{
    fs::{self, File, Permissions},
    io,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context as _, anyhow};
use serde_json::Value;
use tempfile::TempDir;

use super::{ModelId, PackFolder};
use crate::error::ModelToolError;

/// Age after which an unfinished import or removal counts as killed.
const ABANDONED_AFTER: Duration = Duration::from_secs(3600);

/// Folders that hold the packs.
#[derive(Debug)]
pub struct ModelsFolder {
    /// Other folders, whose packs are only read and removed.
    others: Vec<PathBuf>,
    /// Folder for new packs.
    own: PathBuf,
}

/// A pack in preparation, which workers do not see. It is deleted unless it is [finished](Draft::finish).
#[derive(Debug)]
pub(crate) struct Draft {
    folder: TempDir,
    target: PathBuf,
    id: ModelId,
}

impl ModelsFolder {
    /// Uses the folders at `paths`; the last one takes new packs.
    ///
    /// # Errors
    /// Fails if `paths` is empty.
    pub fn new(mut paths: Vec<PathBuf>) -> Result<Self, ModelToolError> {
        let own = paths.pop().ok_or_else(|| ModelToolError::Usage("no folder of models is named".into()))?;
        Ok(Self { others: paths, own })
    }

    /// Returns all packs, complete or not, sorted by folder name within each folder.
    pub fn packs(&self) -> Result<Vec<PackFolder>, ModelToolError> {
        let mut packs = Vec::new();
        for path in self.others.iter().chain([&self.own]) {
            let doing = || format!("reading the models in {}", path.display());
            let mut folders = Vec::new();
            for entry in fs::read_dir(path).with_context(doing)? {
                let entry = entry.with_context(doing)?;
                let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
                if entry.path().is_dir() && !hidden {
                    folders.push(entry.path());
                }
            }
            folders.sort();
            packs.extend(folders.iter().map(|folder| PackFolder::open(folder)));
        }
        Ok(packs)
    }

    /// Returns the folder for new packs.
    pub fn own(&self) -> &Path {
        &self.own
    }

    /// Returns the folders of the packs there, in order; empty if the folder does not exist yet.
    pub fn own_packs(&self) -> Result<Vec<PathBuf>, ModelToolError> {
        let own = Self { others: Vec::new(), own: self.own.clone() };
        let packs = if self.own.exists() { own.packs()? } else { Vec::new() };
        Ok(packs.into_iter().map(|pack| pack.folder).collect())
    }

    /// Formats the folders for messages.
    fn display(&self) -> String {
        let paths = self.others.iter().chain([&self.own]);
        paths.map(|path| path.display().to_string()).collect::<Vec<_>>().join(":")
    }

    /// Returns the pack with this id, or else the one in the folder of this name.
    pub fn find(&self, id: &str) -> Result<PackFolder, ModelToolError> {
        let mut packs = self.packs()?;
        let known = packs.iter().map(PackFolder::id).collect::<Vec<_>>().join(", ");
        let place = match packs.iter().filter(|pack| pack.id() == id).count() {
            0 => packs.iter().position(|pack| pack.name() == id),
            1 => packs.iter().position(|pack| pack.id() == id),
            // Two folders claim the id; only the folder's name can decide.
            count => {
                return Err(anyhow!(
                    "{count} packs in {} are called `{id}`; `retort model check` says which",
                    self.display()
                )
                .into());
            }
        };
        let place =
            place.ok_or_else(|| anyhow!("no model `{id}` in {}; there are: {known}", self.display()))?;
        Ok(packs.swap_remove(place))
    }

    /// Returns the folder of a pack, by its id or, if the name contains a slash, by its path.
    pub fn locate(&self, name: &str) -> Result<PathBuf, ModelToolError> {
        if name.contains('/') && Path::new(name).is_dir() {
            return Ok(PathBuf::from(name));
        }
        Ok(self.find(name)?.folder)
    }

    /// Returns a path among the models that workers do not see; `name` begins with a dot.
    pub(crate) fn hidden(&self, name: &str) -> PathBuf {
        self.own.join(name)
    }

    /// Begins a new pack; `id` must be free.
    pub(crate) fn begin(&self, id: ModelId) -> Result<Draft, ModelToolError> {
        let target = self.own.join(id.as_str());
        if let Some(other) = self.packs()?.iter().find(|pack| pack.id() == id.as_str()) {
            return Err(taken(&id, &other.folder));
        }
        if target.symlink_metadata().is_ok() {
            return Err(taken(&id, &target));
        }
        self.delete_abandoned();
        let folder = tempfile::Builder::new()
            .prefix(".import-")
            .tempdir_in(&self.own)
            .with_context(|| format!("making a folder in {}", self.own.display()))?;
        Ok(Draft { folder, target, id })
    }

    /// Deletes the remains of killed imports and removals, as far as possible.
    fn delete_abandoned(&self) {
        for entry in fs::read_dir(&self.own).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let name = name.as_encoded_bytes();
            let ours = name.starts_with(b".import-") || name.starts_with(b".removed-");
            let written = entry.metadata().and_then(|metadata| metadata.modified());
            let age = written.ok().and_then(|written| written.elapsed().ok());
            if ours && age.is_some_and(|age| age > ABANDONED_AFTER) {
                // Folders of other users cannot be deleted; the error is ignored.
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }

    /// Removes a pack: first from the workers' view, then from the disk.
    pub fn remove(&self, pack: &PackFolder) -> Result<(), ModelToolError> {
        let doing = || format!("removing {}", pack.folder.display());
        if fs::symlink_metadata(&pack.folder).with_context(doing)?.is_symlink() {
            // Only the link is ours, not its target.
            fs::remove_file(&pack.folder).with_context(doing)?;
            return Ok(());
        }
        // Stays in the same folder, where a rename is atomic.
        let hidden = format!(".removed-{}-{}", pack.name(), std::process::id());
        let hidden = pack.folder.with_file_name(hidden);
        fs::rename(&pack.folder, &hidden).with_context(doing)?;
        fs::remove_dir_all(&hidden).with_context(|| format!("removing {}", hidden.display()))?;
        Ok(())
    }
}

impl Draft {
    /// Returns the folder to write the files to.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the id of the new pack.
    pub const fn id(&self) -> &ModelId {
        &self.id
    }

    /// Writes a file of the pack.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), ModelToolError> {
        let path = self.path().join(name);
        fs::write(&path, bytes).with_context(|| format!("writing {}", path.display()))?;
        Ok(())
    }

    /// Writes a JSON file of the pack.
    pub fn write_json(&self, name: &str, value: &Value) -> Result<(), ModelToolError> {
        self.write(name, format!("{value:#}\n").as_bytes())
    }

    /// Moves the whole pack into place; its files are synced to disk before it becomes visible.
    pub fn finish(self) -> Result<PathBuf, ModelToolError> {
        let doing = || format!("moving the pack to {}", self.target.display());
        for entry in fs::read_dir(self.path()).with_context(doing)? {
            File::open(entry.with_context(doing)?.path())
                .and_then(|file| file.sync_all())
                .with_context(doing)?;
        }
        // A temporary folder is readable by its owner only, but the workers may run as another user.
        fs::set_permissions(self.path(), Permissions::from_mode(0o755)).with_context(doing)?;
        match fs::rename(self.path(), &self.target) {
            Ok(()) => {}
            // A concurrent import of the same id was first: a rename never replaces a non-empty folder.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::DirectoryNotEmpty
                        | io::ErrorKind::AlreadyExists
                        | io::ErrorKind::NotADirectory
                ) =>
            {
                return Err(taken(&self.id, &self.target));
            }
            Err(error) => return Err(anyhow!(error).context(doing()).into()),
        }
        // The folder has moved, so the clean-up on drop must not run.
        let _ = self.folder.keep();
        Ok(self.target)
    }
}

fn taken(id: &ModelId, folder: &Path) -> ModelToolError {
    anyhow!(
        "there is a model `{id}` already, in {}; choose another --name or `retort model remove {id}` first",
        folder.display()
    )
    .into()
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    fn models() -> (TempDir, ModelsFolder) {
        let folder = tempfile::tempdir().unwrap();
        let models = ModelsFolder::new(vec![folder.path().to_owned()]).unwrap();
        (folder, models)
    }

    fn id(text: &str) -> ModelId {
        text.parse().unwrap()
    }

    #[test]
    fn a_draft_is_seen_when_it_has_landed_and_never_before() {
        let (_folder, models) = models();
        let draft = models.begin(id("one")).unwrap();
        draft.write("metadata.json", b"{\"id\": \"one\"}").unwrap();
        assert!(models.packs().unwrap().is_empty());

        let target_folder = draft.finish().unwrap();

        assert_eq!(models.find("one").unwrap().folder, target_folder);
        assert_eq!(fs::metadata(target_folder).unwrap().permissions().mode() & 0o777, 0o755);
    }

    #[test]
    fn a_draft_that_does_not_land_leaves_nothing() {
        let (folder, models) = models();

        drop(models.begin(id("one")).unwrap());

        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_a_killed_import_left_is_swept_up_by_the_next_when_it_is_old() {
        let (folder, models) = models();
        for (name, hours) in [(".import-old", 2), (".removed-old-7", 2), (".import-new", 0), (".git", 2)] {
            fs::create_dir(folder.path().join(name)).unwrap();
            let written = SystemTime::now() - Duration::from_secs(hours * 3600);
            File::open(folder.path().join(name)).unwrap().set_modified(written).unwrap();
        }

        drop(models.begin(id("one")).unwrap());

        let entries = fs::read_dir(folder.path()).unwrap();
        let mut left: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, [".git", ".import-new"]);
    }

    #[test]
    fn two_packs_never_have_one_id() {
        let (folder, models) = models();
        fs::create_dir(folder.path().join("elsewhere")).unwrap();
        fs::write(folder.path().join("elsewhere/metadata.json"), "{\"id\": \"one\"}").unwrap();
        fs::write(folder.path().join("file"), "").unwrap();

        for taken in ["one", "elsewhere", "file"] {
            let fault = models.begin(id(taken)).unwrap_err().to_string();
            assert!(fault.contains(&format!("there is a model `{taken}` already")), "{fault}");
        }

        let (first, second) = (models.begin(id("two")).unwrap(), models.begin(id("two")).unwrap());
        first.write("config.json", b"{}").unwrap();
        first.finish().unwrap();
        assert!(second.finish().unwrap_err().to_string().contains("already"));
    }

    #[test]
    fn new_packs_go_to_the_last_folder_and_all_are_found() {
        let (shipped, own) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::create_dir(shipped.path().join("one")).unwrap();
        let models = ModelsFolder::new(vec![shipped.path().to_owned(), own.path().to_owned()]).unwrap();

        let draft = models.begin(id("two")).unwrap();
        draft.write("metadata.json", b"{\"id\": \"two\"}").unwrap();
        let target_folder = draft.finish().unwrap();

        assert_eq!(target_folder, own.path().join("two"));
        assert_eq!(models.packs().unwrap().len(), 2);
        assert!(models.begin(id("one")).unwrap_err().to_string().contains("already"));
        models.remove(&models.find("one").unwrap()).unwrap();
        assert_eq!(fs::read_dir(shipped.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_model_is_removed_by_its_id_and_a_link_alone_goes() {
        let (folder, models) = models();
        let elsewhere = tempfile::tempdir().unwrap();
        fs::write(elsewhere.path().join("config.json"), "{}").unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), folder.path().join("link")).unwrap();
        fs::create_dir(folder.path().join("broken")).unwrap();

        for name in ["link", "broken"] {
            models.remove(&models.find(name).unwrap()).unwrap();
        }

        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        assert!(elsewhere.path().join("config.json").exists());
        assert!(models.find("../elsewhere").unwrap_err().to_string().contains("no model `../elsewhere`"));
    }
}
