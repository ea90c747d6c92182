//! Batches: up to 100,000 targets in one request, each of which becomes a plan. Extensions of the contract.
//!
//! A batch consists of rows, which are all stored before the response. Workers turn a few of them at a time into jobs
//! (`worker/src/feed.rs`), so that a large batch puts no more jobs into the queue than a small one. Targets that are
//! the same molecule are searched once. A deleted batch disappears at once; its rows are deleted in several
//! transactions.

mod table;

use std::{
    collections::{HashMap, hash_map::Entry},
    iter,
};

use axum::{
    Json,
    extract::{Path, Request, State, rejection::PathRejection},
    http::Uri,
};
use contract::{
    Batch, BatchObject, BatchRequest, Deleted, MAX_BATCH, NativePlan, Page, Plan, QuotaKind,
    TreeSearchRequest, scope,
};
use http_errors::ApiError;
use queue::Client;
use sqlx::PgPool;

use super::{
    engines::{Engines, engine},
    named_path_id, new_id,
    ownership::{Owned, Visible, page, visible},
    paging::{PLANNING, PageRequest},
    plans::{
        MAX_DESCRIPTION, MAX_NAME, shaped,
        table::{self as plan_table, BatchTarget, PlanRow},
    },
    treesearch::{parse_options, target},
    with_empty_query,
};
use crate::{
    access::Caller,
    answer_shape::{AnswerShape, Shaped},
    examples::example,
    fields::{Faults, FieldFault, Fields, InputValue, nullable, text},
    idempotency::{self, Replayed, replayed},
    jobs::Jobs,
    operation::{DeadlineKind, FaultExample, Operation},
    quota::{self, CreatedKind},
};
use table::{BatchRow, NewBatch};
pub(crate) use table::{delete_some, mark_older};

/// Rules for reading batches and their plans.
pub const READ: Operation = Operation::short(Some(scope::PLANS_READ));
/// Rules for creating a batch.
pub const CREATE: Operation = Operation {
    deadline: DeadlineKind::Batch,
    fault: Some(FaultExample::Missing("smiles")),
    ..Operation::with_body(Some(scope::PLANS_CREATE), QuotaKind::TreeSearch)
};
/// Rules for resuming a batch.
pub const RESUME: Operation = Operation::short(Some(scope::PLANS_CREATE));
/// Rules for cancelling and deleting a batch.
pub const DELETE: Operation = Operation::short(Some(scope::PLANS_DELETE));

/// Description of the 403 answer.
const NOT_YOURS: &str = "The access token lacks the scope, or another account created the batch.";
/// Description of the 404 answer.
const NO_BATCH: &str = "No batch, or no plan of it, that the caller can see has this id.";

/// Largest body, in bytes.
const MAX_BODY: usize = 5 << 20;

/// Stores a batch, whose plans are made in the background.
#[utoipa::path(
    post, path = "/synth-batches/v1/batches", tag = "plans", operation_id = "create_batch",
    description = "Stores a tree search for each of up to 100,000 targets. They run in the background, after all \
        single plans. Accounts share the searchers fairly. A body has at most 5 MiB. The operator limits \
        the waiting targets of an account (`WAITING_TARGETS`). An extension.",
    summary = "Create a batch",
    params(("idempotency-key" = Option<String>, Header, min_length = 1, max_length = 255, pattern = "^[!-~]+$", description = idempotency::DESCRIPTION)),
    request_body(content = BatchRequest),
    responses(
        (status = 200, description = "The batch.", body = Batch, example = json!(example!("batch"))),
        (status = 409, description = quota::TOO_MUCH),
        (status = 413, description = "The body is larger than 5 MiB."),
    ),
)]
pub async fn create(
    State(pool): State<PgPool>,
    State(queue): State<Client>,
    State(jobs): State<Jobs>,
    State(engines): State<Engines>,
    caller: Caller,
    request: Request,
) -> Result<(Replayed, Json<Batch>), ApiError> {
    let longest = jobs.longest_search();
    let parse = move |body: &[u8], faults: &mut Faults| parse_create(body, longest, faults);
    let (wanted, key) = caller.creation(MAX_BODY, request, parse).await?;

    let _permit = jobs.permit()?;
    if let Some(id) = idempotency::created(&pool, &caller.account_id, key.as_ref()).await? {
        return Ok((replayed(), Json(batch(visible(&pool, &caller, &id).await?))));
    }
    let engine = engines.chosen(&queue, wanted.engine).await?;
    let id = new_id("bat");
    let new = NewBatch {
        id: &id,
        account_id: &caller.account_id,
        parameters: &wanted.parameters,
        engine: &engine,
        name: wanted.name,
        description: wanted.description,
    };
    let mut transaction = pool.begin().await?;
    let row = table::insert(&mut transaction, new, &wanted.targets).await?;
    quota::commit(transaction, (&caller, jobs.quota()), key.as_ref(), (CreatedKind::Targets, &id)).await?;
    Ok((None, Json(batch(row))))
}

/// Returns batches, the newest first.
#[utoipa::path(
    get, path = "/synth-batches/v1/batches", tag = "plans", operation_id = "list_batches",
    description = "Lists batches, newest first: the account's own, and those of the members of its organisation. \
        An extension.",
    summary = "List batches",
    params(
        ("limit" = Option<i32>, Query, description = "Maximum number of items.", minimum = 1, maximum = 100),
        ("starting_after" = Option<String>, Query, min_length = 1, max_length = 255, pattern = r"^\w+$",
            description = "Id of a batch: returns the page of older batches next to it."),
        ("ending_before" = Option<String>, Query, min_length = 1, max_length = 255, pattern = r"^\w+$",
            description = "Id of a batch: returns the page of newer batches next to it."),
    ),
    responses((status = 200, description = "One page of batches.", body = Page<Batch>, example = json!(example!("batch_list")))),
)]
pub async fn list(
    State(pool): State<PgPool>,
    caller: Caller,
    uri: Uri,
) -> Result<Json<Page<Batch>>, ApiError> {
    let page_request = PageRequest::of(&uri, PLANNING)?;
    let ids = page_request.ids(&pool, "batches", &caller).await?;
    let rows = page(&pool, &caller, ids).await?;
    Ok(Json(page_request.page(rows.into_iter().map(batch).collect())))
}

/// Returns a batch and its progress.
#[utoipa::path(
    get, path = "/synth-batches/v1/batches/{batch_id}", tag = "plans", operation_id = "retrieve_batch",
    description = "Returns a batch and the number of its plans in each status. An extension.",
    summary = "Retrieve a batch",
    params(("batch_id" = String, Path, min_length = 1, max_length = 255, pattern = r"^\w+$",
        description = "Id of the batch.")),
    responses(
        (status = 200, description = "The batch.", body = Batch, example = json!(example!("batch_processing"))),
        (status = 404, description = NO_BATCH),
    ),
)]
pub async fn retrieve(
    State(pool): State<PgPool>,
    Visible(row): Visible<BatchRow>,
) -> Result<Json<Batch>, ApiError> {
    with_progress(&pool, row).await
}

/// Returns plans of a batch, those of the last targets first.
#[utoipa::path(
    get, path = "/synth-batches/v1/batches/{batch_id}/plans", tag = "plans", operation_id = "list_plans_of_batch",
    description = "Lists the plans of a batch without their results, those of the last targets first. An \
        extension.",
    summary = "List the plans of a batch",
    params(
        ("batch_id" = String, Path, min_length = 1, max_length = 255, pattern = r"^\w+$",
            description = "Id of the batch."),
        ("limit" = Option<i32>, Query, description = "Maximum number of items.", minimum = 1, maximum = 100),
        ("starting_after" = Option<String>, Query, min_length = 1, max_length = 255, pattern = r"^\w+$",
            description = "Id of a plan of the batch: returns the page of plans of earlier targets next to it."),
        ("ending_before" = Option<String>, Query, min_length = 1, max_length = 255, pattern = r"^\w+$",
            description = "Id of a plan of the batch: returns the page of plans of later targets next to it."),
    ),
    responses(
        (status = 200, description = "One page of plans.", body = Page<Plan>, example = json!(example!("plan_of_batch_list"))),
        (status = 400, description = "The request names a plan that the batch does not have, or contradicts itself."),
        (status = 404, description = NO_BATCH),
    ),
)]
pub async fn plans(
    State(pool): State<PgPool>,
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
    uri: Uri,
) -> Result<Json<Page<Plan>>, ApiError> {
    let (id, page_request) = PageRequest::of_batch(path, &uri, PLANNING)?;
    visible::<BatchRow>(&pool, &caller, &id).await?;
    let ids = plan_table::page_of_batch(&pool, &id, &page_request).await?;
    let rows: Vec<PlanRow> = page(&pool, &caller, ids).await?;
    Ok(Json(page_request.page(rows.into_iter().map(|row| row.into_plan(None)).collect())))
}

/// Returns a plan of a batch, with its result once it is completed.
#[utoipa::path(
    get, path = "/synth-batches/v1/batches/{batch_id}/plans/{plan_id}", tag = "plans", operation_id = "retrieve_plan_of_batch",
    description = "Returns a plan of a batch, with its result once it is completed. An extension.",
    summary = "Retrieve a plan of a batch",
    params(
        ("batch_id" = String, Path, min_length = 1, max_length = 255, pattern = r"^\w+$",
            description = "Id of the batch."),
        ("plan_id" = String, Path, min_length = 1, max_length = 255, pattern = r"^\w+$",
            description = "Id of the plan."),
    ),
    responses(
        (status = 200, description = "The plan.",
            content((Plan = "application/json", example = json!(example!("plan_of_batch"))), (NativePlan = "application/vnd.retort.treesearch+json"))),
        (status = 404, description = NO_BATCH),
    ),
)]
pub async fn retrieve_plan(
    State(pool): State<PgPool>,
    caller: Caller,
    shape: AnswerShape,
    path: Result<Path<(String, String)>, PathRejection>,
    uri: Uri,
) -> Result<Shaped<Plan>, ApiError> {
    let (batch, id) =
        path.map_or_else(|refused| (Err(refused), None), |Path((batch, id))| (Ok(Path(batch)), Some(id)));
    let mut faults = Faults::default();
    let batch = named_path_id("batch_id", batch, &mut faults);
    let id = named_path_id("plan_id", Ok(Path(id.unwrap_or_default())), &mut faults);
    let (batch, id) = with_empty_query(&uri, faults, batch.zip(id))?;
    let row: PlanRow = visible(&pool, &caller, &id).await?;
    if row.batch_id != Some(batch) {
        return Err(ApiError::NotFound);
    }
    shaped(row, shape).await
}

/// Cancels the rest of a batch.
#[utoipa::path(
    post, path = "/synth-batches/v1/batches/{batch_id}/cancel", tag = "plans", operation_id = "cancel_batch",
    description = "Cancels the plans of a batch that have not ended; they can be resumed. Only the account that \
        created the batch may cancel it. An extension.",
    summary = "Cancel a batch",
    params(("batch_id" = String, Path, min_length = 1, max_length = 255, pattern = r"^\w+$",
        description = "Id of the batch.")),
    responses(
        (status = 200, description = "The batch as it stands now.", body = Batch, example = json!(example!("batch_processing"))),
        (status = 403, description = NOT_YOURS),
        (status = 404, description = NO_BATCH),
    ),
)]
pub async fn cancel(
    State(pool): State<PgPool>,
    caller: Caller,
    Owned(row): Owned<BatchRow>,
) -> Result<Json<Batch>, ApiError> {
    let mut transaction = pool.begin().await?;
    table::cancel(&mut transaction, &row.id).await?;
    let jobs = plan_table::cancel_of_batch(&mut transaction, &row.id).await?;
    queue::cancel(&mut transaction, jobs).await?;
    transaction.commit().await?;
    with_progress(&pool, visible(&pool, &caller, &row.id).await?).await
}

/// Resumes a cancelled batch.
#[utoipa::path(
    post, path = "/synth-batches/v1/batches/{batch_id}/resume", tag = "plans", operation_id = "resume_batch",
    description = "Resumes the cancelled plans of a batch, if the account may have so many waiting targets. Only \
        the account that created the batch may resume it. An extension.",
    summary = "Resume a batch",
    params(("batch_id" = String, Path, min_length = 1, max_length = 255, pattern = r"^\w+$",
        description = "Id of the batch.")),
    responses(
        (status = 200, description = "The batch as it stands now.", body = Batch, example = json!(example!("batch_processing"))),
        (status = 403, description = NOT_YOURS),
        (status = 404, description = NO_BATCH),
        (status = 409, description = "The account would exceed its limit of waiting targets."),
    ),
)]
pub async fn resume(
    State(pool): State<PgPool>,
    State(jobs): State<Jobs>,
    caller: Caller,
    Owned(row): Owned<BatchRow>,
) -> Result<Json<Batch>, ApiError> {
    let mut transaction = pool.begin().await?;
    table::resume(&mut transaction, &row.id).await?;
    plan_table::resume_of_batch(&mut transaction, &row.id).await?;
    quota::enforce(&mut transaction, (&caller, jobs.quota()), CreatedKind::Targets).await?;
    transaction.commit().await?;
    with_progress(&pool, visible(&pool, &caller, &row.id).await?).await
}

/// Deletes a batch.
#[utoipa::path(
    delete, path = "/synth-batches/v1/batches/{batch_id}", tag = "plans", operation_id = "delete_batch",
    description = "Deletes a batch, its plans and their results for ever, and cancels the plans that have not \
        ended. Only the account that created the batch may delete it. An extension.",
    summary = "Delete a batch",
    params(("batch_id" = String, Path, min_length = 1, max_length = 255, pattern = r"^\w+$",
        description = "Id of the batch.")),
    responses(
        (status = 200, description = "The batch is gone.", body = Deleted, example = json!(example!("batch_deleted"))),
        (status = 403, description = NOT_YOURS),
        (status = 404, description = NO_BATCH),
    ),
)]
pub async fn delete(
    State(pool): State<PgPool>,
    Owned(BatchRow { id, .. }): Owned<BatchRow>,
) -> Result<Json<Deleted>, ApiError> {
    let mut transaction = pool.begin().await?;
    table::mark_deleted(&mut transaction, &id).await?;
    let jobs = plan_table::jobs_of_batch(&mut transaction, &id).await?;
    queue::cancel(&mut transaction, jobs).await?;
    transaction.commit().await?;
    Ok(Json(Deleted { id, object: "batch", deleted: true }))
}

/// Parsed request to create a batch.
pub(crate) struct ParsedBatch {
    pub(crate) targets: Vec<BatchTarget>,
    /// Search parameters without a target.
    parameters: TreeSearchRequest,
    engine: Option<String>,
    name: Option<String>,
    description: Option<String>,
}

pub(crate) fn parse_create(body: &[u8], longest: f64, faults: &mut Faults) -> Option<ParsedBatch> {
    let mut body = Fields::body(body, faults)?;
    let smiles = body.required_list("smiles", MAX_BATCH, |input: &InputValue<'_>| {
        target(input).map(|(smiles, target)| (smiles, target.molecule().canonical_smiles()))
    });
    let parameters = body.object("parameters", |mut fields| {
        // Bonds are resolved in each target at the time of its search.
        let options = parse_options(&mut fields, None, longest);
        let engine = fields.optional("engine", None, engine);
        fields.finish();
        Some((options?, engine?))
    });
    let names =
        body.list("names", MAX_BATCH, |input: &InputValue<'_>| nullable(text(0, Some(MAX_NAME)))(input));
    if let (Some(smiles), Some(Some(names))) = (&smiles, &names)
        && smiles.len() != names.len()
    {
        let msg =
            format!("List should have as many items as 'smiles', {}, not {}", smiles.len(), names.len());
        body.fault("names", FieldFault::new("wrong_length", msg));
    }
    let name = body.optional("name", None, nullable(text(0, Some(MAX_NAME))));
    let description = body.optional("description", None, nullable(text(0, Some(MAX_DESCRIPTION))));
    body.finish();
    let (parameters, engine) = parameters?;
    let mut smiles = smiles?;
    let names = names?.unwrap_or_default();
    if !(parameters.bonds_to_break.is_empty() && parameters.bonds_to_keep.is_empty()) {
        // Atom maps in the text say which bonds are meant, so targets are compared by text and not by molecule.
        smiles.iter_mut().for_each(|(text, key)| key.clone_from(text));
    }
    let targets = targets(smiles, names);
    Some(ParsedBatch { targets, parameters, engine, name: name?, description: description? })
}

/// Returns each target with its id and name. A repeated molecule also gets the id of its first target.
fn targets(smiles: Vec<(String, String)>, names: Vec<Option<String>>) -> Vec<BatchTarget> {
    let mut first: HashMap<String, String> = HashMap::with_capacity(smiles.len());
    let target = |((smiles, canonical), name)| {
        let id = new_id("pln");
        let same_as = match first.entry(canonical) {
            Entry::Occupied(known) => Some(known.get().clone()),
            Entry::Vacant(new) => {
                new.insert(id.clone());
                None
            }
        };
        BatchTarget { id, smiles, name, same_as }
    };
    let names = names.into_iter().chain(iter::repeat(None));
    smiles.into_iter().zip(names).map(target).collect()
}

async fn with_progress(pool: &PgPool, row: BatchRow) -> Result<Json<Batch>, ApiError> {
    let progress = plan_table::progress_of_batch(pool, &row.id).await?;
    Ok(Json(Batch { progress: Some(progress), ..batch(row) }))
}

fn batch(row: BatchRow) -> Batch {
    Batch {
        id: row.id,
        object: BatchObject::Batch,
        created_at: row.created_at,
        updated_at: row.updated_at,
        name: row.name,
        description: row.description,
        plan_count: row.plan_count,
        plans_created: true,
        progress: None,
    }
}
