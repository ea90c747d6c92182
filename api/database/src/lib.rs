//! Connections to PostgreSQL, and the timeouts that protect every process when it is slow, frozen or unavailable.
//!
//! sqlx has no timeout except that for acquiring a connection from a pool, and sets no socket options. With a stopped
//! server, or a network that drops packets, a query would hang until the kernel gives up, a quarter of an hour. So
//! the timeouts are set here: [`options`] tells the server how long a statement may take, [`pool`] tests the
//! connections that it hands out and takes back, [`listen`] pings its connection, and [`within`] limits every other
//! wait.
//!
//! Statements may go through a pooler; anything that needs a session must not ([`Database`]).
//!
//! A query whose future is dropped leaves its connection in the middle of an answer. sqlx reads that answer to its
//! end before the connection is handed out again, and a connection that is too slow at that is closed ([`pool`]). So
//! dropping the future of a query is safe, and all timeouts here work that way.

// No input from outside may cause a panic or be silently turned into another number.
#![cfg_attr(
    not(test),
    warn(
        clippy::cast_possible_truncation,
        clippy::cast_possible_wrap,
        clippy::cast_sign_loss,
        clippy::indexing_slicing,
        clippy::string_slice
    )
)]

mod address;
mod availability;
mod background;
mod clock;
mod interval;
mod listen;
mod options;
mod pool;
mod single_flight;
mod within;

pub use address::Database;
pub use availability::{comes_from_database_away, is_away};
pub use background::{Background, run_after_drop};
pub use clock::is_clock_steady;
pub use interval::interval;
pub use listen::{ListenerEvent, PING_INTERVAL, listen, listen_with_ping_interval};
pub use options::{ConnectionLimits, options};
pub use pool::pool;
pub use single_flight::{SharedResult, SingleFlight};
pub use within::within;
