//! Samples: list, create, retrieve, delete.

mod table;

use std::{collections::HashSet, sync::Arc};

use axum::{
    Json,
    extract::{Path, Request, State, rejection::PathRejection},
    http::{StatusCode, Uri},
    response::{IntoResponse, Response},
};
use contract::{ErrorItem, MAX_SAMPLE_SIZE, Ration, Sample, SampleList, SampleObject, SampleRequest};
use edge::{ApiError, json_body, query_pairs};
use sqlx::PgPool;

use super::{MAX_ID, misfit, path_id};
use crate::{
    access::Caller,
    config::GzipBody,
    fields::{Faults, Fields, integer, nullable, word},
    gzip,
    jobs::Jobs,
    keep::Keep,
    limits::Limits,
    words::is_word,
};
pub(crate) use table::delete_older;
use table::{Deletion, Page, SampleRow};

/// Libraries send this by themselves; the description says how they get JSON.
const ACCEPT_ENCODING: &str = "When it contains `gzip`, the body is the gzipped JSON in Base64, as text; unless `accept` names \
    `application/json`, which gives JSON with `content-encoding: gzip`.";

/// Returns samples without their structures, newest first.
#[utoipa::path(
    get, path = "/generator/v1/samples", tag = "samples", operation_id = "list_samples",
    description = "Samples without their structures, newest first: the account's own, and those of the members of its \
        organisation if it belongs to one. The order is that in which they were stored: whoever asks again for what came \
        after the newest that they have misses none. Experimental.",
    summary = "List samples",
    params(
        ("limit" = Option<i32>, Query, description = "Maximum number of items in `data`.",
            minimum = 1, maximum = 100),
        ("next-page" = Option<String>, Query, min_length = 1, max_length = 255, pattern = r"^\w+$",
            description = "Id of a sample: returns the samples submitted before it."),
        ("prev-page" = Option<String>, Query, min_length = 1, max_length = 255, pattern = r"^\w+$",
            description = "Id of a sample: returns the page of samples submitted after it."),
    ),
    responses((status = 200, description = "One page of samples.", body = SampleList)),
)]
pub async fn list(
    State(pool): State<PgPool>,
    State(keep): State<Keep>,
    caller: Caller,
    uri: Uri,
) -> Result<Json<SampleList>, ApiError> {
    let mut faults = Faults::default();
    let query = parse_list(query_pairs(&uri), &mut faults);
    let (limit, next, prev) = faults.settle(query)?;
    let page = match (next, prev) {
        (Some(_), Some(_)) => return Err(ApiError::BadReference),
        (Some(id), None) => Page::Before(id),
        (None, Some(id)) => Page::After(id),
        (None, None) => Page::Newest,
    };
    let beyond = page.beyond(keep);
    let found = match (table::page(&pool, &caller.account_id, page, limit).await?, beyond) {
        (None, Some(Beyond::Nothing)) => Some((Vec::new(), false)),
        (None, Some(Beyond::All)) => table::page(&pool, &caller.account_id, Page::Oldest, limit).await?,
        (found, _) => found,
    };
    let (rows, has_more) = found.ok_or(ApiError::BadReference)?;
    let data = rows.into_iter().map(table::ItemRow::into_item).collect::<Result<Vec<_>, _>>();
    let data = data.map_err(|item| bad_answer(vec![item]))?;
    Ok(Json(SampleList { data, has_more, object: Default::default() }))
}

/// What lies behind a sample that is older than samples are kept, in the direction of travel.
enum Beyond {
    Nothing,
    All,
}

impl Page {
    /// What the page holds if its cursor is no sample any more because of its age; `None` where that is no reason.
    fn beyond(&self, keep: Keep) -> Option<Beyond> {
        match self {
            Self::Before(id) => keep.has_let_go_of(id).then_some(Beyond::Nothing),
            Self::After(id) => keep.has_let_go_of(id).then_some(Beyond::All),
            Self::Newest | Self::Oldest => None,
        }
    }
}

/// `limit`, `next-page` and `prev-page`.
pub(crate) type ListQuery = (i64, Option<String>, Option<String>);

pub(crate) fn parse_list(pairs: Vec<(String, String)>, faults: &mut Faults) -> Option<ListQuery> {
    let mut query = Fields::query(pairs, faults);
    let limit = query.optional("limit", 5, integer(1, Some(100)));
    let next = query.optional("next-page", None, nullable(word(1, Some(MAX_ID))));
    let prev = query.optional("prev-page", None, nullable(word(1, Some(MAX_ID))));
    query.finish();
    Some((limit?, next?, prev?))
}

/// Generates a sample, stores it and returns it with all its structures.
#[utoipa::path(
    post, path = "/generator/v1/samples", tag = "samples", operation_id = "create_sample",
    description = "Generates a sample, stores it and returns it with all its structures. Within it every structure is there \
        once; another sample can have the same one. Experimental.",
    summary = "Create a sample",
    params(("accept-encoding" = String, Header,
        description = ACCEPT_ENCODING)),
    request_body(content = SampleRequest),
    responses((status = 200, description = "The sample.", content(
        (Sample = "application/json"), (String = "text/plain")))),
)]
pub async fn create(
    State(pool): State<PgPool>,
    State(jobs): State<Jobs>,
    State(limits): State<Arc<Limits>>,
    State(mode): State<GzipBody>,
    caller: Caller,
    request: Request,
) -> Result<Response, ApiError> {
    let (headers, uri) = (request.headers().clone(), request.uri().clone());
    let body = json_body(request).await?;
    let mut faults = Faults::default();
    Fields::query(query_pairs(&uri), &mut faults).finish();
    let wanted = parse_create(&body, &mut faults);
    let wanted = faults.settle(wanted)?;

    let size = wanted.size;
    let headroom = limits.take(Ration::Molecules, &caller.account_id, &caller.rations, size).await?;
    if let Some(retry_after) = headroom.spent() {
        return Ok(headroom.attach(ApiError::RateLimited { retry_after }.into_response()));
    }
    let id = match jobs.sample(&caller.account_id, wanted).await {
        Ok(id) => id,
        Err(error) => {
            limits.give_back(Ration::Molecules, &caller.account_id, &caller.rations, size);
            return Err(error);
        }
    };
    tracing::Span::current().record("sample.id", tracing::field::display(id));
    let row = table::find(&pool, &caller.account_id, &id.to_string()).await?;
    let Some(row) = row else {
        return Err(bad_answer(vec![misfit("id", "missing", "the worker stored no sample of this id")]));
    };
    let sample = check(row, Some(size)).map_err(bad_answer)?;
    gzip::body(&headers, mode, &sample).await
}

pub(crate) fn parse_create(body: &[u8], faults: &mut Faults) -> Option<SampleRequest> {
    let mut body = Fields::body(body, faults)?;
    let size = body.required("size", integer(1, Some(MAX_SAMPLE_SIZE.into())));
    let model_id = body.optional("model_id", None, nullable(word(0, None)));
    body.finish();
    Some(SampleRequest { size: size?.try_into().ok()?, model_id: model_id? })
}

/// Returns a sample with all its structures.
#[utoipa::path(
    get, path = "/generator/v1/samples/{sample_id}", tag = "samples", operation_id = "retrieve_sample",
    description = "Returns a sample with all its structures. Experimental.",
    summary = "Retrieve a sample",
    params(
        ("sample_id" = String, Path, min_length = 1, max_length = 255, pattern = r"^\w+$",
            description = "Id of the sample."),
        ("accept-encoding" = String, Header,
            description = ACCEPT_ENCODING),
    ),
    responses((status = 200, description = "The sample.", content(
        (Sample = "application/json"), (String = "text/plain")))),
)]
pub async fn retrieve(
    State(pool): State<PgPool>,
    State(mode): State<GzipBody>,
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
    request: Request,
) -> Result<Response, ApiError> {
    let id = path_id("sample_id", path, request.uri())?;
    let row = table::find(&pool, &caller.account_id, &id).await?.ok_or(ApiError::NotFound)?;
    let sample = check(row, None).map_err(bad_answer)?;
    gzip::body(request.headers(), mode, &sample).await
}

/// Deletes a sample.
#[utoipa::path(
    delete, path = "/generator/v1/samples/{sample_id}", tag = "samples", operation_id = "delete_sample",
    description = "Deletes a sample with all its structures, for good; only the account that made it can. An extension.",
    summary = "Delete a sample",
    params(("sample_id" = String, Path, min_length = 1, max_length = 255, pattern = r"^\w+$",
        description = "Id of the sample.")),
    responses((status = 204, description = "The sample is gone.")),
)]
pub async fn delete(
    State(pool): State<PgPool>,
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
    uri: Uri,
) -> Result<StatusCode, ApiError> {
    let id = path_id("sample_id", path, &uri)?;
    match table::delete(&pool, &caller.account_id, &id).await? {
        Deletion::Done => Ok(StatusCode::NO_CONTENT),
        Deletion::NotYours => Err(ApiError::NotYours),
        Deletion::NotThere => Err(ApiError::NotFound),
    }
}

/// The sample of `row`, if it fits the response schema and has the `size` asked for.
fn check(row: SampleRow, size: Option<u32>) -> Result<Sample, Vec<ErrorItem>> {
    let mut faults = Vec::new();
    let id = row.id.parse();
    if id.is_err() {
        faults.push(misfit("id", "string_pattern_mismatch", "not a sample id"));
    }
    if !is_word(&row.model_id) {
        faults.push(misfit("model_id", "string_pattern_mismatch", r"String should match pattern '^\w+$'"));
    }
    let count = row.smiles.len();
    if size.is_some_and(|size| size as usize != count) || usize::try_from(row.num_smiles) != Ok(count) {
        let msg = format!("{count} structures are not as many as asked for");
        faults.push(misfit("smiles", "wrong_length", &msg));
    }
    if row.smiles.iter().any(String::is_empty) {
        faults.push(misfit("smiles", "string_too_short", "a structure is empty"));
    }
    if row.smiles.iter().collect::<HashSet<_>>().len() != count {
        faults.push(misfit("smiles", "not_unique", "a structure occurs twice"));
    }
    match id {
        Ok(id) if faults.is_empty() => Ok(Sample {
            id,
            object: SampleObject::Sample,
            model_id: row.model_id,
            smiles: row.smiles,
            created_at: row.created_at,
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
            model_id: "druglike_gru".to_owned(),
            num_smiles: 2,
            smiles: smiles.iter().map(|text| (*text).to_owned()).collect(),
            created_at: chrono::DateTime::UNIX_EPOCH,
        }
    }

    #[test]
    fn a_sample_is_sent_only_if_it_is_what_was_asked_for() {
        let kinds = |row, size| match check(row, size) {
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
