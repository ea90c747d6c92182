//! Tests of whole installations: real processes, a real PostgreSQL, a real network.
//!
//! They need the workspace's release binaries in one folder, and TEST_DATABASE_URL; `./ops/test` provides both. No
//! test asserts how long something takes: time-outs are generous, and end only what would never end.

#![allow(clippy::unwrap_used, reason = "a test that cannot set up its stage has failed")]
#![allow(clippy::print_stdout, reason = "a skipped test and the logs of a failed one are worth a line")]

mod backup;
mod bulk_queries;
mod catalogue;
mod client;
mod console;
mod container;
mod contract;
mod disk;
mod faults;
mod guide;
mod imports;
mod installation;
mod keep;
mod kubernetes;
mod logs;
mod metrics;
mod models;
mod outage;
mod package;
mod pendingai;
mod planning;
mod plans;
mod pooler;
mod postgres;
mod process;
mod python_client;
mod runner;
mod sample_batches;
mod sample_conditions;
mod samples;
mod searches;
mod settings;
mod shutdown;
mod streams;
mod systemd;
mod top;
mod traces;
mod trials;
mod upgrade;
mod yaml;
