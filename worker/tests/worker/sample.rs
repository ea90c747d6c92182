//! Tests of sample jobs, from the queue to the stored sample, on tiny models.

use std::{
    fs,
    sync::Arc,
    time::{Duration, Instant},
};

use crate::support::{CALLER, MACHINE, TestDatabase, live, models, write_endless_pack, write_pack};
use chrono::Utc;
use contract::{JobFailure, JobId, SampleConditions, SampleId, SampleJob, StoredSampleJob};
use generator::SampleBudget;
use queue::{WorkerConfig, run_worker};
use tokio::sync::oneshot;
use worker::{
    CompletedSample, ComputationOutcome, DrawConditions, ModelRegistry, Models, ReadyCounts, ReadyMolecules,
    RouteChecker, RunningJobs, SampleHandler, draw,
};

fn job(size: u32, model_id: Option<&str>) -> SampleJob {
    SampleJob {
        sample_id: SampleId::generate(),
        account_id: "acc_1".to_owned(),
        size,
        model_id: model_id.map(str::to_owned),
        seed: u64::MAX,
        conditions: SampleConditions::default(),
        details: false,
        deadline: Utc::now() + chrono::TimeDelta::seconds(30),
    }
}

#[test]
fn a_bad_pack_is_skipped_and_the_others_are_announced() {
    let dir = models();

    let announced = Models::load(&[dir.path().to_owned()], &[], &MACHINE).unwrap().announce();

    let ids: Vec<&str> = announced.iter().map(|model| model.model_id.as_str()).collect();
    assert_eq!(ids, ["cheap", "dear"]);
}

#[test]
fn a_pack_whose_card_the_database_cannot_store_is_skipped() {
    let dir = models();
    let metadata = r#"{"id": "cheap", "description": "c", "relative_cost": 1.0, "metrics": [{"\u0000": 1}]}"#;
    fs::write(dir.path().join("cheap/metadata.json"), metadata).unwrap();

    let announced = Models::load(&[dir.path().to_owned()], &[], &MACHINE).unwrap().announce();

    let ids: Vec<&str> = announced.iter().map(|model| model.model_id.as_str()).collect();
    assert_eq!(ids, ["dear"]);
}

#[test]
fn of_two_packs_with_one_id_the_first_is_served() {
    let dir = models();
    write_pack(dir.path(), "cheap_copy", 9.0, 3);
    let metadata = r#"{"id": "cheap", "description": "another", "relative_cost": 9.0}"#;
    fs::write(dir.path().join("cheap_copy/metadata.json"), metadata).unwrap();

    let announced = Models::load(&[dir.path().to_owned()], &[], &MACHINE).unwrap().announce();

    let models: Vec<_> =
        announced.iter().map(|model| (model.model_id.as_str(), model.relative_cost)).collect();
    assert_eq!(models, [("cheap", 1.0), ("dear", 3.0)]);
}

#[test]
fn a_model_that_never_ends_its_strings_ends_at_the_deadline() {
    let dir = models();
    write_endless_pack(dir.path());
    let models = Models::load(&[dir.path().to_owned()], &[], &MACHINE).unwrap();
    let endless = models.choose(Some("endless")).unwrap();
    let begun = Instant::now();
    let budget = SampleBudget { deadline: Some(begun + Duration::from_secs(1)), ..SampleBudget::unlimited() };

    let ended =
        draw(endless, ReadyMolecules::default(), &job(3, None), &DrawConditions::default(), &budget).unwrap();

    assert_eq!(ended, ComputationOutcome::Refused(JobFailure::DeadlinePassed));
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
}

#[test]
fn without_a_usable_pack_there_is_no_sampler() {
    let dir = models();

    let error = Models::load(&[dir.path().to_owned()], &["broken".to_owned()], &MACHINE).unwrap_err();

    assert!(error.to_string().starts_with("no usable model pack in"), "{error}");
}

#[test]
fn the_model_that_is_named_draws_and_the_cheapest_for_jobs_of_earlier_versions_that_name_none() {
    let dir = models();
    let models = Models::load(&[dir.path().to_owned()], &[], &MACHINE).unwrap();
    let drawn_by = |model_id| {
        let model = models.choose(model_id).unwrap();
        match draw(
            model,
            ReadyMolecules::default(),
            &job(3, model_id),
            &DrawConditions::default(),
            &SampleBudget::unlimited(),
        )
        .unwrap()
        {
            ComputationOutcome::Done(CompletedSample { model_id, smiles, .. }) => (model_id, smiles.len()),
            other => panic!("{other:?}"),
        }
    };

    assert_eq!(drawn_by(None), ("cheap".to_owned(), 3));
    assert_eq!(drawn_by(Some("dear")), ("dear".to_owned(), 3));
    assert!(models.choose(Some("absent")).is_none());
}

#[test]
fn a_sample_that_is_begun_is_completed_with_other_molecules() {
    let dir = models();
    let models = Models::load(&[dir.path().to_owned()], &[], &MACHINE).unwrap();
    let dear = models.choose(Some("dear")).unwrap();
    let ready = vec!["C".to_owned(), "CN".to_owned()];

    let ended =
        draw(dear, ready.into(), &job(5, None), &DrawConditions::default(), &SampleBudget::unlimited())
            .unwrap();

    let ComputationOutcome::Done(CompletedSample { smiles, .. }) = ended else { panic!("{ended:?}") };
    assert_eq!(smiles[..2], ["C", "CN"]);
    assert_eq!(smiles.iter().collect::<std::collections::HashSet<_>>().len(), 5, "{smiles:?}");
}

#[test]
fn more_than_a_model_can_give_is_a_problem_and_not_a_failure() {
    let dir = models();
    let models = Models::load(&[dir.path().to_owned()], &[], &MACHINE).unwrap();
    let dear = models.choose(Some("dear")).unwrap();

    for ready in [Vec::new(), vec!["C".to_owned()]] {
        let ended = draw(
            dear,
            ready.into(),
            &job(5_000, None),
            &DrawConditions::default(),
            &SampleBudget::unlimited(),
        )
        .unwrap();

        let ComputationOutcome::Refused(JobFailure::SizeUnreachable { wanted: 5_000, reached, .. }) = ended
        else {
            panic!("{ended:?}")
        };
        assert!((1..100).contains(&reached), "{reached}");
    }
}

#[test]
fn a_sample_that_nobody_waits_for_is_given_up() {
    let dir = models();
    let models = Models::load(&[dir.path().to_owned()], &[], &MACHINE).unwrap();
    let model = models.choose(None).unwrap();
    let budget = SampleBudget { deadline: None, cancelled: Arc::new(true.into()) };

    assert_eq!(
        draw(model, ReadyMolecules::default(), &job(1_000, None), &DrawConditions::default(), &budget)
            .unwrap(),
        ComputationOutcome::Cancelled
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answered_sample_is_stored_whole() {
    let (dir, database) = (models(), TestDatabase::with_schema().await);
    sqlx::query(
        "insert into accounts (id, email, name, password_hash, scopes) values ('acc_1', 'a', 'a', '', '{}')",
    )
    .execute(&database.pool)
    .await
    .unwrap();
    let registry = Arc::new(ModelRegistry::load(vec![dir.path().to_owned()], Vec::new(), MACHINE).unwrap());
    let client = database.client().await;
    let (stop, stopped) = oneshot::channel::<()>();
    let config = WorkerConfig { models: registry.announce(), ..WorkerConfig::default() };
    let handler = SampleHandler {
        pool: database.pool.clone(),
        registry,
        activity: RunningJobs::default(),
        ready: ReadyCounts::default(),
        routes: RouteChecker::new(database.pool.clone().into()),
    };
    let worker =
        tokio::spawn(run_worker::<StoredSampleJob, _>(database.pool.clone(), config, handler, async {
            let _ = stopped.await;
        }));
    live(&client).await;
    let wanted = job(20, None);

    let pending =
        client.submit(JobId::generate(), &StoredSampleJob::from(wanted.clone()), CALLER).await.unwrap();
    let answer = pending.outcome().await.unwrap();

    assert_eq!(answer, Ok(wanted.sample_id));
    let (model_id, smiles, seed): (String, Vec<String>, i64) =
        sqlx::query_as("select model_id, smiles, seed from samples where id = $1")
            .bind(wanted.sample_id.to_string())
            .fetch_one(&database.pool)
            .await
            .unwrap();
    assert_eq!((model_id.as_str(), smiles.len(), seed), ("cheap", 20, -1));
    stop.send(()).unwrap();
    worker.await.unwrap().unwrap();
}
