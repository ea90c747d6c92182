//! Pages of samples during concurrent inserts and deletions: for any order in which transactions begin, commit and
//! roll back, and for any page size and direction.
//!
//! A random generator picks the next step, and locks decide its time. A transaction stores its sample and stays open
//! until it receives the signal to end; readers run independently. Each round has a seed, which a failure prints;
//! `RETORT_COMPLETE` runs many more rounds.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
};

use contract::SampleId;
use rand::{RngExt, SeedableRng, rngs::StdRng};
use reqwest::Method;
use sqlx::{PgPool, postgres::PgPoolOptions};
use tokio::{
    sync::{mpsc, oneshot},
    task::{JoinHandle, JoinSet},
};

use crate::support::{Service, add_account, answer};

const SAMPLES: &str = "/generator/v1/samples";

/// Steps of a round, and the number of transactions open at the same time.
const STEPS: usize = 150;
const OPEN: usize = 6;
/// Readers per round that page to the oldest sample again and again.
const PAGING_READERS: usize = 2;

fn rounds() -> u64 {
    if std::env::var_os("RETORT_COMPLETE").is_some() { 100 } else { 4 }
}

/// Acknowledged state of the database.
#[derive(Default)]
struct AcknowledgedState {
    /// Samples whose commit was acknowledged, with their places in lists.
    stored: BTreeMap<String, i64>,
    /// Samples whose deletion has begun or ended.
    leaving: BTreeSet<String>,
    /// Set when no more samples will be stored or deleted.
    over: bool,
}

impl AcknowledgedState {
    /// Returns the samples that every reader must see.
    fn there(&self) -> BTreeSet<String> {
        self.stored.keys().filter(|id| !self.leaving.contains(*id)).cloned().collect()
    }
}

/// State shared by all tasks of a round.
#[derive(Clone)]
struct RoundState {
    service: Arc<Service>,
    token: String,
    truth: Arc<Mutex<AcknowledgedState>>,
}

/// Page of the list.
struct Page {
    ids: Vec<String>,
    has_more: bool,
}

impl RoundState {
    fn with_state<T>(&self, at: impl FnOnce(&mut AcknowledgedState) -> T) -> T {
        at(&mut self.truth.lock().unwrap())
    }

    /// Fetches a page, newest first; `None` if the sample that the query names has been deleted.
    async fn page(&self, limit: usize, query: &str) -> Option<Page> {
        let url = format!("{}{SAMPLES}?limit={limit}{query}", self.service.base);
        let answer = answer(self.service.http.get(url).bearer_auth(&self.token)).await;
        if answer.status == 400 {
            return None;
        }
        assert_eq!(answer.status, 200, "{answer:?}");
        let page = answer.json();
        let ids: Vec<String> = page["data"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| item["id"].as_str().unwrap().to_owned())
            .collect();
        let has_more = page["has_more"].as_bool().unwrap();
        assert!(
            ids.len() <= limit && (!has_more || ids.len() == limit),
            "{} of {limit}, {has_more}",
            ids.len()
        );
        Some(Page { ids, has_more })
    }

    /// Pages as long as `goes_on` returns true; returns the samples seen, in order. If the cursor's sample is
    /// deleted, it continues from the last one before it that is not.
    async fn travel(
        &self,
        rng: &mut StdRng,
        direction: Direction,
        mut seen: Vec<String>,
        goes_on: impl Fn(&Page) -> bool,
    ) -> Vec<String> {
        loop {
            let cursor = seen.last().map(|id| format!("&{}={id}", direction.parameter()));
            let Some(mut page) = self.page(rng.random_range(1..6), &cursor.unwrap_or_default()).await else {
                let gone = seen.pop().unwrap();
                assert!(self.with_state(|truth| truth.leaving.contains(&gone)), "{gone} was not deleted");
                continue;
            };
            let goes_on = goes_on(&page);
            if direction == Direction::Newer {
                page.ids.reverse();
            }
            seen.append(&mut page.ids);
            if !goes_on {
                return seen;
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    Older,
    Newer,
}

impl Direction {
    const fn parameter(self) -> &'static str {
        match self {
            Self::Older => "next-page",
            Self::Newer => "prev-page",
        }
    }
}

/// Asserts that no sample is repeated, and that all known ones are in the order of their places.
fn is_in_order(stage: &RoundState, seen: &[String], direction: Direction) {
    assert_eq!(BTreeSet::from_iter(seen).len(), seen.len(), "one twice: {seen:?}");
    let positions: Vec<i64> =
        stage.with_state(|truth| seen.iter().filter_map(|id| truth.stored.get(id).copied()).collect());
    assert!(
        positions.is_sorted_by(|a, b| (a < b) == (direction == Direction::Newer)),
        "{seen:?} at {positions:?}"
    );
}

/// Asserts that a reader who pages from the newest sample to the oldest sees every sample stored before, and none
/// twice.
async fn walk(stage: RoundState, mut rng: StdRng) {
    while stage.with_state(|truth| !truth.over) {
        let there = stage.with_state(|truth| truth.there());

        let seen = stage.travel(&mut rng, Direction::Older, Vec::new(), |page| page.has_more).await;

        is_in_order(&stage, &seen, Direction::Older);
        let gone = stage.with_state(|truth| truth.leaving.clone());
        let missed: Vec<_> = there.iter().filter(|id| !gone.contains(*id) && !seen.contains(id)).collect();
        assert!(missed.is_empty(), "{missed:?} were there and not seen in {seen:?}");
    }
}

/// Asserts that a reader who polls for samples after its newest one sees every sample, and none twice.
async fn follow(stage: RoundState, mut rng: StdRng, first: String) {
    let over = Mutex::new(false);
    let goes_on = |page: &Page| {
        // A sample stored before a request is in its answer or in a later page.
        let was_over = std::mem::replace(&mut *over.lock().unwrap(), stage.with_state(|truth| truth.over));
        !was_over || page.has_more
    };

    let seen = stage.travel(&mut rng, Direction::Newer, vec![first], goes_on).await;

    is_in_order(&stage, &seen, Direction::Newer);
    let there = stage.with_state(|truth| truth.there());
    let missed: Vec<_> = there.iter().filter(|id| !seen.contains(id)).collect();
    assert!(missed.is_empty(), "{missed:?} were stored and not seen in {seen:?}");
}

/// End of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Commit,
    GiveUp,
}

/// Runs a transaction that stores a sample of `account`, reports it, and stays open until it receives its end.
async fn store(
    stage: RoundState,
    pool: PgPool,
    account: String,
    number: usize,
    stored: mpsc::UnboundedSender<usize>,
    end: oneshot::Receiver<End>,
) {
    let id = SampleId::generate().to_string();
    let mut transaction = pool.begin().await.unwrap();
    let position: i64 = sqlx::query_scalar(
        "insert into samples (id, account_id, model_id, num_smiles, smiles, seed) values ($1, $2, 'm', 1, '{C}', 0)
         returning place",
    )
    .bind(&id)
    .bind(account)
    .fetch_one(&mut *transaction)
    .await
    .unwrap();
    stored.send(number).unwrap();
    if end.await.unwrap() == End::Commit {
        transaction.commit().await.unwrap();
        stage.with_state(|truth| truth.stored.insert(id, position));
    }
}

/// Deletes a sample as retention does.
async fn delete(stage: &RoundState, rng: &mut StdRng) {
    let there: Vec<String> = stage.with_state(|truth| truth.there().into_iter().collect());
    if there.is_empty() {
        return;
    }
    let id = there[rng.random_range(0..there.len())].clone();
    stage.with_state(|truth| truth.leaving.insert(id.clone()));
    sqlx::query("delete from samples where id = $1").bind(&id).execute(&stage.service.pool).await.unwrap();
}

/// Starts and ends transactions in random order.
async fn run_random_transactions(stage: &RoundState, rng: &mut StdRng, accounts: &[String]) {
    let options = (*stage.service.pool.connect_options()).clone();
    let pool = PgPoolOptions::new().max_connections(OPEN as u32).connect_with(options).await.unwrap();
    let (sender, mut stored) = mpsc::unbounded_channel();
    let mut open: BTreeMap<usize, (oneshot::Sender<End>, JoinHandle<()>)> = BTreeMap::new();
    let mut inserted: Vec<usize> = Vec::new();
    for number in 0..STEPS {
        while let Ok(number) = stored.try_recv() {
            inserted.push(number);
        }
        if open.len() < OPEN && rng.random_bool(0.5) {
            let (end, written) = oneshot::channel();
            let account = accounts[rng.random_range(0..accounts.len())].clone();
            let task =
                tokio::spawn(store(stage.clone(), pool.clone(), account, number, sender.clone(), written));
            open.insert(number, (end, task));
        } else if rng.random_bool(0.15) {
            delete(stage, rng).await;
        } else if !open.is_empty() {
            // A reader must not wait for ever for a stored sample, so each step ends one transaction.
            if inserted.is_empty() {
                inserted.push(stored.recv().await.unwrap());
            }
            let number = inserted.swap_remove(rng.random_range(0..inserted.len()));
            let (end, task) = open.remove(&number).unwrap();
            end.send(if rng.random_bool(0.85) { End::Commit } else { End::GiveUp }).unwrap();
            task.await.unwrap();
        }
    }
    let (ends, tasks): (Vec<_>, Vec<_>) = open.into_values().unzip();
    ends.into_iter().for_each(|end| end.send(End::Commit).unwrap());
    for task in tasks {
        task.await.unwrap();
    }
}

/// Asserts, without concurrent changes, that every page in either direction is a section of the list and has the
/// right `has_more`.
async fn is_paged(stage: &RoundState, rng: &mut StdRng, first: String) {
    let there = stage.with_state(|truth| truth.there());
    let mut list: Vec<(i64, String)> =
        stage.with_state(|truth| there.iter().map(|id| (truth.stored[id], id.clone())).collect());
    list.sort_unstable_by(|a, b| b.cmp(a));
    let list: Vec<String> = list.into_iter().map(|(_, id)| id).chain([first]).collect();
    for _ in 0..20 {
        let (at, limit) = (rng.random_range(0..list.len()), rng.random_range(1..8));
        let older = &list[at + 1..];
        let newer = &list[..at];
        for (parameter, expected, more) in [
            ("next-page", &older[..older.len().min(limit)], older.len() > limit),
            ("prev-page", &newer[newer.len().saturating_sub(limit)..], newer.len() > limit),
        ] {
            let page = stage.page(limit, &format!("&{parameter}={}", list[at])).await.unwrap();
            assert_eq!(
                (&page.ids[..], page.has_more),
                (expected, more),
                "{parameter} of {at}, {limit} of {list:?}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_read_during_changes_show_every_sample_once() {
    let service = Service::start_without_workers(&[("RATE_SAMPLES_READ_PER_MINUTE", "0")]).await;
    let mut members = vec![service.account.clone()];
    for email in ["ada@example.org", "max@example.org"] {
        members.push(add_account(&service.pool, email).await);
    }
    sqlx::raw_sql("insert into organisations (id, name) values ('org_lab', 'lab'); update accounts set organisation_id = 'org_lab'")
        .execute(&service.pool)
        .await
        .unwrap();
    let stranger = add_account(&service.pool, "stranger@example.org").await;
    let foreign = SampleId::generate().to_string();
    service.insert_sample(&stranger, &foreign).await;
    let token = service.token(crate::support::claims(&service.account)).await;
    let service = Arc::new(service);
    for seed in 0..rounds() {
        eprintln!("seed {seed}");
        sqlx::query("delete from samples where account_id <> $1")
            .bind(&stranger)
            .execute(&service.pool)
            .await
            .unwrap();
        let stage = RoundState { service: service.clone(), token: token.clone(), truth: Arc::default() };
        let mut rng = StdRng::seed_from_u64(seed);
        let first = SampleId::generate().to_string();
        service.insert_sample(&members[1], &first).await;

        let mut readers = JoinSet::new();
        for number in 0..PAGING_READERS {
            readers.spawn(walk(stage.clone(), StdRng::seed_from_u64(seed * 100 + number as u64)));
        }
        readers.spawn(follow(stage.clone(), StdRng::seed_from_u64(seed * 100 + 99), first.clone()));
        run_random_transactions(&stage, &mut rng, &members).await;
        stage.with_state(|truth| truth.over = true);
        while let Some(read) = readers.join_next().await {
            read.unwrap();
        }

        let theirs = stage.page(100, "").await.unwrap().ids;
        assert!(!theirs.contains(&foreign), "nobody sees a stranger's sample");
        is_paged(&stage, &mut rng, first).await;
    }
    let request = service.request(Method::GET, &format!("{SAMPLES}?prev-page={foreign}")).await;
    assert_eq!(answer(request).await.status, 400, "nor starts from one");
}
