//! Retention: expired rows are deleted without disturbing concurrent readers.

use std::collections::BTreeMap;

use api::config::Config;
use contract::SampleId;
use serde_json::json;
use sqlx::AssertSqlSafe;

use crate::support::{Service, add_account, sample_id};

const SAMPLES: &str = "/generator/v1/samples";

/// Number of samples: more than two sweep batches.
const OLD_SAMPLE_COUNT: i64 = 1_200;

/// Returns the settings of a service with some more.
fn config(service: &Service, settings: &[(&str, &str)]) -> Result<Config, String> {
    let database = [("DATABASE_URL", service.database_url())];
    let all = settings.iter().chain(&database);
    let variables: BTreeMap<_, _> =
        all.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Config::from_variables(&variables).map_err(|error| error.to_string())
}

/// Returns the id of the `n`th old sample.
fn old_id(n: i64) -> String {
    format!("smp_01jd6xq1v3m4c5t6y7z8a{n:05}")
}

/// Inserts samples that are 31 days old, one per millisecond; their ids date from 2024.
async fn insert_old_samples(service: &Service, account: &str, from: i64, to: i64) {
    sqlx::query(
        "insert into samples (id, account_id, model_id, num_smiles, smiles, seed)
        select 'smp_01jd6xq1v3m4c5t6y7z8a' || lpad(n::text, 5, '0'), $1, 'druglike_gru', 1, '{C}', 0
        from generate_series($2, $3) as n",
    )
    .bind(account)
    .bind(from)
    .bind(to)
    .execute(&service.pool)
    .await
    .unwrap();
    sqlx::query(
        "update samples set created_at = now() - interval '31 days' + place * interval '1 ms' where account_id = $1",
    )
        .bind(account)
        .execute(&service.pool)
        .await
        .unwrap();
}

async fn count(service: &Service, statement: &'static str) -> i64 {
    sqlx::query_scalar(statement).fetch_one(&service.pool).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn old_samples_go_while_somebody_pages_through_them() {
    let settings = [("KEEP_SAMPLES_DAYS", "30"), ("RATE_SAMPLES_READ_PER_MINUTE", "0")];
    let service = Service::start_without_workers(&settings).await;
    let other = add_account(&service.pool, "other@example.org").await;
    insert_old_samples(&service, &service.account, 1, OLD_SAMPLE_COUNT / 2).await;
    insert_old_samples(&service, &other, OLD_SAMPLE_COUNT / 2 + 1, OLD_SAMPLE_COUNT).await;
    let new = [(); 3].map(|()| SampleId::generate().to_string());
    for id in &new {
        service.insert_sample(&service.account, id).await;
    }

    let retention_times = config(&service, &settings).unwrap().retention_times;
    let processes = [(); 2].map(|()| api::retention(service.pool.clone(), retention_times));
    let (mut seen, mut query) = (Vec::new(), String::new());
    loop {
        let page = service.get(&format!("{SAMPLES}?limit=7{query}")).await;
        assert_eq!(page.status, 200, "{page:?}");
        let page = page.json();
        let ids = page["data"].as_array().unwrap().iter();
        seen.extend(ids.map(|item| item["id"].as_str().unwrap().to_owned()));
        if page["has_more"] == json!(false) {
            break;
        }
        query = format!("&next-page={}", seen.last().unwrap());
    }
    service.until_count("select count(*) from samples", 3).await;
    let deleted = "select coalesce(sum(deleted), 0)::int8 from retention where what = 'samples' and keep = interval '30 days'";
    service.until_count(deleted, OLD_SAMPLE_COUNT).await;
    drop(processes);

    let mut newest_first = new.clone();
    newest_first.reverse();
    assert_eq!(seen[..3], newest_first, "what is kept is on the first page");
    let newest_old: Vec<_> = (1..=OLD_SAMPLE_COUNT / 2).rev().map(old_id).take(seen.len() - 3).collect();
    assert_eq!(seen[3..], newest_old, "what went meanwhile is the end");
    let gone = old_id(OLD_SAMPLE_COUNT / 2);
    assert_eq!(service.get(&format!("{SAMPLES}/{gone}")).await.status, 404);
    let behind = service.get(&format!("{SAMPLES}?next-page={gone}")).await;
    assert_eq!(behind.json(), json!({ "data": [], "has_more": false, "object": "list" }));
    let before = service.get(&format!("{SAMPLES}?limit=2&prev-page={gone}")).await.json();
    assert_eq!((&before["data"][0]["id"], &before["data"][1]["id"]), (&json!(new[1]), &json!(new[0])));
    assert_eq!(before["has_more"], json!(true));
    // An id that never existed and is within the retention time is no cursor.
    let never = service.get(&format!("{SAMPLES}?next-page={}", SampleId::generate())).await;
    assert_eq!((never.status, never.text.as_str()), (400, "null"));
}

#[tokio::test(flavor = "multi_thread")]
async fn by_default_samples_are_kept_for_ever() {
    let service = Service::start_without_workers(&[]).await;
    service.insert_sample(&service.account, &sample_id(10)).await;
    sqlx::query("update samples set created_at = now() - interval '90 years'")
        .execute(&service.pool)
        .await
        .unwrap();

    let _process = api::retention(service.pool.clone(), config(&service, &[]).unwrap().retention_times);
    service.until_count("select count(*) from retention where keep is null", 7).await;

    assert_eq!(service.get(&format!("{SAMPLES}/{}", sample_id(10))).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sample_batch_that_has_ended_goes_with_its_samples_when_it_is_older_than_they_are_kept() {
    let service = Service::start_without_workers(&[]).await;
    for id in [10, 11, 12] {
        service.insert_sample(&service.account, &sample_id(id)).await;
    }
    sqlx::raw_sql(AssertSqlSafe(format!(
        "insert into sample_batches (id, account_id, size, chunk_count, created_at)
        select id, '{0}', 2, 1, now() - interval '31 days' from unnest('{{ended,waits}}'::text[]) as id;
        insert into sample_batches (id, account_id, size, chunk_count) values ('new', '{0}', 2, 1);
        insert into sample_orders (id, account_id, batch_id, place, model_id, size, seed, status) values
            ('{1}', '{0}', 'ended', 0, 'm', 2, 0, 'completed'), ('{2}', '{0}', 'new', 0, 'm', 2, 0, 'completed'),
            ('w', '{0}', 'waits', 0, 'm', 2, 0, 'pending');
        insert into sample_orders (id, account_id, model_id, size, seed, status, created_at) values
            ('f', '{0}', 'm', 2, 0, 'failed', now() - interval '31 days'), ('n', '{0}', 'm', 2, 0, 'failed', now());
        insert into sample_claims select number, 'a' from sample_batches",
        service.account,
        sample_id(10),
        sample_id(11)
    )))
    .execute(&service.pool)
    .await
    .unwrap();

    let retention_times = config(&service, &[("KEEP_SAMPLES_DAYS", "30")]).unwrap().retention_times;
    let process = api::retention(service.pool.clone(), retention_times);
    service.until_count("select count(*) from sample_batches where id = 'ended'", 0).await;
    service.until_count("select count(*) from sample_orders where id = 'f'", 0).await;
    drop(process);

    assert_eq!(service.get(&format!("{SAMPLES}/{}", sample_id(10))).await.status, 404);
    assert_eq!(count(&service, "select count(*) from samples").await, 2);
    assert_eq!(count(&service, "select count(*) from sample_orders where id in ('w', 'n')").await, 2);
    assert_eq!(count(&service, "select count(*) from sample_claims").await, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn long_jobs_are_kept_from_their_end() {
    let service = Service::start_without_workers(&[]).await;
    for statement in [
        "insert into plans (id, account_id, search_smiles, parameters, engine, status, created_at, updated_at)
        select id, $1, 'C', '{}', 'e', 'failed', now() - interval '3 days', now() - ago
        from (values ('old', interval '2 days'), ('new', interval '1 hour')) as plan (id, ago)",
        "insert into batches (id, account_id, parameters, engine, plan_count, created_at, updated_at)
        select id, $1, '{}', 'e', 1, now() - interval '3 days', now() - interval '3 days'
        from unnest('{old_batch,new_batch}'::text[]) as id",
        "insert into plans (id, account_id, batch_id, place, search_smiles, engine)
        select 'of_' || id, $1, id, 0, 'C', 'e' from batches where account_id = $1",
        "insert into sample_orders (id, account_id, model_id, size, seed, status, created_at)
        select id, $1, 'm', 2, 0, 'pending', now() - interval '3 days' from unnest('{old_order,new_order}'::text[]) as id",
    ] {
        sqlx::query(statement).bind(&service.account).execute(&service.pool).await.unwrap();
    }
    sqlx::raw_sql(
        "update plans set status = 'failed', problem = '{}' where id like 'of_%';
        update batch_progress set last_end = now() - interval '2 days' where batch_id = 'old_batch';
        update sample_orders set status = 'failed';
        update sample_orders set ended_at = now() - interval '2 days' where id = 'old_order'",
    )
    .execute(&service.pool)
    .await
    .unwrap();

    let retention_times =
        config(&service, &[("KEEP_PLANS_DAYS", "1"), ("KEEP_SAMPLES_DAYS", "1")]).unwrap().retention_times;
    let process = api::retention(service.pool.clone(), retention_times);
    // Marked rows are invisible; the next sweep deletes them.
    service
        .until_count("select count(*) from batches where id = 'old_batch' and deleted_at is null", 0)
        .await;
    service.until_count("select count(*) from plans where id in ('old', 'of_old_batch')", 0).await;
    drop(process);

    assert_eq!(count(&service, "select count(*) from plans where id in ('new', 'of_new_batch')").await, 2);
    assert_eq!(
        count(&service, "select count(*) from batches where id = 'new_batch' and deleted_at is null").await,
        1
    );
    assert_eq!(count(&service, "select count(*) from sample_orders where id = 'old_order'").await, 0);
    assert_eq!(count(&service, "select count(*) from sample_orders where id = 'new_order'").await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_price_that_an_offer_had_goes_when_it_is_older_than_it_is_kept() {
    let service = Service::start_without_workers(&[]).await;
    sqlx::raw_sql(
        "insert into vendors (name) values ('House');
        insert into building_blocks (smiles, mw, morgan_bits) values ('CCO', 46, '');
        insert into offer_prices (building_block_id, vendor_id, cs_id, price_usd, said_at, until)
        select building_blocks.id, vendors.id, days::text, 1, now() - interval '9 years', now() - make_interval(days => days)
        from building_blocks, vendors, unnest('{0,9,11,900}'::int[]) as days where name = 'House'",
    )
    .execute(&service.pool)
    .await
    .unwrap();

    let retention_times = config(&service, &[("KEEP_PRICES_DAYS", "10")]).unwrap().retention_times;
    let process = api::retention(service.pool.clone(), retention_times);
    service
        .until_count("select coalesce(sum(deleted), 0)::int8 from retention where what = 'prices'", 2)
        .await;
    drop(process);

    assert_eq!(count(&service, "select count(*) from offer_prices where cs_id in ('0', '9')").await, 2);
    assert_eq!(count(&service, "select count(*) from offer_prices").await, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_of_the_journal_goes_when_it_is_older_than_it_is_kept_and_never_within_a_year() {
    let service = Service::start_without_workers(&[]).await;
    sqlx::query(
        "insert into journal (at, operator, act, subject) select now() - make_interval(days => days), 'ada', 'act', days::text
        from unnest('{0,300,500,900}'::int[]) as days",
    )
    .execute(&service.pool)
    .await
    .unwrap();

    let retention_times = config(&service, &[("KEEP_JOURNAL_DAYS", "600")]).unwrap().retention_times;
    let process = api::retention(service.pool.clone(), retention_times);
    service
        .until_count("select coalesce(sum(deleted), 0)::int8 from retention where what = 'journal'", 1)
        .await;
    drop(process);

    assert_eq!(count(&service, "select count(*) from journal where subject = '900'").await, 0);
    assert_eq!(count(&service, "select count(*) from journal").await, 3);
    let refused =
        sqlx::query("delete from journal where subject = '300'").execute(&service.pool).await.unwrap_err();
    assert!(refused.to_string().contains("only ever added to"), "{refused}");
    let short = config(&service, &[("KEEP_JOURNAL_DAYS", "30")]).unwrap_err();
    assert!(
        short.contains("KEEP_JOURNAL_DAYS is `30`: want 366 to 36600 days, or 0 to keep all of it"),
        "{short}"
    );
}

/// Moves a time of the sweep clock: the last deletion, or the last detected jump.
async fn set_clock(service: &Service, column: &str, ago: &str) {
    let statement = format!("update sweep_clock set {column} = now() - interval '{ago}'");
    sqlx::query(AssertSqlSafe(statement)).execute(&service.pool).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clock_that_jumped_ahead_deletes_nothing_for_a_day() {
    let settings = [("KEEP_SAMPLES_DAYS", "30")];
    let service = Service::start_without_workers(&settings).await;
    insert_old_samples(&service, &service.account, 1, 3).await;
    sqlx::query(
        "insert into browser_sessions (secret_hash, account_id, authenticated_at, expires_at)
        values ('x', $1, now() - interval '1 day', now() - interval '1 hour')",
    )
    .bind(&service.account)
    .execute(&service.pool)
    .await
    .unwrap();
    let retention_times = config(&service, &settings).unwrap().retention_times;
    let kept = "select count(*) from samples union all select count(*) from browser_sessions";
    let kept = async || sqlx::query_scalar::<_, i64>(kept).fetch_all(&service.pool).await.unwrap();
    let statement = "select count(*) from retention where what = 'prices'";

    set_clock(&service, "seen_at", "10 years").await;
    let process = api::retention(service.pool.clone(), retention_times);
    // Prices are the last table of a sweep.
    service.until_count(statement, 1).await;
    assert_eq!((identity::sweep(&service.pool).await.unwrap(), kept().await), (0, vec![3, 1]));
    drop(process);
    set_clock(&service, "jumped_at", "23 hours").await;
    assert_eq!((identity::sweep(&service.pool).await.unwrap(), kept().await), (0, vec![3, 1]));

    // The clock was not corrected for a day, so it is right: the service was off.
    set_clock(&service, "jumped_at", "25 hours").await;
    let process = api::retention(service.pool.clone(), retention_times);
    service.until_count("select count(*) from samples", 0).await;
    assert_eq!(identity::sweep(&service.pool).await.unwrap(), 1);
    drop(process);
}

#[tokio::test]
async fn a_clock_that_was_corrected_deletes_again_at_once() {
    let service = Service::start_without_workers(&[]).await;
    set_clock(&service, "seen_at", "8 days").await;
    assert!(!database::is_clock_steady(&service.pool).await.unwrap());

    // The recorded jump is now in the clock's future.
    set_clock(&service, "jumped_at", "-8 days").await;

    assert!(database::is_clock_steady(&service.pool).await.unwrap());
    set_clock(&service, "seen_at", "6 days").await;
    assert!(database::is_clock_steady(&service.pool).await.unwrap());
}
