//! Enqueue and await: the only bridge to the queue.
//!
//! The timeout of a request is decided here, once. The database's clock turns it into a deadline, which every later
//! stage obeys; `deadline.rs` limits the HTTP answer. When a client hangs up, the future of its request is dropped,
//! and with it the pending job; that cancels the job.

use std::{sync::Arc, time::Duration};

use chrono::Utc;
use contract::{
    BulkQuery, BulkQueryJob, BulkQueryOutcome, Cause, CompactResult, ErrorItem, JobFailure, JobId,
    LikelihoodJob, Likelihoods, LikelihoodsRequest, ProgressReporting, SampleId, SampleJob, SampleRequest,
    StoredAsyncSampleJob, StoredBulkQueryJob, StoredLikelihoodJob, StoredSampleJob, StoredSearchResult,
    StoredTreeSearchJob, TreeSearchJob, TreeSearchRequest, TreeSearchResult,
};
use queue::{AwaitError, Job, JobCaller, LiveModel, Pending, QueueError, SubmitError, Subscription};

use http_errors::ApiError;
use tokio::sync::OwnedSemaphorePermit;

use crate::{concurrency_limit::ConcurrencyLimit, quota::Quota};

/// Samplers run, but none has a default model, so a request must name one.
const NO_DEFAULT_MODEL: ApiError = ApiError::Unavailable {
    retry_after: queue::WORKER_START_TIME,
    reason: "No running sampler has a default model; choose a live model with `model_id`",
};

/// Client of the workers. Clones share it.
#[derive(Debug, Clone)]
pub struct Jobs {
    queue: queue::Client,
    concurrency_limit: ConcurrencyLimit,
    admission_limits: AdmissionLimits,
    /// Models for requests that name none, in order of preference.
    default_models: Arc<[String]>,
}

/// Timeouts and admission limits of requests.
#[derive(Debug, Clone, Copy)]
pub struct AdmissionLimits {
    /// Timeout of a sample.
    pub sample_timeout: Duration,
    /// Longest search that a request may ask for, in seconds.
    pub longest_search: f64,
    /// Extra time of a search beyond its `max_seconds`.
    pub search_slack: Duration,
    /// Most jobs of one kind that an account may have in flight; `None` for no limit.
    pub max_in_flight: Option<u32>,
    /// Quota of waiting work per account.
    pub quota: Quota,
}

impl Jobs {
    pub fn new(
        queue: queue::Client,
        concurrency_limit: ConcurrencyLimit,
        admission_limits: AdmissionLimits,
        default_models: Vec<String>,
    ) -> Self {
        Self { queue, concurrency_limit, admission_limits, default_models: default_models.into() }
    }

    /// Returns the largest `max_seconds` of a search.
    pub fn longest_search(&self) -> f64 {
        self.admission_limits.longest_search
    }

    /// Returns the timeout of a sample.
    pub fn sample_timeout(&self) -> Duration {
        self.admission_limits.sample_timeout
    }

    /// Returns the quota of waiting work per account.
    pub fn quota(&self) -> &Quota {
        &self.admission_limits.quota
    }

    /// Acquires a permit for a request that stores background work.
    pub fn permit(&self) -> Result<OwnedSemaphorePermit, ApiError> {
        self.concurrency_limit.acquire()
    }

    /// Subscribes to the job of an asynchronous sample; the job runs on without a subscriber.
    pub async fn subscribe_to_async_sample(
        &self,
        job_id: &str,
    ) -> Result<Subscription<StoredAsyncSampleJob>, ApiError> {
        Ok(self.queue.subscribe_passively(job_id).await?)
    }

    /// Returns the model for an asynchronous sample that names `named`, or no model.
    pub async fn model_of_async_sample(&self, named: Option<String>) -> Result<String, ApiError> {
        let live = live_models(&self.queue, StoredSampleJob::QUEUE).await?;
        // While no sampler runs, the available models are unknown.
        let is_there = |id: &str| live.is_empty() || live.iter().any(|model| model.model_id == id);
        match named {
            Some(named) if is_there(&named) => Ok(named),
            Some(_) => Err(ApiError::BadReference),
            None => self.default_models.iter().find(|id| is_there(id)).cloned().ok_or(NO_DEFAULT_MODEL),
        }
    }

    /// Returns the id of the sample that a worker made and stored for `account_id`.
    pub async fn sample(&self, account_id: &str, request: SampleRequest) -> Result<SampleId, ApiError> {
        let sample_id = SampleId::generate();
        let caller = self.caller(account_id, self.admission_limits.sample_timeout);
        let seed = request.conditions.seed.unwrap_or_else(rand::random);
        let job = |model_id: &str| {
            StoredSampleJob::from(SampleJob {
                sample_id,
                account_id: account_id.to_owned(),
                size: request.size,
                model_id: Some(model_id.to_owned()),
                seed,
                conditions: request.conditions.clone(),
                details: request.details,
                deadline: Utc::now() + caller.timeout,
            })
        };
        let submitted = self.submit_to_model(request.model_id.as_deref(), job, caller).await?;
        let late_message = format!("; if it is finished late, it is stored as sample {sample_id}");
        self.outcome(submitted, caller, &late_message).await
    }

    /// Returns the likelihoods of molecules, computed by a worker with the model.
    pub async fn likelihoods(
        &self,
        account_id: &str,
        request: LikelihoodsRequest,
    ) -> Result<Likelihoods, ApiError> {
        let caller = self.caller(account_id, self.admission_limits.sample_timeout);
        let LikelihoodsRequest { smiles, model_id } = request;
        let job = |model_id: &str| {
            let (model_id, smiles) = (model_id.to_owned(), smiles.clone());
            StoredLikelihoodJob::V1(LikelihoodJob { model_id, smiles })
        };
        let submitted = self.submit_to_model(model_id.as_deref(), job, caller).await?;
        self.outcome(submitted, caller, "").await
    }

    /// Submits the job with the model `named`, or with the first default model that a live sampler has.
    async fn submit_to_model<J: Job>(
        &self,
        named: Option<&str>,
        job: impl Fn(&str) -> J,
        caller: JobCaller<'_>,
    ) -> Result<SubmittedJob<J>, ApiError> {
        let _permit = self.concurrency_limit.acquire()?;
        if let Some(named) = named {
            return self.submit(job(named), caller).await.map_err(submission_error);
        }
        let mut refused = NO_DEFAULT_MODEL;
        for model_id in &*self.default_models {
            match self.submit(job(model_id), caller).await {
                Err(SubmitError::UnknownModel) => {}
                Err(error @ SubmitError::NoWorker { .. }) => refused = submission_error(error),
                submitted => return submitted.map_err(submission_error),
            }
        }
        Err(refused)
    }

    /// Runs a search on a worker that serves `engine`, or on any.
    pub async fn search(
        &self,
        account_id: &str,
        request: TreeSearchRequest,
        engine: Option<&str>,
    ) -> Result<CompactResult, ApiError> {
        let (job, caller) = self.search_job(account_id, request, engine, ProgressReporting::Nothing);
        let permit = self.concurrency_limit.acquire()?;
        let submitted = self.submit(job, caller).await.map_err(submission_error)?;
        drop(permit);
        self.outcome(submitted, caller, "").await.map(StoredSearchResult::compact)
    }

    /// Starts a search whose progress can be followed.
    pub async fn search_with_events(
        &self,
        account_id: &str,
        request: TreeSearchRequest,
    ) -> Result<Subscription<StoredTreeSearchJob>, ApiError> {
        let request_json = serde_json::to_value(&request).map_err(|error| ApiError::internal(&error))?;
        let (job, caller) = self.search_job(account_id, request, None, ProgressReporting::Events);
        let _permit = self.concurrency_limit.acquire()?;
        let submitted = self.submit(job, caller).await.map_err(submission_error)?;
        Ok(self.queue.detach_to_subscribers(submitted.pending, &request_json).await?)
    }

    /// Resumes following the search `id` of the account, if it can be followed.
    pub async fn subscribe_to_search(
        &self,
        account_id: &str,
        id: &str,
    ) -> Result<Option<Subscription<StoredTreeSearchJob>>, ApiError> {
        Ok(self.queue.resubscribe(id, account_id).await?)
    }

    /// Returns the request and the result of the search `id` that the account followed, while they are kept.
    pub async fn request_and_result(
        &self,
        account_id: &str,
        id: &str,
    ) -> Result<Option<(TreeSearchRequest, TreeSearchResult)>, ApiError> {
        let stored = self.queue.request_and_outcome::<StoredTreeSearchJob>(id, account_id).await?;
        Ok(stored.map(|(request, result)| (TreeSearchRequest::stored(request), result.compact().expanded())))
    }

    fn search_job<'a>(
        &self,
        account_id: &'a str,
        request: TreeSearchRequest,
        engine: Option<&str>,
        reporting: ProgressReporting,
    ) -> (StoredTreeSearchJob, JobCaller<'a>) {
        let timeout = Duration::from_secs_f64(request.max_seconds) + self.admission_limits.search_slack;
        let job = StoredTreeSearchJob::V1(TreeSearchJob {
            request,
            account_id: Some(account_id.to_owned()),
            engine: engine.map(str::to_owned),
            reporting,
            compact: true,
            deadline: Utc::now() + timeout,
        });
        (job, self.caller(account_id, timeout))
    }

    /// Runs a bulk query of these molecules on a worker that serves `engine`, or on any. Its timeout is that of the
    /// longest search.
    pub async fn submit_bulk_query(
        &self,
        account_id: &str,
        smiles: Vec<String>,
        query: BulkQuery,
        engine: Option<&str>,
    ) -> Result<BulkQueryOutcome, ApiError> {
        let deadline_seconds = self.longest_search();
        let timeout = Duration::from_secs_f64(deadline_seconds) + self.admission_limits.search_slack;
        let caller = self.caller(account_id, timeout);
        let (account_id, engine) = (account_id.to_owned(), engine.map(str::to_owned));
        let job =
            StoredBulkQueryJob::V1(BulkQueryJob { account_id, engine, smiles, deadline_seconds, query });
        let permit = self.concurrency_limit.acquire()?;
        let submitted = self.submit(job, caller).await.map_err(submission_error)?;
        drop(permit);
        self.outcome(submitted, caller, "").await
    }

    fn caller<'a>(&self, account_id: &'a str, timeout: Duration) -> JobCaller<'a> {
        JobCaller { account_id, timeout, max_in_flight: self.admission_limits.max_in_flight }
    }

    async fn submit<J: Job>(&self, job: J, caller: JobCaller<'_>) -> Result<SubmittedJob<J>, SubmitError> {
        let id = JobId::generate();
        tracing::Span::current().record("job.id", tracing::field::display(id));
        Ok(SubmittedJob { id, pending: self.queue.submit(id, &job, caller).await?, job })
    }

    /// Awaits the outcome of a worker; `late_message` is the message for a job past its deadline.
    async fn outcome<J: Job>(
        &self,
        submitted: SubmittedJob<J>,
        caller: JobCaller<'_>,
        late_message: &str,
    ) -> Result<J::Outcome, ApiError> {
        let SubmittedJob { id, pending, job } = submitted;
        match pending.outcome().await {
            Ok(Err(JobFailure::TooLate)) => Err(too_late(self.queue.retry_after(&job, caller).await)),
            outcome => outcome_or_error(&id.to_string(), outcome, late_message),
        }
    }
}

/// Submitted job; dropping it cancels the job.
struct SubmittedJob<J: Job> {
    id: JobId,
    job: J,
    pending: Pending<J>,
}

/// Returns the models that the live workers of a queue have loaded.
pub async fn live_models(queue: &queue::Client, queue_name: &str) -> Result<Vec<LiveModel>, ApiError> {
    queue.live_models(queue_name).await.map_err(|error| match error {
        QueueError::Database(error) => error.into(),
        error => ApiError::internal(&error),
    })
}

/// Converts the outcome of a job; `late_message` is the message for a job past its deadline.
pub fn outcome_or_error<T>(
    id: &str,
    outcome: Result<Result<T, JobFailure>, AwaitError>,
    late_message: &str,
) -> Result<T, ApiError> {
    match outcome {
        Ok(Ok(outcome)) => Ok(outcome),
        Ok(Err(JobFailure::DeadlinePassed)) | Err(AwaitError::DeadlinePassed) => {
            Err(ApiError::DeadlinePassed {
                message: format!("The deadline of job {id} passed before it was done{late_message}"),
            })
        }
        Ok(Err(problem @ JobFailure::ConditionsTooNarrow { .. })) => Err(ApiError::DeadlinePassed {
            message: format!(
                "Job {id} could not complete the sample: {problem}. With `Prefer: respond-async` it has more time"
            ),
        }),
        Ok(Err(JobFailure::NoSearcher)) => Err(ApiError::Unavailable {
            retry_after: queue::WORKER_START_TIME,
            reason: "No searcher is running, which `synthesizable` needs",
        }),
        Ok(Err(JobFailure::TooLate)) => Err(too_late(queue::WORKER_START_TIME)),
        Ok(Err(JobFailure::CancelledByOperator)) => Err(ApiError::Unavailable {
            retry_after: queue::PAUSED_RETRY_AFTER,
            reason: "An operator cancelled the request",
        }),
        // The job was cancelled by another party than its caller, lost by a database crash, or not stored because the
        // disk is full.
        Ok(Err(JobFailure::Cancelled | JobFailure::Abandoned { cause: Some(Cause::Database), .. }))
        | Err(AwaitError::Lost) => Err(ApiError::Unavailable {
            retry_after: queue::WORKER_START_TIME,
            reason: "The request was lost; send it again",
        }),
        Ok(Err(problem)) => Err(failure_response(id, problem)),
        Err(AwaitError::Undecodable(error)) => {
            tracing::error!(job.id = %id, %error, "a worker's answer cannot be read");
            Err(bad_answer("response_invalid", "The worker's answer does not fit the response schema"))
        }
        Err(AwaitError::Database(error)) => Err(error.into()),
        Err(error) => Err(ApiError::internal(&error)),
    }
}

fn too_late(retry_after: Duration) -> ApiError {
    let reason = "The request waited too long to finish before its deadline";
    ApiError::Unavailable { retry_after, reason }
}

/// Explains why the queue did not take a job.
pub fn submission_error(error: SubmitError) -> ApiError {
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

/// Converts a problem that a worker reports as its answer.
fn failure_response(id: &str, problem: JobFailure) -> ApiError {
    match problem {
        JobFailure::UnknownModel { .. } => ApiError::BadReference,
        JobFailure::BadTarget { reason } => ApiError::Invalid(vec![ErrorItem {
            loc: vec!["body".into(), "search_smiles".into()],
            msg: format!("Input should be a SMILES that can be searched: {reason}"),
            kind: "smiles_invalid".to_owned(),
        }]),
        JobFailure::UnwritablePart { field } => ApiError::Invalid(vec![ErrorItem {
            loc: vec!["body".into(), field.as_str().into()],
            msg: "Input should be a part of molecules that the model can write".to_owned(),
            kind: "unwritable_part".to_owned(),
        }]),
        // An answer with fewer structures than requested would violate the response schema, and is not sent.
        JobFailure::SizeUnreachable { .. } => {
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
