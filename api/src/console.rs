//! Web console at `/` and its assets at `/console`: the service's own pages for people, from files in `api/console`.
//!
//! They log in through the authorization server as any web page would (code flow, PKCE, the token only in memory), as
//! the application `console` that every installation has. They call the API as any client. The files ship as the
//! browser runs them: modules as written, and OpenChemLib, which `api/console/vendor/fetch` downloads. So no build
//! and no installation needs Node.

use axum::Router;

use crate::embedded::{CSS, File, HTML, ICON, SCRIPT, TEXT, router as embedded};

/// Serves a module at the path of its name.
macro_rules! module {
    ($name:literal) => {
        (concat!("/console/", $name, ".js"), SCRIPT, include_str!(concat!("../console/", $name, ".js")))
    };
}

/// Pages and assets: path, type, text.
const FILES: &[File] = &[
    ("/", HTML, include_str!("../console/index.html")),
    ("/console/operations", HTML, include_str!("../console/operations.html")),
    ("/console/console.css", CSS, include_str!("../console/console.css")),
    ("/console/parts.css", CSS, include_str!("../console/parts.css")),
    ("/console/plan.css", CSS, include_str!("../console/plan.css")),
    ("/console/icon.svg", ICON, include_str!("../console/icon.svg")),
    // Browsers ask for this icon if a page names none, and go by its type.
    ("/favicon.ico", ICON, include_str!("../console/icon.svg")),
    ("/console/openchemlib.js", SCRIPT, include_str!("../console/vendor/openchemlib/openchemlib.js")),
    ("/console/openchemlib.txt", TEXT, include_str!("../console/vendor/openchemlib/LICENSE")),
    module!("account"),
    module!("aizynth"),
    module!("analogues"),
    module!("answer"),
    module!("basket"),
    module!("batch_form"),
    module!("batch_plans"),
    module!("batch_view"),
    module!("batches"),
    module!("blocks"),
    module!("catalogue"),
    module!("chips"),
    module!("classes"),
    module!("comparison"),
    module!("console"),
    module!("constraints"),
    module!("csv"),
    module!("decoding"),
    module!("details"),
    module!("drawing"),
    module!("elements"),
    module!("example"),
    module!("figures"),
    module!("filters"),
    module!("form"),
    module!("gallery"),
    module!("gathering"),
    module!("histogram"),
    module!("keeping"),
    module!("laboratory"),
    module!("login"),
    module!("marking"),
    module!("marks"),
    module!("measures"),
    module!("menu"),
    module!("models"),
    module!("molecule"),
    module!("nothing"),
    module!("names"),
    module!("notebook"),
    module!("notice"),
    module!("operations"),
    module!("orientation"),
    module!("paged"),
    module!("part_editor"),
    module!("parts"),
    module!("picture"),
    module!("plan"),
    module!("planning"),
    module!("precursors"),
    module!("properties"),
    module!("reacting"),
    module!("reading"),
    module!("results"),
    module!("retrocast"),
    module!("routes"),
    module!("sample"),
    module!("sample_form"),
    module!("scheme"),
    module!("search"),
    module!("service"),
    module!("settings"),
    module!("shopping"),
    module!("sieve"),
    module!("sketches"),
    module!("sse"),
    module!("store"),
    module!("stored"),
    module!("takeaway"),
    module!("target"),
    module!("toast"),
    module!("tour"),
    module!("view"),
    module!("words"),
    module!("work"),
];

/// Serves the pages and assets.
pub fn router<S: Clone + Send + Sync + 'static>() -> Router<S> {
    embedded(FILES)
}
