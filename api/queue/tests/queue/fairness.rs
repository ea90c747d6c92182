//! Order of jobs, refusals, and their timeliness: against a real Postgres.

use std::{mem, time::Duration};

use crate::support::{
    SubmitToy, TestDatabase, Toy, ToyAction, Toys, Worker, config, live, models, serves, until,
};
use contract::{JobFailure, JobId};
use queue::{Client, SubmitError, WorkerConfig};
use tokio::sync::watch;

const MINUTE: Duration = Duration::from_secs(60);

/// Returns the ids of the started jobs, in order.
async fn order(database: &TestDatabase) -> Vec<String> {
    sqlx::query_scalar("select id from jobs where started_at is not null order by started_at")
        .fetch_all(&database.pool)
        .await
        .unwrap()
}

/// Submits a job that is admitted, and returns its id and the wait for it.
async fn submit_admitted(client: &Client, job: &Toy) -> (String, queue::Pending<Toy>) {
    let pending = client.put(JobId::generate(), job).await.unwrap();
    (pending.id().to_string(), pending)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_with_one_job_comes_before_the_backlog_of_another() {
    let database = TestDatabase::with_schema().await;
    let (client, toys) = (database.client().await, Toys::new(&database));
    let worker = Worker::start(&toys, 1);
    live(&client).await;
    let job = |account| Toy::new(ToyAction::Sleep(400)).expecting(0.4).within(MINUTE).by(account);

    let mut waiting = Vec::new();
    for _ in 0..12 {
        waiting.push(submit_admitted(&client, &job("many")).await);
    }
    let (one, pending) = submit_admitted(&client, &job("one")).await;
    assert_eq!(pending.outcome().await.unwrap(), Ok(400));
    // The account's second job has its virtual start time after the first; at most one other job runs between them.
    let (two, pending) = submit_admitted(&client, &job("one")).await;
    assert_eq!(pending.outcome().await.unwrap(), Ok(400));

    let order = order(&database).await;
    let position = |id: &str| order.iter().position(|one| one == id).unwrap();
    let left = 13 - order.len();
    assert!(position(&two) - position(&one) <= 2, "{order:?}");
    assert!(left >= 5, "of the backlog only {left} were left");
    drop(waiting);
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn shares_are_of_time_and_not_of_jobs() {
    let database = TestDatabase::with_schema().await;
    let (client, toys) = (database.client().await, Toys::new(&database));
    let worker = Worker::start(&toys, 1);
    live(&client).await;
    // Holds the slot until all jobs are submitted.
    let (_, first) =
        submit_admitted(&client, &Toy::new(ToyAction::Sleep(1500)).expecting(1.5).within(MINUTE).by("third"))
            .await;

    let (mut long, mut short, mut waits) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..4 {
        let (id, wait) = submit_admitted(
            &client,
            &Toy::new(ToyAction::Sleep(200)).expecting(0.2).within(MINUTE).by("long"),
        )
        .await;
        long.push(id);
        waits.push(wait);
    }
    for _ in 0..8 {
        let (id, wait) = submit_admitted(
            &client,
            &Toy::new(ToyAction::Sleep(50)).expecting(0.05).within(MINUTE).by("short"),
        )
        .await;
        short.push(id);
        waits.push(wait);
    }
    assert_eq!(first.outcome().await.unwrap(), Ok(1500));
    for wait in waits {
        wait.outcome().await.unwrap().unwrap();
    }

    let order = order(&database).await;
    let position = |id: &String| order.iter().position(|one| one == id).unwrap();
    // Four of the short ones take as long as one of the long.
    assert!(position(&short[3]) < position(&long[1]), "{order:?}");
    assert!(position(&long[1]) < position(&short[6]), "{order:?}");
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn long_jobs_of_one_account_do_not_keep_another_from_its_share() {
    let database = TestDatabase::with_schema().await;
    let (client, toys) = (database.client().await, Toys::new(&database));
    let worker = Worker::start_with(&toys, WorkerConfig { reserved_slots: 1, ..config(2) });
    live(&client).await;
    let long = Toy::new(ToyAction::Sleep(60_000)).expecting(60.0).at_most(60.0).within(MINUTE * 5).by("long");
    let mut waiting = Vec::new();
    for _ in 0..4 {
        waiting.push(client.put(JobId::generate(), &long).await.unwrap());
    }
    let begun = || async { waiting.iter().filter(|job| toys.seen(job.id()).started == 1).count() == 2 };
    until("both slots are taken", begun).await;

    let short = Toy::new(ToyAction::Answer(7)).expecting(4.0).at_most(4.0).within(Duration::from_secs(19));
    let answer = client.put(JobId::generate(), &short.by("short")).await.unwrap().outcome().await.unwrap();

    assert_eq!(answer, Ok(7));
    // The reserved slot is for accounts without a running job: the first account gets two slots and no more.
    assert_eq!(waiting.iter().filter(|job| toys.seen(job.id()).started == 1).count(), 2);
    drop(waiting);
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ready_molecules_do_not_wait_for_those_to_be_drawn() {
    let database = TestDatabase::with_schema().await;
    let (client, toys) = (database.client().await, Toys::new(&database));
    let models = watch::channel(models(&["full", "empty"])).1;
    let ready = watch::channel([("full".to_owned(), 100)].into()).1;
    let worker = Worker::start_with(&toys, WorkerConfig { models, ready, ready_places: 2, ..config(1) });
    serves(&client, "full").await;
    let made = Toy::new(ToyAction::Sleep(60_000)).expecting(60.0).taking(1).of("empty").within(MINUTE * 5);
    let mut waiting = Vec::new();
    for _ in 0..3 {
        waiting.push(client.put(JobId::generate(), &made).await.unwrap());
    }
    let begun = || async { waiting.iter().filter(|job| toys.seen(job.id()).started == 1).count() == 1 };
    until("the slot is taken", begun).await;

    let ready = Toy::new(ToyAction::Answer(1)).taking(100).of("full").within(Duration::from_secs(5));
    let too_much =
        Toy::new(ToyAction::Answer(1)).taking(101).of("full").expecting(4.0).within(Duration::from_secs(5));
    let answer = client.put(JobId::generate(), &ready).await.unwrap().outcome().await.unwrap();
    let refused = client.put(JobId::generate(), &too_much).await.map(|pending| pending.id());

    assert_eq!(answer, Ok(1));
    assert!(matches!(refused, Err(SubmitError::Full { .. })), "{refused:?}");
    assert_eq!(waiting.iter().filter(|job| toys.seen(job.id()).started == 1).count(), 1);
    assert_eq!(client.live_workers().await.unwrap().get("toy"), Some(&1));
    drop(waiting);
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_has_so_many_jobs_in_flight_and_another_as_many() {
    let database = TestDatabase::with_schema().await;
    let (client, toys) = (database.client().await, Toys::new(&database));
    let worker = Worker::start(&toys, 1);
    live(&client).await;
    let job = |account| Toy {
        most_in_flight: Some(3),
        ..Toy::new(ToyAction::Sleep(60_000)).within(MINUTE * 5).by(account)
    };

    // Submitted at once, so that they must see each other.
    let all = (0..10).map(|_| {
        let (client, job) = (client.clone(), job("many"));
        tokio::spawn(async move { client.put(JobId::generate(), &job).await })
    });
    let (mut waiting, mut capped) = (Vec::new(), 0);
    for submitted in all.collect::<Vec<_>>() {
        match submitted.await.unwrap() {
            Ok(pending) => waiting.push(pending),
            Err(SubmitError::TooManyInFlight { .. }) => capped += 1,
            Err(other) => panic!("{other}"),
        }
    }
    let other = client.put(JobId::generate(), &job("other")).await;

    assert_eq!((waiting.len(), capped), (3, 7));
    assert!(other.is_ok());
    drop((waiting, other));
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_can_no_longer_have_its_time_fails_then_and_is_never_begun() {
    let database = TestDatabase::with_schema().await;
    let (client, toys) = (database.client().await, Toys::new(&database));
    let worker = Worker::start(&toys, 1);
    live(&client).await;
    // Its estimate is short, but it is slow.
    let long = Toy::new(ToyAction::Sleep(60_000)).within(MINUTE * 5).by("long");
    let running = client.put(JobId::generate(), &long).await.unwrap();
    until("it runs", || async { toys.seen(running.id()).now == 1 }).await;
    let id = JobId::generate();
    let job = Toy::new(ToyAction::Answer(1)).at_most(59.0).within(MINUTE);

    let answer = client.put(id, &job).await.unwrap().outcome().await.unwrap();

    assert_eq!(answer, Err(JobFailure::TooLate));
    let seconds: f64 = sqlx::query_scalar(
        "select extract(epoch from finished_at - created_at)::float8 from jobs where id = $1",
    )
    .bind(id.to_string())
    .fetch_one(&database.pool)
    .await
    .unwrap();
    assert!(seconds < 30.0, "{seconds} s, which is nearer to the deadline than to the last moment");
    assert_eq!(toys.seen(id).started, 0);
    drop(running);
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn measured_times_of_a_kind_correct_its_estimates() {
    let database = TestDatabase::with_schema().await;
    let (client, toys) = (database.client().await, Toys::new(&database));
    let worker = Worker::start(&toys, 1);
    live(&client).await;
    let says = |act, seconds| Toy::new(act).expecting(seconds).within(MINUTE);
    // A twentieth of its estimate.
    for _ in 0..3 {
        client
            .put(JobId::generate(), &says(ToyAction::Sleep(50), 1.0))
            .await
            .unwrap()
            .outcome()
            .await
            .unwrap()
            .unwrap();
    }

    let (id, pending) = submit_admitted(&client, &says(ToyAction::Answer(1), 10.0)).await;

    let expected: f64 = sqlx::query_scalar("select expected_seconds from jobs where id = $1")
        .bind(id)
        .fetch_one(&database.pool)
        .await
        .unwrap();
    assert!((0.4..5.0).contains(&expected), "{expected}");
    drop(pending);
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_of_a_process_that_died_are_cancelled_and_others_are_not() {
    let database = TestDatabase::with_schema().await;
    let (dead, alive, toys) = (database.client().await, database.client().await, Toys::new(&database));
    let worker = Worker::start(&toys, 2);
    live(&alive).await;
    let long = Toy::new(ToyAction::Sleep(60_000)).within(MINUTE * 5);
    let ids = [JobId::generate(), JobId::generate(), JobId::generate()];
    // Forgotten, as in a process that dies; dropping it would cancel the job.
    mem::forget(dead.put(ids[0], &long).await.unwrap());
    let other = alive.put(ids[1], &long).await.unwrap();
    mem::forget(dead.put(ids[2], &long).await.unwrap());
    until("both slots are taken", || async { ids[..2].iter().all(|id| toys.seen(*id).now == 1) }).await;

    drop(dead);

    until("the dead one's job hears of it", || async { toys.seen(ids[0]).cancelled }).await;
    let waiting = || async {
        let cancelled: bool = sqlx::query_scalar("select cancelled_at is not null from jobs where id = $1")
            .bind(ids[2].to_string())
            .fetch_one(&database.pool)
            .await
            .unwrap();
        cancelled
    };
    until("the one that waits is cancelled too", waiting).await;
    assert_eq!((toys.seen(ids[1]).now, toys.seen(ids[2]).started), (1, 0));
    drop(other);
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_submission_that_is_dropped_leaves_no_job_to_run() {
    let database = TestDatabase::with_schema().await;
    let (client, toys) = (database.client().await, Toys::new(&database));
    let worker = Worker::start(&toys, 1);
    live(&client).await;
    let running =
        client.put(JobId::generate(), &Toy::new(ToyAction::Sleep(60_000)).within(MINUTE * 5)).await.unwrap();
    // Blocks every insert until it ends.
    let mut hold = database.pool.begin().await.unwrap();
    sqlx::query("lock table jobs in exclusive mode").execute(&mut *hold).await.unwrap();

    let id = JobId::generate();
    let job = Toy::new(ToyAction::Answer(1)).within(MINUTE * 5);
    let given_up = tokio::time::timeout(Duration::from_millis(300), client.put(id, &job)).await;
    assert!(given_up.is_err());
    hold.rollback().await.unwrap();

    let cancelled = || async {
        let cancelled: Option<bool> =
            sqlx::query_scalar("select cancelled_at is not null from jobs where id = $1")
                .bind(id.to_string())
                .fetch_optional(&database.pool)
                .await
                .unwrap();
        cancelled == Some(true)
    };
    until("what was stored after all is cancelled", cancelled).await;
    drop(running);
    worker.stop().await;
}
