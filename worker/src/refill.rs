//! Keeping the reservoir full while nobody asks for samples.
//!
//! A model is filled once its level falls under the low-water mark, and then up to the brim. A block being made
//! is given up when a job comes, so that requests are not slowed. Several processes may fill one model; they
//! overshoot by a block each at most.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use generator::{Budget, SampleError};
use sqlx::PgPool;
use tokio::sync::watch;
use tracing::{Instrument, debug, error, info, info_span, warn};

use crate::{
    Models, Ready, Shelf, compute, metrics,
    reservoir::{self, BLOCK},
    resources::Model,
};

/// Refilling starts when less than this part of the reservoir is left.
const LOW_WATER: f64 = 0.9;
/// How often the levels are looked at when nothing is to be done.
const LOOK: Duration = Duration::from_secs(2);
/// Pause after the database failed or refused a block, twice as long each time: a full disk does not empty itself.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// How long no job must have run after one came: its answer is still on its way, and takes the same cores.
const LINGER: Duration = Duration::from_millis(20);
/// How long an act may wait for the database: dropping a reservoir takes a while.
const DATABASE: Duration = Duration::from_secs(60);
/// A model that gives no block within this time, on a machine that does nothing else, gives none.
const PATIENCE: Duration = Duration::from_secs(60);

/// How many jobs of this process run; refilling waits while there are any.
#[derive(Debug, Clone)]
pub struct Activity(watch::Sender<usize>);

impl Default for Activity {
    fn default() -> Self {
        Self(watch::Sender::new(0))
    }
}

impl Activity {
    /// Counts a job until the result is dropped.
    #[must_use]
    pub fn begin(&self) -> Active {
        self.0.send_modify(|jobs| *jobs += 1);
        Active(self.0.clone())
    }

    /// Resolves when no job runs.
    pub(crate) async fn idle(&self) {
        // The sender is ours, so the channel cannot be closed.
        let _ = self.0.subscribe().wait_for(|jobs| *jobs == 0).await;
    }

    /// Resolves when no job has run for some time.
    pub(crate) async fn quiet(&self) {
        self.idle().await;
        while tokio::time::timeout(LINGER, self.busy()).await.is_ok() {
            self.idle().await;
        }
    }

    /// Resolves when a job runs.
    pub(crate) async fn busy(&self) {
        let _ = self.0.subscribe().wait_for(|jobs| *jobs > 0).await;
    }
}

/// A running job.
#[derive(Debug)]
pub struct Active(watch::Sender<usize>);

impl Drop for Active {
    fn drop(&mut self) {
        self.0.send_modify(|jobs| *jobs -= 1);
    }
}

/// Refills the reservoir of each model up to `capacity` molecules; runs until dropped, and may begin again.
pub async fn refill(pool: PgPool, shelf: Arc<Shelf>, capacity: usize, activity: Activity, ready: Ready) {
    let (filling, given_up, current) = Default::default();
    let mut filler = Filler { pool, capacity, activity, ready, filling, given_up, current };
    let mut failures = 0;
    loop {
        filler.activity.idle().await;
        let round = filler.round(&shelf.models()).await;
        let pause = match &round {
            Ok(Round::Filled | Round::JobCame) => Duration::ZERO,
            Ok(Round::Full) => LOOK,
            Err(_) => FIRST_PAUSE.saturating_mul(1 << failures.min(10)).min(LONGEST_PAUSE),
        };
        match round {
            Ok(Round::JobCame) => filler.activity.quiet().await,
            Ok(_) if failures > 0 => {
                info!("the reservoir is refilled again");
                failures = 0;
            }
            Ok(_) => {}
            // Said once: a disk may be full for days.
            Err(fault) => {
                match failures {
                    0 => warn!("could not refill the reservoir, and will go on trying: {fault}"),
                    _ => debug!("could not refill the reservoir: {fault}"),
                }
                failures += 1;
            }
        }
        tokio::time::sleep(pause).await;
    }
}

/// What came of looking at all models.
enum Round {
    /// Blocks were made.
    Filled,
    /// No model wants one.
    Full,
    /// A job came meanwhile, which goes first.
    JobCame,
}

struct Filler {
    pool: PgPool,
    capacity: usize,
    activity: Activity,
    ready: Ready,
    /// Models between the low-water mark and the brim, on the way up.
    filling: BTreeSet<String>,
    /// Versions that cannot give a block of distinct molecules.
    given_up: BTreeSet<String>,
    /// The version of each model whose predecessors' molecules are gone.
    current: BTreeMap<String, String>,
}

impl Filler {
    /// Makes a block for each model that wants one.
    async fn round(&mut self, models: &Arc<Models>) -> Result<Round, sqlx::Error> {
        for model in models.iter() {
            self.drop_other_versions(model).await?;
        }
        let levels = database::within(DATABASE, reservoir::levels(&self.pool)).await?;
        let mut round = Round::Full;
        for model in models.iter() {
            if !self.wants(model, levels.of(model)) {
                continue;
            }
            round = Round::Filled;
            let span = info_span!("reservoir.refill", model.id = model.id(), molecules = BLOCK);
            match make(model, &self.activity).instrument(span.clone()).await {
                Ok(block) => {
                    database::within(DATABASE, self.put(model, &block)).instrument(span).await?;
                    self.ready.more(model, block.len());
                    metrics::refilled(model.id(), block.len());
                }
                Err(NoBlock::JobCame) => return Ok(Round::JobCame),
                Err(NoBlock::Fault(fault)) => {
                    error!(model.id = model.id(), "no molecules are kept ready of this model: {fault}");
                    self.given_up.insert(model.version.clone());
                }
            }
        }
        Ok(round)
    }

    async fn drop_other_versions(&mut self, model: &Model) -> Result<(), sqlx::Error> {
        if self.current.get(model.id()) != Some(&model.version) {
            let dropped = reservoir::drop_other_versions(&self.pool, model);
            let blocks = database::within(DATABASE, dropped).await?;
            if blocks > 0 {
                info!(model.id = model.id(), blocks, "dropped the molecules of another version");
            }
            self.current.insert(model.id().to_owned(), model.version.clone());
        }
        Ok(())
    }

    async fn put(&self, model: &Model, block: &[String]) -> Result<(), sqlx::Error> {
        reservoir::put(&mut *self.pool.acquire().await?, model, block).await
    }

    fn wants(&mut self, model: &Model, level: usize) -> bool {
        if self.given_up.contains(&model.version) {
            return false;
        }
        if level >= self.capacity {
            if self.filling.remove(model.id()) {
                info!(model.id = model.id(), molecules = level, "the reservoir is full");
            }
            return false;
        }
        // In f64 a level is exact.
        if (level as f64) < self.capacity as f64 * LOW_WATER {
            self.filling.insert(model.id().to_owned());
        }
        self.filling.contains(model.id())
    }
}

/// Why there is no block.
enum NoBlock {
    /// A job came; it goes first.
    JobCame,
    Fault(String),
}

/// Makes a block, unless a job comes meanwhile.
async fn make(model: &Arc<Model>, activity: &Activity) -> Result<Vec<String>, NoBlock> {
    let stop = StopOnDrop::default();
    let deadline = Instant::now() + PATIENCE;
    let budget = Budget { deadline: Some(deadline), cancelled: Arc::clone(&stop.0) };
    let maker = Arc::clone(model);
    let mut work = compute(move || maker.sampler.sample(BLOCK, rand::random(), &budget));
    let ended = tokio::select! {
        ended = &mut work => ended,
        () = activity.busy() => {
            drop(stop);
            work.await
        }
    };
    metrics::drawn(model.id(), model.sampler.take_tally());
    match ended {
        Ok(Ok(block)) => Ok(block),
        Ok(Err(SampleError::Interrupted)) if Instant::now() >= deadline => {
            Err(NoBlock::Fault(format!("{BLOCK} molecules take longer than {} s", PATIENCE.as_secs())))
        }
        Ok(Err(SampleError::Interrupted)) => Err(NoBlock::JobCame),
        Ok(Err(fault)) => Err(NoBlock::Fault(fault.to_string())),
        Err(panic) => Err(NoBlock::Fault(panic.to_string())),
    }
}

/// Stops the work when its waiter is gone.
#[derive(Default)]
pub(crate) struct StopOnDrop(pub(crate) Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}
