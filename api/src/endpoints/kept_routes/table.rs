//! Table of kept routes.

use std::io;

use chrono::{DateTime, Utc};
use contract::{KeptRouteChange, KeptRouteRequest, PricingAnnotation, RouteFigures, RouteGraph};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sqlx::{PgConnection, PgPool, types::Json};

use crate::endpoints::{
    gzip_json::packed,
    ownership::{Detail, OwnedRow},
};

/// A route to be kept.
#[derive(Debug)]
pub struct NewRoute<'a> {
    pub id: &'a str,
    pub account_id: &'a str,
    pub route_request: &'a KeptRouteRequest,
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

/// Builds the stored, gzipped content of `route_request`.
pub fn zipped(route_request: &KeptRouteRequest) -> io::Result<Vec<u8>> {
    /// [`Content`] in the form in which it is written.
    #[derive(Serialize)]
    struct SerializedContent<'a> {
        route: &'a RouteGraph,
        pricing_annotations: &'a [PricingAnnotation],
    }
    packed(&SerializedContent {
        route: &route_request.route,
        pricing_annotations: &route_request.pricing_annotations,
    })
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
        new.route_request.name.as_deref(),
        new.route_request.note.as_deref(),
        new.route_request.starred,
        Json(&new.route_request.parameters) as _,
        Json(new.figures) as _,
        new.zipped,
        new.route_request.parameters.without_lists().map(Json) as _
    )
    .fetch_one(connection)
    .await
}

impl OwnedRow for KeptRow {
    async fn read(
        pool: &PgPool,
        reader: &str,
        ids: &[String],
        detail: Detail,
    ) -> Result<Vec<Self>, sqlx::Error> {
        sqlx::query_as!(
            KeptRow,
            r#"select id, account_id, name, note, starred,
                case when $3 then parameters else coalesce(short_parameters, parameters) end as "parameters!", figures,
                case when $3 then content end as content,
                array(select hidden.name from vendors_hidden_from($1) hidden where $3) as "hidden_vendors!",
                sees_prices_of($1, private_vendors) as "sees_prices!", created_at, updated_at
            from kept_routes
            where id = any($2) and account_id in (select owner from accounts_readable_by($1) owner)
            order by array_position($2, id)"#,
            reader,
            ids,
            detail == Detail::Whole
        )
        .fetch_all(pool)
        .await
    }

    fn account_id(&self) -> &str {
        &self.account_id
    }
}

/// Changes the name, note or star of the route.
pub async fn update(pool: &PgPool, id: &str, change: KeptRouteChange) -> Result<(), sqlx::Error> {
    let KeptRouteChange { name, note, starred } = change;
    sqlx::query!(
        "update kept_routes set
            name = case when $2 then $3 else name end,
            note = case when $4 then $5 else note end,
            starred = coalesce($6, starred),
            updated_at = now()
        where id = $1",
        id,
        name.is_some(),
        name.flatten(),
        note.is_some(),
        note.flatten(),
        starred
    )
    .execute(pool)
    .await
    .map(drop)
}

/// Deletes the route.
pub async fn delete(pool: &PgPool, id: &str) -> Result<(), sqlx::Error> {
    sqlx::query!("delete from kept_routes where id = $1", id).execute(pool).await.map(drop)
}
