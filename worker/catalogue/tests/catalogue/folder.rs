//! Processes that share a folder of snapshots.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use catalogue::{
    BuildError, FetchOutcome, OpenedSnapshot, SnapshotContent, SnapshotFolder, SnapshotOrigin,
    version_in_name,
};

use crate::alkane;

/// Content of the database in this version: `version` alkanes.
fn content(version: i64) -> SnapshotContent {
    SnapshotContent { database: 7, version, digest: 1 }
}

fn opened(folder: &Path, version: i64) -> OpenedSnapshot {
    let folder = SnapshotFolder::new(folder.to_owned(), 1);
    let opened = folder.open_or_build::<BuildError>(
        || Ok(content(version)),
        |_, _| FetchOutcome::Nothing,
        |mut builder| {
            (0..version as i32).for_each(|id| builder.block(alkane(id)));
            Ok((content(version), builder))
        },
    );
    let opened = opened.unwrap();
    assert_eq!((opened.snapshot.version(), opened.snapshot.len()), (version, version as usize));
    opened
}

/// The snapshots in a folder.
fn files(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".snapshot")).collect();
    names.sort();
    names
}

#[test]
fn a_snapshot_is_made_once_and_found_after_that() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("not/there/yet");

    assert!(matches!(opened(&folder, 3).origin, SnapshotOrigin::Made(..)));
    assert!(matches!(opened(&folder, 3).origin, SnapshotOrigin::Found));
}

#[test]
fn one_of_many_that_begin_together_makes_it() {
    const PROCESSES: usize = 8;
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("shared");
    let (begin, made) = (Barrier::new(PROCESSES), AtomicU32::new(0));

    thread::scope(|scope| {
        for _ in 0..PROCESSES {
            scope.spawn(|| {
                begin.wait();
                if matches!(opened(&folder, 50).origin, SnapshotOrigin::Made(..)) {
                    made.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });

    assert_eq!((made.into_inner(), files(&folder).len()), (1, 1));
}

#[test]
fn a_damaged_snapshot_is_refused_and_made_anew() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path();
    opened(folder, 5);
    let path = folder.join(&files(folder)[0]);
    let mut bytes = fs::read(&path).unwrap();
    bytes[520] ^= 4;
    fs::write(&path, bytes).unwrap();

    let again = opened(folder, 5);

    assert!(matches!(again.origin, SnapshotOrigin::Made(..)));
    assert_eq!(again.refused.unwrap().to_string(), "its section `keys` is damaged");
    assert!(opened(folder, 5).refused.is_none());
}

#[test]
fn an_older_snapshot_goes_and_who_has_it_keeps_it() {
    let temporary = tempfile::tempdir().unwrap();
    let older = opened(temporary.path(), 2);

    opened(temporary.path(), 3);

    let [left] = &files(temporary.path())[..] else { panic!("one is left") };
    assert!(left.starts_with("0000000000000007-3-"), "{left}");
    assert!(older.snapshot.find(&"CC".parse().unwrap()).is_some());
}

#[test]
fn without_a_folder_each_has_its_own() {
    let temporary = tempfile::tempdir().unwrap();
    let file = temporary.path().join("file");
    fs::write(&file, "in the way").unwrap();
    let open_to_all = temporary.path().join("open");
    fs::create_dir(&open_to_all).unwrap();
    fs::set_permissions(&open_to_all, fs::Permissions::from_mode(0o777)).unwrap();

    for folder in [file.join("below"), open_to_all] {
        assert!(matches!(opened(&folder, 4).origin, SnapshotOrigin::Alone(_)), "{folder:?}");
    }
}

#[test]
fn a_snapshot_of_another_machine_is_taken_unless_it_is_damaged() {
    let temporary = tempfile::tempdir().unwrap();
    let [theirs, ours] = ["theirs", "ours"].map(|name| temporary.path().join(name));
    opened(&theirs, 5);
    let [name] = &files(&theirs)[..] else { panic!("one is made") };
    let bytes = fs::read(theirs.join(name)).unwrap();
    let fetch = |bytes: &[u8]| {
        let folder = SnapshotFolder::new(ours.clone(), 1);
        let fetched = folder.open_or_build::<BuildError>(
            || Ok(content(5)),
            |wanted, path| {
                assert_eq!(&wanted.file_name(), name);
                fs::write(path, bytes).unwrap();
                FetchOutcome::Written
            },
            |mut builder| {
                (0..5).for_each(|id| builder.block(alkane(id)));
                Ok((content(5), builder))
            },
        );
        fetched.unwrap()
    };

    let cut = fetch(&bytes[..bytes.len() - 9]);
    assert!(matches!(cut.origin, SnapshotOrigin::Made(..)));
    assert!(cut.refused.unwrap().to_string().contains("bytes long, not"));
    fs::remove_dir_all(&ours).unwrap();
    let whole = fetch(&bytes);

    assert!(matches!(whole.origin, SnapshotOrigin::Fetched) && whole.refused.is_none());
    assert_eq!((whole.snapshot.len(), files(&ours)), (5, vec![name.clone()]));
    assert_eq!(version_in_name(name), Some(5));
    // No fetched and refused file is left.
    assert_eq!(fs::read_dir(&ours).unwrap().count(), 2, "the snapshot and the lock");
}
