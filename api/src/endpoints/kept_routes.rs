//! Kept routes: with a name, a note and a star, for every account that may read the owner's samples. Extensions of
//! the contract.
//!
//! The caller sends the route, so that a route edited by hand can be kept as well as one of an answer. It must be a
//! valid route, and no field of it is dropped.

mod table;

use std::{io, iter, mem};

use axum::{
    Json,
    extract::{Request, State},
    http::{StatusCode, Uri},
    response::{IntoResponse, Response},
};
use contract::{
    AizynthTrees, Deleted, KeptRoute, KeptRouteChange, KeptRouteObject, KeptRouteRequest, Metadata, Page,
    PricingAnnotation, QuotaKind, ReagentResults, RetrocastPredictions, RouteFigures, TreeSearchRequest,
    TreeSearchResult, scope,
};
use http_errors::ApiError;
use sqlx::PgPool;

use super::{
    PathId, PathIdAndFormat,
    checked_route::{exactly, route_to},
    export::{self, exported},
    gzip_json::unpacked,
    hidden_offers::remove_hidden_offers,
    metered_search::MeteredSearch,
    new_id,
    ownership::{Owned, owned, page, visible},
    paging::{PLANNING, PageRequest},
    plans::{MAX_DESCRIPTION, MAX_NAME},
    treesearch::{parse_options, target},
};
use crate::{
    access::Caller,
    examples::example,
    fields::{Faults, Fields, boolean, nullable, text},
    idempotency::{self, Replayed, replayed},
    jobs::Jobs,
    operation::{FaultExample, Operation, PermitUse},
    quota::{self, CreatedKind},
};
use table::{Content, KeptRow, NewRoute};

/// Rules for reading kept routes.
pub const READ: Operation = Operation::short(Some(scope::ROUTES_READ));
/// Rules for retrieving a kept route. An export waits for a worker.
pub const RETRIEVE: Operation = Operation { permit: PermitUse::Admission, ..READ };
/// Rules for keeping a route.
pub const CREATE: Operation = Operation {
    fault: Some(FaultExample::Missing("route")),
    ..Operation::with_body(Some(scope::ROUTES_CREATE), QuotaKind::Reads)
};
/// Rules for changing a kept route.
pub const UPDATE: Operation = Operation::with_body(Some(scope::ROUTES_UPDATE), QuotaKind::Reads);
/// Rules for deleting a kept route.
pub const DELETE: Operation = Operation::short(Some(scope::ROUTES_DELETE));

/// Description of the 403 answer.
const NOT_YOURS: &str = "The access token lacks the scope, or another account keeps the route.";
/// Description of the 404 answer.
const NO_ROUTE: &str = "No kept route that the caller can see has this id.";

/// Largest body, in bytes: a route of a thousand molecules with offers for each.
const MAX_BODY: usize = 2 << 20;

/// Largest number of offers in a route.
const MAX_OFFERS: usize = 10_000;

/// Keeps a route.
#[utoipa::path(
    post, path = "/synth/v1/routes", tag = "routes", operation_id = "create_route",
    description = "Keeps a route, found or edited, until it is deleted. The graph must be a route: without a \
        cycle, with the target as first molecule, and with no step to a molecule that is bought. A body has \
        at most 2 MiB. An extension.",
    summary = "Keep a route",
    params(("idempotency-key" = Option<String>, Header, min_length = 1, max_length = 255, pattern = "^[!-~]+$", description = idempotency::DESCRIPTION)),
    request_body(content = KeptRouteRequest),
    responses(
        (status = 201, description = "The route as it is kept.", body = KeptRoute, example = json!(example!("kept_route"))),
        (status = 409, description = "The account would exceed its limit of kept routes or of storage, or a request with the same key is in progress."),
        (status = 413, description = "The body is larger than 2 MiB."),
    ),
)]
pub async fn create(
    State(pool): State<PgPool>,
    State(jobs): State<Jobs>,
    caller: Caller,
    request: Request,
) -> Result<(StatusCode, Replayed, Json<KeptRoute>), ApiError> {
    let longest = jobs.longest_search();
    let parse = move |body: &[u8], faults: &mut Faults| {
        let route_request = parse_create(body, longest, faults)?;
        let zipped = table::zipped(&route_request);
        Some((route_request, zipped))
    };
    let ((route_request, zipped), key) = caller.creation(MAX_BODY, request, parse).await?;
    let zipped = zipped.map_err(|error| ApiError::internal(&error))?;

    let _permit = jobs.permit()?;
    if let Some(id) = idempotency::created(&pool, &caller.account_id, key.as_ref()).await? {
        let row = visible(&pool, &caller, &id).await?;
        return Ok((StatusCode::CREATED, replayed(), with_content(row, &caller).await?));
    }
    let id = new_id("rte");
    let new = NewRoute {
        id: &id,
        account_id: &caller.account_id,
        route_request: &route_request,
        figures: RouteFigures::of(&route_request.route),
        zipped: &zipped,
    };
    let mut transaction = pool.begin().await?;
    let row = table::insert(&mut transaction, new).await?;
    quota::commit(transaction, (&caller, jobs.quota()), key.as_ref(), (CreatedKind::Route, &id)).await?;
    let content =
        Content { route: route_request.route, pricing_annotations: route_request.pricing_annotations };
    Ok((StatusCode::CREATED, None, Json(kept(row, Some(content), &caller))))
}

/// Returns kept routes, the newest first.
#[utoipa::path(
    get, path = "/synth/v1/routes", tag = "routes", operation_id = "list_routes",
    description = "Lists kept routes, newest first, without their graphs and without the lists in their \
        parameters: the account's own, and those of the members of its organisation. An extension.",
    summary = "List kept routes",
    params(
        ("limit" = Option<i32>, Query, description = "Maximum number of items.", minimum = 1, maximum = 100),
        ("starting_after" = Option<String>, Query, min_length = 1, max_length = 255, pattern = r"^\w+$",
            description = "Id of a kept route: returns the page of older routes next to it."),
        ("ending_before" = Option<String>, Query, min_length = 1, max_length = 255, pattern = r"^\w+$",
            description = "Id of a kept route: returns the page of newer routes next to it."),
    ),
    responses((status = 200, description = "One page of kept routes.", body = Page<KeptRoute>, example = json!(example!("kept_route_list")))),
)]
pub async fn list(
    State(pool): State<PgPool>,
    caller: Caller,
    uri: Uri,
) -> Result<Json<Page<KeptRoute>>, ApiError> {
    let page_request = PageRequest::of(&uri, PLANNING)?;
    let ids = page_request.ids(&pool, "kept_routes", &caller).await?;
    let routes = page(&pool, &caller, ids).await?.into_iter().map(|row| kept(row, None, &caller)).collect();
    Ok(Json(page_request.page(routes)))
}

/// Returns a kept route.
#[utoipa::path(
    get, path = "/synth/v1/routes/{route_id}", tag = "routes", operation_id = "retrieve_route",
    description = "Returns a kept route with its graph. Offers of private vendors that the caller may not see \
        are left out; prices, days and shopping lists that may depend on them are null. An extension.",
    summary = "Retrieve a kept route",
    params(("route_id" = String, Path, min_length = 1, max_length = 255, pattern = r"^\w+$",
        description = "Id of the kept route."),
        ("format" = Option<String>, Query, description = export::DESCRIPTION)),
    responses(
        (status = 200, description = "The kept route.",
            content((KeptRoute = "application/json", example = json!(example!("kept_route"))),
                (AizynthTrees = "application/vnd.retort.aizynth+json"), (RetrocastPredictions = "application/vnd.retort.retrocast+json"))),
        (status = 404, description = NO_ROUTE),
        (status = 409, description = export::NOTHING_TO_EXPORT),
    ),
)]
pub async fn retrieve(
    State(pool): State<PgPool>,
    search: MeteredSearch,
    PathIdAndFormat(id, format): PathIdAndFormat,
) -> Result<Response, ApiError> {
    let permit = search.jobs.permit()?;
    let row = visible(&pool, &search.caller, &id).await?;
    let Json(kept) = with_content(row, &search.caller).await?;
    drop(permit);
    match format {
        Some(format) => exported(&search, format, as_result(kept)).await,
        None => Ok(Json(kept).into_response()),
    }
}

/// Returns a kept route as the only one of a search.
fn as_result(kept: KeptRoute) -> TreeSearchResult {
    let variations = kept.route.into_iter().map(|route| vec![route]).collect();
    TreeSearchResult {
        search_smiles: kept.parameters.search_smiles,
        metadata: Metadata::default(),
        route_hierarchy: [(String::new(), [(String::new(), variations)].into())].into(),
        pricing_annotations: kept.pricing_annotations.unwrap_or_default(),
        reagent_results: ReagentResults::default(),
    }
}

/// Changes the name, note or star of a kept route.
#[utoipa::path(
    patch, path = "/synth/v1/routes/{route_id}", tag = "routes", operation_id = "update_route",
    description = "Changes the name, the note or the star of a kept route. Absent fields and the route itself \
        stay as they are. Only the account that keeps it may change it. An extension.",
    summary = "Update a kept route",
    params(("route_id" = String, Path, min_length = 1, max_length = 255, pattern = r"^\w+$",
        description = "Id of the kept route.")),
    request_body(content = KeptRouteChange),
    responses(
        (status = 200, description = "The kept route as it is now.", body = KeptRoute, example = json!(example!("kept_route"))),
        (status = 403, description = NOT_YOURS),
        (status = 404, description = NO_ROUTE),
    ),
)]
pub async fn update(
    State(pool): State<PgPool>,
    State(jobs): State<Jobs>,
    caller: Caller,
    PathId(id): PathId,
    request: Request,
) -> Result<Json<KeptRoute>, ApiError> {
    let change = caller.body(request, parse_update).await?;

    let _permit = jobs.permit()?;
    let row: KeptRow = owned(&pool, &caller, &id).await?;
    table::update(&pool, &row.id, change).await?;
    with_content(visible(&pool, &caller, &row.id).await?, &caller).await
}

/// Deletes a kept route.
#[utoipa::path(
    delete, path = "/synth/v1/routes/{route_id}", tag = "routes", operation_id = "delete_route",
    description = "Deletes a kept route. Only the account that keeps it may delete it. An extension.",
    summary = "Delete a kept route",
    params(("route_id" = String, Path, min_length = 1, max_length = 255, pattern = r"^\w+$",
        description = "Id of the kept route.")),
    responses(
        (status = 200, description = "The kept route is gone.", body = Deleted, example = json!(example!("kept_route_deleted"))),
        (status = 403, description = NOT_YOURS),
        (status = 404, description = NO_ROUTE),
    ),
)]
pub async fn delete(
    State(pool): State<PgPool>,
    Owned(KeptRow { id, .. }): Owned<KeptRow>,
) -> Result<Json<Deleted>, ApiError> {
    table::delete(&pool, &id).await?;
    Ok(Json(Deleted { id, object: "route", deleted: true }))
}

pub(crate) fn parse_create(body: &[u8], longest: f64, faults: &mut Faults) -> Option<KeptRouteRequest> {
    let stop = faults.stop().clone();
    let mut body = Fields::body(body, faults)?;
    let parameters = body.object("parameters", |mut fields| {
        let search_smiles = fields.required("search_smiles", target);
        let options = parse_options(&mut fields, search_smiles.as_ref().map(|(_, target)| target), longest);
        fields.finish();
        Some((options?, search_smiles?))
    });
    let target = parameters.as_ref().map(|(_, (_, target))| target.molecule().canonical_smiles());
    let route = body.required("route", |input| route_to(target.as_deref(), input, &stop));
    let offers = body.list("pricing_annotations", MAX_OFFERS, exactly::<PricingAnnotation>);
    let name = body.optional("name", None, nullable(text(0, Some(MAX_NAME))));
    let note = body.optional("note", None, nullable(text(0, Some(MAX_DESCRIPTION))));
    let starred = body.optional("starred", false, boolean);
    body.finish();
    let (options, (search_smiles, _)) = parameters?;
    Some(KeptRouteRequest {
        parameters: TreeSearchRequest { search_smiles, ..options },
        route: route?,
        pricing_annotations: offers?.unwrap_or_default(),
        name: name?,
        note: note?,
        starred: starred?,
    })
}

pub(crate) fn parse_update(body: &[u8], faults: &mut Faults) -> Option<KeptRouteChange> {
    let mut body = Fields::body(body, faults)?;
    let name = body.optional("name", None, |input| nullable(text(0, Some(MAX_NAME)))(input).map(Some));
    let note = body.optional("note", None, |input| nullable(text(0, Some(MAX_DESCRIPTION)))(input).map(Some));
    let starred = body.optional("starred", None, |input| boolean(input).map(Some));
    body.finish();
    Some(KeptRouteChange { name: name?, note: note?, starred: starred? })
}

/// Returns the kept route with the content that the caller may see. Unpacking takes long enough to run off the async
/// threads.
async fn with_content(mut row: KeptRow, caller: &Caller) -> Result<Json<KeptRoute>, ApiError> {
    let zipped = row.content.take().unwrap_or_default();
    let hidden = mem::take(&mut row.hidden_vendors);
    let unpacking = tokio::task::spawn_blocking(move || {
        let mut content: Content = unpacked(&zipped)?;
        let routes = iter::once(&mut content.route);
        let has_left_out = remove_hidden_offers(&hidden, &mut content.pricing_annotations, routes);
        Ok::<_, io::Error>((content, has_left_out))
    });
    let unpacked = unpacking.await.map_err(|error| ApiError::internal(&error))?;
    let (content, has_left_out) = unpacked.map_err(|error| ApiError::internal(&error))?;
    row.sees_prices &= !has_left_out;
    Ok(Json(kept(row, Some(content), caller)))
}

fn kept(row: KeptRow, content: Option<Content>, caller: &Caller) -> KeptRoute {
    let (route, offers) = content.map(|content| (content.route, content.pricing_annotations)).unzip();
    // A later release may store other figures.
    let figures: RouteFigures = serde_json::from_value(row.figures).unwrap_or_default();
    KeptRoute {
        id: row.id,
        object: KeptRouteObject::Route,
        created_at: row.created_at,
        updated_at: row.updated_at,
        name: row.name,
        note: row.note,
        starred: row.starred,
        is_own: row.account_id == caller.account_id,
        parameters: TreeSearchRequest::stored(row.parameters),
        figures: if row.sees_prices { figures } else { figures.without_offers() },
        route,
        pricing_annotations: offers,
    }
}
