//! Stolen refresh tokens, and tokens that remain after a revocation.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::{
    browser::{Application, Browser, PAGE, PROGRAM, SERVER},
    support::{Answer, Service, answer},
};

pub fn text<'a>(tokens: &'a Value, name: &str) -> &'a str {
    tokens[name].as_str().unwrap_or_else(|| panic!("no {name}: {tokens}"))
}

fn assert_invalid(answer: &Answer) {
    assert_eq!((answer.status, answer.json()["error"].clone()), (400, json!("invalid_grant")), "{answer:?}");
}

pub async fn list(service: &Service, token: &str) -> u16 {
    answer(service.http.get(format!("{}/generator/v1/samples", service.base)).bearer_auth(token)).await.status
}

async fn revoke(service: &Service, application: &Application, token: &str) -> Answer {
    application.post(service, "/auth/revoke", BTreeMap::from([("token", token)])).await
}

async fn introspect(service: &Service, application: &Application, token: &str) -> Answer {
    application.post(service, "/auth/introspect", BTreeMap::from([("token", token)])).await
}

#[tokio::test]
async fn refresh_token_used_twice() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    let first = PAGE.tokens(&service).await;
    let second = PAGE.refresh(&service, text(&first, "refresh_token")).await.json();

    assert_invalid(&PAGE.refresh(&service, text(&first, "refresh_token")).await);

    // The server cannot know which of the two holders is the thief.
    assert_invalid(&PAGE.refresh(&service, text(&second, "refresh_token")).await);
    for tokens in [&first, &second] {
        assert_eq!(list(&service, text(tokens, "access_token")).await, 401);
    }
}

#[tokio::test]
async fn refresh_token_of_another_application() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    PROGRAM.register(&service).await;
    let tokens = PAGE.tokens(&service).await;

    assert_invalid(&PROGRAM.refresh(&service, text(&tokens, "refresh_token")).await);

    assert_eq!(PAGE.refresh(&service, text(&tokens, "refresh_token")).await.status, 200);
}

#[tokio::test]
async fn refresh_token_that_widens_its_scope() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    let tokens = PAGE.tokens(&service).await;
    for scope in ["generator_api.samples:create", "openid profile", "root"] {
        let form = BTreeMap::from([
            ("grant_type", "refresh_token"),
            ("refresh_token", text(&tokens, "refresh_token")),
            ("scope", scope),
        ]);

        let answer = PAGE.post(&service, "/auth/token", form).await;
        assert_eq!(answer.json()["error"], "invalid_scope", "{scope}");
    }
}

#[tokio::test]
async fn refresh_token_that_outlives_what_the_operator_took_away() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    let tokens = PAGE.tokens(&service).await;
    sqlx::query("update accounts set scopes = '{openid,email}'").execute(&service.pool).await.unwrap();
    sqlx::query("update applications set scopes = '{openid}'").execute(&service.pool).await.unwrap();

    let refreshed = PAGE.refresh(&service, text(&tokens, "refresh_token")).await.json();

    assert_eq!(refreshed["scope"], "openid");
}

#[tokio::test]
async fn refresh_token_without_the_applications_secret() {
    let service = Service::start_without_workers(&[]).await;
    SERVER.register(&service).await;
    let tokens = SERVER.tokens(&service).await;
    for secret in ["", "wrong"] {
        let form = BTreeMap::from([
            ("grant_type", "refresh_token"),
            ("refresh_token", text(&tokens, "refresh_token")),
            ("client_secret", secret),
        ]);

        let answer = SERVER.post(&service, "/auth/token", form).await;
        assert_eq!(answer.json()["error"], "invalid_client", "{secret}");
    }
}

#[tokio::test]
async fn refresh_token_nobody_asked_for() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    let redirected = Browser::new(&service).log_in_and_allow(&PAGE.request(&[("scope", "openid")])).await;

    let tokens = PAGE.exchange(&service, &redirected.code(), &[]).await.json();

    assert_eq!(tokens.get("refresh_token"), None);
}

#[tokio::test]
async fn tokens_used_after_their_revocation() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    for revoked in ["refresh_token", "access_token"] {
        let tokens = PAGE.tokens(&service).await;
        assert_eq!(list(&service, text(&tokens, "access_token")).await, 200);

        assert_eq!(revoke(&service, &PAGE, text(&tokens, revoked)).await.status, 200);

        assert_eq!(list(&service, text(&tokens, "access_token")).await, 401, "{revoked}");
        assert_invalid(&PAGE.refresh(&service, text(&tokens, "refresh_token")).await);
    }
}

#[tokio::test]
async fn tokens_of_another_application_revoked() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    PROGRAM.register(&service).await;
    let tokens = PAGE.tokens(&service).await;
    for name in ["refresh_token", "access_token"] {
        // The answer is the same as for an unknown token.
        assert_eq!(revoke(&service, &PROGRAM, text(&tokens, name)).await.status, 200);
    }

    assert_eq!(list(&service, text(&tokens, "access_token")).await, 200);
    assert_eq!(PAGE.refresh(&service, text(&tokens, "refresh_token")).await.status, 200);
}

#[tokio::test]
async fn tokens_of_another_application_introspected() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    SERVER.register(&service).await;
    let others = PAGE.tokens(&service).await;
    let own = SERVER.tokens(&service).await;

    for name in ["refresh_token", "access_token"] {
        let other = introspect(&service, &SERVER, text(&others, name)).await;
        assert_eq!((other.status, other.json()), (200, json!({ "active": false })));
        assert_eq!(introspect(&service, &SERVER, text(&own, name)).await.json()["active"], true);
    }
    let made_up = introspect(&service, &SERVER, "made-up").await;
    assert_eq!(made_up.json(), json!({ "active": false }));
}

#[tokio::test]
async fn introspection_without_a_secret() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    let tokens = PAGE.tokens(&service).await;

    let answer = introspect(&service, &PAGE, text(&tokens, "access_token")).await;

    assert_eq!((answer.status, answer.json()["error"].clone()), (401, json!("invalid_client")));
}

#[tokio::test]
async fn tokens_of_an_application_that_was_removed() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    let tokens = PAGE.tokens(&service).await;
    // Removes the application as `retort app remove` does.
    for statement in [
        "delete from applications where client_id = 'app_page'",
        "delete from refresh_tokens where client_id = 'app_page'",
        "insert into revocations (id, until) values ('app_page', now() + interval '1 day')",
    ] {
        sqlx::query(statement).execute(&service.pool).await.unwrap();
    }

    assert_eq!(list(&service, text(&tokens, "access_token")).await, 401);
    let refreshed = PAGE.refresh(&service, text(&tokens, "refresh_token")).await;
    assert_eq!(refreshed.json()["error"], "invalid_client");
}
