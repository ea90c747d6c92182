//! Tests of the reservoir: molecules are taken once, match model and version, and are replaced while the sampler is
//! idle.

use std::{
    collections::{BTreeMap, HashSet},
    io::Write,
    sync::{Arc, Mutex},
    time::Duration,
};

use crate::support::{CALLER, MACHINE, TestDatabase, live, models, write_endless_pack, write_pack};
use chrono::Utc;
use contract::{JobFailure, JobId, SampleConditions, SampleId, SampleJob, StoredSampleJob};
use queue::{Client, LiveModel, Pending, QueueError, WorkerConfig, run_worker};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use sqlx::{PgPool, postgres::PgPoolOptions};
use tempfile::TempDir;
use tokio::{sync::oneshot, task::JoinHandle};
use worker::{
    LoadedModel, ModelRegistry, Models, ReadyCounts, RouteChecker, RunningJobs, SampleHandler, refill,
    reservoir::{self, BLOCK_SIZE},
};

struct Stage {
    database: TestDatabase,
    registry: Arc<ModelRegistry>,
    models: Arc<Models>,
    dir: TempDir,
}

impl Stage {
    async fn set() -> Self {
        Self::with(models()).await
    }

    /// Stage with a model whose strings never end, so that a sample runs until its deadline.
    async fn with_endless() -> Self {
        let dir = models();
        write_endless_pack(dir.path());
        Self::with(dir).await
    }

    async fn with(dir: TempDir) -> Self {
        let database = TestDatabase::with_schema().await;
        let registry =
            Arc::new(ModelRegistry::load(vec![dir.path().to_owned()], Vec::new(), MACHINE).unwrap());
        Self { database, models: registry.models(), registry, dir }
    }

    fn model(&self, id: &str) -> Arc<LoadedModel> {
        Arc::clone(self.models.iter().find(|model| model.id() == id).unwrap())
    }

    fn pool(&self) -> PgPool {
        self.database.pool.clone()
    }

    fn sampling(&self) -> SampleHandler {
        let (activity, ready) = Default::default();
        let routes = RouteChecker::new(self.pool().into());
        SampleHandler { pool: self.pool(), registry: Arc::clone(&self.registry), activity, ready, routes }
    }

    async fn level(&self, id: &str) -> usize {
        reservoir::levels(&self.database.pool).await.unwrap().of(&self.model(id))
    }

    async fn put(&self, id: &str, molecules: &[String]) {
        let mut connection = self.pool().acquire().await.unwrap();
        reservoir::put(&mut connection, &self.model(id), molecules).await.unwrap();
    }

    /// Sets all leases to be expired.
    async fn expire_leases(&self) {
        let over = sqlx::query(
            "update reservoir_blocks set leased_until = now() - interval '1 second' where leased_by is not null",
        );
        over.execute(&self.database.pool).await.unwrap();
    }

    /// Counts, for samplers that offer `offered`, the time since the last count, which was `hours` hours ago.
    async fn count(&self, offered: &[&str], hours: i32) {
        let offered: Vec<_> = offered.iter().map(|&id| id.to_owned()).collect();
        sqlx::query("update reservoir_models set counted_at = counted_at - make_interval(hours => $1)")
            .bind(hours)
            .execute(&self.database.pool)
            .await
            .unwrap();
        reservoir::count_unoffered(&self.database.pool, &offered, 60 * MINUTE).await.unwrap();
    }

    /// Takes up to `size` molecules from the reservoir.
    async fn take(&self, id: &str, size: usize) -> Vec<String> {
        let mut transaction = self.pool().begin().await.unwrap();
        let taken = reservoir::take(&mut transaction, &self.model(id), size).await.unwrap();
        transaction.commit().await.unwrap();
        taken
    }
}

const MINUTE: Duration = Duration::from_secs(60);

/// Distinct carbon chains.
fn chains(lengths: std::ops::Range<usize>) -> Vec<String> {
    lengths.map(|length| "C".repeat(length)).collect()
}

async fn eventually<F: Future<Output = bool>>(condition: &str, mut check: impl FnMut() -> F) {
    for _ in 0..1500 {
        if check().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("never came true: {condition}");
}

#[tokio::test]
async fn what_a_sample_does_not_need_of_a_block_goes_back() {
    let stage = Stage::set().await;
    stage.put("cheap", &chains(1..BLOCK_SIZE + 101)).await;

    let first = stage.take("cheap", 10).await;
    let level = stage.level("cheap").await;
    let rest = stage.take("cheap", 10_000).await;

    assert_eq!((first.len(), level, rest.len()), (10, BLOCK_SIZE + 90, BLOCK_SIZE + 90));
    let distinct: HashSet<_> = first.iter().chain(&rest).collect();
    assert_eq!(distinct.len(), BLOCK_SIZE + 100);
    assert_eq!(stage.take("cheap", 5).await, Vec::<String>::new());
}

#[tokio::test]
async fn a_molecule_of_two_blocks_occurs_once_in_a_sample() {
    let stage = Stage::set().await;
    stage.put("cheap", &chains(1..11)).await;
    stage.put("cheap", &chains(6..21)).await;

    let taken = stage.take("cheap", 20).await;

    assert_eq!(taken.iter().collect::<HashSet<_>>().len(), taken.len());
    assert_eq!(taken.len(), 20);
}

#[tokio::test]
async fn samples_at_the_same_time_do_not_wait_for_each_other_and_share_nothing() {
    let stage = Stage::set().await;
    stage.put("cheap", &chains(1..4 * BLOCK_SIZE + 1)).await;
    let (mut one, mut other) = (stage.pool().begin().await.unwrap(), stage.pool().begin().await.unwrap());
    let model = stage.model("cheap");

    let first = reservoir::take(&mut one, &model, 700).await.unwrap();
    let second = reservoir::take(&mut other, &model, 300).await.unwrap();
    one.commit().await.unwrap();
    other.commit().await.unwrap();

    let distinct: HashSet<_> = first.iter().chain(&second).collect();
    assert_eq!((first.len(), second.len(), distinct.len()), (700, 300, 1000));
    assert_eq!(stage.level("cheap").await, 4 * BLOCK_SIZE - 1000);
}

#[tokio::test]
async fn a_failed_attempt_takes_no_samples() {
    let stage = Stage::set().await;
    stage.put("cheap", &chains(1..101)).await;

    let mut transaction = stage.pool().begin().await.unwrap();
    let taken = reservoir::take(&mut transaction, &stage.model("cheap"), 30).await.unwrap();
    transaction.rollback().await.unwrap();

    assert_eq!((taken.len(), stage.level("cheap").await), (30, 100));
}

#[tokio::test]
async fn a_changed_pack_gets_nothing_of_its_old_self() {
    let stage = Stage::set().await;
    stage.put("cheap", &chains(1..101)).await;
    let changed = tempfile::tempdir().unwrap();
    write_pack(changed.path(), "cheap", 1.0, 13);
    let models = Models::load(&[changed.path().to_owned()], &[], &MACHINE).unwrap();
    let cheap = models.iter().next().unwrap();

    assert_ne!(cheap.version, stage.model("cheap").version);
    assert_eq!(reservoir::levels(&stage.pool()).await.unwrap().of(cheap), 0);
    assert_eq!(reservoir::drop_other_versions(&stage.pool(), cheap).await.unwrap(), 1);
    assert_eq!(stage.level("cheap").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_sampler_fills_the_reservoir_and_a_model_that_cannot_fill_it_harms_no_other() {
    let stage = Stage::set().await;
    let filling = tokio::spawn(refill(
        stage.pool(),
        Arc::clone(&stage.registry),
        3 * BLOCK_SIZE,
        RunningJobs::default(),
        ReadyCounts::default(),
    ));

    eventually("the reservoir is full", || async { stage.level("cheap").await >= 3 * BLOCK_SIZE }).await;

    // `dear` can make fewer molecules than a block holds.
    assert_eq!((stage.level("cheap").await, stage.level("dear").await), (3 * BLOCK_SIZE, 0));
    let taken = stage.take("cheap", 2 * BLOCK_SIZE).await;
    eventually("it is full again", || async { stage.level("cheap").await >= 3 * BLOCK_SIZE }).await;
    assert_eq!(taken.len(), 2 * BLOCK_SIZE);
    filling.abort();
    let _ = filling.await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_made_ahead_while_a_job_runs() {
    let stage = Stage::set().await;
    let activity = RunningJobs::default();
    let job = activity.begin();
    let filling = tokio::spawn(refill(
        stage.pool(),
        Arc::clone(&stage.registry),
        BLOCK_SIZE,
        activity.clone(),
        ReadyCounts::default(),
    ));

    tokio::time::sleep(Duration::from_millis(300)).await;
    let while_busy = stage.level("cheap").await;
    drop(job);
    eventually("the reservoir is full", || async { stage.level("cheap").await >= BLOCK_SIZE }).await;

    assert_eq!(while_busy, 0);
    filling.abort();
    let _ = filling.await;
}

#[tokio::test]
async fn what_a_job_has_leased_is_nobody_elses_until_the_time_is_over() {
    let stage = Stage::set().await;
    stage.put("cheap", &chains(1..2 * BLOCK_SIZE + 1)).await;
    let model = stage.model("cheap");

    let (kept, lease) = reservoir::lease(&stage.pool(), &model, BLOCK_SIZE, "one", MINUTE).await.unwrap();
    let (rest, _) = reservoir::lease(&stage.pool(), &model, 2 * BLOCK_SIZE, "other", MINUTE).await.unwrap();
    let (level, nothing) = (stage.level("cheap").await, stage.take("cheap", 5).await);
    stage.expire_leases().await;
    let later = stage.take("cheap", 2 * BLOCK_SIZE).await;
    let mut transaction = stage.pool().begin().await.unwrap();
    let spent = reservoir::spend(&mut transaction, &model, &lease).await.unwrap();

    let distinct: HashSet<_> = kept.iter().chain(&rest).collect();
    assert_eq!((kept.len(), rest.len(), distinct.len()), (BLOCK_SIZE, BLOCK_SIZE, 2 * BLOCK_SIZE));
    assert_eq!((level, nothing.len(), later.len()), (0, 0, 2 * BLOCK_SIZE));
    assert!(!spent, "others have it");
    drop(transaction);
}

#[tokio::test]
async fn of_what_a_job_has_leased_the_rest_goes_back_when_it_is_spent_and_all_when_it_is_given_back() {
    let stage = Stage::set().await;
    stage.put("cheap", &chains(1..BLOCK_SIZE + 1)).await;
    let model = stage.model("cheap");

    let (_, lease) = reservoir::lease(&stage.pool(), &model, 10, "one", MINUTE).await.unwrap();
    reservoir::release_lease(&stage.pool(), &lease).await.unwrap();
    let given_back = stage.level("cheap").await;
    let (kept, lease) = reservoir::lease(&stage.pool(), &model, 10, "other", MINUTE).await.unwrap();
    let mut transaction = stage.pool().begin().await.unwrap();
    let spent = reservoir::spend(&mut transaction, &model, &lease).await.unwrap();
    transaction.commit().await.unwrap();
    let rest: HashSet<_> = stage.take("cheap", BLOCK_SIZE).await.into_iter().collect();

    assert_eq!((given_back, spent, kept.len(), rest.len()), (BLOCK_SIZE, true, 10, BLOCK_SIZE - 10));
    assert!(kept.iter().all(|molecule| !rest.contains(molecule)));
}

/// Use of the reservoir by a sample, and its ending.
#[derive(Debug, Clone, Copy)]
enum End {
    Taken,
    TakenAndFailed,
    Spent,
    SpentAndFailed,
    GivenBack,
    Died,
}

/// Runs one sample of `size` and returns what it hands out.
async fn taken(
    pool: PgPool,
    model: Arc<LoadedModel>,
    id: usize,
    size: usize,
    end: End,
    time: Duration,
) -> Vec<String> {
    match end {
        End::Taken | End::TakenAndFailed => {
            let mut transaction = pool.begin().await.unwrap();
            let taken = reservoir::take(&mut transaction, &model, size).await.unwrap();
            tokio::task::yield_now().await;
            if let End::Taken = end {
                transaction.commit().await.unwrap();
                return taken;
            }
            transaction.rollback().await.unwrap();
        }
        End::Spent | End::SpentAndFailed | End::GivenBack | End::Died => {
            let (kept, lease) = reservoir::lease(&pool, &model, size, &id.to_string(), time).await.unwrap();
            tokio::task::yield_now().await;
            match end {
                End::Spent | End::SpentAndFailed => {
                    let mut transaction = pool.begin().await.unwrap();
                    let spent = reservoir::spend(&mut transaction, &model, &lease).await.unwrap();
                    if let (true, End::Spent) = (spent, end) {
                        transaction.commit().await.unwrap();
                        return kept;
                    }
                    transaction.rollback().await.unwrap();
                }
                End::GivenBack => reservoir::release_lease(&pool, &lease).await.unwrap(),
                _ => {}
            }
        }
    }
    Vec::new()
}

#[tokio::test(flavor = "multi_thread")]
async fn however_samples_at_the_same_time_end_no_block_is_handed_out_twice_and_none_is_lost() {
    let stage = Stage::set().await;
    let ends = [End::Taken, End::TakenAndFailed, End::Spent, End::SpentAndFailed, End::GivenBack, End::Died];
    for seed in 0..6 {
        let mut rng = StdRng::seed_from_u64(seed);
        let all: Vec<_> = (0..40 * BLOCK_SIZE).map(|n| format!("{seed}-{n}")).collect();
        stage.put("cheap", &all).await;

        let samples = (0..60).map(|id| {
            let (size, end) = (rng.random_range(1..3 * BLOCK_SIZE), ends[rng.random_range(0..ends.len())]);
            // Some leases expire before they are spent.
            let time = if rng.random_bool(0.5) { Duration::ZERO } else { MINUTE };
            tokio::spawn(taken(stage.pool(), stage.model("cheap"), id, size, end, time))
        });
        let samples: Vec<_> = samples.collect();
        let mut found = Vec::new();
        for sample in samples {
            found.append(&mut sample.await.unwrap());
        }
        let taken = found.len();
        stage.expire_leases().await;
        found.append(&mut stage.take("cheap", 40 * BLOCK_SIZE).await);

        assert!((1..all.len()).contains(&taken), "seed {seed}: {taken}");
        found.sort_unstable();
        let mut all = all;
        all.sort_unstable();
        assert!(found == all, "seed {seed}: {} found of {}", found.len(), all.len());
    }
}

#[tokio::test]
async fn a_model_is_forgotten_after_a_day_in_which_samplers_ran_and_none_offered_it() {
    let stage = Stage::set().await;
    stage.put("cheap", &chains(1..11)).await;
    stage.put("dear", &chains(1..11)).await;

    // The first count of a model adds no time, hence 25 counts.
    for _ in 0..=24 {
        stage.count(&["cheap"], 1).await;
    }
    let before = reservoir::drop_unoffered(&stage.pool()).await.unwrap();
    stage.count(&["cheap"], 1).await;
    let dropped = reservoir::drop_unoffered(&stage.pool()).await.unwrap();

    assert_eq!((before, dropped), (0, 1));
    assert_eq!((stage.level("cheap").await, stage.level("dear").await), (10, 0));
}

#[tokio::test]
async fn time_in_which_no_sampler_runs_and_a_word_of_another_sampler_keep_a_model() {
    let stage = Stage::set().await;
    stage.put("dear", &chains(1..11)).await;

    // No sampler runs for ten days, then one starts without the model; five times.
    for _ in 0..5 {
        stage.count(&["cheap"], 10 * 24).await;
        assert_eq!(reservoir::drop_unoffered(&stage.pool()).await.unwrap(), 0);
    }
    // Less than a day without the model, then a sampler offers it; twice.
    for hours in [19, 23] {
        for _ in 0..hours {
            stage.count(&["cheap"], 1).await;
        }
        assert_eq!(reservoir::drop_unoffered(&stage.pool()).await.unwrap(), 0);
        stage.count(&["dear"], 1).await;
    }

    assert_eq!(stage.level("dear").await, 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sampler_knows_how_much_lies_ready_of_the_versions_that_it_serves() {
    let stage = Stage::set().await;
    stage.put("cheap", &chains(1..101)).await;
    let ready = ReadyCounts::default();
    let counting = tokio::spawn(ready.clone().poll(stage.pool(), Arc::clone(&stage.registry)));
    let serving =
        RunningSampler::with(&stage, SampleHandler { ready: ready.clone(), ..stage.sampling() }).await;
    let counts = |cheap| BTreeMap::from([("cheap".to_owned(), cheap), ("dear".to_owned(), 0)]);
    let mut counts_seen = ready.subscribe();

    counts_seen.wait_for(|now| *now == counts(100)).await.unwrap();
    serving.sample(30, Some("cheap")).await.1.unwrap();
    counts_seen.wait_for(|now| *now == counts(70)).await.unwrap();
    // Simulates another process.
    stage.put("cheap", &chains(101..111)).await;
    counts_seen.wait_for(|now| *now == counts(80)).await.unwrap();

    counting.abort();
    let _ = counting.await;
    serving.end().await;
}

/// A running sampler on a stage, and a client that submits jobs to it.
struct RunningSampler {
    client: Client,
    stop: oneshot::Sender<()>,
    worker: JoinHandle<Result<(), QueueError>>,
}

impl RunningSampler {
    async fn on(stage: &Stage, activity: RunningJobs) -> Self {
        Self::with(stage, SampleHandler { activity, ..stage.sampling() }).await
    }

    async fn with(stage: &Stage, handler: SampleHandler) -> Self {
        sqlx::query(
            "insert into accounts (id, email, name, password_hash, scopes) values ('acc_1', 'a', 'a', '', '{}')",
        )
        .execute(&stage.database.pool)
        .await
        .unwrap();
        let client = stage.database.client().await;
        let (stop, stopped) = oneshot::channel::<()>();
        let config = WorkerConfig { models: stage.registry.announce(), ..WorkerConfig::default() };
        let worker = tokio::spawn(run_worker::<StoredSampleJob, _>(stage.pool(), config, handler, async {
            let _ = stopped.await;
        }));
        live(&client).await;
        Self { client, stop, worker }
    }

    async fn submit(&self, size: u32, model_id: Option<&str>) -> (SampleId, Pending<StoredSampleJob>) {
        let sample_id = SampleId::generate();
        let job = SampleJob {
            sample_id,
            account_id: "acc_1".to_owned(),
            size,
            model_id: model_id.map(str::to_owned),
            seed: 7,
            conditions: SampleConditions::default(),
            details: false,
            deadline: Utc::now() + chrono::TimeDelta::seconds(30),
        };
        let pending =
            self.client.submit(JobId::generate(), &StoredSampleJob::from(job), CALLER).await.unwrap();
        (sample_id, pending)
    }

    async fn sample(&self, size: u32, model_id: Option<&str>) -> (SampleId, Result<SampleId, JobFailure>) {
        let (sample_id, pending) = self.submit(size, model_id).await;
        (sample_id, pending.outcome().await.unwrap())
    }

    async fn end(self) {
        self.stop.send(()).unwrap();
        self.worker.await.unwrap().unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_takes_what_is_ready_of_its_model_and_a_refused_one_takes_nothing() {
    let stage = Stage::set().await;
    let ready = ["O", "OO"].map(str::to_owned);
    stage.put("dear", &ready).await;
    let serving = RunningSampler::on(&stage, RunningJobs::default()).await;

    let (_, refused) = serving.sample(5_000, Some("dear")).await;
    let level = stage.level("dear").await;
    let (id, answered) = serving.sample(4, Some("dear")).await;

    assert!(matches!(refused, Err(JobFailure::SizeUnreachable { wanted: 5_000, .. })), "{refused:?}");
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
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sample_that_draws_holds_no_connection_and_what_it_leased_is_free_when_its_caller_leaves() {
    let stage = Stage::with_endless().await;
    stage.put("endless", &chains(1..11)).await;
    let only =
        PgPoolOptions::new().max_connections(1).connect_with((*stage.pool().connect_options()).clone());
    let only = only.await.unwrap();
    let serving =
        RunningSampler::with(&stage, SampleHandler { pool: only.clone(), ..stage.sampling() }).await;

    let (_, pending) = serving.submit(20, Some("endless")).await;
    eventually("what lies ready is leased", || async { stage.level("endless").await == 0 }).await;
    let connection = tokio::time::timeout(MINUTE / 6, only.acquire()).await;
    let while_drawing = stage.level("endless").await;
    drop(connection.expect("the sample keeps the only connection").unwrap());
    drop(pending);
    eventually("the lease has ended", || async { stage.level("endless").await == 10 }).await;

    assert_eq!(while_drawing, 0);
    serving.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_sampler_leased_that_dies_comes_back_in_time() {
    let stage = Stage::with_endless().await;
    stage.put("endless", &chains(1..11)).await;
    let serving = RunningSampler::on(&stage, RunningJobs::default()).await;

    let (_, _pending) = serving.submit(20, Some("endless")).await;
    eventually("what lies ready is leased", || async { stage.level("endless").await == 0 }).await;
    // Aborted at an arbitrary point, as by a crash.
    serving.worker.abort();
    let _ = serving.worker.await;
    let left: f64 = sqlx::query_scalar(
        "select extract(epoch from max(leased_until) - now())::float8 from reservoir_blocks",
    )
    .fetch_one(&stage.database.pool)
    .await
    .unwrap();
    stage.expire_leases().await;

    // The sum of the deadline, the allowed lateness of a sample and the time to store it.
    assert!((1.0..=30.0 + 30.0 + 10.0).contains(&left), "{left} s");
    assert_eq!(stage.take("endless", 20).await.len(), 10);
}

/// Captured log output.
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

// Single-threaded, so that the test's subscriber captures the log.
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
    let activity = RunningJobs::default();
    let filling = tokio::spawn(refill(
        stage.pool(),
        Arc::clone(&stage.registry),
        BLOCK_SIZE,
        activity.clone(),
        ReadyCounts::default(),
    ));
    let serving = RunningSampler::on(&stage, activity).await;

    // The rest of the block cannot be put back, so the sample is drawn anew.
    let (id, answered) = serving.sample(4, Some("cheap")).await;
    tokio::time::sleep(Duration::from_millis(3500)).await;
    let while_full = stage.level("cheap").await;
    sqlx::raw_sql("drop trigger full_disk on reservoir_blocks").execute(&stage.database.pool).await.unwrap();
    eventually("the reservoir is full", || async { stage.level("cheap").await >= BLOCK_SIZE }).await;

    assert_eq!(answered, Ok(id));
    assert_eq!(while_full, 12);
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert_eq!(log.matches("could not refill the reservoir").count(), 1, "{log}");
    filling.abort();
    serving.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn packs_that_come_change_and_go_are_taken_up_without_a_restart() {
    let stage = Stage::set().await;
    let keeping_up = tokio::spawn(Arc::clone(&stage.registry).poll());
    let mut announced = stage.registry.announce();
    let began_with = stage.model("dear");

    write_pack(stage.dir.path(), "new", 0.5, 7);
    std::fs::remove_dir_all(stage.dir.path().join("dear")).unwrap();
    std::fs::remove_dir_all(stage.dir.path().join("broken")).unwrap();
    let ids = |models: &[LiveModel]| models.iter().map(|model| model.model_id.clone()).collect::<Vec<_>>();
    announced.wait_for(|models| ids(models) == ["cheap", "new"]).await.unwrap();

    let now = stage.registry.models();
    let kept = now.iter().find(|model| model.id() == "cheap").unwrap();
    assert!(Arc::ptr_eq(kept, &stage.model("cheap")), "what has not changed was loaded again");
    // A running job continues with the model that it started with.
    assert_eq!(began_with.sampler.raw(3, 1).unwrap().len(), 3);
    keeping_up.abort();
}
