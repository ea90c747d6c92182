//! Tests of workers against a real PostgreSQL.

#![allow(clippy::unwrap_used, reason = "a test that cannot set up its stage has failed")]

mod annotations;
mod async_sample;
mod bulk_queries;
mod likelihood;
mod makeable;
mod reservoir;
mod reservoir_filter;
mod sample;
mod sample_conditions;
mod search;
mod store;
mod support;
