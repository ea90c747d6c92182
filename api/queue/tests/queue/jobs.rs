//! Normal life of a job, against a real Postgres.

use std::time::{Duration, Instant};

use crate::support::{SubmitToy, TestDatabase, Toy, ToyAction, Toys, Worker, config, live, until};
use contract::{JobFailure, JobId};
use queue::{AwaitError, SubmitError};
use serde_json::{Value, json};
use sqlx::postgres::PgListener;

#[tokio::test(flavor = "multi_thread")]
async fn outcomes_come_by_notification_and_not_by_the_slow_re_read() {
    let database = TestDatabase::with_schema().await;
    let (client, toys) = (database.client().await, Toys::new(&database));
    let worker = Worker::start(&toys, 2);
    live(&client).await;

    let (mut answers, mut fastest) = (Vec::new(), Duration::MAX);
    for number in 0..5 {
        let pending = client.put(JobId::generate(), &Toy::new(ToyAction::Answer(number))).await.unwrap();
        let started = Instant::now();
        answers.push(pending.outcome().await.unwrap());
        fastest = fastest.min(started.elapsed());
    }

    assert_eq!(answers, [Ok(0), Ok(1), Ok(2), Ok(3), Ok(4)]);
    // The poll comes after 2 s; a machine busy with other tests needs its time for the rest.
    assert!(fastest < Duration::from_millis(1900), "{fastest:?}");
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_problem_is_an_answer_and_is_never_retried() {
    let database = TestDatabase::with_schema().await;
    let (client, toys) = (database.client().await, Toys::new(&database));
    let worker = Worker::start(&toys, 1);
    live(&client).await;
    let id = JobId::generate();

    let answer = client.put(id, &Toy::new(ToyAction::Refuse)).await.unwrap().outcome().await.unwrap();

    assert_eq!(answer, Err(JobFailure::BadTarget { reason: "no".to_owned() }));
    assert_eq!(toys.seen(id).started, 1);
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fault_of_the_machine_is_tried_again() {
    let database = TestDatabase::with_schema().await;
    let (client, toys) = (database.client().await, Toys::new(&database));
    let worker = Worker::start(&toys, 1);
    live(&client).await;

    let pending = client.put(JobId::generate(), &Toy::new(ToyAction::FailUntil(3))).await.unwrap();

    assert_eq!(pending.outcome().await.unwrap(), Ok(3));
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_panics_is_given_up_after_three_attempts_and_the_worker_goes_on() {
    let database = TestDatabase::with_schema().await;
    let (client, toys) = (database.client().await, Toys::new(&database));
    let worker = Worker::start(&toys, 1);
    live(&client).await;
    let id = JobId::generate();

    let answer = client.put(id, &Toy::new(ToyAction::Panic)).await.unwrap().outcome().await.unwrap();
    let next = client
        .put(JobId::generate(), &Toy::new(ToyAction::Answer(7)))
        .await
        .unwrap()
        .outcome()
        .await
        .unwrap();

    assert_eq!(answer, Err(JobFailure::Abandoned { attempts: 3, cause: None }));
    assert_eq!(toys.seen(id).started, 3);
    assert_eq!(next, Ok(7));
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn dropping_the_wait_cancels_the_job_while_it_runs() {
    let database = TestDatabase::with_schema().await;
    let (client, toys) = (database.client().await, Toys::new(&database));
    let worker = Worker::start(&toys, 1);
    live(&client).await;
    let id = JobId::generate();

    let pending = client.put(id, &Toy::new(ToyAction::Sleep(20_000))).await.unwrap();
    until("the job runs", || async { toys.seen(id).now == 1 }).await;
    drop(pending);

    until("the handler hears of it", || async { toys.seen(id).cancelled }).await;
    let outcome = || async {
        let outcome: Option<Value> = sqlx::query_scalar("select outcome from jobs where id = $1")
            .bind(id.to_string())
            .fetch_one(&database.pool)
            .await
            .unwrap();
        outcome == Some(serde_json::json!({"Err": {"problem": "cancelled"}}))
    };
    until("the outcome says so", outcome).await;
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_cancelled_while_it_waits_is_never_begun() {
    let database = TestDatabase::with_schema().await;
    let (client, toys) = (database.client().await, Toys::new(&database));
    let worker = Worker::start(&toys, 1);
    live(&client).await;
    let first = client.put(JobId::generate(), &Toy::new(ToyAction::Sleep(500))).await.unwrap();
    let id = JobId::generate();

    drop(client.put(id, &Toy::new(ToyAction::Answer(1))).await.unwrap());
    assert_eq!(first.outcome().await.unwrap(), Ok(500));
    let last = client.put(JobId::generate(), &Toy::new(ToyAction::Answer(2))).await.unwrap();

    assert_eq!(last.outcome().await.unwrap(), Ok(2));
    assert_eq!(toys.seen(id).started, 0);
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_wait_ends_at_the_deadline_and_the_late_outcome_is_still_stored() {
    let database = TestDatabase::with_schema().await;
    let (client, toys) = (database.client().await, Toys::new(&database));
    let worker = Worker::start(&toys, 1);
    live(&client).await;
    let id = JobId::generate();
    let job = Toy::new(ToyAction::Sleep(4000)).within(Duration::from_millis(400));

    let started = Instant::now();
    let answer = client.put(id, &job).await.unwrap().outcome().await;

    assert!(matches!(answer, Err(AwaitError::DeadlinePassed)), "{answer:?}");
    assert!(started.elapsed() < Duration::from_millis(3500), "{:?}", started.elapsed());
    let stored = || async {
        let outcome: Option<Value> = sqlx::query_scalar("select outcome from jobs where id = $1")
            .bind(id.to_string())
            .fetch_one(&database.pool)
            .await
            .unwrap();
        outcome == Some(serde_json::json!({"Ok": 4000}))
    };
    until("the late outcome is stored", stored).await;
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_whose_deadline_passed_in_the_queue_is_never_begun() {
    let database = TestDatabase::with_schema().await;
    let (client, toys) = (database.client().await, Toys::new(&database));
    let worker = Worker::start(&toys, 1);
    live(&client).await;
    let first = client.put(JobId::generate(), &Toy::new(ToyAction::Sleep(900))).await.unwrap();
    let id = JobId::generate();
    let job = Toy::new(ToyAction::Answer(1)).within(Duration::from_millis(300));

    let late = client.put(id, &job).await.unwrap().outcome().await;
    assert_eq!(first.outcome().await.unwrap(), Ok(900));

    assert!(matches!(late, Err(AwaitError::DeadlinePassed)), "{late:?}");
    let outcome = || async {
        let outcome: Option<Value> = sqlx::query_scalar("select outcome from jobs where id = $1")
            .bind(id.to_string())
            .fetch_one(&database.pool)
            .await
            .unwrap();
        outcome == Some(serde_json::json!({"Err": {"problem": "deadline_passed"}}))
    };
    until("the outcome says so", outcome).await;
    assert_eq!(toys.seen(id).started, 0);
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_worker_nothing_is_taken() {
    let database = TestDatabase::with_schema().await;
    let client = database.client().await;

    let answer =
        client.put(JobId::generate(), &Toy::new(ToyAction::Answer(1))).await.map(|pending| pending.id());

    assert!(matches!(answer, Err(SubmitError::NoWorker { .. })), "{answer:?}");
    let rows: i64 =
        sqlx::query_scalar("select (select count(*) from jobs) + (select count(*) from apalis.jobs)")
            .fetch_one(&database.pool)
            .await
            .unwrap();
    assert_eq!(rows, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn work_that_would_outlast_the_deadline_is_refused_with_an_honest_time() {
    let database = TestDatabase::with_schema().await;
    let (client, toys) = (database.client().await, Toys::new(&database));
    let worker = Worker::start(&toys, 2);
    live(&client).await;
    let long = Toy::new(ToyAction::Sleep(20_000)).expecting(20.0);
    let ahead = [
        client.put(JobId::generate(), &long).await.unwrap(),
        client.put(JobId::generate(), &long).await.unwrap(),
    ];

    // 40 s of work on 2 slots against a timeout of 11 - 1 s.
    let job = Toy::new(ToyAction::Answer(1)).within(Duration::from_secs(11)).expecting(1.0);
    let answer = client.put(JobId::generate(), &job).await.map(|pending| pending.id());

    let Err(SubmitError::Full { retry_after }) = answer else { panic!("{answer:?}") };
    assert!((9.9..10.5).contains(&retry_after.as_secs_f64()), "{retry_after:?}");
    drop(ahead);
    until("cancelled work makes room", || async { client.put(JobId::generate(), &job).await.is_ok() }).await;
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_live_worker_shows_its_slots_and_models_until_it_stops() {
    let database = TestDatabase::with_schema().await;
    let (client, toys) = (database.client().await, Toys::new(&database));
    let worker = Worker::start(&toys, 3);
    live(&client).await;

    let workers = client.live_workers().await.unwrap();
    let models = client.live_models("toy").await.unwrap();
    worker.stop().await;

    assert_eq!(workers.into_iter().collect::<Vec<_>>(), [("toy".to_owned(), 3)]);
    assert_eq!(models, *config(3).models.borrow());
    assert!(client.live_workers().await.unwrap().is_empty());
    assert!(client.live_models("toy").await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn old_finished_jobs_are_swept_and_open_ones_stay() {
    let database = TestDatabase::with_schema().await;
    let (client, toys) = (database.client().await, Toys::new(&database));
    let mut config = config(2);
    config.keep_finished = Duration::from_millis(500);
    let worker = Worker::start_with(&toys, config);
    live(&client).await;
    let open = client.put(JobId::generate(), &Toy::new(ToyAction::Sleep(4000))).await.unwrap();
    let done = client.put(JobId::generate(), &Toy::new(ToyAction::Answer(1))).await.unwrap();
    assert_eq!(done.outcome().await.unwrap(), Ok(1));

    let swept = || async {
        let rows: Vec<String> = sqlx::query_scalar("select id from apalis.jobs union select id from jobs")
            .fetch_all(&database.pool)
            .await
            .unwrap();
        rows == [open.id().to_string()]
    };
    until("only the open job is left", swept).await;

    assert_eq!(open.outcome().await.unwrap(), Ok(4000));
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_outcome_comes_along_where_it_is_small_and_is_read_where_it_is_not() {
    let database = TestDatabase::with_schema().await;
    let client = database.client().await;
    let mut listener = PgListener::connect_with(&database.pool).await.unwrap();
    listener.listen_all(["job_outcome", "job_finished"]).await.unwrap();
    let idle = "insert into live_workers (name, queue, slots) values ('idle', 'toy', 1)";
    sqlx::query(idle).execute(&database.pool).await.unwrap();
    // Repetitive text is compressed, and a notification's payload is not.
    let texts = ["no".to_owned(), "a".repeat(3_000), "a".repeat(5_000), "a".repeat(1_000_000)];

    for (reason, comes_along) in texts.into_iter().zip([true, true, false, false]) {
        let id = JobId::generate();
        let pending = client.put(id, &Toy::new(ToyAction::Refuse)).await.unwrap();
        let problem = JobFailure::BadTarget { reason };
        let outcome = json!({ "Err": problem });
        sqlx::query("update jobs set finished_at = now(), outcome = $2 where id = $1")
            .bind(id.to_string())
            .bind(&outcome)
            .execute(&database.pool)
            .await
            .unwrap();

        let answer = pending.outcome().await.unwrap();

        assert_eq!(answer, Err(problem));
        if comes_along {
            let notification = listener.recv().await.unwrap();
            let (of, outcome_text) = notification.payload().split_once(' ').unwrap();
            assert_eq!((notification.channel(), of), ("job_outcome", &*id.to_string()));
            assert_eq!(outcome_text.parse::<Value>().unwrap(), outcome);
        }
        let notification = listener.recv().await.unwrap();
        assert_eq!((notification.channel(), notification.payload()), ("job_finished", &*id.to_string()));
    }
    drop(listener);
}
