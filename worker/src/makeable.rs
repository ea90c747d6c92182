//! Makeable molecules of a sample: searchers look for the routes, and the sampler keeps the molecules that have one.
//!
//! Candidates go to the searchers in slices, as bulk queries of the sample's account, one at a time. So a sample
//! shares the searchers fairly with other accounts, and has at most one bulk query in their queue. While it waits, it
//! holds no connection and computes nothing.

use std::{
    collections::HashSet,
    io::Read,
    sync::{Arc, atomic::AtomicBool},
    time::{Duration, Instant},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use contract::{
    BulkQuery, BulkQueryJob, BulkQueryOutcome, BulkQueryResult, ConditionRefusals, JobFailure, JobId,
    Makeability, MakeableRoute, MoleculeDetails, RouteLimits, StoredBulkQueryJob,
};
use database::Database;
use flate2::read::GzDecoder;
use queue::{AwaitError, Client, ClientConnections, HandlerError, JobCaller, SubmitError};
use tokio::{sync::OnceCell, time::sleep};
use tracing::{Instrument, info_span, warn};

use crate::{
    handlers::{ComputationOutcome, is_set},
    makeable_reservoir::MakeableMolecule,
};

/// Connections with which a sampler submits bulk queries; one more listens for their ends.
pub const SEARCH_QUEUE_CONNECTIONS: u32 = 2;

/// Smallest and largest number of molecules of a slice. Small ones end soon, and let other accounts in.
const SLICE: (usize, usize) = (16, 200);
/// Share of the candidates that is expected to be makeable before any was checked.
const FIRST_SHARE: f64 = 0.3;
/// Least share that a slice is sized for.
const LEAST_SHARE: f64 = 0.01;
/// Time of a slice beside its searches, for its answer.
const SLICE_MARGIN: Duration = Duration::from_secs(1);
/// Time that a slice waits in the queue before it is submitted again.
const QUEUE_TIME: Duration = Duration::from_secs(60);
/// Most bytes of a slice's answer, which has about a hundred for each molecule.
const MAX_ANSWER_BYTES: u64 = 1 << 20;

/// Asks searchers for routes to molecules. Clones share one client of the queue, made when it is first needed.
#[derive(Debug, Clone)]
pub struct RouteChecker {
    database: Database,
    client: Arc<OnceCell<Client>>,
}

impl RouteChecker {
    /// Creates a checker that connects to `database` when it is first used.
    #[must_use]
    pub fn new(database: Database) -> Self {
        Self { database, client: Arc::default() }
    }

    async fn client(&self) -> Result<&Client, HandlerError> {
        // The process's other queues publish its connections.
        let connections = ClientConnections { queue: SEARCH_QUEUE_CONNECTIONS, process: 0 };
        let connect = || Client::connect(self.database.clone(), connections);
        Ok(self.client.get_or_try_init(connect).await?)
    }
}

/// The sample for which routes are checked.
#[derive(Debug)]
pub(crate) struct RouteCheck<'a> {
    pub(crate) checker: &'a RouteChecker,
    pub(crate) account_id: &'a str,
    pub(crate) limits: &'a RouteLimits,
    /// End of checking.
    pub(crate) deadline: Instant,
    /// Time for which no searcher may be running.
    pub(crate) patience: Duration,
    pub(crate) cancelled: &'a AtomicBool,
}

/// Molecules of a sample that are makeable.
#[derive(Debug, Default)]
pub(crate) struct MakeableMolecules {
    /// Molecules that lay ready, which come first.
    ready: HashSet<String>,
    /// Candidates given to the searchers, in the order of drawing, or skipped because they lay ready.
    checked: usize,
    smiles: Vec<String>,
    routes: Vec<MakeableRoute>,
    refused: u64,
}

impl MakeableMolecules {
    /// Begins with distinct molecules that lay ready.
    pub(crate) fn from_ready(molecules: Vec<MakeableMolecule>) -> Self {
        let ready = molecules.iter().map(|molecule| molecule.smiles.clone()).collect();
        let (smiles, routes) =
            molecules.into_iter().map(|molecule| (molecule.smiles, molecule.route)).unzip();
        Self { ready, smiles, routes, ..Self::default() }
    }

    /// Returns the makeable molecules: those that lay ready, then the others in the order of drawing.
    pub(crate) fn smiles(&self) -> &[String] {
        &self.smiles
    }

    /// Returns the number of molecules that lay ready.
    pub(crate) fn ready(&self) -> usize {
        self.ready.len()
    }

    /// Returns the number of candidates to draw in all before the next check, for a sample of `size`.
    pub(crate) fn next_aim(&self, size: usize) -> usize {
        let share = match self.checked {
            0 => FIRST_SHARE,
            checked => (self.smiles.len() - self.ready.len()) as f64 / checked as f64,
        };
        let missing = size.saturating_sub(self.smiles.len()) as f64;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small count")]
        let slice = (missing / share.max(LEAST_SHARE)).ceil() as usize;
        self.checked + slice.clamp(SLICE.0, SLICE.1)
    }

    /// Checks those of `candidates`, all that are drawn, that are not yet checked.
    ///
    /// # Errors
    /// Fails when the database does.
    pub(crate) async fn check(
        &mut self,
        candidates: &[String],
        check: &RouteCheck<'_>,
    ) -> Result<ComputationOutcome<()>, HandlerError> {
        for slice in candidates[self.checked.min(candidates.len())..].chunks(SLICE.1) {
            let new =
                slice.iter().filter(|smiles| !self.ready.contains(*smiles)).cloned().collect::<Vec<_>>();
            let span = info_span!("makeable.slice", molecules = new.len());
            let checked = match new.is_empty() {
                true => ComputationOutcome::Done(Vec::new()),
                false => check.routes(&new).instrument(span).await?,
            };
            match checked {
                ComputationOutcome::Done(results) => {
                    self.checked += slice.len();
                    self.add(&new, &results);
                }
                ComputationOutcome::Refused(failure) => return Ok(ComputationOutcome::Refused(failure)),
                ComputationOutcome::Cancelled => return Ok(ComputationOutcome::Cancelled),
            }
        }
        Ok(ComputationOutcome::Done(()))
    }

    fn add(&mut self, slice: &[String], results: &[Makeability]) {
        for (smiles, result) in slice.iter().zip(results) {
            match result {
                Makeability::Makeable(route) => {
                    self.smiles.push(smiles.clone());
                    self.routes.push(*route);
                }
                Makeability::NoRoute => self.refused += 1,
                Makeability::NotReached => {}
            }
        }
    }

    /// Adds the routes of `molecules`, which are some of the makeable ones in their order, to their details.
    pub(crate) fn complete(&self, molecules: &[String], details: MoleculeDetails) -> MoleculeDetails {
        let mut known = self.smiles.iter().zip(&self.routes);
        let route = |smiles: &String| known.find(|(known, _)| *known == smiles).map(|(_, route)| *route);
        MoleculeDetails { routes: Some(molecules.iter().filter_map(route).collect()), ..details }
    }

    /// Returns the failure of a sample of `wanted` molecules that has `found`; `others` are the refusals of its other
    /// conditions.
    pub(crate) fn too_few(&self, wanted: u32, found: usize, others: Vec<ConditionRefusals>) -> JobFailure {
        let mut refused = others;
        if self.refused > 0 {
            refused.push(ConditionRefusals { condition: "synthesizable".to_owned(), count: self.refused });
        }
        refused.sort_by_key(|refusals| std::cmp::Reverse(refusals.count));
        let found = u32::try_from(found).unwrap_or(u32::MAX);
        JobFailure::ConditionsTooNarrow { wanted, found, refused }
    }
}

/// End of a slice without an answer.
enum SliceFault {
    /// No searcher takes it now; after this time, one may.
    NotTaken { retry_after: Duration, is_absent: bool },
    /// Searchers were too busy for its deadline, or lost it.
    NotDone,
}

impl RouteCheck<'_> {
    /// Returns a result for each molecule. [`JobFailure::DeadlinePassed`] says that the deadline came first.
    async fn routes(&self, slice: &[String]) -> Result<ComputationOutcome<Vec<Makeability>>, HandlerError> {
        let client = self.checker.client().await?;
        let give_up = Instant::now() + self.patience;
        loop {
            let Some(time) = self.time_of(slice.len()) else {
                return Ok(ComputationOutcome::Refused(JobFailure::DeadlinePassed));
            };
            let asked = tokio::select! {
                biased;
                () = is_set(self.cancelled) => return Ok(ComputationOutcome::Cancelled),
                asked = self.ask(client, slice, time) => asked?,
            };
            let pause = match asked {
                Ok(results) => return Ok(ComputationOutcome::Done(results)),
                Err(SliceFault::NotTaken { is_absent: true, .. }) if Instant::now() >= give_up => {
                    return Ok(ComputationOutcome::Refused(JobFailure::NoSearcher));
                }
                Err(SliceFault::NotTaken { retry_after, .. }) => retry_after,
                Err(SliceFault::NotDone) => SLICE_MARGIN,
            };
            let left = self.deadline.saturating_duration_since(Instant::now());
            tokio::select! {
                biased;
                () = is_set(self.cancelled) => return Ok(ComputationOutcome::Cancelled),
                () = sleep(pause.min(left)) => {}
            }
        }
    }

    /// Returns the longest time for a slice: in the queue, and of it computing. `None` if too little is left.
    fn time_of(&self, molecules: usize) -> Option<(Duration, Duration)> {
        let each = Duration::try_from_secs_f64(self.limits.max_seconds_each).unwrap_or_default();
        let left = self.deadline.saturating_duration_since(Instant::now());
        let search =
            (each * u32::try_from(molecules).unwrap_or(u32::MAX)).min(left.checked_sub(SLICE_MARGIN)?);
        Some((left.min(search + QUEUE_TIME), search))
    }

    /// Asks the searchers once; dropped, it cancels the query.
    async fn ask(
        &self,
        client: &Client,
        slice: &[String],
        (timeout, search): (Duration, Duration),
    ) -> Result<Result<Vec<Makeability>, SliceFault>, HandlerError> {
        let job = StoredBulkQueryJob::V1(BulkQueryJob {
            account_id: self.account_id.to_owned(),
            engine: None,
            smiles: slice.to_vec(),
            deadline_seconds: search.as_secs_f64(),
            query: BulkQuery::Makeability { limits: self.limits.clone() },
        });
        // One query at a time is its limit.
        let caller = JobCaller { account_id: self.account_id, timeout, max_in_flight: None };
        let pending = match client.submit(JobId::generate(), &job, caller).await {
            Ok(pending) => pending,
            Err(SubmitError::NoWorker { retry_after } | SubmitError::Paused { retry_after }) => {
                return Ok(Err(SliceFault::NotTaken { retry_after, is_absent: true }));
            }
            Err(SubmitError::Full { retry_after } | SubmitError::TooManyInFlight { retry_after }) => {
                return Ok(Err(SliceFault::NotTaken { retry_after, is_absent: false }));
            }
            Err(error) => return Err(error.into()),
        };
        match pending.outcome().await {
            Ok(Ok(outcome)) => Ok(Ok(results(&outcome)?)),
            Ok(Err(failure)) => {
                warn!("searchers did not check a slice of candidates: {failure}");
                Ok(Err(SliceFault::NotDone))
            }
            Err(AwaitError::DeadlinePassed | AwaitError::Lost) => Ok(Err(SliceFault::NotDone)),
            Err(error) => Err(error.into()),
        }
    }
}

/// Decodes a searcher's answer.
fn results(outcome: &BulkQueryOutcome) -> Result<Vec<Makeability>, HandlerError> {
    let zipped = STANDARD.decode(&outcome.zipped)?;
    let body = GzDecoder::new(&zipped[..]).take(MAX_ANSWER_BYTES);
    Ok(serde_json::from_reader::<_, BulkQueryResult<Makeability>>(body)?.items)
}
