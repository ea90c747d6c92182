//! Measures fetching the offers of an answer: `annotations [BLOCKS [OFFERS]]` fetches, as a search does, those of the
//! first BLOCKS building blocks (100) that have OFFERS (50) or more in the catalogue of DATABASE_URL.

#![allow(clippy::print_stdout, reason = "an example shows what it finds")]

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use catalogue_tables::{VendorRules, offers_for};
use contract::Country;
use sqlx::postgres::PgPoolOptions;

/// Number of repetitions.
const ROUNDS: usize = 50;

#[tokio::main]
async fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default: i64| arguments.next().map_or(Ok(default), |number| number.parse());
    let (blocks, offers) = (number(100)?, number(50)?);
    let url = std::env::var("DATABASE_URL").context("DATABASE_URL")?;
    let pool = PgPoolOptions::new().max_connections(1).connect(&url).await?;
    // Not checked at compile time: statements of examples are not.
    let wanted: Vec<i32> = sqlx::query_scalar(
        "select building_block_id from offers group by 1 having count(*) >= $1 order by 1 limit $2",
    )
    .bind(offers)
    .bind(blocks)
    .fetch_all(&pool)
    .await?;
    ensure!(!wanted.is_empty(), "no building block has {offers} offers");

    let mut times = Vec::new();
    let mut found = 0;
    for _ in 0..ROUNDS {
        let began = Instant::now();
        let offers = offers_for(&pool, &wanted, Some(Country::Us), &VendorRules::default()).await?;
        times.push(began.elapsed());
        found = offers.annotations.len();
    }
    let first = times[0];
    times.sort();
    let all: i64 = sqlx::query_scalar("select offers from catalogue_version").fetch_one(&pool).await?;
    let millis = |time: Duration| time.as_secs_f64() * 1e3;
    println!(
        "{found} offers of {} building blocks out of {all}: {:.1} ms (median of {ROUNDS}), {:.1} ms at worst, {:.1} ms the first time",
        wanted.len(),
        millis(times[ROUNDS / 2]),
        millis(times[ROUNDS - 1]),
        millis(first)
    );
    Ok(())
}
