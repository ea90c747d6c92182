//! Applications that may request tokens; operators register them.
//!
//! A redirect address is valid only if it equals a registered one byte for byte. The one exception is the port of a
//! loopback address, which a program on the person's machine cannot choose beforehand (RFC 8252, section 7.3).
//! Nothing is parsed, so no two parsers can disagree. A path stands for the service's own page at it; only migrations
//! register those.

use contract::Flow;
use sqlx::{PgConnection, PgPool};

use crate::tables::{refresh_tokens, revocations};

/// A registered application.
#[derive(Debug, Clone)]
pub struct Application {
    /// Public client id.
    pub client_id: String,
    /// Display name.
    pub name: String,
    /// SHA-256 of the secret, if it has one.
    pub secret_hash: Option<Vec<u8>>,
    /// Allowed redirect addresses of answers.
    pub redirect_uris: Vec<String>,
    /// Allowed redirect addresses after a logout.
    pub logout_uris: Vec<String>,
    /// OAuth flows that it may use.
    pub flows: Vec<String>,
    /// Maximum scopes of its tokens.
    pub scopes: Vec<String>,
}

/// Client type: confidential or public, as defined by RFC 6749, section 2.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientType {
    /// The application cannot keep a secret.
    Public,
    /// The application can keep a secret.
    Confidential,
}

impl Application {
    /// Returns the client type.
    #[must_use]
    pub fn kind(&self) -> ClientType {
        if self.secret_hash.is_some() { ClientType::Confidential } else { ClientType::Public }
    }

    pub(crate) fn allows(&self, flow: Flow) -> bool {
        self.flows.iter().any(|allowed| allowed == flow.as_str())
    }

    /// Returns true if answers may be sent to `address`, for a service at `public_url`.
    pub(crate) fn allows_redirect_to(&self, address: &str, public_url: &str) -> bool {
        self.redirect_uris.iter().any(|registered| match is_own(registered) {
            true => address.strip_prefix(public_url) == Some(registered),
            false => is_same_address(registered, address),
        })
    }

    /// Returns true if it is a page of the service itself. Such a page needs no consent: a person who logs in there
    /// has seen whose page it is.
    pub(crate) fn is_own(&self) -> bool {
        self.redirect_uris.iter().any(|registered| is_own(registered))
    }

    /// Returns true if a browser may be sent to `address` after a logout.
    pub(crate) fn allows_logout_redirect_to(&self, address: &str) -> bool {
        self.logout_uris.iter().any(|registered| registered == address)
    }

    /// Returns true if only this application can receive an answer at `address`: then a person who agreed once need
    /// not be asked again. Any program can listen on a loopback port or claim a scheme.
    pub(crate) fn is_exclusive_at(&self, address: &str) -> bool {
        self.kind() == ClientType::Confidential || address.starts_with("https://")
    }
}

pub(crate) async fn find(pool: &PgPool, client_id: &str) -> Result<Option<Application>, sqlx::Error> {
    sqlx::query_as!(
        Application,
        "select client_id, name, secret_hash, redirect_uris, logout_uris, flows, scopes \
         from applications where client_id = $1",
        client_id
    )
    .fetch_optional(pool)
    .await
}

/// Registers an application.
///
/// # Errors
/// Fails when the database does, like everything here.
pub async fn add(connection: &mut PgConnection, application: &Application) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "insert into applications (client_id, name, secret_hash, redirect_uris, logout_uris, flows, scopes) \
         values ($1, $2, $3, $4, $5, $6, $7)",
        &application.client_id,
        &application.name,
        application.secret_hash.as_deref(),
        &application.redirect_uris,
        &application.logout_uris,
        &application.flows,
        &application.scopes
    )
    .execute(connection)
    .await
    .map(drop)
}

/// Lists all applications, the oldest first.
pub async fn list(connection: &mut PgConnection) -> Result<Vec<Application>, sqlx::Error> {
    sqlx::query_as!(
        Application,
        "select client_id, name, secret_hash, redirect_uris, logout_uris, flows, scopes \
         from applications order by created_at, client_id"
    )
    .fetch_all(connection)
    .await
}

/// Removes the application with its codes, consents and refresh tokens, revokes its access tokens, and returns its name; `None` if
/// there is none.
pub async fn remove(connection: &mut PgConnection, client_id: &str) -> Result<Option<String>, sqlx::Error> {
    let removed: Option<String> =
        sqlx::query_scalar!("delete from applications where client_id = $1 returning name", client_id)
            .fetch_optional(&mut *connection)
            .await?;
    if removed.is_some() {
        refresh_tokens::end_application(connection, client_id).await?;
        revocations::add(connection, client_id).await?;
    }
    Ok(removed)
}

/// Returns true if the address is one of the service's own: a path, which operators cannot register.
fn is_own(registered: &str) -> bool {
    registered.starts_with('/')
}

fn is_same_address(registered: &str, address: &str) -> bool {
    registered == address
        || ["http://127.0.0.1", "http://[::1]"].iter().any(|host| {
            let path = registered.strip_prefix(host).filter(|path| path.starts_with('/'));
            path.is_some() && address.strip_prefix(host).and_then(after_port) == path
        })
}

/// Returns the rest after `:PORT`.
fn after_port(text: &str) -> Option<&str> {
    let text = text.strip_prefix(':')?;
    let path = text.find('/')?;
    let (port, path) = text.split_at(path);
    let is_port = port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok();
    is_port.then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_of_the_service_is_found_where_the_service_is() {
        let application = |redirect: &str| Application {
            client_id: "console".to_owned(),
            name: String::new(),
            secret_hash: None,
            redirect_uris: vec![redirect.to_owned()],
            logout_uris: Vec::new(),
            flows: Vec::new(),
            scopes: Vec::new(),
        };
        let (page, other) = (application("/console/operations"), application("https://app.test/cb"));

        for (address, leads_there) in [
            ("https://retort.test/console/operations", true),
            ("https://retort.test/console/operations?x=1", false),
            ("https://retort.test.evil.test/console/operations", false),
            ("https://retort.test:8443/console/operations", false),
            ("/console/operations", false),
            ("https://evil.test/console/operations", false),
        ] {
            assert_eq!(page.allows_redirect_to(address, "https://retort.test"), leads_there, "{address}");
        }
        assert!(page.is_own() && !other.is_own());
        assert!(!other.allows_redirect_to("https://app.test/cb/cb", "https://app.test/cb"));
    }

    #[test]
    fn an_address_is_the_registered_one_or_another_port_of_loopback() {
        let cases = [
            ("https://app.test/cb", "https://app.test/cb", true),
            ("https://app.test/cb", "https://app.test/cb/", false),
            ("https://app.test/cb", "https://app.test/CB", false),
            ("https://app.test/cb", "https://app.test:443/cb", false),
            ("https://app.test/cb", "https://app.test/cb?x=1", false),
            ("http://127.0.0.1/cb", "http://127.0.0.1:49152/cb", true),
            ("http://[::1]/cb", "http://[::1]:49152/cb", true),
            ("http://127.0.0.1/cb", "http://127.0.0.1:/cb", false),
            ("http://127.0.0.1/cb", "http://127.0.0.1:80@evil.test/cb", false),
            ("http://127.0.0.1/cb", "http://127.0.0.1.evil.test/cb", false),
            ("http://127.0.0.1/cb", "http://127.0.0.1:99999/cb", false),
            ("http://127.0.0.1/cb", "https://127.0.0.1:49152/cb", false),
            ("http://127.0.0.1:80/cb", "http://127.0.0.1:81/cb", false),
            ("http://localhost/cb", "http://localhost:81/cb", false),
        ];
        for (registered, address, same) in cases {
            assert_eq!(is_same_address(registered, address), same, "{registered} {address}");
        }
    }
}
