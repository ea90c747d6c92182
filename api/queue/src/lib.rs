//! Jobs between the API and its workers: apalis on Postgres behind a small interface.
//!
//! A caller of the API waits for its job, so a job is worth something only until its deadline: the queue
//! refuses work that it could not finish in time, drops the work of a caller that left, and hands every
//! outcome over by LISTEN/NOTIFY in milliseconds. Our table `jobs` holds what is true of a job (deadline,
//! attempts, cancelled, outcome); apalis only deals the jobs out. Whoever writes an outcome does it in the
//! transaction of its own rows, so that a job that runs again after a crash sees that it is done. Jobs that nobody waits for
//! ([`enqueue`]) are dealt out by the same means, and have neither deadline nor waiter. What a job tells while it runs is rows as well, which
//! any process shows to those who [watch](Watch) it.

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

mod appointments;
mod budget;
mod caller;
mod client;
mod config;
mod context;
mod ears;
mod error;
mod events;
mod job;
mod live;
mod metrics;
pub mod operations;
mod pending;
mod poll;
mod pool;
mod presence;
pub mod retention;
mod run;
mod store;
mod unawaited;
mod waiters;
mod watch;
mod worker;

pub use budget::{Budget, budget};
pub use caller::Caller;
pub use client::{AFTER_AN_OPERATOR, Client, Connections, LiveModel, WORKER_START};
pub use config::{LISTENER, WorkerConfig};
pub use context::{Finished, JobContext};
pub use error::{AwaitError, HandlerError, QueueError, SubmitError};
pub use events::{JobEvent, NewEvent, Teller};
pub use job::{Job, QUEUES, Ready, Work, search_takes};
pub use pending::Pending;
pub use pool::setup;
pub use presence::{Backlog, LiveWorkers, backlogs, live_models, live_workers};
pub use run::Handler;
pub use unawaited::{Urgency, cancel, enqueue};
pub use watch::{Seen, Watch};
pub use worker::run_worker;
