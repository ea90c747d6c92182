//! Handler of search jobs: parse the target, search, look up the offers, store the answer.

use std::{
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use ::catalogue::{Masks, Region, StockView, VendorSet};
use catalogue_tables::{VendorRules, offers_for, terms};
use chem::{Limits, MappedMolecule};
use contract::{
    CompactResult, JobFailure, ProgressReporting, StoredSearchResult, StoredTreeSearchJob, TreeSearchJob,
    TreeSearchRequest,
};
use queue::{Handler, HandlerError, JobContext};
use sqlx::PgPool;
use synth::{Budget, GroupOrder, Listener, Planner, SearchResult, Stop, TargetPurchase, Task};
use tracing::{Instrument, info, info_span};

use super::{DATABASE_TIMEOUT, count, store};
use crate::{
    CatalogueView, OfferAnnotation,
    compute::{compute, compute_in_background},
    constraints::constraints,
    event_publisher::{EventListener, PublishCondition, SearchEventWriter},
    metrics,
    own_blocks::OwnBlocks,
    result,
};

/// Handler of search jobs.
#[derive(Debug, Clone)]
pub struct SearchHandler {
    /// Connections for offers and outcomes.
    pub pool: PgPool,
    /// Templates, the policy network that ranks them, and state shared by searches.
    pub planner: Arc<Planner>,
    /// Purchasable building blocks.
    pub catalogue: CatalogueView,
}

impl Handler<StoredTreeSearchJob> for SearchHandler {
    async fn handle(
        &self,
        context: JobContext<StoredTreeSearchJob>,
        StoredTreeSearchJob::V1(job): StoredTreeSearchJob,
    ) -> Result<(), HandlerError> {
        let started = Instant::now();
        // The job was started early enough for this before its deadline.
        let end = started + seconds(job.request.max_seconds);
        let budget = Budget::until(end, Arc::clone(&context.cancelled));
        let outcome = match job.reporting {
            ProgressReporting::Nothing => self.answer(&job, budget, started).await?,
            ProgressReporting::Events => {
                let writer = SearchEventWriter::begin(
                    self.pool.clone(),
                    context.event_publisher(),
                    PublishCondition::Always,
                );
                let outcome = self.answer_with_progress(&job, budget, started, Some(writer.listener())).await;
                writer.end().await;
                outcome?
            }
        };
        if context.cancelled.load(Ordering::Acquire) {
            return Ok(());
        }
        let outcome = outcome.map(|result| match job.compact {
            true => StoredSearchResult::Compact(result),
            false => StoredSearchResult::Full(result.expanded()),
        });
        store(&self.pool, &context, &outcome).await
    }
}

impl SearchHandler {
    /// Searches and adds the offers; `started` is when the worker took the job.
    ///
    /// # Errors
    /// Fails when the vendors or the offers cannot be read or the search panics.
    pub async fn answer(
        &self,
        job: &TreeSearchJob,
        budget: Budget,
        started: Instant,
    ) -> Result<Result<CompactResult, JobFailure>, HandlerError> {
        self.answer_with_progress(job, budget, started, None).await
    }

    /// Same as [`Self::answer`], and publishes progress events to `listener`.
    ///
    /// # Errors
    /// As [`Self::answer`].
    pub(super) async fn answer_with_progress(
        &self,
        job: &TreeSearchJob,
        budget: Budget,
        started: Instant,
        listener: Option<EventListener>,
    ) -> Result<Result<CompactResult, JobFailure>, HandlerError> {
        let request = &job.request;
        let vendor_rules = terms(&self.pool, job.account_id.as_deref(), request);
        let vendor_rules = database::within(DATABASE_TIMEOUT, vendor_rules).await?;
        let (planner, masks) = (Arc::clone(&self.planner), masks(request, &vendor_rules));
        let stock = StockView::new(self.catalogue.now(), masks);
        let (span, request_for_search) =
            (info_span!("search", max_seconds = request.max_seconds), request.clone());
        let compute = if budget.priority.is_interactive() { compute } else { compute_in_background };
        let search = move || {
            let listener = listener.as_ref().map(|listening| listening as &dyn Listener);
            span.in_scope(|| search_with_events(&planner, &stock, &request_for_search, &budget, listener))
        };
        let search_result = compute(search).await?;
        let search_result = match search_result {
            Ok(search_result) => search_result,
            Err(problem) => return Ok(Err(problem)),
        };

        let annotating = Instant::now();
        let blocks = crate::answer::building_blocks(&search_result);
        let span = info_span!("annotate", building_blocks = blocks.len());
        let offers = offers_for(&self.pool, &blocks, request.ships_to, &vendor_rules).instrument(span);
        let mut offers = database::within(DATABASE_TIMEOUT, offers).await?;
        offers.annotations.extend(crate::own_blocks::offers(request, &blocks));
        let annotation = OfferAnnotation { offers, first: vendor_rules.first, elapsed: annotating.elapsed() };
        metrics::searched(&search_result, request.early_exit_first_solution, annotation.elapsed);
        let answer = result(request, &search_result, annotation, started.elapsed());
        info!(
            validated_routes = answer.metadata.validated_routes,
            expansions = search_result.counts.expansions,
            exhausted = search_result.exhausted,
            total_elapsed_seconds = answer.metadata.total_elapsed,
            "searched `{}`",
            answer.search_smiles
        );
        Ok(Ok(answer))
    }
}

/// Searches for routes from `stock` to the request's target until `budget` is spent.
///
/// # Errors
/// Returns a problem if the target is no molecule that can be searched; the API refuses the same ones.
pub fn search(
    planner: &Planner,
    stock: &StockView,
    request: &TreeSearchRequest,
    budget: &Budget,
) -> Result<SearchResult, JobFailure> {
    search_with_events(planner, stock, request, budget, None)
}

fn search_with_events(
    planner: &Planner,
    stock: &StockView,
    request: &TreeSearchRequest,
    budget: &Budget,
    listener: Option<&dyn Listener>,
) -> Result<SearchResult, JobFailure> {
    let task = task(request)?;
    if request.building_blocks_own.is_empty() {
        return Ok(planner.plan_with_events(stock, &task, budget, listener));
    }
    let own = OwnBlocks::new(stock, &request.building_blocks_own).map_err(bad_target)?;
    Ok(planner.plan_with_events(&own, &task, budget, listener))
}

fn bad_target(reason: impl ToString) -> JobFailure {
    JobFailure::BadTarget { reason: reason.to_string() }
}

fn task(request: &TreeSearchRequest) -> Result<Task, JobFailure> {
    let mapped = MappedMolecule::of_one(&request.search_smiles, Limits::TARGET).map_err(bad_target)?;
    Ok(Task {
        constraints: constraints(request, &mapped).map_err(bad_target)?,
        target: mapped.molecule().clone(),
        max_depth: request.max_depth,
        stop: if request.early_exit_first_solution { Stop::FirstSoundRoute } else { Stop::Budget },
        target_purchase: if request.mask_trivial_solution {
            TargetPurchase::Mask
        } else {
            TargetPurchase::Allow
        },
        max_groups: count(request.max_backbone_groups),
        max_group_size: count(request.max_backbone_group_size),
        group_order: if request.limit_backbone_group_size_by_cost {
            GroupOrder::Cost
        } else {
            GroupOrder::Total
        },
    })
}

/// Returns the stock masks that the request and the vendors' terms imply.
pub(super) fn masks(request: &TreeSearchRequest, terms: &VendorRules) -> Masks {
    let vendors =
        VendorSet::default().with_private(terms.shown.iter().copied()).never(terms.never.iter().copied());
    let vendors = match &terms.only {
        Some(only) => vendors.only(only.iter().copied()),
        None => vendors,
    };
    let region = request.ships_to.and_then(|country| Region::of_country(country.code()));
    Masks {
        mw_gte: request.mask_bblocks_mw_gte,
        usd_gte: request.mask_usd_pricing_gte,
        lead_gte: request.mask_lead_times_gte,
        region: region.unwrap_or_default(),
        vendors,
    }
}

pub(super) fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}
