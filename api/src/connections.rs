//! PostgreSQL connections of the process, which add up to the operator's limit.

use std::{fmt, num::ParseIntError, str::FromStr};

/// Listening connections: one for finished jobs, one for changed accounts.
pub(crate) const LISTENERS: u32 = 2;

/// Smallest number: two for each share.
const MIN_CONNECTIONS: u32 = LISTENERS + 2 + 2;

/// Largest number, more than PostgreSQL can have.
const MAX_CONNECTIONS: u32 = 10_000;

/// Connection limit of the process, and its division: two connections listen, half of the others submit jobs and read
/// their outcomes, and the rest serves everything else, including streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Connections(u32);

/// Reason for which a number of connections is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConnectionsError {
    /// The text is not a number.
    NoNumber(ParseIntError),
    /// The number is too small or too large.
    OutOfRange,
}

impl fmt::Display for ConnectionsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoNumber(error) => error.fmt(f),
            Self::OutOfRange => write!(f, "want {MIN_CONNECTIONS} to {MAX_CONNECTIONS}"),
        }
    }
}

impl FromStr for Connections {
    type Err = ConnectionsError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.parse().map_err(ConnectionsError::NoNumber)? {
            all @ MIN_CONNECTIONS..=MAX_CONNECTIONS => Ok(Self(all)),
            _ => Err(ConnectionsError::OutOfRange),
        }
    }
}

impl Default for Connections {
    fn default() -> Self {
        Self(LISTENERS + 16 + 16)
    }
}

impl Connections {
    /// Returns all connections.
    pub(crate) fn all(self) -> u32 {
        self.0
    }

    /// Returns the queue's share, besides its listener.
    pub(crate) fn queue_share(self) -> u32 {
        (self.0 - LISTENERS) / 2
    }

    /// Returns the share of everything else.
    pub(crate) fn request_share(self) -> u32 {
        self.0 - LISTENERS - self.queue_share()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divided_connections_add_up() {
        for all in ["6", "7", "34", "101"] {
            let connections: Connections = all.parse().unwrap();

            let sum = LISTENERS + connections.queue_share() + connections.request_share();

            assert_eq!(sum.to_string(), all);
            assert!(connections.queue_share() >= 2 && connections.request_share() >= 2);
        }
    }
}
