//! The tables, one owner file each: no statement on them stands anywhere else, the operator's included. Two that belong together
//! (an account and its rations, an organisation and its members) share a file.

pub mod accounts;
pub mod applications;
pub(crate) mod browsers;
pub(crate) mod codes;
pub(crate) mod consents;
pub(crate) mod device_codes;
pub mod organisations;
pub mod rate_limits;
pub(crate) mod refresh;
pub mod revocations;
pub(crate) mod sessions;
pub mod signing_keys;
