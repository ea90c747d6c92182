//! Plans: asynchronous tree searches, and stored answers of finished ones. Create, list, retrieve, cancel, delete.
//! Extensions of the contract.
//!
//! A plan is a row that is stored together with its job: a plan that was answered with 201 is made, whatever process
//! dies meanwhile. An account that may read another's samples may read its plans; only the account itself cancels and
//! deletes them.

pub mod events;
pub(super) mod table;

use std::{collections::BTreeMap, io, mem};

use axum::{
    Json,
    extract::{Request, State},
    http::{StatusCode, Uri},
    response::{IntoResponse, Response},
};
use contract::{
    AizynthTrees, Deleted, NativePlan, Page, Plan, PlanFigures, PlanJob, PlanParameters, PlanRequest,
    QuotaKind, RetrocastPredictions, StoredPlanJob, TreeSearchResult, scope,
};
use http_errors::{ApiError, MAX_BODY};
use queue::{Client, Urgency, search_estimate};
use sqlx::PgPool;

use super::{
    MAX_ID, PathIdAndFormat,
    engines::{Engines, engine},
    export::{self, exported},
    gzip_json::{packed, unpacked},
    hidden_offers::remove_hidden_offers,
    metered_search::MeteredSearch,
    new_id,
    ownership::{Owned, page, visible},
    paging::{PLANNING, PageRequest},
    treesearch::{parse_options, target},
};
use crate::{
    access::Caller,
    answer_shape::{AnswerShape, Shaped},
    examples::example,
    fields::{Faults, Fields, nullable, text, word},
    idempotency::{self, Replayed, replayed},
    jobs::{Jobs, submission_error},
    operation::{FaultExample, Operation, PermitUse},
    quota::{self, CreatedKind},
};
pub(crate) use table::delete_older;
use table::{NewPlan, PlanRow};

/// Rules for reading plans.
pub const READ: Operation = Operation::short(Some(scope::PLANS_READ));
/// Rules for retrieving a plan. An export waits for a worker.
pub const RETRIEVE: Operation = Operation { permit: PermitUse::Admission, ..READ };
/// Rules for creating a plan.
pub const CREATE: Operation = Operation {
    fault: Some(FaultExample::Missing("parameters")),
    ..Operation::with_body(Some(scope::PLANS_CREATE), QuotaKind::TreeSearch)
};
/// Rules for cancelling and deleting a plan.
pub const DELETE: Operation = Operation::short(Some(scope::PLANS_DELETE));

/// Description of the 403 answer.
const NOT_YOURS: &str = "The access token lacks the scope, or another account created the plan.";
/// Description of the 404 answer.
const NO_PLAN: &str = "No plan that the caller can see has this id.";

/// Largest number of characters of a name or a description.
pub(super) const MAX_NAME: usize = 255;
pub(super) const MAX_DESCRIPTION: usize = 4000;

/// Stores a plan, which is made in the background.
#[utoipa::path(
    post, path = "/synth-batches/v1/plans", tag = "plans", operation_id = "create_plan",
    description = "Stores a tree search that runs in the background, before all batches. It pauses while \
        interactive searches run, and `max_seconds` counts only its own time. With `search_id` it takes the \
        parameters and the result of a finished streamed search, and nothing is searched again. The \
        operator limits the waiting targets of an account (`WAITING_TARGETS`) and its storage \
        (`stored-megabytes`). An extension.",
    summary = "Create a plan",
    params(("idempotency-key" = Option<String>, Header, min_length = 1, max_length = 255, pattern = "^[!-~]+$", description = idempotency::DESCRIPTION)),
    request_body(content = PlanRequest),
    responses(
        (status = 201, description = "The plan: pending, or completed if its result exists already.",
            content((Plan = "application/json", example = json!(example!("plan"))), (NativePlan = "application/vnd.retort.treesearch+json"))),
        (status = 409, description = quota::TOO_MUCH),
    ),
)]
pub async fn create(
    State(pool): State<PgPool>,
    State(queue): State<Client>,
    State(jobs): State<Jobs>,
    State(engines): State<Engines>,
    caller: Caller,
    shape: AnswerShape,
    request: Request,
) -> Result<(StatusCode, Replayed, Shaped<Plan>), ApiError> {
    let longest = jobs.longest_search();
    let parse = move |body: &[u8], faults: &mut Faults| parse_create(body, longest, faults);
    let (wanted, key) = caller.creation(MAX_BODY, request, parse).await?;

    let _permit = jobs.permit()?;
    if let Some(id) = idempotency::created(&pool, &caller.account_id, key.as_ref()).await? {
        let row = visible(&pool, &caller, &id).await?;
        return Ok((StatusCode::CREATED, replayed(), shaped(row, shape).await?));
    }
    let engine = engines.chosen(&queue, wanted.engine).await?;
    let (name, description) = (wanted.name, wanted.description);
    let (id, transaction, row) = if let Some(search_id) = wanted.search_id {
        let result =
            jobs.request_and_result(&caller.account_id, &search_id).await?.ok_or(ApiError::BadReference)?;
        let (request, result) = result;
        if result.search_smiles != wanted.target {
            return Err(ApiError::BadReference);
        }
        // The same id for the same search, however often it is requested.
        let id = format!("pln_{}", search_id.to_lowercase());
        let parameters = PlanParameters { request, engine };
        let (figures, zipped) = zipped(result).await?;
        let result = Some((&*zipped, &figures));
        let new =
            NewPlan { id: &id, parameters: &parameters, name, description, job_id: None, found: result };
        let mut transaction = pool.begin().await?;
        table::insert(&mut transaction, &caller.account_id, new).await?;
        (id, transaction, None)
    } else {
        let id = new_id("pln");
        let (_, expected_seconds) = search_estimate(&wanted.request);
        let job =
            StoredPlanJob::V1(PlanJob { plan_id: id.clone(), engine: engine.clone(), expected_seconds });
        let parameters = PlanParameters { request: wanted.request, engine };
        let mut transaction = pool.begin().await?;
        let job_id = queue::enqueue(&mut transaction, &job, &caller.account_id, Urgency::Asked).await;
        let job_id = job_id.map_err(submission_error)?.to_string();
        let job_id = Some(&*job_id);
        let new = NewPlan { id: &id, parameters: &parameters, name, description, job_id, found: None };
        let row = table::insert(&mut transaction, &caller.account_id, new).await?;
        (id, transaction, row)
    };
    quota::commit(transaction, (&caller, jobs.quota()), key.as_ref(), (CreatedKind::Targets, &id)).await?;
    let row = match row {
        Some(row) => row,
        // An existing plan stays as it was.
        None => visible(&pool, &caller, &id).await?,
    };
    Ok((StatusCode::CREATED, None, shaped(row, shape).await?))
}

/// Returns the figures of a finished search, and its result in stored form.
async fn zipped(result: TreeSearchResult) -> Result<(PlanFigures, Vec<u8>), ApiError> {
    let zipping =
        tokio::task::spawn_blocking(move || Ok::<_, io::Error>((PlanFigures::of(&result), packed(&result)?)));
    let zipped = zipping.await.map_err(|error| ApiError::internal(&error))?;
    zipped.map_err(|error| ApiError::internal(&error))
}

/// Returns plans outside batches, the newest first.
#[utoipa::path(
    get, path = "/synth-batches/v1/plans", tag = "plans", operation_id = "list_plans",
    description = "Lists single plans, newest first, without their results and without the lists in their \
        parameters: the account's own, and those of the members of its organisation. Plans of batches are \
        not listed. An extension.",
    summary = "List plans",
    params(
        ("limit" = Option<i32>, Query, description = "Maximum number of items.", minimum = 1, maximum = 100),
        ("starting_after" = Option<String>, Query, min_length = 1, max_length = 255, pattern = r"^\w+$",
            description = "Id of a single plan: returns the page of older plans next to it."),
        ("ending_before" = Option<String>, Query, min_length = 1, max_length = 255, pattern = r"^\w+$",
            description = "Id of a single plan: returns the page of newer plans next to it."),
    ),
    responses((status = 200, description = "One page of plans.", body = Page<Plan>, example = json!(example!("plan_list")))),
)]
pub async fn list(
    State(pool): State<PgPool>,
    caller: Caller,
    uri: Uri,
) -> Result<Json<Page<Plan>>, ApiError> {
    let page_request = PageRequest::of(&uri, PLANNING)?;
    let ids = page_request.ids(&pool, "plans", &caller).await?;
    let rows: Vec<PlanRow> = page(&pool, &caller, ids).await?;
    Ok(Json(page_request.page(rows.into_iter().map(|row| row.into_plan(None)).collect())))
}

/// Returns a plan, with its result once it is completed.
#[utoipa::path(
    get, path = "/synth-batches/v1/plans/{plan_id}", tag = "plans", operation_id = "retrieve_plan",
    description = "Returns a plan, single or of a batch, with its result once it is completed. Offers of private \
        vendors that the caller may not see are left out; prices, days and shopping lists that may depend \
        on them are unknown. An extension.",
    summary = "Retrieve a plan",
    params(("plan_id" = String, Path, min_length = 1, max_length = 255, pattern = r"^\w+$",
        description = "Id of the plan."),
        ("format" = Option<String>, Query, description = export::DESCRIPTION)),
    responses(
        (status = 200, description = "The plan.",
            content((Plan = "application/json", example = json!(example!("plan"))), (NativePlan = "application/vnd.retort.treesearch+json"),
                (AizynthTrees = "application/vnd.retort.aizynth+json"), (RetrocastPredictions = "application/vnd.retort.retrocast+json"))),
        (status = 404, description = NO_PLAN),
        (status = 409, description = export::NOTHING_TO_EXPORT),
    ),
)]
pub async fn retrieve(
    State(pool): State<PgPool>,
    search: MeteredSearch,
    shape: AnswerShape,
    PathIdAndFormat(id, format): PathIdAndFormat,
) -> Result<Response, ApiError> {
    let permit = search.jobs.permit()?;
    let mut row: PlanRow = visible(&pool, &search.caller, &id).await?;
    let Some(format) = format else { return Ok(shaped(row, shape).await?.into_response()) };
    let none = || ApiError::Conflict { message: "The plan has no result".to_owned() };
    let result = visible_result(&mut row).await?.ok_or_else(none)?;
    drop(permit);
    exported(&search, format, result).await
}

/// Cancels a plan.
#[utoipa::path(
    post, path = "/synth-batches/v1/plans/{plan_id}/cancel", tag = "plans", operation_id = "cancel_plan",
    description = "Cancels a pending or processing plan; an ended plan stays as it is. Only the account that \
        created the plan may cancel it. An extension.",
    summary = "Cancel a plan",
    params(("plan_id" = String, Path, min_length = 1, max_length = 255, pattern = r"^\w+$",
        description = "Id of the plan.")),
    responses(
        (status = 200, description = "The plan as it stands now.",
            content((Plan = "application/json", example = json!(example!("plan_cancelled"))), (NativePlan = "application/vnd.retort.treesearch+json"))),
        (status = 403, description = NOT_YOURS),
        (status = 404, description = NO_PLAN),
    ),
)]
pub async fn cancel(
    State(pool): State<PgPool>,
    caller: Caller,
    shape: AnswerShape,
    Owned(row): Owned<PlanRow>,
) -> Result<Shaped<Plan>, ApiError> {
    let mut transaction = pool.begin().await?;
    let jobs = table::cancel(&mut transaction, &row.id).await?;
    queue::cancel(&mut transaction, jobs).await?;
    transaction.commit().await?;
    shaped(visible(&pool, &caller, &row.id).await?, shape).await
}

/// Deletes a plan.
#[utoipa::path(
    delete, path = "/synth-batches/v1/plans/{plan_id}", tag = "plans", operation_id = "delete_plan",
    description = "Deletes a plan and its result for ever, and cancels a plan that has not ended. Only the \
        account that created the plan may delete it. A plan of a batch is deleted with its batch. An \
        extension.",
    summary = "Delete a plan",
    params(("plan_id" = String, Path, min_length = 1, max_length = 255, pattern = r"^\w+$",
        description = "Id of the plan.")),
    responses(
        (status = 200, description = "The plan is gone.", body = Deleted, example = json!(example!("plan_deleted"))),
        (status = 403, description = NOT_YOURS),
        (status = 404, description = NO_PLAN),
        (status = 409, description = "The plan belongs to a batch, with which it is deleted."),
    ),
)]
pub async fn delete(
    State(pool): State<PgPool>,
    Owned(PlanRow { id, batch_id, .. }): Owned<PlanRow>,
) -> Result<Json<Deleted>, ApiError> {
    if batch_id.is_some() {
        return Err(ApiError::Conflict { message: "A plan of a batch is deleted with its batch".to_owned() });
    }
    let mut transaction = pool.begin().await?;
    let jobs = table::delete(&mut transaction, &id).await?;
    queue::cancel(&mut transaction, jobs).await?;
    transaction.commit().await?;
    Ok(Json(Deleted { id, object: "plan", deleted: true }))
}

/// Parsed request to create a plan.
pub(crate) struct ParsedPlan {
    pub(crate) request: contract::TreeSearchRequest,
    /// Canonical SMILES of the target.
    target: String,
    /// Finished search whose answer the plan stores.
    search_id: Option<String>,
    engine: Option<String>,
    name: Option<String>,
    description: Option<String>,
}

pub(crate) fn parse_create(body: &[u8], longest: f64, faults: &mut Faults) -> Option<ParsedPlan> {
    let mut body = Fields::body(body, faults)?;
    let parameters = body.object("parameters", |mut fields| {
        let search_smiles = fields.required("search_smiles", target);
        let options = parse_options(&mut fields, search_smiles.as_ref().map(|(_, target)| target), longest);
        let engine = fields.optional("engine", None, engine);
        fields.finish();
        let (search_smiles, target) = search_smiles?;
        let target = target.molecule().canonical_smiles();
        Some((contract::TreeSearchRequest { search_smiles, ..options? }, target, engine?))
    });
    let name = body.optional("name", None, nullable(text(0, Some(MAX_NAME))));
    let description = body.optional("description", None, nullable(text(0, Some(MAX_DESCRIPTION))));
    let search_id = body.optional("search_id", None, nullable(word(1, Some(MAX_ID))));
    body.finish();
    let (request, target, engine) = parameters?;
    Some(ParsedPlan {
        request,
        target,
        search_id: search_id?,
        engine,
        name: name?,
        description: description?,
    })
}

/// Builds the plan of `row`, with the part of a requested result that its reader may see.
pub(super) async fn shaped(mut row: PlanRow, shape: AnswerShape) -> Result<Shaped<Plan>, ApiError> {
    let result = visible_result(&mut row).await?;
    Ok(Shaped(row.into_plan(result.map(|result| shape.of_result(result))), shape))
}

/// Takes the requested result out of `row`: the part that its reader may see.
async fn visible_result(row: &mut PlanRow) -> Result<Option<TreeSearchResult>, ApiError> {
    let Some(zipped) = row.result.take() else { return Ok(None) };
    let hidden = mem::take(&mut row.hidden_vendors);
    // A hundred routes take long enough to unpack to be kept off the async threads.
    let unpacking = tokio::task::spawn_blocking(move || {
        let mut result: TreeSearchResult = unpacked(&zipped)?;
        let groups = result.route_hierarchy.values_mut().flat_map(BTreeMap::values_mut);
        let routes = groups.flatten().flatten();
        let has_left_out = remove_hidden_offers(&hidden, &mut result.pricing_annotations, routes);
        Ok::<_, io::Error>((result, has_left_out))
    });
    let unpacked = unpacking.await.map_err(|error| ApiError::internal(&error))?;
    let (result, has_left_out) = unpacked.map_err(|error| ApiError::internal(&error))?;
    row.sees_prices &= !has_left_out;
    Ok(Some(result))
}
