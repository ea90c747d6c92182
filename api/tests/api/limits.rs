//! Rate limits: shared by processes, weighted by size, set for one account.

use std::{sync::Arc, time::Duration};

use reqwest::Method;
use serde_json::json;

use crate::support::{Answer, Service, add_account, answer, claims};

const SAMPLES: &str = "/generator/v1/samples";

async fn create(service: &Service, size: u32) -> Answer {
    service.post(SAMPLES, &json!({ "size": size }).to_string()).await
}

#[tokio::test]
async fn two_processes_share_one_quota() {
    let mut service = Service::start_without_workers(&[("RATE_SAMPLES_READ_PER_MINUTE", "5")]).await;
    let bases = [service.base.clone(), service.another().await];
    let token = service.token(claims(&service.account)).await;
    let mut statuses = Vec::new();
    for n in 0..7 {
        let request = service.http.get(format!("{}{SAMPLES}", bases[n % 2])).bearer_auth(&token);
        statuses.push(answer(request).await.status);
    }

    assert_eq!(statuses, [200, 200, 200, 200, 200, 429, 429]);
}

#[tokio::test]
async fn a_burst_from_everywhere_at_once_is_counted_exactly() {
    let mut service = Service::start_without_workers(&[("RATE_SAMPLES_READ_PER_MINUTE", "10")]).await;
    let bases = [service.base.clone(), service.another().await];
    let token = service.token(claims(&service.account)).await;
    let mut requests = tokio::task::JoinSet::new();
    for n in 0..40 {
        let request = service.http.get(format!("{}{SAMPLES}", bases[n % 2])).bearer_auth(&token);
        requests.spawn(async move { answer(request).await.status });
    }

    let statuses = requests.join_all().await;

    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 10, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|status| **status == 429).count(), 30, "{statuses:?}");
}

#[tokio::test]
async fn large_samples_take_more_than_small_ones() {
    let service = Service::start_with(&[("RATE_MOLECULES_PER_MINUTE", "1000")]).await;

    let large = create(&service, 900).await;
    let too_large = create(&service, 600).await;
    let small = create(&service, 50).await;

    assert_eq!([large.status, too_large.status, small.status], [200, 429, 200]);
    assert_eq!(too_large.header("ratelimit-policy"), "\"molecules\";q=1000;w=60");
    let wait: u32 = too_large.header("retry-after").parse().unwrap();
    assert!((25..=30).contains(&wait), "{wait}");
    // More than the whole limit counts as all of it: it is available after a minute without any use.
    let whole = Service::start_with(&[("RATE_MOLECULES_PER_MINUTE", "10")]).await;
    assert_eq!([create(&whole, 50).await.status, create(&whole, 1).await.status], [200, 429]);
}

async fn search(service: &Service, seconds: u32, max_depth: u32) -> Answer {
    let body = json!({ "search_smiles": "CCO", "max_seconds": seconds, "max_depth": max_depth });
    service.post("/synth/v1/treesearch", &body.to_string()).await
}

#[tokio::test]
async fn searches_take_their_seconds_and_give_back_what_they_did_not_use() {
    let service = Arc::new(Service::start_with(&[("RATE_SEARCH_SECONDS_PER_MINUTE", "100")]).await);

    let mut quick = Vec::new();
    for _ in 0..3 {
        quick.push(search(&service, 90, 5).await.status);
    }
    let running = tokio::spawn({
        let service = Arc::clone(&service);
        async move { search(&service, 90, 47).await }
    });
    let begun = || async {
        let running: i64 = sqlx::query_scalar("select count(*) from jobs where held_until > now()")
            .fetch_one(&service.pool)
            .await
            .unwrap();
        running == 1
    };
    while !begun().await {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let (second, short) = (search(&service, 90, 5).await, search(&service, 5, 5).await);

    assert_eq!(quick, [200, 200, 200]);
    assert_eq!((second.status, short.status), (429, 200));
    assert_eq!(second.header("ratelimit-policy"), "\"search-seconds\";q=100;w=60");
    running.abort();
}

#[tokio::test]
async fn an_account_has_only_so_many_jobs_in_flight() {
    let service = Arc::new(Service::start_with(&[("JOBS_IN_FLIGHT", "2")]).await);
    let running: Vec<_> = (0..2)
        .map(|_| {
            let service = Arc::clone(&service);
            tokio::spawn(async move { search(&service, 90, 47).await })
        })
        .collect();
    let open = || async {
        let open: i64 =
            sqlx::query_scalar("select count(*) from jobs").fetch_one(&service.pool).await.unwrap();
        open == 2
    };
    while !open().await {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }

    let third = search(&service, 1, 5).await;
    let sample = create(&service, 5).await;

    assert_eq!(
        (third.status, third.faults()),
        (429, [(String::new(), "too_many_in_flight".to_owned())].into())
    );
    assert!(third.header("retry-after").parse::<u32>().unwrap() >= 1);
    assert_eq!(sample.status, 200);
    running.iter().for_each(tokio::task::JoinHandle::abort);
}

#[tokio::test]
async fn an_operator_changes_the_quota_of_one_account() {
    let service = Service::start_without_workers(&[("RATE_SAMPLES_READ_PER_MINUTE", "2")]).await;
    let (more, none) = (
        add_account(&service.pool, "more@example.org").await,
        add_account(&service.pool, "none@example.org").await,
    );
    // Sets the limit as `retort account ration` does.
    for (account, per_minute) in [(&more, 4), (&none, 0)] {
        sqlx::query("insert into account_rations (account_id, ration, per_minute) values ($1, 'reads', $2)")
            .bind(account)
            .bind(per_minute)
            .execute(&service.pool)
            .await
            .unwrap();
    }
    let mut allowed = Vec::new();
    for account in [&service.account, &more, &none] {
        let mut count = 0;
        for _ in 0..8 {
            let list = answer(service.request_as(account, Method::GET, SAMPLES).await).await;
            count += u32::from(list.status == 200);
        }
        allowed.push(count);
    }

    assert_eq!(allowed, [2, 4, 8]);
}

#[tokio::test]
async fn a_spent_quota_is_refused_without_the_database() {
    let service = Service::start_without_workers(&[("RATE_SAMPLES_READ_PER_MINUTE", "1")]).await;
    assert_eq!(service.get(SAMPLES).await.status, 200);
    assert_eq!(service.get(SAMPLES).await.status, 429);
    let token = service.token(claims(&service.account)).await;
    sqlx::query("alter table rate_limits rename to hidden_limits").execute(&service.pool).await.unwrap();

    for _ in 0..50 {
        let request = service.http.get(format!("{}{SAMPLES}", service.base)).bearer_auth(&token);
        assert_eq!(answer(request).await.status, 429);
    }
}

#[tokio::test]
async fn a_database_clock_that_went_back_costs_at_most_the_quota() {
    let service = Service::start_without_workers(&[("RATE_SAMPLES_READ_PER_MINUTE", "5")]).await;
    let list = async || answer(service.request(Method::GET, SAMPLES).await).await;
    assert_eq!(list().await.status, 200);
    sqlx::query("update rate_limits set spent_until = spent_until + interval '1 hour'")
        .execute(&service.pool)
        .await
        .unwrap();

    let refused = list().await;

    // The limit is exhausted, and a fifth of it is refilled in a fifth of the minute.
    assert_eq!((refused.status, refused.header("retry-after")), (429, "12"));
}

#[tokio::test]
async fn buckets_of_unknown_callers_are_deleted() {
    let service = Service::start_without_workers(&[]).await;
    sqlx::query(
        "insert into rate_limits (account_id, ration, spent_until, refused) values \
         ('address 192.0.2.1', 'login', now() - interval '11 minutes', false), \
         ('address 192.0.2.2', 'login', now() + interval '1 second', true)",
    )
    .execute(&service.pool)
    .await
    .unwrap();

    let swept = identity::sweep(&service.pool).await.unwrap();

    let left: Vec<(String,)> =
        sqlx::query_as("select account_id from rate_limits where account_id like 'address 192%'")
            .fetch_all(&service.pool)
            .await
            .unwrap();
    assert_eq!((swept, left), (1, vec![("address 192.0.2.2".to_owned(),)]));
}
