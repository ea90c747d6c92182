//! The console at `/console`: pages of the service's own for people, in files of `api/console`.
//!
//! They log in by the authorization server as any web page would (code flow, PKCE, the token in memory alone), as the application
//! `console` that every installation has, and call the API as any caller.

use axum::Router;

use crate::embedded::{CSS, File, HTML, ICON, SCRIPT, router as embedded};

/// The pages and their parts: address, type, text.
const FILES: [File; 6] = [
    ("/console/operations", HTML, include_str!("../console/operations.html")),
    ("/console/operations.js", SCRIPT, include_str!("../console/operations.js")),
    ("/console/login.js", SCRIPT, include_str!("../console/login.js")),
    ("/console/elements.js", SCRIPT, include_str!("../console/elements.js")),
    ("/console/console.css", CSS, include_str!("../console/console.css")),
    ("/console/icon.svg", ICON, include_str!("../console/icon.svg")),
];

/// The pages and their parts.
pub fn router<S: Clone + Send + Sync + 'static>() -> Router<S> {
    embedded(&FILES)
}
