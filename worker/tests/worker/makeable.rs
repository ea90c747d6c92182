//! Tests of samples of makeable molecules, by a sampler and a searcher with a small stock.

use std::collections::BTreeSet;

use catalogue::SnapshotFolder;
use contract::{JobFailure, RouteLimits, SampleConditions, StoredBulkQueryJob};
use queue::{WorkerConfig, run_worker};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinHandle;
use worker::{BulkQueryHandler, CatalogueView, SearchHandler, load_planner};

use crate::{
    sample_conditions::{Sampler, async_sample, job, molecules, range},
    support::{MACHINE, TestDatabase, insert_block, models, offer},
};

/// A searcher of bulk queries.
struct Searcher {
    task: JoinHandle<()>,
    _folders: [TempDir; 2],
}

impl Searcher {
    async fn start(database: &TestDatabase, sampler: &Sampler) -> Self {
        let (dir, folder) = (models(), tempfile::tempdir().unwrap());
        let snapshots = SnapshotFolder::new(folder.path().join("catalogue"), MACHINE.threads.get());
        let settings = synth::PlannerSettings { cores: 2, ..synth::PlannerSettings::default() };
        let pool = database.pool.clone();
        let handler = BulkQueryHandler {
            search: SearchHandler {
                pool: pool.clone(),
                planner: load_planner(&dir.path().join("uspto_retro"), settings).unwrap(),
                catalogue: CatalogueView::load(&pool.clone().into(), snapshots).await.unwrap(),
            },
        };
        let config = WorkerConfig::default();
        let task = tokio::spawn(async move {
            run_worker::<StoredBulkQueryJob, _>(pool, config, handler, std::future::pending()).await.unwrap();
        });
        let live = async || sampler.client.live_workers().await.unwrap().len() == 3;
        test_support::until("the searcher lives", live).await;
        Self { task, _folders: [dir, folder] }
    }
}

impl Drop for Searcher {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Molecules of at most three atoms with a route within the limits, as the models here write none that a step makes.
fn conditions() -> SampleConditions {
    let limits = RouteLimits {
        max_usd_per_mol: Some(100.0),
        max_lead_time_days: Some(14.0),
        max_seconds_each: 1.0,
        ..RouteLimits::default()
    };
    SampleConditions { synthesizable: Some(limits), ..range("heavy_atoms", None, Some(3.0)) }
}

/// Stocks two blocks within the limits, one that costs too much, two that come too late, and one of unknown
/// price.
async fn stock(database: &TestDatabase) {
    for (smiles, usd, days) in [
        ("CCN", Some(1.0), Some(14.0)),
        ("CCO", Some(2.0), Some(3.0)),
        ("CO", Some(4.0), Some(3.0)),
        ("CN", Some(1.0), Some(15.0)),
        ("CCC", None, Some(3.0)),
        ("COC", Some(1.0), Some(15.5)),
    ] {
        let block = insert_block(&database.pool, smiles).await;
        offer(&database.pool, block, "Acme", usd, days).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_molecule_has_a_route_within_the_limits() {
    let database = TestDatabase::with_schema().await;
    stock(&database).await;
    let sampler = Sampler::start(&database).await;
    let _searcher = Searcher::start(&database, &sampler).await;

    let awaited = sampler.sample(job(2, conditions())).await;
    let background = async_sample(&database.pool, 2, conditions()).await;

    let smiles = molecules(&database.pool, awaited).await;
    // Methanol costs 128 USD for a mole.
    assert_eq!(smiles.iter().map(String::as_str).collect::<BTreeSet<_>>(), ["CCN", "CCO"].into());
    assert_eq!(molecules(&database.pool, background).await, smiles);
    let details: Vec<Value> =
        sqlx::query_scalar("select details from samples").fetch_all(&database.pool).await.unwrap();
    assert_eq!((details.len(), &details[0]), (2, &details[1]));
    let routes = &details[0]["routes"];
    assert_eq!((&routes["steps"], &routes["building_blocks"]), (&json!([0, 0]), &json!([1, 1])));
    assert_eq!(routes["plausibility"], json!([1.0, 1.0]));
    let prices = if smiles[0] == "CCN" { json!([45.08, 92.14]) } else { json!([92.14, 45.08]) };
    assert_eq!(routes["usd_per_mol"], prices);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sample_with_too_few_routes_says_how_many_there_were() {
    let database = TestDatabase::with_schema().await;
    stock(&database).await;
    let sampler = Sampler::start(&database).await;
    let _searcher = Searcher::start(&database, &sampler).await;

    let ended = sampler.outcome(job(3, conditions())).await;

    let Err(JobFailure::ConditionsTooNarrow { wanted: 3, found: 2, refused }) = ended else {
        panic!("{ended:?}")
    };
    let names: BTreeSet<_> = refused.iter().map(|refusals| refusals.condition.as_str()).collect();
    assert_eq!(names, ["properties.heavy_atoms", "synthesizable"].into());
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_searcher_a_sample_fails_at_once() {
    let database = TestDatabase::with_schema().await;
    let sampler = Sampler::start(&database).await;

    let ended = sampler.outcome(job(1, conditions())).await;

    assert_eq!(ended, Err(JobFailure::NoSearcher));
}
