//! Rate limits per account, shared by all API processes.
//!
//! An account may spend its limit of one minute at once; it is refilled evenly ([`Buckets`]). Answers report the
//! state in the headers of draft-ietf-httpapi-ratelimit-headers.

use std::{num::NonZeroU32, sync::Arc, time::Duration};

use axum::{
    http::HeaderValue,
    response::{IntoResponse, Response},
};
use contract::QuotaKind;
use sqlx::PgPool;
use tokio::task::JoinHandle;
use tracing::Instrument;

use http_errors::{ApiError, whole_seconds};
use identity::{AccountQuotas, BURST, Buckets, TakeResult};

use crate::config::RateSettings;

/// Longest wait of an answer for its refund, a statement of about a millisecond.
const REFUND_TIMEOUT: Duration = Duration::from_millis(500);

/// Rate limits with their current use.
pub struct RateLimits {
    rates: RateSettings,
    buckets: Buckets,
}

/// State of a rate limit after a request was counted.
#[derive(Debug)]
pub enum RateLimitState {
    Unlimited,
    Left { quota_kind: QuotaKind, per_minute: NonZeroU32, remaining: u32 },
    Spent { quota_kind: QuotaKind, per_minute: NonZeroU32, retry_after: Duration },
}

impl RateLimits {
    pub fn new(pool: PgPool, rates: RateSettings) -> Self {
        Self { rates, buckets: Buckets::new(pool) }
    }

    /// Takes `amount` from the account's rate limit; more than the whole limit counts as all of it.
    pub async fn take(
        &self,
        quota_kind: QuotaKind,
        account_id: &str,
        quotas: &AccountQuotas,
        amount: u32,
    ) -> Result<RateLimitState, sqlx::Error> {
        let Some(per_minute) = self.per_minute(quota_kind, quotas) else {
            return Ok(RateLimitState::Unlimited);
        };
        let taken = self.buckets.take(account_id, quota_kind.as_str(), per_minute, amount).await?;
        let seconds_until_full = match taken {
            TakeResult::Yes { full_in } => full_in.as_secs_f64(),
            TakeResult::No { retry_after } => {
                return Ok(RateLimitState::Spent { quota_kind, per_minute, retry_after });
            }
        };
        let left =
            (BURST.as_secs_f64() - seconds_until_full) / BURST.as_secs_f64() * f64::from(per_minute.get());
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "at most the limit per minute; saturation is intended"
        )]
        // The clock has advanced since the statement began; the tolerance of a thousandth of a unit hides this.
        let remaining = ((left + 1e-3).floor() as u32).min(per_minute.get());
        Ok(RateLimitState::Left { quota_kind, per_minute, remaining })
    }

    /// Refunds `amount` that was taken and not used, in the background, and returns the task; `None` if nothing is to be
    /// refunded. If that fails, the account regains it by the normal refill.
    fn refund(
        self: &Arc<Self>,
        quota_kind: QuotaKind,
        account_id: &str,
        quotas: &AccountQuotas,
        amount: u32,
    ) -> Option<JoinHandle<()>> {
        let per_minute = self.per_minute(quota_kind, quotas).filter(|_| amount > 0)?;
        let (limits, account_id) = (Arc::clone(self), account_id.to_owned());
        let refund = async move {
            let refunded = limits.buckets.refund(&account_id, quota_kind.as_str(), per_minute, amount).await;
            if let Err(error) = refunded {
                tracing::warn!(%error, "unused units of a rate limit could not be returned to the account");
            }
        };
        Some(tokio::spawn(refund.in_current_span()))
    }

    /// Reserves `reserved` of the account's rate limit, or returns the 429 answer if too little is left.
    pub async fn reserve(
        self: &Arc<Self>,
        quota_kind: QuotaKind,
        account_id: &str,
        quotas: &AccountQuotas,
        reserved: u32,
    ) -> Result<Reservation, Response> {
        let rate_limit_state = self.take(quota_kind, account_id, quotas, reserved).await;
        let rate_limit_state = rate_limit_state.map_err(|error| ApiError::from(error).into_response())?;
        if let Some(retry_after) = rate_limit_state.retry_after() {
            return Err(rate_limit_state.attach(ApiError::RateLimited { retry_after }.into_response()));
        }
        let (account_id, quotas) = (account_id.to_owned(), quotas.clone());
        Ok(Reservation { limits: Arc::clone(self), quota_kind, account_id, quotas, reserved })
    }

    /// Returns the account's limit per minute; `None` for no limit.
    pub fn per_minute(&self, quota_kind: QuotaKind, quotas: &AccountQuotas) -> Option<NonZeroU32> {
        NonZeroU32::new(quotas.get(quota_kind.as_str()).copied().unwrap_or_else(|| self.rates.of(quota_kind)))
    }
}

/// Reserved part of a rate limit, before the actual use is known.
pub struct Reservation {
    limits: Arc<RateLimits>,
    quota_kind: QuotaKind,
    account_id: String,
    quotas: AccountQuotas,
    reserved: u32,
}

impl Reservation {
    /// Refunds the unused part in the background, and returns the task.
    pub fn refund_unused(self, used: u32) -> Option<JoinHandle<()>> {
        let unused = self.reserved.saturating_sub(used);
        self.limits.refund(self.quota_kind, &self.account_id, &self.quotas, unused)
    }

    /// Refunds the unused part, and waits for it at most [`REFUND_TIMEOUT`]: the next request of a caller who has the
    /// answer finds it.
    pub async fn settle(self, used: u32) {
        if let Some(refund) = self.refund_unused(used) {
            // Later than that, the refund goes on in the background.
            let _ = tokio::time::timeout(REFUND_TIMEOUT, refund).await;
        }
    }
}

impl RateLimitState {
    /// Returns the time to wait, if nothing is left.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Spent { retry_after, .. } => Some(*retry_after),
            Self::Unlimited | Self::Left { .. } => None,
        }
    }

    /// Adds the state of the limit to the headers of `response`, unless they describe another limit already.
    pub fn attach(&self, mut response: Response) -> Response {
        let (quota_kind, per_minute, remaining, reset) = match self {
            Self::Unlimited => return response,
            Self::Left { quota_kind, per_minute, remaining } => {
                let taken = per_minute.get().saturating_sub(*remaining);
                (quota_kind, per_minute, *remaining, BURST * taken / per_minute.get())
            }
            Self::Spent { quota_kind, per_minute, retry_after } => (quota_kind, per_minute, 0, *retry_after),
        };
        let state = format!("\"{quota_kind}\";r={remaining};t={}", whole_seconds(reset));
        for (header, value) in
            [("ratelimit-policy", format!("\"{quota_kind}\";q={per_minute};w=60")), ("ratelimit", state)]
        {
            let value = HeaderValue::try_from(value).expect("limits: the header values are plain ASCII");
            response.headers_mut().entry(header).or_insert(value);
        }
        response
    }
}
