//! Web console at `/` and its assets at `/console`: the service's own pages for people, from files in `api/console`.
//!
//! They log in through the authorization server as any web page would (code flow, PKCE, the token only in memory), as
//! the application `console` that every installation has. They call the API as any client. The files ship as the
//! browser runs them: modules as written, and OpenChemLib, which `api/console/vendor/fetch` downloads. So no build
//! and no installation needs Node.

use std::sync::LazyLock;

use axum::Router;
use reactivity::CLASS_NAMES;

use crate::embedded::{CSS, File, HTML, ICON, JSON, SCRIPT, TEXT, router as embedded};

/// Serves a module at its path in `api/console`.
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
    ("/console/vendor/openchemlib/LICENSE", TEXT, include_str!("../console/vendor/openchemlib/LICENSE")),
    module!("vendor/openchemlib/openchemlib"),
    module!("account/account"),
    module!("answer/answer"),
    module!("answer/compact_answer"),
    module!("answer/partial_answer"),
    module!("app/console"),
    module!("app/parts"),
    module!("app/tour"),
    module!("batches/batch_form"),
    module!("batches/batch_molecules"),
    module!("batches/batch_pages"),
    module!("batches/batch_plans"),
    module!("batches/batch_view"),
    module!("batches/batches"),
    module!("batches/cart"),
    module!("batches/plan_batch"),
    module!("batches/sample_batch"),
    module!("catalogue/block_card"),
    module!("catalogue/catalogue"),
    module!("drawing/bonds_made"),
    module!("drawing/export"),
    module!("drawing/gallery"),
    module!("drawing/orientation"),
    module!("drawing/pan_zoom"),
    module!("drawing/picture"),
    module!("drawing/scheme_drawing"),
    module!("drawing/scheme_layout"),
    module!("drawing/thumbnails"),
    module!("models/model_card"),
    module!("models/models"),
    module!("molecules/attachment_points"),
    module!("molecules/descriptors"),
    module!("molecules/molecule"),
    module!("molecules/molecule_text"),
    module!("molecules/molecule_worker"),
    module!("molecules/properties"),
    module!("molecules/substructure_editor"),
    module!("molecules/worker"),
    module!("notebook/notebook"),
    module!("operations/operations"),
    module!("plan/analogues"),
    module!("plan/chips"),
    module!("plan/example"),
    module!("plan/marks"),
    module!("plan/marks_editor"),
    module!("plan/plan"),
    module!("plan/plan_page"),
    module!("plan/precursors"),
    module!("plan/search"),
    module!("plan/settings"),
    module!("plan/settings_form"),
    module!("plan/structure_by_name"),
    module!("plan/target_editor"),
    module!("routes/comparison"),
    module!("routes/constraint_report"),
    module!("routes/context_menu"),
    module!("routes/details"),
    module!("routes/kept_route"),
    module!("routes/no_route"),
    module!("routes/results"),
    module!("routes/route_actions"),
    module!("routes/route_filters"),
    module!("routes/route_list"),
    module!("routes/shopping_list"),
    module!("sample/conditions_form"),
    module!("sample/histogram"),
    module!("sample/histogram_bars"),
    module!("sample/molecule_filter"),
    module!("sample/sample"),
    module!("sample/sample_conditions"),
    module!("sample/sample_form"),
    module!("service/event_stream"),
    module!("service/login"),
    module!("service/paged_list"),
    module!("service/service"),
    module!("shared/csv"),
    module!("shared/elements"),
    module!("shared/file_text"),
    module!("shared/notice"),
    module!("shared/numbers"),
    module!("shared/plan_address"),
    module!("shared/save_file"),
    module!("shared/store"),
    module!("shared/toast"),
];

/// Names of reaction classes, which the page suggests.
static CLASSES: LazyLock<String> =
    LazyLock::new(|| serde_json::to_string(CLASS_NAMES).expect("console: names are JSON"));

/// Serves the pages and assets.
pub fn router<S: Clone + Send + Sync + 'static>() -> Router<S> {
    let classes = ("/console/reaction_classes.json", JSON, CLASSES.as_str());
    embedded(FILES.iter().copied().chain([classes]))
}
