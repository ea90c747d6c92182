//! Idempotent requests: the header `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header), as in Stripe's API.
//!
//! A key is stored in the transaction that creates the resource. A client that lost the answer sends the request
//! again and receives the resource of the first attempt in its present state. That holds whichever process died
//! meanwhile. A failed request has stored nothing, so a repetition runs anew.

use std::time::Duration;

use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Uri};
use http_errors::ApiError;
use queue::retention::BATCH_ROWS;
use sha2::{Digest, Sha256};
use sqlx::{PgConnection, PgPool};

use crate::fields::{Faults, FieldFault};

/// Header with the key of a request.
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// Maximum length of a key, in characters.
const MAX_KEY: usize = 255;

/// Retention time of keys.
pub const KEY_RETENTION: Duration = Duration::from_secs(24 * 60 * 60);

/// Description of the header in the OpenAPI document.
pub const DESCRIPTION: &str = "A key of up to 255 visible characters, such as a UUID. If the request is repeated \
    within a day with the same key and body, the answer is what the first one created, with \
    `Idempotent-Replayed: true`. With another body it is 422; while the first request runs, it is 409. An \
    extension.";

/// Headers that mark an answer with the resource of an earlier request.
pub type Replayed = Option<[(HeaderName, HeaderValue); 1]>;

/// Returns the header of an answer to a repeated request.
pub fn replayed() -> Replayed {
    Some([(HeaderName::from_static("idempotent-replayed"), HeaderValue::from_static("true"))])
}

/// Key of a request, with a digest of its content.
#[derive(Debug)]
pub struct IdempotencyKey {
    key: String,
    request: [u8; 32],
}

impl IdempotencyKey {
    /// Reads the key from `headers`, if there is one; the draft's structured string (RFC 8941) and the bare key are
    /// equal.
    pub fn read(
        headers: &HeaderMap,
        (method, uri, body): (&Method, &Uri, &[u8]),
        faults: &mut Faults,
    ) -> Option<Self> {
        let value = headers.get(IDEMPOTENCY_KEY)?.to_str().unwrap_or_default();
        let key = value.strip_prefix('"').and_then(|key| key.strip_suffix('"')).unwrap_or(value);
        if key.is_empty() || key.len() > MAX_KEY || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            let fault = FieldFault::new(
                "string_pattern_mismatch",
                format!("Header should be a key of 1 to {MAX_KEY} visible characters"),
            );
            faults.push(fault.at(["header".into(), IDEMPOTENCY_KEY.as_str().into()]));
            return None;
        }
        let mut digest = Sha256::new();
        for part in [method.as_str().as_bytes(), b" ", uri.path().as_bytes(), b"\n", body] {
            digest.update(part);
        }
        Some(Self { key: key.to_owned(), request: digest.finalize().into() })
    }
}

/// Returns the id that an earlier request of the caller with this key created.
///
/// # Errors
/// Fails if that request had another content.
pub async fn created(
    pool: &PgPool,
    account_id: &str,
    key: Option<&IdempotencyKey>,
) -> Result<Option<String>, ApiError> {
    let Some(key) = key else { return Ok(None) };
    let known = sqlx::query!(
        "select request, resource from idempotency_keys where account_id = $1 and key = $2",
        account_id,
        key.key
    );
    match known.fetch_optional(pool).await? {
        Some(known) if known.request != key.request => {
            let fault = FieldFault::new("idempotency_key_reused", "The key was used for another request");
            let mut faults = Faults::default();
            faults.push(fault.at(["header".into(), IDEMPOTENCY_KEY.as_str().into()]));
            faults.settle(None)
        }
        known => Ok(known.map(|known| known.resource)),
    }
}

/// Stores the key with the id of the resource that the request creates.
///
/// # Errors
/// Fails if another request with this key created something meanwhile.
pub async fn remember(
    transaction: &mut PgConnection,
    account_id: &str,
    key: Option<&IdempotencyKey>,
    resource: &str,
) -> Result<(), ApiError> {
    let Some(key) = key else { return Ok(()) };
    let stored = sqlx::query!(
        "insert into idempotency_keys (account_id, key, request, resource) values ($1, $2, $3, $4) on conflict do nothing",
        account_id,
        key.key,
        &key.request,
        resource
    );
    if stored.execute(transaction).await?.rows_affected() == 1 {
        return Ok(());
    }
    let message = "A request with this key is in progress: send it again".to_owned();
    Err(ApiError::Conflict { message })
}

/// Deletes keys older than `max_age`; at most one sweep batch per call.
pub async fn delete_older(connection: &mut PgConnection, max_age: Duration) -> Result<u64, sqlx::Error> {
    let done = sqlx::query!(
        "delete from idempotency_keys where (account_id, key) in (
            select account_id, key from idempotency_keys
            where created_at < now() - make_interval(secs => $1) order by created_at limit $2 for update skip locked
        )",
        max_age.as_secs_f64(),
        BATCH_ROWS
    )
    .execute(connection)
    .await?;
    Ok(done.rows_affected())
}
