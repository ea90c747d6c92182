//! Operator actions on queues and jobs, against a real Postgres.

use std::{future::pending, time::Duration};

use crate::support::{SubmitToy, TestDatabase, Toy, ToyAction, Toys, Worker, config, live, until};
use contract::{JobFailure, JobId, JobState};
use queue::{
    AwaitError, SubmitError,
    operations::{self, JobStatus, OperationRefusal},
    run_worker,
};
use sqlx::postgres::PgListener;

const OPERATOR: &str = "ada@example.org";

/// Returns the number of jobs that the worker would claim now, and the number if no queue were paused. Nothing is
/// committed.
async fn claimable_jobs(database: &TestDatabase) -> (i64, i64) {
    let mut transaction = database.pool.begin().await.unwrap();
    // The process's apalis worker, whose name begins with the process's name.
    let claim =
        "select count(*) from (select id from apalis.workers order by last_seen desc limit 1) as worker,
        apalis.get_jobs(worker.id, 'toy', 5)";
    let now = sqlx::query_scalar(claim).fetch_one(&mut *transaction).await.unwrap();
    sqlx::query("delete from paused_queues").execute(&mut *transaction).await.unwrap();
    (now, sqlx::query_scalar(claim).fetch_one(&mut *transaction).await.unwrap())
}

async fn cancel(database: &TestDatabase, id: JobId) -> Result<(), OperationRefusal> {
    let mut connection = database.pool.acquire().await.unwrap();
    operations::cancel(&mut connection, &id.to_string(), OPERATOR).await.unwrap()
}

async fn retry(database: &TestDatabase, id: JobId) -> Result<(), OperationRefusal> {
    operations::retry(&mut database.pool.acquire().await.unwrap(), &id.to_string()).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_queue_neither_claims_nor_admits_jobs_until_it_is_resumed() {
    let database = TestDatabase::with_schema().await;
    let (client, toys) = (database.client().await, Toys::new(&database));
    let worker = Worker::start(&toys, 1);
    live(&client).await;
    let (first, second) = (JobId::generate(), JobId::generate());
    let running = client.put(first, &Toy::new(ToyAction::Sleep(300))).await.unwrap();
    until("the first job runs", || async { toys.seen(first).now == 1 }).await;
    let waiting = client.put(second, &Toy::new(ToyAction::Answer(2))).await.unwrap();

    let mut connection = database.pool.acquire().await.unwrap();
    assert!(operations::pause(&mut connection, "toy", OPERATOR).await.unwrap());
    assert!(!operations::pause(&mut connection, "toy", "bob@example.org").await.unwrap());
    let pauses = operations::pauses(&mut *connection).await.unwrap();
    let refused =
        client.put(JobId::generate(), &Toy::new(ToyAction::Answer(3))).await.map(|pending| pending.id());
    let of_the_first = running.outcome().await.unwrap();
    until("the slot is free", || async { claimable_jobs(&database).await.1 == 1 }).await;

    let paused: Vec<_> = pauses.iter().map(|(queue, pause)| (queue.as_str(), pause.by.as_str())).collect();
    assert_eq!(paused, [("toy", OPERATOR)]);
    assert!(matches!(refused, Err(SubmitError::Paused { .. })), "{refused:?}");
    assert_eq!(of_the_first, Ok(300), "what is in hand goes on");
    assert_eq!(claimable_jobs(&database).await, (0, 1));
    assert_eq!(toys.seen(second).started, 0);

    let mut listener = PgListener::connect_with(&database.pool).await.unwrap();
    listener.listen("job_waits").await.unwrap();
    assert!(operations::resume(&mut connection, "toy").await.unwrap());
    assert!(!operations::resume(&mut connection, "toy").await.unwrap());
    assert_eq!(listener.recv().await.unwrap().payload(), "toy");
    assert_eq!(waiting.outcome().await.unwrap(), Ok(2));
    let next = client.put(JobId::generate(), &Toy::new(ToyAction::Answer(4))).await.unwrap();
    assert_eq!(next.outcome().await.unwrap(), Ok(4));
    // The pool closes only once these are returned.
    drop((connection, listener));
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_of_a_cancelled_job_learns_that_an_operator_cancelled_it() {
    let database = TestDatabase::with_schema().await;
    let (client, toys) = (database.client().await, Toys::new(&database));
    let worker = Worker::start(&toys, 1);
    live(&client).await;
    let (first, second) = (JobId::generate(), JobId::generate());
    let runs =
        client.put(first, &Toy::new(ToyAction::Sleep(60_000)).within(Duration::from_secs(90))).await.unwrap();
    until("the first job runs", || async { toys.seen(first).now == 1 }).await;
    let waits =
        client.put(second, &Toy::new(ToyAction::Answer(2)).within(Duration::from_secs(90))).await.unwrap();
    let open = operations::in_flight(&database.pool, 10).await.unwrap();
    let bounded = operations::in_flight(&database.pool, 1).await.unwrap();

    cancel(&database, second).await.unwrap();
    let of_the_second = waits.outcome().await.unwrap();
    let the_first_runs_still = toys.seen(first).now == 1;
    cancel(&database, first).await.unwrap();
    let of_the_first = runs.outcome().await.unwrap();

    let states: Vec<_> = open.first.iter().map(|job| (job.id.as_str(), job.state)).collect();
    let (first_id, second_id) = (first.to_string(), second.to_string());
    assert_eq!(states, [(&*first_id, JobState::Running), (&*second_id, JobState::Waiting)]);
    assert!(open.first[0].worker.as_deref().is_some_and(|name| name.starts_with("toy-")), "{open:?}");
    assert_eq!((open.total, bounded.total, bounded.first.len()), (2, 2, 1));
    assert_eq!(of_the_second, Err(JobFailure::CancelledByOperator));
    assert!(the_first_runs_still, "it need not end for the other to be told");
    assert_eq!(of_the_first, Err(JobFailure::CancelledByOperator));
    assert!(toys.seen(first).cancelled);
    assert_eq!(toys.seen(second).started, 0);
    assert_eq!(cancel(&database, first).await, Err(OperationRefusal::Stands(JobStatus::Failed)));
    assert_eq!(cancel(&database, JobId::generate()).await, Err(OperationRefusal::Unknown));
    let failures = operations::failures(&database.pool, 10).await.unwrap();
    let failed_jobs: Vec<_> =
        failures.first.iter().map(|job| (job.id.as_str(), job.error.as_str())).collect();
    let error = "cancelled by an operator: ada@example.org";
    assert_eq!(failed_jobs, [(&*first_id, error), (&*second_id, error)]);
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_job_that_is_retried_has_all_of_its_time_and_attempts_again() {
    let database = TestDatabase::with_schema().await;
    let (client, toys) = (database.client().await, Toys::new(&database));
    let worker = Worker::start(&toys, 1);
    live(&client).await;
    let [first, second, late] = [(); 3].map(|()| JobId::generate());
    let running = client.put(first, &Toy::new(ToyAction::Sleep(60_000))).await.unwrap();
    until("the first job runs", || async { toys.seen(first).now == 1 }).await;
    let waits = client.put(second, &Toy::new(ToyAction::FailUntil(2))).await.unwrap();
    let soon = Toy::new(ToyAction::Answer(3)).within(Duration::from_millis(200));
    let too_late = client.put(late, &soon).await.unwrap().outcome().await;
    assert_eq!(retry(&database, second).await, Err(OperationRefusal::Stands(JobStatus::Waiting)));
    assert_eq!(retry(&database, first).await, Err(OperationRefusal::Stands(JobStatus::Running)));
    assert_eq!(cancel(&database, second).await, Ok(()));
    assert_eq!(waits.outcome().await.unwrap(), Err(JobFailure::CancelledByOperator));

    assert_eq!(retry(&database, second).await, Ok(()));
    assert_eq!(cancel(&database, first).await, Ok(()));
    assert_eq!(running.outcome().await.unwrap(), Err(JobFailure::CancelledByOperator));

    let done = || async {
        let outcome: Option<serde_json::Value> = sqlx::query_scalar("select outcome from jobs where id = $1")
            .bind(second.to_string())
            .fetch_one(&database.pool)
            .await
            .unwrap();
        outcome == Some(serde_json::json!({"Ok": 2}))
    };
    until("the second attempt answers", done).await;
    let (time, cancelled): (f64, bool) = sqlx::query_as(
        "select extract(epoch from deadline - created_at)::float8, cancelled_at is not null from jobs where id = $1",
    )
    .bind(second.to_string())
    .fetch_one(&database.pool)
    .await
    .unwrap();
    assert!((time - 30.0).abs() < 1e-3, "{time}");
    assert!(!cancelled);
    assert_eq!(retry(&database, second).await, Err(OperationRefusal::Stands(JobStatus::Done)));
    assert_eq!(retry(&database, JobId::generate()).await, Err(OperationRefusal::Unknown));
    // A job whose deadline passed unnoticed has failed too.
    assert!(
        matches!(too_late, Err(AwaitError::DeadlinePassed) | Ok(Err(JobFailure::DeadlinePassed))),
        "{too_late:?}"
    );
    assert_eq!(retry(&database, late).await, Ok(()));
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_jobs_are_listed_with_their_last_error_and_abandoned_ones_are_not() {
    let database = TestDatabase::with_schema().await;
    let (client, toys) = (database.client().await, Toys::new(&database));
    let worker = Worker::start(&toys, 1);
    live(&client).await;
    let (failed, left) = (JobId::generate(), JobId::generate());
    let abandoned = client.put(failed, &Toy::new(ToyAction::Panic)).await.unwrap().outcome().await.unwrap();
    let pending = client.put(left, &Toy::new(ToyAction::Sleep(60_000))).await.unwrap();
    until("the job runs", || async { toys.seen(left).now == 1 }).await;
    drop(pending);
    until("it is stopped", || async { toys.seen(left).cancelled }).await;

    let failures = operations::failures(&database.pool, 10).await.unwrap();
    let workers = operations::workers(&database.pool).await.unwrap();

    assert_eq!(abandoned, Err(JobFailure::Abandoned { attempts: 3, cause: None }));
    let [job] = &failures.first[..] else { panic!("{failures:?}") };
    assert_eq!((&*job.id, &*job.problem, job.attempts), (&*failed.to_string(), "abandoned", 3));
    assert!(job.error.starts_with("given up after 3 attempts: "), "{job:?}");
    assert!(job.error.contains("on purpose"), "{job:?}");
    let [live] = &workers[..] else { panic!("{workers:?}") };
    assert_eq!(
        (live.live, live.slots, &*live.queue, &live.models[..]),
        (true, 1, "toy", &["toy_model".to_owned()][..])
    );
    assert_eq!(live.host.is_some(), std::path::Path::new("/proc/sys/kernel/hostname").exists());
    worker.stop().await;
}

/// Three workers of one process poll once a second each, and a few times more after their start and their heartbeats.
/// If every poll woke the others, there would be hundreds a second.
#[tokio::test(flavor = "multi_thread")]
async fn workers_that_share_a_task_do_not_wake_each_other_to_poll() {
    let database = TestDatabase::with_schema().await;
    let toys = Toys::new(&database);
    sqlx::raw_sql(
        "create sequence looks;
        alter function apalis.get_jobs rename to dealt;
        create function apalis.get_jobs(text, text, integer) returns setof apalis.jobs language sql as
            'select nextval(''looks''); select * from apalis.dealt($1, $2, $3)'",
    )
    .execute(&database.pool)
    .await
    .unwrap();
    let worker = || run_worker::<Toy, _>(database.pool.clone(), config(1), toys.clone(), pending());

    let together = async { tokio::try_join!(worker(), worker(), worker()) };
    let ended = tokio::time::timeout(Duration::from_secs(4), together).await;

    assert!(ended.is_err(), "the workers ended: {ended:?}");
    let polls: i64 =
        sqlx::query_scalar("select last_value from looks").fetch_one(&database.pool).await.unwrap();
    assert!((3..200).contains(&polls), "{polls} looks of three workers in four seconds");
}
