//! A look's job: tell of many molecules, or search the catalogue, on all cores, and write the answer down packed.

use std::{
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use ::catalogue::{Masks, Shelf};
use base64::{Engine, engine::general_purpose::STANDARD};
use chem::Pattern;
use contract::{
    Country, FoundBlocks, Look, LookJob, LookOutcome, Looked, Sought, StoredLookJob, TreeSearchRequest,
};
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
    looks::{
        Answer, LONGEST, Wanted, add_offers, analogues, blocks, building_blocks, catalogue, expansions,
        molecule, synthesizability,
    },
    offers::{entries, offers_for},
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
        let kind = look.kind();
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
                looked(self.tell("expansions", tell).await?, deadline_seconds).await?
            }
            Look::BuildingBlocks { ships_to, max_offers, inchikey } => {
                let shelf = self.shelf(sold_to(ships_to, &terms));
                let tell =
                    move |planner: &Planner| building_blocks(planner, &shelf, &smiles, inchikey, &allowance);
                let mut sold = self.tell("building blocks", tell).await?;
                let offered = blocks(sold.items.iter());
                let offers = offers_for(pool, &offered, ships_to, &terms);
                let offers = database::within(DATABASE, offers).await?.annotations;
                add_offers(sold.items.iter_mut(), offers, super::count(max_offers));
                looked(sold, deadline_seconds).await?
            }
            Look::Synthesizability { max_seconds } => {
                let (shelf, time) = (self.shelf(masks(&as_a_search, &terms)), seconds(max_seconds));
                let tell =
                    move |planner: &Planner| synthesizability(planner, &shelf, &smiles, time, &allowance);
                looked(self.tell("synthesizability", tell).await?, deadline_seconds).await?
            }
            Look::Analogues { route, building_block } => {
                let shelf = self.shelf(masks(&as_a_search, &terms));
                let tell = move |planner: &Planner| {
                    analogues(planner, &shelf, &smiles, (&route, &building_block), &allowance)
                };
                looked(self.tell("analogues", tell).await?, deadline_seconds).await?
            }
            Look::Catalogue { sought, limit, ships_to, max_offers } => {
                let (limit, most) = (super::count(limit), super::count(max_offers));
                let (mut found, worked) = self.search(sought, limit, (ships_to, &terms), allowance).await?;
                let offered = blocks(found.items.iter().map(|item| &item.sold));
                let offers = offers_for(pool, &offered, ships_to, &terms);
                let offers = database::within(DATABASE, offers).await?.annotations;
                add_offers(found.items.iter_mut().map(|item| &mut item.sold), offers, most);
                packed(found, worked).await?
            }
        };
        info!(molecules = count, worked_seconds = outcome.worked_seconds, "told of molecules: {kind}");
        Ok(outcome)
    }

    /// What the catalogue has of what is `sought`, without offers, and how long that took.
    async fn search(
        &self,
        sought: Sought,
        limit: usize,
        (ships_to, terms): (Option<Country>, &VendorTerms),
        allowance: Allowance,
    ) -> Result<(FoundBlocks, Duration), HandlerError> {
        let wanted = match sought {
            Sought::Structure { smiles } => Wanted::Structure(molecule(&smiles)?),
            Sought::Similar { smiles, least } => {
                Wanted::Similar(molecule(&smiles)?.parent().molecule.fingerprint(), least)
            }
            Sought::Substructure { pattern } => Wanted::Containing(Pattern::of_part(&pattern)?),
            Sought::Number { text } => {
                let entries = entries(&self.search.pool, &text, limit + 1, ships_to, terms);
                Wanted::Entries(database::within(DATABASE, entries).await?)
            }
        };
        let shelf = self.shelf(sold_to(ships_to, terms));
        let allowance = Allowance { latest: allowance.latest.min(Instant::now() + LONGEST), ..allowance };
        let tell = move |planner: &Planner| {
            let found = catalogue(planner, &shelf, &wanted, limit, &allowance);
            let items = found.told(&shelf);
            let total_elapsed = found.worked.as_secs_f64();
            let (more, searched) = (found.more, found.searched);
            (FoundBlocks { object: Default::default(), items, more, searched, total_elapsed }, found.worked)
        };
        self.tell("catalogue", tell).await
    }

    fn shelf(&self, masks: Masks) -> Shelf {
        Shelf::new(self.search.catalogue.now(), masks)
    }

    /// What `tell` tells, on threads that compute.
    async fn tell<T: Send + 'static>(
        &self,
        what: &'static str,
        tell: impl FnOnce(&Planner) -> T + Send + 'static,
    ) -> Result<T, HandlerError> {
        let planner = Arc::clone(&self.search.planner);
        let span = info_span!("look", what);
        Ok(compute(move || span.in_scope(|| tell(&planner))).await?)
    }
}

/// What is sold at all to a region, at whatever price.
fn sold_to(ships_to: Option<Country>, terms: &VendorTerms) -> Masks {
    let request = TreeSearchRequest { ships_to, ..TreeSearchRequest::new("") };
    Masks { mw_gte: None, usd_gte: None, lead_gte: None, ..masks(&request, terms) }
}

/// What was told of many molecules, as it is stored.
async fn looked<T: Serialize + Send + 'static>(
    Answer { items, worked }: Answer<T>,
    deadline_seconds: f64,
) -> Result<LookOutcome, HandlerError> {
    let total_elapsed = worked.as_secs_f64();
    packed(Looked { object: Default::default(), items, total_elapsed, deadline_seconds }, worked).await
}

/// A body as it is stored, which took so long.
async fn packed<T: Serialize + Send + 'static>(
    body: T,
    worked: Duration,
) -> Result<LookOutcome, HandlerError> {
    let zipped = compute(move || zipped(&body, Compression::fast())).await??;
    Ok(LookOutcome { zipped: STANDARD.encode(zipped), worked_seconds: worked.as_secs_f64() })
}
