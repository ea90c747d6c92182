//! Jobs that need a model, and workers that serve some models: against a real Postgres.

use std::{collections::BTreeSet, time::Duration};

use crate::support::{SubmitToy, TestDatabase, Toy, ToyAction, Toys, Worker, config, models, serves, until};
use contract::JobId;
use queue::{LiveModel, SubmitError, WorkerConfig};
use sqlx::postgres::PgListener;
use tokio::sync::watch;

/// Starts a worker that serves `ids`, and returns it with the toys that it handles.
fn start(
    database: &TestDatabase,
    slots: usize,
    ids: &[&str],
) -> (Toys, Worker, watch::Sender<Vec<LiveModel>>) {
    let toys = Toys::new(database);
    let (sender, models) = watch::channel(models(ids));
    let worker = Worker::start_with(&toys, WorkerConfig { models, ..config(slots) });
    (toys, worker, sender)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_goes_only_to_a_worker_that_serves_its_model() {
    let database = TestDatabase::with_schema().await;
    let client = database.client().await;
    let (ants, first, _a) = start(&database, 2, &["ant"]);
    let (bees, second, _b) = start(&database, 2, &["bee"]);
    serves(&client, "ant").await;
    serves(&client, "bee").await;

    let mut waiting = Vec::new();
    for number in 0..30 {
        let model = ["ant", "bee"][number % 2];
        let job = Toy::new(ToyAction::Answer(number as u64)).of(model);
        let job = if number % 3 == 2 { Toy { model_id: None, ..job } } else { job };
        let pending = client.put(JobId::generate(), &job).await.unwrap();
        waiting.push((job, pending));
    }

    for (job, pending) in waiting {
        let id = pending.id();
        assert_eq!(ToyAction::Answer(pending.outcome().await.unwrap().unwrap()), job.act);
        let (by_ants, by_bees) = (ants.seen(id).started, bees.seen(id).started);
        match job.model_id.as_deref() {
            Some("ant") => assert_eq!((by_ants, by_bees), (1, 0)),
            Some(_) => assert_eq!((by_ants, by_bees), (0, 1)),
            None => assert_eq!(by_ants + by_bees, 1),
        }
    }
    first.stop().await;
    second.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backlog_of_one_model_holds_up_no_other() {
    let database = TestDatabase::with_schema().await;
    let client = database.client().await;
    let (_ants, first, _a) = start(&database, 1, &["ant"]);
    let (_bees, second, _b) = start(&database, 1, &["bee"]);
    serves(&client, "ant").await;
    serves(&client, "bee").await;
    let long = Toy::new(ToyAction::Sleep(20_000)).expecting(20.0).of("bee");
    let backlog = [client.put(JobId::generate(), &long).await.unwrap()];

    // 20 s of work on the one slot that serves bees, against a timeout of 11 - 1 s.
    let short =
        |model| Toy::new(ToyAction::Answer(1)).within(Duration::from_secs(11)).expecting(1.0).of(model);
    let bee = client.put(JobId::generate(), &short("bee")).await.map(|pending| pending.id());
    let ant = client.put(JobId::generate(), &short("ant")).await.unwrap().outcome().await.unwrap();

    let Err(SubmitError::Full { retry_after }) = bee else { panic!("{bee:?}") };
    // Nine seconds of excess and one for the job itself, less the time that has passed.
    assert!((4.0..10.5).contains(&retry_after.as_secs_f64()), "{retry_after:?}");
    assert_eq!(ant, Ok(1));
    drop(backlog);
    first.stop().await;
    second.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn work_that_others_can_take_counts_by_the_share_that_falls_to_ours() {
    let database = TestDatabase::with_schema().await;
    let client = database.client().await;
    let (_both, first, _a) = start(&database, 1, &["ant", "bee"]);
    let (_bees, second, _b) = start(&database, 3, &["bee"]);
    serves(&client, "ant").await;
    until("both live", || async { client.live_workers().await.unwrap().get("toy") == Some(&4) }).await;
    let long = Toy::new(ToyAction::Sleep(20_000)).expecting(20.0).of("bee");
    let mut backlog = Vec::new();
    for _ in 0..4 {
        backlog.push(client.put(JobId::generate(), &long).await.unwrap());
    }

    // Of 80 s, 20 s fall to the slot that serves ants.
    let ant = |seconds| {
        Toy::new(ToyAction::Answer(1)).within(Duration::from_secs(seconds)).expecting(1.0).of("ant")
    };
    let soon = client.put(JobId::generate(), &ant(11)).await.map(|pending| pending.id());
    let later = client.put(JobId::generate(), &ant(22)).await;

    let Err(SubmitError::Full { retry_after }) = soon else { panic!("{soon:?}") };
    // Nine seconds of excess and one for the job itself, less the time that has passed.
    assert!((4.0..10.5).contains(&retry_after.as_secs_f64()), "{retry_after:?}");
    assert!(later.is_ok());
    drop((backlog, later));
    first.stop().await;
    second.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_no_worker_had_is_unknown_and_one_of_a_dead_worker_is_not() {
    let database = TestDatabase::with_schema().await;
    let client = database.client().await;
    let (_ants, first, shelf) = start(&database, 1, &["ant"]);
    let (_bees, second, _b) = start(&database, 1, &["bee"]);
    serves(&client, "ant").await;
    serves(&client, "bee").await;
    let submit = async |model: &str| {
        client
            .put(JobId::generate(), &Toy::new(ToyAction::Answer(1)).of(model))
            .await
            .map(|pending| pending.id())
    };

    let cat = submit("cat").await;
    second.stop().await;
    let bee = submit("bee").await;
    shelf.send(models(&["ant", "cat"])).unwrap();
    serves(&client, "cat").await;
    let pending = client.put(JobId::generate(), &Toy::new(ToyAction::Answer(7)).of("cat")).await.unwrap();

    assert!(matches!(cat, Err(SubmitError::UnknownModel)), "{cat:?}");
    assert!(matches!(bee, Err(SubmitError::NoWorker { .. })), "{bee:?}");
    assert_eq!(pending.outcome().await.unwrap(), Ok(7));
    shelf.send(models(&["ant"])).unwrap();
    until("a model that was removed is unknown", || async {
        matches!(submit("cat").await, Err(SubmitError::UnknownModel))
    })
    .await;
    first.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn some_of_many_workers_are_notified_of_a_job_and_all_of_few() {
    let database = TestDatabase::with_schema().await;
    let client = database.client().await;
    let mut listener = PgListener::connect_with(&database.pool).await.unwrap();
    listener.listen("job_waits").await.unwrap();
    let mut told_of = async |names: &[&str]| {
        for name in names {
            let statement = "insert into live_workers (name, queue, slots) values ($1, 'toy', 1)";
            sqlx::query(statement).bind(name).execute(&database.pool).await.unwrap();
        }
        let pending = client.put(JobId::generate(), &Toy::new(ToyAction::Answer(1))).await.unwrap();
        let notification = listener.recv().await.unwrap().payload().to_owned();
        drop(pending);
        notification
    };

    let few = told_of(&["a", "b", "c", "d", "e", "f", "g", "h"]).await;
    let many = told_of(&["i"]).await;

    assert_eq!(few, "toy");
    let words: BTreeSet<&str> = many.split(' ').collect();
    assert_eq!((words.len(), words.contains("toy")), (5, true), "{many}");
    drop(listener);
}
