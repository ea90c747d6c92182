//! Support for the tests of all packages: databases, a browser, event streams, a broken network, fuzz seeds.
//!
//! Only tests and examples depend on this package. Toys of a single package stay with its tests.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod counting_allocator;
mod event_stream;
mod eventually;
mod proxy;
mod replay;
mod test_database;
mod webdriver;

pub use counting_allocator::CountingAllocator;
pub use event_stream::{EventReader, ReceivedEvent};
pub use eventually::{WAIT_TIMEOUT, eventually, until};
pub use proxy::{Proxy, ProxyMode};
pub use replay::replay;
pub use test_database::{TestDatabase, with_database};
pub use webdriver::{Chromium, Script, free_port};
