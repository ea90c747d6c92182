//! Creating a backup while the service runs.
//!
//! A transaction exports the snapshot that `pg_dump` reads. The rows are counted in the same snapshot, so that the
//! counts match the dump.

use std::{
    collections::BTreeMap,
    fs::{self, File, Permissions},
    io::{self, Write as _},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Stdio,
};

use anyhow::{Context as _, anyhow};
use chrono::{DateTime, Utc};
use model_tools::ModelsFolder;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};
use tempfile::TempDir;

use super::{
    client::{PgClient, PgProcess},
    manifest::{DATABASE, MANIFEST, Manifest},
    packs, parts,
};
use crate::{failure::Failure, terminal};

/// Tables whose rows matter only while the service runs.
const TRANSIENT_TABLES: [&str; 13] = [
    "public.job_events",
    "public.jobs",
    "public.live_callers",
    "public.live_models",
    "public.live_workers",
    "public.makeable_molecules",
    "public.rate_limits",
    "public.reservoir_blocks",
    "public.reservoir_models",
    "public.retention",
    "public.watched_jobs",
    "apalis.jobs",
    "apalis.workers",
];

/// A completed backup.
#[derive(Debug)]
pub struct CompletedBackup {
    /// Content of the backup.
    pub manifest: Manifest,
    /// Names of the packs in it.
    pub packs: Vec<String>,
}

/// Backs up the database at `url`, to which `database` is a connection, and the packs of `models` to the folder
/// `target`, which must not exist yet.
///
/// # Errors
/// Fails if anything cannot be read or written; then there is no `target`.
pub async fn back_up(
    url: &str,
    database: &mut PgConnection,
    models: &ModelsFolder,
    target: &Path,
) -> Result<CompletedBackup, Failure> {
    let (draft, target) = create_draft(target)?;
    let server = server(database).await?;
    let client = PgClient::new(url, server.major)?;
    let failed = |error| Failure::database("reading the database", &error);

    let mut snapshot =
        database.begin_with("begin isolation level repeatable read, read only").await.map_err(failed)?;
    let id: String = sqlx::query_scalar!(r#"select pg_export_snapshot() as "id!""#)
        .fetch_one(&mut *snapshot)
        .await
        .map_err(failed)?;
    let made_at: DateTime<Utc> =
        sqlx::query_scalar!(r#"select now() as "now!""#).fetch_one(&mut *snapshot).await.map_err(failed)?;
    let schema = schema_version(&mut snapshot)
        .await
        .ok_or_else(|| anyhow!("the database has no schema of Retort, so there is nothing to back up"))?;
    let rows = count_rows(&mut snapshot).await?;
    let mut manifest = Manifest::new(schema, made_at, server.version, rows);
    manifest.parts.push(dump(&client, &id, draft.path())?);
    snapshot.rollback().await.map_err(failed)?;

    let packs = packs::take(models, draft.path(), &mut manifest.parts)?;
    finish(draft, &target, &manifest)?;
    Ok(CompletedBackup { manifest, packs })
}

/// A PostgreSQL server.
pub(super) struct ServerVersion {
    pub(super) version: String,
    pub(super) major: u32,
}

pub(super) async fn server(database: &mut PgConnection) -> Result<ServerVersion, Failure> {
    let row = sqlx::query!(
        r#"select current_setting('server_version') as "version!", current_setting('server_version_num')::int4 as "number!""#
    )
    .fetch_one(database)
    .await
    .map_err(|error| Failure::database("asking the server's version", &error))?;
    Ok(ServerVersion { version: row.version, major: u32::try_from(row.number / 10_000).unwrap_or_default() })
}

/// Version of the last applied migration; `None` without a schema.
pub(super) async fn schema_version(database: &mut PgConnection) -> Option<i64> {
    // Not checked at compile time: the table belongs to the migrator, and no migration creates it.
    let applied = sqlx::query_scalar("select max(version) from _sqlx_migrations where success");
    applied.fetch_one(database).await.ok().flatten()
}

/// Creates an empty folder beside the target; it is renamed to the target at the end.
fn create_draft(target: &Path) -> Result<(TempDir, PathBuf), Failure> {
    let doing = || format!("making {}", target.display());
    if target.symlink_metadata().is_ok() {
        return Err(Failure::Usage(format!(
            "{} is there already: a backup is a new folder",
            target.display()
        )));
    }
    let target = std::path::absolute(target).with_context(doing)?;
    let parent =
        target.parent().ok_or_else(|| anyhow!("{} is not the name of a folder", target.display()))?;
    let mut draft = tempfile::Builder::new();
    // Readable only by the user who makes the backup.
    draft.prefix(".retort-backup-").permissions(Permissions::from_mode(0o700));
    let draft = draft.tempdir_in(parent).with_context(doing)?;
    Ok((draft, target))
}

/// Numbers of rows of all tables whose rows are kept.
async fn count_rows(database: &mut PgConnection) -> Result<BTreeMap<String, i64>, Failure> {
    let failed = |error| Failure::database("counting rows", &error);
    let tables: Vec<String> = sqlx::query_scalar!(
        r#"select format('%s.%s', relnamespace::regnamespace, relname) as "name!" from pg_class
        where relkind in ('r', 'p') and relnamespace::regnamespace::text in ('public', 'apalis') order by 1"#
    )
    .fetch_all(&mut *database)
    .await
    .map_err(failed)?;
    let mut rows = BTreeMap::new();
    for table in tables.into_iter().filter(|table| !TRANSIENT_TABLES.contains(&table.as_str())) {
        // Not checked at compile time: the table names come from the database.
        let count = sqlx::query_scalar(AssertSqlSafe(format!("select count(*) from {table}")));
        rows.insert(table, count.fetch_one(&mut *database).await.map_err(failed)?);
    }
    Ok(rows)
}

/// Runs `pg_dump` on the snapshot `id`.
fn dump(client: &PgClient, id: &str, folder: &Path) -> Result<super::manifest::BackupPart, Failure> {
    let mut command = client.on_database("pg_dump");
    command.args([
        "--format=custom",
        "--schema=public",
        "--schema=apalis",
        "--extension=*",
        "--snapshot",
        id,
    ]);
    command.args(TRANSIENT_TABLES.map(|table| format!("--exclude-table-data={table}")));
    command.stdout(Stdio::piped());
    let bar = terminal::bytes_spinner("reading the database");
    let mut running = PgProcess::start(command)?;
    let output = running.child.stdout.take().expect("dump: its output is a pipe");
    let written = parts::write(folder, DATABASE, output, &bar);
    // Closing the pipe ends the program too.
    let part = written?;
    running.end()?;
    bar.finish_and_clear();
    Ok(part)
}

/// Writes the manifest and moves the backup into place, after everything is synced to disk.
fn finish(draft: TempDir, target: &Path, manifest: &Manifest) -> Result<(), Failure> {
    let doing = || format!("writing {}", target.display());
    let text = serde_json::to_string_pretty(manifest).context("writing the manifest as JSON")?;
    let write = || -> io::Result<()> {
        let mut file = File::create_new(draft.path().join(MANIFEST))?;
        file.write_all(text.as_bytes())?;
        file.write_all(b"\n")?;
        file.sync_all()?;
        File::open(draft.path())?.sync_all()?;
        // The rename fails if a folder that is not empty is there by now.
        fs::rename(draft.path(), target)?;
        File::open(target.parent().unwrap_or(target))?.sync_all()
    };
    write().with_context(doing)?;
    // The folder has moved, so there is nothing left to clean up.
    let _ = draft.keep();
    Ok(())
}
