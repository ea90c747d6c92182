//! What people have allowed applications.

use sqlx::PgPool;

/// Whether the account has allowed the application all of `scopes`.
pub async fn covers(
    pool: &PgPool,
    account_id: &str,
    client_id: &str,
    scopes: &[String],
) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar!(
        r#"select exists (select from consents where account_id = $1 and client_id = $2 and scopes @> $3) as "covered!""#,
        account_id,
        client_id,
        scopes
    )
    .fetch_one(pool)
    .await
}

/// Adds `scopes` to what the account has allowed the application.
pub async fn keep(
    pool: &PgPool,
    account_id: &str,
    client_id: &str,
    scopes: &[String],
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "insert into consents (account_id, client_id, scopes) values ($1, $2, $3) \
         on conflict (account_id, client_id) do update set granted_at = now(), scopes = \
         array(select distinct scope from unnest(consents.scopes || excluded.scopes) scope order by scope)",
        account_id,
        client_id,
        scopes
    )
    .execute(pool)
    .await?;
    Ok(())
}
