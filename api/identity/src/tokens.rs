//! Proofs of identity: our own tokens and keys, other issuers' tokens, passwords.

pub(crate) mod issuers;
pub(crate) mod jwt;
pub(crate) mod key;
pub(crate) mod keys;
pub(crate) mod mint;
pub mod passwords;
pub(crate) mod seal;
