//! How every process reaches PostgreSQL, and what becomes of those who wait when it is slow, frozen or away.
//!
//! sqlx has no time-outs of its own but the one for a connection out of a pool, and sets no option of the socket: a server that is
//! stopped, or a network that drops packets, would hold a query for as long as the kernel has patience, a quarter of an
//! hour. So time is kept here: [`options`] tells the server how long a statement may take, [`pool`] tests what it hands out and
//! takes back, [`listen`] asks its connection whether it lives, and [`within`] ends whatever else waits.
//!
//! Statements may go through a pooler, what needs a session never does ([`Database`]).
//!
//! A query whose future is dropped leaves its connection in the middle of an answer. sqlx reads that answer to its end before the
//! connection is given out again, and a connection that does not get there in time is closed ([`pool`]): dropping the future
//! of a query is safe, and is how all time-outs here work.

// Nothing that a stranger wrote ends a request by a panic, or becomes another number.
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
mod background;
mod clock;
mod fault;
mod flight;
mod interval;
mod listen;
mod options;
mod pool;
mod within;

pub use address::Database;
pub use background::Background;
pub use clock::is_clock_steady;
pub use fault::{comes_from_database_away, is_away};
pub use flight::{Asked, Flight};
pub use interval::interval;
pub use listen::{Heard, PING, listen, listen_pinging};
pub use options::{Terms, options};
pub use pool::pool;
pub use within::within;
