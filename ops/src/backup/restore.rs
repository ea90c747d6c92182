//! Restoring a backup in one transaction.
//!
//! `pg_restore` writes the archive as statements, and `psql` runs them between ours: before it, the existing objects
//! are dropped; after it, the rows are counted and the audit log gets an entry. Then the transaction is committed.
//! Until that moment, readers see the old content.

use std::{
    fmt::Write as _,
    io::{self, Read as _, Write as _},
    path::Path,
    process::Stdio,
};

use anyhow::{Context as _, anyhow};
use model_tools::ModelsFolder;
use serde_json::json;
use sqlx::PgConnection;

use super::{
    client::{PgClient, PgProcess},
    dump::{schema_version, server},
    manifest::{DATABASE, Manifest},
    packs::{self, RestoredPacks},
    parts,
};
use crate::{audit_log, failure::Failure, terminal};

/// Drops all objects of ours in the schemas, and nothing that belongs to an extension.
const DROP_ALL: &str = "
do $$
declare
    its record;
begin
    for its in
        select case relkind when 'S' then 'sequence' when 'v' then 'view' when 'm' then 'materialized view' else 'table' end as kind,
            oid::regclass as name
        from pg_class
        where relkind in ('r', 'p', 'v', 'm', 'S') and relnamespace in (select oid from pg_namespace where nspname in ('public', 'apalis'))
            and not exists (select from pg_depend where classid = 'pg_class'::regclass and objid = pg_class.oid and deptype in ('e', 'a', 'i'))
    loop
        execute format('drop %s if exists %s cascade', its.kind, its.name);
    end loop;
    for its in
        select oid::regprocedure as name from pg_proc
        where pronamespace in (select oid from pg_namespace where nspname in ('public', 'apalis'))
            and not exists (select from pg_depend where classid = 'pg_proc'::regclass and objid = pg_proc.oid and deptype = 'e')
    loop
        execute format('drop routine if exists %s cascade', its.name);
    end loop;
end
$$;
";

/// Gives open work whose jobs are not in a backup a new state: parts of batches wait for a job again, and what was
/// ordered singly ends as cancelled by an operator, so that nobody waits for it.
const RESUME_OPEN_WORK: &str = r#"
update plans set job_id = null where status = 'pending' and batch_id is not null;
update batches set is_begun = false
    where exists (select from plans where batch_id = batches.id and status = 'pending' and job_id is null);
update plans set status = 'cancelled', problem = '{"problem": "cancelled_by_operator"}', updated_at = now()
    where status = 'pending' and batch_id is null;
update sample_orders set job_id = null where status = 'pending' and batch_id is not null;
update sample_batches set is_begun = case when conditions is null then false end
    where exists (select from sample_orders where batch_id = sample_batches.id and status = 'pending' and job_id is null);
update sample_orders set status = 'failed', problem = '{"problem": "cancelled_by_operator"}'
    where status = 'pending' and batch_id is null;
"#;

/// Content of the database before a restore.
#[derive(Debug)]
pub struct DatabaseState {
    /// Name of the database.
    pub database: String,
    /// Number of tables in it.
    pub tables: i64,
    /// Names of the service's processes that are connected to it.
    pub processes: Vec<String>,
}

/// A restored backup.
#[derive(Debug)]
pub struct Restored {
    /// Result for its packs.
    pub packs: RestoredPacks,
    /// True if its schema was older and has been migrated.
    pub is_migrated: bool,
}

/// Reads the state of the database.
pub async fn state(database: &mut PgConnection) -> Result<DatabaseState, Failure> {
    let row = sqlx::query!(
        r#"select current_database() as "database!",
            (
                select count(*) from pg_class
                where relkind in ('r', 'p') and relnamespace::regnamespace::text in ('public', 'apalis')
            ) as "tables!",
            array(
                select distinct application_name from pg_stat_activity
                where datname = current_database() and application_name like 'retort-%' order by 1
            ) as "processes!""#
    )
    .fetch_one(database)
    .await
    .map_err(|error| Failure::database("looking at the database", &error))?;
    Ok(DatabaseState { database: row.database, tables: row.tables, processes: row.processes })
}

/// Restores the backup in `folder` to the database at `url`, replacing its content, and its packs to `models`.
///
/// # Errors
/// Fails, and leaves the database as it was, if the backup is damaged or has a later schema, or if the database or
/// its programs fail.
pub async fn restore(
    url: &str,
    database: &mut PgConnection,
    models: &ModelsFolder,
    folder: &Path,
) -> Result<Restored, Failure> {
    let manifest = Manifest::read(folder)?;
    let newest = schema::MIGRATIONS.iter().map(|migration| migration.version).max().unwrap_or_default();
    if manifest.schema > newest {
        return Err(Failure::Usage(format!(
            "{} is of Retort {} with schema {}, later than this release, which knows schemas up to {newest}: restore it with \
             that release",
            folder.display(),
            manifest.version,
            manifest.schema
        )));
    }
    parts::verify(folder, &manifest)?;
    let client = PgClient::new(url, server(database).await?.major)?;
    run(&client, folder, &manifest)?;
    let migrated = schema::migrate(url).await;
    migrated.map_err(|error| {
        anyhow!(error)
            .context("the backup is in place; bringing its schema up to date (`retort-api migrate`)")
    })?;
    let failed = |error| Failure::database("looking at the restored rows", &error);
    sqlx::raw_sql(RESUME_OPEN_WORK).execute(&mut *database).await.map_err(failed)?;
    // Without statistics of the restored rows, query plans are guesses.
    sqlx::query("analyze").execute(&mut *database).await.map_err(failed)?;
    let is_migrated = schema_version(database).await != Some(manifest.schema);
    Ok(Restored { packs: packs::place(models, folder, &manifest)?, is_migrated })
}

/// Runs the transaction.
fn run(client: &PgClient, folder: &Path, manifest: &Manifest) -> Result<(), Failure> {
    let archive = folder.join(DATABASE);
    let contents = contents(client, &archive)?;
    let mut command = client.command("pg_restore");
    command
        .args(["--no-owner", "--no-privileges", "--file=-", "--use-list"])
        .arg(contents.path())
        .arg(&archive);
    command.stdout(Stdio::piped());
    let mut reader = PgProcess::start(command)?;
    let mut statements = reader.child.stdout.take().expect("restore: its output is a pipe");

    let mut command = client.on_database("psql");
    command.args(["--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "--file=-"]);
    command.stdin(Stdio::piped()).stdout(Stdio::null());
    let mut writer = PgProcess::start(command)?;
    let mut to = writer.child.stdin.take().expect("restore: its input is a pipe");

    let bar = terminal::bytes_spinner("writing the database");
    let streamed = to
        .write_all(b"begin;\nset local lock_timeout = '10s';\n")
        .and_then(|()| to.write_all(DROP_ALL.as_bytes()))
        .and_then(|()| to.write_all(b"create schema if not exists apalis;\n"))
        .and_then(|()| io::copy(&mut bar.wrap_read(&mut statements), &mut to));
    // Each program's end ends the other; psql's message is the more useful one.
    drop(statements);
    if streamed.is_err() {
        drop(to);
        writer.end()?;
        streamed.context("writing to psql")?;
        return Ok(());
    }
    // Without a commit nothing has changed.
    reader.end()?;
    to.write_all(closing_statements(folder, manifest).as_bytes()).context("writing to psql")?;
    drop(to);
    writer.end()?;
    bar.finish_and_clear();
    Ok(())
}

/// Table of contents of the archive, without the objects that the database has already: schemas, and comments on them
/// and on extensions.
fn contents(client: &PgClient, archive: &Path) -> Result<tempfile::NamedTempFile, Failure> {
    let mut command = client.command("pg_restore");
    command.arg("--list").arg(archive).stdout(Stdio::piped());
    let mut running = PgProcess::start(command)?;
    let mut list = String::new();
    let mut output = running.child.stdout.take().expect("contents: its output is a pipe");
    output.read_to_string(&mut list).context("reading what pg_restore lists")?;
    running.end()?;
    let is_there = |line: &&str| {
        // `6; 2615 16385 SCHEMA - apalis owner`
        let mut words = line.split_whitespace().skip(3);
        match (words.next(), words.next(), words.next()) {
            (Some("SCHEMA"), ..) => true,
            (Some("COMMENT"), Some("-"), Some(what)) => ["EXTENSION", "SCHEMA"].contains(&what),
            _ => false,
        }
    };
    let kept: String = list.lines().filter(|line| !is_there(line)).flat_map(|line| [line, "\n"]).collect();
    let mut file = tempfile::NamedTempFile::new().context("making a temporary file")?;
    file.write_all(kept.as_bytes()).and_then(|()| file.flush()).context("writing a temporary file")?;
    Ok(file)
}

/// Last statements of the transaction: compare the row counts with the manifest, write the audit log, commit.
fn closing_statements(folder: &Path, manifest: &Manifest) -> String {
    let mut text = "\ndo $$\ndeclare\n    found bigint;\nbegin\n".to_owned();
    for (table, rows) in &manifest.rows {
        let _ = writeln!(
            text,
            "    select count(*) into found from {table};\n    if found <> {rows} then raise exception \
             'restored % rows of {table} instead of {rows}', found; end if;"
        );
    }
    text.push_str("end\n$$;\n");
    let details =
        json!({ "made_at": manifest.made_at, "version": manifest.version, "schema": manifest.schema });
    text.push_str(&audit_log::statement("restore", &folder.display().to_string(), &details));
    text.push_str("\ncommit;\n");
    text
}
