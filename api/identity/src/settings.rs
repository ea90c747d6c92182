//! What an operator sets of identity.

use std::{num::NonZeroUsize, str::FromStr, time::Duration};

use crate::{network::Network, tokens::seal::Secret};

/// The audience of access tokens.
pub const AUDIENCE: &str = "retort";

/// Settings of the authorization server and of what checks tokens.
#[derive(Debug, Clone)]
pub struct Settings {
    /// `PUBLIC_URL`: scheme, host and port at which callers find the service, as browsers name an origin.
    pub public_url: String,
    /// `ACCESS_TOKEN_SECONDS`, default 3600.
    pub access_token_lifetime: Duration,
    /// `REFRESH_TOKEN_SECONDS`, default 30 days; each use starts it again.
    pub refresh_token_lifetime: Duration,
    /// `AUTH_SESSION_SECONDS`, default 12 hours: how long a login in a browser lasts.
    pub session_lifetime: Duration,
    /// `KEYS_SECRET`: seals the keys that sign tokens; 32 bytes in Base64, unset by default.
    pub keys_secret: Option<Secret>,
    /// `AUTH_ISSUER`: other issuers whose tokens count, separated by commas; none by default.
    pub issuers: Vec<String>,
    /// `AUTH_AUDIENCE`, default `retort`: for whom their tokens have to be; one of these.
    pub audiences: Vec<String>,
    /// `TRUSTED_PROXIES`: addresses and ranges whose `X-Forwarded-For` is believed; none by default.
    pub trusted_proxies: Vec<Network>,
    /// `RATE_LOGIN_PER_MINUTE`, default 20: attempts on one account; an address may make three times as many. 0: no limit.
    pub logins_per_minute: u32,
    /// `AUTH_IMPLICIT`, default `on`: whether `/auth/authorize` gives access tokens in redirects.
    pub implicit_flow: Switch,
    /// `AUTH_PASSWORD_GRANT`, default `off`: whether `retort login` may send a password (OAuth 2.1 has no such grant).
    pub password_grant: Switch,
    /// `RETORT_THREADS`: the process's; half of them may check passwords at a time.
    pub threads: NonZeroUsize,
}

/// Whether something is offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Switch {
    /// It is.
    On,
    /// It is not.
    Off,
}

impl FromStr for Switch {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "on" => Ok(Self::On),
            "off" => Ok(Self::Off),
            _ => Err("want `on` or `off`"),
        }
    }
}

/// How browsers reach us. Over TLS the names of cookies tell the browser to take them from this very host alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// Over TLS.
    Tls,
    /// In the clear.
    Plain,
}

impl Settings {
    /// The `iss` of our access tokens and the address of the authorization server.
    #[must_use]
    pub fn issuer(&self) -> String {
        format!("{}/auth", self.public_url)
    }

    /// How browsers reach us.
    #[must_use]
    pub fn transport(&self) -> Transport {
        if self.public_url.starts_with("https://") { Transport::Tls } else { Transport::Plain }
    }
}
