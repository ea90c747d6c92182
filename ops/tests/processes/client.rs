//! HTTP client of the service, with a bearer token.

use reqwest::{Method, RequestBuilder, Response, StatusCode};
use serde_json::Value;
use test_support::WAIT_TIMEOUT;

/// Client of one account at one service.
#[derive(Debug, Clone)]
pub struct ApiClient {
    http: reqwest::Client,
    base: String,
    token: String,
}

impl ApiClient {
    /// Creates a client with a token.
    pub fn new(base: &str, token: &str) -> Self {
        // The process has one TLS library; only this line could install it a second time.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder().timeout(WAIT_TIMEOUT).build().expect("a client can be made");
        Self { http, base: base.to_owned(), token: token.to_owned() }
    }

    /// Returns a client with the same token for another service.
    pub fn at(&self, base: &str) -> Self {
        Self { base: base.to_owned(), ..self.clone() }
    }

    /// Returns the token.
    pub fn token(&self) -> &str {
        &self.token
    }

    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.base)).bearer_auth(&self.token)
    }

    pub async fn get(&self, path: &str) -> Response {
        self.request(Method::GET, path).send().await.unwrap_or_else(|error| panic!("GET {path}: {error}"))
    }

    pub async fn post(&self, path: &str, body: &Value) -> Response {
        let request = self.request(Method::POST, path).json(body);
        request.send().await.unwrap_or_else(|error| panic!("POST {path}: {error}"))
    }

    /// Gets `path`; returns the body of the answer, which must be a 200.
    pub async fn read(&self, path: &str) -> Value {
        good(self.get(path).await).await
    }

    /// Posts `body` to `path`; returns the body of the answer, which must be a 200.
    pub async fn create(&self, path: &str, body: &Value) -> Value {
        good(self.post(path, body).await).await
    }
}

/// Returns the JSON body of a 200; fails with the answer for any other status.
pub async fn good(response: Response) -> Value {
    let status = response.status();
    let body = response.text().await.expect("a body can be read");
    assert_eq!(status, StatusCode::OK, "{body}");
    serde_json::from_str(&body).expect("a 200 has a JSON body")
}
