//! Slows down guessing at passwords and codes, and floods: rations over all API processes.
//!
//! Attempts at a password are counted by the address that was typed (its hash, whether there is such an account or not: people type
//! their passwords into the wrong field, and the table is to hold none) together with where they come from. So whoever
//! knows somebody's e-mail address can lock out nobody but themselves; and many addresses together get ten rations of one account,
//! beyond which only those are let try whose browser has logged in to it before, and these have a ration of their own (OWASP's device cookies).
//! Attempts from an address that has spent its own ration are not counted on the account, so a stranger fills the table with a
//! ration's worth of rows, and those are swept up. Of IPv6 a network counts as one address: who has one has all of it.

use std::{
    net::{IpAddr, Ipv6Addr},
    num::NonZeroU32,
    time::Duration,
};

use sha2::{Digest, Sha256};
use sqlx::PgPool;

use crate::tables::rate_limits::{Buckets, Taken};

/// An address may try this many accounts' worth: offices share addresses.
const ADDRESS_FACTOR: NonZeroU32 = NonZeroU32::new(3).expect("3 is not 0");

/// Everybody together may try at one account this many times what one may.
const ACCOUNT_FACTOR: NonZeroU32 = NonZeroU32::new(10).expect("10 is not 0");

/// A program may exchange and look at tokens this often: a server does it for many people.
const PROGRAM_FACTOR: NonZeroU32 = NonZeroU32::new(100).expect("100 is not 0");

/// What the attempts are called in the table.
const RATION: &str = "login";

/// The bits of an IPv6 address that name a network, which is what one customer gets (RFC 6177).
const NETWORK: u128 = !(u64::MAX as u128);

/// The rations; no limit without a number of attempts.
pub struct Throttle {
    attempts: Option<NonZeroU32>,
    buckets: Buckets,
}

/// Whether somebody has logged in to the account from the browser before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Browser {
    /// They have.
    Known,
    /// Nobody knows.
    Strange,
}

/// An attempt is not let through.
#[derive(Debug)]
pub enum Throttled {
    /// There were too many.
    TooMany { retry_after: Duration },
    /// Nobody knows how many there were.
    Database(sqlx::Error),
}

impl From<sqlx::Error> for Throttled {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(error)
    }
}

impl Throttle {
    pub fn new(pool: PgPool, attempts_per_minute: u32) -> Self {
        Self { attempts: NonZeroU32::new(attempts_per_minute), buckets: Buckets::new(pool) }
    }

    /// Takes one attempt from `address` at the password of `email`, or says how long to wait.
    pub async fn take(
        &self,
        email: &str,
        address: Option<IpAddr>,
        browser: Browser,
    ) -> Result<(), Throttled> {
        self.take_address(address).await?;
        let account = hash(email);
        if browser == Browser::Known {
            return self.take_one(&format!("known {account}"), NonZeroU32::MIN).await;
        }
        if let Some(address) = address {
            self.take_one(&format!("email {account} {}", network(address)), NonZeroU32::MIN).await?;
        }
        self.take_one(&format!("email {account}"), ACCOUNT_FACTOR).await
    }

    /// Takes one attempt from `address`, at nothing in particular.
    pub async fn take_address(&self, address: Option<IpAddr>) -> Result<(), Throttled> {
        let Some(address) = address else { return Ok(()) };
        self.take_one(&format!("address {}", network(address)), ADDRESS_FACTOR).await
    }

    /// Takes one attempt of the account's at the code that a device shows.
    pub async fn take_code(&self, account_id: &str) -> Result<(), Throttled> {
        self.take_one(&format!("device {account_id}"), NonZeroU32::MIN).await
    }

    /// Takes one code that an application gets for the account.
    pub async fn take_authorization(&self, account_id: &str) -> Result<(), Throttled> {
        self.take_one(&format!("code {account_id}"), ADDRESS_FACTOR).await
    }

    /// Takes one request of an application's program at `address` that changes or looks at tokens.
    pub async fn take_program(&self, client_id: &str, address: Option<IpAddr>) -> Result<(), Throttled> {
        let address = address.map_or_else(String::new, |address| network(address).to_string());
        self.take_one(&format!("program {client_id} {address}"), PROGRAM_FACTOR).await
    }

    async fn take_one(&self, who: &str, factor: NonZeroU32) -> Result<(), Throttled> {
        let Some(attempts) = self.attempts else { return Ok(()) };
        match self.buckets.take(who, RATION, attempts.saturating_mul(factor), 1).await? {
            Taken::Yes { .. } => Ok(()),
            Taken::No { retry_after } => Err(Throttled::TooMany { retry_after }),
        }
    }
}

/// What an e-mail address is called where it may be somebody's password.
fn hash(email: &str) -> String {
    Sha256::digest(email.trim().to_lowercase()).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & NETWORK)),
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
