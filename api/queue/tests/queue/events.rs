//! Progress events of jobs and their retention.

use crate::support::{SubmitToy, TestDatabase, Toy, ToyAction, Toys, Worker, live, until};
use contract::JobId;

/// Stores an event of the job with an age of `seconds_ago`.
async fn store_event(database: &TestDatabase, id: &str, seconds_ago: f64) {
    sqlx::query(
        "insert into job_events (job_id, number, event, data)
        values ($1, (extract(epoch from now() - make_interval(secs => $2)) * 1000)::bigint, 'progress', '{}')",
    )
    .bind(id)
    .bind(seconds_ago)
    .execute(&database.pool)
    .await
    .unwrap();
}

async fn events(database: &TestDatabase) -> Vec<String> {
    sqlx::query_scalar("select job_id from job_events order by job_id")
        .fetch_all(&database.pool)
        .await
        .unwrap()
}

async fn watchers(database: &TestDatabase) -> i64 {
    sqlx::query_scalar("select count(*) from watched_jobs").fetch_one(&database.pool).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn events_go_some_minutes_after_their_job_and_not_before() {
    let database = TestDatabase::with_schema().await;
    let (client, toys) = (database.client().await, Toys::new(&database));
    let open = JobId::generate();
    let first = Worker::start(&toys, 1);
    live(&client).await;
    let pending = client.put(open, &Toy::new(ToyAction::Sleep(20_000))).await.unwrap();
    for (id, seconds_ago) in [(open.to_string().as_str(), 3600.0), ("gone", 3600.0), ("gone_just_now", 10.0)]
    {
        store_event(&database, id, seconds_ago).await;
    }
    sqlx::query("insert into watched_jobs values ('gone', now() - interval '1 hour', true)")
        .execute(&database.pool)
        .await
        .unwrap();

    // A worker sweeps when it starts.
    let second = Worker::start(&toys, 1);
    until("who watched is forgotten", || async { watchers(&database).await == 0 }).await;
    until("events are swept", || async { !events(&database).await.contains(&"gone".to_owned()) }).await;

    assert_eq!(events(&database).await, [open.to_string(), "gone_just_now".to_owned()]);
    drop(pending);
    first.stop().await;
    second.stop().await;
}
