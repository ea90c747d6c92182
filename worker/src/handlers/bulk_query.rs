//! Handler of bulk queries: computes on many molecules, or searches the catalogue, on all cores, and stores the
//! compressed answer.

use std::{
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use ::catalogue::{Masks, Snapshot, StockView};
use base64::{Engine, engine::general_purpose::STANDARD};
use catalogue_tables::{VendorRules, entries, offers_for, terms};
use chem::Pattern;
use contract::{
    BulkQuery, BulkQueryJob, BulkQueryOutcome, BulkQueryResult, CatalogueCriterion, CatalogueSearchResult,
    Country, RouteLimits, StoredBulkQueryJob, TreeSearchRequest,
};
use flate2::Compression;
use queue::{Handler, HandlerError, Job, JobContext};
use serde::Serialize;
use synth::{BatchLimits, Planner, SearchUrgency};
use tracing::{info, info_span};

use super::{
    DATABASE_TIMEOUT, SearchHandler,
    search::{masks, seconds},
    store, zipped,
};
use crate::{
    bulk_queries::{
        BulkAnswer, CatalogueQuery, MAX_QUERY_TIME, add_offers, analogues, blocks, building_blocks,
        catalogue, expansions, makeability, molecule, synthesizability,
    },
    compute::compute,
};

/// Seconds of work from which a bulk query yields to interactive searches; shorter ones end before they would matter.
const LONG: f64 = 0.1;

/// Handler of bulk queries.
#[derive(Debug, Clone)]
pub struct BulkQueryHandler {
    /// State shared by all searches of the process.
    pub search: SearchHandler,
}

impl Handler<StoredBulkQueryJob> for BulkQueryHandler {
    async fn handle(
        &self,
        context: JobContext<StoredBulkQueryJob>,
        stored: StoredBulkQueryJob,
    ) -> Result<(), HandlerError> {
        let urgency =
            if stored.work().seconds < LONG { SearchUrgency::Interactive } else { SearchUrgency::Bulk };
        let StoredBulkQueryJob::V1(job) = stored;
        let allowance = BatchLimits {
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

impl BulkQueryHandler {
    /// Computes the answer of the job.
    ///
    /// # Errors
    /// Fails when the vendors or the offers cannot be read or the query panics.
    pub async fn answer(
        &self,
        job: BulkQueryJob,
        allowance: BatchLimits,
    ) -> Result<BulkQueryOutcome, HandlerError> {
        let BulkQueryJob { account_id, smiles, deadline_seconds, query, .. } = job;
        let kind = query.kind();
        let (pool, count) = (&self.search.pool, smiles.len());
        let as_a_search = TreeSearchRequest::new("");
        let terms = terms(pool, Some(&account_id), &as_a_search);
        let terms = database::within(DATABASE_TIMEOUT, terms).await?;
        let outcome = match query {
            BulkQuery::Expansions { limit, check } => {
                let stock = self.stock(masks(&as_a_search, &terms));
                let query = move |planner: &Planner| {
                    expansions(planner, &stock, &smiles, (super::count(limit), check), &allowance)
                };
                run_recorded(self.run_query("expansions", query).await?, deadline_seconds).await?
            }
            BulkQuery::BuildingBlocks { ships_to, max_offers, inchikey } => {
                let stock = self.stock(sold_to(ships_to, &terms));
                let query =
                    move |planner: &Planner| building_blocks(planner, &stock, &smiles, inchikey, &allowance);
                let mut sold = self.run_query("building blocks", query).await?;
                let offered = blocks(sold.items.iter());
                let offers = offers_for(pool, &offered, ships_to, &terms);
                let offers = database::within(DATABASE_TIMEOUT, offers).await?.annotations;
                add_offers(sold.items.iter_mut(), offers, super::count(max_offers));
                run_recorded(sold, deadline_seconds).await?
            }
            BulkQuery::Synthesizability { max_seconds } => {
                let (stock, time) = (self.stock(masks(&as_a_search, &terms)), seconds(max_seconds));
                let query =
                    move |planner: &Planner| synthesizability(planner, &stock, &smiles, time, &allowance);
                run_recorded(self.run_query("synthesizability", query).await?, deadline_seconds).await?
            }
            BulkQuery::Makeability { limits } => {
                let stock = route_stock(self.search.catalogue.now(), &limits, &terms);
                let query =
                    move |planner: &Planner| makeability(planner, &stock, &smiles, &limits, &allowance);
                run_recorded(self.run_query("makeability", query).await?, deadline_seconds).await?
            }
            BulkQuery::Analogues { route, building_block } => {
                let stock = self.stock(masks(&as_a_search, &terms));
                let query = move |planner: &Planner| {
                    analogues(planner, &stock, &smiles, (&route, &building_block), &allowance)
                };
                run_recorded(self.run_query("analogues", query).await?, deadline_seconds).await?
            }
            BulkQuery::Catalogue { sought, limit, ships_to, max_offers } => {
                let (limit, most) = (super::count(limit), super::count(max_offers));
                let (mut found, worked) = self.search(sought, limit, (ships_to, &terms), allowance).await?;
                let offered = blocks(found.items.iter().map(|item| &item.sold));
                let offers = offers_for(pool, &offered, ships_to, &terms);
                let offers = database::within(DATABASE_TIMEOUT, offers).await?.annotations;
                add_offers(found.items.iter_mut().map(|item| &mut item.sold), offers, most);
                packed(found, worked).await?
            }
        };
        info!(molecules = count, worked_seconds = outcome.worked_seconds, "bulk query done: {kind}");
        Ok(outcome)
    }

    /// Searches the catalogue for `sought`, without offers; returns the time taken too.
    async fn search(
        &self,
        sought: CatalogueCriterion,
        limit: usize,
        (ships_to, terms): (Option<Country>, &VendorRules),
        allowance: BatchLimits,
    ) -> Result<(CatalogueSearchResult, Duration), HandlerError> {
        let catalogue_query = match sought {
            CatalogueCriterion::Structure { smiles } => CatalogueQuery::Structure(molecule(&smiles)?),
            CatalogueCriterion::Similar { smiles, least } => {
                CatalogueQuery::Similar(molecule(&smiles)?.parent().molecule.fingerprint(), least)
            }
            CatalogueCriterion::Substructure { pattern } => {
                CatalogueQuery::Containing(Pattern::parse_substructure(&pattern)?)
            }
            CatalogueCriterion::Number { text } => {
                let entries = entries(&self.search.pool, &text, limit + 1, ships_to, terms);
                CatalogueQuery::Entries(database::within(DATABASE_TIMEOUT, entries).await?)
            }
        };
        let stock = self.stock(sold_to(ships_to, terms));
        let allowance =
            BatchLimits { latest: allowance.latest.min(Instant::now() + MAX_QUERY_TIME), ..allowance };
        let query = move |planner: &Planner| {
            let found = catalogue(planner, &stock, &catalogue_query, limit, &allowance);
            let items = found.found_blocks(&stock);
            let total_elapsed = found.worked.as_secs_f64();
            let (more, searched) = (found.more, found.searched);
            (
                CatalogueSearchResult { object: Default::default(), items, more, searched, total_elapsed },
                found.worked,
            )
        };
        self.run_query("catalogue", query).await
    }

    fn stock(&self, masks: Masks) -> StockView {
        StockView::new(self.search.catalogue.now(), masks)
    }

    /// Runs `query` on compute threads.
    async fn run_query<T: Send + 'static>(
        &self,
        stage: &'static str,
        query: impl FnOnce(&Planner) -> T + Send + 'static,
    ) -> Result<T, HandlerError> {
        let planner = Arc::clone(&self.search.planner);
        let span = info_span!("look", what = stage);
        Ok(compute(move || span.in_scope(|| query(&planner))).await?)
    }
}

/// Returns masks for all that is sold to a region, at any price.
fn sold_to(ships_to: Option<Country>, terms: &VendorRules) -> Masks {
    let request = TreeSearchRequest { ships_to, ..TreeSearchRequest::new("") };
    Masks { mw_gte: None, usd_gte: None, lead_gte: None, ..masks(&request, terms) }
}

/// Returns the building blocks of `snapshot` that routes within `limits` may use, under these vendor rules.
pub(crate) fn route_stock(snapshot: Arc<Snapshot>, limits: &RouteLimits, terms: &VendorRules) -> StockView {
    // A mask excludes its own value, which a limit includes; the stock has days of single precision.
    #[expect(clippy::cast_possible_truncation, reason = "the stock's days are of single precision")]
    let mask_lead_times_gte = limits.max_lead_time_days.map(|days| f64::from((days as f32).next_up()));
    let request =
        TreeSearchRequest { ships_to: limits.ships_to, mask_lead_times_gte, ..TreeSearchRequest::new("") };
    StockView::new(snapshot, masks(&request, terms))
}

/// Wraps and compresses the answer on many molecules for storage.
async fn run_recorded<T: Serialize + Send + 'static>(
    BulkAnswer { items, worked }: BulkAnswer<T>,
    deadline_seconds: f64,
) -> Result<BulkQueryOutcome, HandlerError> {
    let total_elapsed = worked.as_secs_f64();
    packed(BulkQueryResult { object: Default::default(), items, total_elapsed, deadline_seconds }, worked)
        .await
}

/// Compresses a body for storage, with the time that it took.
async fn packed<T: Serialize + Send + 'static>(
    body: T,
    worked: Duration,
) -> Result<BulkQueryOutcome, HandlerError> {
    let zipped = compute(move || zipped(&body, Compression::fast())).await??;
    Ok(BulkQueryOutcome { zipped: STANDARD.encode(zipped), worked_seconds: worked.as_secs_f64() })
}
