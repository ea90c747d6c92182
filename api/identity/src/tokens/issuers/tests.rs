//! A test issuer on its own socket that changes its keys and becomes unreachable. Time passes by moving the stored
//! times into the past.

use std::sync::{
    Mutex,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use axum::{Json, Router, http::StatusCode, routing::get};
use futures::future::join_all;
use jsonwebtoken::{EncodingKey, Header};
use serde_json::json;
use tokio::net::TcpListener;

use super::*;
use http_errors::Challenge;

/// A signing key of the issuer: its id, algorithm, private and public part.
struct SigningKey {
    kid: &'static str,
    algorithm: Algorithm,
    private: EncodingKey,
    public: Value,
}

fn rs256(kid: &'static str) -> SigningKey {
    let private = include_bytes!("../../../../tests/data/issuer_rs256.key");
    let modulus = "qFLlf4elQDmY0Zch6Jc-2kZORESXub-IsAhdn2xfy5REbd0A_qLHXRoGTM_97hZRJLVwjEWJqXCB9hLFXmK5w0jbN9FR4NiX017GhN8\
                   DSGrscKC2qpNnKu-yWqNf8ugNo9uqzPVVi5Mm_y8q6k7djawSU1XKW4Jkpv-7dobeGXpOke3pLU3M83QOWkDkT3yP2CPlr5PDwVgYNR\
                   W4_eshTp9kLmUnEkHvVNoAtQBrI5aKA6KYiUdLDGULZj3rDtLJ6m1BakNOg8bIrVsTF1vfyJ1G2krrWnUgGzVZgiH3sDrWBx5qvHWfD\
                   ah6POgG3Rz7ix148PSnn4U1GNdYZK4S0Q";
    SigningKey {
        kid,
        algorithm: Algorithm::RS256,
        private: EncodingKey::from_rsa_pem(private).unwrap(),
        public: json!({ "kty": "RSA", "use": "sig", "kid": kid, "n": modulus, "e": "AQAB" }),
    }
}

fn es256(kid: &'static str) -> SigningKey {
    let private = include_bytes!("../../../../tests/data/issuer_es256.key");
    let (x, y) =
        ("8CRPlyvCrLgfuxPohN7lsSoQa79KUsZkwyN0EFGEfTc", "1LM4RQLy1u-Vvy5zACYVXXVN_TSFSkd9xirjGwTgnDQ");
    SigningKey {
        kid,
        algorithm: Algorithm::ES256,
        private: EncodingKey::from_ec_pem(private).unwrap(),
        public: json!({ "kty": "EC", "crv": "P-256", "use": "sig", "kid": kid, "x": x, "y": y }),
    }
}

/// Simulated issuer.
struct FakeIssuer {
    address: String,
    published: Arc<Mutex<Vec<Value>>>,
    is_away: Arc<AtomicBool>,
    requests: Arc<AtomicUsize>,
}

impl FakeIssuer {
    async fn start(keys: &[&SigningKey]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let realm = Self {
            address: address.clone(),
            published: Arc::default(),
            is_away: Arc::default(),
            requests: Arc::default(),
        };
        realm.publish(keys);
        let (published, is_away, requests) =
            (realm.published.clone(), realm.is_away.clone(), realm.requests.clone());
        let discovery = json!({ "issuer": address, "jwks_uri": format!("{address}/jwks") });
        let configuration = async move || {
            requests.fetch_add(1, Ordering::SeqCst);
            let status =
                if is_away.load(Ordering::SeqCst) { StatusCode::BAD_GATEWAY } else { StatusCode::OK };
            (status, Json(discovery))
        };
        let jwks = async move || Json(json!({ "keys": *published.lock().unwrap() }));
        let router = Router::new()
            .route("/.well-known/openid-configuration", get(configuration))
            .route("/jwks", get(jwks));
        tokio::spawn(async move { axum::serve(listener, router).await });
        realm
    }

    fn publish(&self, keys: &[&SigningKey]) {
        *self.published.lock().unwrap() = keys.iter().map(|key| key.public.clone()).collect();
    }

    fn token(&self, key: &SigningKey) -> String {
        self.token_named(key, key.kid)
    }

    fn token_named(&self, key: &SigningKey, kid: &str) -> String {
        let mut header = Header::new(key.algorithm);
        header.kid = Some(kid.to_owned());
        let claims = json!({
            "iss": self.address, "sub": "ada", "aud": "retort", "exp": chrono::Utc::now().timestamp() + 300,
        });
        jsonwebtoken::encode(&header, &claims, &key.private).unwrap()
    }

    fn issuers(&self) -> Issuers {
        Issuers::new(std::slice::from_ref(&self.address), &["retort".to_owned()]).unwrap()
    }

    fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }
}

/// Moves the stored times into the past.
fn advance_time(issuers: &Issuers, time: Duration) {
    let mut state = issuers.list[0].state.write();
    let earlier = |instant: Instant| instant.checked_sub(time).unwrap();
    state.tried_at = state.tried_at.map(earlier);
    state.keys = state.keys.take().map(|(fetched_at, keys)| (earlier(fetched_at), keys));
}

/// Verifies the token, or returns the reason for which it is refused.
async fn check(issuers: &Issuers, token: &str) -> Result<(), &'static str> {
    match issuers.verify(token).await {
        Ok(found) => found.map(drop).ok_or("another issuer's"),
        Err(ApiError::Unauthorized(Challenge::InvalidToken(why))) => Err(why),
        Err(ApiError::Unavailable { reason, .. }) => Err(reason),
        Err(error) => panic!("{error:?}"),
    }
}

async fn state(issuers: &Issuers) -> String {
    issuers.states().await.remove(0).1
}

const UNKNOWN: Result<(), &str> = Err("the key of the access token is unknown");
const UNREACHABLE_ISSUER: Result<(), &str> = Err("The issuer of the access token cannot be reached");

#[test]
fn an_account_belongs_to_one_subject_of_one_issuer() {
    let id = account_id("https://a.test", "1");

    assert_eq!((id.len(), &id[..4]), (36, "ext_"));
    assert_ne!(id, account_id("https://a.test", "2"));
    assert_ne!(id, account_id("https://b.test", "1"));
    assert_ne!(account_id("https://a.test", "b"), account_id("https://a.testb", ""));
}

#[tokio::test]
async fn a_key_that_the_issuer_changed_to_is_fetched_once() {
    let (old, new) = (rs256("2026-1"), es256("2026-2"));
    let realm = FakeIssuer::start(&[&old]).await;
    let issuers = realm.issuers();
    assert_eq!(check(&issuers, &realm.token(&old)).await, Ok(()));

    realm.publish(&[&old, &new]);
    // The issuer was asked just before.
    assert_eq!((check(&issuers, &realm.token(&new)).await, realm.requests()), (UNKNOWN, 1));
    advance_time(&issuers, MIN_FETCH_INTERVAL);
    // Many callers come with the new key at once.
    let token = realm.token(&new);
    let results = join_all((0..20).map(|_| check(&issuers, &token))).await;
    assert!(results.iter().all(Result::is_ok), "{results:?}");
    assert_eq!(check(&issuers, &realm.token(&old)).await, Ok(()));
    assert_eq!(realm.requests(), 2);

    // A key that the issuer withdraws is accepted until the keys are fetched again, ten minutes later.
    realm.publish(&[&new]);
    advance_time(&issuers, FRESH + MIN_FETCH_INTERVAL);
    issuers.states().await;
    assert_eq!(check(&issuers, &realm.token(&old)).await, UNKNOWN);
    assert_eq!((check(&issuers, &token).await, realm.requests()), (Ok(()), 3));
}

#[tokio::test]
async fn made_up_keys_cause_one_fetch_in_ten_seconds() {
    let key = rs256("real");
    let realm = FakeIssuer::start(&[&key]).await;
    let issuers = realm.issuers();
    for round in 1..=3 {
        let tokens: Vec<_> = (0..30).map(|n| realm.token_named(&key, &format!("made up {n}"))).collect();
        let results = join_all(tokens.iter().map(|token| check(&issuers, token))).await;

        assert!(results.iter().all(|check| *check == UNKNOWN), "{results:?}");
        assert_eq!(check(&issuers, &realm.token(&key)).await, Ok(()));
        assert_eq!(realm.requests(), round);
        advance_time(&issuers, MIN_FETCH_INTERVAL);
    }
}

#[tokio::test]
async fn an_unreachable_issuer_is_fetched_less_often_and_its_keys_count_for_a_day() {
    let (old, new) = (rs256("old"), es256("new"));
    let realm = FakeIssuer::start(&[&old]).await;
    let issuers = realm.issuers();
    assert_eq!(check(&issuers, &realm.token(&old)).await, Ok(()));
    assert_eq!(state(&issuers).await, "ok");

    realm.is_away.store(true, Ordering::SeqCst);
    realm.publish(&[&old, &new]);
    let mut is_away = Duration::ZERO;
    for (requests, seconds) in (realm.requests()..).zip([10, 10, 20, 40, 80, 160, 320, 320]) {
        let nearly = Duration::from_secs(seconds - 1);
        advance_time(&issuers, nearly);
        assert_eq!(
            (check(&issuers, &realm.token(&new)).await, realm.requests()),
            (UNKNOWN, requests),
            "{seconds}"
        );
        advance_time(&issuers, Duration::from_secs(1));
        assert_eq!(
            (check(&issuers, &realm.token(&new)).await, realm.requests()),
            (UNKNOWN, requests + 1),
            "{seconds}"
        );
        is_away += Duration::from_secs(seconds);
        assert_eq!(check(&issuers, &realm.token(&old)).await, Ok(()));
    }
    assert_eq!(state(&issuers).await, "cannot be reached; keys of 16 min ago are used");
    assert_eq!(is_away.as_secs() / 60, 16);

    advance_time(&issuers, CACHE_LIFETIME);
    assert_eq!(state(&issuers).await, "cannot be reached; its tokens are refused");
    assert_eq!(check(&issuers, &realm.token(&old)).await, UNREACHABLE_ISSUER);
    realm.is_away.store(false, Ordering::SeqCst);
    advance_time(&issuers, MAX_FETCH_INTERVAL);
    assert_eq!(check(&issuers, &realm.token(&new)).await, Ok(()));
    assert_eq!(state(&issuers).await, "ok");
}

#[tokio::test]
async fn an_algorithm_that_is_not_the_keys_is_refused() {
    let (rsa, curve) = (rs256("rsa"), es256("curve"));
    let realm = FakeIssuer::start(&[&rsa, &curve]).await;
    let issuers = realm.issuers();

    let swapped = Err("the algorithm of the access token is not its key's");
    assert_eq!(check(&issuers, &realm.token_named(&rsa, "curve")).await, swapped);
    assert_eq!(check(&issuers, &realm.token_named(&curve, "rsa")).await, swapped);
    assert_eq!(check(&issuers, &realm.token(&rsa)).await, Ok(()));
    assert_eq!(check(&issuers, &realm.token(&curve)).await, Ok(()));
}
