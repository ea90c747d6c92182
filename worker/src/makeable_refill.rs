//! Refilling of the reservoir of makeable molecules while a searcher is idle.
//!
//! A searcher takes a whole block of ready molecules out of the reservoir, searches for routes as for a sample with
//! the default limits, and keeps the makeable molecules. All of the block is used up, makeable or not. If only the
//! makeable molecules left the reservoir, the rest would be biased, and plain samples would have fewer of them than
//! the model draws.
//!
//! Blocks of a model are taken only while plenty of its molecules lie ready, so that plain samples do not run short.
//! The searches have the urgency of batches, so all others go first, and a block is taken only when none of these
//! runs. Several searchers may refill one model; each overshoots by one block at most.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::{Duration, Instant},
};

use ::catalogue::Snapshot;
use catalogue_tables::{VendorRules, content, terms};
use contract::{Makeability, RouteLimits, TreeSearchRequest};
use queue::HandlerError;
use synth::{BatchLimits, SearchUrgency};
use tracing::{Instrument, Span, field::Empty, info, info_span};

use crate::{
    ReadyCounts, SearchHandler,
    bulk_queries::makeability,
    compute::compute_in_background,
    handlers::route_stock,
    makeable_reservoir::{self, MakeableMolecule, MakeableSource},
    refill::StopOnDrop,
    refill_retries::RefillRetries,
    reservoir::{self, Levels},
};

/// Least number of ready molecules of a model of which blocks are taken: the largest plain sample.
const LEAST_READY: usize = 10_000;
/// Polling interval of the levels while nothing is to be done.
const POLL_INTERVAL: Duration = Duration::from_secs(5);
/// Timeout of a database operation.
const DATABASE: Duration = Duration::from_secs(60);
/// Longest wait for more urgent searches to end, before the levels are read again.
const IDLE_WAIT: Duration = Duration::from_secs(60);
/// Time for the searches of a block; molecules not reached are dropped.
const BLOCK_TIMEOUT: Duration = Duration::from_secs(60);
/// Least share of makeable molecules for which a model's blocks are worth using up.
const LEAST_SHARE: f64 = 0.01;
/// Least number of molecules that show a smaller share.
const LEAST_CHECKED: usize = 100;

/// Levels at which makeable molecules are found ahead.
#[derive(Debug, Clone, Copy)]
pub struct MakeableLevels {
    /// Makeable molecules kept for each model.
    pub capacity: usize,
    /// Least number of ready molecules of a model of which blocks are taken.
    pub least_ready: usize,
}

impl MakeableLevels {
    /// Returns the levels that keep `capacity` makeable molecules for each model.
    #[must_use]
    pub fn up_to(capacity: usize) -> Self {
        Self { capacity, least_ready: LEAST_READY }
    }
}

/// Finds makeable molecules of each model ahead, and counts them in `counts`; runs until dropped, and may be
/// restarted.
pub async fn refill_makeable(search: SearchHandler, levels: MakeableLevels, counts: ReadyCounts) {
    let mut filler = Filler { search, levels, counts, given_up: BTreeSet::new() };
    let mut retries = RefillRetries::new("the reservoir of makeable molecules");
    loop {
        let pause = match filler.round().await {
            Ok(outcome) => {
                retries.succeeded();
                match outcome {
                    RefillOutcome::BlocksUsed => Duration::ZERO,
                    RefillOutcome::NothingToDo => POLL_INTERVAL,
                }
            }
            Err(fault) => retries.failed(&fault),
        };
        tokio::time::sleep(pause).await;
    }
}

/// Outcome of one pass over all models.
enum RefillOutcome {
    /// Blocks were used up.
    BlocksUsed,
    /// No model needs makeable molecules, or none can be found now.
    NothingToDo,
}

struct Filler {
    search: SearchHandler,
    levels: MakeableLevels,
    counts: ReadyCounts,
    /// Models by id and version, and versions of the catalogue, of which hardly any molecule is makeable.
    given_up: BTreeSet<(String, String, i64)>,
}

impl Filler {
    /// Uses up one block of each model that has too few makeable molecules.
    async fn round(&mut self) -> Result<RefillOutcome, HandlerError> {
        let pool = &self.search.pool;
        let catalogue_version = content(pool).await?.version;
        let outdated = makeable_reservoir::drop_outdated(pool, catalogue_version);
        let dropped = database::within(DATABASE, outdated).await?;
        if dropped > 0 {
            info!(molecules = dropped, "dropped makeable molecules with outdated routes");
        }
        let ready = database::within(DATABASE, reservoir::levels(pool)).await?;
        let makeable = makeable_reservoir::levels(pool, catalogue_version);
        let makeable = database::within(DATABASE, makeable).await?;
        self.counts.set(counts(&ready, &makeable));

        let snapshot = self.search.catalogue.now();
        if !self.can_find(&snapshot, catalogue_version).await? {
            return Ok(RefillOutcome::NothingToDo);
        }
        let mut outcome = RefillOutcome::NothingToDo;
        for (model_id, model_version, level) in ready.iter() {
            let key = (model_id.to_owned(), model_version.to_owned(), catalogue_version);
            let has_enough = makeable.of_version(model_id, model_version) >= self.levels.capacity;
            if level < self.levels.least_ready || has_enough || self.given_up.contains(&key) {
                continue;
            }
            if !self.is_idle().await? {
                break;
            }
            let block = reservoir::take_block(&self.search.pool, model_id, model_version);
            let Some(block) = database::within(DATABASE, block).await? else { continue };
            outcome = RefillOutcome::BlocksUsed;
            let source = MakeableSource { model_id, model_version, catalogue_version };
            let span =
                info_span!("makeable.refill", model.id = model_id, molecules = block.len(), makeable = Empty);
            let found = self.use_up(block, &snapshot, &source).instrument(span).await?;
            if found.is_poor() {
                info!(
                    model.id = model_id,
                    "hardly any molecule of this model can be made; none are kept ready"
                );
                self.given_up.insert(key);
            }
        }
        Ok(outcome)
    }

    /// Returns true if routes can be found that every sample may have.
    async fn can_find(&self, snapshot: &Snapshot, catalogue_version: i64) -> Result<bool, HandlerError> {
        // The snapshot of a new version is opened within seconds.
        if snapshot.version() != catalogue_version || snapshot.is_empty() {
            return Ok(false);
        }
        // Rules of the installation bind all accounts: none could take a molecule.
        let request = TreeSearchRequest::new("");
        let terms = database::within(DATABASE, terms(&self.search.pool, None, &request)).await?;
        Ok(terms.allow_all_public())
    }

    /// Waits until no more urgent search runs; false if that takes too long.
    async fn is_idle(&self) -> Result<bool, HandlerError> {
        let stop = StopOnDrop::default();
        let limits = self.limits(&stop, IDLE_WAIT);
        let planner = Arc::clone(&self.search.planner);
        // A batch starts with its first item only when nothing more urgent runs.
        let started = compute_in_background(move || planner.each(&[()], &limits, |(), _| Some(())));
        Ok(started.await?.each[0].is_some())
    }

    /// Searches for a route to each molecule of `block`, and puts those that have one into the reservoir.
    async fn use_up(
        &self,
        block: Vec<String>,
        snapshot: &Arc<Snapshot>,
        source: &MakeableSource<'_>,
    ) -> Result<FoundMolecules, HandlerError> {
        let stop = StopOnDrop::default();
        let limits = self.limits(&stop, BLOCK_TIMEOUT);
        let planner = Arc::clone(&self.search.planner);
        let route_limits = RouteLimits::default();
        // An account may see private vendors as well; the public ones are there for all.
        let stock = route_stock(Arc::clone(snapshot), &route_limits, &VendorRules::default());
        let searching = compute_in_background(move || {
            let answer = makeability(&planner, &stock, &block, &route_limits, &limits);
            FoundMolecules::of(block, &answer.items)
        });
        let found = searching.await?;
        Span::current().record("makeable", found.makeable.len());
        let put = makeable_reservoir::put(&self.search.pool, source, &found.makeable);
        database::within(DATABASE, put).await?;
        Ok(found)
    }

    /// Returns the limits of searches that go after all others, for at most `time` or until `stop` is dropped.
    fn limits(&self, stop: &StopOnDrop, time: Duration) -> BatchLimits {
        BatchLimits {
            urgency: SearchUrgency::Batch,
            latest: Instant::now() + time,
            cancelled: Arc::clone(&stop.0),
        }
    }
}

/// Result of the searches for a block.
struct FoundMolecules {
    /// Molecules that were reached.
    checked: usize,
    makeable: Vec<MakeableMolecule>,
}

impl FoundMolecules {
    fn of(block: Vec<String>, results: &[Makeability]) -> Self {
        let checked = results.iter().filter(|result| !matches!(result, Makeability::NotReached)).count();
        let makeable = block.into_iter().zip(results).filter_map(|(smiles, result)| match result {
            Makeability::Makeable(route) => Some(MakeableMolecule { smiles, route: *route }),
            Makeability::NoRoute | Makeability::NotReached => None,
        });
        Self { checked, makeable: makeable.collect() }
    }

    /// Returns true if so few molecules are makeable that more blocks would be wasted.
    fn is_poor(&self) -> bool {
        // Counts of molecules are exact in f64.
        self.checked >= LEAST_CHECKED && (self.makeable.len() as f64) < self.checked as f64 * LEAST_SHARE
    }
}

/// Returns the makeable molecules of each model that has any ready molecule.
fn counts(ready: &Levels, makeable: &Levels) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for (model_id, model_version, _) in ready.iter() {
        *counts.entry(model_id.to_owned()).or_default() += makeable.of_version(model_id, model_version);
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(checked: usize, makeable: usize) -> FoundMolecules {
        let route =
            contract::MakeableRoute { steps: 1, usd_per_mol: None, building_blocks: 2, plausibility: 1.0 };
        let results = (0..checked).map(|at| match at < makeable {
            true => Makeability::Makeable(route),
            false => Makeability::NoRoute,
        });
        let results: Vec<_> = results.chain([Makeability::NotReached]).collect();
        FoundMolecules::of((0..=checked).map(|at| at.to_string()).collect(), &results)
    }

    #[test]
    fn a_model_is_given_up_when_enough_molecules_show_that_hardly_any_is_makeable() {
        let cases = [(500, 4), (500, 5), (100, 0), (99, 0), (0, 0)];

        let poor = cases.map(|(checked, makeable)| found(checked, makeable).is_poor());

        assert_eq!(poor, [true, false, true, false, false]);
        assert_eq!(
            found(3, 2).makeable.iter().map(|one| one.smiles.as_str()).collect::<Vec<_>>(),
            ["0", "1"]
        );
    }
}
