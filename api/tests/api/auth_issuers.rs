//! Tokens of another issuer: a mock of Keycloak and similar servers, on a socket of its own.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use axum::{Json, Router, http::StatusCode, routing::get};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use chrono::Utc;
use ed25519_dalek::{SigningKey, pkcs8::EncodePrivateKey};
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::support::{Answer, Service, answer};

const SAMPLES: &str = "/generator/v1/samples";

/// Name of a key, with its bytes.
type NamedKey = (String, [u8; 32]);

/// Mock issuer with keys that can be changed, and that can go offline.
pub struct Issuer {
    pub address: String,
    pub keys: Arc<Mutex<Vec<NamedKey>>>,
    pub is_away: Arc<Mutex<bool>>,
    pub requests: Arc<AtomicUsize>,
}

impl Issuer {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}/realms/lab", listener.local_addr().unwrap());
        let keys = Arc::new(Mutex::new(vec![("k1".to_owned(), [1; 32])]));
        let (is_away, requests) = (Arc::new(Mutex::new(false)), Arc::new(AtomicUsize::new(0)));
        let issuer = Self { address: address.clone(), keys, is_away, requests };
        let discovery = json!({ "issuer": address, "jwks_uri": format!("{address}/jwks") });
        let (keys, is_away, requests) =
            (issuer.keys.clone(), issuer.is_away.clone(), issuer.requests.clone());
        let jwks = move || {
            requests.fetch_add(1, Ordering::Relaxed);
            let status = if *is_away.lock().unwrap() { StatusCode::BAD_GATEWAY } else { StatusCode::OK };
            let keys: Vec<_> = keys.lock().unwrap().iter().map(|(kid, bytes)| jwk(kid, bytes)).collect();
            async move { (status, Json(json!({ "keys": keys }))) }
        };
        let router = Router::new()
            .route("/realms/lab/.well-known/openid-configuration", get(async move || Json(discovery)))
            .route("/realms/lab/jwks", get(jwks));
        tokio::spawn(async move { axum::serve(listener, router).await });
        issuer
    }

    /// Builds a token with `changes`, signed by the key `kid` made of `bytes`.
    pub fn token(&self, kid: &str, bytes: [u8; 32], changes: &[(&str, Value)]) -> String {
        let now = Utc::now().timestamp();
        let mut claims = json!({
            "iss": self.address, "sub": "f:1:ada", "aud": ["account", "retort"], "iat": now, "exp": now + 300,
            "scope": "openid generator_api.samples:read", "preferred_username": "ada",
        });
        for (name, value) in changes {
            claims[*name] = value.clone();
        }
        let mut header = Header::new(Algorithm::EdDSA);
        header.kid = Some(kid.to_owned());
        let key = SigningKey::from_bytes(&bytes).to_pkcs8_der().unwrap();
        jsonwebtoken::encode(&header, &claims, &EncodingKey::from_ed_der(key.as_bytes())).unwrap()
    }

    pub async fn service(&self) -> Service {
        Service::start_without_workers(&[("AUTH_ISSUER", &self.address)]).await
    }
}

fn jwk(kid: &str, bytes: &[u8; 32]) -> Value {
    let x = URL_SAFE_NO_PAD.encode(SigningKey::from_bytes(bytes).verifying_key().as_bytes());
    json!({ "kty": "OKP", "crv": "Ed25519", "alg": "EdDSA", "use": "sig", "kid": kid, "x": x })
}

pub async fn call(service: &Service, token: &str) -> Answer {
    answer(service.http.get(format!("{}{SAMPLES}", service.base)).bearer_auth(token)).await
}

pub fn reason(answer: &Answer) -> (u16, String) {
    (answer.status, answer.json()["detail"][0]["msg"].as_str().unwrap_or_default().to_owned())
}

#[tokio::test]
async fn a_person_from_elsewhere_gets_an_account_at_the_first_token() {
    let issuer = Issuer::start().await;
    let service = issuer.service().await;
    let token = issuer.token("k1", [1; 32], &[]);

    assert_eq!(call(&service, &token).await.status, 200);
    assert_eq!(call(&service, &token).await.status, 200);

    let accounts: Vec<(String, String)> =
        sqlx::query_as("select id, name from accounts where id like 'ext_%'")
            .fetch_all(&service.pool)
            .await
            .unwrap();
    assert_eq!(accounts.len(), 1);
    assert_eq!(accounts[0].1, "ada");
    let own = service.token(crate::support::claims(&service.account)).await;
    assert_eq!(call(&service, &own).await.status, 200);
    // The token has no such scope.
    let create = service.http.post(format!("{}{SAMPLES}", service.base)).bearer_auth(&token).body("{}");
    assert_eq!(answer(create).await.status, 403);
    // One request to the issuer was enough.
    assert_eq!(issuer.requests.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_disabled_person_from_elsewhere_stays_out() {
    let issuer = Issuer::start().await;
    let mut service = issuer.service().await;
    let token = issuer.token("k1", [1; 32], &[]);
    assert_eq!(call(&service, &token).await.status, 200);
    sqlx::query("update accounts set disabled_at = now()").execute(&service.pool).await.unwrap();

    service.base = service.another().await;

    let refused = (401, "the account is unknown or disabled".to_owned());
    assert_eq!(reason(&call(&service, &token).await), refused);
}

#[tokio::test]
async fn an_issuer_that_is_away_costs_nothing_and_readiness_says_so() {
    let issuer = Issuer::start().await;
    let mut service = issuer.service().await;
    assert_eq!(call(&service, &issuer.token("k1", [1; 32], &[])).await.status, 200);
    let http = service.http.clone();
    let ready = async |base: &str| answer(http.get(format!("{base}/readyz"))).await.json()["checks"].clone();
    let check = format!("issuer {}", issuer.address);

    *issuer.is_away.lock().unwrap() = true;

    assert_eq!(call(&service, &issuer.token("k1", [1; 32], &[])).await.status, 200);
    assert_eq!(ready(&service.base).await[&check], "ok");
    let fresh = service.another().await;
    assert_eq!(ready(&fresh).await[&check], "cannot be reached; its tokens are refused");
    service.base = fresh;
    let refused = call(&service, &issuer.token("k1", [1; 32], &[])).await;
    assert_eq!((refused.status, refused.header("retry-after")), (503, "10"));
}
