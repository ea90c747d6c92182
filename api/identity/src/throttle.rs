//! Rate limits against guessing of passwords and codes, and against floods; they hold over all API processes.
//!
//! Password attempts are counted by the typed e-mail address together with the client's network address. The e-mail
//! address is stored as a hash, whether or not the account exists: people type passwords into the wrong field, and
//! the table must hold none. So someone who knows another person's e-mail address can lock out only themselves. All
//! network addresses together get ten times the limit of one account. Beyond that, only browsers that have logged in
//! to the account before may try, and these have a limit of their own (OWASP's device cookies). Attempts from a
//! network address that has used up its own limit are not counted against the account. So a stranger fills the table
//! with one limit's worth of rows at most, and those are swept. An IPv6 network counts as one address, since a
//! customer controls all of it.

use std::{
    net::{IpAddr, Ipv6Addr},
    num::NonZeroU32,
    time::Duration,
};

use sha2::{Digest, Sha256};
use sqlx::PgPool;

use crate::tables::rate_limits::{Buckets, TakeResult};

/// Factor for one network address, which may try as many accounts' worth: offices share addresses.
const ADDRESS_FACTOR: NonZeroU32 = NonZeroU32::new(3).expect("3 is not 0");

/// Factor for all addresses together at one account.
const ACCOUNT_FACTOR: NonZeroU32 = NonZeroU32::new(10).expect("10 is not 0");

/// Factor for a program that exchanges and introspects tokens: a server does so for many people.
const PROGRAM_FACTOR: NonZeroU32 = NonZeroU32::new(100).expect("100 is not 0");

/// Name of the limit in the table.
const LIMIT_NAME: &str = "login";

/// Mask of the IPv6 bits that name a network, which is what one customer gets (RFC 6177).
const IPV6_NETWORK_MASK: u128 = !(u64::MAX as u128);

/// The rate limits; none apply without a number of attempts.
pub struct LoginRateLimiter {
    attempts: Option<NonZeroU32>,
    buckets: Buckets,
}

/// Login history of the browser with the account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Browser {
    /// Known: it has logged in before.
    Known,
    /// Nothing is known of it.
    Strange,
}

/// Reason for which an attempt was refused.
#[derive(Debug)]
pub enum RateLimitError {
    /// Too many attempts.
    TooMany { retry_after: Duration },
    /// The attempts could not be counted.
    Database(sqlx::Error),
}

impl From<sqlx::Error> for RateLimitError {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(error)
    }
}

impl LoginRateLimiter {
    pub fn new(pool: PgPool, attempts_per_minute: u32) -> Self {
        Self { attempts: NonZeroU32::new(attempts_per_minute), buckets: Buckets::new(pool) }
    }

    /// Counts one attempt from `address` at the password of `email`, or returns how long to wait.
    pub async fn take(
        &self,
        email: &str,
        address: Option<IpAddr>,
        browser: Browser,
    ) -> Result<(), RateLimitError> {
        self.take_address(address).await?;
        let account = email_hash(email);
        if browser == Browser::Known {
            return self.take_one(&format!("known {account}"), NonZeroU32::MIN).await;
        }
        if let Some(address) = address {
            self.take_one(&format!("email {account} {}", network(address)), NonZeroU32::MIN).await?;
        }
        self.take_one(&format!("email {account}"), ACCOUNT_FACTOR).await
    }

    /// Counts one attempt from `address` that names no account.
    pub async fn take_address(&self, address: Option<IpAddr>) -> Result<(), RateLimitError> {
        let Some(address) = address else { return Ok(()) };
        self.take_one(&format!("address {}", network(address)), ADDRESS_FACTOR).await
    }

    /// Counts one attempt of the account at the code that a device shows.
    pub async fn take_code(&self, account_id: &str) -> Result<(), RateLimitError> {
        self.take_one(&format!("device {account_id}"), NonZeroU32::MIN).await
    }

    /// Counts one authorization code that an application gets for the account.
    pub async fn take_authorization(&self, account_id: &str) -> Result<(), RateLimitError> {
        self.take_one(&format!("code {account_id}"), ADDRESS_FACTOR).await
    }

    /// Counts one request of an application's program at `address` that changes or introspects tokens.
    pub async fn take_program(&self, client_id: &str, address: Option<IpAddr>) -> Result<(), RateLimitError> {
        let address = address.map_or_else(String::new, |address| network(address).to_string());
        self.take_one(&format!("program {client_id} {address}"), PROGRAM_FACTOR).await
    }

    async fn take_one(&self, subject: &str, factor: NonZeroU32) -> Result<(), RateLimitError> {
        let Some(attempts) = self.attempts else { return Ok(()) };
        match self.buckets.take(subject, LIMIT_NAME, attempts.saturating_mul(factor), 1).await? {
            TakeResult::Yes { .. } => Ok(()),
            TakeResult::No { retry_after } => Err(RateLimitError::TooMany { retry_after }),
        }
    }
}

/// Hashes a typed e-mail address, which may be somebody's password.
fn email_hash(email: &str) -> String {
    Sha256::digest(email.trim().to_lowercase()).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & IPV6_NETWORK_MASK)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_ipv6_a_network_counts_as_one_address() {
        let cases = [
            ("192.0.2.1", "192.0.2.1"),
            ("::ffff:192.0.2.1", "192.0.2.1"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ];
        for (address, expected) in cases {
            assert_eq!(network(address.parse().unwrap()), expected.parse::<IpAddr>().unwrap());
        }
    }
}
