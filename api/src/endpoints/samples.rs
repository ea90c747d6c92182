//! Samples: list, create, retrieve, delete.
//!
//! A caller can request a sample and come back for it (`Prefer: respond-async`). Such an asynchronous sample is a row
//! that is stored with its job, and it has its id from the beginning. Lists show it once it is completed.

pub(crate) mod async_samples;
pub(super) mod conditions;
pub(super) mod table;

use std::{collections::HashSet, sync::Arc, time::Instant};

use axum::{
    Json,
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, StatusCode, Uri, header},
    response::{IntoResponse, Response},
};
use contract::{
    AsyncSampleJob, ErrorItem, Listed, MAX_SAMPLE_SIZE, MoleculeDetails, QuotaKind, Sample, SampleId,
    SampleList, SampleObject, SampleRequest, SampleStatus, StoredAsyncSampleJob, scope,
};
use http_errors::{ApiError, MAX_BODY};
use queue::Urgency;
use serde_json::Value;
use sqlx::PgPool;

use super::{
    MAX_ID, PathId, answer_fault,
    ownership::{Detail, find, must_own, owned, visible},
    paging::{ListStyle, PageRequest, sampling},
    problem_text,
};
use crate::{
    access::Caller,
    config::GzipBody,
    deadline::Arrival,
    examples::example,
    fields::{Faults, Fields, boolean, integer, nullable, word},
    gzip,
    idempotency::{self, IdempotencyKey, replayed},
    jobs::{Jobs, submission_error},
    limits::RateLimits,
    operation::{DeadlineKind, FaultExample, Operation},
    prefer::{self, PREFERENCE_APPLIED, RESPOND_ASYNC, WaitPreference},
    quota::{self, CreatedKind},
    retention_times::RetentionTimes,
    word_pattern::is_word,
};
use async_samples::{AsyncSampleRow, NewAsyncSample};
use table::SampleRow;
pub(crate) use table::delete_older;

/// Query of the list.
pub(crate) const STYLE: ListStyle = sampling(5);

/// Rules for reading samples.
pub const READ: Operation = Operation::short(Some(scope::SAMPLES_READ));
/// Rules for creating a sample.
pub const CREATE: Operation = Operation {
    deadline: DeadlineKind::Sample,
    fault: Some(FaultExample::Above("size", MAX_SAMPLE_SIZE)),
    ..Operation::with_body(Some(scope::SAMPLES_CREATE), QuotaKind::SamplesCreate)
};
/// Rules for deleting samples.
pub const DELETE: Operation = Operation::short(Some(scope::SAMPLES_DELETE));

/// Description of the 404 answer.
const NO_SAMPLE: &str = "No sample that the caller can see has this id.";

/// Libraries send this by themselves; the description says how to get JSON.
const ACCEPT_ENCODING: &str = "If it contains `gzip`, the body is the gzipped JSON in Base64, as text. With \
    `accept: application/json` it is JSON with `content-encoding: gzip`.";

/// Returns samples without their structures, newest first.
#[utoipa::path(
    get, path = "/generator/v1/samples", tag = "samples", operation_id = "list_samples",
    description = "Lists samples without their structures, newest first: the account's own, and those of the \
        members of its organisation. The order is the order of storage, so a client that asks for all \
        samples after its newest one misses none. Experimental.",
    summary = "List samples",
    params(
        ("limit" = Option<i32>, Query, description = "Maximum number of items in `data`.",
            minimum = 1, maximum = 100),
        ("next-page" = Option<String>, Query, min_length = 1, max_length = 255, pattern = r"^\w+$",
            description = "Id of a sample: returns the samples submitted before it."),
        ("prev-page" = Option<String>, Query, min_length = 1, max_length = 255, pattern = r"^\w+$",
            description = "Id of a sample: returns the page of samples submitted after it."),
    ),
    responses((status = 200, description = "One page of samples.", body = SampleList, example = json!(example!("sample_list")))),
)]
pub async fn list(
    State(pool): State<PgPool>,
    State(retention_times): State<RetentionTimes>,
    caller: Caller,
    uri: Uri,
) -> Result<Json<SampleList>, ApiError> {
    let asked = PageRequest::of(&uri, STYLE)?;
    let from = match &asked.from {
        None => None,
        Some(id) => match table::position(&pool, &caller.account_id, id).await? {
            // Nothing is older than a cursor that was deleted for its age, and all samples are newer.
            None if retention_times.has_expired(id) => Some(0),
            None => return Err(ApiError::BadReference),
            position => position,
        },
    };
    let rows = table::page(&pool, &caller.account_id, &asked, from).await?;
    let items = rows.into_iter().map(table::ItemRow::into_item).collect::<Result<Vec<_>, _>>();
    let Listed { data, has_more, .. } = asked.listed(items.map_err(|item| bad_answer(vec![item]))?);
    Ok(Json(SampleList { data, has_more, object: Default::default() }))
}

/// Generates a sample, stores it and returns it with all its structures.
#[utoipa::path(
    post, path = "/generator/v1/samples", tag = "samples", operation_id = "create_sample",
    description = "Generates a sample, stores it and returns it with all its structures. A structure occurs once in a sample; another \
        sample may have it too. With `Prefer: respond-async` the sample is made in the background: the answer is 202 with the sample as \
        it stands, and retrieval gives the rest. Without it, `Idempotency-Key` is ignored. Conditions hold for each structure: if the time \
        ends before enough satisfy them, the answer is 504 and says which conditions refused the others. Experimental.",
    summary = "Create a sample",
    params(
        ("accept-encoding" = String, Header, description = ACCEPT_ENCODING),
        ("prefer" = String, Header, description = "RFC 7240. `respond-async`: the sample is made in the \
            background and retrieved later. `wait=SECONDS` with it: the request first waits so long for the \
            sample. Other preferences are ignored. An extension."),
        ("idempotency-key" = Option<String>, Header, min_length = 1, max_length = 255, pattern = "^[!-~]+$", description = idempotency::DESCRIPTION),
    ),
    request_body(content = SampleRequest),
    responses(
        (status = 200, description = "The sample.", content((Sample = "application/json", example = json!(example!("sample"))), (String = "text/plain"))),
        (status = 202, description = "The sample as it stands, to be retrieved later.",
            content((Sample = "application/json", example = json!(example!("sample_pending"))), (String = "text/plain")),
            headers(
                ("Location" = String, description = "Address of the sample."),
                ("Preference-Applied" = String, description = "`respond-async`."),
            )),
        (status = 409, description = quota::TOO_MUCH),
    ),
)]
pub async fn create(
    State(pool): State<PgPool>,
    State(jobs): State<Jobs>,
    State(limits): State<Arc<RateLimits>>,
    State(mode): State<GzipBody>,
    arrival: Arrival,
    caller: Caller,
    request: Request,
) -> Result<Response, ApiError> {
    let headers = request.headers().clone();
    let (sample_request, key) = caller.creation(MAX_BODY, request, parse_create).await?;

    let size = sample_request.size;
    let wait_preference = prefer::wait_preference(&headers);
    if wait_preference != WaitPreference::UntilDone
        && let Some(id) = idempotency::created(&pool, &caller.account_id, key.as_ref()).await?
    {
        let sample = found(&pool, &caller, &id).await?;
        let answer = gzip::body(&headers, mode, &sample).await?;
        return Ok((replayed(), with_location(&sample, answer)).into_response());
    }
    conditions::check_excluded(&pool, &caller, &sample_request.conditions).await?;
    let wanted = (&sample_request.conditions, size);
    let searching = match conditions::reserve_searches(&limits, &jobs, &caller, wanted).await {
        Ok(reserved) => reserved,
        Err(refusal) => return Ok(refusal),
    };
    let sample = match wait_preference {
        WaitPreference::UntilDone => {
            with_quota(&limits, &caller, size, make(&pool, &jobs, &caller, sample_request)).await
        }
        WaitPreference::For(wait) => {
            let longest = jobs.sample_timeout();
            let end = arrival.within(longest).min(Instant::now() + wait.min(longest));
            with_quota(&limits, &caller, size, order(&pool, &jobs, &caller, (sample_request, key), end)).await
        }
    };
    let sample = match sample {
        Ok(sample) => sample,
        Err(refusal) => {
            if let Some(searching) = searching {
                searching.settle(0).await;
            }
            return Ok(refusal);
        }
    };
    let answer = gzip::body(&headers, mode, &sample).await?;
    Ok(with_location(&sample, answer))
}

/// Runs `work` that draws `molecules` of the account's quota; they are given back if it fails.
pub(super) async fn with_quota<T>(
    limits: &Arc<RateLimits>,
    caller: &Caller,
    molecules: u32,
    work: impl Future<Output = Result<T, ApiError>>,
) -> Result<T, Response> {
    let spending =
        limits.reserve(QuotaKind::Molecules, &caller.account_id, &caller.quotas, molecules).await?;
    work.await.map_err(|error| {
        spending.refund_unused(0);
        error.into_response()
    })
}

/// Returns a sample that a worker makes while its caller waits.
pub(super) async fn make(
    pool: &PgPool,
    jobs: &Jobs,
    caller: &Caller,
    sample_request: SampleRequest,
) -> Result<Sample, ApiError> {
    let size = sample_request.size;
    let id = jobs.sample(&caller.account_id, sample_request).await?;
    tracing::Span::current().record("sample.id", tracing::field::display(id));
    let Some(row) = find(pool, &caller.account_id, &id.to_string(), Detail::Whole).await? else {
        return Err(bad_answer(vec![answer_fault(
            "id",
            "missing",
            "the worker stored no sample of this id",
        )]));
    };
    validate_sample(row, Some(size)).map_err(bad_answer)
}

/// Stores an asynchronous sample, and returns it once it has ended, or as it is at `end`.
async fn order(
    pool: &PgPool,
    jobs: &Jobs,
    caller: &Caller,
    (sample_request, key): (SampleRequest, Option<IdempotencyKey>),
    end: Instant,
) -> Result<Sample, ApiError> {
    let permit = jobs.permit()?;
    let SampleRequest { size, model_id, conditions, details } = sample_request;
    let model_id = jobs.model_of_async_sample(model_id).await?;
    let seed = conditions.seed.unwrap_or_else(rand::random);
    let sample_id = SampleId::generate();
    tracing::Span::current().record("sample.id", tracing::field::display(sample_id));
    let id = sample_id.to_string();
    let job = AsyncSampleJob { sample_id, model_id: model_id.clone(), size, conditions, details };
    let new = NewAsyncSample { id: &id, account_id: &caller.account_id, model_id: &model_id, size, seed };
    let mut transaction = pool.begin().await?;
    let job = StoredAsyncSampleJob::from(job);
    let job_id = queue::enqueue(&mut transaction, &job, &caller.account_id, Urgency::Asked).await;
    let job_id = job_id.map_err(submission_error)?.to_string();
    let created_at = async_samples::insert(&mut transaction, &new, &job_id).await?;
    quota::commit(transaction, (caller, jobs.quota()), key.as_ref(), (CreatedKind::Molecules, &id)).await?;
    drop(permit);

    // The row is committed: whatever happens now, its caller learns the id.
    let pending = Sample {
        id: sample_id,
        object: SampleObject::Sample,
        model_id,
        smiles: Vec::new(),
        created_at,
        status: SampleStatus::Pending,
        batch_id: None,
        error: None,
        details: None,
    };
    let ended = ended(pool, jobs, &caller.account_id, &id, &job_id);
    if let Ok(Some(sample)) = tokio::time::timeout_at(end.into(), ended).await {
        return Ok(sample);
    }
    Ok(current_state(pool, &caller.account_id, &id).await.unwrap_or(pending))
}

/// Waits for the end of an asynchronous sample and returns it; `None` if it cannot be read.
async fn ended(pool: &PgPool, jobs: &Jobs, account_id: &str, id: &str, job_id: &str) -> Option<Sample> {
    let mut subscription = jobs.subscribe_to_async_sample(job_id).await.ok()?;
    loop {
        let sample = current_state(pool, account_id, id).await?;
        if matches!(sample.status, SampleStatus::Completed | SampleStatus::Failed) {
            return Some(sample);
        }
        subscription.wait_for_change().await;
    }
}

/// Returns an asynchronous sample in its current state; `None` if it cannot be read.
async fn current_state(pool: &PgPool, account_id: &str, id: &str) -> Option<Sample> {
    let row = find(pool, account_id, id, Detail::Whole).await.ok()??;
    ordered(row).ok()?
}

/// Adds the location to the response if the sample is not completed.
fn with_location(sample: &Sample, mut answer: Response) -> Response {
    if sample.status == SampleStatus::Completed {
        return answer;
    }
    *answer.status_mut() = StatusCode::ACCEPTED;
    let location = format!("/generator/v1/samples/{}", sample.id);
    let location = HeaderValue::try_from(location).expect("samples: an id is plain ASCII");
    answer.headers_mut().insert(header::LOCATION, location);
    answer.headers_mut().insert(PREFERENCE_APPLIED, HeaderValue::from_static(RESPOND_ASYNC));
    answer
}

pub(crate) fn parse_create(body: &[u8], faults: &mut Faults) -> Option<SampleRequest> {
    parse_up_to(MAX_SAMPLE_SIZE, body, faults)
}

/// Parses a request for up to `most` molecules.
pub(super) fn parse_up_to(most: u32, body: &[u8], faults: &mut Faults) -> Option<SampleRequest> {
    let mut body = Fields::body(body, faults)?;
    let size = body.required("size", integer(1, Some(most.into())));
    let model_id = body.optional("model_id", None, nullable(word(0, Some(MAX_ID))));
    let conditions = conditions::read(&mut body);
    let details = body.optional("details", false, boolean);
    body.finish();
    let size = size?.try_into().ok()?;
    Some(SampleRequest { size, model_id: model_id?, conditions: conditions?, details: details? })
}

/// Returns a sample with all its structures.
#[utoipa::path(
    get, path = "/generator/v1/samples/{sample_id}", tag = "samples", operation_id = "retrieve_sample",
    description = "Returns a sample with all its structures. An asynchronous sample has none before it is \
        completed. Experimental.",
    summary = "Retrieve a sample",
    params(
        ("sample_id" = String, Path, min_length = 1, max_length = 255, pattern = r"^\w+$",
            description = "Id of the sample."),
        ("accept-encoding" = String, Header,
            description = ACCEPT_ENCODING),
    ),
    responses(
        (status = 200, description = "The sample.", content((Sample = "application/json", example = json!(example!("sample"))), (String = "text/plain"))),
        (status = 404, description = NO_SAMPLE),
    ),
)]
pub async fn retrieve(
    State(pool): State<PgPool>,
    State(mode): State<GzipBody>,
    caller: Caller,
    PathId(id): PathId,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    gzip::body(&headers, mode, &found(&pool, &caller, &id).await?).await
}

/// Returns the sample in its current state, even if it is not made yet.
async fn found(pool: &PgPool, caller: &Caller, id: &str) -> Result<Sample, ApiError> {
    match find(pool, &caller.account_id, id, Detail::Whole).await? {
        Some(row) => validate_sample(row, None).map_err(bad_answer),
        None => ordered(visible(pool, caller, id).await?)?.ok_or(ApiError::NotFound),
    }
}

/// Deletes a sample.
#[utoipa::path(
    delete, path = "/generator/v1/samples/{sample_id}", tag = "samples", operation_id = "delete_sample",
    description = "Deletes a sample and its structures for ever, and cancels a sample that is not completed. \
        Only the account that created the sample may delete it. A chunk of a sample batch is deleted with \
        its batch. An extension.",
    summary = "Delete a sample",
    params(("sample_id" = String, Path, min_length = 1, max_length = 255, pattern = r"^\w+$",
        description = "Id of the sample.")),
    responses(
        (status = 204, description = "The sample is gone."),
        (status = 403, description = "The access token lacks the scope, or another account created the sample."),
        (status = 404, description = NO_SAMPLE),
        (status = 409, description = "The sample belongs to a batch, with which it is deleted."),
    ),
)]
pub async fn delete(
    State(pool): State<PgPool>,
    caller: Caller,
    PathId(id): PathId,
) -> Result<StatusCode, ApiError> {
    let async_sample = find(&pool, &caller.account_id, &id, Detail::Whole).await?;
    // A completed row whose sample was deleted counts as absent.
    let is_there = async_sample.as_ref().is_none_or(|async_sample: &AsyncSampleRow| {
        async_sample.status != "completed" || async_sample.smiles.is_some()
    });
    if let Some(async_sample) = async_sample {
        must_own(&caller, &async_sample)?;
        if async_sample.batch_id.is_some() {
            let message = "A sample of a batch is deleted with its batch".to_owned();
            return Err(ApiError::Conflict { message });
        }
    } else {
        owned::<SampleRow>(&pool, &caller, &id).await?;
    }
    let mut transaction = pool.begin().await?;
    let jobs = async_samples::delete(&mut transaction, &id).await?;
    queue::cancel(&mut transaction, jobs).await?;
    table::delete(&mut transaction, &id).await?;
    transaction.commit().await?;
    if is_there { Ok(StatusCode::NO_CONTENT) } else { Err(ApiError::NotFound) }
}

/// Converts the row of an asynchronous sample; `None` if the sample was made and then deleted.
pub(super) fn ordered(row: AsyncSampleRow) -> Result<Option<Sample>, ApiError> {
    let status =
        serde_json::from_value(Value::String(row.status)).map_err(|error| ApiError::internal(&error))?;
    let failed = status == SampleStatus::Failed;
    match (status, row.smiles) {
        (SampleStatus::Completed, None) => Ok(None),
        (SampleStatus::Completed, Some(smiles)) => {
            let made = SampleRow {
                id: row.id,
                account_id: row.account_id,
                model_id: row.model_id,
                num_smiles: row.size,
                smiles,
                created_at: row.created_at,
                batch_id: row.batch_id,
                details: row.details,
            };
            validate_sample(made, None).map(Some).map_err(bad_answer)
        }
        _ => Ok(Some(Sample {
            id: row.id.parse().map_err(|error: contract::NotASampleId| ApiError::internal(&error))?,
            object: SampleObject::Sample,
            model_id: row.model_id,
            smiles: Vec::new(),
            created_at: row.created_at,
            status,
            batch_id: row.batch_id,
            error: row.problem.filter(|_| failed).map(problem_text),
            details: None,
        })),
    }
}

/// Returns the sample of `row` if it fits the response schema and has the requested `size`.
fn validate_sample(row: SampleRow, size: Option<u32>) -> Result<Sample, Vec<ErrorItem>> {
    let mut faults = Vec::new();
    let id = row.id.parse();
    if id.is_err() {
        faults.push(answer_fault("id", "string_pattern_mismatch", "not a sample id"));
    }
    if !is_word(&row.model_id) {
        faults.push(answer_fault(
            "model_id",
            "string_pattern_mismatch",
            r"String should match pattern '^\w+$'",
        ));
    }
    let count = row.smiles.len();
    if size.is_some_and(|size| size as usize != count) || usize::try_from(row.num_smiles) != Ok(count) {
        let msg = format!("{count} structures are not the requested number");
        faults.push(answer_fault("smiles", "wrong_length", &msg));
    }
    if row.smiles.iter().any(String::is_empty) {
        faults.push(answer_fault("smiles", "string_too_short", "a structure is empty"));
    }
    if row.smiles.iter().collect::<HashSet<_>>().len() != count {
        faults.push(answer_fault("smiles", "not_unique", "a structure occurs twice"));
    }
    let details = row.details.map(|details| details.0);
    let is_whole = |details: &MoleculeDetails| {
        details.negative_log_likelihood.len() == count
            && details.properties.values().all(|values| values.len() == count)
    };
    if !details.as_ref().is_none_or(is_whole) {
        let msg = "a detail has not a value for each structure";
        faults.push(answer_fault("details", "wrong_length", msg));
    }
    match id {
        Ok(id) if faults.is_empty() => Ok(Sample {
            id,
            object: SampleObject::Sample,
            model_id: row.model_id,
            smiles: row.smiles,
            created_at: row.created_at,
            status: SampleStatus::Completed,
            batch_id: row.batch_id,
            error: None,
            details,
        }),
        _ => Err(faults),
    }
}

fn bad_answer(faults: Vec<ErrorItem>) -> ApiError {
    tracing::error!(?faults, "a sample does not fit the response schema");
    ApiError::BadAnswer(faults)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(smiles: &[&str]) -> SampleRow {
        SampleRow {
            id: "smp_01jd6xq1v3m4c5t6y7z8a9b0cd".to_owned(),
            account_id: "acc".to_owned(),
            model_id: "druglike_gru".to_owned(),
            num_smiles: 2,
            smiles: smiles.iter().map(|text| (*text).to_owned()).collect(),
            created_at: chrono::DateTime::UNIX_EPOCH,
            batch_id: None,
            details: None,
        }
    }

    #[test]
    fn a_sample_is_sent_only_if_it_is_what_was_asked_for() {
        let kinds = |row, size| match validate_sample(row, size) {
            Ok(_) => vec![],
            Err(faults) => faults.into_iter().map(|fault| fault.kind).collect(),
        };

        assert_eq!(kinds(row(&["C", "CC"]), Some(2)), Vec::<String>::new());
        assert_eq!(kinds(row(&["C", "CC"]), Some(3)), ["wrong_length"]);
        assert_eq!(kinds(row(&["C"]), None), ["wrong_length"]);
        assert_eq!(kinds(row(&["C", "C"]), None), ["not_unique"]);
        assert_eq!(kinds(row(&["C", ""]), None), ["string_too_short"]);
        let stray = SampleRow { model_id: "a-b".to_owned(), id: "x".to_owned(), ..row(&["C", "CC"]) };
        assert_eq!(kinds(stray, None), ["string_pattern_mismatch", "string_pattern_mismatch"]);
    }
}
