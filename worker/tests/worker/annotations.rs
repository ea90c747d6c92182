//! Tests of annotations of ready molecules: idle samplers compute them, and conditioned samples read them.

use std::{collections::HashSet, sync::Arc};

use chem::{AlertSet, Molecule, Property};
use contract::SampleConditions;
use sqlx::PgPool;
use worker::{
    Annotation, ModelRegistry, ReadyCounts, RunningJobs, refill,
    reservoir::{self, BLOCK_SIZE},
};

use crate::{
    makeable::model,
    reservoir_filter::{chains, lease, put},
    sample_conditions::range,
    support::{MACHINE, TestDatabase, models},
};

/// Conditions that annotations answer, and that half of the chains satisfy.
fn polar() -> SampleConditions {
    SampleConditions { alerts: vec!["pains".to_owned()], ..range("clogp", None, Some(0.0)) }
}

fn is_polar(smiles: &str) -> bool {
    let molecule = smiles.parse().unwrap();
    Property::LogP.of(&molecule) <= 0.0 && AlertSet::Pains.first_match(&molecule).is_none()
}

async fn annotated(pool: &PgPool) -> i64 {
    sqlx::query_scalar("select count(*) from reservoir_blocks where annotation_version = 1")
        .fetch_one(pool)
        .await
        .unwrap()
}

fn annotations(molecules: &[String]) -> Vec<Annotation> {
    molecules.iter().map(|smiles| Annotation::of(&smiles.parse::<Molecule>().unwrap())).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_sampler_annotates_ready_molecules_and_a_sample_has_the_same_with_and_without() {
    let database = TestDatabase::with_schema().await;
    let pool = &database.pool;
    let model = model("cheap");
    let all = chains(4 * BLOCK_SIZE);
    put(pool, &all).await;
    let (plain, plain_lease) = lease(pool, &model, &polar(), 4 * BLOCK_SIZE, "plain").await;
    reservoir::release_lease(pool, &plain_lease).await.unwrap();
    let before = annotated(pool).await;

    let dir = models();
    let registry = Arc::new(
        ModelRegistry::load(vec![dir.path().to_owned()], vec!["cheap".to_owned()], MACHINE).unwrap(),
    );
    let activity = RunningJobs::default();
    let job = activity.begin();
    let (ready, size) = (ReadyCounts::default(), 4 * BLOCK_SIZE);
    let filling = tokio::spawn(refill(pool.clone(), registry, size, activity.clone(), ready));
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    let while_busy = annotated(pool).await;
    drop(job);
    test_support::until("all blocks are annotated", async || annotated(pool).await == 4).await;
    filling.abort();
    let _ = filling.await;

    let (found, _lease) = lease(pool, &model, &polar(), 4 * BLOCK_SIZE, "annotated").await;
    assert_eq!((before, while_busy), (0, 0));
    assert_eq!(found.iter().collect::<HashSet<_>>(), plain.iter().collect());
    // Half of what lies ready.
    let expected: HashSet<_> = all[..2 * BLOCK_SIZE].iter().filter(|smiles| is_polar(smiles)).collect();
    assert_eq!(found.iter().collect::<HashSet<_>>(), expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn annotated_blocks_come_first_and_those_of_another_version_are_not_read() {
    let database = TestDatabase::with_schema().await;
    let pool = &database.pool;
    let model = model("cheap");
    let all = chains(4 * BLOCK_SIZE);
    put(pool, &all).await;
    let blocks: Vec<i64> =
        sqlx::query_scalar("select id from reservoir_blocks order by id").fetch_all(pool).await.unwrap();
    let (first, last) = (&all[..BLOCK_SIZE], &all[3 * BLOCK_SIZE..]);
    // Annotations of another molecule, which no check may see.
    let wrong = vec![Annotation::of(&"CCCCCCCC".parse().unwrap()); BLOCK_SIZE];
    reservoir::annotate(pool, blocks[0], &wrong).await.unwrap();
    sqlx::query("update reservoir_blocks set annotation_version = 0").execute(pool).await.unwrap();
    reservoir::annotate(pool, blocks[3], &annotations(last)).await.unwrap();

    let (found, _lease) = lease(pool, &model, &polar(), 250, "one").await;

    let polar_of = |molecules: &[String]| molecules.iter().filter(|smiles| is_polar(smiles)).count();
    let (of_last, of_first) = (polar_of(last), polar_of(first));
    assert!((1..250).contains(&of_last) && of_last + of_first >= 250, "{of_last} {of_first}");
    assert!(found.iter().all(|smiles| is_polar(smiles)), "{found:?}");
    assert_eq!(found.iter().filter(|smiles| last.contains(smiles)).count(), of_last);
    assert_eq!(found.iter().filter(|smiles| first.contains(smiles)).count(), 250 - of_last);
}

#[tokio::test(flavor = "multi_thread")]
async fn some_of_the_newest_blocks_are_annotated_up_to_a_number_of_molecules() {
    let database = TestDatabase::with_schema().await;
    let pool = &database.pool;
    let model = model("cheap");
    put(pool, &chains(3 * BLOCK_SIZE)).await;

    let mut annotated = Vec::new();
    while let Some((id, molecules)) =
        reservoir::block_to_annotate(pool, &model, 2 * BLOCK_SIZE).await.unwrap()
    {
        reservoir::annotate(pool, id, &annotations(&molecules)).await.unwrap();
        annotated.push(id);
    }

    assert_eq!(annotated.iter().collect::<HashSet<_>>().len(), 2);
    assert_eq!(reservoir::levels(pool).await.unwrap().of(&model), 3 * BLOCK_SIZE);
}

/// If this fails, what was stored before no longer says what computing says: raise the version.
#[tokio::test(flavor = "multi_thread")]
async fn the_version_is_that_of_these_values() {
    let database = TestDatabase::with_schema().await;
    let pool = &database.pool;
    let expected = [
        (
            "CC(=O)Nc1ccc(O)cc1",
            "151.1650 1.3506 49.3300 2.0000 2.0000 1.0000 1.0000 0.1250 0.5950 1.4073 11.0000 0.0000 brenk chembl",
        ),
        (
            "CCN(CC)CCOC(=O)c1ccc(N)cc1",
            "236.3150 1.7674 55.5600 1.0000 4.0000 6.0000 1.0000 0.4615 0.6038 1.8627 17.0000 0.0000 brenk chembl",
        ),
        (
            "OC(=O)CCCCC1SCC2NC(=O)NC12",
            "244.3160 0.7968 78.4300 3.0000 3.0000 5.0000 2.0000 0.8000 0.4935 3.6444 16.0000 0.0000 brenk chembl",
        ),
    ];
    put(pool, &expected.map(|(smiles, _)| smiles.to_owned())).await;
    let (id, molecules) = reservoir::block_to_annotate(pool, &model("cheap"), 1).await.unwrap().unwrap();
    let found = annotations(&molecules);

    reservoir::annotate(pool, id, &found).await.unwrap();

    let (version, bytes): (i16, i32) =
        sqlx::query_as("select annotation_version, length(annotations) from reservoir_blocks")
            .fetch_one(pool)
            .await
            .unwrap();
    assert_eq!((version, bytes), (1, 3 * (12 * 8 + 1)));
    for ((smiles, text), annotation) in expected.into_iter().zip(found) {
        let values = Property::ALL.map(|property| format!("{:.4}", annotation.value(property)));
        let alerts = AlertSet::ALL.into_iter().filter(|set| annotation.has_alert(*set));
        let words: Vec<_> = values.into_iter().chain(alerts.map(|set| set.to_string())).collect();
        assert_eq!(words.join(" "), text, "{smiles}");
    }
}
