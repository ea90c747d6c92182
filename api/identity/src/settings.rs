//! Operator's settings of identity.

use std::{num::NonZeroUsize, str::FromStr, time::Duration};

use crate::{network::IpNetwork, tokens::seal::SealingKey};

/// The audience of access tokens.
pub const AUDIENCE: &str = "retort";

/// Settings of the authorization server and of token verification.
#[derive(Debug, Clone)]
pub struct IdentitySettings {
    /// `PUBLIC_URL`: scheme, host and port of the service for callers, in the form of a browser's origin.
    pub public_url: String,
    /// `ACCESS_TOKEN_SECONDS`, default 3600.
    pub access_token_lifetime: Duration,
    /// `REFRESH_TOKEN_SECONDS`, default 30 days; each use starts it again.
    pub refresh_token_lifetime: Duration,
    /// `AUTH_SESSION_SECONDS`, default 12 hours: lifetime of a login in a browser.
    pub session_lifetime: Duration,
    /// `KEYS_SECRET`: encrypts the keys that sign tokens; 32 bytes in Base64, unset by default.
    pub keys_secret: Option<SealingKey>,
    /// `AUTH_ISSUER`: other issuers whose tokens are accepted, separated by commas; none by default.
    pub issuers: Vec<String>,
    /// `AUTH_AUDIENCE`, default `retort`: accepted audiences of their tokens, of which each must name one.
    pub audiences: Vec<String>,
    /// `TRUSTED_PROXIES`: addresses and ranges whose `X-Forwarded-For` is trusted; none by default.
    pub trusted_proxies: Vec<IpNetwork>,
    /// `RATE_LOGIN_PER_MINUTE`, default 20: login attempts per account and address; ten times as many per account,
    /// three times as many per address. 0: no limit.
    pub logins_per_minute: u32,
    /// `AUTH_IMPLICIT`, default `on`: permission for `/auth/authorize` to return access tokens in redirects.
    pub implicit_flow: Switch,
    /// `AUTH_PASSWORD_GRANT`, default `off`: permission for `retort login` to send a password (OAuth 2.1 has no such
    /// grant).
    pub password_grant: Switch,
    /// `RETORT_THREADS`: threads of the process; half of them may check passwords at a time.
    pub threads: NonZeroUsize,
}

/// State of an optional feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Switch {
    /// The feature is enabled.
    On,
    /// The feature is disabled.
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

/// Transport between browsers and the service. Over TLS, the cookie names tell the browser to accept them from this
/// host only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// Over TLS.
    Tls,
    /// Without TLS.
    Plain,
}

impl IdentitySettings {
    /// Returns the `iss` of our access tokens, which is also the address of the authorization server.
    #[must_use]
    pub fn issuer(&self) -> String {
        format!("{}/auth", self.public_url)
    }

    /// Returns the transport between browsers and the service.
    #[must_use]
    pub fn transport(&self) -> Transport {
        if self.public_url.starts_with("https://") { Transport::Tls } else { Transport::Plain }
    }
}
