//! Tokens that claim to be from a trusted issuer.

use std::sync::atomic::Ordering;

use jsonwebtoken::{Algorithm, EncodingKey, Header};
use serde_json::json;

use crate::{
    auth_issuers::{Issuer, call, reason},
    support::{Service, claims},
};

#[tokio::test]
async fn issuer_that_nobody_named() {
    let trusted = Issuer::start().await;
    let stranger = Issuer::start().await;
    let service = trusted.service().await;

    let answer = call(&service, &stranger.token("k1", [1; 32], &[])).await;

    assert_eq!(answer.status, 401);
    assert_eq!(stranger.requests.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn token_of_the_issuer_signed_by_a_stranger() {
    let issuer = Issuer::start().await;
    let service = issuer.service().await;

    let answer = call(&service, &issuer.token("k1", [9; 32], &[])).await;

    assert_eq!(reason(&answer), (401, "the signature of the access token is wrong".to_owned()));
}

#[tokio::test]
async fn token_of_the_issuer_for_somebody_else() {
    let issuer = Issuer::start().await;
    let service = issuer.service().await;
    for audience in [json!("account"), json!([]), json!(["a", "b"])] {
        let answer = call(&service, &issuer.token("k1", [1; 32], &[("aud", audience)])).await;

        assert_eq!(answer.status, 401);
    }
}

#[tokio::test]
async fn token_of_the_issuer_that_ended() {
    let issuer = Issuer::start().await;
    let service = issuer.service().await;
    let past = json!(chrono::Utc::now().timestamp() - 61);

    let answer = call(&service, &issuer.token("k1", [1; 32], &[("exp", past)])).await;

    assert_eq!(reason(&answer), (401, "the access token expired".to_owned()));
}

#[tokio::test]
async fn token_of_the_issuer_with_an_hmac_of_its_public_key() {
    let issuer = Issuer::start().await;
    let service = issuer.service().await;
    let mut header = Header::new(Algorithm::HS256);
    header.kid = Some("k1".to_owned());
    let claims = json!({ "iss": issuer.address, "sub": "1", "aud": "retort", "exp": 4_000_000_000_u64 });
    let token = jsonwebtoken::encode(&header, &claims, &EncodingKey::from_secret(&[1; 32])).unwrap();

    let answer = call(&service, &token).await;

    assert_eq!(reason(&answer), (401, "the algorithm of the access token is not allowed".to_owned()));
}

#[tokio::test]
async fn issuers_key_over_a_token_that_says_it_is_ours() {
    let issuer = Issuer::start().await;
    let service = issuer.service().await;
    let ours = claims(&service.account);
    let changes = ["iss", "sub", "aud"].map(|name| (name, ours[name].clone()));

    let answer = call(&service, &issuer.token("k1", [1; 32], &changes)).await;

    assert_eq!(answer.status, 401);
}

#[tokio::test]
async fn subject_elsewhere_that_is_the_id_of_an_account_here() {
    let issuer = Issuer::start().await;
    let service = issuer.service().await;
    service.insert_sample(&service.account, &crate::support::sample_id(1)).await;

    let answer = call(&service, &issuer.token("k1", [1; 32], &[("sub", json!(service.account))])).await;

    // The subject is another account, which owns nothing yet.
    assert_eq!((answer.status, answer.json()["data"].clone()), (200, json!([])));
}

#[tokio::test]
async fn flood_of_the_issuers_unknown_keys() {
    let issuer = Issuer::start().await;
    let service = issuer.service().await;
    for n in 0..40 {
        let answer = call(&service, &issuer.token(&format!("made-up-{n}"), [1; 32], &[])).await;

        assert_eq!(reason(&answer), (401, "the key of the access token is unknown".to_owned()));
    }

    assert_eq!(issuer.requests.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn discovery_document_of_another_issuer() {
    let issuer = Issuer::start().await;
    // The same document under another name: its `issuer` differs from the requested one.
    let alias = issuer.address.replace("127.0.0.1", "localhost");
    let service = Service::start_without_workers(&[("AUTH_ISSUER", &alias)]).await;

    let answer = call(&service, &issuer.token("k1", [1; 32], &[("iss", json!(alias))])).await;

    assert_eq!((answer.status, issuer.requests.load(Ordering::Relaxed)), (503, 0));
}
