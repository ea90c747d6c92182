//! Pages that are files in the binary, under a policy that lets them load and call nothing but this service.

use axum::{Router, http::header, response::IntoResponse, routing::get};

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

pub const HTML: &str = "text/html; charset=utf-8";
pub const CSS: &str = "text/css; charset=utf-8";
pub const SCRIPT: &str = "text/javascript; charset=utf-8";
pub const ICON: &str = "image/svg+xml";

/// Address, type, text.
pub type File = (&'static str, &'static str, &'static str);

/// Answers with `files`.
pub fn router<S: Clone + Send + Sync + 'static>(files: &[File]) -> Router<S> {
    files.iter().fold(Router::new(), |router, &(address, content_type, text)| {
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
