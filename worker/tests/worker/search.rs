//! Tests of search jobs on a toy chemistry: content and source of the answer.

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use crate::support::{MACHINE, TestDatabase, insert_block, models, offer, raise_version};
use catalogue::{Builder, Masks, Snapshot, SnapshotFolder, StockView};
use catalogue_tables::{VendorRules, offers_for};
use clap::Parser;
use contract::{
    AtomPair, BulkQuery, BulkQueryJob, CatalogueCriterion, Country, JobFailure, OwnBlock, ProgressReporting,
    SampleId, StepCheck, StoredBulkQueryJob, StoredTreeSearchJob, TreeSearchJob, TreeSearchRequest,
    TreeSearchResult,
};
use serde::Serialize;
use serde_json::{Value, json};
use synth::Budget;
use tempfile::TempDir;
use worker::{CatalogueView, SearchHandler, WorkerSettings, load_planner, replay, search};

/// A folder for snapshots.
struct SharedFolder(TempDir);

impl SharedFolder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn folder(&self) -> SnapshotFolder {
        SnapshotFolder::new(self.0.path().join("catalogue"), MACHINE.threads.get())
    }
}

/// N-ethylacetamide.
const TARGET: &str = "CCNC(C)=O";

/// Adds the two precursors of the target and offers for them to the stock.
async fn add_stock(database: &TestDatabase) -> (i32, i32) {
    let acid = insert_block(&database.pool, "CC(=O)O").await;
    let amine = insert_block(&database.pool, "CCN").await;
    offer(&database.pool, acid, "Zenith", Some(2.0), Some(3.0)).await;
    offer(&database.pool, acid, "Acme", Some(2.0), Some(4.0)).await;
    offer(&database.pool, acid, "Cheapest", Some(1.0), None).await;
    offer(&database.pool, amine, "Acme", None, Some(4.0)).await;
    (acid, amine)
}

async fn answer(
    database: &TestDatabase,
    request: &TreeSearchRequest,
) -> Result<TreeSearchResult, JobFailure> {
    let (dir, shared) = (models(), SharedFolder::new());
    let search = SearchHandler {
        pool: database.pool.clone(),
        planner: load_planner(&dir.path().join("uspto_retro"), synth::PlannerSettings::default()).unwrap(),
        catalogue: CatalogueView::load(&database.pool.clone().into(), shared.folder()).await.unwrap(),
    };
    let budget = Budget::until(Instant::now() + Duration::from_secs(20), Arc::default());
    let job = TreeSearchJob {
        request: request.clone(),
        account_id: None,
        engine: None,
        reporting: ProgressReporting::Nothing,
        compact: false,
        deadline: chrono::DateTime::UNIX_EPOCH,
    };
    search.answer(&job, budget, Instant::now()).await.unwrap().map(contract::CompactResult::expanded)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_route_is_answered_with_the_offers_that_ship() {
    let database = TestDatabase::with_schema().await;
    let (acid, amine) = add_stock(&database).await;

    let answer = answer(&database, &TreeSearchRequest::new("O=C(C)NCC")).await.unwrap();

    assert_eq!(answer.search_smiles, TARGET);
    assert_eq!(answer.route_hierarchy.keys().collect::<Vec<_>>(), ["1"]);
    let graph = answer.route_hierarchy["1"].values().next().unwrap()[0][0].clone();
    let nodes: Vec<_> =
        graph.nodes.iter().map(|node| (node.data.smiles.as_str(), node.data.building_block_idx)).collect();
    assert_eq!(nodes, [(TARGET, None), ("CC(=O)O", Some(acid)), ("CCN", Some(amine))]);
    assert_eq!(graph.edges.len(), 2);
    let offers: Vec<_> = answer
        .pricing_annotations
        .iter()
        .map(|offer| (offer.major_component_id, offer.vendor_name.as_str(), offer.normalised_usd))
        .collect();
    // An offer without a stated lead time still counts.
    assert_eq!(
        offers,
        [
            (acid, "Cheapest", Some(1.0)),
            (acid, "Acme", Some(2.0)),
            (acid, "Zenith", Some(2.0)),
            (amine, "Acme", None)
        ]
    );
    assert_eq!(
        answer.reagent_results.reaction_to_edges.keys().collect::<Vec<_>>(),
        ["CC(=O)O.CCN>>CCNC(C)=O"]
    );
    assert_eq!((answer.metadata.total_bblocks, answer.metadata.validated_routes), (2, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_callers_blocks_are_used_and_named_apart() {
    let database = TestDatabase::with_schema().await;
    let acid = insert_block(&database.pool, "CC(=O)O").await;
    offer(&database.pool, acid, "Acme", Some(2.0), Some(4.0)).await;
    let own = |smiles: &str| OwnBlock { smiles: smiles.to_owned(), usd_per_gram: Some(3.0) };
    let request = TreeSearchRequest {
        building_blocks_own: vec![own("CCCN"), own("CCN")],
        building_blocks_required: vec!["CCN".to_owned()],
        bonds_to_break: vec![AtomPair(2, 1)],
        ..TreeSearchRequest::new("C[C:1](=O)[NH:2]CC")
    };

    let answer = answer(&database, &request).await.unwrap();

    assert_eq!(answer.search_smiles, TARGET);
    let graph = answer.route_hierarchy["1"].values().next().unwrap()[0][0].clone();
    let blocks: Vec<_> = graph.nodes.iter().map(|node| node.data.building_block_idx).collect();
    assert_eq!(blocks, [None, Some(acid), Some(-2)]);
    let offers: Vec<_> = answer
        .pricing_annotations
        .iter()
        .map(|offer| (offer.major_component_id, offer.vendor_name.as_str(), offer.normalised_usd))
        .collect();
    assert_eq!(offers, [(acid, "Acme", Some(2.0)), (-2, "Own", Some(3.0))]);
    let list = graph.graph.unwrap().shopping_list.unwrap();
    assert_eq!(
        list.without_price.iter().map(|block| &block.vendors[..]).next_back(),
        Some(&["Own".to_owned()][..])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_constraint_that_forbids_all_routes_is_named_in_the_answer() {
    let database = TestDatabase::with_schema().await;
    add_stock(&database).await;
    let request = TreeSearchRequest {
        bonds_to_keep: vec![AtomPair(2, 1)],
        templates_never: vec!["unknown".to_owned()],
        ..TreeSearchRequest::new("C[C:1](=O)[NH:2]CC")
    };

    let answer = answer(&database, &request).await.unwrap();

    let report = answer.metadata.search.unwrap().constraints;
    let reports: Vec<_> = report
        .iter()
        .map(|it| {
            (it.constraint.as_str(), it.index, it.refused > 0, it.reason.as_deref().unwrap_or_default())
        })
        .collect();
    assert_eq!(
        reports,
        [
            ("bonds_to_keep", Some(0), true, "without this one there is a route"),
            ("templates_never", Some(0), false, "no route was found without this one either"),
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn offers_are_those_that_ship_or_all_where_no_country_is_named() {
    let database = TestDatabase::with_schema().await;
    let (acid, _) = add_stock(&database).await;
    // No vendor says anything about Germany. "Acme" ships neither to the United States nor to China.
    let refuses =
        "update offers set refuses = 65 where vendor_id = (select id from vendors where name = 'Acme')";
    sqlx::query(refuses).execute(&database.pool).await.unwrap();
    let vendors = async |ships_to| {
        let terms = VendorRules::default();
        let offers = offers_for(&database.pool, &[acid], ships_to, &terms).await.unwrap();
        offers.annotations.into_iter().map(|offer| offer.vendor_name).collect::<Vec<_>>()
    };

    assert_eq!(vendors(Some(Country::Us)).await, ["Cheapest", "Zenith"]);
    assert_eq!(vendors(Some(Country::De)).await, ["Cheapest", "Acme", "Zenith"]);
    assert_eq!(vendors(Some(Country::Cn)).await, ["Cheapest", "Zenith"]);
    assert_eq!(vendors(None).await, ["Cheapest", "Acme", "Zenith"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_price_mask_considers_every_offer_that_may_ship() {
    let database = TestDatabase::with_schema().await;
    add_stock(&database).await;
    let masked = |usd, ships_to| TreeSearchRequest {
        mask_usd_pricing_gte: Some(usd),
        ships_to,
        max_seconds: 2.0,
        ..TreeSearchRequest::new(TARGET)
    };
    let solved = async |request: TreeSearchRequest| {
        !answer(&database, &request).await.unwrap().route_hierarchy.is_empty()
    };

    // For the cheapest offer, neither a lead time nor a refusal is stated for the United States.
    assert!(solved(masked(1.5, Some(Country::Us))).await);
    assert!(!solved(masked(1.0, Some(Country::Us))).await);
    let refuses =
        "update offers set refuses = 1 where vendor_id = (select id from vendors where name = 'Cheapest')";
    sqlx::query(refuses).execute(&database.pool).await.unwrap();
    raise_version(&database.pool).await;
    assert!(!solved(masked(1.5, Some(Country::Us))).await);
    assert!(solved(masked(1.5, None)).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_is_seen_without_a_restart() {
    let (database, shared) = (TestDatabase::with_schema().await, SharedFolder::new());
    let view = CatalogueView::load(&database.pool.clone().into(), shared.folder()).await.unwrap();
    assert!(view.now().is_empty());
    // The listener may not be connected yet; in that case polling finds the change.
    insert_block(&database.pool, "CCN").await;
    raise_version(&database.pool).await;
    sqlx::query("notify catalogue_changed").execute(&database.pool).await.unwrap();

    let waited = Instant::now();
    while view.now().is_empty() && waited.elapsed() < Duration::from_secs(20) {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(view.now().len(), 1);

    insert_block(&database.pool, "CCO").await;
    raise_version(&database.pool).await;
    sqlx::query("notify catalogue_changed").execute(&database.pool).await.unwrap();
    while view.now().len() < 2 && waited.elapsed() < Duration::from_secs(40) {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(view.now().len(), 2);
    drop(view);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_without_a_notification_is_noticed() {
    let (database, shared) = (TestDatabase::with_schema().await, SharedFolder::new());
    let view = CatalogueView::load_with_poll_interval(
        &database.pool.clone().into(),
        shared.folder(),
        Duration::from_millis(50),
    )
    .await
    .unwrap();

    // The first change may be found when the listener connects, the second only by polling.
    let waited = Instant::now();
    for (smiles, blocks) in [("CCN", 1), ("CCO", 2)] {
        insert_block(&database.pool, smiles).await;
        raise_version(&database.pool).await;
        while view.now().len() < blocks && waited.elapsed() < Duration::from_secs(40) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert_eq!(view.now().len(), blocks);
    }
    drop(view);
}

#[test]
fn a_target_that_is_no_single_molecule_is_refused_with_the_reason() {
    let dir = models();
    let planner = load_planner(&dir.path().join("uspto_retro"), synth::PlannerSettings::default()).unwrap();
    let budget = Budget::until(Instant::now(), Arc::default());
    let empty = Builder::new(1).into_bytes(1).unwrap();
    let empty = StockView::new(Arc::new(Snapshot::from_bytes(&empty, 1).unwrap()), Masks::default());

    for target in ["CC(", "CC.CN", "C(C)(C)(C)(C)C", ""] {
        let refused = search(&planner, &empty, &TreeSearchRequest::new(target), &budget);
        assert!(matches!(refused, Err(JobFailure::BadTarget { .. })), "{target}: {refused:?}");
    }
}

/// Replays the job from a file, as an operator does.
async fn replayed(dir: &Path, database: &TestDatabase, job: &impl Serialize) -> anyhow::Result<Value> {
    let url = database.url();
    let settings = WorkerSettings::parse_from([
        "retort-worker",
        "--database-url",
        &url,
        "--models-dir",
        dir.to_str().unwrap(),
        "--catalogue-folder",
        dir.join("catalogue").to_str().unwrap(),
        "replay",
        "unused.json",
    ]);
    replay(&settings, &serde_json::to_string(job).unwrap()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stored_job_is_replayed_whatever_its_deadline() {
    let (dir, database) = (models(), TestDatabase::with_schema().await);
    add_stock(&database).await;
    let job = StoredTreeSearchJob::V1(TreeSearchJob {
        request: TreeSearchRequest::new(TARGET),
        account_id: None,
        engine: None,
        reporting: ProgressReporting::Nothing,
        compact: false,
        deadline: chrono::DateTime::UNIX_EPOCH,
    });

    let outcome = replayed(dir.path(), &database, &job).await.unwrap();

    assert_eq!(outcome["Ok"]["search_smiles"], TARGET);
    assert_eq!(outcome["Ok"]["metadata"]["validated_routes"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stored_bulk_query_is_replayed_and_its_answer_unpacked() {
    let (dir, database) = (models(), TestDatabase::with_schema().await);
    add_stock(&database).await;
    let replayed = async |smiles: &[&str], query| {
        let job = StoredBulkQueryJob::V1(BulkQueryJob {
            account_id: "acc_1".to_owned(),
            engine: Some("uspto_retro".to_owned()),
            smiles: smiles.iter().map(|&smiles| smiles.to_owned()).collect(),
            deadline_seconds: 30.0,
            query,
        });
        replayed(dir.path(), &database, &job).await.unwrap()["Ok"].take()
    };
    let sought = CatalogueCriterion::Structure { smiles: "CCN".to_owned() };

    let expanded = replayed(&[TARGET], BulkQuery::Expansions { limit: 5, check: StepCheck::Rules }).await;
    let sold = replayed(
        &["CCN", "CCC"],
        BulkQuery::BuildingBlocks { ships_to: None, max_offers: 3, inchikey: false },
    )
    .await;
    let solved = replayed(&[TARGET], BulkQuery::Synthesizability { max_seconds: 1.0 }).await;
    let found = replayed(&[], BulkQuery::Catalogue { sought, limit: 5, ships_to: None, max_offers: 3 }).await;

    assert_eq!(expanded["items"][0]["precursors"][0]["template_id"], "amide", "{expanded}");
    let in_stock: Vec<_> = [0, 1].iter().map(|&item| &sold["items"][item]["in_stock"]).collect();
    assert_eq!(in_stock, [true, false], "{sold}");
    assert_eq!(solved["items"][0]["solved"], true, "{solved}");
    assert_eq!(found["items"][0]["smiles"], "CCN", "{found}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_does_not_say_what_it_asks_for_is_not_replayed() {
    let (dir, database) = (models(), TestDatabase::with_schema().await);
    let plan = json!({"version": "1", "plan_id": "pln_1", "engine": "uspto_retro", "expected_seconds": 1.0});
    let order = json!({"version": "1", "sample_id": SampleId::generate(), "model_id": "cheap", "size": 3});

    for (job, word) in [(plan, "retort plan"), (order, "another sample"), (json!({}), "no stored job")] {
        let refused = replayed(dir.path(), &database, &job).await.unwrap_err().to_string();
        assert!(refused.contains(word), "{refused}");
    }
}
