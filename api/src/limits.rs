//! Rate limits per account, shared by all API processes.
//!
//! The generic cell rate algorithm: an account may spend a minute's ration at once and gets it back evenly.
//! The state is one row of an unlogged table, changed by one statement, so that any number of processes agree
//! and a request costs a fraction of a millisecond. A process remembers who has nothing left and refuses them
//! by itself: a flood stops at its memory. Answers tell the state in the headers of
//! draft-ietf-httpapi-ratelimit-headers.

use std::{
    collections::{BTreeMap, HashMap},
    num::NonZeroU32,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use axum::{http::HeaderValue, response::Response};
use contract::Ration;
use sqlx::PgPool;

use crate::{config::Rates, error::whole_seconds};

/// How much of a ration may be spent at once: all of it.
const BURST: Duration = Duration::from_secs(60);

/// Accounts that are remembered at most before those with something left again are dropped.
const MANY: usize = 10_000;

/// The operations that need a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    ListSamples,
    CreateSample,
    RetrieveSample,
    DeleteSample,
    ListModels,
    RetrieveModel,
    CreateTreeSearch,
}

impl Operation {
    /// The scope that a token needs; the contract defines none for the tree search.
    pub fn scope(self) -> Option<&'static str> {
        match self {
            Self::ListSamples | Self::RetrieveSample => Some(contract::scope::SAMPLES_READ),
            Self::CreateSample => Some(contract::scope::SAMPLES_CREATE),
            Self::DeleteSample => Some(contract::scope::SAMPLES_DELETE),
            Self::ListModels | Self::RetrieveModel => Some(contract::scope::MODELS_READ),
            Self::CreateTreeSearch => None,
        }
    }

    /// What a request takes one of.
    pub fn ration(self) -> Ration {
        match self {
            Self::ListSamples
            | Self::RetrieveSample
            | Self::DeleteSample
            | Self::ListModels
            | Self::RetrieveModel => Ration::Reads,
            Self::CreateSample => Ration::SamplesCreate,
            Self::CreateTreeSearch => Ration::TreeSearch,
        }
    }
}

/// What an account has of each ration a minute, where the operator gave it another than everybody; 0 is no
/// limit.
pub type Rations = BTreeMap<String, u32>;

/// The rations, and who is known to have spent them.
pub struct Limits {
    pool: PgPool,
    rates: Rates,
    spent: Mutex<HashMap<(String, Ration), Instant>>,
}

/// What is left of a ration after a request took its part.
#[derive(Debug)]
pub enum Headroom {
    Unlimited,
    Left { ration: Ration, per_minute: NonZeroU32, remaining: u32 },
    Spent { ration: Ration, per_minute: NonZeroU32, retry_after: Duration },
}

impl Limits {
    pub fn new(pool: PgPool, rates: Rates) -> Self {
        Self { pool, rates, spent: Mutex::default() }
    }

    /// Takes `amount` of the account's ration; more than a whole ration counts as all of it.
    pub async fn take(
        &self,
        ration: Ration,
        account_id: &str,
        rations: &Rations,
        amount: u32,
    ) -> Result<Headroom, sqlx::Error> {
        let per_minute = rations.get(ration.as_str()).copied().unwrap_or_else(|| self.rates.of(ration));
        let Some(per_minute) = NonZeroU32::new(per_minute) else { return Ok(Headroom::Unlimited) };
        let key = (account_id.to_owned(), ration);
        if let Some(retry_after) = self.known_wait(&key) {
            return Ok(Headroom::Spent { ration, per_minute, retry_after });
        }
        let cost =
            BURST.as_secs_f64() * f64::from(amount.min(per_minute.get())) / f64::from(per_minute.get());
        let (ahead, refused) = spend(&self.pool, account_id, ration, cost).await?;
        if refused {
            let wait = Duration::from_secs_f64((ahead + cost - BURST.as_secs_f64()).max(0.0));
            // A smaller request may still find enough: only the smallest one's wait holds for all.
            if amount == 1 {
                self.remember(key, wait);
            }
            return Ok(Headroom::Spent { ration, per_minute, retry_after: wait });
        }
        let left = (BURST.as_secs_f64() - ahead) / BURST.as_secs_f64() * f64::from(per_minute.get());
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "at most the ration, and saturating is what is wanted"
        )]
        // The clock has gone on since the statement began; a millisecond more or less is no request.
        let remaining = ((left + 1e-3).floor() as u32).min(per_minute.get());
        Ok(Headroom::Left { ration, per_minute, remaining })
    }

    fn known_wait(&self, key: &(String, Ration)) -> Option<Duration> {
        let until = *self.spent.lock().unwrap_or_else(PoisonError::into_inner).get(key)?;
        let wait = until.saturating_duration_since(Instant::now());
        (!wait.is_zero()).then_some(wait)
    }

    fn remember(&self, key: (String, Ration), wait: Duration) {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if spent.len() > MANY {
            spent.retain(|_, until| *until > now);
        }
        spent.insert(key, now + wait);
    }
}

/// Seconds that the account's ration is spent ahead, with `cost` seconds more unless that was refused.
async fn spend(
    pool: &PgPool,
    account_id: &str,
    ration: Ration,
    cost: f64,
) -> Result<(f64, bool), sqlx::Error> {
    sqlx::query_as(
        "insert into rate_limits as held (account_id, ration, spent_until, refused) \
         values ($1, $2, now() + make_interval(secs => $3), false) \
         on conflict (account_id, ration) do update set \
         refused = greatest(held.spent_until, now()) + make_interval(secs => $3 - $4) > now(), \
         spent_until = case \
         when greatest(held.spent_until, now()) + make_interval(secs => $3 - $4) > now() then held.spent_until \
         else greatest(held.spent_until, now()) + make_interval(secs => $3) end \
         returning extract(epoch from spent_until - now())::float8, refused",
    )
    .bind(account_id)
    .bind(ration.as_str())
    .bind(cost)
    .bind(BURST.as_secs_f64())
    .fetch_one(pool)
    .await
}

impl Headroom {
    /// How long to wait, if there is nothing left.
    pub fn spent(&self) -> Option<Duration> {
        match self {
            Self::Spent { retry_after, .. } => Some(*retry_after),
            Self::Unlimited | Self::Left { .. } => None,
        }
    }

    /// `response` with the state of the limit in its headers, unless it tells of another one already.
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
