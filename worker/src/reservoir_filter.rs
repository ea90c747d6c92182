//! Ready molecules that satisfy the conditions of a sample.
//!
//! A sample leases whole blocks of the reservoir and checks their molecules in order. When it has enough, it leaves
//! those that it has not reached. All before that are used up, whether they satisfy the conditions or not: if only
//! those that do left the reservoir, the rest would be biased, and plain samples would have fewer of them than the
//! model draws. So a sample uses up half of the ready molecules at most, and stops where hardly any satisfies its
//! conditions.

use std::{collections::HashSet, sync::Arc, time::Duration};

use generator::SampleBudget;
use queue::HandlerError;
use sqlx::PgPool;

use crate::{
    compute::compute,
    conditions::{DrawConditions, ReadyCheck},
    reservoir::{self, AnnotatedMolecule, BLOCK_SIZE, Lease},
    resources::LoadedModel,
};

/// Most blocks that a sample uses up; idle samplers draw as many in some seconds.
const MAX_BLOCKS: usize = 100;
/// Least share of molecules that satisfy the conditions for which further blocks are worth using up: below it, drawing
/// makes most of the sample anyway.
const LEAST_SHARE: f64 = 0.01;
/// Blocks leased beyond those that the share so far suggests, as a fraction: a further round costs more.
const SPARE_BLOCKS: f64 = 0.1;

/// Molecules of a sample that lay ready.
#[derive(Debug, Default)]
pub struct ReadyMolecules {
    /// Distinct canonical SMILES.
    pub smiles: Vec<String>,
    /// Ready molecules that the sample's conditions refused, by the index of the check.
    pub refused: Vec<u64>,
    /// Molecules that were used up for these, themselves included.
    pub used: usize,
}

impl From<Vec<String>> for ReadyMolecules {
    fn from(smiles: Vec<String>) -> Self {
        Self { used: smiles.len(), smiles, refused: Vec::new() }
    }
}

/// Sample with conditions on its molecules.
#[derive(Debug)]
pub struct FilterRequest<'a> {
    /// Number of molecules.
    pub size: usize,
    /// Conditions on the molecules.
    pub conditions: &'a Arc<DrawConditions>,
    /// End of the sample, and its cancellation.
    pub budget: &'a SampleBudget,
    /// The job, which leases blocks for at most `time`.
    pub holder: &'a str,
    /// Longest time of the lease.
    pub time: Duration,
}

/// Leases ready molecules of `model` that satisfy `request`, at most its size.
///
/// # Errors
/// Fails on a database error, or if a check panics; what was leased until then becomes free when its time ends.
pub async fn lease_filtered(
    pool: &PgPool,
    model: &Arc<LoadedModel>,
    request: &FilterRequest<'_>,
) -> Result<(ReadyMolecules, Lease), HandlerError> {
    let mut lease = Lease::new(request.holder);
    let mut found = FoundMolecules::new(request.size);
    let level = reservoir::levels(pool).await?.of(model);
    let mut blocks_left = (level / 2 / BLOCK_SIZE).min(MAX_BLOCKS);
    loop {
        let count = found.blocks_to_lease().min(blocks_left);
        if count == 0 || request.budget.is_exhausted() {
            break;
        }
        blocks_left -= count;
        let molecules = match request.conditions.profit_from_annotations() {
            true => lease.extend_annotated(pool, model, count, request.time).await?,
            false => lease.extend(pool, model, count, request.time).await?,
        };
        if molecules.is_empty() {
            break;
        }
        let (model, conditions) = (Arc::clone(model), Arc::clone(request.conditions));
        let budget = request.budget.clone();
        let checking = move || {
            let check = |(smiles, known): &AnnotatedMolecule| conditions.check(smiles, known.as_ref());
            let checks = model.sampler.map(&molecules, check, &budget);
            (molecules, checks)
        };
        let (molecules, checks) = compute(checking).await?;
        lease.leave(found.add(molecules, &checks));
    }
    Ok((found.ready, lease))
}

/// Molecules found so far.
struct FoundMolecules {
    size: usize,
    ready: ReadyMolecules,
    known: HashSet<String>,
}

impl FoundMolecules {
    fn new(size: usize) -> Self {
        Self { size, ready: ReadyMolecules::default(), known: HashSet::new() }
    }

    /// Returns the number of blocks that have the missing molecules, by the share so far; 0 if no more are worth it.
    fn blocks_to_lease(&self) -> usize {
        let missing = self.size.saturating_sub(self.ready.smiles.len());
        if self.ready.used == 0 {
            return missing.div_ceil(BLOCK_SIZE);
        }
        // Counts are exact in f64.
        let share = self.ready.smiles.len() as f64 / self.ready.used as f64;
        if share < LEAST_SHARE {
            return 0;
        }
        let molecules = missing as f64 / share * (1.0 + SPARE_BLOCKS);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small count")]
        let molecules = molecules.ceil() as usize;
        molecules.div_ceil(BLOCK_SIZE)
    }

    /// Adds molecules with their checks, up to the size, and returns those that it did not reach.
    fn add(
        &mut self,
        molecules: Vec<AnnotatedMolecule>,
        checks: &[ReadyCheck],
    ) -> impl Iterator<Item = String> + use<> {
        let mut molecules = molecules.into_iter().map(|(smiles, _)| smiles);
        let mut checks = checks.iter();
        while self.ready.smiles.len() < self.size
            && let Some(check) = checks.next()
            && let Some(smiles) = molecules.next()
        {
            self.ready.used += 1;
            match *check {
                ReadyCheck::Accepted if self.known.insert(smiles.clone()) => self.ready.smiles.push(smiles),
                ReadyCheck::Refused(check) => {
                    self.ready.refused.resize(self.ready.refused.len().max(check + 1), 0);
                    self.ready.refused[check] += 1;
                }
                ReadyCheck::Accepted | ReadyCheck::Invalid => {}
            }
        }
        molecules
    }
}
