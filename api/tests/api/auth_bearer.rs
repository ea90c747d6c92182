//! Bearer authentication of the operations.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use chrono::Utc;
use ed25519_dalek::{SigningKey, pkcs8::EncodePrivateKey};
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Answer, Service, answer, claims, sign};

const SAMPLES: &str = "/generator/v1/samples";

async fn list_with(service: &Service, authorization: Option<String>) -> Answer {
    let mut request = service.http.get(format!("{}{SAMPLES}", service.base));
    if let Some(authorization) = authorization {
        request = request.header("authorization", authorization);
    }
    answer(request).await
}

#[tokio::test]
async fn without_credentials_the_challenge_has_no_error() {
    let service = Service::start_without_workers(&[]).await;

    for authorization in [None, Some("Basic ZGVtbzpkZW1v".to_owned())] {
        let answer = list_with(&service, authorization).await;

        assert_eq!(answer.status, 401);
        assert_eq!(answer.header("www-authenticate"), "Bearer realm=\"retort\"");
        assert_eq!(answer.faults(), [("header.authorization".to_owned(), "not_authenticated".to_owned())]);
    }
}

#[tokio::test]
async fn a_token_is_refused_for_each_thing_that_can_be_wrong_with_it() {
    let service = Service::start_without_workers(&[]).await;
    let now = Utc::now().timestamp();
    let with = |name: &str, value: Value| {
        let mut claims = claims(&service.account);
        claims[name] = value;
        claims
    };
    let without = |name: &str| {
        let mut claims = claims(&service.account);
        claims.as_object_mut().unwrap().remove(name);
        claims
    };
    let cases = [
        (with("exp", json!(now - 61)), "the access token expired"),
        (with("nbf", json!(now + 90)), "the access token is not valid yet"),
        (with("iss", json!("http://elsewhere.test/auth")), "the access token is from another issuer"),
        (with("aud", json!("other")), "the access token is for another audience"),
        (with("sub", json!("acc_unknown")), "the account is unknown or disabled"),
        (without("exp"), "the access token lacks a claim"),
        (without("iss"), "the access token lacks a claim"),
        (without("aud"), "the access token lacks a claim"),
    ];
    for (claims, why) in cases {
        let token = service.token(claims.clone()).await;
        let answer = list_with(&service, Some(format!("Bearer {token}"))).await;

        assert_eq!(answer.status, 401, "{claims}");
        let challenge =
            format!("Bearer realm=\"retort\", error=\"invalid_token\", error_description=\"{why}\"");
        assert_eq!(answer.header("www-authenticate"), challenge, "{claims}");
    }
    let lenient =
        [with("exp", json!(now - 30)), with("nbf", json!(now + 30)), with("aud", json!(["x", "retort"]))];
    for claims in lenient {
        let token = service.token(claims.clone()).await;

        assert_eq!(list_with(&service, Some(format!("bearer {token}"))).await.status, 200, "{claims}");
    }
}

#[tokio::test]
async fn a_token_signed_otherwise_than_by_us_is_refused() {
    let service = Service::start_without_workers(&[]).await;
    let (kid, public): (String, String) = sqlx::query_as("select kid, public_key_pem from signing_keys")
        .fetch_one(&service.pool)
        .await
        .unwrap();
    let claims = claims(&service.account);
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let unsigned = format!("{}.{}.", part(&json!({ "alg": "none", "kid": kid })), part(&claims));
    let mut hmac = Header::new(Algorithm::HS256);
    hmac.kid = Some(kid.clone());
    let with_public_key = EncodingKey::from_secret(public.as_bytes());
    let confused = jsonwebtoken::encode(&hmac, &claims, &with_public_key).unwrap();
    let stranger = SigningKey::from_bytes(&[7; 32]).to_pkcs8_der().unwrap();
    let forged = sign(&kid, &EncodingKey::from_ed_der(stranger.as_bytes()), &claims);
    let unknown_key = sign("no_such_key", &EncodingKey::from_ed_der(stranger.as_bytes()), &claims);
    let good = service.token(claims).await;
    let (head, signature) = good.rsplit_once('.').unwrap();
    let mut untyped = Header::new(Algorithm::EdDSA);
    untyped.kid = Some(kid.clone());
    let stranger_key = EncodingKey::from_ed_der(stranger.as_bytes());
    let untyped = jsonwebtoken::encode(&untyped, &json!({}), &stranger_key).unwrap();
    let tampered =
        format!("{head}.{}{}", if signature.starts_with('A') { "B" } else { "A" }, &signature[1..]);
    let cases = [
        (unsigned, "the access token is malformed"),
        (confused, "the algorithm of the access token is not allowed"),
        (forged, "the signature of the access token is wrong"),
        (unknown_key, "the key of the access token is unknown"),
        (untyped, "the token is not an access token"),
        ("a".repeat(9000), "the access token is too long"),
        (tampered, "the signature of the access token is wrong"),
        ("nonsense".to_owned(), "the access token is malformed"),
        (String::new(), "the access token is missing"),
    ];
    for (token, why) in cases {
        let answer = list_with(&service, Some(format!("Bearer {token}"))).await;

        assert_eq!(answer.status, 401, "{token}");
        assert_eq!(answer.json()["detail"][0]["msg"], json!(why), "{token}");
        assert_eq!(answer.json()["detail"][0]["type"], "invalid_token");
    }
}

#[tokio::test]
async fn each_operation_needs_its_scope_and_the_search_needs_none() {
    let service = Service::start_without_workers(&[]).await;
    let mut poor = claims(&service.account);
    poor["scope"] = json!("generator_api.samples:update openid");
    let token = service.token(poor).await;
    let call = |method: Method, path: &str| {
        let request = service.http.request(method, format!("{}{path}", service.base)).bearer_auth(&token);
        answer(request.header("content-type", "application/json").body("{}"))
    };

    let list = call(Method::GET, SAMPLES).await;
    let retrieve = call(Method::GET, "/generator/v1/samples/a").await;
    let create = call(Method::POST, SAMPLES).await;
    let search = call(Method::POST, "/synth/v1/treesearch").await;

    let needs = |scope: &str| {
        format!(
            "Bearer realm=\"retort\", error=\"insufficient_scope\", \
             error_description=\"the access token lacks a scope\", scope=\"generator_api.samples:{scope}\""
        )
    };
    assert_eq!((list.status, list.header("www-authenticate")), (403, needs("read").as_str()));
    assert_eq!((retrieve.status, retrieve.header("www-authenticate")), (403, needs("read").as_str()));
    assert_eq!((create.status, create.header("www-authenticate")), (403, needs("create").as_str()));
    assert_eq!(search.status, 422);
}

#[tokio::test]
async fn a_disabled_account_is_refused() {
    let service = Service::start_without_workers(&[]).await;
    sqlx::query("update accounts set disabled_at = now()").execute(&service.pool).await.unwrap();

    let answer = service.get(SAMPLES).await;

    assert_eq!(answer.status, 401);
    assert_eq!(answer.json()["detail"][0]["msg"], "the account is unknown or disabled");
}
