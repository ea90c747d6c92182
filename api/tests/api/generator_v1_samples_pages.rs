//! Pages of samples while others are being stored: at every moment somebody stores, in an order that is not that of the ids.

use std::collections::BTreeSet;

use contract::SampleId;
use rand::{RngExt, SeedableRng, rngs::StdRng};
use sqlx::{PgPool, postgres::PgPoolOptions};
use tokio::task::JoinSet;

use crate::support::{Service, add_account};

const SAMPLES: &str = "/generator/v1/samples";

/// Samples that are stored in a round, and how many of them at the same time.
const STORED: usize = 60;
const AT_ONCE: u32 = 8;

/// The service's account and two others, who read each other's samples.
async fn members(service: &Service) -> Vec<String> {
    let mut members = vec![service.account.clone()];
    for email in ["ada@example.org", "max@example.org"] {
        members.push(add_account(&service.pool, email).await);
    }
    sqlx::raw_sql("insert into organisations (id, name) values ('org_lab', 'lab'); update accounts set organisation_id = 'org_lab'")
        .execute(&service.pool)
        .await
        .unwrap();
    members
}

/// Stores samples of all `members`, each in a transaction that is open for a while before and after the insert; their ids.
async fn store(service: &Service, members: &[String], seed: u64) -> (BTreeSet<String>, JoinSet<()>) {
    let options = (*service.pool.connect_options()).clone();
    let pool = PgPoolOptions::new().max_connections(AT_ONCE).connect_with(options).await.unwrap();
    let mut rng = StdRng::seed_from_u64(seed);
    let (mut ids, mut storing) = (BTreeSet::new(), JoinSet::new());
    for _ in 0..STORED {
        let (id, member) = (SampleId::generate().to_string(), rng.random_range(0..members.len()));
        let pauses = [rng.random_range(0.0..0.02), rng.random_range(0.0..0.06)];
        storing.spawn(store_one(pool.clone(), members[member].clone(), id.clone(), pauses));
        ids.insert(id);
    }
    (ids, storing)
}

async fn store_one(pool: PgPool, account: String, id: String, [before, after]: [f64; 2]) {
    let mut transaction = pool.begin().await.unwrap();
    sqlx::query("select pg_sleep($1)").bind(before).execute(&mut *transaction).await.unwrap();
    sqlx::query(
        "insert into samples (id, account_id, model_id, num_smiles, smiles, seed) values ($1, $2, 'm', 1, '{C}', 0)",
    )
    .bind(id)
    .bind(account)
    .execute(&mut *transaction)
    .await
    .unwrap();
    sqlx::query("select pg_sleep($1)").bind(after).execute(&mut *transaction).await.unwrap();
    transaction.commit().await.unwrap();
}

/// A page, newest first, and whether there are more.
async fn page(service: &Service, query: &str) -> (Vec<String>, bool) {
    let answer = service.get(&format!("{SAMPLES}?limit=3{query}")).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let page = answer.json();
    let ids = page["data"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap().to_owned());
    (ids.collect(), page["has_more"].as_bool().unwrap())
}

async fn start() -> (Service, Vec<String>) {
    let service = Service::start_without_workers(&[("RATE_SAMPLES_READ_PER_MINUTE", "0")]).await;
    let members = members(&service).await;
    (service, members)
}

#[tokio::test(flavor = "multi_thread")]
async fn who_asks_again_and_again_for_what_came_after_the_newest_sees_every_sample_once() {
    let (service, members) = start().await;
    let mut newest = SampleId::generate().to_string();
    service.insert_sample(&members[1], &newest).await;
    for seed in 0..4 {
        let (ids, mut storing) = store(&service, &members, seed).await;

        let mut seen = Vec::new();
        loop {
            // Looked at first: what is stored by then is in the pages that follow.
            let over = storing.is_empty();
            let (mut ids, has_more) = page(&service, &format!("&prev-page={newest}")).await;
            newest = ids.first().cloned().unwrap_or(newest);
            ids.reverse();
            seen.append(&mut ids);
            while let Some(done) = storing.try_join_next() {
                done.unwrap();
            }
            if over && !has_more {
                break;
            }
        }

        assert_eq!(seen.len(), STORED, "seed {seed}: {seen:?}");
        assert_eq!(BTreeSet::from_iter(seen), ids, "seed {seed}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_walks_to_the_oldest_sees_every_sample_that_was_there_once() {
    let (service, members) = start().await;
    let mut there = BTreeSet::new();
    for seed in 0..4 {
        let (ids, mut storing) = store(&service, &members, seed).await;

        let mut seen = Vec::new();
        let (mut ids_of_page, mut has_more) = page(&service, "").await;
        while let Some(last) = ids_of_page.last().cloned() {
            seen.append(&mut ids_of_page);
            if !has_more {
                break;
            }
            (ids_of_page, has_more) = page(&service, &format!("&next-page={last}")).await;
        }
        while let Some(done) = storing.join_next().await {
            done.unwrap();
        }

        let distinct: BTreeSet<_> = seen.iter().cloned().collect();
        assert_eq!(distinct.len(), seen.len(), "seed {seed}: {seen:?}");
        assert!(distinct.is_superset(&there), "seed {seed}");
        there.extend(ids);
    }
}
