//! Operator views and actions, for the operators' page and `retort top`.
//!
//! An action commits together with its entry in the audit log, or not at all. The entry names the operator by the
//! account's e-mail address.

pub(crate) mod state_view;

use axum::{
    Json,
    extract::State,
    http::{StatusCode, Uri},
};
use contract::{OperationsState, scope};
use http_errors::ApiError;
use identity::tables::{accounts, audit_log::AuditedAction};
use queue::operations::{self, OperationRefusal};
use serde_json::json;
use sqlx::{PgConnection, PgPool};

use super::{PathId, require_empty_query};
use crate::{
    access::Caller,
    examples::example,
    operation::{Operation, PermitUse},
};

/// Rules for operators.
pub const OPERATE: Operation =
    Operation { permit: PermitUse::Unlimited, ..Operation::short(Some(scope::OPERATIONS)) };

/// Descriptions of the 404 and 409 answers.
const NO_QUEUE: &str = "No queue has this name.";
const NO_JOB: &str = "No job has this id, or the job has been deleted.";
const CANNOT: &str = "The state of the job does not allow it.";

/// Returns the state of the installation.
#[utoipa::path(
    get, path = "/operations/v1/state", tag = "operations", operation_id = "operations_state",
    description = "Returns queues, workers, jobs in flight, failures, reservoirs and the catalogue at one \
        moment. An extension, for operators.",
    summary = "Retrieve the installation's state",
    responses((status = 200, description = "The state.", body = OperationsState, example = json!(example!("operations_state")))),
)]
pub async fn state(
    State(pool): State<PgPool>,
    _: Caller,
    uri: Uri,
) -> Result<Json<OperationsState>, ApiError> {
    require_empty_query(&uri)?;
    Ok(Json(state_view::read_state(&pool).await?))
}

/// Pauses a queue.
#[utoipa::path(
    post, path = "/operations/v1/queues/{queue}/pause", tag = "operations", operation_id = "pause_queue",
    description = "Pauses a queue: workers claim no more of its jobs, and new requests are refused with 503. \
        Running jobs go on. Waiting jobs wait until their deadlines. Pausing a paused queue changes \
        nothing. An extension, for operators.",
    summary = "Pause a queue",
    params(("queue" = String, Path, min_length = 1, max_length = 255, pattern = r"^\w+$", description = "The queue's name.")),
    responses(
        (status = 204, description = "The queue is paused."),
        (status = 404, description = NO_QUEUE),
    ),
)]
pub async fn pause(
    State(pool): State<PgPool>,
    caller: Caller,
    PathId(named): PathId,
) -> Result<StatusCode, ApiError> {
    let queue = queue_of(&named)?;
    operate(&pool, &caller, "queue pause", queue, async |database, operator| {
        Ok(operations::pause(database, queue, operator).await?)
    })
    .await
}

/// Resumes a queue.
#[utoipa::path(
    post, path = "/operations/v1/queues/{queue}/resume", tag = "operations", operation_id = "resume_queue",
    description = "Resumes a queue: workers claim waiting jobs at once. Resuming a queue that is not paused \
        changes nothing. An extension, for operators.",
    summary = "Resume a queue",
    params(("queue" = String, Path, min_length = 1, max_length = 255, pattern = r"^\w+$", description = "The queue's name.")),
    responses(
        (status = 204, description = "The queue is not paused."),
        (status = 404, description = NO_QUEUE),
    ),
)]
pub async fn resume(
    State(pool): State<PgPool>,
    caller: Caller,
    PathId(named): PathId,
) -> Result<StatusCode, ApiError> {
    let queue = queue_of(&named)?;
    operate(&pool, &caller, "queue resume", queue, async |database, _| {
        Ok(operations::resume(database, queue).await?)
    })
    .await
}

/// Cancels a job.
#[utoipa::path(
    post, path = "/operations/v1/jobs/{job_id}/cancel", tag = "operations", operation_id = "cancel_job",
    description = "Cancels a job. A waiting job ends at once, a running one as soon as its worker has stopped. \
        The caller receives a 503 that names the operator's act. An extension, for operators.",
    summary = "Cancel a job",
    params(("job_id" = String, Path, min_length = 1, max_length = 255, pattern = r"^\w+$", description = "Id of the job.")),
    responses(
        (status = 204, description = "The job is cancelled."),
        (status = 404, description = NO_JOB),
        (status = 409, description = CANNOT),
    ),
)]
pub async fn cancel(
    State(pool): State<PgPool>,
    caller: Caller,
    PathId(id): PathId,
) -> Result<StatusCode, ApiError> {
    operate(&pool, &caller, "job cancel", &id, async |database, operator| {
        action_result(operations::cancel(database, &id, operator).await?, "cancelled")
    })
    .await
}

/// Requeues a job.
#[utoipa::path(
    post, path = "/operations/v1/jobs/{job_id}/retry", tag = "operations", operation_id = "retry_job",
    description = "Puts a job that ended without an answer back into the queue, with all its attempts and its \
        original time. The caller has already received an error; a sample that is made now appears in the \
        account's list. An extension, for operators.",
    summary = "Retry a job",
    params(("job_id" = String, Path, min_length = 1, max_length = 255, pattern = r"^\w+$", description = "Id of the job.")),
    responses(
        (status = 204, description = "The job waits again."),
        (status = 404, description = NO_JOB),
        (status = 409, description = CANNOT),
    ),
)]
pub async fn retry(
    State(pool): State<PgPool>,
    caller: Caller,
    PathId(id): PathId,
) -> Result<StatusCode, ApiError> {
    operate(&pool, &caller, "job retry", &id, async |database, _| {
        action_result(operations::retry(database, &id).await?, "retried")
    })
    .await
}

/// Applies the action `what` to `subject` with `act`, which returns true if it changed anything. Then it commits with
/// its entry in the audit log.
async fn operate(
    pool: &PgPool,
    caller: &Caller,
    what: &str,
    subject: &str,
    act: impl AsyncFnOnce(&mut PgConnection, &str) -> Result<bool, ApiError>,
) -> Result<StatusCode, ApiError> {
    let mut transaction = pool.begin().await?;
    let ids = [caller.account_id.clone()];
    let mut addresses = accounts::addresses(&mut transaction, &ids).await?;
    let operator = addresses.remove(&caller.account_id).unwrap_or_else(|| caller.account_id.clone());
    let mut under_way = AuditedAction::begin(transaction, operator.clone());
    if act(under_way.connection(), &operator).await? {
        under_way.done(what, subject, json!({})).await?;
        tracing::info!(target: "audit", { account.id = caller.account_id, subject }, "an operator's act: {what}");
    }
    Ok(StatusCode::NO_CONTENT)
}

/// Maps the result of an action on a job: done or refused.
fn action_result(outcome: Result<(), OperationRefusal>, act: &str) -> Result<bool, ApiError> {
    match outcome {
        Ok(()) => Ok(true),
        Err(OperationRefusal::Unknown) => Err(ApiError::NotFound),
        Err(OperationRefusal::Stands(standing)) => {
            Err(ApiError::Conflict { message: format!("The job {standing}; it cannot be {act}") })
        }
    }
}

/// Returns the queue that the path names.
fn queue_of(named: &str) -> Result<&'static str, ApiError> {
    queue::QUEUES.into_iter().find(|queue| *queue == named).ok_or(ApiError::NotFound)
}
