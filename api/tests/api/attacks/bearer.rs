//! Access tokens that are invalid, or belong to another account.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use chrono::Utc;
use ed25519_dalek::{SigningKey, pkcs8::EncodePrivateKey};
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use serde_json::{Value, json};

use crate::{
    browser::PAGE,
    support::{Answer, Service, answer, claims},
};

const SAMPLES: &str = "/generator/v1/samples";

async fn call(service: &Service, token: &str) -> Answer {
    answer(service.http.get(format!("{}{SAMPLES}", service.base)).bearer_auth(token)).await
}

async fn assert_refused(service: &Service, token: &str, reason: &str) {
    let answer = call(service, token).await;

    assert_eq!((answer.status, answer.json()["detail"][0]["msg"].clone()), (401, json!(reason)));
    let challenge =
        format!("Bearer realm=\"retort\", error=\"invalid_token\", error_description=\"{reason}\"");
    assert_eq!(answer.header("www-authenticate"), challenge);
}

/// Encodes `header.claims.signature` with the first two as JSON.
fn token(header: &Value, claims: &Value, signature: &str) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    format!("{}.{}.{signature}", part(header), part(claims))
}

/// Builds a token with `header` and `claims`, signed with a foreign key.
fn forged(header: Value, claims: &Value) -> String {
    let key = SigningKey::from_bytes(&[7; 32]).to_pkcs8_der().unwrap();
    let header: Header = serde_json::from_value(header).unwrap();
    jsonwebtoken::encode(&header, claims, &EncodingKey::from_ed_der(key.as_bytes())).unwrap()
}

fn with(service: &Service, name: &str, value: Value) -> Value {
    let mut claims = claims(&service.account);
    claims[name] = value;
    claims
}

async fn key_of(service: &Service) -> (String, String) {
    sqlx::query_as("select kid, public_key_pem from signing_keys").fetch_one(&service.pool).await.unwrap()
}

#[tokio::test]
async fn alg_none() {
    let service = Service::start_without_workers(&[]).await;
    let (kid, _) = key_of(&service).await;
    for alg in ["none", "None", "NONE", "nOnE"] {
        let header = json!({ "alg": alg, "typ": "at+jwt", "kid": kid });

        for signature in ["", "AAAA"] {
            let token = token(&header, &claims(&service.account), signature);
            assert_refused(&service, &token, "the access token is malformed").await;
        }
    }
}

#[tokio::test]
async fn hmac_keyed_with_the_public_key() {
    let service = Service::start_without_workers(&[]).await;
    let (kid, public) = key_of(&service).await;
    for alg in [Algorithm::HS256, Algorithm::HS384, Algorithm::HS512] {
        let mut header = Header::new(alg);
        (header.kid, header.typ) = (Some(kid.clone()), Some("at+jwt".to_owned()));
        let key = EncodingKey::from_secret(public.as_bytes());
        let token = jsonwebtoken::encode(&header, &claims(&service.account), &key).unwrap();

        assert_refused(&service, &token, "the algorithm of the access token is not allowed").await;
    }
}

#[tokio::test]
async fn hmac_keyed_with_nothing() {
    let service = Service::start_without_workers(&[]).await;
    let mut header = Header::new(Algorithm::HS256);
    (header.kid, header.typ) = (Some(String::new()), Some("at+jwt".to_owned()));
    let key = EncodingKey::from_secret(b"");
    let token = jsonwebtoken::encode(&header, &claims(&service.account), &key).unwrap();

    assert_refused(&service, &token, "the algorithm of the access token is not allowed").await;
}

#[tokio::test]
async fn another_asymmetric_algorithm_named_over_our_key() {
    let service = Service::start_without_workers(&[]).await;
    let (kid, _) = key_of(&service).await;
    let good = service.token(claims(&service.account)).await;
    let signature = good.rsplit('.').next().unwrap();
    for alg in ["RS256", "ES256", "PS256"] {
        let header = json!({ "alg": alg, "typ": "at+jwt", "kid": kid });
        let token = token(&header, &claims(&service.account), signature);

        assert_refused(&service, &token, "the algorithm of the access token is not allowed").await;
    }
}

#[tokio::test]
async fn kid_as_a_path_or_a_statement() {
    let service = Service::start_without_workers(&[]).await;
    for kid in
        ["../../../dev/null", "' or '1'='1", "x' union select 'AA', 'AA' --", "\u{0}", "http://evil.test/key"]
    {
        let header = json!({ "alg": "EdDSA", "typ": "at+jwt", "kid": kid });
        let token = forged(header, &claims(&service.account));

        assert_refused(&service, &token, "the key of the access token is unknown").await;
    }
}

#[tokio::test]
async fn kid_of_ours_over_a_strangers_signature() {
    let service = Service::start_without_workers(&[]).await;
    let (kid, _) = key_of(&service).await;
    let token = forged(json!({ "alg": "EdDSA", "typ": "at+jwt", "kid": kid }), &claims(&service.account));

    assert_refused(&service, &token, "the signature of the access token is wrong").await;
}

#[tokio::test]
async fn no_kid_to_get_any_key_tried() {
    let service = Service::start_without_workers(&[]).await;
    let token = forged(json!({ "alg": "EdDSA", "typ": "at+jwt" }), &claims(&service.account));

    assert_refused(&service, &token, "the access token names no key").await;
}

#[tokio::test]
async fn key_fetched_from_jku_or_x5u() {
    let service = Service::start_without_workers(&[]).await;
    let (kid, _) = key_of(&service).await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/jwks.json", listener.local_addr().unwrap());
    for member in ["jku", "x5u"] {
        for kid in [kid.as_str(), "mine"] {
            let header = json!({ "alg": "EdDSA", "typ": "at+jwt", "kid": kid, member: address });
            let answer = call(&service, &forged(header, &claims(&service.account))).await;
            assert_eq!(answer.status, 401, "{member}");
        }
    }

    let request = tokio::time::timeout(std::time::Duration::from_millis(200), listener.accept()).await;
    assert!(request.is_err(), "the service fetched a key from where the token said");
}

#[tokio::test]
async fn key_carried_in_the_token() {
    let service = Service::start_without_workers(&[]).await;
    let (kid, _) = key_of(&service).await;
    let public = SigningKey::from_bytes(&[7; 32]).verifying_key();
    let x = URL_SAFE_NO_PAD.encode(public.as_bytes());
    let jwk = json!({ "kty": "OKP", "crv": "Ed25519", "x": x });
    let token =
        forged(json!({ "alg": "EdDSA", "typ": "at+jwt", "kid": kid, "jwk": jwk }), &claims(&service.account));

    assert_refused(&service, &token, "the signature of the access token is wrong").await;
}

#[tokio::test]
async fn critical_extension_that_is_not_understood() {
    let service = Service::start_without_workers(&[]).await;
    let (kid, private): (String, String) = sqlx::query_as("select kid, private_key_pem from signing_keys")
        .fetch_one(&service.pool)
        .await
        .unwrap();
    let mut header = Header::new(Algorithm::EdDSA);
    (header.kid, header.typ) = (Some(kid), Some("at+jwt".to_owned()));
    header.crit = Some(vec!["b64".to_owned()]);
    let key = EncodingKey::from_ed_pem(private.as_bytes()).unwrap();
    let token = jsonwebtoken::encode(&header, &claims(&service.account), &key).unwrap();

    assert_refused(&service, &token, "the access token needs an extension that is not known").await;
}

#[tokio::test]
async fn expired() {
    let service = Service::start_without_workers(&[]).await;
    let token = service.token(with(&service, "exp", json!(Utc::now().timestamp() - 61))).await;

    assert_refused(&service, &token, "the access token expired").await;
}

#[tokio::test]
async fn expiry_that_is_no_number() {
    let service = Service::start_without_workers(&[]).await;
    for exp in [json!("never"), json!(null), json!(-1), json!({}), json!([])] {
        let token = service.token(with(&service, "exp", exp.clone())).await;

        assert_eq!(call(&service, &token).await.status, 401, "{exp}");
    }
}

#[tokio::test]
async fn not_valid_yet() {
    let service = Service::start_without_workers(&[]).await;
    let token = service.token(with(&service, "nbf", json!(Utc::now().timestamp() + 90))).await;

    assert_refused(&service, &token, "the access token is not valid yet").await;
}

#[tokio::test]
async fn wrong_audience() {
    let service = Service::start_without_workers(&[]).await;
    for audience in [json!("other"), json!([]), json!(["a", "b"]), json!("RETORT"), json!("retort ")] {
        let token = service.token(with(&service, "aud", audience.clone())).await;

        assert_eq!(call(&service, &token).await.status, 401, "{audience}");
    }
}

#[tokio::test]
async fn wrong_issuer() {
    let service = Service::start_without_workers(&[]).await;
    for issuer in [
        "https://retort.test/auth",
        "http://retort.test/auth/",
        "http://retort.test",
        "http://evil.test/auth",
    ] {
        let token = service.token(with(&service, "iss", json!(issuer))).await;

        assert_refused(&service, &token, "the access token is from another issuer").await;
    }
}

#[tokio::test]
async fn missing_claims() {
    let service = Service::start_without_workers(&[]).await;
    for name in ["exp", "iss", "aud", "sub"] {
        let mut claims = claims(&service.account);
        claims.as_object_mut().unwrap().remove(name);

        assert_eq!(call(&service, &service.token(claims).await).await.status, 401, "{name}");
    }
}

#[tokio::test]
async fn subject_that_is_no_account() {
    let service = Service::start_without_workers(&[]).await;
    for subject in ["acc_unknown", "", "' or true --", "\u{0}", "%"] {
        let token = service.token(with(&service, "sub", json!(subject))).await;

        assert_eq!(call(&service, &token).await.status, 401, "{subject:?}");
    }
}

#[tokio::test]
async fn claims_changed_after_signing() {
    let service = Service::start_without_workers(&[]).await;
    let good = service.token(claims(&service.account)).await;
    let parts: Vec<_> = good.split('.').collect();
    let changed = URL_SAFE_NO_PAD.encode(with(&service, "sub", json!("acc_other")).to_string());
    let token = format!("{}.{changed}.{}", parts[0], parts[2]);

    assert_refused(&service, &token, "the signature of the access token is wrong").await;
}

#[tokio::test]
async fn id_token_as_an_access_token() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    let tokens = PAGE.tokens(&service).await;

    let id_token = tokens["id_token"].as_str().unwrap();
    assert_refused(&service, id_token, "the token is not an access token").await;
}

#[tokio::test]
async fn refresh_token_as_an_access_token() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    let tokens = PAGE.tokens(&service).await;

    let refresh_token = tokens["refresh_token"].as_str().unwrap();
    assert_refused(&service, refresh_token, "the access token is malformed").await;
}

#[tokio::test]
async fn oversized_token() {
    let service = Service::start_without_workers(&[]).await;
    let long = service.token(with(&service, "scope", json!("a".repeat(9000)))).await;
    let longest = "a".repeat(60_000);

    assert_refused(&service, &long, "the access token is too long").await;
    assert_refused(&service, &longest, "the access token is too long").await;
    let far_too_long = "a".repeat(1_000_000);
    let request = service.http.get(format!("{}{SAMPLES}", service.base)).bearer_auth(far_too_long);
    // The server may close before the whole request is written.
    if let Ok(response) = request.send().await {
        assert_eq!(response.status(), 431);
    }
    assert_eq!(call(&service, &service.token(claims(&service.account)).await).await.status, 200);
}

#[tokio::test]
async fn token_in_the_query_or_the_body() {
    let service = Service::start_without_workers(&[]).await;
    let token = service.token(claims(&service.account)).await;
    let address = format!("{}{SAMPLES}", service.base);

    let query = answer(service.http.get(format!("{address}?access_token={token}"))).await;
    let body = answer(service.http.post(&address).form(&[("access_token", &token)])).await;
    let cookie = answer(service.http.get(&address).header("cookie", format!("access_token={token}"))).await;

    assert_eq!([query.status, body.status, cookie.status], [401, 401, 401]);
}

#[tokio::test]
async fn two_authorization_headers() {
    let service = Service::start_without_workers(&[]).await;
    let token = service.token(claims(&service.account)).await;
    let request = service.http.get(format!("{}{SAMPLES}", service.base));
    let request = request.header("authorization", format!("Bearer {token}"));
    let answer = answer(request.header("authorization", "Bearer other")).await;

    assert_eq!(answer.status, 401);
    assert_eq!(answer.json()["detail"][0]["msg"], "more than one authorization header");
}

#[tokio::test]
async fn scope_that_only_begins_like_the_needed_one() {
    let service = Service::start_without_workers(&[]).await;
    for scope in [
        "generator_api.samples:reader",
        "generator_api.samples:rea",
        "GENERATOR_API.SAMPLES:READ",
        "generator_api.samples:*",
        "*",
        "generator_api.samples:create\tgenerator_api.samples:read",
    ] {
        let token = service.token(with(&service, "scope", json!(scope))).await;

        assert_eq!(call(&service, &token).await.status, 403, "{scope}");
    }
}

#[tokio::test]
async fn flood_of_unknown_keys_keeps_the_database_out_of_it() {
    let service = Service::start_without_workers(&[]).await;
    let good = service.token(claims(&service.account)).await;
    assert_eq!(call(&service, &good).await.status, 200);
    sqlx::query("alter table signing_keys rename to hidden_keys").execute(&service.pool).await.unwrap();
    for n in 0..50 {
        let header = json!({ "alg": "EdDSA", "typ": "at+jwt", "kid": format!("made-up-{n}") });

        let answer = call(&service, &forged(header, &claims(&service.account))).await;
        assert_eq!(answer.status, 401, "{answer:?}");
    }

    assert_eq!(call(&service, &good).await.status, 200);
}

#[tokio::test]
async fn account_disabled_while_its_token_is_good() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    let tokens = PAGE.tokens(&service).await;
    sqlx::query("update accounts set disabled_at = now()").execute(&service.pool).await.unwrap();

    let access_token = tokens["access_token"].as_str().unwrap();
    assert_refused(&service, access_token, "the account is unknown or disabled").await;
    let refreshed = PAGE.refresh(&service, tokens["refresh_token"].as_str().unwrap()).await;
    assert_eq!(refreshed.json()["error"], "invalid_grant");
}
