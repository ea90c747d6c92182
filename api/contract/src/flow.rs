//! OAuth flows of registered applications.

use std::{fmt, str::FromStr};

/// An OAuth flow, as written by the `applications` table and `retort app add --flows`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Flow {
    /// Authorization code with PKCE (RFC 6749, section 4.1; RFC 7636).
    Code,
    /// Implicit (RFC 6749, section 4.2; OpenID Connect Core, section 3.2).
    Implicit,
    /// Device code (RFC 8628).
    Device,
    /// Password (RFC 6749, section 4.3): only for the command line's own client.
    Password,
}

impl Flow {
    /// Every flow.
    pub const ALL: [Self; 4] = [Self::Code, Self::Implicit, Self::Device, Self::Password];

    /// Returns the name of the flow.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Implicit => "implicit",
            Self::Device => "device",
            Self::Password => "password",
        }
    }
}

impl fmt::Display for Flow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Error for a text that names no flow.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no flow `{text}`; there are code, implicit, device and password")]
pub struct FlowError {
    /// The text that was parsed.
    pub text: String,
}

impl FromStr for Flow {
    type Err = FlowError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|flow| flow.as_str() == text)
            .ok_or_else(|| FlowError { text: text.to_owned() })
    }
}
