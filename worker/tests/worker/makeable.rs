//! Tests of samples of makeable molecules, by a sampler and a searcher with a small stock.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    sync::Arc,
};

use catalogue::SnapshotFolder;
use contract::{
    Country, JobFailure, MakeableRoute, RouteLimits, SampleConditions, SampleId, StoredBulkQueryJob,
};
use generator::SampleBudget;
use queue::{WorkerConfig, run_worker};
use serde_json::{Value, json};
use sqlx::PgPool;
use tempfile::TempDir;
use tokio::task::JoinHandle;
use worker::{
    BulkQueryHandler, CatalogueView, DrawConditions, LoadedModel, MakeableLevels, Models, ReadyCounts,
    SearchHandler, feed_orders, load_planner,
    makeable_reservoir::{self, MakeableMolecule, MakeableRequest, MakeableSource},
    refill_makeable, reservoir,
};

use crate::{
    async_sample::{chunks, conditioned_batch, ended, failures},
    sample_conditions::{Sampler, async_sample, job, molecules, range},
    support::{MACHINE, TestDatabase, insert_block, models, offer, raise_version},
};

/// Returns what searches need, with the folders that must live as long.
async fn search_handler(pool: &PgPool) -> (SearchHandler, [TempDir; 2]) {
    let (dir, folder) = (models(), tempfile::tempdir().unwrap());
    let snapshots = SnapshotFolder::new(folder.path().join("catalogue"), MACHINE.threads.get());
    let settings = synth::PlannerSettings { cores: 2, ..synth::PlannerSettings::default() };
    let search = SearchHandler {
        pool: pool.clone(),
        planner: load_planner(&dir.path().join("uspto_retro"), settings).unwrap(),
        catalogue: CatalogueView::load(&pool.clone().into(), snapshots).await.unwrap(),
    };
    (search, [dir, folder])
}

/// A searcher of bulk queries.
struct Searcher {
    task: JoinHandle<()>,
    _folders: [TempDir; 2],
}

impl Searcher {
    async fn start(database: &TestDatabase, sampler: &Sampler) -> Self {
        let pool = database.pool.clone();
        let (search, folders) = search_handler(&pool).await;
        let (handler, config) = (BulkQueryHandler { search }, WorkerConfig::default());
        let task = tokio::spawn(async move {
            run_worker::<StoredBulkQueryJob, _>(pool, config, handler, std::future::pending()).await.unwrap();
        });
        let live = async || sampler.client.live_workers().await.unwrap().len() == 3;
        test_support::until("the searcher lives", live).await;
        Self { task, _folders: folders }
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
async fn chunks_of_makeable_molecules_have_the_routes_of_their_own_and_end_when_there_are_no_more() {
    let database = TestDatabase::with_schema().await;
    stock(&database).await;
    let sampler = Sampler::start(&database).await;
    let _searcher = Searcher::start(&database, &sampler).await;
    conditioned_batch(&database.pool, "cheap", &[1, 1, 1], &conditions()).await;

    let feeding = tokio::spawn(feed_orders(database.pool.clone()));

    ended(&database.pool).await;
    feeding.abort();
    let chunks = chunks(&database.pool).await;
    let prices: BTreeMap<_, _> =
        chunks.iter().map(|(smiles, details)| (&*smiles[0], &details["routes"]["usd_per_mol"])).collect();
    assert_eq!(prices, [("CCN", &json!([45.08])), ("CCO", &json!([92.14]))].into());
    let failures = failures(&database.pool).await;
    let [JobFailure::ConditionsTooNarrow { wanted: 1, found: 0, refused }] = &failures[..] else {
        panic!("{failures:?}")
    };
    assert!(refused.iter().any(|refusals| refusals.condition == "synthesizable"), "{refused:?}");
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

/// Returns the model called `id`.
pub fn model(id: &str) -> Arc<LoadedModel> {
    let dir = models();
    let models = Models::load(&[dir.path().to_owned()], &[], &MACHINE).unwrap();
    Arc::clone(models.choose(Some(id)).unwrap())
}

/// Version of the catalogue in the database.
async fn catalogue_version(pool: &PgPool) -> i64 {
    catalogue_tables::content(pool).await.unwrap().version
}

/// Lays molecules of the model `cheap` ready, with the steps and the price of their routes from seven blocks.
async fn lay_ready(pool: &PgPool, molecules: &[(&str, u32, Option<f64>)]) {
    let model = model("cheap");
    let source = MakeableSource {
        model_id: "cheap",
        model_version: &model.version,
        catalogue_version: catalogue_version(pool).await,
    };
    let molecules: Vec<_> = molecules
        .iter()
        .map(|&(smiles, steps, usd_per_mol)| MakeableMolecule {
            smiles: smiles.to_owned(),
            route: MakeableRoute { steps, usd_per_mol, building_blocks: 7, plausibility: 0.5 },
        })
        .collect();
    makeable_reservoir::put(pool, &source, &molecules).await.unwrap();
}

/// Number of makeable molecules of the model `cheap` that lie ready, with routes from the present catalogue.
async fn level(pool: &PgPool) -> usize {
    let version = catalogue_version(pool).await;
    makeable_reservoir::levels(pool, version).await.unwrap().of(&model("cheap"))
}

/// Conditions of a request for makeable molecules, without any other.
fn makeable(limits: RouteLimits) -> SampleConditions {
    SampleConditions { synthesizable: Some(limits), ..SampleConditions::default() }
}

/// Molecules of a sample, with the steps of their routes.
async fn steps(pool: &PgPool, id: SampleId) -> BTreeMap<String, u64> {
    let details: Value = sqlx::query_scalar("select details from samples where id = $1")
        .bind(id.to_string())
        .fetch_one(pool)
        .await
        .unwrap();
    let steps = details["routes"]["steps"].as_array().unwrap().iter().map(|steps| steps.as_u64().unwrap());
    molecules(pool, id).await.into_iter().zip(steps).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_searcher_finds_makeable_molecules_ahead_and_a_sample_takes_them_without_a_searcher() {
    let database = TestDatabase::with_schema().await;
    let pool = &database.pool;
    for (smiles, usd) in [("CCN", 1.0), ("CCO", 2.0), ("CC(=O)O", 1.0)] {
        let block = insert_block(pool, smiles).await;
        offer(pool, block, "Acme", Some(usd), Some(3.0)).await;
    }
    let block = ["CCN", "CCNC(C)=O", "CCCCCCCC", "NCCCCCCN", "CCO"].map(str::to_owned);
    let (cheap, dear) = (model("cheap"), model("dear"));
    let mut connection = pool.acquire().await.unwrap();
    // A search may run out of its time on a busy machine; the next block has the same molecules.
    for _ in 0..20 {
        reservoir::put(&mut connection, &cheap, &block).await.unwrap();
    }
    reservoir::put(&mut connection, &dear, &block).await.unwrap();
    // The searcher drops a molecule with a route from an earlier catalogue.
    lay_ready(pool, &[("O", 0, None)]).await;
    raise_version(pool).await;
    let (search, _folders) = search_handler(pool).await;
    let counts = ReadyCounts::default();
    let mut seen = counts.subscribe();

    let levels = MakeableLevels { capacity: 3, least_ready: 6 };
    let refilling = tokio::spawn(refill_makeable(search, levels, counts));
    let all = BTreeMap::from([("cheap".to_owned(), 3), ("dear".to_owned(), 0)]);
    seen.wait_for(|counts| *counts == all).await.unwrap();
    refilling.abort();
    let _ = refilling.await;
    let left = reservoir::levels(pool).await.unwrap();
    let sampler = Sampler::start(&database).await;
    let sample = sampler.sample(job(3, makeable(RouteLimits::default()))).await;

    // Blocks are used up as a whole, and those of a model with few ready molecules stay.
    let (left, untouched) = (left.of(&cheap), left.of(&dear));
    assert!(left < 100 && left % 5 == 0, "{left}");
    assert_eq!(untouched, 5);
    let expected = [("CCN", 0), ("CCNC(C)=O", 1), ("CCO", 0)];
    let expected: BTreeMap<_, _> = expected.map(|(smiles, steps)| (smiles.to_owned(), steps)).into();
    let rows: i64 =
        sqlx::query_scalar("select count(*) from makeable_molecules").fetch_one(pool).await.unwrap();
    assert_eq!((steps(pool, sample).await, rows), (expected, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn molecules_that_lie_ready_satisfy_limits_and_conditions_too() {
    let database = TestDatabase::with_schema().await;
    let pool = &database.pool;
    let sampler = Sampler::start(&database).await;
    lay_ready(
        pool,
        &[
            ("CCN", 0, Some(45.0)),
            ("CCO", 2, Some(10.0)),
            ("CO", 1, None),
            ("CN", 1, Some(50.5)),
            ("CCCC", 1, Some(50.0)),
            ("CCCCCCCC", 1, Some(10.0)),
        ],
    )
    .await;
    let limits = RouteLimits { max_steps: Some(1), max_usd_per_mol: Some(50.0), ..RouteLimits::default() };
    let conditions =
        SampleConditions { synthesizable: Some(limits), ..range("heavy_atoms", None, Some(4.0)) };

    let sample = sampler.sample(job(2, conditions.clone())).await;
    let another = sampler.outcome(job(1, conditions)).await;

    let expected = BTreeMap::from([("CCCC".to_owned(), 1), ("CCN".to_owned(), 0)]);
    assert_eq!((steps(pool, sample).await, level(pool).await), (expected, 4));
    assert_eq!(another, Err(JobFailure::NoSearcher));
}

#[tokio::test(flavor = "multi_thread")]
async fn molecules_of_an_excluded_sample_are_not_taken_again() {
    let database = TestDatabase::with_schema().await;
    let pool = &database.pool;
    let sampler = Sampler::start(&database).await;
    lay_ready(pool, &[("CCN", 0, None)]).await;
    let first = sampler.sample(job(1, makeable(RouteLimits::default()))).await;
    lay_ready(pool, &[("CCN", 0, None), ("CCO", 0, None)]).await;

    let exclude = vec![first.to_string()];
    let conditions = SampleConditions { exclude, ..makeable(RouteLimits::default()) };
    let other = sampler.sample(job(1, conditions)).await;

    assert_eq!(molecules(pool, other).await, ["CCO"]);
    assert_eq!(level(pool).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sample_drawn_in_its_own_way_or_delivered_elsewhere_takes_nothing_that_lies_ready() {
    let database = TestDatabase::with_schema().await;
    let pool = &database.pool;
    let sampler = Sampler::start(&database).await;
    lay_ready(pool, &[("CCN", 0, Some(1.0)), ("CCO", 0, Some(1.0))]).await;
    let common = || makeable(RouteLimits::default());
    let limited = |limits| makeable(limits);
    let others = [
        SampleConditions { seed: Some(7), ..common() },
        SampleConditions { temperature: Some(1.5), ..common() },
        SampleConditions { top_p: Some(0.9), ..common() },
        SampleConditions { scaffold: Some("[*]CCN".to_owned()), ..common() },
        SampleConditions { fragments: ["[*]CCN", "[*]OC"].map(str::to_owned).into(), ..common() },
        limited(RouteLimits { ships_to: Some(Country::De), ..RouteLimits::default() }),
        limited(RouteLimits { max_lead_time_days: Some(30.0), ..RouteLimits::default() }),
    ];

    for conditions in others {
        let ended = sampler.outcome(job(1, conditions.clone())).await;
        assert_eq!((ended, level(pool).await), (Err(JobFailure::NoSearcher), 2), "{conditions:?}");
    }

    let anywhere = limited(RouteLimits { ships_to: None, ..RouteLimits::default() });
    for (conditions, left) in [(common(), 1), (anywhere, 0)] {
        let sample = sampler.sample(job(1, conditions)).await;
        assert_eq!((molecules(pool, sample).await.len(), level(pool).await), (1, left));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_that_does_not_buy_from_all_vendors_takes_nothing_that_lies_ready() {
    let database = TestDatabase::with_schema().await;
    let pool = &database.pool;
    let sampler = Sampler::start(&database).await;
    stock(&database).await;
    lay_ready(pool, &[("CCN", 0, Some(1.0))]).await;
    sqlx::raw_sql("insert into vendor_preferences (vendor_id, preference) select id, 'never' from vendors")
        .execute(pool)
        .await
        .unwrap();

    let refused = sampler.outcome(job(1, makeable(RouteLimits::default()))).await;
    let untouched = level(pool).await;
    sqlx::raw_sql("delete from vendor_preferences").execute(pool).await.unwrap();
    let sample = sampler.sample(job(1, makeable(RouteLimits::default()))).await;

    assert_eq!((refused, untouched), (Err(JobFailure::NoSearcher), 1));
    assert_eq!(molecules(pool, sample).await, ["CCN"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn routes_from_another_catalogue_or_of_yesterday_are_not_handed_out_and_are_dropped() {
    let database = TestDatabase::with_schema().await;
    let pool = &database.pool;
    let sampler = Sampler::start(&database).await;
    lay_ready(pool, &[("CCN", 0, Some(1.0))]).await;
    raise_version(pool).await;
    lay_ready(pool, &[("CCO", 0, Some(1.0)), ("CO", 0, Some(1.0))]).await;
    sqlx::raw_sql(
        "update makeable_molecules set created_at = now() - interval '25 hours' where smiles = 'CO'",
    )
    .execute(pool)
    .await
    .unwrap();

    let sample = sampler.sample(job(1, makeable(RouteLimits::default()))).await;
    let another = sampler.outcome(job(1, makeable(RouteLimits::default()))).await;
    lay_ready(pool, &[("CCC", 0, Some(1.0))]).await;
    let dropped = makeable_reservoir::drop_outdated(pool, catalogue_version(pool).await).await.unwrap();

    assert_eq!(molecules(pool, sample).await, ["CCO"]);
    assert_eq!((another, dropped), (Err(JobFailure::NoSearcher), 2));
    let left: Vec<String> =
        sqlx::query_scalar("select smiles from makeable_molecules").fetch_all(pool).await.unwrap();
    assert_eq!(left, ["CCC"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn samples_at_the_same_time_never_take_one_molecule_twice_and_lose_none() {
    let database = TestDatabase::with_schema().await;
    let pool = &database.pool;
    let model = model("cheap");
    let chains: Vec<_> = (1..=400).map(|length| "C".repeat(length)).collect();
    let chains: Vec<_> = chains.iter().map(|smiles| (smiles.as_str(), 1, None)).collect();
    lay_ready(pool, &chains).await;
    let version = catalogue_version(pool).await;

    let samples: Vec<_> = (0..8)
        .map(|number| {
            let (pool, model) = (pool.clone(), Arc::clone(&model));
            // Half of them check a condition that each molecule satisfies.
            let conditions = match number % 2 {
                0 => SampleConditions::default(),
                _ => range("heavy_atoms", Some(1.0), None),
            };
            tokio::spawn(async move {
                let conditions = DrawConditions::new(&conditions, Default::default()).unwrap();
                let request = MakeableRequest {
                    size: 20,
                    limits: &RouteLimits::default(),
                    conditions: &Arc::new(conditions),
                    budget: &SampleBudget::unlimited(),
                };
                let source = MakeableSource {
                    model_id: "cheap",
                    model_version: &model.version,
                    catalogue_version: version,
                };
                makeable_reservoir::take(&pool, &source, &request).await.unwrap()
            })
        })
        .collect();
    let mut taken = Vec::new();
    for sample in samples {
        taken.extend(sample.await.unwrap());
    }

    let distinct: HashSet<_> = taken.iter().map(|molecule| &molecule.smiles).collect();
    assert_eq!((taken.len(), distinct.len(), level(pool).await), (160, 160, 240));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_lie_ready_is_drawn_and_no_molecule_comes_twice() {
    let database = TestDatabase::with_schema().await;
    let pool = &database.pool;
    stock(&database).await;
    let sampler = Sampler::start(&database).await;
    let _searcher = Searcher::start(&database, &sampler).await;
    lay_ready(pool, &[("CCN", 0, Some(45.08))]).await;
    let limits =
        RouteLimits { max_usd_per_mol: Some(100.0), max_seconds_each: 1.0, ..RouteLimits::default() };
    let conditions =
        SampleConditions { synthesizable: Some(limits), ..range("heavy_atoms", None, Some(3.0)) };

    let background = async_sample(pool, 2, conditions.clone()).await;
    let level_after_background = level(pool).await;
    let sample = sampler.sample(job(4, conditions)).await;

    // Asynchronous samples leave what is ready to interactive ones.
    assert_eq!((molecules(pool, background).await.len(), level_after_background), (2, 1));
    let smiles = molecules(pool, sample).await;
    assert_eq!(smiles[0], "CCN");
    assert_eq!(
        smiles.iter().map(String::as_str).collect::<BTreeSet<_>>(),
        ["CCN", "CCO", "CN", "COC"].into()
    );
    let details: Value = sqlx::query_scalar("select details from samples where id = $1")
        .bind(sample.to_string())
        .fetch_one(pool)
        .await
        .unwrap();
    assert_eq!(details["routes"]["building_blocks"], json!([7, 1, 1, 1]));
    assert_eq!(level(pool).await, 0);
}
