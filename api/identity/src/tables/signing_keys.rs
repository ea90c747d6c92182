//! Stored token signing keys, sealed if there is a secret to seal them with.
//!
//! A new key is published at once and signs once every verifier has had time to fetch it. Earlier keys verify until
//! the last token they signed has expired. Then they are deleted, so that they cannot be stolen.

use std::time::Duration;

use sqlx::{PgConnection, PgPool};

use crate::{
    tables::revocations,
    tokens::{
        key::{self, StoredKey},
        seal::{self, SealingKey},
    },
};

/// Advisory lock, the same arbitrary number in every process: its holder may make the first key.
const ADVISORY_LOCK_ID: i64 = 0x7265_746f_7274_6b79;

/// Time for which a key is published before it signs: twice as long as clients may cache our key set.
const PUBLICATION_TIME: Duration = Duration::from_secs(600);

/// Time for which the previous keys go on signing: until the new one signs, and a little longer.
const SIGNING_OVERLAP: Duration = Duration::from_secs(720);

/// Time for which a retired key verifies: the longest lifetime of a token, and an hour.
const VERIFICATION_TIME: Duration = Duration::from_secs(revocations::MAX_TOKEN_LIFETIME.as_secs() + 3600);

/// A key that verifies and may also sign.
#[derive(Debug)]
pub(crate) struct SigningKeyRow {
    pub kid: String,
    pub private_key_pem: String,
    pub public_key_pem: String,
    /// True if it may sign.
    pub current: bool,
}

/// A key as the operators' list shows it.
#[derive(Debug)]
pub struct SigningKeyEntry {
    /// Key id.
    pub kid: String,
    /// Day on which it was made.
    pub created: String,
    /// `new`, `in use`, `verifies` or `retired`.
    pub state: String,
    /// True if its private half is sealed.
    pub sealed: bool,
}

/// Makes the first key, and seals keys that were stored before there was a secret.
pub(crate) async fn prepare(pool: &PgPool, secret: Option<&SealingKey>) -> Result<(), sqlx::Error> {
    let mut transaction = pool.begin().await?;
    sqlx::query!("select pg_advisory_xact_lock($1)", ADVISORY_LOCK_ID).execute(&mut *transaction).await?;
    let exists = sqlx::query_scalar!(
        r#"select exists (select from signing_keys where retired_at is null or retired_at > now()) as "exists!""#
    )
    .fetch_one(&mut *transaction)
    .await?;
    if !exists {
        let key = key::generate(secret);
        insert(&mut transaction, &key).await?;
        tracing::info!(kid = key.kid, "made the key that signs access tokens");
    }
    if let Some(secret) = secret {
        seal_open_keys(&mut transaction, secret).await?;
    }
    transaction.commit().await
}

/// Returns the keys that verify. The one that is to sign comes first: the newest that has been published long enough.
pub(crate) async fn usable(pool: &PgPool) -> Result<Vec<SigningKeyRow>, sqlx::Error> {
    sqlx::query_as!(
        SigningKeyRow,
        r#"select kid, private_key_pem, public_key_pem, retired_at is null or retired_at > now() as "current!"
         from signing_keys
         where algorithm = 'EdDSA' and (retired_at is null or retired_at > now() - make_interval(secs => $1))
         order by created_at <= now() - make_interval(secs => $2) desc, created_at desc, kid"#,
        VERIFICATION_TIME.as_secs_f64(),
        PUBLICATION_TIME.as_secs_f64()
    )
    .fetch_all(pool)
    .await
}

/// Lists every key, the oldest first.
///
/// # Errors
/// Fails when the database does.
pub async fn list(connection: &mut PgConnection) -> Result<Vec<SigningKeyEntry>, sqlx::Error> {
    sqlx::query_as!(
        SigningKeyEntry,
        r#"select kid, to_char(created_at, 'YYYY-MM-DD') as "created!",
         case when retired_at is null and created_at > now() - make_interval(secs => $1) then 'new'
         when retired_at is null then 'in use'
         when retired_at > now() - make_interval(secs => $2) then 'verifies' else 'retired' end as "state!",
         private_key_pem like 'sealed1:%' as "sealed!"
         from signing_keys order by created_at, kid"#,
        PUBLICATION_TIME.as_secs_f64(),
        VERIFICATION_TIME.as_secs_f64()
    )
    .fetch_all(connection)
    .await
}

/// Makes a key that replaces the current ones, and returns its id.
///
/// # Errors
/// Fails when the database does.
pub async fn rotate(
    connection: &mut PgConnection,
    secret: Option<&SealingKey>,
) -> Result<String, sqlx::Error> {
    sqlx::query!(
        "update signing_keys set retired_at = now() + make_interval(secs => $1) where retired_at is null",
        SIGNING_OVERLAP.as_secs_f64()
    )
    .execute(&mut *connection)
    .await?;
    let key = key::generate(secret);
    insert(connection, &key).await?;
    // Keys that no token needs any more are deleted, so that they cannot be stolen.
    sqlx::query!(
        "delete from signing_keys where retired_at < now() - make_interval(secs => $1)",
        VERIFICATION_TIME.as_secs_f64()
    )
    .execute(connection)
    .await?;
    Ok(key.kid)
}

async fn insert(connection: &mut PgConnection, key: &StoredKey) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "insert into signing_keys (kid, algorithm, private_key_pem, public_key_pem) values ($1, $2, $3, $4)",
        &key.kid,
        key.algorithm,
        &key.private_key_pem,
        &key.public_key_pem
    )
    .execute(connection)
    .await?;
    Ok(())
}

async fn seal_open_keys(connection: &mut PgConnection, secret: &SealingKey) -> Result<(), sqlx::Error> {
    let rows =
        sqlx::query!("select kid, private_key_pem from signing_keys").fetch_all(&mut *connection).await?;
    for row in rows.iter().filter(|row| !seal::is_sealed(&row.private_key_pem)) {
        sqlx::query!(
            "update signing_keys set private_key_pem = $2 where kid = $1",
            row.kid,
            seal::seal(&row.kid, &row.private_key_pem, secret)
        )
        .execute(&mut *connection)
        .await?;
        tracing::info!(kid = row.kid, "sealed a signing key");
    }
    Ok(())
}
