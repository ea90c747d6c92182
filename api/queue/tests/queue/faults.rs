//! Failures of workers, clock and database, against a real Postgres.

use std::time::{Duration, Instant};

use crate::support::{SubmitToy, TestDatabase, Toy, ToyAction, Toys, Worker, config, live, until};
use contract::{Cause, JobFailure, JobId};
use queue::{Client, Job, Pending};
use sqlx::AssertSqlSafe;

/// Submits a job that sleeps, and waits until it runs.
async fn running(client: &Client, toys: &Toys, milliseconds: u64) -> (JobId, Pending<Toy>) {
    let id = JobId::generate();
    let pending = client.put(id, &Toy::new(ToyAction::Sleep(milliseconds))).await.unwrap();
    until("the job runs", || async { toys.seen(id).now == 1 }).await;
    (id, pending)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_whose_worker_died_is_finished_by_another() {
    let database = TestDatabase::with_schema().await;
    let (client, toys) = (database.client().await, Toys::new(&database));
    let first = Worker::start(&toys, 1);
    live(&client).await;
    let (id, pending) = running(&client, &toys, 1500).await;

    first.crash().await;
    let second = Worker::start(&toys, 1);

    assert_eq!(pending.outcome().await.unwrap(), Ok(1500));
    assert_eq!((toys.seen(id).started, toys.seen(id).most_at_once), (2, 1));
    second.stop().await;
}

/// Moves all stored times by `by` in the other direction, which looks as if the database's clock had jumped.
async fn jump_clock(database: &TestDatabase, by: &str) {
    let moved = "with turns as (update queue_turns set taken_at = taken_at - $1::interval),
        workers as (update live_workers set last_seen = last_seen - $1::interval),
        callers as (update live_callers set last_seen = last_seen - $1::interval)
        update jobs set created_at = created_at - $1::interval, started_at = started_at - $1::interval,
            deadline = deadline - $1::interval, begin_by = begin_by - $1::interval, held_until = held_until - $1::interval
        where finished_at is null";
    sqlx::query(AssertSqlSafe(moved.replace("$1", &format!("'{by}'"))))
        .execute(&database.pool)
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clock_that_jumps_ahead_takes_no_job_from_a_worker_that_lives() {
    let database = TestDatabase::with_schema().await;
    let (client, toys) = (database.client().await, Toys::new(&database));
    let workers = [Worker::start(&toys, 1), Worker::start(&toys, 1)];
    live(&client).await;
    let (id, pending) = running(&client, &toys, 1500).await;

    jump_clock(&database, "1 hour").await;

    assert_eq!(pending.outcome().await.unwrap(), Ok(1500));
    assert_eq!(toys.seen(id).started, 1);
    let took: f64 =
        sqlx::query_scalar("select extract(epoch from finished_at - started_at)::float8 from jobs")
            .fetch_one(&database.pool)
            .await
            .unwrap();
    assert!(took < 3600.0, "others would be expected to take {took} s");
    for worker in workers {
        worker.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clock_that_goes_back_leaves_no_job_with_a_dead_worker() {
    let database = TestDatabase::with_schema().await;
    let (client, toys) = (database.client().await, Toys::new(&database));
    let first = Worker::start(&toys, 1);
    live(&client).await;
    let (id, pending) = running(&client, &toys, 1500).await;

    first.crash().await;
    jump_clock(&database, "-1 hour").await;
    let second = Worker::start(&toys, 1);

    assert_eq!(pending.outcome().await.unwrap(), Ok(1500));
    assert_eq!((toys.seen(id).started, toys.seen(id).most_at_once), (2, 1));
    second.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_finished_before_its_worker_died_does_not_run_again() {
    let database = TestDatabase::with_schema().await;
    let (client, toys) = (database.client().await, Toys::new(&database));
    let first = Worker::start(&toys, 1);
    live(&client).await;
    let id = JobId::generate();
    assert_eq!(
        client.put(id, &Toy::new(ToyAction::Answer(1))).await.unwrap().outcome().await.unwrap(),
        Ok(1)
    );
    first.crash().await;

    // The outcome and the deletion of apalis' task are one transaction.
    let tasks: i64 =
        sqlx::query_scalar("select count(*) from apalis.jobs").fetch_one(&database.pool).await.unwrap();
    assert_eq!(tasks, 0);
    let second = Worker::start(&toys, 1);
    let next = client.put(JobId::generate(), &Toy::new(ToyAction::Answer(2))).await.unwrap();
    assert_eq!(next.outcome().await.unwrap(), Ok(2));
    assert_eq!(toys.seen(id).started, 1);
    second.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_workers_never_run_one_job_twice_at_the_same_time() {
    let database = TestDatabase::with_schema().await;
    let (client, toys) = (database.client().await, Toys::new(&database));
    let workers = [Worker::start(&toys, 4), Worker::start(&toys, 4)];
    live(&client).await;

    let mut jobs = Vec::new();
    for number in 0..60 {
        let id = JobId::generate();
        let act = if number % 3 == 0 { ToyAction::Sleep(300) } else { ToyAction::Answer(300) };
        jobs.push((id, client.put(id, &Toy::new(act)).await.unwrap()));
        if number % 20 == 10 {
            // As apalis does when it wrongly thinks a worker dead.
            sqlx::query("update apalis.jobs set status = 'Pending', lock_by = null where status = 'Queued'")
                .execute(&database.pool)
                .await
                .unwrap();
        }
    }

    for (id, pending) in jobs {
        assert_eq!(pending.outcome().await.unwrap(), Ok(300));
        let seen = toys.seen(id);
        assert_eq!((seen.started, seen.most_at_once, seen.superseded), (1, 1, false), "{id}");
    }
    for worker in workers {
        worker.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_come_after_every_connection_was_killed() {
    let database = TestDatabase::with_schema().await;
    let (client, toys) = (database.client().await, Toys::new(&database));
    let worker = Worker::start(&toys, 2);
    live(&client).await;
    let (id, running) = running(&client, &toys, 1000).await;

    sqlx::query(
        "select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()",
    )
    .execute(&database.pool)
    .await
    .unwrap();
    let started = Instant::now();

    assert_eq!(running.outcome().await.unwrap(), Ok(1000));
    assert_eq!(toys.seen(id).started, 1);
    let next = async {
        loop {
            match client.put(JobId::generate(), &Toy::new(ToyAction::Answer(5))).await {
                Ok(pending) => break pending.outcome().await.unwrap(),
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
    };
    assert_eq!(next.await, Ok(5));
    assert!(started.elapsed() < Duration::from_secs(25), "{:?}", started.elapsed());
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_listen_connection_delays_an_answer_by_no_more_than_the_slow_re_read() {
    let database = TestDatabase::with_schema().await;
    let (client, toys) = (database.client().await, Toys::new(&database));
    let worker = Worker::start(&toys, 1);
    live(&client).await;

    sqlx::query(
        "select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and query like '%job_finished%' and pid <> pg_backend_pid()",
    )
    .execute(&database.pool)
    .await
    .unwrap();
    let started = Instant::now();
    let pending = client.put(JobId::generate(), &Toy::new(ToyAction::Answer(5))).await.unwrap();

    assert_eq!(pending.outcome().await.unwrap(), Ok(5));
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopping_worker_finishes_what_it_began_and_begins_nothing() {
    let database = TestDatabase::with_schema().await;
    let (client, toys) = (database.client().await, Toys::new(&database));
    let worker = Worker::start(&toys, 1);
    live(&client).await;
    let (first, second) = (JobId::generate(), JobId::generate());
    let begun = client.put(first, &Toy::new(ToyAction::Sleep(800))).await.unwrap();
    let waiting = client.put(second, &Toy::new(ToyAction::Answer(2))).await.unwrap();
    until("the first job runs", || async { toys.seen(first).now == 1 }).await;

    worker.stop().await;

    assert_eq!(begun.outcome().await.unwrap(), Ok(800));
    assert_eq!(toys.seen(second).started, 0);
    let next = Worker::start(&toys, 1);
    assert_eq!(waiting.outcome().await.unwrap(), Ok(2));
    next.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_outlasts_the_grace_goes_to_another_worker_at_once() {
    let database = TestDatabase::with_schema().await;
    let (client, toys) = (database.client().await, Toys::new(&database));
    let mut impatient = config(1);
    impatient.grace = Duration::from_millis(200);
    let worker = Worker::start_with(&toys, impatient);
    live(&client).await;
    let (id, pending) = running(&client, &toys, 2000).await;
    worker.stop().await;

    let next = Worker::start(&toys, 1);
    until("the job runs again", || async { toys.seen(id).started == 2 }).await;

    assert_eq!(pending.outcome().await.unwrap(), Ok(2000));
    assert_eq!(toys.seen(id).most_at_once, 1);
    next.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_lost_a_job_stops_it_and_leaves_the_lease_to_the_other() {
    let database = TestDatabase::with_schema().await;
    let (client, toys) = (database.client().await, Toys::new(&database));
    let worker = Worker::start(&toys, 1);
    live(&client).await;
    let (id, pending) = running(&client, &toys, 20_000).await;

    // As if another worker had claimed it after a pause of this one.
    sqlx::query("update jobs set attempts = attempts + 1, holder = 'another', held_until = 'infinity'")
        .execute(&database.pool)
        .await
        .unwrap();

    until("the job stops", || async { toys.seen(id).cancelled }).await;
    let left: bool = sqlx::query_scalar("select holder = 'another' and held_until = 'infinity' from jobs")
        .fetch_one(&database.pool)
        .await
        .unwrap();
    assert!(left, "the other's lease is its own");
    drop(pending);
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_claimed_for_a_worker_that_never_received_it_is_claimed_again() {
    let database = TestDatabase::with_schema().await;
    let (client, toys) = (database.client().await, Toys::new(&database));
    sqlx::query("insert into live_workers (name, queue, slots, lease) values ('deaf', $1, 1, '100 ms')")
        .bind(Toy::QUEUE)
        .execute(&database.pool)
        .await
        .unwrap();
    let id = JobId::generate();
    let pending = client.put(id, &Toy::new(ToyAction::Answer(1))).await.unwrap();
    let claim = "select metadata -> 'job.attempt' from apalis.get_jobs('deaf/1', $1, 5)";
    let attempts: Vec<String> =
        sqlx::query_scalar(claim).bind(Toy::QUEUE).fetch_all(&database.pool).await.unwrap();
    assert_eq!(attempts, ["1"]);

    let worker = Worker::start(&toys, 1);

    assert_eq!(pending.outcome().await.unwrap(), Ok(1));
    let attempts: i32 =
        sqlx::query_scalar("select attempts from jobs").fetch_one(&database.pool).await.unwrap();
    assert_eq!((attempts, toys.seen(id).started), (2, 1));
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_was_stopped_while_it_wrote_an_end_down_does_not_stand_in_its_own_way() {
    let database = TestDatabase::with_schema().await;
    let (client, toys) = (database.client().await, Toys::new(&database));
    let worker = Worker::start(&toys, 1);
    live(&client).await;
    let (id, pending) = running(&client, &toys, 500).await;

    // Simulates a frozen database: the outcome cannot be written, and the worker's heartbeats get no answer, which
    // ends its apalis worker.
    let mut frozen = database.pool.begin().await.unwrap();
    sqlx::query("select from apalis.jobs for update").execute(&mut *frozen).await.unwrap();
    sqlx::query("lock table live_workers in share mode").execute(&mut *frozen).await.unwrap();
    until("another of apalis' workers takes jobs", || async {
        let workers: i64 = sqlx::query_scalar("select count(*) from apalis.workers")
            .fetch_one(&database.pool)
            .await
            .unwrap();
        workers == 2
    })
    .await;
    frozen.commit().await.unwrap();
    assert_eq!(pending.outcome().await.unwrap(), Ok(500));
    assert_eq!(toys.seen(id).started, 1);

    live(&client).await;
    let next = client.put(JobId::generate(), &Toy::new(ToyAction::Answer(7))).await.unwrap();
    assert_eq!(next.outcome().await.unwrap(), Ok(7));
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_cause_of_an_abandoned_job_is_reported_despite_a_full_disk() {
    let database = TestDatabase::with_schema().await;
    let (client, toys) = (database.client().await, Toys::new(&database));
    let full = "create function has_no_room() returns trigger language plpgsql as $$
        begin
            if new.outcome ? 'Ok' or new.outcome #> '{Err,cause}' is not null then
                raise 'no space left on device' using errcode = 'disk_full';
            end if;
            return new;
        end
        $$;
        create trigger has_no_room before update on jobs for each row execute function has_no_room()";
    sqlx::raw_sql(full).execute(&database.pool).await.unwrap();
    let worker = Worker::start(&toys, 1);
    live(&client).await;
    let id = JobId::generate();
    let pending = client.put(id, &Toy::new(ToyAction::Answer(1))).await.unwrap();
    until("the third attempt has failed", || async {
        let seen = toys.seen(id);
        (seen.started, seen.now) == (3, 0)
    })
    .await;

    // Another process would release it without a cause if its lease were not renewed.
    tokio::time::sleep(15 * config(1).heartbeat_interval).await;
    sqlx::query("drop trigger has_no_room on jobs").execute(&database.pool).await.unwrap();

    assert_eq!(
        pending.outcome().await.unwrap(),
        Err(JobFailure::Abandoned { attempts: 3, cause: Some(Cause::Database) })
    );
    worker.stop().await;
}
