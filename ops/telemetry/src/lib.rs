//! Logs, traces and metrics, set up once for every process of the service.
//!
//! [`init`] reads the standard variables and installs the one global subscriber. [`inject`] and [`set_parent`] carry
//! a trace over a boundary that is not a function call, such as a stored job; [`send`] carries it over HTTP.

mod context;
mod endpoint;
mod format;
mod logs;
mod meter;
mod outgoing;
mod process;
mod setup;
mod statements;
mod variables;

pub use context::{inject, set_parent, surrounding};
pub use meter::meter;
pub use outgoing::send;
pub use setup::{Guard, InitError, init, init_command};
