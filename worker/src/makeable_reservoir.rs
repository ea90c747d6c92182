//! Reservoir of makeable molecules: molecules of a model with the summary of their first validated route, ready to be
//! handed out.
//!
//! A sample selects candidates, checks its conditions without holding a connection, and deletes the molecules that it
//! takes. Only those that it really deleted are its own, so no molecule is handed out twice, and no transaction stays
//! open. The molecules of a sample that fails afterwards are lost: this is a cache. Prices change with imports of the
//! catalogue, and rules with releases. So molecules of another catalogue version, or older than a day, are never
//! handed out.

use std::{
    collections::HashSet,
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
    vec::IntoIter,
};

use contract::{MakeableRoute, RouteLimits, SampleConditions};
use generator::SampleBudget;
use queue::HandlerError;
use sqlx::{PgExecutor, PgPool};
use tokio::task::JoinError;

use crate::{
    compute::compute,
    conditions::{DrawConditions, are_drawn_alike},
    reservoir::{Level, Levels},
};

/// Age of the oldest molecules that are handed out.
const MAX_AGE: Duration = Duration::from_secs(24 * 3600);
/// Candidates of a sample with conditions on its molecules, unless it wants more molecules than this.
const CANDIDATES: usize = 5_000;
/// Candidates of a sample without such conditions, beyond twice the molecules that it wants: other samples may be
/// faster.
const SPARE_CANDIDATES: usize = 100;
/// Most deletions of a sample: after the first, it takes others in place of molecules that other samples took.
const MAX_ROUNDS: usize = 10;
/// Time for checking candidates; molecules that are missing then are drawn.
const CHECK_TIME: Duration = Duration::from_secs(2);

/// Model and catalogue that molecules and their routes are from.
#[derive(Debug, Clone, Copy)]
pub struct MakeableSource<'a> {
    /// Id of the model.
    pub model_id: &'a str,
    /// Version of the model's pack.
    pub model_version: &'a str,
    /// Version of the catalogue that has the building blocks.
    pub catalogue_version: i64,
}

/// Molecule with the summary of its route.
#[derive(Debug, Clone, PartialEq)]
pub struct MakeableMolecule {
    /// Canonical SMILES.
    pub smiles: String,
    /// First validated route.
    pub route: MakeableRoute,
}

/// Puts molecules from `source` into the reservoir, except those that it has.
///
/// # Errors
/// Fails on a database error.
pub async fn put(
    pool: &PgPool,
    source: &MakeableSource<'_>,
    molecules: &[MakeableMolecule],
) -> Result<(), sqlx::Error> {
    let smiles: Vec<_> = molecules.iter().map(|molecule| molecule.smiles.clone()).collect();
    let steps: Vec<_> = molecules.iter().map(|molecule| signed(molecule.route.steps)).collect();
    let prices: Vec<_> = molecules.iter().map(|molecule| molecule.route.usd_per_mol).collect();
    let blocks: Vec<_> = molecules.iter().map(|molecule| signed(molecule.route.building_blocks)).collect();
    let plausibilities: Vec<_> = molecules.iter().map(|molecule| molecule.route.plausibility).collect();
    // Sorted, so that searchers that insert at the same time cannot deadlock.
    sqlx::query!(
        "insert into makeable_molecules
            (model_id, model_version, catalogue_version, smiles, steps, usd_per_mol, building_blocks, plausibility)
        select $1, $2, $3, smiles, steps, usd_per_mol, building_blocks, plausibility
        from unnest($4::text[], $5::integer[], $6::float8[], $7::integer[], $8::float8[])
            as found (smiles, steps, usd_per_mol, building_blocks, plausibility)
        order by smiles
        on conflict (model_id, smiles) do nothing",
        source.model_id,
        source.model_version,
        source.catalogue_version,
        &smiles,
        &steps,
        &prices as &[Option<f64>],
        &blocks,
        &plausibilities
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// Counts the molecules with routes from this catalogue version, by model and version.
///
/// # Errors
/// Fails on a database error.
pub async fn levels(database: impl PgExecutor<'_>, catalogue_version: i64) -> Result<Levels, sqlx::Error> {
    let rows = sqlx::query_as!(
        Level,
        r#"select model_id, model_version, count(*) as "molecules!" from makeable_molecules
        where catalogue_version = $1 group by 1, 2"#,
        catalogue_version
    )
    .fetch_all(database)
    .await?;
    Ok(rows.into_iter().collect())
}

/// Deletes the molecules that are never handed out when the catalogue has this version, and returns their number.
///
/// # Errors
/// Fails on a database error.
pub async fn drop_outdated(pool: &PgPool, catalogue_version: i64) -> Result<u64, sqlx::Error> {
    // Locked molecules go next time: searchers and samples that delete at the same time cannot deadlock.
    let done = sqlx::query!(
        "with outdated as (
            select id from makeable_molecules
            where catalogue_version < $1 or catalogue_version > $1 or created_at < now() - make_interval(secs => $2)
            for update skip locked
        )
        delete from makeable_molecules as molecule using outdated where molecule.id = outdated.id",
        catalogue_version,
        MAX_AGE.as_secs_f64()
    )
    .execute(pool)
    .await?;
    Ok(done.rows_affected())
}

/// Returns true if ready molecules can satisfy a sample with these conditions and limits on routes.
///
/// They are drawn in the model's own way, and their routes are from all that ships to the default region.
pub(crate) fn can_serve(conditions: &SampleConditions, limits: &RouteLimits) -> bool {
    // All fields are listed, so that the compiler asks about a new one.
    let RouteLimits { ships_to, max_lead_time_days, max_steps: _, max_usd_per_mol: _, max_seconds_each: _ } =
        limits;
    let ships_alike = ships_to.is_none() || *ships_to == RouteLimits::default().ships_to;
    are_drawn_alike(conditions) && ships_alike && max_lead_time_days.is_none()
}

/// Molecules that a sample wants.
#[derive(Debug, Clone, Copy)]
pub struct MakeableRequest<'a> {
    /// Number of molecules.
    pub size: usize,
    /// Limits on the routes.
    pub limits: &'a RouteLimits,
    /// Conditions on the molecules.
    pub conditions: &'a Arc<DrawConditions>,
    /// End of the sample, and its cancellation.
    pub budget: &'a SampleBudget,
}

/// Takes distinct molecules from `source` that satisfy `request`, at most its size, in random order.
///
/// # Errors
/// Fails on a database error, or if a check panics.
pub async fn take(
    pool: &PgPool,
    source: &MakeableSource<'_>,
    request: &MakeableRequest<'_>,
) -> Result<Vec<MakeableMolecule>, HandlerError> {
    let most = match request.conditions.filter() {
        Some(_) => request.size.max(CANDIDATES),
        None => request.size.saturating_mul(2).saturating_add(SPARE_CANDIDATES),
    };
    let end = Instant::now() + CHECK_TIME;
    let mut candidates = select(pool, source, request.limits, most).await?.into_iter();
    let mut taken = Vec::new();
    for _ in 0..MAX_ROUNDS {
        let missing = request.size.saturating_sub(taken.len());
        let passing;
        (candidates, passing) = next_passing(candidates, missing, request, end).await?;
        if passing.is_empty() {
            break;
        }
        let ids: Vec<_> = passing.iter().map(|candidate| candidate.id).collect();
        let deleted: HashSet<_> = delete(pool, &ids).await?.into_iter().collect();
        let ours = passing.into_iter().filter(|candidate| deleted.contains(&candidate.id));
        taken.extend(ours.map(MakeableMolecule::from));
    }
    Ok(taken)
}

/// Molecule that a sample may take.
#[derive(Debug)]
struct Candidate {
    id: i64,
    smiles: String,
    steps: i32,
    usd_per_mol: Option<f64>,
    building_blocks: i32,
    plausibility: f64,
}

impl From<Candidate> for MakeableMolecule {
    fn from(candidate: Candidate) -> Self {
        let route = MakeableRoute {
            steps: candidate.steps.unsigned_abs(),
            usd_per_mol: candidate.usd_per_mol,
            building_blocks: candidate.building_blocks.unsigned_abs(),
            plausibility: candidate.plausibility,
        };
        Self { smiles: candidate.smiles, route }
    }
}

/// Returns molecules from `source` with routes within `limits`, at most `most`, in random order: samples at the same
/// time mostly select different ones.
async fn select(
    pool: &PgPool,
    source: &MakeableSource<'_>,
    limits: &RouteLimits,
    most: usize,
) -> Result<Vec<Candidate>, sqlx::Error> {
    sqlx::query_as!(
        Candidate,
        "select id, smiles, steps, usd_per_mol, building_blocks, plausibility from makeable_molecules
        where catalogue_version = $1 and model_id = $2 and model_version = $3 and steps <= $4
            and ($5::float8 is null or usd_per_mol <= $5) and created_at > now() - make_interval(secs => $6)
        order by random() limit $7",
        source.catalogue_version,
        source.model_id,
        source.model_version,
        limits.max_steps.map_or(i32::MAX, signed),
        limits.max_usd_per_mol,
        MAX_AGE.as_secs_f64(),
        i64::try_from(most).unwrap_or(i64::MAX)
    )
    .fetch_all(pool)
    .await
}

/// Returns the next candidates that satisfy the request's conditions, at most `count`, and the ones after them.
async fn next_passing(
    mut candidates: IntoIter<Candidate>,
    count: usize,
    request: &MakeableRequest<'_>,
    end: Instant,
) -> Result<(IntoIter<Candidate>, Vec<Candidate>), JoinError> {
    if request.conditions.filter().is_none() {
        let passing = candidates.by_ref().take(count).collect();
        return Ok((candidates, passing));
    }
    let (conditions, cancelled) = (Arc::clone(request.conditions), Arc::clone(&request.budget.cancelled));
    let end = request.budget.deadline.map_or(end, |deadline| deadline.min(end));
    compute(move || {
        let has_time = || Instant::now() < end && !cancelled.load(Ordering::Acquire);
        let passing = candidates
            .by_ref()
            .take_while(|_| has_time())
            .filter(|candidate| conditions.allow(&candidate.smiles))
            .take(count)
            .collect();
        (candidates, passing)
    })
    .await
}

/// Deletes these molecules and returns those that were there; another sample may have been faster.
async fn delete(pool: &PgPool, ids: &[i64]) -> Result<Vec<i64>, sqlx::Error> {
    // A molecule that another sample is about to delete is not waited for.
    sqlx::query_scalar!(
        "with free as (select id from makeable_molecules where id = any($1) for update skip locked)
        delete from makeable_molecules as molecule using free where molecule.id = free.id
        returning molecule.id",
        ids
    )
    .fetch_all(pool)
    .await
}

/// Returns a count as PostgreSQL's integer has it.
fn signed(count: u32) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}
