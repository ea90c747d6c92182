//! Checks that our own tokens and those of other issuers share. A token is only ever verified with the one algorithm
//! of its key, and refusals read the same.

use http_errors::ApiError;
use jsonwebtoken::{Algorithm, DecodingKey, Header, Validation, errors::ErrorKind};
use serde::de::DeserializeOwned;

/// Longest token that is read, in bytes; ours have well under one thousand.
pub const MAX_BYTES: usize = 8 * 1024;

/// Tolerated clock difference.
const LEEWAY_SECONDS: u64 = 60;

/// Reads the header of `token`, and refuses the token if the header already rules it out.
pub fn header(token: &str, allowed: &[Algorithm]) -> Result<Header, ApiError> {
    if token.len() > MAX_BYTES {
        return Err(ApiError::invalid_token("the access token is too long"));
    }
    let header = jsonwebtoken::decode_header(token)
        .map_err(|_| ApiError::invalid_token("the access token is malformed"))?;
    if !allowed.contains(&header.alg) {
        return Err(ApiError::invalid_token("the algorithm of the access token is not allowed"));
    }
    if header.crit.is_some() {
        // The token has a critical extension (RFC 7515, section 4.1.11).
        return Err(ApiError::invalid_token("the access token needs an extension that is not known"));
    }
    Ok(header)
}

/// Returns the id of the token's key.
pub fn kid(header: &Header) -> Result<&str, ApiError> {
    header.kid.as_deref().ok_or_else(|| ApiError::invalid_token("the access token names no key"))
}

/// Builds the validation rules for access tokens of `issuer` for one of `audiences`.
pub fn rules<A: ToString>(algorithm: Algorithm, issuer: &str, audiences: &[A]) -> Validation {
    let mut rules = Validation::new(algorithm);
    rules.set_issuer(&[issuer]);
    rules.set_audience(audiences);
    rules.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
    rules.validate_nbf = true;
    rules.leeway = LEEWAY_SECONDS;
    rules
}

/// Returns the claims of the token, if `key` signed it and it meets the rules.
pub fn claims<T>(token: &str, key: &DecodingKey, rules: &Validation) -> Result<T, ApiError>
where
    T: DeserializeOwned,
{
    let token = jsonwebtoken::decode::<T>(token, key, rules).map_err(|error| {
        ApiError::invalid_token(match error.kind() {
            ErrorKind::ExpiredSignature => "the access token expired",
            ErrorKind::ImmatureSignature => "the access token is not valid yet",
            ErrorKind::InvalidIssuer => "the access token is from another issuer",
            ErrorKind::InvalidAudience => "the access token is for another audience",
            ErrorKind::InvalidSignature => "the signature of the access token is wrong",
            ErrorKind::MissingRequiredClaim(_) => "the access token lacks a claim",
            _ => "the access token is malformed",
        })
    })?;
    Ok(token.claims)
}
