//! Enqueue and await: the only bridge to the queue.
//!
//! How long a caller waits is decided here, once; the database's clock makes a deadline of it, which is obeyed everywhere
//! after. A caller that hangs up drops the future of its request, with it the pending job, and that cancels the job.

use std::{sync::Arc, time::Duration};

use chrono::Utc;
use contract::{
    Cause, ErrorItem, JobId, Look, LookJob, LookOutcome, Problem, SampleId, SampleJob, SampleRequest,
    StoredLookJob, StoredOrderJob, StoredSampleJob, StoredTreeSearchJob, Told, TreeSearchJob,
    TreeSearchRequest, TreeSearchResult,
};
use queue::{AwaitError, Caller, Job, LiveModel, Pending, QueueError, SubmitError, Watch};

use edge::ApiError;
use tokio::sync::OwnedSemaphorePermit;

use crate::{crowd::Crowd, quota::Quota};

/// Samplers run, and who names no model would have to name one.
const NO_DEFAULT_MODEL: ApiError = ApiError::Unavailable {
    retry_after: queue::WORKER_START,
    reason: "No running sampler has a default model; name one of those that there are by `model_id`",
};

/// The way to the workers. Clones share it.
#[derive(Debug, Clone)]
pub struct Jobs {
    queue: queue::Client,
    crowd: Crowd,
    patience: Patience,
    /// The models that serve who names none, in order of preference.
    default_models: Arc<[String]>,
}

/// How long callers wait.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// For a sample.
    pub sample: Duration,
    /// The longest search that may be asked for, in seconds.
    pub longest_search: f64,
    /// For a search, beyond the seconds that it may take.
    pub search_slack: Duration,
    /// The most jobs of one kind that an account may have in flight; `None`: any number.
    pub most_in_flight: Option<u32>,
    /// The most that an account may have waiting.
    pub quota: Quota,
}

impl Jobs {
    pub fn new(queue: queue::Client, crowd: Crowd, patience: Patience, default_models: Vec<String>) -> Self {
        Self { queue, crowd, patience, default_models: default_models.into() }
    }

    /// The largest `max_seconds` of a search.
    pub fn longest_search(&self) -> f64 {
        self.patience.longest_search
    }

    /// The longest that a sample is waited for.
    pub fn longest_sample(&self) -> Duration {
        self.patience.sample
    }

    /// The most that an account may have waiting.
    pub fn quota(&self) -> &Quota {
        &self.patience.quota
    }

    /// A permit for a request that stores what nobody waits for.
    pub fn permit(&self) -> Result<OwnedSemaphorePermit, ApiError> {
        self.crowd.place()
    }

    /// Watches the job of an order, which goes on without.
    pub async fn watch_order(&self, job_id: &str) -> Result<Watch<StoredOrderJob>, ApiError> {
        Ok(self.queue.watch_idly(job_id).await?)
    }

    /// The model that an order is drawn from which asks for `named`, or for none.
    pub async fn model_of_order(&self, named: Option<String>) -> Result<String, ApiError> {
        let live = live_models(&self.queue, StoredSampleJob::QUEUE).await?;
        // While no sampler runs, nobody knows which models there are.
        let is_there = |id: &str| live.is_empty() || live.iter().any(|model| model.model_id == id);
        match named {
            Some(named) if is_there(&named) => Ok(named),
            Some(_) => Err(ApiError::BadReference),
            None => self.default_models.iter().find(|id| is_there(id)).cloned().ok_or(NO_DEFAULT_MODEL),
        }
    }

    /// The id of the sample that a worker made and stored for `account_id`.
    pub async fn sample(&self, account_id: &str, request: SampleRequest) -> Result<SampleId, ApiError> {
        let sample_id = SampleId::generate();
        let caller = self.caller(account_id, self.patience.sample);
        let job = |model_id: &str| {
            StoredSampleJob::V1(SampleJob {
                sample_id,
                account_id: account_id.to_owned(),
                size: request.size,
                model_id: Some(model_id.to_owned()),
                seed: rand::random(),
                deadline: Utc::now() + caller.patience,
            })
        };
        let place = self.crowd.place()?;
        let taken = match &request.model_id {
            Some(named) => self.submit(job(named), caller).await.map_err(not_taken)?,
            None => self.submit_to_default(job, caller).await?,
        };
        drop(place);
        let late = format!("; if it is finished late, it is stored as sample {sample_id}");
        self.outcome(taken, caller, &late).await
    }

    /// Submits the job of the first of the default models that a live sampler has.
    async fn submit_to_default(
        &self,
        job: impl Fn(&str) -> StoredSampleJob,
        caller: Caller<'_>,
    ) -> Result<Taken<StoredSampleJob>, ApiError> {
        let mut refused = NO_DEFAULT_MODEL;
        for model_id in &*self.default_models {
            match self.submit(job(model_id), caller).await {
                Err(SubmitError::UnknownModel) => {}
                Err(error @ SubmitError::NoWorker { .. }) => refused = not_taken(error),
                submitted => return submitted.map_err(not_taken),
            }
        }
        Err(refused)
    }

    /// What a worker found that serves `engine`, or any.
    pub async fn search(
        &self,
        account_id: &str,
        request: TreeSearchRequest,
        engine: Option<&str>,
    ) -> Result<TreeSearchResult, ApiError> {
        let (job, caller) = self.search_job(account_id, request, engine, Told::Nothing);
        let place = self.crowd.place()?;
        let taken = self.submit(job, caller).await.map_err(not_taken)?;
        drop(place);
        self.outcome(taken, caller, "").await
    }

    /// The same, to be watched while it is done.
    pub async fn search_watched(
        &self,
        account_id: &str,
        request: TreeSearchRequest,
    ) -> Result<Watch<StoredTreeSearchJob>, ApiError> {
        let asked = serde_json::to_value(&request).map_err(|error| ApiError::internal(&error))?;
        let (job, caller) = self.search_job(account_id, request, None, Told::Events);
        let _permit = self.crowd.place()?;
        let taken = self.submit(job, caller).await.map_err(not_taken)?;
        Ok(self.queue.watch_instead(taken.pending, &asked).await?)
    }

    /// Goes on watching the search `id` that the account asked for, if it can be watched.
    pub async fn watch_search(
        &self,
        account_id: &str,
        id: &str,
    ) -> Result<Option<Watch<StoredTreeSearchJob>>, ApiError> {
        Ok(self.queue.watch_again(id, account_id).await?)
    }

    /// The request of the search `id` that the account watched, and its result, while they are remembered.
    pub async fn found(
        &self,
        account_id: &str,
        id: &str,
    ) -> Result<Option<(TreeSearchRequest, TreeSearchResult)>, ApiError> {
        let found = self.queue.found::<StoredTreeSearchJob>(id, account_id).await?;
        Ok(found.map(|(request, result)| (TreeSearchRequest::stored(request), result)))
    }

    fn search_job<'a>(
        &self,
        account_id: &'a str,
        request: TreeSearchRequest,
        engine: Option<&str>,
        told: Told,
    ) -> (StoredTreeSearchJob, Caller<'a>) {
        let patience = Duration::from_secs_f64(request.max_seconds) + self.patience.search_slack;
        let job = StoredTreeSearchJob::V1(TreeSearchJob {
            request,
            account_id: Some(account_id.to_owned()),
            engine: engine.map(str::to_owned),
            told,
            deadline: Utc::now() + patience,
        });
        (job, self.caller(account_id, patience))
    }

    /// What a worker tells of these molecules that serves `engine`, or any. It has as long as the longest search.
    pub async fn look(
        &self,
        account_id: &str,
        smiles: Vec<String>,
        look: Look,
        engine: Option<&str>,
    ) -> Result<LookOutcome, ApiError> {
        let deadline_seconds = self.longest_search();
        let patience = Duration::from_secs_f64(deadline_seconds) + self.patience.search_slack;
        let caller = self.caller(account_id, patience);
        let (account_id, engine) = (account_id.to_owned(), engine.map(str::to_owned));
        let job = StoredLookJob::V1(LookJob { account_id, engine, smiles, deadline_seconds, look });
        let place = self.crowd.place()?;
        let taken = self.submit(job, caller).await.map_err(not_taken)?;
        drop(place);
        self.outcome(taken, caller, "").await
    }

    fn caller<'a>(&self, account_id: &'a str, patience: Duration) -> Caller<'a> {
        Caller { account_id, patience, most_in_flight: self.patience.most_in_flight }
    }

    async fn submit<J: Job>(&self, job: J, caller: Caller<'_>) -> Result<Taken<J>, SubmitError> {
        let id = JobId::generate();
        tracing::Span::current().record("job.id", tracing::field::display(id));
        Ok(Taken { id, pending: self.queue.submit(id, &job, caller).await?, job })
    }

    /// What a worker answers; `late` says what becomes of it after the deadline.
    async fn outcome<J: Job>(
        &self,
        taken: Taken<J>,
        caller: Caller<'_>,
        late: &str,
    ) -> Result<J::Outcome, ApiError> {
        let Taken { id, pending, job } = taken;
        match pending.outcome().await {
            Ok(Err(Problem::TooLate)) => Err(too_late(self.queue.retry_after(&job, caller).await)),
            outcome => settled(&id.to_string(), outcome, late),
        }
    }
}

/// A job that the queue has taken; dropped, it is cancelled.
struct Taken<J: Job> {
    id: JobId,
    job: J,
    pending: Pending<J>,
}

/// The models that the live workers of a queue have loaded.
pub async fn live_models(queue: &queue::Client, of: &str) -> Result<Vec<LiveModel>, ApiError> {
    queue.live_models(of).await.map_err(|error| match error {
        QueueError::Database(error) => error.into(),
        error => ApiError::internal(&error),
    })
}

/// What a job came to; `late` says what becomes of one that is late.
pub fn settled<T>(
    id: &str,
    outcome: Result<Result<T, Problem>, AwaitError>,
    late: &str,
) -> Result<T, ApiError> {
    match outcome {
        Ok(Ok(outcome)) => Ok(outcome),
        Ok(Err(Problem::DeadlinePassed)) | Err(AwaitError::DeadlinePassed) => Err(ApiError::DeadlinePassed {
            message: format!("The deadline of job {id} passed before it was done{late}"),
        }),
        Ok(Err(Problem::TooLate)) => Err(too_late(queue::WORKER_START)),
        Ok(Err(Problem::CancelledByOperator)) => Err(ApiError::Unavailable {
            retry_after: queue::AFTER_AN_OPERATOR,
            reason: "An operator cancelled the request",
        }),
        // Cancelled by somebody else than its caller, forgotten by a database that crashed, or not stored by one that is full.
        Ok(Err(Problem::Cancelled | Problem::Abandoned { cause: Some(Cause::Database), .. }))
        | Err(AwaitError::Lost) => Err(ApiError::Unavailable {
            retry_after: queue::WORKER_START,
            reason: "The request was lost on its way; it can be sent again",
        }),
        Ok(Err(problem)) => Err(unsolved(id, problem)),
        Err(AwaitError::Undecodable(error)) => {
            tracing::error!(job.id = %id, %error, "a worker's answer cannot be read");
            Err(bad_answer("response_invalid", "The worker's answer does not fit the response schema"))
        }
        Err(AwaitError::Database(error)) => Err(error.into()),
        Err(error) => Err(ApiError::internal(&error)),
    }
}

fn too_late(retry_after: Duration) -> ApiError {
    let reason = "The request's turn came too late for the time that it asks for";
    ApiError::Unavailable { retry_after, reason }
}

/// Why the queue did not take a job.
pub fn not_taken(error: SubmitError) -> ApiError {
    match error {
        SubmitError::Full { retry_after } => {
            ApiError::Unavailable { retry_after, reason: "The queue is full for this request's deadline" }
        }
        SubmitError::TooManyInFlight { retry_after } => ApiError::TooManyInFlight { retry_after },
        SubmitError::Paused { retry_after } => ApiError::Unavailable {
            retry_after,
            reason: "The queue for this operation is paused by an operator",
        },
        SubmitError::NoWorker { retry_after } => {
            ApiError::Unavailable { retry_after, reason: "No worker for this operation is running" }
        }
        SubmitError::UnknownModel => ApiError::BadReference,
        SubmitError::Database(error) => error.into(),
        error => ApiError::internal(&error),
    }
}

/// A problem that a worker states as its answer.
fn unsolved(id: &str, problem: Problem) -> ApiError {
    match problem {
        Problem::UnknownModel { .. } => ApiError::BadReference,
        Problem::BadTarget { reason } => ApiError::Invalid(vec![ErrorItem {
            loc: vec!["body".into(), "search_smiles".into()],
            msg: format!("Input should be a SMILES that can be searched: {reason}"),
            kind: "smiles_invalid".to_owned(),
        }]),
        // Fewer structures than asked for would not fit the response schema, and are not sent.
        Problem::SizeUnreachable { .. } => {
            bad_answer("size_unreachable", &format!("Not enough structures: {problem}"))
        }
        problem => {
            tracing::error!(job.id = %id, %problem, "a job has no answer");
            ApiError::Internal
        }
    }
}

fn bad_answer(kind: &str, msg: &str) -> ApiError {
    ApiError::BadAnswer(vec![ErrorItem {
        loc: vec!["response".into()],
        msg: msg.to_owned(),
        kind: kind.to_owned(),
    }])
}
