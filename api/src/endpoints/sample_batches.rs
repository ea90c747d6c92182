//! Sample batches: up to 100,000 distinct molecules in one request. Extensions of the contract.
//!
//! A batch consists of rows, which are all stored before the response. Its chunks are asynchronous samples
//! (`samples/async_samples.rs`), which workers turn into jobs a few at a time (`worker/src/async_samples.rs`). So a chunk is
//! retrieved like any sample, and is listed among the samples once it is completed.

pub(super) mod table;

use std::{sync::Arc, time::Duration};

use axum::{
    Json,
    extract::{Path, Request, State, rejection::PathRejection},
    http::Uri,
    response::{IntoResponse, Response},
};
use contract::{
    CHUNK_SIZE, Deleted, Listed, MAX_SAMPLE_BATCH, QuotaKind, Sample, SampleBatch, SampleBatchObject,
    SampleBatchRequest, SampleId, SampleRequest, SampleStatus, scope,
};
use http_errors::{ApiError, MAX_BODY};
use sqlx::{PgConnection, PgPool};

use super::{
    new_id,
    ownership::{Owned, Visible, page, visible},
    paging::{ListStyle, PageRequest, sampling},
    samples::{
        async_samples::{self, NewChunk},
        conditions::{check_excluded, reserve_searches},
        ordered, parse_up_to, table as sample_table,
    },
};
use crate::{
    access::Caller,
    examples::example,
    fields::Faults,
    idempotency::{self, IdempotencyKey, replayed},
    jobs::Jobs,
    limits::RateLimits,
    operation::{FaultExample, Operation},
    quota::{self, CreatedKind},
};
use table::{NewSampleBatch, SampleBatchRow};

/// Query of the lists.
const STYLE: ListStyle = sampling(25);

/// Rules for reading batches and their samples.
pub const READ: Operation = Operation::short(Some(scope::SAMPLES_READ));
/// Rules for creating a batch. It does not count against the rate limit of molecules, as batches of plans do not count
/// against search seconds: both give way to interactive requests. Searches for the routes of its molecules do not.
pub const CREATE: Operation = Operation {
    fault: Some(FaultExample::Above("size", MAX_SAMPLE_BATCH)),
    ..Operation::with_body(Some(scope::SAMPLES_CREATE), QuotaKind::SamplesCreate)
};
/// Rules for cancelling and deleting a batch.
pub const DELETE: Operation = Operation::short(Some(scope::SAMPLES_DELETE));

/// Description of the 403 answer.
const NOT_YOURS: &str = "The access token lacks the scope, or another account created the batch.";
/// Description of the 404 answer.
const NO_BATCH: &str = "No sample batch that the caller can see has this id.";

/// Stores a sample batch, whose chunks are made in the background.
#[utoipa::path(
    post, path = "/generator/v1/sample-batches", tag = "samples", operation_id = "create_sample_batch",
    description = "Stores a request for up to 100,000 molecules, all different. They are made in chunks, after \
        all interactive and asynchronous samples. Accounts share the samplers fairly. Conditions are those of a sample. \
        If a chunk has too few molecules that satisfy them, it fails, and so do the chunks that are not made yet. \
        The operator limits the waiting molecules of an account (`WAITING_MOLECULES`). An extension.",
    summary = "Create a sample batch",
    params(("idempotency-key" = Option<String>, Header, min_length = 1, max_length = 255, pattern = "^[!-~]+$", description = idempotency::DESCRIPTION)),
    request_body(content = SampleBatchRequest),
    responses(
        (status = 200, description = "The batch.", body = SampleBatch, example = json!(example!("sample_batch"))),
        (status = 409, description = quota::TOO_MUCH),
    ),
)]
pub async fn create(
    State(pool): State<PgPool>,
    State(jobs): State<Jobs>,
    State(limits): State<Arc<RateLimits>>,
    caller: Caller,
    request: Request,
) -> Result<Response, ApiError> {
    let (wanted, key) = caller.creation(MAX_BODY, request, parse_create).await?;

    let _permit = jobs.permit()?;
    if let Some(id) = idempotency::created(&pool, &caller.account_id, key.as_ref()).await? {
        return Ok((replayed(), Json(batch(visible(&pool, &caller, &id).await?))).into_response());
    }
    check_excluded(&pool, &caller, &wanted.conditions).await?;
    let searching = reserve_searches(&limits, &jobs, &caller, (&wanted.conditions, wanted.size)).await;
    let searching = match searching {
        Ok(reserved) => reserved,
        Err(refusal) => return Ok(refusal),
    };
    match store(&pool, &jobs, &caller, (&wanted, key.as_ref())).await {
        Ok(id) => Ok(Json(batch(visible(&pool, &caller, &id).await?)).into_response()),
        Err(error) => {
            if let Some(searching) = searching {
                searching.settle(0).await;
            }
            Err(error)
        }
    }
}

/// Stores a batch with its chunks and returns its id.
async fn store(
    pool: &PgPool,
    jobs: &Jobs,
    caller: &Caller,
    (wanted, key): (&SampleBatchRequest, Option<&IdempotencyKey>),
) -> Result<String, ApiError> {
    let model_id = jobs.model_of_async_sample(wanted.model_id.clone()).await?;
    let id = new_id("sbt");
    let chunks = chunks(wanted.size, wanted.conditions.seed);
    let new = NewSampleBatch {
        id: &id,
        account_id: &caller.account_id,
        model_id: wanted.model_id.as_deref(),
        size: wanted.size,
        chunk_count: chunks.len(),
        conditions: &wanted.conditions,
        details: wanted.details,
    };
    let mut transaction = pool.begin().await?;
    table::insert(&mut transaction, &new).await?;
    async_samples::insert_of_batch(&mut transaction, (&caller.account_id, &id, &model_id), &chunks).await?;
    quota::commit(transaction, (caller, jobs.quota()), key, (CreatedKind::Molecules, &id)).await?;
    Ok(id)
}

pub(crate) fn parse_create(body: &[u8], faults: &mut Faults) -> Option<SampleBatchRequest> {
    let SampleRequest { size, model_id, conditions, details } = parse_up_to(MAX_SAMPLE_BATCH, body, faults)?;
    Some(SampleBatchRequest { size, model_id, conditions, details })
}

/// Returns sample batches, the newest first.
#[utoipa::path(
    get, path = "/generator/v1/sample-batches", tag = "samples", operation_id = "list_sample_batches",
    description = "Lists sample batches, newest first: the account's own, and those of the members of its \
        organisation. An extension.",
    summary = "List sample batches",
    params(
        ("limit" = Option<i32>, Query, description = "Maximum number of items in `data`.", minimum = 1, maximum = 100),
        ("next-page" = Option<String>, Query, min_length = 1, max_length = 255, pattern = r"^\w+$",
            description = "Id of a batch: returns the batches before it."),
        ("prev-page" = Option<String>, Query, min_length = 1, max_length = 255, pattern = r"^\w+$",
            description = "Id of a batch: returns the page of batches after it."),
    ),
    responses((status = 200, description = "One page of batches.", body = Listed<SampleBatch>, example = json!(example!("sample_batch_list")))),
)]
pub async fn list(
    State(pool): State<PgPool>,
    caller: Caller,
    uri: Uri,
) -> Result<Json<Listed<SampleBatch>>, ApiError> {
    let page_request = PageRequest::of(&uri, STYLE)?;
    let ids = page_request.ids(&pool, "sample_batches", &caller).await?;
    let rows = page(&pool, &caller, ids).await?;
    Ok(Json(page_request.listed(rows.into_iter().map(batch).collect())))
}

/// Returns a sample batch and its progress.
#[utoipa::path(
    get, path = "/generator/v1/sample-batches/{batch_id}", tag = "samples", operation_id = "retrieve_sample_batch",
    description = "Returns a sample batch and the number of its completed chunks. An extension.",
    summary = "Retrieve a sample batch",
    params(("batch_id" = String, Path, min_length = 1, max_length = 255, pattern = r"^\w+$",
        description = "Id of the batch.")),
    responses(
        (status = 200, description = "The batch.", body = SampleBatch, example = json!(example!("sample_batch_processing"))),
        (status = 404, description = NO_BATCH),
    ),
)]
pub async fn retrieve(Visible(row): Visible<SampleBatchRow>) -> Result<Json<SampleBatch>, ApiError> {
    Ok(Json(batch(row)))
}

/// Returns chunks of a sample batch with their structures, the last ones first.
#[utoipa::path(
    get, path = "/generator/v1/sample-batches/{batch_id}/samples", tag = "samples", operation_id = "list_samples_of_batch",
    description = "Lists the chunks of a sample batch, last ones first. A chunk is a sample; it has its \
        structures once it is completed. An extension.",
    summary = "List the samples of a batch",
    params(
        ("batch_id" = String, Path, min_length = 1, max_length = 255, pattern = r"^\w+$",
            description = "Id of the batch."),
        ("limit" = Option<i32>, Query, description = "Maximum number of items in `data`.", minimum = 1, maximum = 100),
        ("next-page" = Option<String>, Query, min_length = 1, max_length = 255, pattern = r"^\w+$",
            description = "Id of a chunk of the batch: returns the chunks before it."),
        ("prev-page" = Option<String>, Query, min_length = 1, max_length = 255, pattern = r"^\w+$",
            description = "Id of a chunk of the batch: returns the page of chunks after it."),
    ),
    responses(
        (status = 200, description = "One page of samples.", body = Listed<Sample>, example = json!(example!("sample_of_batch_list"))),
        (status = 400, description = "The request names a chunk that the batch does not have, or contradicts itself."),
        (status = 404, description = NO_BATCH),
    ),
)]
pub async fn samples(
    State(pool): State<PgPool>,
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
    uri: Uri,
) -> Result<Json<Listed<Sample>>, ApiError> {
    let (id, page_request) = PageRequest::of_batch(path, &uri, STYLE)?;
    visible::<SampleBatchRow>(&pool, &caller, &id).await?;
    let ids = async_samples::page_of_batch(&pool, &id, &page_request).await?;
    let Listed { data, has_more, object } = page_request.listed(page(&pool, &caller, ids).await?);
    let data = data.into_iter().filter_map(|row| ordered(row).transpose()).collect::<Result<_, _>>()?;
    Ok(Json(Listed { data, has_more, object }))
}

/// Cancels the rest of a sample batch.
#[utoipa::path(
    post, path = "/generator/v1/sample-batches/{batch_id}/cancel", tag = "samples", operation_id = "cancel_sample_batch",
    description = "Ends a sample batch: completed chunks stay, the others fail. Only the account that created \
        the batch may cancel it. An extension.",
    summary = "Cancel a sample batch",
    params(("batch_id" = String, Path, min_length = 1, max_length = 255, pattern = r"^\w+$",
        description = "Id of the batch.")),
    responses(
        (status = 200, description = "The batch as it stands now.", body = SampleBatch, example = json!(example!("sample_batch_processing"))),
        (status = 403, description = NOT_YOURS),
        (status = 404, description = NO_BATCH),
    ),
)]
pub async fn cancel(
    State(pool): State<PgPool>,
    caller: Caller,
    Owned(row): Owned<SampleBatchRow>,
) -> Result<Json<SampleBatch>, ApiError> {
    let mut transaction = pool.begin().await?;
    let jobs = async_samples::cancel_of_batch(&mut transaction, &row.id).await?;
    queue::cancel(&mut transaction, jobs).await?;
    transaction.commit().await?;
    Ok(Json(batch(visible(&pool, &caller, &row.id).await?)))
}

/// Deletes a sample batch.
#[utoipa::path(
    delete, path = "/generator/v1/sample-batches/{batch_id}", tag = "samples", operation_id = "delete_sample_batch",
    description = "Deletes a sample batch and its samples for ever, and cancels the chunks that are not \
        completed. Only the account that created the batch may delete it. An extension.",
    summary = "Delete a sample batch",
    params(("batch_id" = String, Path, min_length = 1, max_length = 255, pattern = r"^\w+$",
        description = "Id of the batch.")),
    responses(
        (status = 200, description = "The batch is gone.", body = Deleted, example = json!(example!("sample_batch_deleted"))),
        (status = 403, description = NOT_YOURS),
        (status = 404, description = NO_BATCH),
    ),
)]
pub async fn delete(
    State(pool): State<PgPool>,
    Owned(SampleBatchRow { id, .. }): Owned<SampleBatchRow>,
) -> Result<Json<Deleted>, ApiError> {
    let mut transaction = pool.begin().await?;
    table::lock(&mut transaction, &id).await?;
    let jobs = async_samples::lock_of_batch(&mut transaction, &id).await?;
    sample_table::delete_of_batch(&mut transaction, &id).await?;
    table::delete(&mut transaction, &id).await?;
    queue::cancel(&mut transaction, jobs).await?;
    transaction.commit().await?;
    Ok(Json(Deleted { id, object: "sample_batch", deleted: true }))
}

/// Deletes asynchronous samples of batches that are older than `max_age`, with their molecules, and batches that have
/// none left; at most one transaction's worth of each.
pub(crate) async fn delete_older(
    connection: &mut PgConnection,
    max_age: Duration,
) -> Result<u64, sqlx::Error> {
    let async_samples = async_samples::delete_of_older_batches(connection, max_age).await?;
    Ok(async_samples.max(table::delete_empty(connection, max_age).await?))
}

/// Divides a number of molecules into chunks. Their seeds follow from that of the batch, if it has one.
fn chunks(size: u32, seed: Option<u64>) -> Vec<NewChunk> {
    let sizes = (0..size).step_by(CHUNK_SIZE as usize).map(|made| (size - made).min(CHUNK_SIZE));
    let chunk = |(place, size): (u64, u32)| NewChunk {
        id: SampleId::generate().to_string(),
        size: i32::try_from(size).unwrap_or(i32::MAX),
        seed: seed.map_or_else(rand::random, |seed| chunk_seed(seed, place)).cast_signed(),
    };
    (0..).zip(sizes).map(chunk).collect()
}

/// Returns the seed of the chunk at `place`: that number of the sequence of SplitMix64 (Steele et al., 2014) that
/// begins at the batch's `seed`. So batches with neighbouring seeds have no chunk in common.
fn chunk_seed(seed: u64, place: u64) -> u64 {
    let mut mixed = seed.wrapping_add((place + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

fn batch(row: SampleBatchRow) -> SampleBatch {
    let ended = row.completed + row.failed;
    let status = match () {
        () if ended < row.chunk_count.into() && ended + row.processing == 0 => SampleStatus::Pending,
        () if ended < row.chunk_count.into() => SampleStatus::Processing,
        () if row.failed > 0 => SampleStatus::Failed,
        () => SampleStatus::Completed,
    };
    SampleBatch {
        id: row.id,
        object: SampleBatchObject::SampleBatch,
        model_id: row.model_id,
        size: row.size,
        chunk_count: row.chunk_count,
        chunks_created: true,
        status,
        completed_chunks: row.completed,
        failed_chunks: row.failed,
        created_at: row.created_at,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_batch_is_made_in_chunks_that_add_up_to_it() {
        let sizes = |size| chunks(size, None).iter().map(|chunk| chunk.size).collect::<Vec<_>>();

        assert_eq!(sizes(1), [1]);
        assert_eq!(sizes(500), [500]);
        assert_eq!(sizes(1_001), [500, 500, 1]);
        assert_eq!(sizes(MAX_SAMPLE_BATCH), [500; 200]);
    }

    #[test]
    fn a_seed_decides_the_seeds_of_all_chunks() {
        let seeds = |seed| chunks(2_000, seed).iter().map(|chunk| chunk.seed).collect::<Vec<_>>();

        // The first number of the published sequence from 0.
        assert_eq!(seeds(Some(0))[0], 0xE220_A839_7B1D_CDAF_u64.cast_signed());
        assert_eq!(seeds(Some(1)), seeds(Some(1)));
        let all: HashSet<_> = (0..3).flat_map(|seed| seeds(Some(seed))).collect();
        assert_eq!(all.len(), 12);
        assert_ne!(seeds(None), seeds(None));
    }

    #[test]
    fn a_batch_has_failed_when_all_of_it_has_ended_and_not_all_is_there() {
        let row = |completed, failed, processing| SampleBatchRow {
            id: String::new(),
            account_id: String::new(),
            model_id: None,
            size: 1_000,
            chunk_count: 2,
            created_at: chrono::DateTime::UNIX_EPOCH,
            completed,
            failed,
            processing,
        };
        let status = |completed, failed, processing| batch(row(completed, failed, processing)).status;

        assert_eq!(status(0, 0, 0), SampleStatus::Pending);
        assert_eq!(status(0, 0, 1), SampleStatus::Processing);
        assert_eq!(status(0, 1, 0), SampleStatus::Processing);
        assert_eq!(status(2, 0, 0), SampleStatus::Completed);
        assert_eq!(status(1, 1, 0), SampleStatus::Failed);
    }
}
