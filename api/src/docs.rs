//! The reference at `/docs`: a page of our own that reads `/openapi.json`.
//!
//! The usual reference pages load their code from a content delivery network, which an installation without a
//! way out does not reach and its operator has no reason to trust. This one is three embedded files.

use axum::{Router, http::header, response::IntoResponse, routing::get};

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The page and its parts.
pub fn router<S: Clone + Send + Sync + 'static>() -> Router<S> {
    Router::new()
        .route("/docs", get(async || file("text/html; charset=utf-8", include_str!("docs/index.html"))))
        .route(
            "/docs/reference.css",
            get(async || file("text/css; charset=utf-8", include_str!("docs/reference.css"))),
        )
        .route(
            "/docs/reference.js",
            get(async || file("text/javascript; charset=utf-8", include_str!("docs/reference.js"))),
        )
}

fn file(content_type: &'static str, text: &'static str) -> impl IntoResponse {
    let headers = [
        (header::CONTENT_TYPE, content_type),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    (headers, text)
}
