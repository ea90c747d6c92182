//! A look's job: tell of many molecules, on all cores, and write the answer down packed.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Instant,
};

use base64::{Engine, engine::general_purpose::STANDARD};
use catalogue::{Masks, Shelf};
use contract::{Look, LookJob, LookOutcome, Looked, StoredLookJob, TreeSearchRequest};
use flate2::Compression;
use queue::{Handler, HandlerError, Job, JobContext};
use serde::Serialize;
use synth::{Allowance, Planner, Urgency};
use tracing::{info, info_span};

use super::{
    DATABASE, Search,
    search::{masks, seconds},
    store, zipped,
};
use crate::{
    VendorTerms,
    compute::compute,
    looks::{Answer, building_blocks, expansions, synthesizability},
    offers::offers_for,
    terms,
};

/// Seconds of work from which on a look stands aside for searches that are waited for: what is shorter is over before they would
/// notice.
const LONG: f64 = 0.1;

/// Tells of many molecules.
#[derive(Debug, Clone)]
pub struct Looks {
    /// What all searches of the process share.
    pub search: Search,
}

impl Handler<StoredLookJob> for Looks {
    async fn handle(
        &self,
        context: JobContext<StoredLookJob>,
        stored: StoredLookJob,
    ) -> Result<(), HandlerError> {
        let urgency = if stored.work().seconds < LONG { Urgency::Awaited } else { Urgency::Many };
        let StoredLookJob::V1(job) = stored;
        let allowance = Allowance {
            urgency,
            latest: context.deadline.min(Instant::now() + seconds(job.deadline_seconds)),
            cancelled: Arc::clone(&context.cancelled),
        };
        let outcome = self.answer(job, allowance).await?;
        if context.cancelled.load(Ordering::Acquire) {
            return Ok(());
        }
        store(&self.search.pool, &context, &Ok(outcome)).await
    }
}

impl Looks {
    /// What is told of the job's molecules.
    ///
    /// # Errors
    /// Fails when the vendors or the offers cannot be read or the look panics.
    pub async fn answer(&self, job: LookJob, allowance: Allowance) -> Result<LookOutcome, HandlerError> {
        let LookJob { account_id, smiles, deadline_seconds, look, .. } = job;
        let (pool, count) = (&self.search.pool, smiles.len());
        let as_a_search = TreeSearchRequest::new("");
        let terms = terms(pool, Some(&account_id), &as_a_search);
        let terms = database::within(DATABASE, terms).await?;
        let outcome = match look {
            Look::Expansions { limit, check } => {
                let shelf = self.shelf(masks(&as_a_search, &terms));
                let tell = move |planner: &Planner| {
                    expansions(planner, &shelf, &smiles, (super::count(limit), check), &allowance)
                };
                packed(self.tell("expansions", tell).await?, deadline_seconds).await?
            }
            Look::BuildingBlocks { ships_to, max_offers } => {
                let masks = sold_to(&TreeSearchRequest { ships_to, ..as_a_search }, &terms);
                let shelf = self.shelf(masks);
                let tell = move |planner: &Planner| building_blocks(planner, &shelf, &smiles, &allowance);
                let sold = self.tell("building blocks", tell).await?;
                let blocks = sold.blocks();
                let offers = offers_for(pool, &blocks, ships_to, &terms);
                let offers = database::within(DATABASE, offers).await?.annotations;
                packed(sold.with_offers(offers, super::count(max_offers)), deadline_seconds).await?
            }
            Look::Synthesizability { max_seconds } => {
                let (shelf, time) = (self.shelf(masks(&as_a_search, &terms)), seconds(max_seconds));
                let tell =
                    move |planner: &Planner| synthesizability(planner, &shelf, &smiles, time, &allowance);
                packed(self.tell("synthesizability", tell).await?, deadline_seconds).await?
            }
        };
        info!(molecules = count, worked_seconds = outcome.worked_seconds, "told of molecules: {look:?}");
        Ok(outcome)
    }

    fn shelf(&self, masks: Masks) -> Shelf {
        Shelf::new(self.search.catalogue.now(), masks)
    }

    /// What `tell` tells, on threads that compute.
    async fn tell<T: Send + 'static>(
        &self,
        what: &'static str,
        tell: impl FnOnce(&Planner) -> Answer<T> + Send + 'static,
    ) -> Result<Answer<T>, HandlerError> {
        let planner = Arc::clone(&self.search.planner);
        let span = info_span!("look", what);
        Ok(compute(move || span.in_scope(|| tell(&planner))).await?)
    }
}

/// What is sold at all to the request's region, at whatever price.
fn sold_to(request: &TreeSearchRequest, terms: &VendorTerms) -> Masks {
    Masks { mw_gte: None, usd_gte: None, lead_gte: None, ..masks(request, terms) }
}

/// The answer as it is stored.
async fn packed<T: Serialize + Send + 'static>(
    Answer { items, worked }: Answer<T>,
    deadline_seconds: f64,
) -> Result<LookOutcome, HandlerError> {
    let worked_seconds = worked.as_secs_f64();
    let looked =
        Looked { object: Default::default(), items, total_elapsed: worked_seconds, deadline_seconds };
    let zipped = compute(move || zipped(&looked, Compression::fast())).await??;
    Ok(LookOutcome { zipped: STANDARD.encode(zipped), worked_seconds })
}
