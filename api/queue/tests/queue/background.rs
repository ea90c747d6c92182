//! Background jobs.

use std::time::Duration;

use contract::JobId;
use queue::Urgency;
use serde_json::{Value, json};

use crate::support::{TestDatabase, Toy, ToyAction, Toys, Worker, live, until};

trait BackgroundJobs {
    /// Stores a background job for `account`.
    async fn enqueue(&self, act: ToyAction, account: &str, urgency: Urgency) -> JobId;
    async fn outcome(&self, id: JobId) -> Option<Value>;
    /// Returns the positions in `ids` in the order in which the jobs started.
    async fn in_order_of_begin(&self, ids: &[JobId]) -> Vec<usize>;
}

impl BackgroundJobs for TestDatabase {
    async fn enqueue(&self, act: ToyAction, account: &str, urgency: Urgency) -> JobId {
        let mut transaction = self.pool.begin().await.unwrap();
        let id = queue::enqueue(&mut transaction, &Toy::new(act), account, urgency).await.unwrap();
        transaction.commit().await.unwrap();
        id
    }

    async fn outcome(&self, id: JobId) -> Option<Value> {
        sqlx::query_scalar("select outcome from jobs where id = $1")
            .bind(id.to_string())
            .fetch_one(&self.pool)
            .await
            .unwrap()
    }

    async fn in_order_of_begin(&self, ids: &[JobId]) -> Vec<usize> {
        let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
        let begun: Vec<String> =
            sqlx::query_scalar("select id from jobs where id = any($1) order by started_at")
                .bind(&ids)
                .fetch_all(&self.pool)
                .await
                .unwrap();
        begun.iter().map(|id| ids.iter().position(|other| other == id).unwrap()).collect()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_is_stored_with_its_callers_row_or_not_at_all() {
    let database = TestDatabase::with_schema().await;
    let mut transaction = database.pool.begin().await.unwrap();
    queue::enqueue(&mut transaction, &Toy::new(ToyAction::Answer(1)), "somebody", Urgency::Asked)
        .await
        .unwrap();

    transaction.rollback().await.unwrap();

    let left: (i64, i64) =
        sqlx::query_as("select (select count(*) from jobs), (select count(*) from apalis.jobs)")
            .fetch_one(&database.pool)
            .await
            .unwrap();
    assert_eq!(left, (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn one_is_taken_while_no_worker_lives_and_done_when_one_does() {
    let database = TestDatabase::with_schema().await;
    let toys = Toys::new(&database);

    let id = database.enqueue(ToyAction::Answer(7), "somebody", Urgency::Asked).await;
    let worker = Worker::start(&toys, 1);

    until("it is done", || async { database.outcome(id).await == Some(json!({ "Ok": 7 })) }).await;
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn asynchronous_jobs_go_before_batches_and_accounts_alternate() {
    let database = TestDatabase::with_schema().await;
    let toys = Toys::new(&database);
    let mut jobs = Vec::new();
    for _ in 0..3 {
        jobs.push(database.enqueue(ToyAction::Answer(0), "large", Urgency::Batch).await);
    }
    jobs.push(database.enqueue(ToyAction::Answer(0), "small", Urgency::Batch).await);
    jobs.push(database.enqueue(ToyAction::Answer(0), "large", Urgency::Asked).await);

    let worker = Worker::start(&toys, 1);

    until("all are done", || async {
        for &job in &jobs {
            if database.outcome(job).await.is_none() {
                return false;
            }
        }
        true
    })
    .await;
    let order = database.in_order_of_begin(&jobs).await;
    assert_eq!(order[0], 4, "{order:?}");
    let position = |job| order.iter().position(|&other| other == job).unwrap();
    assert!(position(3) < position(1), "the second account waits for one job of the first: {order:?}");
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_outlives_the_process_that_submitted_it() {
    let database = TestDatabase::with_schema().await;
    let (client, toys) = (database.client().await, Toys::new(&database));
    let worker = Worker::start(&toys, 1);
    live(&client).await;
    let id = database.enqueue(ToyAction::Sleep(5_000), "somebody", Urgency::Batch).await;

    // A caller's process counts as dead after three seconds of silence; then its jobs are cancelled.
    drop(client);

    until("it is done", || async { database.outcome(id).await == Some(json!({ "Ok": 5000 })) }).await;
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopping_worker_hands_its_job_over_and_the_attempt_does_not_count() {
    let database = TestDatabase::with_schema().await;
    let toys = Toys::new(&database);
    let mut config = crate::support::config(1);
    config.grace = Duration::ZERO;
    let worker = Worker::start_with(&toys, config);
    let id = database.enqueue(ToyAction::Sleep(60_000), "somebody", Urgency::Batch).await;
    until("it runs", || async { toys.seen(id).now == 1 }).await;

    worker.stop().await;

    let left: (i32, Option<String>) = sqlx::query_as("select attempts, holder from jobs where id = $1")
        .bind(id.to_string())
        .fetch_one(&database.pool)
        .await
        .unwrap();
    assert_eq!(left, (0, None));
}

#[tokio::test(flavor = "multi_thread")]
async fn its_attempts_end() {
    let database = TestDatabase::with_schema().await;
    let toys = Toys::new(&database);
    let worker = Worker::start(&toys, 1);

    let id = database.enqueue(ToyAction::Panic, "somebody", Urgency::Batch).await;

    let abandoned = json!({ "Err": { "problem": "abandoned", "attempts": 3 } });
    until("it is given up", || async { database.outcome(id).await.as_ref() == Some(&abandoned) }).await;
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_can_be_cancelled_whether_it_waits_or_runs() {
    let database = TestDatabase::with_schema().await;
    let toys = Toys::new(&database);
    let worker = Worker::start(&toys, 1);
    let running = database.enqueue(ToyAction::Sleep(60_000), "somebody", Urgency::Batch).await;
    until("it runs", || async { toys.seen(running).now == 1 }).await;
    let waiting = database.enqueue(ToyAction::Answer(1), "somebody", Urgency::Batch).await;

    let mut connection = database.pool.acquire().await.unwrap();
    let jobs = vec![Some(running.to_string()), None, Some(waiting.to_string())];
    queue::cancel(&mut connection, jobs).await.unwrap();
    drop(connection);

    let cancelled = json!({ "Err": { "problem": "cancelled" } });
    assert_eq!(database.outcome(waiting).await.as_ref(), Some(&cancelled));
    until("it is stopped", || async { database.outcome(running).await.as_ref() == Some(&cancelled) }).await;
    assert!(toys.seen(running).cancelled && toys.seen(waiting).started == 0);
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn batches_leave_reserved_slots_to_asynchronous_jobs() {
    let database = TestDatabase::with_schema().await;
    let toys = Toys::new(&database);
    let mut config = crate::support::config(1);
    config.reserved_slots = 1;
    let worker = Worker::start_with(&toys, config);
    let long = database.enqueue(ToyAction::Sleep(60_000), "somebody", Urgency::Batch).await;
    until("it runs", || async { toys.seen(long).now == 1 }).await;
    let of_another = database.enqueue(ToyAction::Answer(1), "another", Urgency::Batch).await;

    let asked = database.enqueue(ToyAction::Answer(2), "somebody", Urgency::Asked).await;

    until("it is done", || async { database.outcome(asked).await == Some(json!({ "Ok": 2 })) }).await;
    assert_eq!(toys.seen(of_another).started, 0);
    drop(worker);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_is_stored_at_the_same_cost_however_many_wait() {
    let database = TestDatabase::with_schema().await;
    sqlx::raw_sql(
        "insert into jobs (id, queue, account_id, kind, own_estimate, expected_seconds, deadline, urgency, turn_begins, turn_ends)
        select 'w' || n, 'plan', 'a' || n % 7, 'k', 1, 1, now() + interval '10 years', n % 2, n, n + 1 from generate_series(1, 50000) as n;
        analyze jobs",
    )
    .execute(&database.pool)
    .await
    .unwrap();
    let mut connection = database.pool.acquire().await.unwrap();
    let mut enqueue = async |id: &str| -> Value {
        sqlx::query_scalar(
            "explain (analyze, buffers, format json) select enqueue_job($1, 'plan', 'new', null, 'k', 1, 0::smallint, '{}'::bytea, '{}', '{}',
                3, interval '1 minute')",
        )
        .bind(id)
        .fetch_one(&mut *connection)
        .await
        .unwrap()
    };
    // The first call plans the function.
    enqueue("first").await;

    let plan_rows = enqueue("second").await;

    let plan = &plan_rows[0]["Plan"];
    let blocks = ["Shared Hit Blocks", "Shared Read Blocks"]
        .map(|kind| plan[kind].as_i64().unwrap())
        .iter()
        .sum::<i64>();
    assert!(blocks < 300, "{blocks} blocks");
    let begins: f64 = sqlx::query_scalar("select turn_begins from jobs where id = 'first'")
        .fetch_one(&database.pool)
        .await
        .unwrap();
    assert_eq!(begins, 1.0, "it begins with the first that waits");
}
