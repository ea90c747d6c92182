//! The scopes that an access token can carry.

/// Read samples.
pub const SAMPLES_READ: &str = "generator_api.samples:read";
/// Create samples.
pub const SAMPLES_CREATE: &str = "generator_api.samples:create";
/// Delete samples.
pub const SAMPLES_DELETE: &str = "generator_api.samples:delete";
/// Read models.
pub const MODELS_READ: &str = "generator_api.models:read";
/// Read plans, their batches, and the engines that serve them.
pub const PLANS_READ: &str = "synth_api.plans:read";
/// Create plans and batches; resume a batch.
pub const PLANS_CREATE: &str = "synth_api.plans:create";
/// Cancel and delete plans and batches.
pub const PLANS_DELETE: &str = "synth_api.plans:delete";
/// Read kept routes.
pub const ROUTES_READ: &str = "synth_api.routes:read";
/// Keep routes.
pub const ROUTES_CREATE: &str = "synth_api.routes:create";
/// Change kept routes.
pub const ROUTES_UPDATE: &str = "synth_api.routes:update";
/// Delete kept routes.
pub const ROUTES_DELETE: &str = "synth_api.routes:delete";
/// Send bulk queries.
pub const QUERIES_CREATE: &str = "synth_api.queries:create";
/// Sign in with OpenID Connect.
pub const OPENID: &str = "openid";
/// Read the account's name.
pub const PROFILE: &str = "profile";
/// Read the account's address.
pub const EMAIL: &str = "email";
/// Ask for a refresh token.
pub const OFFLINE_ACCESS: &str = "offline_access";

/// See and control what the installation does: for operators.
pub const OPERATIONS: &str = "operations";

/// Every scope with its meaning: those of the contract in its order, with ours inserted.
pub const ALL: [(&str, &str); 21] = [
    (SAMPLES_CREATE, "Create samples"),
    (SAMPLES_READ, "Read samples"),
    ("generator_api.samples:update", "Update samples"),
    (SAMPLES_DELETE, "Delete samples"),
    ("generator_api.models:create", "Create models"),
    (MODELS_READ, "Read models"),
    ("generator_api.models:update", "Update models"),
    ("generator_api.models:delete", "Delete models"),
    (PLANS_CREATE, "Create plans and batches"),
    (PLANS_READ, "Read plans and batches"),
    (PLANS_DELETE, "Cancel and delete plans and batches"),
    (ROUTES_CREATE, "Keep routes"),
    (ROUTES_READ, "Read kept routes"),
    (ROUTES_UPDATE, "Change kept routes"),
    (ROUTES_DELETE, "Delete kept routes"),
    (QUERIES_CREATE, "Send bulk queries about molecules and the catalogue"),
    (EMAIL, "Access to the user's email address"),
    (PROFILE, "Access to basic profile information"),
    (OPENID, "Required for OpenID Connect sign-in"),
    (OFFLINE_ACCESS, "Request a refresh token"),
    (OPERATIONS, "See and change what the installation does: queues, jobs, workers"),
];

/// Scopes that a new account gets: all but those for operators.
pub fn ordinary() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|(name, _)| *name).filter(|name| *name != OPERATIONS)
}
