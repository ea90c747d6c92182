//! Tests of conditioned samples, interactive and asynchronous, on tiny models.

use std::{
    collections::HashSet,
    sync::Arc,
    time::{Duration, Instant},
};

use chem::{Molecule, Property};
use chrono::Utc;
use contract::{
    AsyncSampleJob, ConditionRefusals, JobFailure, JobId, PropertyRange, SampleConditions, SampleId,
    SampleJob, StoredAsyncSampleJob, StoredSampleJob,
};
use generator::SampleBudget;
use queue::{Client, Urgency, WorkerConfig, run_worker};
use sqlx::PgPool;
use tempfile::TempDir;
use tokio::task::JoinHandle;
use worker::{
    AsyncSampleHandler, ComputationOutcome, DrawConditions, ExcludedMolecules, ModelRegistry, Models,
    ReadyCounts, ReadyMolecules, RouteChecker, RunningJobs, SampleHandler, draw,
};

use crate::support::{CALLER, MACHINE, TestDatabase, models};

/// Strings of the model are chains of up to 12 atoms C, N and O.
const MODEL: &str = "cheap";

pub fn job(size: u32, conditions: SampleConditions) -> SampleJob {
    SampleJob {
        sample_id: SampleId::generate(),
        account_id: "acc_1".to_owned(),
        size,
        model_id: Some(MODEL.to_owned()),
        seed: conditions.seed.unwrap_or(7),
        conditions,
        details: true,
        deadline: Utc::now() + chrono::TimeDelta::seconds(30),
    }
}

pub fn range(name: &str, gte: Option<f64>, lte: Option<f64>) -> SampleConditions {
    SampleConditions {
        properties: [(name.to_owned(), PropertyRange { gte, lte })].into(),
        ..SampleConditions::default()
    }
}

/// Draws with no molecules ready, and no excluded ones, for at most `time`.
fn drawn(job: &SampleJob, time: Duration) -> Result<Vec<String>, JobFailure> {
    let dir = models();
    let models = Models::load(&[dir.path().to_owned()], &[], &MACHINE).unwrap();
    let conditions = DrawConditions::new(&job.conditions, ExcludedMolecules::default()).unwrap();
    let budget = SampleBudget { deadline: Some(Instant::now() + time), ..SampleBudget::unlimited() };
    let model = models.choose(job.model_id.as_deref()).unwrap();
    match draw(model, ReadyMolecules::default(), job, &conditions, &budget).unwrap() {
        ComputationOutcome::Done(sample) => Ok(sample.smiles),
        ComputationOutcome::Refused(problem) => Err(problem),
        ComputationOutcome::Cancelled => panic!("nobody cancels"),
    }
}

#[test]
fn every_molecule_of_a_sample_satisfies_each_condition() {
    let one = |text: &str| vec![text.to_owned()];
    let conditions = SampleConditions {
        substructures_required: vec!["[#7]".to_owned(), "[#6][#6]".to_owned()],
        substructures_never: one("[#8]"),
        similar_to: one("CCNCC"),
        similarity_gte: Some(0.2),
        similarity_lt: Some(0.9),
        temperature: Some(1.5),
        ..range("heavy_atoms", Some(3.0), Some(6.0))
    };

    let smiles = drawn(&job(20, conditions), Duration::from_secs(60)).unwrap();

    assert_eq!(smiles.iter().collect::<HashSet<_>>().len(), 20);
    let seed: Molecule = "CCNCC".parse().unwrap();
    for text in &smiles {
        let molecule: Molecule = text.parse().unwrap();
        assert!(text.contains('N') && text.contains("CC") && !text.contains('O'), "{text}");
        assert!((3..=6).contains(&molecule.heavy_atoms()), "{text}");
        assert!((0.2..0.9).contains(&molecule.fingerprint().tanimoto(&seed.fingerprint())), "{text}");
    }
}

#[test]
fn a_sample_that_is_too_narrow_says_what_was_found_and_what_each_condition_refused() {
    let narrow = SampleConditions {
        substructures_required: vec!["[#7]".to_owned(), "[#16]".to_owned()],
        substructures_never: vec!["[#9]".to_owned()],
        ..range("heavy_atoms", Some(4.0), None)
    };

    let ended = drawn(&job(5, narrow), Duration::from_secs(1));

    let Err(JobFailure::ConditionsTooNarrow { wanted: 5, found: 0, refused }) = ended else {
        panic!("{ended:?}")
    };
    let mut names: Vec<_> = refused.iter().map(|refusals| refusals.condition.as_str()).collect();
    assert!(
        refused.is_sorted_by_key(|ConditionRefusals { count, .. }| std::cmp::Reverse(*count)),
        "{refused:?}"
    );
    names.sort_unstable();
    assert_eq!(names, ["properties.heavy_atoms", "substructures_required[0]", "substructures_required[1]"]);
}

#[test]
fn parts_stay_in_every_molecule_and_one_that_the_model_cannot_write_is_the_requests_fault() {
    let scaffold =
        |smiles: &str| SampleConditions { scaffold: Some(smiles.to_owned()), ..SampleConditions::default() };
    let fragments = |smiles: [&str; 2]| SampleConditions {
        fragments: smiles.map(str::to_owned).into(),
        ..SampleConditions::default()
    };
    let parts = |smiles: &[&str]| -> Vec<_> {
        smiles.iter().map(|smiles| chem::Part::parse(smiles, chem::Limits::TARGET).unwrap()).collect()
    };

    let decorated = drawn(&job(10, scaffold("[*]CCNCC")), Duration::from_secs(60)).unwrap();
    let linked = drawn(&job(10, fragments(["[*]CCN", "[*]OC"])), Duration::from_secs(60)).unwrap();

    for (smiles, parts) in [(decorated, parts(&["[*]CCNCC"])), (linked, parts(&["[*]CCN", "[*]OC"]))] {
        for smiles in smiles {
            let molecule: Molecule = smiles.parse().unwrap();
            assert!(parts.iter().all(|part| part.is_in(&molecule)), "{smiles}");
        }
    }
    for (conditions, field) in
        [(scaffold("[*]CBr"), "scaffold"), (fragments(["[*]CBr", "[*]C"]), "fragments")]
    {
        let ended = drawn(&job(10, conditions), Duration::from_secs(60));
        assert_eq!(ended, Err(JobFailure::UnwritablePart { field: field.to_owned() }));
    }
}

#[test]
fn without_a_condition_on_molecules_a_poor_model_is_at_fault() {
    let seeded = SampleConditions { seed: Some(1), ..SampleConditions::default() };
    let mut wanted = job(5_000, seeded);
    wanted.model_id = Some("dear".to_owned());

    let ended = drawn(&wanted, Duration::from_secs(60));

    assert!(matches!(ended, Err(JobFailure::SizeUnreachable { wanted: 5_000, .. })), "{ended:?}");
}

#[test]
fn conditions_that_no_api_has_checked_are_a_fault() {
    let one = |text: &str| vec![text.to_owned()];
    let nothing = SampleConditions::default;
    for conditions in [
        SampleConditions { substructures_required: one("C("), ..nothing() },
        SampleConditions { similar_to: one("C1"), ..nothing() },
        SampleConditions { alerts: one("none"), ..nothing() },
        SampleConditions { temperature: Some(-1.0), ..nothing() },
        SampleConditions { top_p: Some(0.0), ..nothing() },
        range("mass", None, Some(1.0)),
    ] {
        assert!(DrawConditions::new(&conditions, ExcludedMolecules::default()).is_err(), "{conditions:?}");
    }
}

/// A sampler of both queues.
pub struct Sampler {
    pub client: Client,
    tasks: [JoinHandle<()>; 2],
    _models: TempDir,
}

impl Sampler {
    pub async fn start(database: &TestDatabase) -> Self {
        sqlx::query(
            "insert into accounts (id, email, name, password_hash, scopes) values ('acc_1', 'a', 'a', '', '{}')",
        )
        .execute(&database.pool)
        .await
        .unwrap();
        let dir = models();
        let registry =
            Arc::new(ModelRegistry::load(vec![dir.path().to_owned()], Vec::new(), MACHINE).unwrap());
        let config = || WorkerConfig { models: registry.announce(), ..WorkerConfig::default() };
        let (pool, activity) = (database.pool.clone(), RunningJobs::default());
        let routes = RouteChecker::new(pool.clone().into());
        let order = AsyncSampleHandler {
            pool: pool.clone(),
            registry: Arc::clone(&registry),
            activity: activity.clone(),
            routes: routes.clone(),
        };
        let (first, second) = (config(), config());
        let ready = ReadyCounts::default();
        let handler = SampleHandler { pool: pool.clone(), registry, activity, ready, routes };
        let (samples, orders) = (pool.clone(), pool);
        let tasks = [
            tokio::spawn(async move {
                run_worker::<StoredSampleJob, _>(samples, first, handler, std::future::pending())
                    .await
                    .unwrap();
            }),
            tokio::spawn(async move {
                run_worker::<StoredAsyncSampleJob, _>(orders, second, order, std::future::pending())
                    .await
                    .unwrap();
            }),
        ];
        let client = database.client().await;
        let live = async || client.live_workers().await.unwrap().len() == 2;
        test_support::until("both workers live", live).await;
        Self { client, tasks, _models: dir }
    }

    pub async fn sample(&self, job: SampleJob) -> SampleId {
        self.outcome(job).await.unwrap()
    }

    pub async fn outcome(&self, job: SampleJob) -> Result<SampleId, JobFailure> {
        let job = StoredSampleJob::from(job);
        let pending = self.client.submit(JobId::generate(), &job, CALLER).await.unwrap();
        pending.outcome().await.unwrap()
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

pub async fn molecules(pool: &PgPool, id: SampleId) -> Vec<String> {
    sqlx::query_scalar("select smiles from samples where id = $1")
        .bind(id.to_string())
        .fetch_one(pool)
        .await
        .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conditioned_sample_depends_on_its_request_alone_and_excludes_what_others_have() {
    let database = TestDatabase::with_schema().await;
    let sampler = Sampler::start(&database).await;
    let pool = &database.pool;
    let conditions = range("heavy_atoms", None, Some(6.0));

    let first = sampler.sample(job(15, conditions.clone())).await;
    let again = sampler.sample(job(15, conditions.clone())).await;
    let exclude = vec![first.to_string()];
    let other = sampler.sample(job(15, SampleConditions { exclude, ..conditions })).await;

    let (known, new) = (molecules(pool, first).await, molecules(pool, other).await);
    assert_eq!(molecules(pool, again).await, known);
    assert_eq!((new.len(), new.iter().filter(|smiles| known.contains(smiles)).count()), (15, 0));
    let details: serde_json::Value = sqlx::query_scalar("select details from samples where id = $1")
        .bind(other.to_string())
        .fetch_one(pool)
        .await
        .unwrap();
    assert_eq!(details["negative_log_likelihood"].as_array().unwrap().len(), 15);
    let values = details["properties"]["heavy_atoms"].as_array().unwrap();
    let atoms: Vec<_> =
        new.iter().map(|smiles| Property::HeavyAtoms.of(&smiles.parse::<Molecule>().unwrap())).collect();
    assert_eq!(values.iter().map(|value| value.as_f64().unwrap()).collect::<Vec<_>>(), atoms);
}

/// Makes an asynchronous sample with the seed of [`job`].
pub async fn async_sample(pool: &PgPool, size: u32, conditions: SampleConditions) -> SampleId {
    let sample_id = SampleId::generate();
    let order = AsyncSampleJob { sample_id, model_id: MODEL.to_owned(), size, conditions, details: true };
    let mut transaction = pool.begin().await.unwrap();
    let order = StoredAsyncSampleJob::from(order);
    let job_id = queue::enqueue(&mut transaction, &order, "acc_1", Urgency::Asked).await.unwrap();
    sqlx::query(
        "insert into sample_orders (id, account_id, model_id, size, seed, job_id) values ($1, 'acc_1', $2, $3, 7, $4)",
    )
    .bind(sample_id.to_string())
    .bind(MODEL)
    .bind(i32::try_from(size).unwrap())
    .bind(job_id.to_string())
    .execute(&mut *transaction)
    .await
    .unwrap();
    transaction.commit().await.unwrap();
    let status = async || -> String {
        sqlx::query_scalar("select status from sample_orders").fetch_one(pool).await.unwrap()
    };
    test_support::until("the sample is made", async || status().await != "pending").await;
    assert_eq!(status().await, "completed");
    sample_id
}

#[tokio::test(flavor = "multi_thread")]
async fn an_asynchronous_sample_has_the_molecules_that_an_interactive_one_has() {
    let database = TestDatabase::with_schema().await;
    let sampler = Sampler::start(&database).await;
    let pool = &database.pool;
    let conditions = range("heavy_atoms", Some(3.0), Some(6.0));
    let awaited = sampler.sample(job(15, conditions.clone())).await;

    let sample_id = async_sample(pool, 15, conditions).await;
    assert_eq!(molecules(pool, sample_id).await, molecules(pool, awaited).await);
    let same_details: i64 = sqlx::query_scalar("select count(distinct details::text) from samples")
        .fetch_one(pool)
        .await
        .unwrap();
    assert_eq!(same_details, 1);
}
