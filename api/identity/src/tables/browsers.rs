//! Browsers from which somebody has logged in to an account before: a cookie that holds a secret, and a row that holds its hash.

use sqlx::PgPool;

use crate::secrets;

/// Days until a browser is strange again in which nobody logs in.
pub const DAYS: u32 = 180;

/// Whether somebody has logged in to the account of `email` from the browser with `secret`.
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

/// Knows the browser with `secret` from now on.
pub async fn keep(pool: &PgPool, secret: &str, account_id: &str) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "insert into known_browsers (secret_hash, account_id, expires_at) \
         values ($1, $2, now() + make_interval(days => $3)) \
         on conflict (secret_hash, account_id) do update set expires_at = excluded.expires_at",
        secrets::hash(secret),
        account_id,
        i32::try_from(DAYS).unwrap_or(i32::MAX)
    )
    .execute(pool)
    .await
    .map(drop)
}

/// Forgets browsers that nobody has logged in from for long.
pub(crate) async fn sweep(pool: &PgPool) -> Result<u64, sqlx::Error> {
    let swept = sqlx::query!("delete from known_browsers where expires_at < now()").execute(pool).await?;
    Ok(swept.rows_affected())
}
