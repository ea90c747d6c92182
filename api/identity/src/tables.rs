//! Tables, with one owning file each: no other code writes them, the operator's commands included. Reads between them
//! are listed in `ops/repository/tests/repository/tables.rs`. An account and its quotas share a file.

pub mod accounts;
pub mod applications;
pub mod audit_log;
pub(crate) mod browsers;
pub(crate) mod codes;
pub(crate) mod consents;
pub(crate) mod device_codes;
pub(crate) mod login_links;
pub mod organisations;
pub mod rate_limits;
pub(crate) mod refresh_tokens;
pub mod revocations;
pub mod script_tokens;
pub(crate) mod sessions;
pub mod signing_keys;
