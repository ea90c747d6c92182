//! Commands, one per file: the arguments and the action.

pub mod account;
pub mod app;
pub mod audit_log;
pub mod backup;
pub mod batch;
pub mod catalogue;
mod destination;
pub mod doctor;
pub mod keys;
pub mod likelihoods;
pub mod login;
pub mod logout;
pub mod model;
pub mod org;
pub mod plan;
pub mod restore;
pub mod sample;
pub mod token;
pub mod top;
pub mod whoami;
