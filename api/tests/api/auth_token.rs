//! Token endpoint: login, refresh, discovery.

use jsonwebtoken::{DecodingKey, Validation};
use serde_json::{Value, json};
use sqlx::ConnectOptions;

use crate::support::{Answer, ISSUER, PASSWORD, Service, answer};

async fn token(service: &Service, form: &[(&str, &str)]) -> Answer {
    answer(service.http.post(format!("{}/auth/token", service.base)).form(form)).await
}

async fn login(service: &Service, extra: &[(&str, &str)]) -> Answer {
    let mut form = vec![
        ("grant_type", "password"),
        ("client_id", "retort-cli"),
        ("username", "Demo@Example.org"),
        ("password", PASSWORD),
    ];
    form.extend(extra);
    token(service, &form).await
}

async fn refresh(service: &Service, token_text: &str) -> Answer {
    let form = [("grant_type", "refresh_token"), ("client_id", "retort-cli"), ("refresh_token", token_text)];
    token(service, &form).await
}

fn field(answer: &Answer, name: &str) -> String {
    answer.json()[name].as_str().unwrap_or_else(|| panic!("no {name}: {answer:?}")).to_owned()
}

#[tokio::test]
async fn a_login_gives_a_token_that_works_and_verifies_by_the_published_key() {
    let service = Service::start_without_workers(&[]).await;

    let answer = login(&service, &[]).await;

    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!((answer.header("cache-control"), answer.header("pragma")), ("no-store", "no-cache"));
    let body = answer.json();
    assert_eq!((&body["token_type"], &body["expires_in"]), (&json!("Bearer"), &json!(3600)));
    assert_eq!(body["scope"].as_str().unwrap().split(' ').count(), 20);
    let access = field(&answer, "access_token");
    let list = service.http.get(format!("{}/generator/v1/samples", service.base)).bearer_auth(&access);
    assert_eq!(list.send().await.unwrap().status(), 200);

    let jwks = service.http.get(format!("{}/auth/jwks.json", service.base)).send().await.unwrap();
    let jwks: Value = jwks.json().await.unwrap();
    let header = jsonwebtoken::decode_header(&access).unwrap();
    assert_eq!(header.kid.as_deref(), jwks["keys"][0]["kid"].as_str());
    let key = DecodingKey::from_ed_components(jwks["keys"][0]["x"].as_str().unwrap()).unwrap();
    let mut validation = Validation::new(jsonwebtoken::Algorithm::EdDSA);
    validation.set_audience(&["retort"]);
    validation.set_issuer(&[ISSUER]);
    let claims = jsonwebtoken::decode::<Value>(&access, &key, &validation).unwrap().claims;
    assert_eq!(claims["sub"], json!(service.account));
}

#[tokio::test]
async fn scopes_can_be_narrowed_but_not_widened() {
    let service = Service::start_without_workers(&[]).await;

    let narrow = login(&service, &[("scope", "generator_api.samples:read openid")]).await;
    let unknown = login(&service, &[("scope", "generator_api.samples:read root")]).await;
    let offline = login(&service, &[("scope", "openid offline_access")]).await;

    assert_eq!(narrow.json()["scope"], "generator_api.samples:read openid");
    assert_eq!(narrow.json().get("refresh_token"), None);
    assert_eq!((unknown.status, unknown.json()["error"].clone()), (400, json!("invalid_scope")));
    let wider = [
        ("grant_type", "refresh_token"),
        ("client_id", "retort-cli"),
        ("refresh_token", &field(&offline, "refresh_token")),
        ("scope", "generator_api.samples:read"),
    ];
    let wider = token(&service, &wider).await;
    assert_eq!((wider.status, wider.json()["error"].clone()), (400, json!("invalid_scope")));
    let again = refresh(&service, &field(&offline, "refresh_token")).await;
    assert_eq!((again.status, again.json()["scope"].clone()), (200, json!("openid offline_access")));
}

#[tokio::test]
async fn bad_requests_get_the_words_of_rfc_6749() {
    let service = Service::start_without_workers(&[("RATE_LOGIN_PER_MINUTE", "0")]).await;
    let cases: &[(&[(&str, &str)], &str)] = &[
        (&[], "invalid_request"),
        (&[("grant_type", "client_credentials")], "unsupported_grant_type"),
        (&[("grant_type", "password")], "invalid_request"),
        (&[("grant_type", "authorization_code"), ("client_id", "retort-cli")], "invalid_request"),
        (&[("grant_type", "password"), ("client_id", "other")], "invalid_client"),
        (&[("grant_type", "password"), ("grant_type", "password")], "invalid_request"),
        (&[("grant_type", "password"), ("client_id", "retort-cli"), ("username", "a")], "invalid_request"),
        (
            &[
                ("grant_type", "password"),
                ("client_id", "retort-cli"),
                ("username", "demo@example.org"),
                ("password", "wrong"),
            ],
            "invalid_grant",
        ),
        (
            &[
                ("grant_type", "password"),
                ("client_id", "retort-cli"),
                ("username", "nobody@example.org"),
                ("password", PASSWORD),
            ],
            "invalid_grant",
        ),
        (
            &[("grant_type", "refresh_token"), ("client_id", "retort-cli"), ("refresh_token", "made-up")],
            "invalid_grant",
        ),
    ];
    for (form, error) in cases {
        let answer = token(&service, form).await;

        assert_eq!((answer.status, answer.json()["error"].clone()), (400, json!(error)), "{form:?}");
        assert_eq!(answer.header("cache-control"), "no-store");
    }
    let json_body = service.http.post(format!("{}/auth/token", service.base)).json(&json!({}));
    assert_eq!(answer(json_body).await.json()["error"], "invalid_request");
}

#[tokio::test]
async fn a_refresh_token_works_once_and_its_reuse_ends_the_family() {
    let service = Service::start_without_workers(&[]).await;
    let first = field(&login(&service, &[]).await, "refresh_token");
    let unrelated = field(&login(&service, &[]).await, "refresh_token");

    let second = refresh(&service, &first).await;
    let third = refresh(&service, &field(&second, "refresh_token")).await;
    let reused = refresh(&service, &first).await;
    let after = refresh(&service, &field(&third, "refresh_token")).await;
    let other = refresh(&service, &unrelated).await;

    assert_eq!((second.status, third.status), (200, 200));
    assert_eq!((reused.status, reused.json()["error"].clone()), (400, json!("invalid_grant")));
    assert_eq!((after.status, after.json()["error"].clone()), (400, json!("invalid_grant")));
    assert_eq!(other.status, 200);
}

#[tokio::test]
async fn an_expired_refresh_token_and_a_disabled_account_get_nothing() {
    let service = Service::start_without_workers(&[]).await;
    let expired = field(&login(&service, &[]).await, "refresh_token");
    sqlx::query("update refresh_tokens set expires_at = now()").execute(&service.pool).await.unwrap();
    let expired = refresh(&service, &expired).await;
    let good = field(&login(&service, &[]).await, "refresh_token");
    sqlx::query("update accounts set disabled_at = now()").execute(&service.pool).await.unwrap();

    let refreshed = refresh(&service, &good).await;
    let logged_in = login(&service, &[]).await;

    for answer in [expired, refreshed, logged_in] {
        assert_eq!((answer.status, answer.json()["error"].clone()), (400, json!("invalid_grant")));
    }
}

#[tokio::test]
async fn guessing_is_slowed_down() {
    let service = Service::start_without_workers(&[("RATE_LOGIN_PER_MINUTE", "2")]).await;

    let attempts = [login(&service, &[]).await, login(&service, &[]).await, login(&service, &[]).await];

    assert_eq!(attempts.each_ref().map(|answer| answer.status), [200, 200, 429]);
    assert_eq!(attempts[2].header("retry-after"), "30");
}

#[tokio::test]
async fn discovery_names_only_what_exists() {
    let service = Service::start_without_workers(&[]).await;
    let address = format!("{}/auth/.well-known/openid-configuration", service.base);

    let document = answer(service.http.get(address)).await.json();

    assert_eq!(document["issuer"], ISSUER);
    assert_eq!(document["token_endpoint"], format!("{ISSUER}/token"));
    assert_eq!(document["jwks_uri"], format!("{ISSUER}/jwks.json"));
    for endpoint in ["authorization", "token", "userinfo", "revocation", "introspection", "end_session"] {
        let address = document[format!("{endpoint}_endpoint")].as_str().unwrap();
        let path = address.strip_prefix("http://retort.test").unwrap();
        let there = answer(service.http.get(format!("{}{path}", service.base))).await;
        assert_ne!(there.status, 404, "{endpoint}");
    }
    let oauth = format!("{}/.well-known/oauth-authorization-server/auth", service.base);
    assert_eq!(answer(service.http.get(oauth)).await.json(), document);
}

#[tokio::test]
async fn processes_that_start_together_agree_on_one_key() {
    let service = Service::start_without_workers(&[]).await;
    sqlx::query("delete from signing_keys").execute(&service.pool).await.unwrap();
    let url = service.pool.connect_options().to_url_lossy().to_string();
    let variables = [("DATABASE_URL".to_owned(), url)].into();
    let config = api::config::Config::from_variables(&variables).unwrap();

    let start = || api::app::App::new(config.clone(), service.pool.clone());
    let (one, two, three) = tokio::join!(start(), start(), start());

    assert!(one.is_ok() && two.is_ok() && three.is_ok());
    let (keys,): (i64,) =
        sqlx::query_as("select count(*) from signing_keys").fetch_one(&service.pool).await.unwrap();
    assert_eq!(keys, 1);
}
