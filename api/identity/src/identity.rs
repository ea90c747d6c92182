//! State of identity, and the authentication of requests.

use std::{sync::Arc, time::Duration};

use axum::http::{HeaderMap, header};
use chrono::{DateTime, Utc};
use database::{Background, Database};
use http_errors::{ApiError, Challenge};
use sqlx::PgPool;

use crate::{
    changes, scopes,
    settings::IdentitySettings,
    sweep,
    tables::{
        accounts::{Account, AccountQuotas, AccountState, Accounts, NO_PASSWORD},
        revocations::Revocations,
        script_tokens::ScriptTokens,
    },
    throttle::LoginRateLimiter,
    tokens::{
        issuers::{ExternalSubject, Issuers},
        keys::{AccessTokenClaims, Keys, KeysError},
        passwords::PasswordChecker,
    },
};

/// State for authenticating callers and for the authorization server.
pub struct Identity {
    pub(crate) settings: IdentitySettings,
    pub(crate) request_time: Duration,
    pub(crate) pool: PgPool,
    pub(crate) keys: Keys,
    pub(crate) issuers: Issuers,
    pub(crate) accounts: Arc<Accounts>,
    pub(crate) passwords: PasswordChecker,
    pub(crate) revocations: Arc<Revocations>,
    pub(crate) script_tokens: Arc<ScriptTokens>,
    pub(crate) throttle: LoginRateLimiter,
    _background: [Background; 2],
}

/// Error of starting identity.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IdentityStartError {
    /// The signing keys could not be read or created.
    #[error(transparent)]
    Keys(#[from] KeysError),
    /// The data needed to recognise script tokens could not be read.
    #[error("the mark of tokens for scripts cannot be read")]
    Database(#[from] sqlx::Error),
    /// The HTTP client for other issuers could not be built.
    #[error("the HTTP client for other issuers cannot be made")]
    Http(#[from] reqwest::Error),
}

/// An account with a token that is valid now.
#[derive(Debug, Clone)]
pub struct AuthenticatedCaller {
    /// The account.
    pub account_id: String,
    /// Rate limits and quotas of its own.
    pub quotas: AccountQuotas,
    verified: AccessTokenClaims,
}

impl AuthenticatedCaller {
    /// Returns true if the token allows `scope`.
    #[must_use]
    pub fn may(&self, scope: &str) -> bool {
        self.verified.scope.split(' ').any(|held| held == scope)
    }
}

impl Identity {
    /// Builds the state over a migrated database; its routes answer within `request_time`.
    ///
    /// # Errors
    /// Fails when the signing keys cannot be read.
    pub async fn new(
        settings: IdentitySettings,
        request_time: Duration,
        database: Database,
    ) -> Result<Arc<Self>, IdentityStartError> {
        let pool = database.pool.clone();
        let accounts = Arc::new(Accounts::new(pool.clone()));
        let revocations = Arc::new(Revocations::new(pool.clone()));
        let keys = Keys::load(pool.clone(), &settings.issuer(), settings.keys_secret.clone()).await?;
        let script_tokens = Arc::new(ScriptTokens::load(pool.clone()).await?);
        let memory = (accounts.clone(), revocations.clone(), script_tokens.clone());
        let forgetting = changes::subscribe(&database, move |what| {
            invalidate_caches((&memory.0, &memory.1, &memory.2), what)
        });
        Ok(Arc::new(Self {
            keys,
            issuers: Issuers::new(&settings.issuers, &settings.audiences)?,
            accounts,
            passwords: PasswordChecker::new(settings.threads),
            revocations,
            script_tokens,
            throttle: LoginRateLimiter::new(pool.clone(), settings.logins_per_minute),
            settings,
            request_time,
            _background: [forgetting, sweep::spawn_periodic(&pool)],
            pool,
        }))
    }

    /// Authenticates the caller by these headers.
    ///
    /// # Errors
    /// Reports the fault of the token, or that authentication is unavailable at the moment.
    pub async fn caller(&self, headers: &HeaderMap) -> Result<AuthenticatedCaller, ApiError> {
        let (verified, state) = self.identify(headers).await?;
        Ok(AuthenticatedCaller { account_id: verified.sub.clone(), quotas: state.quotas, verified })
    }

    /// Checks again that the account and the login of a caller are still valid, for a long-lived answer. The token
    /// may have expired meanwhile.
    ///
    /// # Errors
    /// Reports what has ended, or that the check is unavailable at the moment.
    pub async fn recheck(&self, known: &AuthenticatedCaller) -> Result<AuthenticatedCaller, ApiError> {
        let mut verified = known.verified.clone();
        let state = self.check_account_state(&mut verified).await?;
        Ok(AuthenticatedCaller { account_id: verified.sub.clone(), quotas: state.quotas, verified })
    }

    /// Returns each other issuer with its state, for people.
    pub async fn issuer_states(&self) -> Vec<(String, String)> {
        self.issuers.states().await
    }

    /// Returns the claims of the request's token, if it is valid now.
    pub(crate) async fn identify(
        &self,
        headers: &HeaderMap,
    ) -> Result<(AccessTokenClaims, AccountState), ApiError> {
        let token = bearer(headers)?;
        if let Some(external_subject) = self.issuers.verify(token).await? {
            return self.admit_external(external_subject).await;
        }
        let mut verified = self.verify(token).await?;
        let state = self.check_account_state(&mut verified).await?;
        Ok((verified, state))
    }

    /// Verifies one of our tokens, without a check of its account.
    pub(crate) async fn verify(&self, token: &str) -> Result<AccessTokenClaims, ApiError> {
        match self.script_tokens.verify(token).await? {
            Some(verified) => Ok(verified),
            None => self.keys.verify(token).await,
        }
    }

    /// Admits the account of a person from another issuer, which is created at the first token.
    async fn admit_external(
        &self,
        external_subject: ExternalSubject,
    ) -> Result<(AccessTokenClaims, AccountState), ApiError> {
        let ExternalSubject { account_id, name, scopes, issued_at } = external_subject;
        if self.accounts.state(&account_id).await?.is_none() {
            self.accounts.record_login(&account_id, &name).await?;
        }
        let mut verified = AccessTokenClaims {
            sub: account_id,
            scope: scopes.join(" "),
            iat: issued_at,
            ..AccessTokenClaims::default()
        };
        let state = self.check_account_state(&mut verified).await?;
        Ok((verified, state))
    }

    /// Narrows the token to its account's current scopes, and rejects it if it was ended early.
    pub(crate) async fn check_account_state(
        &self,
        verified: &mut AccessTokenClaims,
    ) -> Result<AccountState, ApiError> {
        let state = self.accounts.state(&verified.sub).await?;
        let state = state.ok_or_else(|| ApiError::invalid_token("the account is unknown or disabled"))?;
        let revoked = [verified.family.as_str(), &verified.client_id, &verified.jti];
        if verified.login_micros() < state.tokens_from || self.revocations.contain(revoked).await? {
            return Err(ApiError::invalid_token("the access token was revoked"));
        }
        verified.scope = scopes::narrow(&scopes::parse(&verified.scope), &state.scopes).join(" ");
        Ok(state)
    }

    /// Returns the account of `email`, if the password is right and the account not disabled. Neither the answer nor
    /// its timing reveals what was wrong.
    pub(crate) async fn authenticate(
        &self,
        email: &str,
        password: &str,
    ) -> Result<Option<AuthenticatedLogin>, ApiError> {
        let (account, at) = self.accounts.find_by_email(email).await?;
        let hash = account.as_ref().map(|account| account.password_hash.clone());
        let hash = hash.filter(|hash| hash != NO_PASSWORD);
        let right = self.passwords.check(password.to_owned(), hash).await?;
        let id = account.as_ref().map(|account| account.id.clone());
        let account = account.filter(|account| right && account.active);
        match &account {
            Some(account) => {
                tracing::info!(target: "audit", { account.id = account.id }, "a person logged in")
            }
            // The address is not logged: people type their passwords into the wrong field.
            None => tracing::warn!(target: "audit", { account.id = id }, "a login failed"),
        }
        Ok(account.map(|account| AuthenticatedLogin { account, at }))
    }
}

/// Drops the cache entries that `what` names; `None` is everything.
fn invalidate_caches(
    (accounts, revocations, script_tokens): (&Accounts, &Revocations, &ScriptTokens),
    what: Option<&str>,
) {
    match what {
        Some(changes::REVOCATIONS) => revocations.forget(),
        Some(account_id) => {
            accounts.forget(Some(account_id));
            script_tokens.forget();
        }
        None => {
            revocations.forget();
            accounts.forget(None);
            script_tokens.forget();
        }
    }
}

/// Account that has just authenticated with its password.
#[derive(Debug)]
pub(crate) struct AuthenticatedLogin {
    pub account: Account,
    /// Time at which the account and its password hash were read, by the database's clock.
    pub at: DateTime<Utc>,
}

pub(crate) fn bearer(headers: &HeaderMap) -> Result<&str, ApiError> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let value = match (values.next(), values.next()) {
        (None, _) => return Err(ApiError::Unauthorized(Challenge::NoToken)),
        (Some(value), None) => value,
        (Some(_), Some(_)) => return Err(ApiError::invalid_token("more than one authorization header")),
    };
    let text =
        value.to_str().map_err(|_| ApiError::invalid_token("the authorization header is not ASCII"))?;
    match text.split_once(' ') {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") && !token.trim().is_empty() => {
            Ok(token.trim())
        }
        _ if text.trim().eq_ignore_ascii_case("bearer") => {
            Err(ApiError::invalid_token("the access token is missing"))
        }
        // Another scheme is not an attempt to use a bearer token.
        _ => Err(ApiError::Unauthorized(Challenge::NoToken)),
    }
}
