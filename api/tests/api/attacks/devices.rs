//! Device codes that are guessed, stolen, or forced on a victim.

use std::collections::BTreeMap;

use crate::{
    auth_device::{begin, decide, error, let_time_pass, poll, type_code},
    browser::{Browser, PAGE, PROGRAM, hidden},
    support::Service,
};

const GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";

#[tokio::test]
async fn user_codes_guessed() {
    let service = Service::start_without_workers(&[("RATE_LOGIN_PER_MINUTE", "3")]).await;
    PROGRAM.register(&service).await;
    begin(&service).await;
    let browser = Browser::new(&service);
    let mut statuses = Vec::new();
    for guess in ["BBBB-BBBB", "%", "' or true --", "CCCC-CCCC"] {
        statuses.push(type_code(&browser, guess).await.status);
    }

    assert_eq!(statuses, [403, 403, 403, 429]);
}

#[tokio::test]
async fn device_code_of_another_application() {
    let service = Service::start_without_workers(&[]).await;
    PROGRAM.register(&service).await;
    PAGE.register(&service).await;
    let begun = begin(&service).await;
    let browser = Browser::new(&service);
    let page = type_code(&browser, begun["user_code"].as_str().unwrap()).await;
    decide(&browser, &page, "allow").await;

    let code = begun["device_code"].as_str().unwrap();
    let form = BTreeMap::from([("grant_type", GRANT), ("device_code", code)]);
    assert_eq!(error(&PAGE.post(&service, "/auth/token", form).await), "invalid_grant");

    assert_eq!(poll(&service, &begun).await.status, 200);
}

#[tokio::test]
async fn device_code_used_twice() {
    let service = Service::start_without_workers(&[]).await;
    PROGRAM.register(&service).await;
    let begun = begin(&service).await;
    let browser = Browser::new(&service);
    let page = type_code(&browser, begun["user_code"].as_str().unwrap()).await;
    decide(&browser, &page, "allow").await;

    let (one, other) = tokio::join!(poll(&service, &begun), poll(&service, &begun));

    let mut statuses = [one.status, other.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 400]);
}

#[tokio::test]
async fn device_that_asks_too_often() {
    let service = Service::start_without_workers(&[]).await;
    PROGRAM.register(&service).await;
    let begun = begin(&service).await;

    assert_eq!(error(&poll(&service, &begun).await), "authorization_pending");
    assert_eq!(error(&poll(&service, &begun).await), "slow_down");
    let (interval,): (i32,) =
        sqlx::query_as("select interval_seconds from device_codes").fetch_one(&service.pool).await.unwrap();
    let_time_pass(&service).await;

    assert_eq!((interval, error(&poll(&service, &begun).await)), (10, "authorization_pending".to_owned()));
}

#[tokio::test]
async fn device_code_after_its_time() {
    let service = Service::start_without_workers(&[]).await;
    PROGRAM.register(&service).await;
    let begun = begin(&service).await;
    sqlx::query("update device_codes set expires_at = now()").execute(&service.pool).await.unwrap();

    let typed = type_code(&Browser::new(&service), begun["user_code"].as_str().unwrap()).await;

    assert_eq!((typed.status, error(&poll(&service, &begun).await)), (403, "expired_token".to_owned()));
}

#[tokio::test]
async fn device_let_in_by_another_page() {
    let service = Service::start_without_workers(&[]).await;
    PROGRAM.register(&service).await;
    let begun = begin(&service).await;
    let browser = Browser::new(&service);
    let page = type_code(&browser, begun["user_code"].as_str().unwrap()).await;
    let (request, proof) = (hidden(&page, "request"), hidden(&page, "proof"));
    let other = begin(&service).await["user_code"].as_str().unwrap().replace('-', "");
    for form in [
        [("request", &*request), ("proof", ""), ("decision", "allow")],
        [("request", &*request), ("proof", "made-up"), ("decision", "allow")],
        // CSRF proof of one device's page, sent for another device.
        [("request", &*other), ("proof", &*proof), ("decision", "allow")],
    ] {
        assert_eq!(browser.post("/auth/device/decision", &form).await.status, 403, "{form:?}");
    }
    let form = [("request", &*request), ("proof", &*proof), ("decision", "allow")];
    let elsewhere =
        browser.post_with("/auth/device/decision", &form, &[("origin", "https://evil.test")]).await;
    assert_eq!(elsewhere.status, 403);
    assert_eq!(error(&poll(&service, &begun).await), "authorization_pending");
}

#[tokio::test]
async fn link_that_lets_a_strangers_device_in_by_itself() {
    let service = Service::start_without_workers(&[]).await;
    PROGRAM.register(&service).await;
    let browser = Browser::new(&service);
    let own = begin(&service).await;
    type_code(&browser, own["user_code"].as_str().unwrap()).await;
    let strangers = begin(&service).await;

    let code = strangers["user_code"].as_str().unwrap();
    let page = browser.get(&format!("/auth/device?user_code={code}")).await;

    // The user is logged in, and still has to enter the code and then to allow.
    assert!(page.text.contains("If you did not begin this on a device of yours"), "{}", page.text);
    assert_eq!(error(&poll(&service, &strangers).await), "authorization_pending");
}

#[tokio::test]
async fn device_flow_without_registration_or_beyond_it() {
    let service = Service::start_without_workers(&[]).await;
    PROGRAM.register(&service).await;
    PAGE.register(&service).await;
    let ask = async |application: &crate::browser::Application, scope: &str| {
        let form = BTreeMap::from([("scope", scope)]);
        error(&application.post(&service, "/auth/device_authorization", form).await)
    };

    assert_eq!(ask(&PAGE, "openid").await, "unauthorized_client");
    assert_eq!(ask(&PROGRAM, "generator_api.samples:delete").await, "invalid_scope");
}

#[tokio::test]
async fn flood_of_device_codes() {
    let service = Service::start_without_workers(&[("RATE_LOGIN_PER_MINUTE", "2")]).await;
    PROGRAM.register(&service).await;
    let mut statuses = Vec::new();
    for _ in 0..8 {
        statuses.push(PROGRAM.post(&service, "/auth/device_authorization", BTreeMap::new()).await.status);
    }

    assert_eq!(statuses, [200, 200, 200, 200, 200, 200, 429, 429]);
}
