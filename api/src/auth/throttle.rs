//! Slows down guessing at passwords: a ration of attempts per account and per address.
//!
//! Kept in the process, so with several API processes a guesser has as many rations. That is enough to make
//! guessing hopeless and needs no table that a guesser could fill.

use std::{net::IpAddr, num::NonZeroU32, time::Duration};

use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter, clock::Clock};

/// An address may try this many accounts' worth: offices share addresses.
const ADDRESS_FACTOR: NonZeroU32 = NonZeroU32::new(3).expect("3 is not 0");

/// Keys that are kept at most before idle ones are dropped.
const MANY: usize = 10_000;

/// The rations; `None` is no limit.
pub struct Throttle(Option<Rations>);

struct Rations {
    account: DefaultKeyedRateLimiter<String>,
    address: DefaultKeyedRateLimiter<IpAddr>,
}

impl Throttle {
    pub fn new(attempts_per_minute: u32) -> Self {
        Self(NonZeroU32::new(attempts_per_minute).map(|attempts| Rations {
            account: RateLimiter::keyed(Quota::per_minute(attempts)),
            address: RateLimiter::keyed(Quota::per_minute(attempts.saturating_mul(ADDRESS_FACTOR))),
        }))
    }

    /// Takes one attempt from `address`, on nothing in particular.
    pub fn take_address(&self, address: Option<IpAddr>) -> Result<(), Duration> {
        match (&self.0, address) {
            (Some(rations), Some(address)) => take(&rations.address, address),
            _ => Ok(()),
        }
    }

    /// Takes one attempt on `email` from `address`, or says how long to wait.
    pub fn take(&self, email: &str, address: Option<IpAddr>) -> Result<(), Duration> {
        let Some(rations) = &self.0 else { return Ok(()) };
        if let Some(address) = address {
            take(&rations.address, address)?;
        }
        take(&rations.account, email.to_lowercase())
    }
}

fn take<K: std::hash::Hash + Eq + Clone>(
    ration: &DefaultKeyedRateLimiter<K>,
    key: K,
) -> Result<(), Duration> {
    if ration.len() > MANY {
        ration.retain_recent();
    }
    ration.check_key(&key).map_err(|refused| refused.wait_time_from(ration.clock().now()))
}
