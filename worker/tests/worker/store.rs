//! Tests of machines that share the catalogue's snapshot through an object store.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use catalogue::SnapshotFolder;
use tempfile::TempDir;
use worker::{CatalogueView, SnapshotLocations, SnapshotStore, StoreError};

use crate::support::{TestDatabase, insert_block, raise_version};

/// Starts a machine with its own folder and the shared store. Returns the folder and the number of blocks seen.
async fn on_a_machine(database: &TestDatabase, store: &SnapshotStore) -> (TempDir, usize) {
    let machine = tempfile::tempdir().unwrap();
    let folder = SnapshotFolder::new(machine.path().join("catalogue"), 1);
    let snapshots = SnapshotLocations { folder, store: Some(store.clone()) };
    let view = CatalogueView::load(&database.pool.clone().into(), snapshots).await.unwrap();
    let blocks = view.now().len();
    (machine, blocks)
}

async fn eventually(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let waited = Instant::now();
    while !is_so().await {
        assert!(waited.elapsed() < Duration::from_secs(60), "waited in vain: {what}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Returns the names of the snapshots in a folder.
fn snapshots(folder: &Path) -> Vec<String> {
    let files = fs::read_dir(folder).into_iter().flatten();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".snapshot")).collect();
    names.sort();
    names
}

/// Deletes the building blocks without a new version: a new snapshot is empty, one from the store has them all.
async fn hide_blocks(database: &TestDatabase) {
    sqlx::query("delete from building_blocks").execute(&database.pool).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_machine_takes_the_snapshot_that_another_made_unless_it_is_damaged() {
    let (database, shared) = (TestDatabase::with_schema().await, tempfile::tempdir().unwrap());
    let store = SnapshotStore::at(&format!("file://{}/snapshots", shared.path().display())).unwrap();
    let stored = shared.path().join("snapshots");
    insert_block(&database.pool, "CCN").await;
    insert_block(&database.pool, "CCO").await;

    let (_first, made) = on_a_machine(&database, &store).await;
    eventually("it lies in the store", async || snapshots(&stored).len() == 1).await;
    hide_blocks(&database).await;
    let (second, fetched) = on_a_machine(&database, &store).await;
    assert_eq!((made, fetched), (2, 2));
    assert_eq!(snapshots(&second.path().join("catalogue")), snapshots(&stored));

    let object = stored.join(&snapshots(&stored)[0]);
    let mut bytes = fs::read(&object).unwrap();
    bytes[600] ^= 4;
    fs::write(&object, &bytes).unwrap();
    let (_third, made_anew) = on_a_machine(&database, &store).await;
    assert_eq!(made_anew, 0, "made of what PostgreSQL holds");
    eventually("the damaged one is replaced", async || fs::read(&object).unwrap() != bytes).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_keeps_a_version_and_the_one_before_it() {
    let (database, shared) = (TestDatabase::with_schema().await, tempfile::tempdir().unwrap());
    let store = SnapshotStore::at(&format!("file://{}", shared.path().display())).unwrap();
    let foreign = shared.path().join("0000000000000001-1-00-1-00.snapshot");
    fs::write(&foreign, "another database's").unwrap();

    let mut newest = Vec::new();
    for _ in 0..4 {
        raise_version(&database.pool).await;
        let before = snapshots(shared.path());
        let _machine = on_a_machine(&database, &store).await;
        eventually("it lies in the store", async || {
            let added = snapshots(shared.path()).into_iter().find(|name| !before.contains(name));
            newest.extend(added.clone());
            added.is_some()
        })
        .await;
    }

    eventually("two are left, and another's", async || snapshots(shared.path()).len() == 3).await;
    let left = snapshots(shared.path());
    assert!(newest[2..].iter().all(|name| left.contains(name)), "{left:?} of {newest:?}");
    assert!(foreign.exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn without_its_store_a_machine_goes_on_with_what_postgresql_holds() {
    let database = TestDatabase::with_schema().await;
    insert_block(&database.pool, "CCN").await;
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let stores = [
        s3(&format!("http://{closed}")),
        // A server that accepts connections and never answers.
        s3(&format!("http://{}", silent.local_addr().unwrap())),
        // A folder that nobody can write to.
        SnapshotStore::at("file:///proc/nowhere").unwrap(),
    ];

    for store in stores {
        assert_eq!(on_a_machine(&database, &store).await.1, 1, "{store}");
    }
}

#[test]
fn an_address_that_is_none_is_refused() {
    for address in ["snapshots", "ftp://host/folder", "s3://", "memory", "file://host only/"] {
        let refused = SnapshotStore::at(address);

        assert!(matches!(refused, Err(StoreError::Address(_))), "{address}: {refused:?}");
    }
}

/// Opens a bucket on a server that speaks S3.
fn s3(endpoint: &str) -> SnapshotStore {
    let options = [
        ("aws_endpoint", endpoint),
        ("aws_allow_http", "true"),
        ("aws_access_key_id", "key"),
        ("aws_secret_access_key", "secret"),
        ("aws_region", "us-east-1"),
    ];
    let options = options.map(|(name, value)| (name.to_owned(), value.to_owned()));
    SnapshotStore::with("s3://snapshots/retort", options).unwrap()
}

/// A running moto server (a mock of S3), killed on drop.
struct Moto(Child);

impl Moto {
    /// Starts the server; `None` if moto is not installed.
    fn start(port: u16) -> Option<Self> {
        let mut command = Command::new("moto_server");
        command.args(["--host", "127.0.0.1", "--port", &port.to_string()]);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        child.ok().map(Self)
    }
}

impl Drop for Moto {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns the response to a request; `None` if nothing listens on the port.
fn http_response(port: u16, line: &str) -> Option<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    let request =
        format!("{line} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    Some(answer)
}

#[tokio::test(flavor = "multi_thread")]
#[allow(clippy::print_stdout, reason = "a skipped test is worth a line")]
async fn machines_share_snapshots_through_s3() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let Some(_server) = Moto::start(port) else {
        println!("skipped: moto_server is not installed (pip install 'moto[server]')");
        return;
    };
    eventually("the bucket is made", async || {
        http_response(port, "PUT /snapshots").is_some_and(|answer| answer.contains(" 200 "))
    })
    .await;
    let (database, store) = (TestDatabase::with_schema().await, s3(&format!("http://127.0.0.1:{port}")));
    insert_block(&database.pool, "CCN").await;

    let (_first, made) = on_a_machine(&database, &store).await;
    eventually("it lies in the store", async || {
        http_response(port, "GET /snapshots").is_some_and(|answer| answer.contains(".snapshot"))
    })
    .await;
    hide_blocks(&database).await;
    let (_second, fetched) = on_a_machine(&database, &store).await;

    assert_eq!((made, fetched), (1, 1));
}
