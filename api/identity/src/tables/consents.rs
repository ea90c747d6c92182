//! Consents that people have given to applications.

use chrono::{DateTime, Utc};
use sqlx::{PgConnection, PgPool};

/// Returns true if the account has consented to all of `scopes` for the application.
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

/// Adds `scopes` to the account's consent for the application.
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

/// A consent of a person to an application.
#[derive(Debug)]
pub struct StoredConsent {
    pub client_id: String,
    pub scopes: Vec<String>,
    pub granted_at: DateTime<Utc>,
}

/// Lists the account's consents, the latest first.
pub async fn list(pool: &PgPool, account_id: &str) -> Result<Vec<StoredConsent>, sqlx::Error> {
    sqlx::query_as!(
        StoredConsent,
        "select client_id, scopes, granted_at from consents where account_id = $1 order by granted_at desc",
        account_id
    )
    .fetch_all(pool)
    .await
}

/// Withdraws the account's consent for the application, which has to ask again.
pub async fn revoke(
    connection: &mut PgConnection,
    account_id: &str,
    client_id: &str,
) -> Result<(), sqlx::Error> {
    sqlx::query!("delete from consents where account_id = $1 and client_id = $2", account_id, client_id)
        .execute(connection)
        .await
        .map(drop)
}
