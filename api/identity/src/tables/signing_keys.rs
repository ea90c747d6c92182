//! The keys that sign tokens, as they are stored: sealed where there is a secret to seal them with.
//!
//! A new key is published at once and signs when everybody has had time to fetch it; the ones before verify until the last
//! token they signed has ended, and go then, so that nobody can steal them.

use std::time::Duration;

use sqlx::{PgConnection, PgPool};

use crate::{
    tables::revocations,
    tokens::{
        key::{self, StoredKey},
        seal::{self, Secret},
    },
};

/// Any number, the same in every process: who holds this lock may make the first key.
const LOCK: i64 = 0x7265_746f_7274_6b79;

/// How long a key is published before it signs: twice what others may keep our key set for.
const PUBLISHED: Duration = Duration::from_secs(600);

/// How long the keys before it go on signing: until it does, and a little.
const OVERLAP: Duration = Duration::from_secs(720);

/// How long a retired key verifies: as long as its last token, and an hour.
const VERIFIES: Duration = Duration::from_secs(revocations::LONGEST.as_secs() + 3600);

/// A key that verifies, or signs as well.
#[derive(Debug)]
pub(crate) struct Row {
    pub kid: String,
    pub private_key_pem: String,
    pub public_key_pem: String,
    /// Whether it may sign.
    pub current: bool,
}

/// A key as the operator's list shows it.
#[derive(Debug)]
pub struct Listed {
    /// Its name.
    pub kid: String,
    /// The day it was made.
    pub created: String,
    /// `new`, `in use`, `verifies` or `retired`.
    pub state: String,
    /// Whether its private half is sealed.
    pub sealed: bool,
}

/// Makes the first key, and seals what was stored before there was a secret.
pub(crate) async fn prepare(pool: &PgPool, secret: Option<&Secret>) -> Result<(), sqlx::Error> {
    let mut transaction = pool.begin().await?;
    sqlx::query!("select pg_advisory_xact_lock($1)", LOCK).execute(&mut *transaction).await?;
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

/// The keys that verify, the one that is to sign first: the newest that everybody has had time to hear of.
pub(crate) async fn usable(pool: &PgPool) -> Result<Vec<Row>, sqlx::Error> {
    sqlx::query_as!(
        Row,
        r#"select kid, private_key_pem, public_key_pem, retired_at is null or retired_at > now() as "current!"
         from signing_keys
         where algorithm = 'EdDSA' and (retired_at is null or retired_at > now() - make_interval(secs => $1))
         order by created_at <= now() - make_interval(secs => $2) desc, created_at desc, kid"#,
        VERIFIES.as_secs_f64(),
        PUBLISHED.as_secs_f64()
    )
    .fetch_all(pool)
    .await
}

/// Every key, the oldest first.
///
/// # Errors
/// Fails when the database does.
pub async fn list(connection: &mut PgConnection) -> Result<Vec<Listed>, sqlx::Error> {
    sqlx::query_as!(
        Listed,
        r#"select kid, to_char(created_at, 'YYYY-MM-DD') as "created!",
         case when retired_at is null and created_at > now() - make_interval(secs => $1) then 'new'
         when retired_at is null then 'in use'
         when retired_at > now() - make_interval(secs => $2) then 'verifies' else 'retired' end as "state!",
         private_key_pem like 'sealed1:%' as "sealed!"
         from signing_keys order by created_at, kid"#,
        PUBLISHED.as_secs_f64(),
        VERIFIES.as_secs_f64()
    )
    .fetch_all(connection)
    .await
}

/// Makes a key that replaces the ones in use, and returns its name.
///
/// # Errors
/// Fails when the database does.
pub async fn rotate(connection: &mut PgConnection, secret: Option<&Secret>) -> Result<String, sqlx::Error> {
    sqlx::query!(
        "update signing_keys set retired_at = now() + make_interval(secs => $1) where retired_at is null",
        OVERLAP.as_secs_f64()
    )
    .execute(&mut *connection)
    .await?;
    let key = key::generate(secret);
    insert(connection, &key).await?;
    // What nobody needs any more is not kept for somebody to steal.
    sqlx::query!(
        "delete from signing_keys where retired_at < now() - make_interval(secs => $1)",
        VERIFIES.as_secs_f64()
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

async fn seal_open_keys(connection: &mut PgConnection, secret: &Secret) -> Result<(), sqlx::Error> {
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
