//! Browser flows: successful logins, and how errors are reported.

use serde_json::json;

use crate::{
    browser::{Browser, PAGE, PROGRAM, REDIRECT, RedirectTarget, SERVER},
    support::{ISSUER, PASSWORD, Service, answer},
};

const SAMPLES: &str = "/generator/v1/samples";

#[tokio::test]
async fn a_person_logs_in_and_agrees_and_the_application_gets_tokens_for_a_code() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    let browser = Browser::new(&service);

    let consent = browser.log_in(&PAGE.request(&[])).await;

    assert_eq!(consent.status, 200);
    for text in ["Test &lt;app_page&gt;", "demo@example.org", "app.test", "Read samples", "offline_access"] {
        assert!(consent.text.contains(text), "{text}: {}", consent.text);
    }
    let redirected = RedirectTarget::of(&browser.decide(&consent, "allow").await);
    assert_eq!(redirected.address, REDIRECT);
    assert_eq!((redirected.query["state"].as_str(), redirected.query["iss"].as_str()), ("xyz", ISSUER));

    let tokens = PAGE.exchange(&service, &redirected.code(), &[]).await;
    assert_eq!((tokens.status, tokens.header("cache-control")), (200, "no-store"));
    let tokens = tokens.json();
    assert_eq!(tokens["scope"], "openid email offline_access generator_api.samples:read");
    let list = service.http.get(format!("{}{SAMPLES}", service.base));
    assert_eq!(answer(list.bearer_auth(tokens["access_token"].as_str().unwrap())).await.status, 200);
    let refreshed = PAGE.refresh(&service, tokens["refresh_token"].as_str().unwrap()).await;
    assert_eq!(refreshed.json()["scope"], tokens["scope"]);
    // A user who has agreed to a confidential application is not asked again, for the same scopes or fewer.
    let again = RedirectTarget::of(&browser.get(&PAGE.request(&[("scope", "openid")])).await);
    assert_eq!(again.code().len(), 43);
    let more = browser.get(&PAGE.request(&[("scope", "openid generator_api.samples:create")])).await;
    assert!(more.text.contains("<h1>Allow access</h1>"), "{more:?}");
}

#[tokio::test]
async fn the_implicit_flow_puts_the_token_behind_the_hash() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    let browser = Browser::new(&service);
    let changes = [("response_type", "token"), ("scope", "generator_api.samples:read offline_access")];

    let redirected = browser.log_in_and_allow(&PAGE.request(&changes)).await;

    assert_eq!((redirected.address.as_str(), redirected.query.len()), (REDIRECT, 0));
    let fragment = &redirected.fragment;
    assert_eq!((fragment["token_type"].as_str(), fragment["expires_in"].as_str()), ("Bearer", "3600"));
    assert_eq!(fragment["scope"], "generator_api.samples:read");
    assert_eq!((fragment["state"].as_str(), fragment.get("refresh_token")), ("xyz", None));
    let list = service.http.get(format!("{}{SAMPLES}", service.base));
    assert_eq!(answer(list.bearer_auth(&fragment["access_token"])).await.status, 200);
    let both = [("response_type", "id_token token"), ("scope", "openid email")];
    let both = browser.log_in_and_allow(&PAGE.request(&both)).await;
    assert_eq!(both.fragment["id_token"].split('.').count(), 3);
}

#[tokio::test]
async fn disabled_flows_are_neither_offered_nor_served() {
    let settings = [("AUTH_IMPLICIT", "off"), ("AUTH_PASSWORD_GRANT", "off")];
    let service = Service::start_without_workers(&settings).await;
    PAGE.register(&service).await;

    let implicit = Browser::new(&service).get(&PAGE.request(&[("response_type", "token")])).await;
    let form = [
        ("grant_type", "password"),
        ("client_id", "retort-cli"),
        ("username", "demo@example.org"),
        ("password", PASSWORD),
    ];
    let password = answer(service.http.post(format!("{}/auth/token", service.base)).form(&form)).await;
    let discovery = format!("{}/auth/.well-known/openid-configuration", service.base);
    let discovery = answer(service.http.get(discovery)).await.json();

    assert_eq!(RedirectTarget::of(&implicit).error(), "unsupported_response_type");
    assert_eq!(password.json()["error"], "unsupported_grant_type");
    assert_eq!(discovery["response_types_supported"], json!(["code"]));
    assert_eq!(
        discovery["grant_types_supported"],
        json!(["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"])
    );
}

#[tokio::test]
async fn an_application_without_a_scope_gets_the_service_and_nothing_of_the_person() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;

    let redirected = Browser::new(&service).log_in_and_allow(&PAGE.request(&[("scope", "")])).await;
    let tokens = PAGE.exchange(&service, &redirected.code(), &[]).await.json();

    assert_eq!(
        tokens["scope"],
        "generator_api.samples:create generator_api.samples:read generator_api.models:read"
    );
    assert_eq!((tokens.get("id_token"), tokens.get("refresh_token")), (None, None));
}

#[tokio::test]
async fn an_account_gives_no_more_than_it_has() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    sqlx::query("update accounts set scopes = '{openid,generator_api.samples:read}'")
        .execute(&service.pool)
        .await
        .unwrap();
    let browser = Browser::new(&service);

    let less = browser.log_in_and_allow(&PAGE.request(&[])).await;
    let nothing = browser.log_in_and_allow(&PAGE.request(&[("scope", "generator_api.samples:create")])).await;

    let tokens = PAGE.exchange(&service, &less.code(), &[]).await.json();
    assert_eq!(tokens["scope"], "openid generator_api.samples:read");
    assert_eq!(nothing.error(), "access_denied");
}

#[tokio::test]
async fn prompts_and_the_age_of_the_login_are_obeyed() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    let browser = Browser::new(&service);
    let request = async |prompt: &str| browser.get(&PAGE.request(&[("prompt", prompt)])).await;

    assert_eq!(RedirectTarget::of(&request("none").await).error(), "login_required");
    let consent = browser.log_in(&PAGE.request(&[("prompt", "login consent")])).await;
    assert!(consent.text.contains("<h1>Allow access</h1>"));
    assert_eq!(RedirectTarget::of(&request("none").await).error(), "consent_required");
    let redirected = RedirectTarget::of(&browser.decide(&consent, "allow").await);
    assert_eq!(redirected.code().len(), 43);
    assert_eq!(RedirectTarget::of(&request("none").await).code().len(), 43);
    assert!(request("consent").await.text.contains("<h1>Allow access</h1>"));
    assert!(request("login").await.text.contains("<h1>Log in</h1>"));
    assert_eq!(RedirectTarget::of(&request("none login").await).error(), "invalid_request");

    sqlx::query("update browser_sessions set authenticated_at = now() - interval '1 hour'")
        .execute(&service.pool)
        .await
        .unwrap();
    let young = browser.get(&PAGE.request(&[("max_age", "60")])).await;
    assert!(young.text.contains("<h1>Log in</h1>"));
    let old = browser.get(&PAGE.request(&[("max_age", "7200")])).await;
    assert_eq!(RedirectTarget::of(&old).code().len(), 43);
}

#[tokio::test]
async fn errors_go_to_the_application_with_its_state() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    PROGRAM.register(&service).await;
    let cases: &[(&[(&str, &str)], &str)] = &[
        (&[("response_type", "")], "invalid_request"),
        (&[("response_type", "code token")], "unsupported_response_type"),
        (&[("response_type", "id_token")], "unsupported_response_type"),
        (&[("response_mode", "form_post")], "invalid_request"),
        (&[("scope", "generator_api.samples:delete")], "invalid_scope"),
        (&[("scope", "root")], "invalid_scope"),
        (&[("code_challenge", "")], "invalid_request"),
        (&[("code_challenge", "short")], "invalid_request"),
        (&[("prompt", "everything")], "invalid_request"),
        (&[("max_age", "-1")], "invalid_request"),
        (&[("request", "eyJ")], "request_not_supported"),
        (&[("request_uri", "https://app.test/request")], "request_uri_not_supported"),
        (&[("response_type", "id_token token"), ("nonce", "")], "invalid_request"),
        (&[("response_type", "id_token token"), ("scope", "email")], "invalid_scope"),
        (&[("response_type", "token"), ("response_mode", "query")], "invalid_request"),
    ];
    let browser = Browser::new(&service);
    for (changes, error) in cases {
        let answer = browser.get(&PAGE.request(changes)).await;
        let redirected = RedirectTarget::of(&answer);

        assert_eq!((answer.status, redirected.error()), (303, *error), "{changes:?}");
        let all: std::collections::BTreeMap<_, _> =
            redirected.query.iter().chain(&redirected.fragment).collect();
        assert_eq!(all[&"state".to_owned()], "xyz", "{changes:?}");
        assert_eq!(all[&"iss".to_owned()], ISSUER, "{changes:?}");
    }
    let implicit = browser.get(&PROGRAM.request(&[("response_type", "token")])).await;
    assert_eq!(RedirectTarget::of(&implicit).error(), "unauthorized_client");
    let consent = browser.log_in(&PAGE.request(&[])).await;
    let refused = browser.decide(&consent, "deny").await;
    assert_eq!(RedirectTarget::of(&refused).error(), "access_denied");
}

#[tokio::test]
async fn a_program_on_any_loopback_port_needs_consent_every_time() {
    let service = Service::start_without_workers(&[]).await;
    PROGRAM.register(&service).await;
    let browser = Browser::new(&service);
    let redirect = ("redirect_uri", "http://127.0.0.1:49152/callback");

    let redirected = browser.log_in_and_allow(&PROGRAM.request(&[redirect])).await;
    let again = browser.get(&PROGRAM.request(&[redirect])).await;

    assert_eq!(redirected.address, redirect.1);
    let tokens = PROGRAM.exchange(&service, &redirected.code(), &[redirect]).await;
    assert_eq!(tokens.status, 200, "{tokens:?}");
    assert!(again.text.contains("<h1>Allow access</h1>") && again.text.contains("a program on this machine"));
}

#[tokio::test]
async fn a_server_proves_itself_in_the_header_or_in_the_form() {
    let service = Service::start_without_workers(&[]).await;
    SERVER.register(&service).await;
    let browser = Browser::new(&service);

    let in_the_form = browser.log_in_and_allow(&SERVER.request(&[])).await.code();
    let in_the_form = SERVER.exchange(&service, &in_the_form, &[]).await;
    let code = browser.log_in_and_allow(&SERVER.request(&[])).await.code();
    let form = [
        ("grant_type", "authorization_code"),
        ("code", &code),
        ("redirect_uri", REDIRECT),
        ("code_verifier", crate::browser::VERIFIER),
    ];
    let request = service.http.post(format!("{}/auth/token", service.base)).form(&form);
    let secret: String = url::form_urlencoded::byte_serialize(crate::browser::SECRET.as_bytes()).collect();
    let in_the_header = answer(request.basic_auth("app_server", Some(secret))).await;

    assert_eq!((in_the_form.status, in_the_header.status), (200, 200), "{in_the_header:?}");
}

#[tokio::test]
async fn a_logout_needs_confirmation_and_ends_the_session() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    let browser = Browser::new(&service);
    let redirected = browser.log_in_and_allow(&PAGE.request(&[])).await;
    let id_token = PAGE.exchange(&service, &redirected.code(), &[]).await.json()["id_token"].clone();
    let logout_address = |address: &str| {
        let query = url::form_urlencoded::Serializer::new(String::new())
            .append_pair("id_token_hint", id_token.as_str().unwrap())
            .append_pair("post_logout_redirect_uri", address)
            .append_pair("state", "s1")
            .finish();
        format!("/auth/logout?{query}")
    };

    let elsewhere = browser.get(&logout_address("https://evil.test/")).await;
    let question = browser.get(&logout_address("https://app.test/bye")).await;
    let (request, proof) =
        (crate::browser::hidden(&question, "request"), crate::browser::hidden(&question, "proof"));
    let left = browser.post("/auth/logout", &[("request", &request), ("proof", &proof)]).await;

    assert_eq!(elsewhere.status, 400);
    assert!(question.text.contains("demo@example.org"));
    assert_eq!((left.status, left.header("location")), (303, "https://app.test/bye?state=s1"));
    // The only remaining cookie records that the user has logged in here before.
    assert_eq!(browser.cookies.borrow().keys().collect::<Vec<_>>(), ["retort_device"]);
    assert!(browser.get(&PAGE.request(&[])).await.text.contains("<h1>Log in</h1>"));
    assert!(browser.get("/auth/logout").await.text.contains("You are logged out"));
}

#[tokio::test]
async fn pages_are_held_to_what_they_need() {
    let service = Service::start_without_workers(&[("PUBLIC_URL", "https://retort.test")]).await;
    PAGE.register(&service).await;
    let browser = Browser::new(&service);

    let page = browser.get(&PAGE.request(&[("login_hint", "ada@example.org")])).await;

    assert_eq!(
        page.header("content-security-policy"),
        "default-src 'none'; style-src 'self'; form-action 'self' https://app.test; base-uri 'none'; \
         frame-ancestors 'none'"
    );
    assert_eq!((page.header("x-frame-options"), page.header("cache-control")), ("DENY", "no-store"));
    assert_eq!(page.header("referrer-policy"), "same-origin");
    let cookie = page.header("set-cookie");
    assert!(cookie.starts_with("__Host-retort_form="), "{cookie}");
    assert!(cookie.ends_with("; Path=/; HttpOnly; SameSite=Lax; Secure"), "{cookie}");
    assert!(page.text.contains("value=\"ada@example.org\"") && !page.text.contains("<script"));
    for text in ["<html lang=\"en\">", "<label for=\"email\">", "<label for=\"password\">", "<main>"] {
        assert!(page.text.contains(text), "{text}");
    }
    assert_eq!(browser.get("/auth/pages.css").await.header("content-type"), "text/css; charset=utf-8");
}
