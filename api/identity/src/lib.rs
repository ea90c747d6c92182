//! Authentication and authorization: accounts, organisations, applications, sessions, codes, tokens, keys, consents,
//! other issuers, revocations and throttles, with their tables and the authorization server over them.
//!
//! [`Identity`] is the state. [`Identity::caller`] returns the account of a request's token; [`pages`] and
//! [`endpoints`] are the authorization server's routes. The operator's commands call the functions of [`tables`] on a
//! connection of their own, in the transaction that also writes the audit log.

// No input from outside may cause a panic or be silently turned into another number.
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

mod changes;
mod error;
mod form;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
mod http;
mod identity;
mod network;
mod scopes;
mod secrets;
mod settings;
mod sweep;
pub mod tables;
mod throttle;
mod tokens;

pub use http::{endpoints, pages};
pub use identity::{AuthenticatedCaller, Identity, IdentityStartError};
pub use network::IpNetwork;
pub use settings::{IdentitySettings, Switch, Transport};
pub use sweep::sweep;
pub use tables::{
    accounts::AccountQuotas,
    rate_limits::{BURST, Buckets, TakeResult},
    revocations::MAX_TOKEN_LIFETIME as LONGEST_ACCESS_TOKEN,
};
pub use tokens::{
    keys::KeysError,
    passwords::hash as hash_password,
    seal::{InvalidSealingKey, OpenError, SealingKey},
};
