//! Attacks that redirect an answer to the wrong place.

use crate::{
    browser::{Application, Browser, PAGE, PROGRAM, RedirectTarget, hidden},
    support::{PASSWORD, Service},
};

/// Asserts that nothing is redirected, and that the page shows the error.
async fn assert_stays(service: &Service, application: &Application, changes: &[(&str, &str)]) {
    let answer = Browser::new(service).get(&application.request(changes)).await;

    assert_eq!((answer.status, answer.header("location")), (400, ""), "{changes:?}");
    assert!(answer.text.contains("This did not work"), "{changes:?}");
}

#[tokio::test]
async fn unregistered_address() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    for address in
        ["https://evil.test/callback", "//evil.test/callback", "/callback", "", "javascript:alert(1)"]
    {
        assert_stays(&service, &PAGE, &[("redirect_uri", address)]).await;
    }
}

#[tokio::test]
async fn address_that_almost_matches() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    for address in [
        "https://app.test/callback/",
        "https://app.test/callback?",
        "https://app.test/callback?next=https://evil.test",
        "https://app.test/callback#",
        "https://app.test/callback/../../evil",
        "https://app.test/callback%2f..%2fevil",
        "https://app.test/CALLBACK",
        "https://APP.test/callback",
        "https://app.test:443/callback",
        "http://app.test/callback",
        "https://app.test.evil.test/callback",
        "https://app.test@evil.test/callback",
        "https://evil.test/?https://app.test/callback",
        "https://app.test/callback\r\nx: y",
        "https://app.test\\@evil.test/callback",
        " https://app.test/callback",
    ] {
        assert_stays(&service, &PAGE, &[("redirect_uri", address)]).await;
    }
}

#[tokio::test]
async fn loopback_address_that_leads_away() {
    let service = Service::start_without_workers(&[]).await;
    PROGRAM.register(&service).await;
    for address in [
        "http://127.0.0.1:80@evil.test/callback",
        "http://127.0.0.1.evil.test/callback",
        "http://127.0.0.1:99999/callback",
        "http://127.0.0.1:1/other",
        "http://localhost:1/callback",
        "https://127.0.0.1:1/callback",
        "http://127.1:1/callback",
    ] {
        assert_stays(&service, &PROGRAM, &[("redirect_uri", address)]).await;
    }
}

#[tokio::test]
async fn another_applications_address() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    PROGRAM.register(&service).await;

    assert_stays(&service, &PROGRAM, &[("redirect_uri", PAGE.redirects[0])]).await;
}

#[tokio::test]
async fn unknown_application() {
    let service = Service::start_without_workers(&[]).await;
    for client_id in ["app_nobody", "", "' or true --", "retort-cli "] {
        assert_stays(&service, &PAGE, &[("client_id", client_id)]).await;
    }
}

#[tokio::test]
async fn parameter_given_twice() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    for name in ["redirect_uri", "client_id", "scope", "response_type", "state"] {
        let request = format!("{}&{name}=https://evil.test/", PAGE.request(&[]));

        let answer = Browser::new(&service).get(&request).await;
        assert_eq!((answer.status, answer.header("location")), (400, ""), "{name}");
    }
}

#[tokio::test]
async fn error_as_an_open_redirect() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    let changes =
        [("redirect_uri", "https://evil.test/"), ("scope", "nonsense"), ("response_type", "nonsense")];

    assert_stays(&service, &PAGE, &changes).await;
}

#[tokio::test]
async fn login_form_that_leads_elsewhere() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    let browser = Browser::new(&service);
    let page = browser.get(&PAGE.request(&[])).await;
    let proof = hidden(&page, "proof");
    for request in ["https://evil.test/", "//evil.test", "/\\evil.test", "?x=//evil.test"] {
        let form =
            [("request", request), ("proof", &proof), ("email", "demo@example.org"), ("password", PASSWORD)];

        let answer = browser.post("/auth/login", &form).await;
        assert_eq!((answer.status, answer.header("location")), (403, ""), "{request}");
    }
}

#[tokio::test]
async fn logout_that_leads_elsewhere() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    let browser = Browser::new(&service);
    browser.log_in_and_allow(&PAGE.request(&[])).await;
    for query in [
        "post_logout_redirect_uri=https://evil.test/",
        "client_id=app_page&post_logout_redirect_uri=https://evil.test/",
        "client_id=app_page&post_logout_redirect_uri=https://app.test/callback",
        "client_id=app_nobody&post_logout_redirect_uri=https://app.test/bye",
        "id_token_hint=eyJhbGciOiJub25lIn0.e30.&post_logout_redirect_uri=https://app.test/bye",
    ] {
        let answer = browser.get(&format!("/auth/logout?{query}")).await;

        assert_eq!((answer.status, answer.header("location")), (400, ""), "{query}");
    }
}

#[tokio::test]
async fn line_break_in_the_state() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    let state = "a\r\nset-cookie: retort_session=x\r\n\r\n<script>";

    let answer = Browser::new(&service).get(&PAGE.request(&[("state", state), ("prompt", "none")])).await;

    assert_eq!(answer.headers.get("set-cookie"), None);
    assert_eq!(RedirectTarget::of(&answer).query["state"], state);
}

#[tokio::test]
async fn credentials_forwarded_by_the_redirect() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    let browser = Browser::new(&service);
    let page = browser.get(&PAGE.request(&[])).await;

    let login = browser.fill_in(&page, "demo@example.org", PASSWORD).await;
    let consent = browser.get(&PAGE.request(&[])).await;
    let decision = browser.decide(&consent, "allow").await;

    // 307 or 308 would forward the form, with the password in it, to the application.
    assert_eq!((login.status, decision.status), (303, 303));
    assert!(!decision.header("location").contains("decision"));
}
