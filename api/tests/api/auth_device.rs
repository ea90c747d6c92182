//! Authorisation of a device without a browser, from another one.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::{
    browser::{Browser, PROGRAM, hidden},
    support::{Answer, PASSWORD, Service, answer},
};

pub async fn begin(service: &Service) -> Value {
    let form = BTreeMap::from([("scope", "openid email offline_access generator_api.samples:read")]);
    let begun = PROGRAM.post(service, "/auth/device_authorization", form).await;
    assert_eq!((begun.status, begun.header("cache-control")), (200, "no-store"), "{begun:?}");
    begun.json()
}

pub async fn poll(service: &Service, begun: &Value) -> Answer {
    let form = BTreeMap::from([
        ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"),
        ("device_code", begun["device_code"].as_str().unwrap()),
    ]);
    PROGRAM.post(service, "/auth/token", form).await
}

/// Resets the device's polling interval, so that it may poll immediately.
pub async fn let_time_pass(service: &Service) {
    sqlx::query("update device_codes set polled_at = null").execute(&service.pool).await.unwrap();
}

pub fn error(answer: &Answer) -> String {
    answer.json()["error"].as_str().unwrap_or_else(|| panic!("no error: {answer:?}")).to_owned()
}

/// Logs in at the address that the device shows, and enters the code; returns the next page.
pub async fn type_code(browser: &Browser<'_>, code: &str) -> Answer {
    let mut page = browser.get("/auth/device").await;
    if page.text.contains("<h1>Log in</h1>") {
        let proof = hidden(&page, "proof");
        let form = [
            ("to", "device-login"),
            ("proof", &proof),
            ("email", "demo@example.org"),
            ("password", PASSWORD),
        ];
        page = browser.follow(browser.post("/auth/login", &form).await).await;
    }
    let proof = hidden(&page, "proof");
    browser.post("/auth/device", &[("proof", &proof), ("user_code", code)]).await
}

pub async fn decide(browser: &Browser<'_>, page: &Answer, decision: &str) -> Answer {
    let (request, proof) = (hidden(page, "request"), hidden(page, "proof"));
    let form = [("request", &*request), ("proof", &*proof), ("decision", decision)];
    browser.post("/auth/device/decision", &form).await
}

#[tokio::test]
async fn a_device_waits_until_a_person_allows_it() {
    let service = Service::start_without_workers(&[]).await;
    PROGRAM.register(&service).await;
    let begun = begin(&service).await;
    let code = begun["user_code"].as_str().unwrap();

    assert_eq!((&begun["expires_in"], &begun["interval"]), (&json!(600), &json!(5)));
    assert_eq!(begun["verification_uri"], "http://retort.test/auth/device");
    assert_eq!(
        begun["verification_uri_complete"],
        format!("http://retort.test/auth/device?user_code={code}")
    );
    assert_eq!(error(&poll(&service, &begun).await), "authorization_pending");

    let browser = Browser::new(&service);
    let page = type_code(&browser, &code.to_lowercase().replace('-', " ")).await;
    for text in ["Test &lt;app_program&gt;", code, "demo@example.org", "Read samples"] {
        assert!(page.text.contains(text), "{text}: {}", page.text);
    }
    let done = decide(&browser, &page, "allow").await;
    assert!(done.text.contains("The device is let in."), "{done:?}");

    let tokens = poll(&service, &begun).await;
    assert_eq!(tokens.status, 200, "{tokens:?}");
    let tokens = tokens.json();
    assert_eq!(tokens["scope"], "openid email offline_access generator_api.samples:read");
    let list = service.http.get(format!("{}/generator/v1/samples", service.base));
    assert_eq!(answer(list.bearer_auth(tokens["access_token"].as_str().unwrap())).await.status, 200);
    assert_eq!(PROGRAM.refresh(&service, tokens["refresh_token"].as_str().unwrap()).await.status, 200);
}

#[tokio::test]
async fn a_link_brings_the_code_along_through_the_login() {
    let service = Service::start_without_workers(&[]).await;
    PROGRAM.register(&service).await;
    let begun = begin(&service).await;
    let code = begun["user_code"].as_str().unwrap();
    let browser = Browser::new(&service);

    let login = browser.get(&format!("/auth/device?user_code={code}")).await;
    let (request, proof) = (hidden(&login, "request"), hidden(&login, "proof"));
    let form = [("to", "device-login"), ("request", &*request), ("proof", &*proof)];
    let wrong = [&form[..], &[("email", "demo@example.org"), ("password", "wrong")]].concat();
    let right = [&form[..], &[("email", "demo@example.org"), ("password", PASSWORD)]].concat();
    let refused = browser.post("/auth/login", &wrong).await;
    let page = browser.follow(browser.post("/auth/login", &right).await).await;

    assert_eq!(refused.status, 403);
    assert!(refused.text.contains("value=\"device-login\""));
    assert!(page.text.contains(&format!("value=\"{code}\"")), "{}", page.text);
}

#[tokio::test]
async fn a_refused_device_gets_access_denied() {
    let service = Service::start_without_workers(&[]).await;
    PROGRAM.register(&service).await;
    let begun = begin(&service).await;
    let browser = Browser::new(&service);
    let page = type_code(&browser, begun["user_code"].as_str().unwrap()).await;

    let done = decide(&browser, &page, "deny").await;

    assert!(done.text.contains("The device is refused."), "{done:?}");
    assert_eq!(error(&poll(&service, &begun).await), "access_denied");
    assert_eq!(error(&poll(&service, &begun).await), "invalid_grant");
}
