//! Signing keys: sealed at rest, rotated without interruption.

use serde_json::Value;

use crate::{
    browser::PAGE,
    support::{Service, add_account, answer, claims},
};

const SECRET: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

async fn stored(service: &Service) -> Vec<String> {
    let rows: Vec<(String,)> = sqlx::query_as("select private_key_pem from signing_keys order by created_at")
        .fetch_all(&service.pool)
        .await
        .unwrap();
    rows.into_iter().map(|(key,)| key).collect()
}

/// Stores a new key as `retort keys rotate` does.
async fn rotate(service: &Service) -> String {
    let mut connection = service.pool.acquire().await.unwrap();
    identity::tables::signing_keys::rotate(&mut connection, None).await.unwrap()
}

fn kid(tokens: &Value, name: &str) -> String {
    jsonwebtoken::decode_header(tokens[name].as_str().unwrap()).unwrap().kid.unwrap()
}

#[tokio::test]
async fn with_a_secret_keys_are_sealed_and_work_with_that_secret_alone() {
    let service = Service::start_without_workers(&[("KEYS_SECRET", SECRET)]).await;
    PAGE.register(&service).await;

    let tokens = PAGE.tokens(&service).await;

    let list = service.http.get(format!("{}/generator/v1/samples", service.base));
    let list = answer(list.bearer_auth(tokens["access_token"].as_str().unwrap())).await;
    assert_eq!(list.status, 200);
    let keys = stored(&service).await;
    assert!(keys.len() == 1 && keys[0].starts_with("sealed1:") && !keys[0].contains("PRIVATE"), "{keys:?}");
    assert_eq!(service.would_start(Some(SECRET)).await, Ok(()));
    let other = "ZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmY=";
    for secret in [None, Some(other)] {
        let fault = service.would_start(secret).await.unwrap_err();
        assert!(fault.contains("KEYS_SECRET has to be what it was"), "{fault}");
    }
    let fault = service.would_start(Some("too short")).await.unwrap_err();
    assert!(fault.contains("want 32 bytes in Base64") && !fault.contains("too short"), "{fault}");
}

#[tokio::test]
async fn keys_from_before_the_secret_are_sealed_at_the_next_start() {
    let service = Service::start_without_workers(&[]).await;
    let before = stored(&service).await;

    assert_eq!(service.would_start(Some(SECRET)).await, Ok(()));

    let after = stored(&service).await;
    assert!(before[0].contains("PRIVATE KEY") && after[0].starts_with("sealed1:"), "{after:?}");
}

#[tokio::test]
async fn a_new_key_is_published_before_it_signs_and_the_old_one_verifies_after() {
    let mut service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    let old_token = service.token(claims(&service.account)).await;
    let old = jsonwebtoken::decode_header(&old_token).unwrap().kid.unwrap();
    sqlx::query("update signing_keys set created_at = now() - interval '1 day'")
        .execute(&service.pool)
        .await
        .unwrap();

    let new = rotate(&service).await;

    service.base = service.another().await;
    let jwks = answer(service.http.get(format!("{}/auth/jwks.json", service.base))).await;
    assert_eq!(jwks.header("cache-control"), "public, max-age=300");
    let jwks = jwks.json();
    let published: Vec<_> = jwks["keys"].as_array().unwrap().iter().map(|key| &key["kid"]).collect();
    assert!(
        published.contains(&&Value::from(old.as_str())) && published.contains(&&Value::from(new.as_str()))
    );
    assert_eq!(kid(&PAGE.tokens(&service).await, "access_token"), old);

    // Ten minutes later.
    sqlx::query("update signing_keys set created_at = created_at - interval '11 minutes', retired_at = retired_at - interval '11 minutes'")
        .execute(&service.pool)
        .await
        .unwrap();
    service.base = service.another().await;
    let tokens = PAGE.tokens(&service).await;
    assert_eq!((kid(&tokens, "access_token"), kid(&tokens, "id_token")), (new.clone(), new));
    let list = service.http.get(format!("{}/generator/v1/samples", service.base));
    assert_eq!(answer(list.bearer_auth(&old_token)).await.status, 200);

    // A day and two hours later.
    sqlx::query("update signing_keys set retired_at = retired_at - interval '26 hours'")
        .execute(&service.pool)
        .await
        .unwrap();
    service.base = service.another().await;
    let list = service.http.get(format!("{}/generator/v1/samples", service.base));
    assert_eq!(answer(list.bearer_auth(&old_token)).await.status, 401);
}

#[tokio::test]
async fn tokens_from_before_a_new_password_and_scopes_taken_away_count_no_more() {
    let service = Service::start_without_workers(&[]).await;
    PAGE.register(&service).await;
    let call = async |token: &Value| {
        let list = service.http.get(format!("{}/generator/v1/samples", service.base));
        answer(list.bearer_auth(token.as_str().unwrap())).await.status
    };
    let tokens = PAGE.tokens(&service).await;

    // As `retort account password` and `retort account scopes` do.
    sqlx::query("update accounts set tokens_from = now() + interval '2 seconds'")
        .execute(&service.pool)
        .await
        .unwrap();
    assert_eq!(call(&tokens["access_token"]).await, 401);

    let other = add_account(&service.pool, "ada@example.org").await;
    sqlx::query("update accounts set scopes = '{openid}'").execute(&service.pool).await.unwrap();
    let token = service.token(claims(&other)).await;
    assert_eq!(call(&Value::from(token)).await, 403);
}
