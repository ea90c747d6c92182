//! Claims of other issuers' tokens, in the shapes of Keycloak, Auth0, Entra and Okta.

use std::collections::BTreeMap;

use contract::scope;
use serde::Deserialize;

use crate::{scopes, settings::AUDIENCE};

/// The claims that are read.
#[derive(Debug, Default, Deserialize)]
pub struct ExternalClaims {
    pub sub: String,
    #[serde(default)]
    pub iat: u64,
    /// Present in ID tokens only.
    at_hash: Option<String>,
    c_hash: Option<String>,
    /// Keycloak's name for the type of a token.
    typ: Option<String>,
    email: Option<String>,
    preferred_username: Option<String>,
    name: Option<String>,
    /// Keycloak, Auth0: scopes separated by spaces.
    #[serde(default)]
    scope: ScopeWords,
    /// Entra: scopes separated by spaces; Okta: a list.
    #[serde(default)]
    scp: ScopeWords,
    /// Auth0 with role-based access control.
    #[serde(default)]
    permissions: ScopeWords,
    /// Entra's app roles.
    #[serde(default)]
    roles: ScopeWords,
    /// Keycloak's roles of the realm.
    #[serde(default)]
    realm_access: Roles,
    /// Keycloak's roles of each client.
    #[serde(default)]
    resource_access: BTreeMap<String, Roles>,
}

#[derive(Debug, Default, Deserialize)]
struct Roles {
    #[serde(default)]
    roles: ScopeWords,
}

/// Words, as one text or as a list.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum ScopeWords {
    Text(String),
    List(Vec<String>),
}

impl Default for ScopeWords {
    fn default() -> Self {
        Self::List(Vec::new())
    }
}

impl ScopeWords {
    fn has(&self, word: &str) -> bool {
        match self {
            Self::Text(text) => text.split(' ').any(|other| other == word),
            Self::List(list) => list.iter().any(|other| other == word),
        }
    }
}

impl ExternalClaims {
    /// Returns the scopes of ours that the token carries: those granted to the application and to the person alike.
    /// If the token names only one of the two sets, that one counts. Unknown words are ignored.
    pub fn scopes(&self) -> Vec<String> {
        let application = known_scopes(&[&self.scope, &self.scp]);
        let roles = self.resource_access.get(AUDIENCE).map(|access| &access.roles);
        let mut places = vec![&self.permissions, &self.roles, &self.realm_access.roles];
        places.extend(roles);
        let person = known_scopes(&places);
        match (application.is_empty(), person.is_empty()) {
            (true, _) => person,
            (_, true) => application,
            _ => scopes::narrow(&application, &person),
        }
    }

    /// Returns true if it is an ID token, which tells an application about a login and grants nothing (OpenID Connect
    /// Core, section 2).
    pub fn is_id_token(&self) -> bool {
        self.at_hash.is_some() || self.c_hash.is_some() || self.typ.as_deref() == Some("ID")
    }

    /// Returns the display name of the person.
    pub fn person(&self) -> &str {
        let names = [&self.name, &self.email, &self.preferred_username];
        names.into_iter().flatten().map(String::as_str).next().unwrap_or(&self.sub)
    }
}

/// Returns the scopes of ours in any of these claims, in the order of the contract.
fn known_scopes(places: &[&ScopeWords]) -> Vec<String> {
    let held = |name: &str| places.iter().any(|words| words.has(name));
    scope::ALL.iter().map(|(name, _)| *name).filter(|name| held(name)).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn scopes_are_found_where_each_product_puts_them() {
        let cases: [(&str, Value); 7] = [
            ("Keycloak", json!({ "scope": "openid generator_api.samples:read" })),
            (
                "Keycloak realm",
                json!({ "realm_access": { "roles": ["offline_x", "generator_api.samples:read"] } }),
            ),
            (
                "Keycloak client",
                json!({ "resource_access": {
                    "retort": { "roles": ["generator_api.samples:read"] },
                    "other": { "roles": ["generator_api.samples:delete"] },
                } }),
            ),
            ("Auth0", json!({ "scope": "", "permissions": ["generator_api.samples:read"] })),
            ("Entra", json!({ "scp": "generator_api.samples:read User.Read" })),
            ("Entra app", json!({ "roles": ["generator_api.samples:read"] })),
            ("Okta", json!({ "scp": ["generator_api.samples:read", "profile.x"] })),
        ];
        for (product, mut claims) in cases {
            claims["sub"] = json!("1");
            let claims: ExternalClaims = serde_json::from_value(claims).unwrap();

            let scopes: Vec<_> = claims.scopes().into_iter().filter(|scope| scope != "openid").collect();
            assert_eq!(scopes, ["generator_api.samples:read"], "{product}");
        }
    }

    #[test]
    fn a_scope_that_only_one_of_application_and_person_has_is_not_granted() {
        let claims = json!({ "sub": "1", "scope": "openid generator_api.samples:read generator_api.samples:create",
            "realm_access": { "roles": ["generator_api.samples:create", "generator_api.samples:delete"] } });

        let claims: ExternalClaims = serde_json::from_value(claims).unwrap();

        assert_eq!(claims.scopes(), ["generator_api.samples:create"]);
    }

    #[test]
    fn an_id_token_is_none_for_us() {
        for (claims, of_a_login) in [
            (json!({ "sub": "1", "typ": "Bearer" }), false),
            (json!({ "sub": "1", "typ": "ID" }), true),
            (json!({ "sub": "1", "at_hash": "x" }), true),
        ] {
            let claims: ExternalClaims = serde_json::from_value(claims).unwrap();

            assert_eq!(claims.is_id_token(), of_a_login);
        }
    }
}
