//! Tests of asynchronous sample jobs, from the queue to the stored samples, on tiny models.

use std::{
    collections::HashSet,
    sync::Arc,
    time::{Duration, Instant},
};

use chem::{Molecule, Property};
use contract::{JobFailure, SampleConditions, SampleId, StoredAsyncSampleJob};
use generator::SampleBudget;
use queue::{WorkerConfig, run_worker};
use serde_json::Value;
use sqlx::{PgConnection, PgPool};
use tempfile::TempDir;
use tokio::task::JoinHandle;
use worker::{AsyncSampleHandler, ModelRegistry, RouteChecker, RunningJobs, feed_orders};

use crate::{
    sample_conditions::range,
    support::{MACHINE, TestDatabase, models, write_pack},
};

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
    let mut transaction = pool.begin().await.unwrap();
    sqlx::query(
        "with account as (
            insert into accounts (id, email, name, password_hash, scopes) values ('acc_1', 'a', 'a', '', '{}')
            on conflict do nothing
        )
        insert into sample_batches (id, account_id, size, chunk_count) values ('sbt_1', 'acc_1', $1, $2)",
    )
    .bind(sizes.iter().sum::<i32>())
    .bind(i32::try_from(sizes.len()).unwrap())
    .execute(&mut *transaction)
    .await
    .unwrap();
    insert_chunks(&mut transaction, model_id, sizes).await;
    transaction.commit().await.unwrap();
}

/// Stores a batch as [`batch`] does, with conditions and details.
pub async fn conditioned_batch(pool: &PgPool, model_id: &str, sizes: &[i32], conditions: &SampleConditions) {
    let mut transaction = pool.begin().await.unwrap();
    sqlx::query(
        "with account as (
            insert into accounts (id, email, name, password_hash, scopes) values ('acc_1', 'a', 'a', '', '{}')
            on conflict do nothing
        )
        insert into sample_batches (id, account_id, size, chunk_count, conditions, details, is_begun)
        values ('sbt_1', 'acc_1', $1, $2, $3, true, null)",
    )
    .bind(sizes.iter().sum::<i32>())
    .bind(i32::try_from(sizes.len()).unwrap())
    .bind(sqlx::types::Json(conditions))
    .execute(&mut *transaction)
    .await
    .unwrap();
    insert_chunks(&mut transaction, model_id, sizes).await;
    transaction.commit().await.unwrap();
}

/// In one transaction with its batch: a feeder that saw the batch alone would take it for begun.
async fn insert_chunks(connection: &mut PgConnection, model_id: &str, sizes: &[i32]) {
    for (place, size) in (0_i32..).zip(sizes) {
        sqlx::query(
            "insert into sample_orders (id, account_id, batch_id, place, model_id, size, seed)
            values ($1, 'acc_1', 'sbt_1', $2, $3, $4, 7)",
        )
        .bind(SampleId::generate().to_string())
        .bind(place)
        .bind(model_id)
        .bind(size)
        .execute(&mut *connection)
        .await
        .unwrap();
    }
}

/// Waits until all chunks have ended and returns their states in order.
pub async fn ended(pool: &PgPool) -> Vec<String> {
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

/// Returns the molecules and the details of each completed chunk, in order.
pub async fn chunks(pool: &PgPool) -> Vec<(Vec<String>, Value)> {
    sqlx::query_as(
        "select smiles, details from sample_orders join samples using (id) where status = 'completed' order by sample_orders.place",
    )
    .fetch_all(pool)
    .await
    .unwrap()
}

/// Returns the failures of the chunks that have failed, in order.
pub async fn failures(pool: &PgPool) -> Vec<JobFailure> {
    let failures: Vec<sqlx::types::Json<JobFailure>> =
        sqlx::query_scalar("select problem from sample_orders where status = 'failed' order by place")
            .fetch_all(pool)
            .await
            .unwrap();
    failures.into_iter().map(|failure| failure.0).collect()
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

#[tokio::test(flavor = "multi_thread")]
async fn every_chunk_satisfies_the_conditions_of_its_batch_and_has_details_of_its_own_molecules() {
    let database = TestDatabase::with_schema().await;
    let conditions = range("heavy_atoms", None, Some(5.0));
    conditioned_batch(&database.pool, "cheap", &[30; 4], &conditions).await;

    let sampler = Sampler::start(&database.pool, 4);

    assert_eq!(ended(&database.pool).await, ["completed"; 4]);
    let chunks = chunks(&database.pool).await;
    let molecules: HashSet<_> = chunks.iter().flat_map(|(smiles, _)| smiles).collect();
    assert_eq!((chunks.len(), molecules.len()), (4, 120));
    for (smiles, details) in &chunks {
        let atoms = |smiles: &String| Property::HeavyAtoms.of(&smiles.parse::<Molecule>().unwrap());
        let atoms: Vec<_> = smiles.iter().map(atoms).collect();
        assert!(atoms.iter().all(|atoms| *atoms <= 5.0), "{smiles:?}");
        assert_eq!(details["properties"]["heavy_atoms"], serde_json::json!(atoms));
        assert_eq!(details["negative_log_likelihood"].as_array().unwrap().len(), 30);
    }
    let jobs = "select count(*) from apalis.jobs where convert_from(job, 'UTF8')::jsonb ->> 'version' <> '4'";
    assert_eq!(count(&database.pool, jobs).await, 0, "samplers of the previous release run none of them");
    drop(sampler);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_with_a_seed_is_the_same_whatever_the_number_of_slots() {
    let conditions = SampleConditions { seed: Some(7), ..range("heavy_atoms", None, Some(5.0)) };
    let mut made = Vec::new();
    for slots in [1, 4] {
        let database = TestDatabase::with_schema().await;
        conditioned_batch(&database.pool, "cheap", &[25; 6], &conditions).await;
        let sampler = Sampler::start(&database.pool, slots);
        assert_eq!(ended(&database.pool).await, ["completed"; 6]);
        made.push(chunks(&database.pool).await);
        drop(sampler);
    }

    assert_eq!(made[0], made[1]);
    let molecules: HashSet<_> = made[0].iter().flat_map(|(smiles, _)| smiles).collect();
    assert_eq!(molecules.len(), 150);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_goes_on_beside_one_whose_chunks_are_made_in_order() {
    let database = TestDatabase::with_schema().await;
    let conditions = SampleConditions { seed: Some(7), ..SampleConditions::default() };
    conditioned_batch(&database.pool, "cheap", &[5; 3], &conditions).await;
    sqlx::raw_sql(
        "insert into sample_batches (id, account_id, size, chunk_count) values ('sbt_2', 'acc_1', 5, 1);
        insert into sample_orders (id, account_id, batch_id, place, model_id, size, seed)
        select 'smp_' || repeat('0', 26), 'acc_1', 'sbt_2', 0, 'cheap', 5, 1",
    )
    .execute(&database.pool)
    .await
    .unwrap();
    let sampler = Sampler::start(&database.pool, 2);
    let waiting = sampler.activity.begin();

    let begun = "select count(*) from sample_orders where job_id is not null";
    test_support::until("both batches have begun", async || count(&database.pool, begun).await == 2).await;
    tokio::time::sleep(Duration::from_millis(600)).await;

    assert_eq!(count(&database.pool, begun).await, 2, "the second chunk waits for the first");
    drop(waiting);
    assert_eq!(ended(&database.pool).await, ["completed"; 4]);
    drop(sampler);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_with_conditions_that_too_few_molecules_satisfy_ends() {
    let database = TestDatabase::with_schema().await;
    // There are nine: three of one atom and six of two.
    let conditions = range("heavy_atoms", None, Some(2.0));
    conditioned_batch(&database.pool, "cheap", &[4, 4, 4, 1], &conditions).await;

    let sampler = Sampler::start(&database.pool, 1);

    assert_eq!(ended(&database.pool).await, ["completed", "completed", "failed", "failed"]);
    let failures = failures(&database.pool).await;
    let JobFailure::ConditionsTooNarrow { wanted: 4, found: 1, refused } = &failures[0] else {
        panic!("{failures:?}")
    };
    assert_eq!(refused[0].condition, "properties.heavy_atoms");
    assert_eq!(failures[1], failures[0], "the last chunk does not try");
    drop(sampler);
}
