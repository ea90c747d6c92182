//! API reference at `/docs`, a page of our own that reads `/openapi.json`; guides at `/docs/guide`.
//!
//! The usual reference pages load their code from a content delivery network. An installation without internet access
//! cannot reach it, and its operator has no reason to trust it. This page is a few embedded files.

mod guide;
mod markdown;

use axum::Router;

use crate::embedded::{CSS, File, HTML, SCRIPT, router as embedded};

/// Page and assets: path, type, text.
const FILES: [File; 9] = [
    ("/docs", HTML, include_str!("docs/index.html")),
    ("/docs/reference.css", CSS, include_str!("docs/reference.css")),
    ("/docs/reference.js", SCRIPT, include_str!("docs/reference.js")),
    ("/docs/elements.js", SCRIPT, include_str!("docs/elements.js")),
    ("/docs/guide.js", SCRIPT, include_str!("docs/guide.js")),
    ("/docs/operation.js", SCRIPT, include_str!("docs/operation.js")),
    ("/docs/samples.js", SCRIPT, include_str!("docs/samples.js")),
    ("/docs/schemas.js", SCRIPT, include_str!("docs/schemas.js")),
    ("/docs/try.js", SCRIPT, include_str!("docs/try.js")),
];

/// Serves the reference, its assets and the guides.
pub fn router<S: Clone + Send + Sync + 'static>() -> Router<S> {
    embedded(FILES.into_iter().chain(guide::files()))
}
