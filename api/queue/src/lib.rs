//! Job queue between the API and its workers: apalis on Postgres behind a small interface.
//!
//! A caller of the API waits for its job, so the job is useful only until its deadline. The queue refuses work that
//! it could not finish in time, drops the work of callers that left, and delivers every outcome by LISTEN/NOTIFY in
//! milliseconds. Our table `jobs` holds the state of a job (deadline, attempts, cancelled, outcome); apalis only
//! distributes the jobs. An outcome is written in the transaction of the worker's own rows, so that a job that runs
//! again after a crash finds that it is done. Background jobs ([`enqueue`]) are distributed in the same way and have
//! neither deadline nor waiter. Progress events are rows as well, which any process can show to those who
//! [watch](Subscription) the job.

// External input must never cause a panic or a silent numeric conversion.
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

mod background;
mod caller;
mod client;
mod config;
mod connection_usage;
mod context;
mod error;
mod events;
mod job;
mod listeners;
mod liveness;
mod metrics;
pub mod operations;
mod pending;
mod poll;
mod pool;
pub mod retention;
mod retry_schedule;
mod run;
mod store;
mod subscription;
mod waiters;
mod worker;
mod worker_process;

pub use background::{Urgency, cancel, enqueue};
pub use caller::JobCaller;
pub use client::{Client, ClientConnections, LiveModel, PAUSED_RETRY_AFTER, WORKER_START_TIME};
pub use config::{LISTENER_CONNECTIONS, WorkerConfig};
pub use connection_usage::{ConnectionUsage, connection_usage};
pub use context::{FinishResult, JobContext};
pub use error::{AwaitError, HandlerError, QueueError, SubmitError};
pub use events::{EventPublisher, JobEvent, NewEvent};
pub use job::{Job, QUEUES, ReadyResult, WorkEstimate, queue_label, search_estimate};
pub use liveness::{Backlog, LiveWorkers, backlogs, live_models, live_workers};
pub use pending::Pending;
pub use pool::setup;
pub use run::Handler;
pub use subscription::{JobUpdate, Subscription};
pub use worker::run_worker;
