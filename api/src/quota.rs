//! The most that an account has waiting and stored.
//!
//! It is looked at when what is new is stored already, in its transaction and one after the other for an account: so calls at the same
//! moment see each other, and what would be too much is taken back. What is counted is counted as it changes (`migrations/0036_bounds.sql`).

use contract::Ration;
use edge::ApiError;
use sqlx::{PgConnection, PgTransaction};

use crate::{
    access::Caller,
    idempotency::{self, IdempotencyKey},
};

/// The most that an account may have waiting; `None`: any number.
#[derive(Debug, Clone, Copy)]
pub struct Quota {
    /// Targets of plans and of batches.
    pub targets: Option<u32>,
    /// Molecules of asynchronous samples and of sample batches.
    pub molecules: Option<u32>,
}

/// Commits what a request has created as `id`, with its key.
///
/// # Errors
/// Fails where it is more than the caller may have, and where a request with this key created something meanwhile; then it is taken back.
pub async fn commit(
    mut transaction: PgTransaction<'_>,
    caller: &Caller,
    key: Option<&IdempotencyKey>,
    (id, quota): (&str, &Quota),
) -> Result<(), ApiError> {
    idempotency::remember(&mut transaction, &caller.account_id, key, id).await?;
    keep(&mut transaction, caller, quota).await?;
    transaction.commit().await?;
    Ok(())
}

/// Refuses what the caller has waiting or stored beyond its quota.
///
/// # Errors
/// Fails where it is too much; then the transaction must not be committed.
pub async fn keep(transaction: &mut PgConnection, caller: &Caller, quota: &Quota) -> Result<(), ApiError> {
    sqlx::query!("select pg_advisory_xact_lock(hashtextextended('quota of ' || $1, 0))", caller.account_id)
        .fetch_one(&mut *transaction)
        .await?;
    let most = |most: Option<u32>| most.map_or(i64::MAX, i64::from);
    let found = sqlx::query!(
        r#"select
            (select coalesce(sum(pending), 0)::bigint from batches join batch_progress on batch_id = batches.id
                where account_id = $1 and deleted_at is null)
            + (select count(*) from (
                select from plans where account_id = $1 and batch_id is null and status = 'pending' limit $2
            ) as alone) as "targets!",
            (select coalesce(sum(size), 0) from (
                select size from sample_orders where account_id = $1 and status = 'pending' limit $3
            ) as orders) as "molecules!",
            stored_bytes($1) as "bytes!""#,
        caller.account_id,
        most(quota.targets).saturating_add(1),
        most(quota.molecules).saturating_add(1)
    )
    .fetch_one(transaction)
    .await?;
    must_wait_within(found.targets, quota.targets, "targets of this account's plans and batches")?;
    must_wait_within(found.molecules, quota.molecules, "molecules of this account's samples")?;
    let megabytes = found.bytes.div_euclid(1_000_000);
    match caller.ration(Ration::StoredMegabytes) {
        Some(most) if megabytes >= i64::from(most.get()) => {
            let message = format!(
                "The account would store {megabytes} MB of plans and kept routes, and {most} may be: delete some"
            );
            Err(ApiError::Conflict { message })
        }
        _ => Ok(()),
    }
}

fn must_wait_within(waiting: i64, most: Option<u32>, what: &str) -> Result<(), ApiError> {
    match most {
        Some(most) if waiting > i64::from(most) => {
            let message = format!(
                "{waiting} {what} would wait, and {most} may: wait until some are done, or cancel some"
            );
            Err(ApiError::Conflict { message })
        }
        _ => Ok(()),
    }
}
