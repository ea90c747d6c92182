//! Tests of the whole service over a real socket and a real Postgres, with workers that answer immediately.
//!
//! Files are named after HTTP paths: `generator_v1_samples.rs` tests `/generator/v1/samples`.

#![allow(clippy::unwrap_used, reason = "a test that cannot set up its stage has failed")]
#![allow(clippy::print_stderr, reason = "a database that a test leaves behind is worth a word")]

mod attacks;
mod auth_account;
mod auth_authorize;
mod auth_bearer;
mod auth_clients;
mod auth_device;
mod auth_issuers;
mod auth_keys;
mod auth_link;
mod auth_token;
mod bounds;
mod browser;
mod concurrency_limit;
mod console;
mod console_account;
mod console_files;
mod console_notebook;
mod console_parts;
mod console_plan;
mod console_plan_marks;
mod console_plan_routes;
mod console_plan_stream;
mod console_plan_work;
mod console_sample_batches;
mod docs;
mod exports;
mod frozen;
mod generator_v1_async_samples;
mod generator_v1_likelihoods;
mod generator_v1_models;
mod generator_v1_sample_batches;
mod generator_v1_sample_conditions;
mod generator_v1_samples;
mod generator_v1_samples_bad_input;
mod generator_v1_samples_pages;
mod guide;
mod hidden_offers;
mod idempotency;
mod isolation;
mod limits;
mod lists;
mod mock_bulk_query;
mod nul;
mod operations;
mod process;
mod recorded;
mod retention;
mod scopes;
mod service;
mod settings;
mod statements;
mod statuses;
mod streams;
mod support;
mod synth_batches_v1_batches;
mod synth_batches_v1_plans;
mod synth_v1_bulk_queries;
mod synth_v1_engines;
mod synth_v1_routes;
mod synth_v1_treesearch;
