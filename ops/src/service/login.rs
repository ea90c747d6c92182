//! Logins that never see the password: with a browser that returns to this machine (RFC 8252), or with a browser on
//! another device (RFC 8628).

use std::time::Duration;

use anyhow::{Context as _, anyhow};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use contract::scope;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    time::{Instant, sleep, timeout_at},
};
use url::{Url, form_urlencoded};

use super::{CLIENT_ID, SHORT_TIMEOUT, Service, TokenAnswer};
use crate::failure::Failure;

/// Timeout for the user to log in.
const LOGIN_TIMEOUT: Duration = Duration::from_secs(600);

/// Default seconds between two polls, and the increase if the service asks to slow down (RFC 8628, sections 3.2 and
/// 3.5).
const INTERVAL_SECONDS: u64 = 5;

/// Maximum size of the browser's request, in bytes.
const MAX_REQUEST_BYTES: usize = 16 * 1024;

/// Required part of the authorization server's metadata (RFC 8414).
#[derive(Debug, Deserialize)]
struct ServerMetadata {
    issuer: String,
    authorization_endpoint: String,
}

/// Response of `/auth/device_authorization` (RFC 8628, section 3.2).
#[derive(Debug, Deserialize)]
struct DeviceAnswer {
    device_code: String,
    user_code: String,
    verification_uri: String,
    verification_uri_complete: Option<String>,
    expires_in: u64,
    interval: Option<u64>,
}

/// The logged-in user (OpenID Connect Core, section 5.3).
#[derive(Debug, Deserialize)]
pub struct UserInfo {
    /// Id of the account.
    pub sub: String,
    /// Name of the account.
    pub name: Option<String>,
    /// E-mail address of the account.
    pub email: Option<String>,
}

impl Service {
    /// Logs in with a browser on this machine; `show` gets the address to open. Returns the account's e-mail address.
    pub async fn login_with_local_browser(
        &self,
        hint: Option<&str>,
        show: impl FnOnce(&str),
    ) -> Result<String, Failure> {
        let discovery = self.discover().await?;
        let listener = TcpListener::bind("127.0.0.1:0").await.context("listening for the browser")?;
        let port = listener.local_addr().context("listening for the browser")?.port();
        let redirect = format!("http://127.0.0.1:{port}/callback");
        let (Verifier { verifier, challenge }, state) = (Verifier::new(), random());
        let mut address =
            Url::parse(&discovery.authorization_endpoint).context("reading the service's description")?;
        address
            .query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("client_id", CLIENT_ID)
            .append_pair("redirect_uri", &redirect)
            .append_pair("scope", &everything())
            .append_pair("state", &state)
            .append_pair("code_challenge", &challenge)
            .append_pair("code_challenge_method", "S256");
        if let Some(hint) = hint {
            address.query_pairs_mut().append_pair("login_hint", hint);
        }
        show(address.as_str());

        let code = wait_for_code(&listener, &state, &discovery.issuer).await?;
        self.redeem(&code, &redirect, &verifier).await
    }

    /// Logs in without a browser, for the operator: `give` returns an authorization code for a redirect address and a
    /// challenge (RFC 7636).
    pub async fn login_with_code(
        &self,
        give: impl AsyncFnOnce(&str, &str) -> Result<String, Failure>,
    ) -> Result<String, Failure> {
        // Nothing listens at this address: the code arrives another way.
        let redirect = "http://127.0.0.1/callback";
        let Verifier { verifier, challenge } = Verifier::new();
        let code = give(redirect, &challenge).await?;
        self.redeem(&code, redirect, &verifier).await
    }

    async fn redeem(&self, code: &str, redirect: &str, verifier: &str) -> Result<String, Failure> {
        let form = [
            ("grant_type", "authorization_code"),
            ("client_id", CLIENT_ID),
            ("code", code),
            ("redirect_uri", redirect),
            ("code_verifier", verifier),
        ];
        let answer = self.token(&form).await?;
        self.keep_login(answer).await
    }

    /// Logs in with a browser on another device; `show` gets the address to open and the code to type.
    pub async fn login_with_device_code(&self, show: impl FnOnce(&str, &str)) -> Result<String, Failure> {
        let form = [("client_id", CLIENT_ID), ("scope", &everything())];
        let request =
            self.http.post(format!("{}/auth/device_authorization", self.base)).timeout(SHORT_TIMEOUT);
        let answer =
            telemetry::send(request.form(&form)).await.map_err(|error| Failure::http(&self.base, &error))?;
        if !answer.status().is_success() {
            return Err(self.refusal(answer).await);
        }
        let device: DeviceAnswer = answer.json().await.map_err(|error| Failure::http(&self.base, &error))?;
        show(
            device.verification_uri_complete.as_deref().unwrap_or(&device.verification_uri),
            &device.user_code,
        );

        let form = [
            ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"),
            ("client_id", CLIENT_ID),
            ("device_code", device.device_code.as_str()),
        ];
        let end = Instant::now() + Duration::from_secs(device.expires_in);
        let mut interval = Duration::from_secs(device.interval.unwrap_or(INTERVAL_SECONDS));
        while Instant::now() < end {
            sleep(interval).await;
            let refused = match self.request_token(&form).await? {
                Ok(answer) => return self.keep_login(answer).await,
                Err(refused) => refused,
            };
            match refused.error.as_str() {
                "authorization_pending" => {}
                "slow_down" => interval += Duration::from_secs(INTERVAL_SECONDS),
                _ => return Err(refused.into()),
            }
        }
        Err(Failure::NotLoggedIn("nobody approved this login, and its code has expired".into()))
    }

    /// Logs out here and at the service.
    pub async fn logout(&self) -> Result<(), Failure> {
        let _lock = self.data.lock_credentials()?;
        let Some(credentials) = self.data.credentials()? else { return Ok(()) };
        self.data.delete_credentials()?;
        let token = credentials.refresh_token.unwrap_or(credentials.access_token);
        let form = [("client_id", CLIENT_ID), ("token", token.as_str())];
        let request =
            self.http.post(format!("{}/auth/revoke", credentials.api)).timeout(SHORT_TIMEOUT).form(&form);
        let answer =
            telemetry::send(request).await.map_err(|error| Failure::http(&credentials.api, &error))?;
        if answer.status().is_success() {
            return Ok(());
        }
        Err(Failure::Other(anyhow!("the local login is deleted, but the service did not end it")))
    }

    /// Returns the logged-in user; `None` if the token does not permit it.
    pub async fn person(&self) -> Result<Option<UserInfo>, Failure> {
        let token = self.access_token().await?;
        self.person_of(&token).await
    }

    async fn person_of(&self, token: &str) -> Result<Option<UserInfo>, Failure> {
        let request =
            self.http.get(format!("{}/auth/userinfo", self.base)).bearer_auth(token).timeout(SHORT_TIMEOUT);
        let answer = telemetry::send(request).await.map_err(|error| Failure::http(&self.base, &error))?;
        match answer.status() {
            status if status.is_success() => {
                answer.json().await.map(Some).map_err(|error| Failure::http(&self.base, &error))
            }
            reqwest::StatusCode::FORBIDDEN => Ok(None),
            _ => Err(self.refusal(answer).await),
        }
    }

    async fn keep_login(&self, answer: TokenAnswer) -> Result<String, Failure> {
        let person = self.person_of(&answer.access_token).await?;
        let email = person.and_then(|person| person.email).unwrap_or_default();
        let _lock = self.data.lock_credentials()?;
        self.data.store_credentials(&self.credentials(email.clone(), answer, None))?;
        Ok(email)
    }

    /// Returns the address of the service's authorization server, as the server itself publishes it.
    pub async fn issuer(&self) -> Result<String, Failure> {
        Ok(self.discover().await?.issuer)
    }

    async fn discover(&self) -> Result<ServerMetadata, Failure> {
        let path = "/auth/.well-known/openid-configuration";
        let (status, text) = self.probe(path).await?;
        if !status.is_success() {
            return Err(Failure::Other(anyhow!("{}{path} answered {status}", self.base)));
        }
        Ok(serde_json::from_str(&text).context("reading the service's description")?)
    }
}

/// Proof that the client that redeems a code also requested it (RFC 7636).
struct Verifier {
    verifier: String,
    challenge: String,
}

impl Verifier {
    fn new() -> Self {
        let verifier = random();
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(&verifier));
        Self { verifier, challenge }
    }
}

/// Waits until the browser brings the code.
async fn wait_for_code(listener: &TcpListener, state: &str, issuer: &str) -> Result<String, Failure> {
    let end = Instant::now() + LOGIN_TIMEOUT;
    loop {
        let accepted = timeout_at(end, listener.accept()).await;
        let Ok(accepted) = accepted else {
            return Err(Failure::NotLoggedIn("nobody logged in within ten minutes".into()));
        };
        let (mut stream, _) = accepted.context("listening for the browser")?;
        // A connection that sends nothing blocks the others only briefly.
        let end_of_request = Instant::now() + Duration::from_secs(5);
        let Ok(Some(target)) = timeout_at(end_of_request, request_target(&mut stream)).await else {
            continue;
        };
        let outcome = read_callback(&target, state, issuer);
        let (status, text) = match &outcome {
            Some(Ok(_)) => ("200 OK", "You are logged in. You can close this page."),
            Some(Err(_)) => ("400 Bad Request", "The login failed; the terminal says why."),
            None => ("404 Not Found", "There is nothing here."),
        };
        let answer = format!(
            "HTTP/1.1 {status}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: {}\r\n\
             cache-control: no-store\r\nconnection: close\r\n\r\n{text}",
            text.len()
        );
        // The code has arrived even if the browser has disconnected.
        let _ = stream.write_all(answer.as_bytes()).await;
        if let Some(outcome) = outcome {
            return outcome;
        }
    }
}

/// Returns the target of the request line.
async fn request_target(stream: &mut TcpStream) -> Option<String> {
    let mut request = Vec::new();
    let mut chunk = [0; 2048];
    while !request.windows(4).any(|window| window == b"\r\n\r\n") {
        let read = stream.read(&mut chunk).await.ok()?;
        if read == 0 || request.len() > MAX_REQUEST_BYTES {
            return None;
        }
        request.extend_from_slice(&chunk[..read]);
    }
    let text = String::from_utf8(request).ok()?;
    let mut words = text.lines().next()?.split(' ');
    (words.next()? == "GET").then(|| words.next().map(str::to_owned))?
}

/// Returns the code in the address that the browser returned to; `None` for any other address.
fn read_callback(target: &str, state: &str, issuer: &str) -> Option<Result<String, Failure>> {
    let query = target.strip_prefix("/callback?")?;
    let pairs: Vec<_> = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    let get = |name: &str| pairs.iter().find(|(other, _)| other == name).map(|(_, value)| value.clone());
    // The service names itself in every response (RFC 9207), so a response without the name comes from someone else.
    if get("state").as_deref() != Some(state) || get("iss").as_deref() != Some(issuer) {
        // Another page sent the browser here; the user's own login may still follow.
        return None;
    }
    Some(match (get("code"), get("error")) {
        (Some(code), None) => Ok(code),
        (_, error) => {
            let reason = get("error_description").or(error).unwrap_or_else(|| "no code came back".to_owned());
            Err(Failure::Refused(format!("login refused: {reason}")))
        }
    })
}

fn everything() -> String {
    scope::ALL.map(|(name, _)| name).join(" ")
}

/// Returns 256 random bits.
fn random() -> String {
    URL_SAFE_NO_PAD.encode(rand::random::<[u8; 32]>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_answer_to_our_own_request_is_taken() {
        let issuer = "http://retort.test/auth";
        let read = |target: &str| read_callback(target, "s1", issuer);

        let good = read("/callback?code=c&state=s1&iss=http%3A%2F%2Fretort.test%2Fauth");
        assert_eq!(good.unwrap().unwrap(), "c");
        for other in [
            "/favicon.ico",
            "/callback?code=c&state=s2",
            "/callback?code=c&state=s1",
            "/callback?code=c&state=s1&iss=http://evil.test",
        ] {
            assert!(read(other).is_none(), "{other}");
        }
        let refused =
            "/callback?error=access_denied&error_description=no&state=s1&iss=http://retort.test/auth";
        let refused = read(refused).unwrap();
        assert!(matches!(refused, Err(Failure::Refused(reason)) if reason == "login refused: no"));
    }

    #[tokio::test]
    async fn the_browser_brings_the_code_to_loopback() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let browser = tokio::spawn(async move {
            let mut answers = Vec::new();
            for path in ["/favicon.ico", "/callback?code=c&state=s1&iss=http://retort.test/auth"] {
                let mut stream = TcpStream::connect(address).await.unwrap();
                let request = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\n\r\n");
                stream.write_all(request.as_bytes()).await.unwrap();
                let mut answer = String::new();
                stream.read_to_string(&mut answer).await.unwrap();
                answers.push(answer.lines().next().unwrap().to_owned());
            }
            answers
        });

        let code = wait_for_code(&listener, "s1", "http://retort.test/auth").await.unwrap();

        assert_eq!(code, "c");
        assert_eq!(browser.await.unwrap(), ["HTTP/1.1 404 Not Found", "HTTP/1.1 200 OK"]);
    }
}
