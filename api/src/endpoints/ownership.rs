//! Access to rows that an account owns.
//!
//! An account that may read another's samples may read everything of it, as the database function
//! `accounts_readable_by` says: anything else is not found. Only the owner changes and deletes.

use axum::{
    extract::{FromRef, FromRequestParts},
    http::request::Parts,
};
use http_errors::ApiError;
use sqlx::PgPool;

use super::PathId;
use crate::access::Caller;

/// Part of a row to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// Everything.
    Whole,
    /// Without large columns.
    Listed,
}

/// Rows that an account owns.
pub trait OwnedRow: Send + Sized {
    /// Returns those of `ids` that `reader` may read, in the order of `ids`.
    fn read(
        pool: &PgPool,
        reader: &str,
        ids: &[String],
        detail: Detail,
    ) -> impl Future<Output = Result<Vec<Self>, sqlx::Error>> + Send;

    /// Account that owns the row.
    fn account_id(&self) -> &str;
}

/// Returns the row `id`, if `reader` may read it.
pub async fn find<R: OwnedRow>(
    pool: &PgPool,
    reader: &str,
    id: &str,
    detail: Detail,
) -> Result<Option<R>, sqlx::Error> {
    Ok(R::read(pool, reader, &[id.to_owned()], detail).await?.pop())
}

/// Returns the whole row `id`.
///
/// # Errors
/// Fails if there is none that the caller may read.
pub async fn visible<R: OwnedRow>(pool: &PgPool, caller: &Caller, id: &str) -> Result<R, ApiError> {
    find(pool, &caller.account_id, id, Detail::Whole).await?.ok_or(ApiError::NotFound)
}

/// Returns the row `id` without large columns.
///
/// # Errors
/// Fails if the caller does not own it.
pub async fn owned<R: OwnedRow>(pool: &PgPool, caller: &Caller, id: &str) -> Result<R, ApiError> {
    let row = find(pool, &caller.account_id, id, Detail::Listed).await?.ok_or(ApiError::NotFound)?;
    must_own(caller, &row)?;
    Ok(row)
}

/// Refuses changes to a row of another account.
pub fn must_own<R: OwnedRow>(caller: &Caller, row: &R) -> Result<(), ApiError> {
    if row.account_id() == caller.account_id { Ok(()) } else { Err(ApiError::NotYours) }
}

/// Returns the rows of a page, without large columns.
///
/// # Errors
/// Fails without `ids`: the cursor is not in the list.
pub async fn page<R: OwnedRow>(
    pool: &PgPool,
    caller: &Caller,
    ids: Option<Vec<String>>,
) -> Result<Vec<R>, ApiError> {
    let ids = ids.ok_or(ApiError::BadReference)?;
    Ok(R::read(pool, &caller.account_id, &ids, Detail::Listed).await?)
}

/// The whole row that the path names, which the caller may read.
pub struct Visible<R>(pub R);

/// The row that the path names, without large columns, which the caller owns.
pub struct Owned<R>(pub R);

impl<S: Send + Sync, R: OwnedRow> FromRequestParts<S> for Visible<R>
where
    PgPool: FromRef<S>,
{
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let (caller, id) = named(parts, state).await?;
        visible(&PgPool::from_ref(state), &caller, &id).await.map(Self)
    }
}

impl<S: Send + Sync, R: OwnedRow> FromRequestParts<S> for Owned<R>
where
    PgPool: FromRef<S>,
{
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let (caller, id) = named(parts, state).await?;
        owned(&PgPool::from_ref(state), &caller, &id).await.map(Self)
    }
}

/// Returns the caller, and the id in the path.
async fn named<S: Send + Sync>(parts: &mut Parts, state: &S) -> Result<(Caller, String), ApiError> {
    let caller = Caller::from_request_parts(parts, state).await?;
    let PathId(id) = PathId::from_request_parts(parts, state).await?;
    Ok((caller, id))
}
