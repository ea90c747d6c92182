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
use tracing::Instrument;

use http_errors::{ApiError, whole_seconds};
use identity::{AccountQuotas, BURST, Buckets, TakeResult};

use crate::config::Rates;

/// Rate limits with their current use.
pub struct Limits {
    rates: Rates,
    buckets: Buckets,
}

/// State of a rate limit after a request was counted.
#[derive(Debug)]
pub enum Headroom {
    Unlimited,
    Left { ration: QuotaKind, per_minute: NonZeroU32, remaining: u32 },
    Spent { ration: QuotaKind, per_minute: NonZeroU32, retry_after: Duration },
}

impl Limits {
    pub fn new(pool: PgPool, rates: Rates) -> Self {
        Self { rates, buckets: Buckets::new(pool) }
    }

    /// Takes `amount` from the account's rate limit; more than the whole limit counts as all of it.
    pub async fn take(
        &self,
        ration: QuotaKind,
        account_id: &str,
        rations: &AccountQuotas,
        amount: u32,
    ) -> Result<Headroom, sqlx::Error> {
        let Some(per_minute) = self.per_minute(ration, rations) else { return Ok(Headroom::Unlimited) };
        let taken = self.buckets.take(account_id, ration.as_str(), per_minute, amount).await?;
        let ahead = match taken {
            TakeResult::Yes { full_in } => full_in.as_secs_f64(),
            TakeResult::No { retry_after } => return Ok(Headroom::Spent { ration, per_minute, retry_after }),
        };
        let left = (BURST.as_secs_f64() - ahead) / BURST.as_secs_f64() * f64::from(per_minute.get());
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "at most the ration, and saturating is what is wanted"
        )]
        // The clock has advanced since the statement began; the tolerance of a millisecond costs no request.
        let remaining = ((left + 1e-3).floor() as u32).min(per_minute.get());
        Ok(Headroom::Left { ration, per_minute, remaining })
    }

    /// Refunds `amount` that was taken and not used, in the background. If that fails, the account regains it by the
    /// normal refill.
    fn refund(self: &Arc<Self>, ration: QuotaKind, account_id: &str, rations: &AccountQuotas, amount: u32) {
        let Some(per_minute) = self.per_minute(ration, rations).filter(|_| amount > 0) else { return };
        let (limits, account_id) = (Arc::clone(self), account_id.to_owned());
        let giving = async move {
            let given = limits.buckets.give_back(&account_id, ration.as_str(), per_minute, amount).await;
            if let Err(error) = given {
                tracing::warn!(%error, "unused units of a rate limit could not be returned to the account");
            }
        };
        tokio::spawn(giving.in_current_span());
    }

    /// Reserves `most` of the account's rate limit, or returns the 429 answer if too little is left.
    pub async fn spend(
        self: &Arc<Self>,
        ration: QuotaKind,
        account_id: &str,
        rations: &AccountQuotas,
        most: u32,
    ) -> Result<Reservation, Response> {
        let headroom = self.take(ration, account_id, rations, most).await;
        let headroom = headroom.map_err(|error| ApiError::from(error).into_response())?;
        if let Some(retry_after) = headroom.spent() {
            return Err(headroom.attach(ApiError::RateLimited { retry_after }.into_response()));
        }
        let (account_id, rations) = (account_id.to_owned(), rations.clone());
        Ok(Reservation { limits: Arc::clone(self), ration, account_id, rations, most })
    }

    /// Returns the account's limit per minute; `None` for no limit.
    pub fn per_minute(&self, ration: QuotaKind, rations: &AccountQuotas) -> Option<NonZeroU32> {
        NonZeroU32::new(rations.get(ration.as_str()).copied().unwrap_or_else(|| self.rates.of(ration)))
    }
}

/// Reserved part of a rate limit, before the actual use is known.
pub struct Reservation {
    limits: Arc<Limits>,
    ration: QuotaKind,
    account_id: String,
    rations: AccountQuotas,
    most: u32,
}

impl Reservation {
    /// Refunds the unused part.
    pub fn end(self, used: u32) {
        let left = self.most.saturating_sub(used);
        self.limits.refund(self.ration, &self.account_id, &self.rations, left);
    }
}

impl Headroom {
    /// Returns the time to wait, if nothing is left.
    pub fn spent(&self) -> Option<Duration> {
        match self {
            Self::Spent { retry_after, .. } => Some(*retry_after),
            Self::Unlimited | Self::Left { .. } => None,
        }
    }

    /// Adds the state of the limit to the headers of `response`, unless they describe another limit already.
    pub fn attach(&self, mut response: Response) -> Response {
        let (ration, per_minute, remaining, reset) = match self {
            Self::Unlimited => return response,
            Self::Left { ration, per_minute, remaining } => {
                let taken = per_minute.get().saturating_sub(*remaining);
                (ration, per_minute, *remaining, BURST * taken / per_minute.get())
            }
            Self::Spent { ration, per_minute, retry_after } => (ration, per_minute, 0, *retry_after),
        };
        let state = format!("\"{ration}\";r={remaining};t={}", whole_seconds(reset));
        for (header, value) in
            [("ratelimit-policy", format!("\"{ration}\";q={per_minute};w=60")), ("ratelimit", state)]
        {
            let value = HeaderValue::try_from(value).expect("limits: the header values are plain ASCII");
            response.headers_mut().entry(header).or_insert(value);
        }
        response
    }
}
