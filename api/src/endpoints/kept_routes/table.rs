//! Table of kept routes.
//!
//! An account that may read another's samples may read its routes, as `accounts_readable_by` says.

use std::io;

use chrono::{DateTime, Utc};
use contract::{KeptRouteChange, KeptRouteRequest, PricingAnnotation, RouteFigures, RouteGraph};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sqlx::{PgConnection, PgPool, types::Json};

use crate::endpoints::{gzip_json::packed, paging::PageRequest};

/// A route to be kept.
#[derive(Debug)]
pub struct NewRoute<'a> {
    pub id: &'a str,
    pub account_id: &'a str,
    pub wanted: &'a KeptRouteRequest,
    pub figures: RouteFigures,
    /// Gzipped content.
    pub zipped: &'a [u8],
}

/// A route as it is kept.
#[derive(Debug)]
pub struct KeptRow {
    pub id: String,
    pub account_id: String,
    pub name: Option<String>,
    pub note: Option<String>,
    pub starred: bool,
    pub parameters: Value,
    pub figures: Value,
    /// Gzipped JSON; `None` if it was not requested.
    pub content: Option<Vec<u8>>,
    /// Private vendors whose offers the reader may not see; empty if the content was not requested.
    pub hidden_vendors: Vec<String>,
    /// True if the reader may see all offers that the figures may rest on.
    pub sees_prices: bool,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
}

/// Content of a route.
#[derive(Debug, Deserialize)]
pub struct Content {
    pub route: RouteGraph,
    pub pricing_annotations: Vec<PricingAnnotation>,
}

/// Builds the stored, gzipped content of `wanted`.
pub fn zipped(wanted: &KeptRouteRequest) -> io::Result<Vec<u8>> {
    /// [`Content`] in the form in which it is written.
    #[derive(Serialize)]
    struct SerializedContent<'a> {
        route: &'a RouteGraph,
        pricing_annotations: &'a [PricingAnnotation],
    }
    packed(&SerializedContent { route: &wanted.route, pricing_annotations: &wanted.pricing_annotations })
}

/// Stores the route; the returned row has no content.
pub async fn insert(connection: &mut PgConnection, new: NewRoute<'_>) -> Result<KeptRow, sqlx::Error> {
    sqlx::query_as!(
        KeptRow,
        r#"insert into kept_routes (id, account_id, name, note, starred, parameters, figures, content, short_parameters)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
        returning id, account_id, name, note, starred, parameters, figures, null::bytea as content, '{}'::text[] as "hidden_vendors!",
            true as "sees_prices!", created_at, updated_at"#,
        new.id,
        new.account_id,
        new.wanted.name.as_deref(),
        new.wanted.note.as_deref(),
        new.wanted.starred,
        Json(&new.wanted.parameters) as _,
        Json(new.figures) as _,
        new.zipped,
        new.wanted.parameters.without_lists().map(Json) as _
    )
    .fetch_one(connection)
    .await
}

/// Returns the route with its content, if `reader` may see it.
pub async fn find(pool: &PgPool, reader: &str, id: &str) -> Result<Option<KeptRow>, sqlx::Error> {
    sqlx::query_as!(
        KeptRow,
        r#"select id, account_id, name, note, starred, parameters, figures, content as "content?",
            array(select hidden.name from vendors_hidden_from($1) hidden) as "hidden_vendors!",
            sees_prices_of($1, private_vendors) as "sees_prices!", created_at, updated_at
        from kept_routes
        where id = $2 and account_id in (select owner from accounts_readable_by($1) owner)"#,
        reader,
        id
    )
    .fetch_optional(pool)
    .await
}

/// Returns the account that keeps the route, if `reader` may see it.
pub async fn owner(pool: &PgPool, reader: &str, id: &str) -> Result<Option<String>, sqlx::Error> {
    sqlx::query_scalar!(
        "select account_id from kept_routes
        where id = $2 and account_id in (select owner from accounts_readable_by($1) owner)",
        reader,
        id
    )
    .fetch_optional(pool)
    .await
}

/// Returns routes that `reader` may see, without content, in the requested direction, the nearest to the cursor
/// first; `None` if the cursor is not such a route.
pub async fn page(
    pool: &PgPool,
    reader: &str,
    asked: &PageRequest,
) -> Result<Option<Vec<KeptRow>>, sqlx::Error> {
    let Some(ids) = asked.ids(pool, "kept_routes", reader).await? else { return Ok(None) };
    let rows = sqlx::query_as!(
        KeptRow,
        r#"select id, account_id, name, note, starred, coalesce(short_parameters, parameters) as "parameters!", figures,
            null::bytea as content, '{}'::text[] as "hidden_vendors!", sees_prices_of($2, private_vendors) as "sees_prices!",
            created_at, updated_at
        from kept_routes where id = any($1) order by array_position($1, id)"#,
        &ids,
        reader
    );
    rows.fetch_all(pool).await.map(Some)
}

/// Changes the name, note or star of the route and returns it with the content as its account sees it; `None` if it
/// is gone.
pub async fn update(
    pool: &PgPool,
    id: &str,
    change: KeptRouteChange,
) -> Result<Option<KeptRow>, sqlx::Error> {
    let KeptRouteChange { name, note, starred } = change;
    sqlx::query_as!(
        KeptRow,
        r#"update kept_routes set
            name = case when $2 then $3 else name end,
            note = case when $4 then $5 else note end,
            starred = coalesce($6, starred),
            updated_at = now()
        where id = $1
        returning id, account_id, name, note, starred, parameters, figures, content as "content?",
            array(select hidden.name from vendors_hidden_from(account_id) hidden) as "hidden_vendors!",
            sees_prices_of(account_id, private_vendors) as "sees_prices!", created_at, updated_at"#,
        id,
        name.is_some(),
        name.flatten(),
        note.is_some(),
        note.flatten(),
        starred
    )
    .fetch_optional(pool)
    .await
}

/// Deletes the route.
pub async fn delete(pool: &PgPool, id: &str) -> Result<(), sqlx::Error> {
    sqlx::query!("delete from kept_routes where id = $1", id).execute(pool).await.map(drop)
}
