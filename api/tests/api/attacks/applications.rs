//! Attacks by applications that forge their identity or exceed their permissions.

use std::collections::BTreeMap;

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::json;

use crate::{
    browser::{Browser, PAGE, PROGRAM, REDIRECT, RedirectTarget, SECRET, SERVER, VERIFIER},
    support::{Answer, PASSWORD, Service, answer},
};

async fn code(service: &Service) -> String {
    Browser::new(service).log_in_and_allow(&SERVER.request(&[])).await.code()
}

async fn with_header(service: &Service, code: &str, header: String, more: &[(&str, &str)]) -> Answer {
    let mut form = vec![
        ("grant_type", "authorization_code"),
        ("code", code),
        ("redirect_uri", REDIRECT),
        ("code_verifier", VERIFIER),
    ];
    form.extend(more);
    let request = service.http.post(format!("{}/auth/token", service.base)).form(&form);
    answer(request.header("authorization", header)).await
}

#[tokio::test]
async fn secret_wrong_or_missing() {
    let service = Service::start_without_workers(&[]).await;
    SERVER.register(&service).await;
    let code = code(&service).await;
    for secret in ["", "wrong", " ", &SECRET.to_uppercase(), &SECRET[..20]] {
        let answer = SERVER.exchange(&service, &code, &[("client_secret", secret)]).await;

        assert_eq!(
            (answer.status, answer.json()["error"].clone()),
            (400, json!("invalid_client")),
            "{secret}"
        );
    }
    // None of the attempts has spent the code.
    assert_eq!(SERVER.exchange(&service, &code, &[]).await.status, 200);
}

#[tokio::test]
async fn secret_hash_as_the_secret() {
    let service = Service::start_without_workers(&[]).await;
    SERVER.register(&service).await;
    let (hash,): (String,) =
        sqlx::query_as("select encode(secret_hash, 'hex') from applications where client_id = $1")
            .bind(SERVER.client_id)
            .fetch_one(&service.pool)
            .await
            .unwrap();

    let answer = SERVER.exchange(&service, &code(&service).await, &[("client_secret", &hash)]).await;

    assert_eq!(answer.json()["error"], "invalid_client");
}

#[tokio::test]
async fn secret_shown_by_a_public_application() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    let code = Browser::new(&service).log_in_and_allow(&PAGE.request(&[])).await.code();

    // The two applications were confused: an early error is better than a secret sent for nothing.
    let answer = PAGE.exchange(&service, &code, &[("client_secret", "x")]).await;

    assert_eq!(answer.json()["error"], "invalid_client");
}

#[tokio::test]
async fn credentials_in_two_places() {
    let service = Service::start_without_workers(&[]).await;
    SERVER.register(&service).await;
    PAGE.register(&service).await;
    let code = code(&service).await;
    let secret: String = url::form_urlencoded::byte_serialize(SECRET.as_bytes()).collect();
    let header = format!("Basic {}", STANDARD.encode(format!("app_server:{secret}")));

    let both = with_header(&service, &code, header.clone(), &[("client_secret", SECRET)]).await;
    let differ = with_header(&service, &code, header, &[("client_id", "app_page")]).await;

    assert_eq!(
        (both.json()["error"].clone(), differ.json()["error"].clone()),
        (json!("invalid_request"), json!("invalid_request"))
    );
}

#[tokio::test]
async fn malformed_basic_credentials() {
    let service = Service::start_without_workers(&[]).await;
    SERVER.register(&service).await;
    let code = code(&service).await;
    for header in
        ["Basic", "Basic !!!!", "Basic YQ==", "Bearer abc", "Basic YXBwX3NlcnZlcjo=", "Basic JTAwOiUwMA=="]
    {
        let answer = with_header(&service, &code, header.to_owned(), &[]).await;

        assert_eq!(
            (answer.status, answer.json()["error"].clone()),
            (401, json!("invalid_client")),
            "{header}"
        );
        assert_eq!(answer.header("www-authenticate"), "Basic realm=\"retort\"");
    }
}

#[tokio::test]
async fn password_grant_by_an_application() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    let form = BTreeMap::from([
        ("grant_type", "password"),
        ("username", "demo@example.org"),
        ("password", PASSWORD),
    ]);

    let answer = PAGE.post(&service, "/auth/token", form).await;

    assert_eq!((answer.status, answer.json()["error"].clone()), (400, json!("unauthorized_client")));
}

#[tokio::test]
async fn grant_that_is_not_offered() {
    let service = Service::start_without_workers(&[]).await;
    SERVER.register(&service).await;
    for grant in
        ["client_credentials", "implicit", "urn:ietf:params:oauth:grant-type:token-exchange", "Password"]
    {
        let answer = SERVER.post(&service, "/auth/token", BTreeMap::from([("grant_type", grant)])).await;

        assert_eq!(answer.json()["error"], "unsupported_grant_type", "{grant}");
    }
}

#[tokio::test]
async fn flow_that_the_application_is_not_registered_for() {
    let service = Service::start_without_workers(&[]).await;
    PROGRAM.register(&service).await;
    let browser = Browser::new(&service);
    for response_type in ["token", "id_token token"] {
        let redirected =
            RedirectTarget::of(&browser.get(&PROGRAM.request(&[("response_type", response_type)])).await);

        assert_eq!(redirected.error(), "unauthorized_client");
    }
}

#[tokio::test]
async fn response_types_mixed_to_get_a_code_and_a_token() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    let browser = Browser::new(&service);
    for response_type in ["code token", "code id_token", "code id_token token", "none", "Code", "token token"]
    {
        let redirected =
            RedirectTarget::of(&browser.get(&PAGE.request(&[("response_type", response_type)])).await);

        assert_eq!(redirected.error(), "unsupported_response_type", "{response_type}");
    }
}

#[tokio::test]
async fn scope_that_the_application_is_not_registered_for() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    let browser = Browser::new(&service);
    for scope in
        ["generator_api.samples:delete", "openid generator_api.models:delete", "openid\tprofile", "*"]
    {
        let redirected = RedirectTarget::of(&browser.get(&PAGE.request(&[("scope", scope)])).await);

        assert_eq!(redirected.error(), "invalid_scope", "{scope}");
    }
}

#[tokio::test]
async fn form_that_is_something_else() {
    let service = Service::start_without_workers(&[]).await;
    let address = format!("{}/auth/token", service.base);
    let json = answer(service.http.post(&address).json(&json!({ "grant_type": "password" }))).await;
    let plain = service.http.post(&address).header("content-type", "text/plain").body("grant_type=password");
    let plain = answer(plain).await;
    let get = answer(service.http.get(format!("{address}?grant_type=password&username=a&password=b"))).await;
    let large = service.http.post(&address).form(&[("grant_type", "a".repeat(64 * 1024))]);
    let large = answer(large).await;

    assert_eq!((json.status, plain.status, get.status, large.status), (400, 400, 405, 413));
}

#[tokio::test]
async fn tokens_in_a_cache() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    let code = Browser::new(&service).log_in_and_allow(&PAGE.request(&[])).await.code();

    let token = PAGE.exchange(&service, &code, &[]).await;
    let refused = PAGE.exchange(&service, &code, &[]).await;

    for answer in [token, refused] {
        assert_eq!(answer.header("cache-control"), "no-store");
    }
}
