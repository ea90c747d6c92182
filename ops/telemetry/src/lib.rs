//! Logs, traces and metrics, set up once for every process of the service.
//!
//! [`init`] reads the standard variables and installs the one global subscriber. [`inject`] and
//! [`set_parent`] carry a trace over a boundary that is not a function call, such as a stored job.

mod context;
mod endpoint;
mod format;
mod logs;
mod meter;
mod process;
mod setup;
mod statements;
mod variables;

pub use context::{inject, set_parent};
pub use meter::meter;
pub use setup::{Guard, InitError, init};
