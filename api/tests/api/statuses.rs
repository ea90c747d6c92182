//! Statuses of each operation in the document, compared with the real answers, as far as a client can provoke them.

use contract::scope;
use reqwest::RequestBuilder;
use serde_json::json;

use crate::support::{Operation, Service, add_operator, answer, claims, operations};

/// More bytes than any body may have.
const HUGE: usize = 6 << 20;

/// Returns a token with every scope.
async fn token(service: &Service) -> String {
    let operator = add_operator(&service.pool, "operator@example.org").await;
    let mut all = claims(&operator);
    let scopes: Vec<_> = scope::ALL.iter().map(|(name, _)| *name).collect();
    all["scope"] = json!(scopes.join(" "));
    service.token(all).await
}

/// Provokes `status` from every operation for which `can` returns true; the document must list it there and nowhere
/// else.
async fn provoke(
    service: &Service,
    status: u16,
    can: impl Fn(&Operation) -> bool,
    prepare: impl AsyncFn(RequestBuilder) -> RequestBuilder,
) {
    for operation in operations() {
        let Operation { method, path, statuses, .. } = &operation;
        assert_eq!(
            statuses.contains(&status),
            can(&operation),
            "{status} of {method} {path} in the document"
        );
        if can(&operation) {
            let request = service.http.request(method.clone(), format!("{}{path}", service.base));
            let response = answer(prepare(request).await).await;
            assert_eq!(response.status, status, "{method} {path}: {response:?}");
        }
    }
}

#[tokio::test]
async fn unauthenticated_and_forbidden_requests_are_refused_as_documented() {
    let service = Service::start_without_workers(&[]).await;
    let mut nothing = claims(&service.account);
    nothing["scope"] = json!("openid");
    let nothing = service.token(nothing).await;

    provoke(&service, 401, |_| true, async |request| request).await;
    provoke(
        &service,
        403,
        |operation| !operation.scopes.is_empty(),
        async |request| request.bearer_auth(&nothing).header("content-type", "application/json").body("{}"),
    )
    .await;
}

#[tokio::test]
async fn a_body_that_is_too_large_or_of_another_type_is_refused_as_the_document_says() {
    let service = Service::start_without_workers(&[]).await;
    let token = token(&service).await;
    let reads = |operation: &Operation| operation.is_read_from_a_body;
    let json = async |request: RequestBuilder, body: Vec<u8>| {
        request.bearer_auth(&token).header("content-type", "application/json").body(body)
    };

    provoke(&service, 413, reads, async |request| json(request, vec![b' '; HUGE]).await).await;
    provoke(&service, 415, reads, async |request| {
        request.bearer_auth(&token).header("content-type", "text/plain").body("{}")
    })
    .await;
    // Invalid JSON is a fault of every body; other operations have faults of their paths and queries.
    for operation in operations() {
        assert!(operation.statuses.contains(&422), "{} {}", operation.method, operation.path);
        let slow = operation.statuses.contains(&408);
        assert_eq!(slow, operation.is_read_from_a_body, "{} {}", operation.method, operation.path);
        if operation.is_read_from_a_body {
            let request =
                service.http.request(operation.method, format!("{}{}", service.base, operation.path));
            let response = answer(json(request, b"{".to_vec()).await).await;
            assert_eq!(response.status, 422, "{}: {response:?}", operation.path);
        }
    }
}

#[tokio::test]
async fn spent_quotas_are_refused_as_documented() {
    let quota_kinds = ["SAMPLES_CREATE", "MOLECULES", "SAMPLES_READ", "TREESEARCH", "SEARCH_SECONDS"];
    let names = quota_kinds.map(|quota_kind| format!("RATE_{quota_kind}_PER_MINUTE"));
    let settings: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "1")).collect();
    let service = Service::start_without_workers(&settings).await;
    let token = token(&service).await;
    for operation in operations() {
        let Operation { method, path, statuses, .. } = &operation;
        assert!(statuses.contains(&429), "{method} {path}");
        let mut response = Vec::new();
        for _ in 0..3 {
            let request = service.http.request(method.clone(), format!("{}{path}", service.base));
            let request = request.bearer_auth(&token).header("content-type", "application/json").body("{}");
            response.push(answer(request).await.status);
        }
        assert_eq!(response.last(), Some(&429), "{method} {path}: {response:?}");
    }
}
