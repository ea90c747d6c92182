//! Stolen or replayed authorization codes.

use serde_json::json;

use crate::{
    browser::{Browser, PAGE, PROGRAM, RedirectTarget, SERVER, VERIFIER},
    support::{Answer, Service, answer},
};

fn assert_invalid(answer: &Answer) {
    assert_eq!((answer.status, answer.json()["error"].clone()), (400, json!("invalid_grant")), "{answer:?}");
}

async fn list(service: &Service, token: &serde_json::Value) -> u16 {
    let request = service.http.get(format!("{}/generator/v1/samples", service.base));
    answer(request.bearer_auth(token.as_str().unwrap())).await.status
}

#[tokio::test]
async fn code_used_twice() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    let code = Browser::new(&service).log_in_and_allow(&PAGE.request(&[])).await.code();
    let tokens = PAGE.exchange(&service, &code, &[]).await.json();
    assert_eq!(list(&service, &tokens["access_token"]).await, 200);

    let again = PAGE.exchange(&service, &code, &[]).await;

    assert_invalid(&again);
    // The tokens of the first use are revoked too.
    assert_invalid(&PAGE.refresh(&service, tokens["refresh_token"].as_str().unwrap()).await);
    assert_eq!(list(&service, &tokens["access_token"]).await, 401);
}

#[tokio::test]
async fn code_used_twice_at_the_same_time() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    let code = Browser::new(&service).log_in_and_allow(&PAGE.request(&[])).await.code();
    let exchange = || PAGE.exchange(&service, &code, &[]);

    let (one, two, three, four) = tokio::join!(exchange(), exchange(), exchange(), exchange());

    let good: Vec<_> = [one, two, three, four].into_iter().filter(|answer| answer.status == 200).collect();
    assert_eq!(good.len(), 1);
    assert_invalid(&PAGE.refresh(&service, good[0].json()["refresh_token"].as_str().unwrap()).await);
}

#[tokio::test]
async fn code_after_its_minute() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    let code = Browser::new(&service).log_in_and_allow(&PAGE.request(&[])).await.code();
    let (left,): (f64,) =
        sqlx::query_as("select extract(epoch from expires_at - now())::float8 from authorization_codes")
            .fetch_one(&service.pool)
            .await
            .unwrap();
    sqlx::query("update authorization_codes set expires_at = now()").execute(&service.pool).await.unwrap();

    assert!(left > 50.0 && left <= 60.0, "{left}");
    assert_invalid(&PAGE.exchange(&service, &code, &[]).await);
}

#[tokio::test]
async fn code_of_another_application() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    SERVER.register(&service).await;
    let code = Browser::new(&service).log_in_and_allow(&PAGE.request(&[])).await.code();

    assert_invalid(&SERVER.exchange(&service, &code, &[]).await);
    // The failed attempt has spent the code.
    assert_invalid(&PAGE.exchange(&service, &code, &[]).await);
}

#[tokio::test]
async fn code_with_another_redirect_address() {
    let service = Service::start_without_workers(&[]).await;
    PROGRAM.register(&service).await;
    let redirect = |port: &'static str| [("redirect_uri", port)];
    let request = redirect("http://127.0.0.1:4001/callback");
    let code = Browser::new(&service).log_in_and_allow(&PROGRAM.request(&request)).await.code();

    let shown = redirect("http://127.0.0.1:4002/callback");
    assert_invalid(&PROGRAM.exchange(&service, &code, &shown).await);
}

#[tokio::test]
async fn code_intercepted_without_the_verifier() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    let browser = Browser::new(&service);
    let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
    for verifier in [challenge, "a".repeat(43).as_str(), "short", &VERIFIER.to_uppercase()] {
        let code = browser.log_in_and_allow(&PAGE.request(&[])).await.code();

        assert_invalid(&PAGE.exchange(&service, &code, &[("code_verifier", verifier)]).await);
    }
    let code = browser.log_in_and_allow(&PAGE.request(&[])).await.code();
    let without = PAGE.exchange(&service, &code, &[("code_verifier", "")]).await;
    assert_eq!(without.json()["error"], "invalid_request");
}

#[tokio::test]
async fn pkce_downgrade_to_plain() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    let browser = Browser::new(&service);
    for method in ["plain", "", "s256", "S512"] {
        let changes = [("code_challenge_method", method), ("code_challenge", VERIFIER)];

        let redirected = RedirectTarget::of(&browser.get(&PAGE.request(&changes)).await);
        assert_eq!(redirected.error(), "invalid_request", "{method}");
    }
}

#[tokio::test]
async fn pkce_downgrade_to_nothing() {
    let service = Service::start_without_workers(&[]).await;
    SERVER.register(&service).await;
    let changes = [("code_challenge", ""), ("code_challenge_method", "")];

    let redirected = RedirectTarget::of(&Browser::new(&service).get(&SERVER.request(&changes)).await);

    assert_eq!(redirected.error(), "invalid_request");
}

#[tokio::test]
async fn guessed_code() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    for code in ["a", &"a".repeat(43), "' or true --", "%00"] {
        assert_invalid(&PAGE.exchange(&service, code, &[]).await);
    }
}

#[tokio::test]
async fn code_of_an_account_that_was_disabled() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    let code = Browser::new(&service).log_in_and_allow(&PAGE.request(&[])).await.code();
    sqlx::query("update accounts set disabled_at = now()").execute(&service.pool).await.unwrap();

    assert_invalid(&PAGE.exchange(&service, &code, &[]).await);
}

#[tokio::test]
async fn code_that_asks_for_more_at_the_exchange() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    let redirected = Browser::new(&service).log_in_and_allow(&PAGE.request(&[("scope", "openid")])).await;

    let scope = ("scope", "openid generator_api.samples:create");
    let tokens = PAGE.exchange(&service, &redirected.code(), &[scope]).await.json();

    assert_eq!(tokens["scope"], "openid");
}

#[tokio::test]
async fn codes_and_secrets_readable_in_the_database() {
    let service = Service::start_without_workers(&[]).await;
    SERVER.register(&service).await;
    let browser = Browser::new(&service);
    let code = browser.log_in_and_allow(&SERVER.request(&[])).await.code();
    let tokens = SERVER.exchange(&service, &code, &[]).await.json();
    let session = browser.cookies.borrow()["retort_session"].clone();

    let mut everything = String::new();
    for table in ["authorization_codes", "refresh_tokens", "browser_sessions", "applications"] {
        let query = sqlx::AssertSqlSafe(format!("select {table}::text from {table}"));
        let rows: Vec<(String,)> = sqlx::query_as(query).fetch_all(&service.pool).await.unwrap();
        everything.extend(rows.into_iter().map(|(row,)| row));
    }
    let hex = |secret: &str| secret.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
    for secret in [&code, tokens["refresh_token"].as_str().unwrap(), &session, crate::browser::SECRET] {
        assert!(!everything.contains(secret) && !everything.contains(&hex(secret)));
    }
}
