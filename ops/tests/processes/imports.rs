//! Imports that are killed, run concurrently or fill the disk: the catalogue is either unchanged or the complete
//! result of one import.

use std::{fmt::Write as _, path::PathBuf, process::Command};

use serde_json::json;
use sqlx::{Executor as _, PgConnection};
use test_support::eventually;

use crate::{
    installation::Installation,
    process::{Process, output, signal},
    searches::{self, TARGET},
};

/// Returns a vendor's file of `count` entries with one name prefix, each at one price.
fn offers(entries: &str, count: usize, price_usd: u32) -> String {
    let mut text = "smiles,vendor_name,cs_id,pack,uom,price_usd\n".to_owned();
    for number in 0..count {
        let chain = "C".repeat(number % 30 + 1);
        let _ = writeln!(text, "{chain}O,House,{entries}-{number},1,g,{price_usd}");
    }
    text
}

/// Number of entries that keeps an import reading long enough to interrupt it.
const LARGE_IMPORT_ENTRIES: usize = 60_000;

fn file(installation: &Installation, name: &str, text: &str) -> PathBuf {
    let path = installation.folder().join(name);
    std::fs::write(&path, text).unwrap();
    path
}

fn replacing(installation: &Installation, file: &PathBuf) -> Command {
    let mut import = installation.command("retort");
    import.args(["catalogue", "import", "--replace"]).arg(file);
    import
}

/// Waits until another process's connection satisfies `condition`.
async fn wait_for_connection(database: &mut PgConnection, condition: &'static str) {
    let statement = format!(
        "select count(*) from pg_stat_activity
         where datname = current_database() and pid <> pg_backend_pid() and {condition}"
    );
    eventually(condition, async || {
        let query = sqlx::query_scalar::<_, i64>(sqlx::AssertSqlSafe(statement.clone()));
        (query.fetch_one(&mut *database).await.unwrap() > 0).then_some(())
    })
    .await;
}

const COPIES: &str = "state = 'active' and query ilike 'copy staged%'";
const WAITS_TO_MERGE: &str = "wait_event_type = 'Lock' and wait_event = 'advisory'";
const WAITS_TO_COMMIT: &str = "wait_event_type = 'Lock' and query ilike '%update catalogue_version%'";

/// Points at which an import is killed, each with another connection's statement that holds the import there.
const KILL_POINTS: [(&str, &str); 3] = [
    (COPIES, "select"),
    (WAITS_TO_MERGE, "select pg_advisory_xact_lock(hashtext('retort catalogue import'))"),
    (WAITS_TO_COMMIT, "select from catalogue_version for update"),
];

#[tokio::test(flavor = "multi_thread")]
async fn an_import_that_is_killed_leaves_the_old_offers_whole_wherever_it_was() {
    let mut installation = Installation::new().await;
    installation.import_catalogue(&offers("old", 40, 5));
    let old = installation.retort(&["catalogue", "export"]);
    let new = file(&installation, "new.csv", &offers("new", LARGE_IMPORT_ENTRIES, 7));
    let mut database = installation.connection().await;
    let mut holder = installation.connection().await;

    for (stage, held) in KILL_POINTS {
        holder.execute("begin").await.unwrap();
        holder.execute(held).await.unwrap();
        let command = replacing(&installation, &new);
        let mut import = installation.start("import", command);
        wait_for_connection(&mut database, stage).await;

        import.assert_running();
        import.kill();
        holder.execute("rollback").await.unwrap();

        assert_eq!(installation.retort(&["catalogue", "export"]), old, "killed where {stage}");
        eventually("its transaction has ended", async || {
            let left = "select count(*) from pg_stat_activity
                where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null";
            (sqlx::query_scalar::<_, i64>(left).fetch_one(&mut database).await.unwrap() == 0).then_some(())
        })
        .await;
        assert_eq!(installation.retort(&["catalogue", "export"]), old, "killed where {stage}");
    }

    installation.import_catalogue(&offers("old", 40, 6));
    let command = replacing(&installation, &new);
    assert!(installation.start("import", command).wait().success());
    assert_eq!(entries(&mut database).await, (LARGE_IMPORT_ENTRIES as i64, "new-0".to_owned()));
}

/// Returns the number of the vendor's entries, and the first of them by name.
async fn entries(database: &mut PgConnection) -> (i64, String) {
    let statement =
        "select count(*), min(cs_id) from offers join vendors on vendors.id = vendor_id where name = 'House'";
    sqlx::query_as(statement).fetch_one(database).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn two_imports_of_one_vendor_run_one_after_the_other() {
    let mut installation = Installation::new().await;
    installation.import_catalogue(&offers("old", 40, 5));
    let mut database = installation.connection().await;
    let mut holder = installation.connection().await;
    let files = ["one", "two"].map(|name| file(&installation, name, &offers(name, 50, 7)));

    // An import that starts while another changes the catalogue waits, and says so.
    holder.execute("select pg_advisory_lock(hashtext('retort catalogue import'))").await.unwrap();
    let mut imports: Vec<Process> = Vec::new();
    for file in &files {
        let command = replacing(&installation, file);
        let import = installation.start("import", command);
        eventually("it waits", async || import.log().contains("waiting for its end").then_some(())).await;
        imports.push(import);
    }
    assert_eq!(entries(&mut database).await, (40, "old-0".to_owned()));
    holder.execute("select pg_advisory_unlock_all()").await.unwrap();
    for import in &mut imports {
        assert!(import.wait().success(), "{}", import.log());
    }
    assert_eq!(entries(&mut database).await, (50, "two-0".to_owned()), "the one that came last");

    // An import that began earlier but ends later still wins, and leaves nothing of the other.
    let many = file(&installation, "many", &offers("many", LARGE_IMPORT_ENTRIES, 7));
    let command = replacing(&installation, &many);
    let mut slow = installation.start("import", command);
    wait_for_connection(&mut database, COPIES).await;
    signal("STOP", slow.id());
    let command = replacing(&installation, &files[0]);
    assert!(installation.start("import", command).wait().success());
    assert_eq!(entries(&mut database).await, (50, "one-0".to_owned()));
    signal("CONT", slow.id());
    assert!(slow.wait().success(), "{}", slow.log());
    assert_eq!(entries(&mut database).await, (LARGE_IMPORT_ENTRIES as i64, "many-0".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_that_fills_the_disk_says_so_and_leaves_the_old_offers_whole() {
    let Some(mut installation) = Installation::with_postgres_on_a_disk_of(250) else { return };
    installation.import_catalogue(&offers("old", 40, 5));
    let old = installation.retort(&["catalogue", "export"]);
    let new = file(&installation, "new.csv", &offers("new", LARGE_IMPORT_ENTRIES, 7));

    installation.postgres().volume().fill_except(4 * 1024);
    let command = replacing(&installation, &new);
    let mut import = installation.start("import", command);

    assert_eq!(import.wait().code(), Some(1));
    let output = import.log();
    assert!(
        output.contains("the database's disk is full") && output.contains("nothing was changed"),
        "{output}"
    );
    assert_eq!(installation.retort(&["catalogue", "export"]), old);

    installation.postgres().volume().release_space();
    let command = replacing(&installation, &new);
    assert!(installation.start("import", command).wait().success());
    let mut database = installation.connection().await;
    assert_eq!(entries(&mut database).await, (LARGE_IMPORT_ENTRIES as i64, "new-0".to_owned()));
}

/// Returns a vendor's file of `count` building blocks: benzenes with three of fifty-six substituents.
fn blocks(count: usize) -> String {
    let chains = (1..=14).flat_map(|length| {
        let chain = "C".repeat(length);
        [chain.clone(), format!("{chain}O"), format!("{chain}N"), format!("{chain}Cl")]
    });
    let chains: Vec<String> = chains.collect();
    let all = chains.len();
    let mut text = "smiles,vendor_name,cs_id,pack,uom,price_usd\n".to_owned();
    for number in 0..count {
        let [one, two, three] =
            [number % all, number / all % all, number / all / all % all].map(|at| &chains[at]);
        let _ = writeln!(text, "O=C(O)c1c({one})cc({two})c({three})n1,Large,{number},1,g,20");
    }
    text
}

/// The snapshot of the new catalogue is built on the cores that search, and PostgreSQL merges on one of them.
#[tokio::test(flavor = "multi_thread")]
async fn no_search_misses_its_deadline_during_an_import_and_after_it() {
    let (count, after) =
        if std::env::var_os("RETORT_COMPLETE").is_some() { (150_000, 40) } else { (15_000, 8) };
    let mut installation = Installation::new().await;
    installation.lift_rate_limits();
    searches::start(&mut installation).await;
    let caller = installation.account("owner");
    let large = replacing(&installation, &file(&installation, "large.csv", &blocks(count)));
    let import = tokio::task::spawn_blocking(move || output(large));

    let (mut during, mut left) = (0, after);
    while left > 0 {
        if import.is_finished() {
            left -= 1;
        } else {
            during += 1;
        }
        let all = json!({
            "search_smiles": TARGET, "early_exit_first_solution": false, "max_seconds": 1, "max_depth": 2 + left % 3,
        });
        let answer = caller.post("/synth/v1/treesearch", &all).await;
        assert_eq!(answer.status(), 200, "{during} searches during the import, {} after it", after - left);
    }

    import.await.unwrap();
    eventually("the new blocks are known", async || {
        let block = json!({ "smiles": "O=C(O)c1c(C)cc(C)c(C)n1" });
        let known = caller.create("/synth/v1/building-blocks/search", &block).await;
        (!known["items"].as_array().unwrap().is_empty()).then_some(())
    })
    .await;
    installation.assert_running();
}
