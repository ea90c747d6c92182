//! Known browsers of an account: a cookie that holds a secret, and a row that holds its hash. Each has logged in to
//! the account before.

use sqlx::PgPool;

use crate::secrets;

/// Days without a login after which a browser is unknown again.
pub const KNOWN_DAYS: u32 = 180;

/// Returns true if the browser with `secret` has logged in to the account of `email` before.
pub async fn is_known(pool: &PgPool, secret: &str, email: &str) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar!(
        r#"select exists (select from known_browsers join accounts on accounts.id = account_id
         where secret_hash = $1 and lower(email) = lower($2) and expires_at > now()) as "known!""#,
        secrets::hash(secret),
        email
    )
    .fetch_one(pool)
    .await
}

/// Remembers the browser with `secret` as known.
pub async fn keep(pool: &PgPool, secret: &str, account_id: &str) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "insert into known_browsers (secret_hash, account_id, expires_at) \
         values ($1, $2, now() + make_interval(days => $3)) \
         on conflict (secret_hash, account_id) do update set expires_at = excluded.expires_at",
        secrets::hash(secret),
        account_id,
        i32::try_from(KNOWN_DAYS).unwrap_or(i32::MAX)
    )
    .execute(pool)
    .await
    .map(drop)
}

/// Deletes browsers without a recent login.
pub(crate) async fn sweep(pool: &PgPool) -> Result<u64, sqlx::Error> {
    let swept = sqlx::query!("delete from known_browsers where expires_at < now()").execute(pool).await?;
    Ok(swept.rows_affected())
}
