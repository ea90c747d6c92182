//! Tests of asynchronous sample jobs, from the queue to the stored samples, on tiny models.

use std::{
    collections::HashSet,
    sync::Arc,
    time::{Duration, Instant},
};

use crate::support::{MACHINE, TestDatabase, models, write_pack};
use contract::{SampleId, StoredAsyncSampleJob};
use generator::SampleBudget;
use queue::{WorkerConfig, run_worker};
use sqlx::PgPool;
use tempfile::TempDir;
use tokio::task::JoinHandle;
use worker::{AsyncSampleHandler, ModelRegistry, RouteChecker, RunningJobs, feed_orders};

/// A sampler that runs up to `slots` asynchronous samples at a time. Dropping it simulates a crash.
struct Sampler {
    activity: RunningJobs,
    registry: Arc<ModelRegistry>,
    tasks: [JoinHandle<()>; 2],
    _models: TempDir,
}

impl Sampler {
    fn start(pool: &PgPool, slots: usize) -> Self {
        let models = models();
        write_pack(models.path(), "long", 4.0, 300);
        let registry =
            Arc::new(ModelRegistry::load(vec![models.path().to_owned()], Vec::new(), MACHINE).unwrap());
        let activity = RunningJobs::default();
        let config = WorkerConfig { slots, models: registry.announce(), ..WorkerConfig::default() };
        let handler = AsyncSampleHandler {
            pool: pool.clone(),
            registry: Arc::clone(&registry),
            activity: activity.clone(),
            routes: RouteChecker::new(pool.clone().into()),
        };
        let (working, feeding) = (pool.clone(), pool.clone());
        let work = async move {
            run_worker::<StoredAsyncSampleJob, _>(working, config, handler, std::future::pending())
                .await
                .unwrap();
        };
        let tasks = [tokio::spawn(work), tokio::spawn(feed_orders(feeding))];
        Self { activity, registry, tasks, _models: models }
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

/// Stores a batch with chunks of these sizes. All have one seed, so without deduplication they would have the same
/// molecules.
async fn batch(pool: &PgPool, model_id: &str, sizes: &[i32]) {
    sqlx::query(
        "with account as (
            insert into accounts (id, email, name, password_hash, scopes) values ('acc_1', 'a', 'a', '', '{}')
            on conflict do nothing
        )
        insert into sample_batches (id, account_id, size, chunk_count) values ('sbt_1', 'acc_1', $1, $2)",
    )
    .bind(sizes.iter().sum::<i32>())
    .bind(i32::try_from(sizes.len()).unwrap())
    .execute(pool)
    .await
    .unwrap();
    for (place, size) in (0_i32..).zip(sizes) {
        sqlx::query(
            "insert into sample_orders (id, account_id, batch_id, place, model_id, size, seed)
            values ($1, 'acc_1', 'sbt_1', $2, $3, $4, 7)",
        )
        .bind(SampleId::generate().to_string())
        .bind(place)
        .bind(model_id)
        .bind(size)
        .execute(pool)
        .await
        .unwrap();
    }
}

/// Waits until all chunks have ended and returns their states in order.
async fn ended(pool: &PgPool) -> Vec<String> {
    for _ in 0..3_000 {
        let statuses: Vec<String> = sqlx::query_scalar("select status from sample_orders order by place")
            .fetch_all(pool)
            .await
            .unwrap();
        if statuses.iter().all(|status| status != "pending") {
            return statuses;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the batch did not end");
}

async fn molecules(pool: &PgPool) -> Vec<String> {
    sqlx::query_scalar("select unnest(smiles) from samples").fetch_all(pool).await.unwrap()
}

async fn count(pool: &PgPool, statement: &'static str) -> i64 {
    sqlx::query_scalar(statement).fetch_one(pool).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn chunks_that_are_made_at_once_of_the_same_molecules_have_none_in_common() {
    let database = TestDatabase::with_schema().await;
    batch(&database.pool, "cheap", &[40; 6]).await;

    let sampler = Sampler::start(&database.pool, 4);

    assert_eq!(ended(&database.pool).await, ["completed"; 6]);
    let molecules = molecules(&database.pool).await;
    assert_eq!((molecules.len(), molecules.iter().collect::<HashSet<_>>().len()), (240, 240));
    // Claims are deleted once they are no longer needed.
    for _ in 0..250 {
        if count(&database.pool, "select count(*) from sample_claims").await == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(count(&database.pool, "select count(*) from sample_claims").await, 0);
    drop(sampler);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_of_more_molecules_than_its_model_knows_fails_in_part_and_repeats_none() {
    let database = TestDatabase::with_schema().await;
    batch(&database.pool, "dear", &[3, 3, 50]).await;

    let sampler = Sampler::start(&database.pool, 1);

    assert_eq!(ended(&database.pool).await, ["completed", "completed", "failed"]);
    let molecules = molecules(&database.pool).await;
    assert_eq!((molecules.len(), molecules.iter().collect::<HashSet<_>>().len()), (6, 6));
    let problem: String =
        sqlx::query_scalar("select problem ->> 'problem' from sample_orders where status = 'failed'")
            .fetch_one(&database.pool)
            .await
            .unwrap();
    assert_eq!(problem, "size_unreachable");
    // The claims stay, since an operator may retry the chunk.
    assert_eq!(count(&database.pool, "select count(*) from sample_claims").await, 6);
    drop(sampler);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_pauses_while_a_caller_waits_for_a_sample() {
    let database = TestDatabase::with_schema().await;
    batch(&database.pool, "cheap", &[50, 50]).await;
    let sampler = Sampler::start(&database.pool, 1);
    let waiting = sampler.activity.begin();

    // All molecules drawn before the interactive job came are stored by now.
    tokio::time::sleep(Duration::from_millis(500)).await;
    let before = count(&database.pool, "select count(*) from samples").await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    let meanwhile = count(&database.pool, "select count(*) from samples").await;
    drop(waiting);

    assert_eq!(before, meanwhile);
    assert_eq!(ended(&database.pool).await, ["completed", "completed"]);
    drop(sampler);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_goes_on_between_callers_who_come_faster_than_a_block_of_it_is_drawn() {
    let database = TestDatabase::with_schema().await;
    let sampler = Sampler::start(&database.pool, 1);
    let model = Arc::clone(sampler.registry.models().choose(Some("long")).unwrap());
    let begun = Instant::now();
    let drawing =
        tokio::task::spawn_blocking(move || model.sampler.sample(500, 7, &SampleBudget::unlimited()));
    let undisturbed = drawing.await.unwrap().unwrap();
    let block = begun.elapsed();
    let activity = sampler.activity.clone();
    // The gaps grow a little, as a busy machine draws a block at the low priority in much more time.
    let callers = tokio::spawn(async move {
        let mut gap = block / 4;
        loop {
            let waiting = activity.begin();
            tokio::time::sleep(Duration::from_millis(2)).await;
            drop(waiting);
            tokio::time::sleep(gap).await;
            gap = gap.mul_f64(1.02);
        }
    });

    batch(&database.pool, "long", &[500]).await;

    assert_eq!(ended(&database.pool).await, ["completed"]);
    callers.abort();
    assert_eq!(molecules(&database.pool).await, undisturbed, "as if nobody had come");
    drop(sampler);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_batch_has_few_jobs_and_takes_nothing_that_lies_ready() {
    let database = TestDatabase::with_schema().await;
    batch(&database.pool, "cheap", &[1; 20]).await;
    sqlx::query(
        "insert into reservoir_blocks (model_id, model_version, smiles, molecules) values ('cheap', 'v', 'C', 1)",
    )
    .execute(&database.pool)
    .await
    .unwrap();
    let sampler = Sampler::start(&database.pool, 1);
    let waiting = sampler.activity.begin();

    let mut jobs = 0;
    for _ in 0..250 {
        jobs = count(&database.pool, "select count(*) from jobs where queue = 'order'").await;
        if jobs > 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    tokio::time::sleep(Duration::from_millis(600)).await;
    jobs = jobs.max(count(&database.pool, "select count(*) from jobs where queue = 'order'").await);
    drop(waiting);

    assert!((1..20).contains(&jobs), "{jobs}");
    assert_eq!(ended(&database.pool).await, ["completed"; 20]);
    assert_eq!(count(&database.pool, "select count(*) from reservoir_blocks").await, 1);
    drop(sampler);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_of_a_disabled_account_waits_until_that_is_enabled() {
    let database = TestDatabase::with_schema().await;
    batch(&database.pool, "cheap", &[5]).await;
    sqlx::raw_sql(
        "update accounts set disabled_at = now();
        insert into accounts (id, email, name, password_hash, scopes) values ('acc_2', 'b', 'b', '', '{}');
        insert into sample_batches (id, account_id, size, chunk_count) values ('sbt_2', 'acc_2', 5, 1);
        insert into sample_orders (id, account_id, batch_id, place, model_id, size, seed)
        select 'smp_' || repeat('0', 26), 'acc_2', 'sbt_2', 0, model_id, size, seed from sample_orders",
    )
    .execute(&database.pool)
    .await
    .unwrap();

    let sampler = Sampler::start(&database.pool, 1);

    while count(&database.pool, "select count(*) from sample_orders where status = 'completed'").await == 0 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let begun = "select count(*) from sample_orders where account_id = 'acc_1' and job_id is not null";
    assert_eq!(count(&database.pool, begun).await, 0);
    sqlx::raw_sql("update accounts set disabled_at = null").execute(&database.pool).await.unwrap();
    assert_eq!(ended(&database.pool).await, ["completed", "completed"]);
    drop(sampler);
}
