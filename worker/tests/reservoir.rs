//! Molecules that are kept ready: taken once, of the right model and version, and replaced while nobody asks.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

mod support;

use std::{
    collections::HashSet,
    io::Write,
    sync::{Arc, Mutex},
    time::Duration,
};

use chrono::Utc;
use contract::{JobId, Problem, SampleId, SampleJob, StoredSampleJob};
use generator::Device;
use queue::{Client, LiveModel, QueueError, WorkerConfig, run_worker};
use sqlx::PgPool;
use support::{Database, live, models, write_pack};
use tempfile::TempDir;
use tokio::{sync::oneshot, task::JoinHandle};
use worker::{
    Activity, Model, Models, Sampling, Shelf, refill,
    reservoir::{self, BLOCK},
};

struct Stage {
    database: Database,
    shelf: Arc<Shelf>,
    models: Arc<Models>,
    dir: TempDir,
}

impl Stage {
    async fn set() -> Self {
        let (dir, database) = (models(), Database::create().await);
        let shelf = Arc::new(Shelf::load(vec![dir.path().to_owned()], Vec::new(), Device::Cpu).unwrap());
        Self { database, models: shelf.models(), shelf, dir }
    }

    fn model(&self, id: &str) -> Arc<Model> {
        Arc::clone(self.models.iter().find(|model| model.id() == id).unwrap())
    }

    fn pool(&self) -> PgPool {
        self.database.pool.clone()
    }

    async fn level(&self, id: &str) -> usize {
        reservoir::levels(&self.database.pool).await.unwrap().of(&self.model(id))
    }

    async fn put(&self, id: &str, molecules: &[String]) {
        let mut connection = self.pool().acquire().await.unwrap();
        reservoir::put(&mut connection, &self.model(id), molecules).await.unwrap();
    }

    /// What a sample of `size` finds ready.
    async fn take(&self, id: &str, size: usize) -> Vec<String> {
        let mut transaction = self.pool().begin().await.unwrap();
        let taken = reservoir::take(&mut transaction, &self.model(id), size).await.unwrap();
        transaction.commit().await.unwrap();
        taken
    }
}

/// Distinct chains.
fn chains(lengths: std::ops::Range<usize>) -> Vec<String> {
    lengths.map(|length| "C".repeat(length)).collect()
}

async fn eventually<F: Future<Output = bool>>(what: &str, mut check: impl FnMut() -> F) {
    for _ in 0..1500 {
        if check().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("never came true: {what}");
}

#[tokio::test]
async fn what_a_sample_does_not_need_of_a_block_goes_back() {
    let stage = Stage::set().await;
    stage.put("cheap", &chains(1..BLOCK + 101)).await;

    let first = stage.take("cheap", 10).await;
    let level = stage.level("cheap").await;
    let rest = stage.take("cheap", 10_000).await;

    assert_eq!((first.len(), level, rest.len()), (10, BLOCK + 90, BLOCK + 90));
    let distinct: HashSet<_> = first.iter().chain(&rest).collect();
    assert_eq!(distinct.len(), BLOCK + 100);
    assert_eq!(stage.take("cheap", 5).await, Vec::<String>::new());
    stage.database.drop_database().await;
}

#[tokio::test]
async fn a_molecule_of_two_blocks_occurs_once_in_a_sample() {
    let stage = Stage::set().await;
    stage.put("cheap", &chains(1..11)).await;
    stage.put("cheap", &chains(6..21)).await;

    let taken = stage.take("cheap", 20).await;

    assert_eq!(taken.iter().collect::<HashSet<_>>().len(), taken.len());
    assert_eq!(taken.len(), 20);
    stage.database.drop_database().await;
}

#[tokio::test]
async fn samples_at_the_same_time_do_not_wait_for_each_other_and_share_nothing() {
    let stage = Stage::set().await;
    stage.put("cheap", &chains(1..4 * BLOCK + 1)).await;
    let (mut one, mut other) = (stage.pool().begin().await.unwrap(), stage.pool().begin().await.unwrap());
    let model = stage.model("cheap");

    let first = reservoir::take(&mut one, &model, 700).await.unwrap();
    let second = reservoir::take(&mut other, &model, 300).await.unwrap();
    one.commit().await.unwrap();
    other.commit().await.unwrap();

    let distinct: HashSet<_> = first.iter().chain(&second).collect();
    assert_eq!((first.len(), second.len(), distinct.len()), (700, 300, 1000));
    assert_eq!(stage.level("cheap").await, 4 * BLOCK - 1000);
    stage.database.drop_database().await;
}

#[tokio::test]
async fn an_attempt_that_fails_hands_out_nothing() {
    let stage = Stage::set().await;
    stage.put("cheap", &chains(1..101)).await;

    let mut transaction = stage.pool().begin().await.unwrap();
    let taken = reservoir::take(&mut transaction, &stage.model("cheap"), 30).await.unwrap();
    transaction.rollback().await.unwrap();

    assert_eq!((taken.len(), stage.level("cheap").await), (30, 100));
    stage.database.drop_database().await;
}

#[tokio::test]
async fn a_changed_pack_gets_nothing_of_its_old_self() {
    let stage = Stage::set().await;
    stage.put("cheap", &chains(1..101)).await;
    let changed = tempfile::tempdir().unwrap();
    write_pack(changed.path(), "cheap", 1.0, 13);
    let models = Models::load(&[changed.path().to_owned()], &[], &Device::Cpu).unwrap();
    let cheap = models.iter().next().unwrap();

    assert_ne!(cheap.version, stage.model("cheap").version);
    assert_eq!(reservoir::levels(&stage.pool()).await.unwrap().of(cheap), 0);
    assert_eq!(reservoir::drop_other_versions(&stage.pool(), cheap).await.unwrap(), 1);
    assert_eq!(stage.level("cheap").await, 0);
    stage.database.drop_database().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_sampler_fills_the_reservoir_and_a_model_that_cannot_fill_it_harms_no_other() {
    let stage = Stage::set().await;
    let filling =
        tokio::spawn(refill(stage.pool(), Arc::clone(&stage.shelf), 3 * BLOCK, Activity::default()));

    eventually("the reservoir is full", || async { stage.level("cheap").await >= 3 * BLOCK }).await;

    // `dear` knows fewer molecules than a block has.
    assert_eq!((stage.level("cheap").await, stage.level("dear").await), (3 * BLOCK, 0));
    let taken = stage.take("cheap", 2 * BLOCK).await;
    eventually("it is full again", || async { stage.level("cheap").await >= 3 * BLOCK }).await;
    assert_eq!(taken.len(), 2 * BLOCK);
    filling.abort();
    let _ = filling.await;
    stage.database.drop_database().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_made_ahead_while_a_job_runs() {
    let stage = Stage::set().await;
    let activity = Activity::default();
    let job = activity.begin();
    let filling = tokio::spawn(refill(stage.pool(), Arc::clone(&stage.shelf), BLOCK, activity.clone()));

    tokio::time::sleep(Duration::from_millis(300)).await;
    let while_busy = stage.level("cheap").await;
    drop(job);
    eventually("the reservoir is full", || async { stage.level("cheap").await >= BLOCK }).await;

    assert_eq!(while_busy, 0);
    filling.abort();
    let _ = filling.await;
    stage.database.drop_database().await;
}

/// A sampler at work on a stage, and somebody who asks it.
struct Serving {
    client: Client,
    stop: oneshot::Sender<()>,
    worker: JoinHandle<Result<(), QueueError>>,
}

impl Serving {
    async fn on(stage: &Stage, activity: Activity) -> Self {
        sqlx::query(
            "insert into accounts (id, email, name, password_hash, scopes) values ('acc_1', 'a', 'a', '', '{}')",
        )
        .execute(&stage.database.pool)
        .await
        .unwrap();
        let client = stage.database.client().await;
        let (stop, stopped) = oneshot::channel::<()>();
        let config = WorkerConfig { models: stage.shelf.announce(), ..WorkerConfig::default() };
        let handler = Sampling { pool: stage.pool(), shelf: Arc::clone(&stage.shelf), activity };
        let worker = tokio::spawn(run_worker::<StoredSampleJob, _>(stage.pool(), config, handler, async {
            let _ = stopped.await;
        }));
        live(&client).await;
        Self { client, stop, worker }
    }

    async fn ask(&self, size: u32, model_id: Option<&str>) -> (SampleId, Result<SampleId, Problem>) {
        let sample_id = SampleId::generate();
        let job = SampleJob {
            sample_id,
            account_id: "acc_1".to_owned(),
            size,
            model_id: model_id.map(str::to_owned),
            seed: 7,
            deadline: Utc::now() + chrono::TimeDelta::seconds(30),
        };
        let pending = self.client.submit(JobId::generate(), &StoredSampleJob::V1(job)).await.unwrap();
        (sample_id, pending.outcome().await.unwrap())
    }

    async fn end(self) {
        self.stop.send(()).unwrap();
        self.worker.await.unwrap().unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_takes_what_is_ready_of_the_fullest_model_and_a_refused_one_takes_nothing() {
    let stage = Stage::set().await;
    let ready = ["O", "OO"].map(str::to_owned);
    stage.put("dear", &ready).await;
    let serving = Serving::on(&stage, Activity::default()).await;

    let (_, refused) = serving.ask(5_000, None).await;
    let level = stage.level("dear").await;
    let (id, answered) = serving.ask(4, None).await;

    assert!(matches!(refused, Err(Problem::SizeUnreachable { wanted: 5_000, .. })), "{refused:?}");
    assert_eq!((level, answered), (2, Ok(id)));
    let (model_id, smiles): (String, Vec<String>) =
        sqlx::query_as("select model_id, smiles from samples where id = $1")
            .bind(id.to_string())
            .fetch_one(&stage.database.pool)
            .await
            .unwrap();
    assert_eq!((model_id.as_str(), smiles.len()), ("dear", 4));
    assert!(ready.iter().all(|molecule| smiles.contains(molecule)), "{smiles:?}");
    assert_eq!(stage.level("dear").await, 0);
    serving.end().await;
    stage.database.drop_database().await;
}

/// What was logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

// On one thread, so that what is logged there can be read.
#[tokio::test]
async fn a_full_disk_stops_the_refilling_says_so_once_and_stops_no_request() {
    let stage = Stage::set().await;
    stage.put("cheap", &chains(1..13)).await;
    sqlx::raw_sql(
        "create function full_disk() returns trigger language plpgsql as $$
        begin raise exception 'could not extend file: no space left on device' using errcode = '53100'; end $$;
        create trigger full_disk before insert on reservoir_blocks for each row execute function full_disk()",
    )
    .execute(&stage.database.pool)
    .await
    .unwrap();
    let log = Log::default();
    let written = log.clone();
    let subscriber = tracing_subscriber::fmt().with_ansi(false).with_writer(move || written.clone()).finish();
    let _logging = tracing::subscriber::set_default(subscriber);
    let activity = Activity::default();
    let filling = tokio::spawn(refill(stage.pool(), Arc::clone(&stage.shelf), BLOCK, activity.clone()));
    let serving = Serving::on(&stage, activity).await;

    // What is left of the block cannot go back: the sample is made anew.
    let (id, answered) = serving.ask(4, Some("cheap")).await;
    tokio::time::sleep(Duration::from_millis(3500)).await;
    let while_full = stage.level("cheap").await;
    sqlx::raw_sql("drop trigger full_disk on reservoir_blocks").execute(&stage.database.pool).await.unwrap();
    eventually("the reservoir is full", || async { stage.level("cheap").await >= BLOCK }).await;

    assert_eq!(answered, Ok(id));
    assert_eq!(while_full, 12);
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert_eq!(log.matches("could not refill the reservoir").count(), 1, "{log}");
    filling.abort();
    serving.end().await;
    stage.database.drop_database().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn packs_that_come_change_and_go_are_taken_up_without_a_restart() {
    let stage = Stage::set().await;
    let keeping_up = tokio::spawn(Arc::clone(&stage.shelf).keep_up());
    let mut announced = stage.shelf.announce();
    let began_with = stage.model("dear");

    write_pack(stage.dir.path(), "new", 0.5, 7);
    std::fs::remove_dir_all(stage.dir.path().join("dear")).unwrap();
    std::fs::remove_dir_all(stage.dir.path().join("broken")).unwrap();
    let ids = |models: &[LiveModel]| models.iter().map(|model| model.model_id.clone()).collect::<Vec<_>>();
    announced.wait_for(|models| ids(models) == ["cheap", "new"]).await.unwrap();

    let now = stage.shelf.models();
    let kept = now.iter().find(|model| model.id() == "cheap").unwrap();
    assert!(Arc::ptr_eq(kept, &stage.model("cheap")), "what has not changed was loaded again");
    // A job that runs goes on with the model it began with.
    assert_eq!(began_with.sampler.raw(3, 1).unwrap().len(), 3);
    keeping_up.abort();
    stage.database.drop_database().await;
}
