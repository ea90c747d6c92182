//! HTTP client of the command line: logins, refreshes, and calls with a bearer token.
//!
//! An access token is renewed a minute before it expires, and once more if the service refuses it. The refresh holds
//! a file lock, because a refresh token works once.

mod login;

use std::{env, time::Duration};

use chrono::{TimeDelta, Utc};
use reqwest::{
    Method, RequestBuilder, Response, StatusCode,
    header::{self, HeaderMap, HeaderValue},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use ulid::Ulid;

use crate::{
    data_folder::{Credentials, DataFolder},
    failure::Failure,
};

/// Client id of this program at the authorization server.
pub const CLIENT_ID: &str = "retort-cli";

/// Remaining lifetime below which an access token is renewed before use.
const RENEW_BEFORE: TimeDelta = TimeDelta::seconds(60);

/// Timeout of short calls: logins and health.
const SHORT_TIMEOUT: Duration = Duration::from_secs(20);

/// Environment variable with a token for scripts, which takes precedence over the stored login.
const TOKEN_VARIABLE: &str = "RETORT_TOKEN";

/// Media types of answers: JSON, with results of plans in the tree search's own shape (`contract::NATIVE_RESULT`).
const ACCEPT: &str = "application/vnd.retort.treesearch+json, application/json";

/// A service, and the data folder that stores its login.
#[derive(Clone)]
pub struct Service {
    base: String,
    token: Option<String>,
    data: DataFolder,
    http: reqwest::Client,
}

/// Success response of `/auth/token` (RFC 6749, section 5.1).
#[derive(Debug, Deserialize)]
struct TokenAnswer {
    access_token: String,
    expires_in: i64,
    refresh_token: Option<String>,
}

/// Error response of `/auth/token` (RFC 6749, section 5.2).
#[derive(Debug, Deserialize)]
struct TokenFailure {
    error: String,
    error_description: Option<String>,
}

impl From<TokenFailure> for Failure {
    fn from(TokenFailure { error, error_description }: TokenFailure) -> Self {
        Self::Refused(format!("login refused: {}", error_description.unwrap_or(error)))
    }
}

/// Error body of the contract, with its reasons.
#[derive(Debug, Deserialize)]
struct RefusalBody {
    detail: Vec<ErrorDetail>,
}

/// One reason.
#[derive(Debug, Deserialize)]
struct ErrorDetail {
    loc: Vec<serde_json::Value>,
    msg: String,
}

impl Service {
    /// Creates a client for the service at `api`, or at the address in the data folder.
    pub fn new(data: DataFolder, api: Option<&str>) -> Result<Self, Failure> {
        let base = data.api(api)?;
        // With this header the service answers in JSON, whatever a proxy adds about encodings, and plans' results have
        // the tree search's own shape.
        let json = HeaderMap::from_iter([(header::ACCEPT, HeaderValue::from_static(ACCEPT))]);
        let mut builder = reqwest::Client::builder()
            .user_agent(concat!("retort/", env!("CARGO_PKG_VERSION")))
            .default_headers(json);
        if is_loopback(&base) {
            // A proxy cannot reach a service on this machine.
            builder = builder.no_proxy();
        }
        let http = builder.build().map_err(|error| Failure::http(&base, &error))?;
        let token = env::var(TOKEN_VARIABLE)
            .ok()
            .map(|token| token.trim().to_owned())
            .filter(|token| !token.is_empty());
        Ok(Self { base, token, data, http })
    }

    /// Returns the service's address.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// Logs in and stores the credentials.
    pub async fn login(&self, email: &str, password: &str) -> Result<(), Failure> {
        let form = [
            ("grant_type", "password"),
            ("client_id", CLIENT_ID),
            ("username", email),
            ("password", password),
        ];
        let answer = match self.request_token(&form).await? {
            Err(refused) if refused.error == "unsupported_grant_type" => {
                return Err(Failure::Refused(
                    "this service takes passwords in the browser alone: run `retort login`, `retort login --no-browser`, or on \
                     the machine of its database `retort account login EMAIL`"
                        .into(),
                ));
            }
            answer => answer?,
        };
        let _lock = self.data.lock_credentials()?;
        self.data.store_credentials(&self.credentials(email.to_owned(), answer, None))
    }

    /// Returns a valid access token; renews it silently if it is about to expire.
    pub async fn access_token(&self) -> Result<String, Failure> {
        self.access_token_other_than(None).await
    }

    /// Posts `body` as JSON to `path` and reads the JSON answer.
    pub async fn post<B, T>(&self, path: &str, body: &B, timeout: Duration) -> Result<T, Failure>
    where
        B: Serialize + ?Sized,
        T: DeserializeOwned,
    {
        self.call(Method::POST, path, |request| request.timeout(timeout).json(body)).await
    }

    /// Posts `body` to create a resource, and reads the created resource. If no answer arrives, the request is
    /// repeated once: the service recognises its idempotency key, and creates nothing twice.
    pub async fn create<B, T>(&self, path: &str, body: &B, timeout: Duration) -> Result<T, Failure>
    where
        B: Serialize + ?Sized,
        T: DeserializeOwned,
    {
        let key = Ulid::generate().to_string();
        let complete =
            |request: RequestBuilder| request.timeout(timeout).header("idempotency-key", &key).json(body);
        match self.call(Method::POST, path, complete).await {
            Err(Failure::Unreachable(_)) => self.call(Method::POST, path, complete).await,
            answered => answered,
        }
    }

    /// Reads the JSON at `path`.
    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Failure> {
        self.call(Method::GET, path, |request| request.timeout(SHORT_TIMEOUT)).await
    }

    /// Posts to `path` without a body.
    pub async fn act(&self, path: &str) -> Result<(), Failure> {
        self.answer(Method::POST, path, |request| request.timeout(SHORT_TIMEOUT)).await.map(drop)
    }

    /// Deletes the resource at `path`.
    pub async fn delete(&self, path: &str) -> Result<(), Failure> {
        self.answer(Method::DELETE, path, |request| request.timeout(SHORT_TIMEOUT)).await.map(drop)
    }

    /// Sends the request that `complete` builds, and reads the JSON answer.
    async fn call<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        complete: impl Fn(RequestBuilder) -> RequestBuilder,
    ) -> Result<T, Failure> {
        let response = self.answer(method, path, complete).await?;
        if let Some(kind) = other_than_json(response.headers()) {
            return Err(Failure::Other(anyhow::anyhow!(
                "{}{path} answered {kind} and not JSON, though `Accept: application/json` asked for it: is a proxy in between?",
                self.base
            )));
        }
        response.json().await.map_err(|error| Failure::http(&self.base, &error))
    }

    /// Sends the request that `complete` builds with a token, and once more with a new token if the first is refused.
    /// Returns the response if it is a success.
    async fn answer(
        &self,
        method: Method,
        path: &str,
        complete: impl Fn(RequestBuilder) -> RequestBuilder,
    ) -> Result<Response, Failure> {
        let send = async |token: &str| {
            let request =
                self.http.request(method.clone(), format!("{}{path}", self.base)).bearer_auth(token);
            telemetry::send(complete(request)).await.map_err(|error| Failure::http(&self.base, &error))
        };
        let token = self.access_token().await?;
        let mut response = send(&token).await?;
        if response.status() == StatusCode::UNAUTHORIZED {
            response = send(&self.access_token_other_than(Some(&token)).await?).await?;
        }
        if !response.status().is_success() {
            return Err(self.refusal(response).await);
        }
        Ok(response)
    }

    /// Returns the status and the body of a `GET` without credentials.
    pub async fn probe(&self, path: &str) -> Result<(StatusCode, String), Failure> {
        let send = async {
            let request = self.http.get(format!("{}{path}", self.base)).timeout(SHORT_TIMEOUT);
            let response = telemetry::send(request).await?;
            let status = response.status();
            Ok((status, response.text().await?))
        };
        send.await.map_err(|error| Failure::http(&self.base, &error))
    }

    async fn access_token_other_than(&self, refused: Option<&str>) -> Result<String, Failure> {
        if let Some(token) = &self.token {
            let ended = || {
                let reason = format!(
                    "the service refuses the token in {TOKEN_VARIABLE}: it has ended, or is of another service"
                );
                Failure::NotLoggedIn(reason)
            };
            return if refused.is_none() { Ok(token.clone()) } else { Err(ended()) };
        }
        if self.data.credentials()?.is_none() {
            return Err(self.not_logged_in("nobody is logged in"));
        }
        // Reads the credentials again under the lock: another command may have renewed the token.
        let _lock = self.data.lock_credentials()?;
        let Some(credentials) = self.data.credentials()? else {
            return Err(self.not_logged_in("nobody is logged in"));
        };
        if credentials.api != self.base {
            return Err(self.not_logged_in(&format!("the login here is for {}", credentials.api)));
        }
        let fresh = credentials.expires_at - Utc::now() > RENEW_BEFORE;
        if fresh && refused != Some(credentials.access_token.as_str()) {
            return Ok(credentials.access_token);
        }
        let Some(refresh_token) = credentials.refresh_token else {
            return Err(self.not_logged_in("the login has ended"));
        };
        let form = [
            ("grant_type", "refresh_token"),
            ("client_id", CLIENT_ID),
            ("refresh_token", refresh_token.as_str()),
        ];
        let answer = self.token(&form).await.map_err(|failure| match failure {
            Failure::Refused(_) => self.not_logged_in("the login has ended"),
            other => other,
        })?;
        let renewed = self.credentials(credentials.email, answer, Some(refresh_token));
        self.data.store_credentials(&renewed)?;
        Ok(renewed.access_token)
    }

    fn credentials(
        &self,
        email: String,
        answer: TokenAnswer,
        old_refresh_token: Option<String>,
    ) -> Credentials {
        Credentials {
            api: self.base.clone(),
            email,
            access_token: answer.access_token,
            refresh_token: answer.refresh_token.or(old_refresh_token),
            expires_at: Utc::now() + TimeDelta::seconds(answer.expires_in),
        }
    }

    async fn token(&self, form: &[(&str, &str)]) -> Result<TokenAnswer, Failure> {
        Ok(self.request_token(form).await??)
    }

    /// Requests a token; returns it or the authorization server's error.
    async fn request_token(
        &self,
        form: &[(&str, &str)],
    ) -> Result<Result<TokenAnswer, TokenFailure>, Failure> {
        let request = self.http.post(format!("{}/auth/token", self.base)).timeout(SHORT_TIMEOUT).form(form);
        let response = telemetry::send(request).await.map_err(|error| Failure::http(&self.base, &error))?;
        let status = response.status();
        if status.is_success() {
            return response.json().await.map(Ok).map_err(|error| Failure::http(&self.base, &error));
        }
        let text = response.text().await.unwrap_or_default();
        serde_json::from_str(&text)
            .map(Err)
            .map_err(|_| Failure::Other(anyhow::anyhow!("{}/auth/token answered {status}", self.base)))
    }

    async fn refusal(&self, response: Response) -> Failure {
        let status = response.status();
        let retry_after = response.headers().get(header::RETRY_AFTER);
        let seconds = retry_after.and_then(|value| value.to_str().ok()?.parse().ok());
        let text = response.text().await.unwrap_or_default();
        let reasons = reasons(&text);
        match status {
            StatusCode::UNAUTHORIZED => self.not_logged_in("the service refused the login"),
            StatusCode::FORBIDDEN => {
                let reason = reasons.unwrap_or_else(|| status.to_string());
                Failure::Refused(format!("the account may not do this ({reason})"))
            }
            StatusCode::BAD_REQUEST => reasons.map_or(Failure::NotThere, Failure::Refused),
            // The body of the contract; other servers answer something else.
            StatusCode::NOT_FOUND if text.trim() == "null" => Failure::NotThere,
            StatusCode::TOO_MANY_REQUESTS => retryable_failure("the rate limit is spent".to_owned(), seconds),
            StatusCode::SERVICE_UNAVAILABLE => {
                let reasons = reasons.map(|reasons| format!(" ({reasons})")).unwrap_or_default();
                retryable_failure(format!("the service cannot take the job now{reasons}"), seconds)
            }
            _ => {
                let reasons = reasons.unwrap_or_else(|| format!("{} answered {status}", self.base));
                if status.is_client_error() {
                    Failure::Refused(reasons)
                } else {
                    Failure::Other(anyhow::anyhow!("{reasons} ({status})"))
                }
            }
        }
    }

    fn not_logged_in(&self, reason: &str) -> Failure {
        Failure::NotLoggedIn(format!(
            "{reason}: run `retort --data {} --api {} login EMAIL`",
            self.data.display(),
            self.base
        ))
    }
}

/// Returns the reasons of an error body in one line, if it has the contract's shape.
fn reasons(body: &str) -> Option<String> {
    let refusal: RefusalBody = serde_json::from_str(body).ok()?;
    let lines: Vec<String> = refusal.detail.iter().map(ErrorDetail::to_line).collect();
    if lines.is_empty() { None } else { Some(lines.join("; ")) }
}

impl ErrorDetail {
    /// Formats as `body.size: Input should be …`.
    fn to_line(&self) -> String {
        let place: Vec<String> = self
            .loc
            .iter()
            .map(|part| part.as_str().map_or_else(|| part.to_string(), ToOwned::to_owned))
            .collect();
        if place.is_empty() { self.msg.clone() } else { format!("{}: {}", place.join("."), self.msg) }
    }
}

/// Returns a retryable failure if the service says after how many seconds, else a refusal.
fn retryable_failure(reason: String, seconds: Option<u64>) -> Failure {
    match seconds {
        Some(seconds) => Failure::Later { why: reason, seconds },
        None => Failure::Refused(reason),
    }
}

/// Returns the content type if it is not JSON.
fn other_than_json(headers: &HeaderMap) -> Option<&str> {
    let kind = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
    let media = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    (media != "application/json" && !media.ends_with("+json")).then_some(kind)
}

fn is_loopback(base: &str) -> bool {
    ["http://127.", "http://localhost", "http://[::1]"].iter().any(|prefix| base.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_of_a_refusal_is_printed_with_its_location() {
        let body = r#"{"detail":[{"loc":["body","size"],"msg":"too small","type":"greater_than_equal"},
            {"loc":["body","extra",0],"msg":"not allowed","type":"extra_forbidden"}]}"#;

        assert_eq!(reasons(body).as_deref(), Some("body.size: too small; body.extra.0: not allowed"));
        let nowhere = r#"{"detail":[{"loc":[],"msg":"the deadline passed","type":"timeout"}]}"#;
        assert_eq!(reasons(nowhere).as_deref(), Some("the deadline passed"));
        assert_eq!(reasons("null"), None);
        assert_eq!(reasons("<html>"), None);
    }
}
