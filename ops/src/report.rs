//! Report of routes: a page to keep, send and print.
//!
//! The console's own modules draw the page (`api/console/report/report.js` and its imports). The page holds them as `data:`
//! addresses in an import map, beside the answers as JSON. So routes are drawn by one code base, there is no bundler,
//! and the file makes no requests: its policy allows only these scripts, by their hashes. Without scripts the page
//! shows the routes as text.

use std::collections::BTreeMap;

use anyhow::Context as _;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use maud::{DOCTYPE, PreEscaped, html};
use sha2::{Digest as _, Sha256};

use crate::{failure::Failure, planned::PlannedTarget, route_tree};

/// Prefix under which the page's modules import each other. Relative imports do not resolve in a `data:` address.
const MODULE_PREFIX: &str = "console/";

/// Pairs a module's path in `api/console` with its text.
macro_rules! module {
    ($name:literal) => {
        ($name, include_str!(concat!("../../api/console/", $name, ".js")))
    };
}

/// The modules of the report.
const MODULES: [(&str, &str); 15] = [
    module!("answer/answer"),
    module!("drawing/bonds_made"),
    module!("drawing/orientation"),
    module!("drawing/picture"),
    module!("drawing/scheme_drawing"),
    module!("drawing/scheme_layout"),
    module!("report/report"),
    module!("report/scheme_parts"),
    module!("routes/constraint_report"),
    module!("routes/no_route"),
    module!("routes/shopping_list"),
    module!("shared/csv"),
    module!("shared/elements"),
    module!("shared/numbers"),
    module!("vendor/openchemlib/openchemlib"),
];

/// Style of the page: the console's style sheets for tokens and drawings, and the report's own.
const STYLE: &str = concat!(
    include_str!("../../api/console/console.css"),
    include_str!("../../api/console/plan.css"),
    include_str!("../../api/console/report/report.css"),
);

/// Returns the report of `planned`, one target or several.
///
/// # Errors
/// Fails if an answer cannot be written as JSON.
pub fn page(planned: &[PlannedTarget]) -> Result<String, Failure> {
    let answers = serde_json::to_string(planned).context("writing the answers into the report")?;
    // A script element ends at the first `</script`, even within a JSON string.
    let answers = answers.replace('<', "\\u003c");
    let modules = import_map()?;
    let start = format!("import \"{MODULE_PREFIX}report/report.js\";");
    let policy = format!(
        "default-src 'none'; script-src {} {} data:; style-src {}; img-src data:; base-uri 'none'; form-action 'none'",
        csp_hash(&modules),
        csp_hash(&start),
        csp_hash(STYLE)
    );
    let title = match planned {
        [one] => format!("Routes to {}", one.name.as_deref().unwrap_or_else(|| one.smiles())),
        several => format!("Routes to {} targets", several.len()),
    };
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="content-security-policy" content=(policy);
                title { (title) }
                style { (PreEscaped(STYLE)) }
                script type="importmap" { (PreEscaped(&modules)) }
            }
            body .report {
                main #report {}
                noscript { pre { (text(planned)) } }
                script #answers type="application/json" { (PreEscaped(&answers)) }
                script type="module" { (PreEscaped(&start)) }
            }
        }
    };
    Ok(page.into_string())
}

/// Builds the import map: module paths to `data:` addresses.
fn import_map() -> Result<String, Failure> {
    let address = |(path, text): &(&str, &str)| {
        let text = STANDARD.encode(absolute_imports(path, text));
        (format!("{MODULE_PREFIX}{path}.js"), format!("data:text/javascript;base64,{text}"))
    };
    let imports: BTreeMap<String, String> = MODULES.iter().map(address).collect();
    let map = serde_json::to_string(&BTreeMap::from([("imports", imports)]));
    Ok(map.context("writing the report's modules")?)
}

/// Returns the text of the module at `path`, which imports others under their prefix. Each lies in a folder of
/// `api/console`.
fn absolute_imports(path: &str, text: &str) -> String {
    let folder = path.split_once('/').map_or("", |(folder, _)| folder);
    text.replace("from \"./", &format!("from \"{MODULE_PREFIX}{folder}/"))
        .replace("from \"../", &format!("from \"{MODULE_PREFIX}"))
}

/// Returns the source hash of a script or style sheet with this text (Content Security Policy Level 3, section
/// 2.3.1).
fn csp_hash(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)))
}

/// Formats the routes as text, for browsers without scripts.
fn text(planned: &[PlannedTarget]) -> String {
    let one = |planned: &PlannedTarget| match &planned.outcome {
        Ok(answer) => route_tree::render(answer, planned.asked.ships_to),
        Err(reason) => format!("{}\n{reason}\n", planned.smiles()),
    };
    planned.iter().map(one).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests;
