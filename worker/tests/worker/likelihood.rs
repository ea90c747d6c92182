//! Tests of likelihoods, by a worker with tiny models.

use std::sync::Arc;

use contract::{JobId, LikelihoodJob, StoredLikelihoodJob};
use queue::{WorkerConfig, run_worker};
use worker::{LikelihoodHandler, ModelRegistry, RunningJobs};

use crate::support::{CALLER, MACHINE, TestDatabase, models};

#[tokio::test(flavor = "multi_thread")]
async fn likelihoods_are_those_of_canonical_strings_and_faults_stay_at_their_molecules() {
    let database = TestDatabase::with_schema().await;
    let (pool, dir) = (database.pool.clone(), models());
    let registry = Arc::new(ModelRegistry::load(vec![dir.path().to_owned()], Vec::new(), MACHINE).unwrap());
    let config = WorkerConfig { models: registry.announce(), ..WorkerConfig::default() };
    let handler = LikelihoodHandler {
        pool: pool.clone(),
        registry: Arc::clone(&registry),
        activity: RunningJobs::default(),
    };
    let client = database.client().await;
    let working = tokio::spawn(async move {
        run_worker::<StoredLikelihoodJob, _>(pool, config, handler, std::future::pending()).await.unwrap();
    });
    test_support::until("the worker lives", async || client.live_workers().await.unwrap().len() == 1).await;
    let ask = async |smiles: &[&str]| {
        let smiles = smiles.iter().map(|smiles| (*smiles).to_owned()).collect();
        let job = StoredLikelihoodJob::V1(LikelihoodJob { model_id: "cheap".to_owned(), smiles });
        client.submit(JobId::generate(), &job, CALLER).await.unwrap().outcome().await.unwrap()
    };

    let answer = ask(&["OCC", "C1CC", "CCBr", "CCO", "CCCCCC"]).await.unwrap();

    let smiles: Vec<_> = answer.items.iter().map(|item| item.smiles.as_str()).collect();
    assert_eq!(smiles, ["CCO", "C1CC", "CCBr", "CCO", "CCCCCC"]);
    let loss = |at: usize| answer.items[at].negative_log_likelihood;
    let model = registry.models().choose(Some("cheap")).cloned().unwrap();
    let expected = model.sampler.likelihoods(&["CCO", "CCCCCC"]).unwrap();
    for (at, expected) in [(0, expected[0]), (3, expected[0]), (4, expected[1])] {
        assert!((loss(at).unwrap() - expected.unwrap()).abs() < 1e-4, "{answer:?}");
    }
    assert_eq!((loss(1), loss(2)), (None, None));
    let has_error: Vec<_> = answer.items.iter().map(|item| item.error.is_some()).collect();
    assert_eq!(has_error, [false, true, true, false, false], "{answer:?}");
    working.abort();
}
