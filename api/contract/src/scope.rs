//! The scopes that an access token can carry.

/// Read samples.
pub const SAMPLES_READ: &str = "generator_api.samples:read";
/// Create samples.
pub const SAMPLES_CREATE: &str = "generator_api.samples:create";
/// Delete samples.
pub const SAMPLES_DELETE: &str = "generator_api.samples:delete";
/// Read models.
pub const MODELS_READ: &str = "generator_api.models:read";
/// Sign in with OpenID Connect.
pub const OPENID: &str = "openid";
/// Read the account's name.
pub const PROFILE: &str = "profile";
/// Read the account's address.
pub const EMAIL: &str = "email";
/// Ask for a refresh token.
pub const OFFLINE_ACCESS: &str = "offline_access";

/// See and change what the installation does: for operators.
pub const OPERATIONS: &str = "operations";

/// Every scope with its meaning, in the order of the contract.
pub const ALL: [(&str, &str); 13] = [
    (SAMPLES_CREATE, "Create samples"),
    (SAMPLES_READ, "Read samples"),
    ("generator_api.samples:update", "Update samples"),
    (SAMPLES_DELETE, "Delete samples"),
    ("generator_api.models:create", "Create models"),
    (MODELS_READ, "Read models"),
    ("generator_api.models:update", "Update models"),
    ("generator_api.models:delete", "Delete models"),
    (EMAIL, "Access to the user's email address"),
    (PROFILE, "Access to basic profile information"),
    (OPENID, "Required for OpenID Connect sign-in"),
    (OFFLINE_ACCESS, "Request a refresh token"),
    (OPERATIONS, "See and change what the installation does: queues, jobs, workers"),
];

/// What a new account may use: everything but what is for operators.
pub fn ordinary() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|(name, _)| *name).filter(|name| *name != OPERATIONS)
}
