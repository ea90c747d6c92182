//! The process' connections to PostgreSQL, which add up to what the operator sets.

use std::{fmt, num::ParseIntError, str::FromStr};

/// Connections that listen: one hears of jobs that end, one of accounts that change.
pub(crate) const LISTENERS: u32 = 2;

/// The fewest: two for each share.
const LEAST: u32 = LISTENERS + 2 + 2;

/// More than PostgreSQL can have.
const MOST: u32 = 10_000;

/// The most connections that the process opens, and how they are shared out: two listen, half of the others submit jobs and read
/// their outcomes, and the rest serves everything else, streams too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Connections(u32);

/// A number of connections that cannot be shared out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConnectionsError {
    /// It is none.
    NoNumber(ParseIntError),
    /// It is too small or too large.
    OutOfRange,
}

impl fmt::Display for ConnectionsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoNumber(error) => error.fmt(f),
            Self::OutOfRange => write!(f, "want {LEAST} to {MOST}"),
        }
    }
}

impl FromStr for Connections {
    type Err = ConnectionsError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.parse().map_err(ConnectionsError::NoNumber)? {
            all @ LEAST..=MOST => Ok(Self(all)),
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
    /// All of them.
    pub(crate) fn all(self) -> u32 {
        self.0
    }

    /// The queue's, beside its listener.
    pub(crate) fn of_queue(self) -> u32 {
        (self.0 - LISTENERS) / 2
    }

    /// Those of everything else.
    pub(crate) fn of_requests(self) -> u32 {
        self.0 - LISTENERS - self.of_queue()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shared_out_adds_up() {
        for all in ["6", "7", "34", "101"] {
            let connections: Connections = all.parse().unwrap();

            let sum = LISTENERS + connections.of_queue() + connections.of_requests();

            assert_eq!(sum.to_string(), all);
            assert!(connections.of_queue() >= 2 && connections.of_requests() >= 2);
        }
    }
}
