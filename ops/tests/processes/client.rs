//! A caller of the service: HTTP with a bearer token.

use reqwest::{Method, RequestBuilder, Response, StatusCode};
use serde_json::Value;

use crate::process::PATIENCE;

/// One account's view of one service.
#[derive(Debug, Clone)]
pub struct Caller {
    http: reqwest::Client,
    base: String,
    token: String,
}

impl Caller {
    /// A caller with a token.
    pub fn new(base: &str, token: &str) -> Self {
        // The process has one TLS library; a second installation of it could only come from this line.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder().timeout(PATIENCE).build().expect("a client can be made");
        Self { http, base: base.to_owned(), token: token.to_owned() }
    }

    /// The same token, at another service.
    pub fn at(&self, base: &str) -> Self {
        Self { base: base.to_owned(), ..self.clone() }
    }

    /// Its token.
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

    /// The body of an answer that has to be a 200.
    pub async fn read(&self, path: &str) -> Value {
        good(self.get(path).await).await
    }

    /// The body of an answer that has to be a 200.
    pub async fn create(&self, path: &str, body: &Value) -> Value {
        good(self.post(path, body).await).await
    }
}

/// The JSON body of a 200; anything else fails with what was answered.
pub async fn good(response: Response) -> Value {
    let status = response.status();
    let body = response.text().await.expect("a body can be read");
    assert_eq!(status, StatusCode::OK, "{body}");
    serde_json::from_str(&body).expect("a 200 has a JSON body")
}
