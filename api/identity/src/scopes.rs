//! Sets of scopes.

use contract::scope;

/// Parses the scopes in `text`, each once, in their order (RFC 6749, section 3.3).
pub fn parse(text: &str) -> Vec<String> {
    let mut scopes: Vec<String> = Vec::new();
    for scope in text.split(' ').filter(|scope| !scope.is_empty()) {
        if !scopes.iter().any(|other| other == scope) {
            scopes.push(scope.to_owned());
        }
    }
    scopes
}

/// Returns true if `scope` is among `scopes`.
pub fn has(scopes: &[String], scope: &str) -> bool {
    scopes.iter().any(|other| other == scope)
}

/// Returns true if all of `required` are among `held`.
pub fn covers(held: &[String], required: &[String]) -> bool {
    required.iter().all(|scope| has(held, scope))
}

/// Returns the scopes in `required` that are among `held`, in the order of `required`.
pub fn narrow(required: &[String], held: &[String]) -> Vec<String> {
    required.iter().filter(|scope| has(held, scope)).cloned().collect()
}

/// Returns the default scopes of an application that requests none: all of its scopes for the service's own
/// operations, but none about the person, and no refresh token.
pub fn default_scopes(held: &[String]) -> Vec<String> {
    let personal = [scope::OPENID, scope::PROFILE, scope::EMAIL, scope::OFFLINE_ACCESS];
    held.iter().filter(|scope| !personal.contains(&scope.as_str())).cloned().collect()
}

/// Returns the meaning of the scope, for the consent page.
pub fn meaning(scope: &str) -> &str {
    scope::ALL.iter().find(|(name, _)| *name == scope).map_or(scope, |(_, meaning)| meaning)
}
