//! The reference at `/docs`: a page of our own that reads `/openapi.json`.
//!
//! The usual reference pages load their code from a content delivery network, which an installation without a
//! way out does not reach and its operator has no reason to trust. This one is a few embedded files.

use axum::{Router, http::header, response::IntoResponse, routing::get};

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// The page and its parts: address, type, text.
const FILES: [(&str, &str, &str); 8] = [
    ("/docs", HTML, include_str!("docs/index.html")),
    ("/docs/reference.css", CSS, include_str!("docs/reference.css")),
    ("/docs/reference.js", SCRIPT, include_str!("docs/reference.js")),
    ("/docs/elements.js", SCRIPT, include_str!("docs/elements.js")),
    ("/docs/operation.js", SCRIPT, include_str!("docs/operation.js")),
    ("/docs/samples.js", SCRIPT, include_str!("docs/samples.js")),
    ("/docs/schemas.js", SCRIPT, include_str!("docs/schemas.js")),
    ("/docs/try.js", SCRIPT, include_str!("docs/try.js")),
];

/// The page and its parts.
pub fn router<S: Clone + Send + Sync + 'static>() -> Router<S> {
    FILES.into_iter().fold(Router::new(), |router, (address, content_type, text)| {
        router.route(address, get(async move || file(content_type, text)))
    })
}

fn file(content_type: &'static str, text: &'static str) -> impl IntoResponse {
    let headers = [
        (header::CONTENT_TYPE, content_type),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    (headers, text)
}
