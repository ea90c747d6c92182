//! Devices that wait for a person's decision (RFC 8628).
//!
//! A person types eight consonants, 34 bits: valid for ten minutes, behind a login, with few attempts. The device's
//! own code has 256 bits.

use std::time::Duration;

use chrono::{DateTime, Utc};
use rand::{Rng, seq::IndexedRandom};
use sqlx::{PgConnection, PgPool};

use crate::secrets;

/// Lifetime of a code, in seconds.
pub const LIFETIME_SECONDS: u32 = 600;

/// Polling interval of a device in seconds, and the increase after a poll that came too soon (RFC 8628, section 3.5).
pub const INTERVAL_SECONDS: i32 = 5;

/// Time for which a device that still polls learns that its code has expired.
const EXPIRED_RETENTION: Duration = Duration::from_secs(3600);

/// Letters of user codes: no vowels, so no words; no letters that look like others.
const LETTERS: &[u8; 20] = b"BCDFGHJKLMNPQRSTVWXZ";

/// A user code and a device code.
#[derive(Debug)]
pub struct Codes {
    pub user_code: String,
    pub device_code: String,
}

/// A waiting device.
#[derive(Debug)]
pub struct PendingDevice {
    pub client_id: String,
    pub application: String,
    pub scopes: Vec<String>,
}

/// Decision of the person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    Allowed,
    Refused,
}

impl Decision {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::Refused => "refused",
        }
    }
}

/// Answer to a poll of a device.
#[derive(Debug)]
pub enum PollResult {
    Unknown,
    Expired,
    Pending,
    TooOften,
    Refused,
    /// Allowed; the code is now used up.
    Allowed(DeviceGrant),
}

/// Account that allowed the device, and the scopes granted.
#[derive(Debug)]
pub struct DeviceGrant {
    pub account_id: String,
    pub scopes: Vec<String>,
    pub authenticated_at: DateTime<Utc>,
}

/// Normalises a user code that a person typed to the form in the table.
pub fn normalise(text: &str) -> String {
    text.chars().filter(char::is_ascii_alphabetic).map(|letter| letter.to_ascii_uppercase()).collect()
}

/// Formats `user_code` for people.
pub fn display(user_code: &str) -> String {
    let (left, right) = user_code.split_at(user_code.len().min(4));
    format!("{left}-{right}")
}

/// Issues codes for a device.
pub async fn issue(pool: &PgPool, client_id: &str, scopes: &[String]) -> Result<Codes, sqlx::Error> {
    loop {
        let codes = Codes { user_code: draw(&mut rand::rng()), device_code: secrets::fresh() };
        let inserted = sqlx::query!(
            "insert into device_codes (device_code_hash, user_code, client_id, scopes, interval_seconds, \
             expires_at) values ($1, $2, $3, $4, $5, now() + make_interval(secs => $6)) \
             on conflict (user_code) do nothing",
            secrets::hash(&codes.device_code),
            &codes.user_code,
            client_id,
            scopes,
            INTERVAL_SECONDS,
            f64::from(LIFETIME_SECONDS)
        )
        .execute(pool)
        .await?;
        if inserted.rows_affected() > 0 {
            return Ok(codes);
        }
    }
}

/// Finds the device that waits with `user_code`.
pub async fn find(pool: &PgPool, user_code: &str) -> Result<Option<PendingDevice>, sqlx::Error> {
    sqlx::query_as!(
        PendingDevice,
        "select applications.client_id, applications.name as application, device_codes.scopes \
         from device_codes join applications on applications.client_id = device_codes.client_id \
         where user_code = $1 and decision is null and expires_at > now()",
        user_code
    )
    .fetch_optional(pool)
    .await
}

/// Stores the person's decision; returns false if the device no longer waits.
pub async fn decide(
    pool: &PgPool,
    user_code: &str,
    decision: Decision,
    account_id: &str,
    authenticated_at: DateTime<Utc>,
) -> Result<bool, sqlx::Error> {
    let done = sqlx::query!(
        "update device_codes set decision = $2, account_id = $3, authenticated_at = $4 \
         where user_code = $1 and decision is null and expires_at > now()",
        user_code,
        decision.as_str(),
        account_id,
        authenticated_at
    )
    .execute(pool)
    .await?;
    Ok(done.rows_affected() > 0)
}

#[derive(Debug)]
struct Row {
    expired: bool,
    too_often: bool,
    decision: Option<String>,
    account_id: Option<String>,
    scopes: Vec<String>,
    authenticated_at: Option<DateTime<Utc>>,
}

/// Returns the state of the device code; any answer other than "wait" uses it up.
pub async fn poll(pool: &PgPool, device_code: &str, client_id: &str) -> Result<PollResult, sqlx::Error> {
    let hash = secrets::hash(device_code);
    let mut transaction = pool.begin().await?;
    let row = sqlx::query_as!(
        Row,
        r#"select expires_at < now() as "expired!", scopes, account_id, authenticated_at,
         case when decision = 'allowed' and not exists (select from accounts where id = account_id
         and disabled_at is null and authenticated_at >= coalesce(tokens_from, '-infinity')) then 'refused'
         else decision end as decision,
         coalesce(polled_at > now() - make_interval(secs => interval_seconds), false) as "too_often!"
         from device_codes where device_code_hash = $1 and client_id = $2 for update of device_codes"#,
        &hash,
        client_id
    )
    .fetch_optional(&mut *transaction)
    .await?;
    let Some(row) = row else { return Ok(PollResult::Unknown) };
    if row.expired {
        return Ok(PollResult::Expired);
    }
    let change = if row.decision.is_some() {
        sqlx::query!("delete from device_codes where device_code_hash = $1", hash)
    } else {
        sqlx::query!(
            "update device_codes set polled_at = now(), interval_seconds = interval_seconds + $2 \
             where device_code_hash = $1",
            hash,
            if row.too_often { INTERVAL_SECONDS } else { 0 }
        )
    };
    change.execute(&mut *transaction).await?;
    transaction.commit().await?;
    Ok(match (row.decision.as_deref(), row.account_id, row.authenticated_at) {
        (None, ..) if row.too_often => PollResult::TooOften,
        (None, ..) => PollResult::Pending,
        (Some("allowed"), Some(account_id), Some(authenticated_at)) => {
            PollResult::Allowed(DeviceGrant { account_id, scopes: row.scopes, authenticated_at })
        }
        _ => PollResult::Refused,
    })
}

fn draw(rng: &mut impl Rng) -> String {
    (0..8).filter_map(|_| LETTERS.choose(rng)).map(|&letter| char::from(letter)).collect()
}

/// Ends device codes that the account has approved.
pub async fn end_account(connection: &mut PgConnection, account_id: &str) -> Result<(), sqlx::Error> {
    sqlx::query!("delete from device_codes where account_id = $1", account_id)
        .execute(connection)
        .await
        .map(drop)
}

/// Ends device codes that the account has approved for an application and that no device has exchanged.
pub async fn end_application_of(
    connection: &mut PgConnection,
    account_id: &str,
    client_id: &str,
) -> Result<(), sqlx::Error> {
    sqlx::query!("delete from device_codes where account_id = $1 and client_id = $2", account_id, client_id)
        .execute(connection)
        .await
        .map(drop)
}

/// Deletes codes that expired long ago.
pub(crate) async fn sweep(pool: &PgPool) -> Result<u64, sqlx::Error> {
    let swept = sqlx::query!(
        "delete from device_codes where expires_at < now() - make_interval(secs => $1)",
        EXPIRED_RETENTION.as_secs_f64()
    )
    .execute(pool)
    .await?;
    Ok(swept.rows_affected())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_the_same_however_it_is_typed() {
        for typed in ["BCDF-GHJK", "bcdfghjk", " bcdf ghjk "] {
            assert_eq!(normalise(typed), "BCDFGHJK");
        }
        assert_eq!(display("BCDFGHJK"), "BCDF-GHJK");
        assert_eq!(display(""), "-");
    }
}
