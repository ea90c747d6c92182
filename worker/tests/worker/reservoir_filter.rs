//! Tests of conditioned samples that take ready molecules.
//!
//! The models here write no sulfur, so a molecule with sulfur in a sample lay ready.

use std::{collections::HashSet, sync::Arc, time::Duration};

use chem::Molecule;
use contract::{ConditionRefusals, JobFailure, JobId, SampleConditions, SampleId, StoredSampleJob};
use generator::SampleBudget;
use queue::JobCaller;
use rand::{SeedableRng, rngs::StdRng, seq::SliceRandom};
use sqlx::PgPool;
use worker::{
    DrawConditions, FilterRequest, LoadedModel, lease_filtered,
    reservoir::{self, BLOCK_SIZE},
};

use crate::{
    makeable::model,
    sample_conditions::{Sampler, async_sample, job, molecules, range},
    support::{CALLER, TestDatabase},
};

/// Returns all chains of up to 8 atoms C, N and S, in an order that does not depend on what they have.
fn all_chains() -> Vec<String> {
    let mut texts = vec![String::new()];
    for from in 0.. {
        if texts[from].len() == 8 {
            break;
        }
        for atom in ["C", "N", "S"] {
            texts.push(format!("{}{atom}", texts[from]));
        }
    }
    let canonical = texts[1..].iter().map(|text| text.parse::<Molecule>().unwrap().canonical_smiles());
    let mut distinct: Vec<_> = canonical.collect::<HashSet<_>>().into_iter().collect();
    distinct.sort_unstable();
    distinct.shuffle(&mut StdRng::seed_from_u64(1));
    distinct
}

/// Returns the first of these chains.
pub fn chains(count: usize) -> Vec<String> {
    let mut chains = all_chains();
    assert!(chains.len() >= count, "{}", chains.len());
    chains.truncate(count);
    chains
}

pub async fn put(pool: &PgPool, molecules: &[String]) {
    reservoir::put(&mut pool.acquire().await.unwrap(), &model("cheap"), molecules).await.unwrap();
}

/// Returns all molecules that lie ready and are not leased.
async fn left(pool: &PgPool) -> HashSet<String> {
    let blocks: Vec<String> = sqlx::query_scalar(
        "select smiles from reservoir_blocks where leased_until is null or leased_until < now()",
    )
    .fetch_all(pool)
    .await
    .unwrap();
    blocks.iter().flat_map(|block| block.split('\n')).map(str::to_owned).collect()
}

/// Conditions of molecules with sulfur.
fn with_sulfur() -> SampleConditions {
    SampleConditions { substructures_required: vec!["[#16]".to_owned()], ..SampleConditions::default() }
}

fn has_sulfur(smiles: &str) -> bool {
    smiles.contains('S')
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conditioned_sample_takes_what_lies_ready_and_leaves_an_unbiased_rest() {
    let database = TestDatabase::with_schema().await;
    let pool = &database.pool;
    let sampler = Sampler::start(&database).await;
    let all = chains(4 * BLOCK_SIZE);
    put(pool, &all).await;

    let id = sampler.sample(job(300, with_sulfur())).await;

    let smiles = molecules(pool, id).await;
    let distinct: HashSet<_> = smiles.iter().cloned().collect();
    assert_eq!((smiles.len(), distinct.len()), (300, 300));
    assert!(smiles.iter().all(|smiles| has_sulfur(smiles) && all.contains(smiles)), "{smiles:?}");
    // One block is enough. The molecules after the last one that the sample took go back, with sulfur or without.
    let (used, rest) = all.split_at(all.len() - left(pool).await.len());
    assert!((300..BLOCK_SIZE).contains(&used.len()), "{}", used.len());
    assert_eq!(left(pool).await, rest.iter().cloned().collect());
    assert_eq!(used.iter().filter(|smiles| has_sulfur(smiles)).count(), 300);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_lie_ready_is_drawn_for_the_sample_and_comes_once() {
    let database = TestDatabase::with_schema().await;
    let pool = &database.pool;
    let sampler = Sampler::start(&database).await;
    let small = all_chains().into_iter().filter(|smiles| smiles.len() <= 3).collect::<Vec<_>>();
    let large = all_chains().into_iter().filter(|smiles| smiles.len() > 6).take(2 * BLOCK_SIZE - small.len());
    put(pool, &[small.clone(), large.collect()].concat()).await;

    let id = sampler.sample(job(30, range("heavy_atoms", None, Some(3.0)))).await;

    let smiles = molecules(pool, id).await;
    let drawn: Vec<_> = smiles.iter().filter(|smiles| !small.contains(smiles)).collect();
    assert_eq!(smiles.iter().collect::<HashSet<_>>().len(), 30);
    assert_eq!(drawn.len(), 30 - small.len());
    assert!(drawn.iter().all(|smiles| smiles.contains('O')), "{drawn:?}");
    // All of the block was used up for the few.
    assert_eq!(left(pool).await.len(), BLOCK_SIZE);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sample_that_is_refused_loses_nothing_and_counts_what_was_refused_of_the_ready_molecules() {
    let database = TestDatabase::with_schema().await;
    let pool = &database.pool;
    let sampler = Sampler::start(&database).await;
    let all = chains(4 * BLOCK_SIZE);
    put(pool, &all).await;
    let conditions = SampleConditions { substructures_never: vec!["[#6]".to_owned()], ..with_sulfur() };
    let caller = JobCaller { timeout: Duration::from_secs(2), ..CALLER };

    let job = StoredSampleJob::from(job(1_000, conditions));
    let pending = sampler.client.submit(JobId::generate(), &job, caller).await.unwrap();
    let ended = pending.outcome().await.unwrap();

    let Err(JobFailure::ConditionsTooNarrow { wanted: 1_000, found, refused }) = ended else {
        panic!("{ended:?}")
    };
    // Half of the molecules are used up at most.
    let used = &all[..2 * BLOCK_SIZE];
    let expected = used.iter().filter(|smiles| has_sulfur(smiles) && !smiles.contains('C')).count();
    let carbon = used.iter().filter(|smiles| has_sulfur(smiles) && smiles.contains('C')).count();
    assert_eq!(found as usize, expected);
    let count = |name: &str| {
        let of_name = |refusals: &&ConditionRefusals| refusals.condition == name;
        refused.iter().find(of_name).map_or(0, |refusals| refusals.count)
    };
    // No molecule that the model writes has sulfur.
    assert_eq!(count("substructures_never[0]"), carbon as u64);
    assert!(count("substructures_required[0]") > (used.len() - expected - carbon) as u64, "{refused:?}");
    assert_eq!(left(pool).await, all.into_iter().collect());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sample_that_is_drawn_in_its_own_way_or_in_the_background_takes_nothing() {
    let database = TestDatabase::with_schema().await;
    let pool = &database.pool;
    let sampler = Sampler::start(&database).await;
    let all = chains(4 * BLOCK_SIZE);
    put(pool, &all).await;
    let common = || range("heavy_atoms", None, Some(8.0));
    let own_ways = [
        SampleConditions { seed: Some(7), ..common() },
        SampleConditions { temperature: Some(1.5), ..common() },
        SampleConditions { top_p: Some(0.9), ..common() },
        SampleConditions { scaffold: Some("[*]CCN".to_owned()), ..common() },
        SampleConditions { fragments: ["[*]CCN", "[*]OC"].map(str::to_owned).into(), ..common() },
    ];

    for conditions in own_ways {
        sampler.sample(job(5, conditions.clone())).await;
        assert_eq!(left(pool).await.len(), all.len(), "{conditions:?}");
    }
    async_sample(pool, 5, common()).await;
    assert_eq!(left(pool).await.len(), all.len());

    let id = sampler.sample(job(5, common())).await;
    assert!(molecules(pool, id).await.iter().all(|smiles| all.contains(smiles)));
    assert!(left(pool).await.len() < all.len());
}

/// Leases up to `size` ready molecules that satisfy the conditions, for the job `holder`.
pub async fn lease(
    pool: &PgPool,
    model: &Arc<LoadedModel>,
    conditions: &SampleConditions,
    size: usize,
    holder: &str,
) -> (Vec<String>, reservoir::Lease) {
    let conditions = Arc::new(DrawConditions::new(conditions, Default::default()).unwrap());
    let request = FilterRequest {
        size,
        conditions: &conditions,
        budget: &SampleBudget::unlimited(),
        holder,
        time: Duration::from_secs(60),
    };
    let (ready, lease) = lease_filtered(pool, model, &request).await.unwrap();
    (ready.smiles, lease)
}

#[tokio::test(flavor = "multi_thread")]
async fn conditioned_and_plain_samples_at_the_same_time_never_take_one_molecule_twice() {
    let database = TestDatabase::with_schema().await;
    let pool = &database.pool;
    let model = model("cheap");
    let all = chains(8 * BLOCK_SIZE);
    put(pool, &all).await;

    let samples = (0..12).map(|number| {
        let (pool, model) = (pool.clone(), Arc::clone(&model));
        tokio::spawn(async move {
            let taken = match number % 3 {
                0 => {
                    let mut transaction = pool.begin().await.unwrap();
                    let taken = reservoir::take(&mut transaction, &model, 50).await.unwrap();
                    transaction.commit().await.unwrap();
                    return taken;
                }
                _ => lease(&pool, &model, &with_sulfur(), 100, &number.to_string()).await,
            };
            let (smiles, lease) = taken;
            if number % 3 == 1 {
                reservoir::release_lease(&pool, &lease).await.unwrap();
                return Vec::new();
            }
            let mut transaction = pool.begin().await.unwrap();
            assert!(reservoir::spend(&mut transaction, &model, &lease).await.unwrap());
            transaction.commit().await.unwrap();
            smiles
        })
    });
    let samples: Vec<_> = samples.collect();
    let mut taken = Vec::new();
    for sample in samples {
        taken.extend(sample.await.unwrap());
    }

    let distinct: HashSet<_> = taken.iter().cloned().collect();
    let rest = left(pool).await;
    assert_eq!(distinct.len(), taken.len());
    assert!(taken.len() > 4 * 50 && distinct.is_disjoint(&rest), "{}", taken.len());
    // Of what lay ready, only molecules without sulfur were used up for others.
    let lost = all.iter().filter(|smiles| !distinct.contains(*smiles) && !rest.contains(*smiles));
    assert_eq!(lost.filter(|smiles| has_sulfur(smiles)).count(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_molecule_of_two_blocks_is_in_a_sample_once_and_excluded_ones_do_not_come_again() {
    let database = TestDatabase::with_schema().await;
    let pool = &database.pool;
    let sampler = Sampler::start(&database).await;
    let some: Vec<_> = all_chains().into_iter().filter(|one| has_sulfur(one)).take(BLOCK_SIZE).collect();
    for _ in 0..6 {
        put(pool, &some).await;
    }

    let first = sampler.sample(job(BLOCK_SIZE as u32 - 10, with_sulfur())).await;
    let exclude = vec![first.to_string()];
    let other = sampler.sample(job(10, SampleConditions { exclude, ..with_sulfur() })).await;

    let mut both = [molecules(pool, first).await, molecules(pool, other).await].concat();
    both.sort_unstable();
    let mut some = some;
    some.sort_unstable();
    assert_eq!(both, some);
}

#[tokio::test(flavor = "multi_thread")]
async fn few_ready_molecules_are_left_to_plain_samples() {
    let database = TestDatabase::with_schema().await;
    let pool = &database.pool;
    put(pool, &chains(BLOCK_SIZE + 400)).await;

    let (smiles, lease) = lease(pool, &model("cheap"), &with_sulfur(), 10, "one").await;

    assert_eq!((smiles, left(pool).await.len()), (Vec::new(), BLOCK_SIZE + 400));
    drop(lease);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_attempt_draws_all_molecules() {
    let database = TestDatabase::with_schema().await;
    let pool = &database.pool;
    let all = chains(4 * BLOCK_SIZE);
    put(pool, &all).await;
    // The first attempt fails when it stores what it took.
    sqlx::raw_sql(
        "create sequence attempts;
        create function broken_disk() returns trigger language plpgsql as $$
        begin if nextval('attempts') = 1 then raise exception 'broken disk'; end if; return new; end $$;
        create trigger broken_disk before insert on samples for each row execute function broken_disk()",
    )
    .execute(pool)
    .await
    .unwrap();
    let sampler = Sampler::start(&database).await;

    let id: SampleId = sampler.sample(job(50, range("heavy_atoms", Some(3.0), Some(8.0)))).await;

    let smiles = molecules(pool, id).await;
    assert_eq!((smiles.len(), smiles.iter().filter(|smiles| has_sulfur(smiles)).count()), (50, 0));
    assert_eq!(left(pool).await, all.into_iter().collect());
}
