//! `retort backup` and `retort restore` between running installations.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use sqlx::{Executor as _, migrate::Migrator};
use test_support::eventually;

use crate::{
    installation::{Installation, Role},
    process::root,
    searches::{CATALOGUE, TARGET},
};

const SAMPLES: &str = "/generator/v1/samples";

/// Runs a command that must fail; returns its message.
fn failure_message(mut command: Command) -> String {
    let ended = command.output().unwrap();
    let words = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(!ended.status.success(), "{command:?}: {words}");
    words
}

/// Builds a `retort restore` of a folder.
fn restore(installation: &Installation, folder: &Path, arguments: &[&str]) -> Command {
    let mut command = installation.command("retort");
    command.arg("restore").arg(folder).args(arguments);
    command
}

/// Copies a backup, so that the copy may be damaged.
fn copy(backup: &Path, name: &str) -> PathBuf {
    let copy = backup.with_file_name(name);
    let mut command = Command::new("cp");
    command.arg("-r").args([backup, &copy]);
    crate::process::output(command);
    copy
}

/// Changes the manifest of a backup.
fn edit(backup: &Path, change: impl FnOnce(&mut Value)) {
    let file = backup.join("manifest.json");
    let mut manifest = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    change(&mut manifest);
    fs::write(file, manifest.to_string()).unwrap();
}

async fn count(installation: &Installation, statement: &'static str) -> i64 {
    sqlx::query_scalar(statement).fetch_one(&mut installation.connection().await).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_of_a_running_service_is_the_same_service_in_an_empty_cluster() {
    let Some(mut first) = Installation::with_own_postgres() else { return };
    let Some(mut second) = Installation::unmigrated_with_own_postgres() else { return };
    let public = format!("http://{}", first.address());
    let shipped = root().join("worker/models");
    for installation in [&mut first, &mut second] {
        // Tokens name their issuer.
        installation.set("PUBLIC_URL", &public);
        let own = installation.folder().join("models");
        fs::create_dir(&own).unwrap();
        installation.set("MODELS_DIR", &format!("{}:{}", shipped.display(), own.display()));
    }
    fs::create_dir(first.folder().join("models/mine")).unwrap();
    fs::write(first.folder().join("models/mine/config.json"), "{}").unwrap();
    first.import_catalogue(CATALOGUE);
    first.start_all().await;
    let caller = first.account("owner");
    let mut samples = Vec::new();
    for size in [1, 30, 200] {
        samples.push(caller.create(SAMPLES, &json!({ "size": size })).await);
    }

    // No plan ends before the backup.
    let pause = "insert into paused_queues (queue, paused_by) values ('plan', 'test')";
    first.connection().await.execute(pause).await.unwrap();
    let plan = json!({ "parameters": { "search_smiles": TARGET } });
    let single: Value = caller.post("/synth-batches/v1/plans", &plan).await.json().await.unwrap();
    let batch = json!({ "smiles": [TARGET], "parameters": { "max_seconds": 5 } });
    let batch = caller.create("/synth-batches/v1/batches", &batch).await;
    let with_job = "select count(*) from plans where job_id is not null";
    eventually("both plans have a job", async || (count(&first, with_job).await == 2).then_some(())).await;

    // The backup runs while other samples are being made.
    let is_over = Arc::new(AtomicBool::new(false));
    let load = tokio::spawn({
        let (caller, is_over) = (caller.clone(), is_over.clone());
        async move {
            let mut made = 0;
            while !is_over.load(Ordering::Relaxed) {
                caller.create(SAMPLES, &json!({ "size": 20 })).await;
                made += 1;
            }
            made
        }
    });
    let backup = first.folder().join("backup");
    first.retort(&["backup", backup.to_str().unwrap()]);
    let mode = fs::metadata(&backup).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    is_over.store(true, Ordering::Relaxed);
    let made: i64 = load.await.unwrap();
    crate::process::output(restore(&second, &backup, &[]));
    second.start_all().await;

    let there = caller.at(&format!("http://{}", second.address()));
    for sample in &samples {
        let path = format!("{SAMPLES}/{}", sample["id"].as_str().unwrap());
        assert_eq!(there.read(&path).await, *sample, "the same token reads the same sample");
    }
    let kept = count(&second, "select count(*) from samples").await;
    assert!((3..=3 + made).contains(&kept), "{kept} of {made}");
    there.create(SAMPLES, &json!({ "size": 3 })).await;
    let search = json!({ "search_smiles": TARGET, "max_seconds": 5 });
    let found = there.create("/synth/v1/treesearch", &search).await;
    assert!(!found["route_hierarchy"].as_object().unwrap().is_empty(), "{found}");
    let status = async |id: &str| {
        let statement =
            "select coalesce(problem ->> 'problem', status) from plans where id = $1 or batch_id = $1";
        let row = sqlx::query_scalar::<_, String>(statement).bind(id);
        row.fetch_one(&mut second.connection().await).await.unwrap()
    };
    assert_eq!(status(single["id"].as_str().unwrap()).await, "cancelled_by_operator");
    second.connection().await.execute("delete from paused_queues").await.unwrap();
    let batch_id = batch["id"].as_str().unwrap();
    eventually("the batch goes on", async || (status(batch_id).await == "completed").then_some(())).await;
    assert!(second.retort(&["journal"]).contains("\trestore\t"));
    assert!(first.retort(&["journal"]).contains("\tbackup\t"));
    assert!(second.folder().join("models/mine/config.json").exists());
    refuse_what_cannot_be_restored(&mut second, &backup).await;
}

/// Checks that no invalid backup changes the database.
async fn refuse_what_cannot_be_restored(installation: &mut Installation, backup: &Path) {
    let before = count(installation, "select count(*) from samples").await;
    let lines = count(installation, "select count(*) from journal").await;
    let short = copy(backup, "short");
    let dump = fs::read(backup.join("database.dump")).unwrap();
    fs::write(short.join("database.dump"), &dump[..dump.len() * 3 / 4]).unwrap();
    // The checksum is correct, so the failure occurs during the restore.
    let torn = copy(&short, "torn");
    edit(&torn, |manifest| {
        let part = manifest["parts"].as_array_mut().unwrap();
        let part = part.iter_mut().find(|part| part["path"] == "database.dump").unwrap();
        let digits: String =
            Sha256::digest(&dump[..dump.len() * 3 / 4]).iter().map(|byte| format!("{byte:02x}")).collect();
        *part = json!({ "path": "database.dump", "bytes": dump.len() * 3 / 4, "sha256": digits });
    });
    let miscounted = copy(backup, "miscounted");
    edit(&miscounted, |manifest| manifest["rows"]["public.samples"] = json!(1_000_000));
    let later = copy(backup, "later");
    edit(&later, |manifest| manifest["schema"] = json!(9999));

    let full = failure_message(restore(installation, backup, &[]));
    let running = failure_message(restore(installation, backup, &["--replace"]));
    installation.kill_all();
    eventually("the server has noticed", async || {
        let open = "select count(*) from pg_stat_activity where application_name like 'retort-%'";
        (count(installation, open).await == 0).then_some(())
    })
    .await;
    for (folder, words) in [
        (&short, "the backup is damaged"),
        (&torn, "pg_restore failed"),
        (&miscounted, "rows of public.samples instead of 1000000"),
        (&later, "later than this release"),
        (&backup.with_file_name("nothing"), "there is no "),
        (&backup.join("models"), "is not a backup of Retort"),
    ] {
        let output = failure_message(restore(installation, folder, &["--replace"]));
        assert!(output.contains(words), "{}: {output}", folder.display());
    }
    let mut old_programs = restore(installation, backup, &["--replace"]);
    old_programs.env("PG_BIN", "/nowhere");
    let programs = failure_message(old_programs);
    let mut unreachable = restore(installation, backup, &["--replace"]);
    unreachable.env("DATABASE_URL", "postgres://postgres@127.0.0.1:1/postgres");
    let away = failure_message(unreachable);

    assert!(full.contains("is not empty"), "{full}");
    assert!(running.contains("stop the service first") && running.contains("retort-api"), "{running}");
    assert!(programs.contains("/nowhere/pg_dump cannot be run"), "{programs}");
    assert!(away.contains("does not answer"), "{away}");
    assert_eq!(count(installation, "select count(*) from samples").await, before);
    assert_eq!(count(installation, "select count(*) from journal").await, lines);

    crate::process::output(restore(installation, backup, &["--replace"]));
    assert!(count(installation, "select count(*) from samples").await < before, "as it was at the backup");
    installation.start_worker(Role::Sample, &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_that_cannot_be_made_leaves_nothing() {
    let installation = Installation::new().await;
    let folder = installation.folder().join("backups");
    fs::create_dir(&folder).unwrap();
    fs::create_dir(folder.join("there")).unwrap();
    let backup = |name: &str| {
        let mut command = installation.command("retort");
        command.arg("backup").arg(folder.join(name)).env("MODELS_DIR", &folder);
        command
    };

    let there = failure_message(backup("there"));
    let nowhere = failure_message(backup("no/folder"));
    let mut without = backup("new");
    without.env("PG_BIN", "/nowhere");
    let programs = failure_message(without);

    assert!(there.contains("is there already"), "{there}");
    assert!(nowhere.contains("No such file or directory"), "{nowhere}");
    assert!(programs.contains("/nowhere/pg_dump cannot be run"), "{programs}");
    let left: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["there"]);
}

/// Last migration of a release without counters of a batch's progress and of an account's storage.
const OLDER_MIGRATION: i64 = 35;

/// Rows that such a release stored.
const OLD_ROWS: &str = r"
    insert into accounts (id, email, name, password_hash, scopes) values ('acc_1', 'old@example.org', 'old', '', '{}');
    insert into samples (id, account_id, model_id, num_smiles, smiles, seed) values ('smp_1', 'acc_1', 'm', 1, '{C}', 1);
    insert into batches (id, account_id, parameters, engine, plan_count) values ('bat_1', 'acc_1', '{}', 'uspto_retro', 3);
    insert into plans (id, account_id, batch_id, place, search_smiles, engine, parameters, status, result)
    select 'pln_' || n, 'acc_1', 'bat_1', n, 'C', 'uspto_retro', '{}', (array['cancelled', 'completed', 'failed'])[n],
        case n when 2 then convert_to('{}', 'UTF8') end
    from generate_series(1, 3) as n;
    insert into kept_routes (id, account_id, parameters, figures, content) values ('rte_1', 'acc_1', '{}', '{}', '\x00')";

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_of_an_older_schema_is_brought_up_to_date_where_it_is_restored() {
    let Some(older) = Installation::unmigrated_with_own_postgres() else { return };
    let Some(mut today) = Installation::unmigrated_with_own_postgres() else { return };
    let mut database = older.connection().await;
    let known = schema::MIGRATIONS.iter().filter(|migration| migration.version <= OLDER_MIGRATION).cloned();
    Migrator::with_migrations(known.collect()).run(&mut database).await.unwrap();
    database.execute(OLD_ROWS).await.unwrap();
    let backup = older.folder().join("backup");
    older.retort(&["backup", backup.to_str().unwrap()]);

    crate::process::output(restore(&today, &backup, &[]));
    today.start_all().await;

    let counted = sqlx::query_as::<_, (i64, i64, i64)>(
        "select cancelled, completed, failed from progress_of_batch('bat_1')",
    );
    assert_eq!(counted.fetch_one(&mut today.connection().await).await.unwrap(), (1, 1, 1));
    assert!(
        count(&today, "select sum(bytes)::int8 from account_storage where account_id = 'acc_1'").await > 0
    );
    for rows in ["select count(*) from samples", "select count(*) from kept_routes"] {
        assert_eq!(count(&today, rows).await, 1, "{rows}");
    }
    today.account("owner").create(SAMPLES, &json!({ "size": 3 })).await;
}
