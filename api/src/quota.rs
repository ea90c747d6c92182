//! Quotas: the most that an account may have waiting and stored. Rates per minute are in `limits.rs`.
//!
//! The check runs after the new rows are stored, in the same transaction and serialised per account. So simultaneous
//! requests see each other, and an excess is rolled back. The counts are kept up to date as rows change
//! (`migrations/0036_bounds.sql`).

use contract::{MAX_KEPT, QuotaKind};
use http_errors::ApiError;
use sqlx::{PgConnection, PgTransaction};

use crate::{
    access::Caller,
    idempotency::{self, IdempotencyKey},
};

/// Most work that an account may have waiting; `None` for no limit.
#[derive(Debug, Clone, Copy)]
pub struct Quota {
    /// Targets of plans and of batches.
    pub targets: Option<u32>,
    /// Molecules of asynchronous samples and of sample batches.
    pub molecules: Option<u32>,
}

/// Description of the 409 answer of what makes samples and plans.
pub const TOO_MUCH: &str = "The account would exceed its limit of waiting work or of storage, or a request with the same key is in progress.";

/// Kind of thing that a request created; only its own quotas are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CreatedKind {
    /// A plan or a batch.
    Targets,
    /// An asynchronous sample or a sample batch.
    Molecules,
    /// A kept route.
    Route,
}

/// Commits what a request has created as `id`, with its idempotency key.
///
/// # Errors
/// Fails and rolls back if the caller's quota is exceeded, or if a request with this key created something meanwhile.
pub async fn commit(
    mut transaction: PgTransaction<'_>,
    (caller, quota): (&Caller, &Quota),
    key: Option<&IdempotencyKey>,
    (created, id): (CreatedKind, &str),
) -> Result<(), ApiError> {
    idempotency::remember(&mut transaction, &caller.account_id, key, id).await?;
    enforce(&mut transaction, (caller, quota), created).await?;
    transaction.commit().await?;
    Ok(())
}

/// Checks the caller's quota for the kind that was `created`.
///
/// # Errors
/// Fails if the quota is exceeded; then the transaction must not be committed.
pub async fn enforce(
    transaction: &mut PgConnection,
    (caller, quota): (&Caller, &Quota),
    created: CreatedKind,
) -> Result<(), ApiError> {
    let account_id = caller.account_id.as_str();
    sqlx::query!("select pg_advisory_xact_lock(hashtextextended('quota of ' || $1, 0))", account_id)
        .fetch_one(&mut *transaction)
        .await?;
    match created {
        CreatedKind::Molecules => return keep_molecules(transaction, account_id, quota.molecules).await,
        CreatedKind::Targets => keep_targets(transaction, account_id, quota.targets).await?,
        CreatedKind::Route => keep_routes(transaction, account_id).await?,
    }
    keep_bytes(transaction, caller).await
}

async fn keep_routes(transaction: &mut PgConnection, account_id: &str) -> Result<(), ApiError> {
    let kept = sqlx::query_scalar!(
        r#"select count(*) as "count!" from kept_routes where account_id = $1"#,
        account_id
    );
    if kept.fetch_one(transaction).await? <= MAX_KEPT {
        return Ok(());
    }
    let message = format!("The account keeps {MAX_KEPT} routes, the largest number allowed");
    Err(ApiError::Conflict { message })
}

async fn keep_targets(
    transaction: &mut PgConnection,
    account_id: &str,
    most: Option<u32>,
) -> Result<(), ApiError> {
    let Some(most) = most.map(i64::from) else { return Ok(()) };
    let waiting = sqlx::query_scalar!(
        r#"select
            (select coalesce(sum(pending), 0)::bigint from batches join batch_progress on batch_id = batches.id
                where account_id = $1 and deleted_at is null)
            + (select count(*) from (
                select from plans where account_id = $1 and batch_id is null and status = 'pending' limit $2
            ) as alone) as "targets!""#,
        account_id,
        most + 1
    );
    let waiting = waiting.fetch_one(transaction).await?;
    must_be_within(waiting, most, "targets of this account's plans and batches")
}

async fn keep_molecules(
    transaction: &mut PgConnection,
    account_id: &str,
    most: Option<u32>,
) -> Result<(), ApiError> {
    let Some(most) = most.map(i64::from) else { return Ok(()) };
    let waiting = sqlx::query_scalar!(
        r#"select coalesce(sum(size), 0) as "molecules!" from (
            select size from sample_orders where account_id = $1 and status = 'pending' limit $2
        ) as orders"#,
        account_id,
        most + 1
    );
    let waiting = waiting.fetch_one(transaction).await?;
    must_be_within(waiting, most, "molecules of this account's samples")
}

fn must_be_within(waiting: i64, most: i64, what: &str) -> Result<(), ApiError> {
    if waiting <= most {
        return Ok(());
    }
    let message = format!(
        "{waiting} {what} would be waiting, and the limit is {most}: wait until some are done, or cancel some"
    );
    Err(ApiError::Conflict { message })
}

async fn keep_bytes(transaction: &mut PgConnection, caller: &Caller) -> Result<(), ApiError> {
    let Some(most) = caller.quota(QuotaKind::StoredMegabytes) else { return Ok(()) };
    let bytes = sqlx::query_scalar!(r#"select stored_bytes($1) as "bytes!""#, caller.account_id);
    let megabytes = bytes.fetch_one(transaction).await?.div_euclid(1_000_000);
    if megabytes < i64::from(most.get()) {
        return Ok(());
    }
    let message = format!(
        "The account would store {megabytes} MB of plans and kept routes, and {most} may be: delete some"
    );
    Err(ApiError::Conflict { message })
}
